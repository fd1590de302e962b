// The search box of the header: a combobox with suggestions. In the library it searches while typing; in other views
// Enter opens the library.
import { Fragment } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { go, href, setQuery, useAddress } from '../../address';
import { text } from '../../text/common';
import { libraryText } from '../../text/library';
import { Button, Dialog, Icon } from '../../ui';
import { service } from '../../service';
import { useStore } from '../../store';
import { isHalfTyped, mistake, type Mistake } from './mistakes';
import { typingAt } from './query';
import { suggest, type Suggestion } from './suggest';
import { joinSearch, splitSearch } from './value_query';

const SEARCH_AFTER_MS = 300;
const SUGGEST_AFTER_MS = 120;

/** Loads suggestions shortly after the last key; late responses are dropped. */
function useSuggestions() {
    const [items, setItems] = useState<Suggestion[]>([]);
    const running = useRef<{ stop: AbortController; timer: ReturnType<typeof setTimeout> }>();
    const clear = () => {
        clearTimeout(running.current?.timer);
        running.current?.stop.abort();
        setItems([]);
    };
    const load = (input: HTMLInputElement) => {
        clearTimeout(running.current?.timer);
        running.current?.stop.abort();
        const stop = new AbortController();
        const timer = setTimeout(() => {
            suggest(typingAt(input.value, input.selectionStart ?? 0), stop.signal).then(
                (found) => !stop.signal.aborted && setItems(found),
                () => undefined,
            );
        }, SUGGEST_AFTER_MS);
        running.current = { stop, timer };
    };
    useEffect(() => clear, []);
    return { items, load, clear };
}

function Help({ onClose }: { onClose: () => void }) {
    return (
        <Dialog title={libraryText.helpTitle} onClose={onClose}>
            <dl class="search-help">
                {libraryText.help.map(([example, meaning]) => (
                    <Fragment key={example}>
                        <dt>
                            <code>{example}</code>
                        </dt>
                        <dd>{meaning}</dd>
                    </Fragment>
                ))}
            </dl>
        </Dialog>
    );
}

function useSlash(input: { current: HTMLInputElement | null }) {
    useEffect(() => {
        const pressed = (event: KeyboardEvent) => {
            const at = event.target as HTMLElement;
            const typing = at.closest?.('input, textarea, select, [contenteditable], dialog');
            if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
                event.preventDefault();
                input.current?.focus();
                input.current?.select();
            }
        };
        document.addEventListener('keydown', pressed);
        return () => document.removeEventListener('keydown', pressed);
    }, []);
}

/** Underlines the wrong part: the same text at the same place, invisible but for the line. */
function Underline({ wrong, input }: { wrong: Mistake; input: { current: HTMLInputElement | null } }) {
    const mark = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const box = input.current!;
        const follow = () => (mark.current!.scrollLeft = box.scrollLeft);
        follow();
        box.addEventListener('scroll', follow);
        return () => box.removeEventListener('scroll', follow);
    }, [wrong]);
    return (
        <div class="search-mark" ref={mark} aria-hidden="true">
            {wrong.query.slice(0, wrong.start)}
            <span>{wrong.query.slice(wrong.start, wrong.end)}</span>
        </div>
    );
}

export function SearchBox() {
    const { path, query } = useAddress();
    const inLibrary = path === '';
    const current = inLibrary ? joinSearch(query.get('q'), query.get('where')) : '';
    const [value, setValue] = useState(current);
    const [at, setAt] = useState(-1);
    const [help, setHelp] = useState(false);
    const input = useRef<HTMLInputElement>(null);
    const timer = useRef<ReturnType<typeof setTimeout>>();
    const typing_ = useRef(false); // while typing, only the first change adds a history entry
    const sent = useRef(current); // a change of the URL made by this box must not change its text
    const { items, load, clear } = useSuggestions();
    const formats = useStore(service)?.formats.map((format) => format.name) ?? [];
    const wrong = useStore(mistake);
    const id = useId();
    useSlash(input);
    useEffect(() => {
        if (current !== sent.current) {
            // changed elsewhere: a filter, the back button
            sent.current = current;
            clearTimeout(timer.current);
            setValue(current);
            clear();
        }
    }, [current]);

    const search = (value: string, replace: boolean) => {
        clearTimeout(timer.current);
        if (inLibrary) {
            const parts = splitSearch(value);
            sent.current = joinSearch(parts.q, parts.where);
            setQuery({ ...parts, row: null }, replace);
        } else if (!replace) {
            go(href('', splitSearch(value)));
        }
    };
    const typed = (value: string) => {
        setValue(value);
        setAt(-1);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => {
            if (!isHalfTyped(value, input.current?.selectionStart ?? value.length, formats)) {
                search(value, typing_.current || !inLibrary);
                typing_.current = true;
            }
        }, SEARCH_AFTER_MS);
        load(input.current!);
    };
    const accept = (item: Suggestion) => {
        const box = input.current!;
        if (item.href) {
            clear();
            go(item.href);
            return;
        }
        const typing = typingAt(box.value, box.selectionStart ?? 0);
        const tail = box.value.slice(typing.end);
        const added = item.insert + (item.incomplete || tail.startsWith(' ') ? '' : ' ');
        const value = box.value.slice(0, typing.start) + added + tail;
        const caret = typing.start + added.length;
        clearTimeout(timer.current);
        box.value = value; // immediately: the next suggestions depend on it
        box.focus();
        box.setSelectionRange(caret, caret);
        setValue(value);
        setAt(-1);
        if (item.incomplete) {
            load(box);
        } else {
            clear();
            search(value, false);
        }
    };
    const key = (event: KeyboardEvent) => {
        const open = items.length > 0;
        if (open && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
            const states = items.length + 1; // including no selection
            setAt(((at + 1 + (event.key === 'ArrowDown' ? 1 : states - 1)) % states) - 1);
        } else if (event.key === 'ArrowDown') {
            const list = document.querySelector<HTMLElement>('.library .table-body');
            list?.focus();
            if (!list?.hasAttribute('aria-activedescendant')) {
                list?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown' })); // marks the first row
            }
        } else if (event.key === 'Escape' && open) {
            clear();
        } else if (event.key === 'Tab' && open && at >= 0) {
            accept(items[at]!);
        } else if (event.key === 'Enter') {
            const item = items[at];
            clear();
            item ? accept(item) : search(value, false);
        } else {
            return;
        }
        event.preventDefault();
    };
    return (
        <div class="search" role="search">
            <Icon name="search" />
            {wrong && wrong.query === value.trim() && <Underline wrong={wrong} input={input} />}
            <input
                ref={input}
                type="text"
                role="combobox"
                aria-label={text.app.search}
                aria-expanded={items.length > 0}
                aria-controls={`${id}-list`}
                aria-autocomplete="list"
                aria-invalid={wrong && wrong.query === value.trim() ? true : undefined}
                aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
                placeholder={libraryText.placeholder}
                autocomplete="off"
                autocapitalize="off"
                spellcheck={false}
                maxLength={2000}
                value={value}
                onInput={(event) => typed(event.currentTarget.value)}
                onClick={(event) => load(event.currentTarget)}
                onBlur={() => {
                    typing_.current = false;
                    setTimeout(() => document.activeElement !== input.current && clear(), 150);
                }}
                onKeyDown={key}
            />
            {value && (
                <Button
                    kind="quiet"
                    icon="close"
                    label={libraryText.clear}
                    onClick={() => (setValue(''), search('', false), clear(), input.current?.focus())}
                />
            )}
            <Button kind="quiet" icon="info" label={libraryText.helpTitle} onClick={() => setHelp(true)} />
            <ul id={`${id}-list`} role="listbox" aria-label={libraryText.suggestions} hidden={items.length === 0}>
                {items.map((item, i) => (
                    <li
                        key={item.label + item.note + (item.href ?? '')}
                        id={`${id}-${i}`}
                        role="option"
                        aria-selected={i === at}
                        onPointerDown={(event) => event.preventDefault()}
                        onClick={() => accept(item)}
                    >
                        <span class={item.href ? 'ellipsis' : 'mono ellipsis'}>{item.label}</span>
                        <span class="muted small">{item.note}</span>
                    </li>
                ))}
            </ul>
            {help && <Help onClose={() => setHelp(false)} />}
        </div>
    );
}
