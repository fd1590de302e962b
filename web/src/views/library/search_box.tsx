// The search box of the bar: a combobox whose list completes what is being typed. In the library it searches while one types; elsewhere
// Enter leads there.
import { Fragment } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { go, href, setQuery, useAddress } from '../../address';
import { text } from '../../text';
import { Button, Dialog, Icon } from '../../ui';
import { typingAt } from './query';
import { suggest, type Suggestion } from './suggest';

const SEARCH_AFTER_MS = 300;
const SUGGEST_AFTER_MS = 120;

/** Asks for suggestions a little after the last key; what comes too late is dropped. */
function useSuggestions() {
    const [items, setItems] = useState<Suggestion[]>([]);
    const running = useRef<{ stop: AbortController; timer: ReturnType<typeof setTimeout> }>();
    const clear = () => {
        clearTimeout(running.current?.timer);
        running.current?.stop.abort();
        setItems([]);
    };
    const ask = (input: HTMLInputElement) => {
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
    return { items, ask, clear };
}

function Help({ onClose }: { onClose: () => void }) {
    return (
        <Dialog title={text.library.helpTitle} onClose={onClose}>
            <dl class="search-help">
                {text.library.help.map(([example, meaning]) => (
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

export function SearchBox() {
    const { path, query } = useAddress();
    const inLibrary = path === '/';
    const kept = inLibrary ? (query.get('q') ?? '') : '';
    const [words, setWords] = useState(kept);
    const [at, setAt] = useState(-1);
    const [helps, setHelps] = useState(false);
    const input = useRef<HTMLInputElement>(null);
    const timer = useRef<ReturnType<typeof setTimeout>>();
    const begun = useRef(false); // typing goes on: back leads to before all of it, not to each letter
    const sent = useRef(kept); // what came of this box's own words is no reason to change them
    const { items, ask, clear } = useSuggestions();
    const id = useId();
    useSlash(input);
    useEffect(() => {
        if (kept !== sent.current) {
            // from outside: a facet, back
            sent.current = kept;
            clearTimeout(timer.current);
            setWords(kept);
            clear();
        }
    }, [kept]);

    const search = (value: string, replace: boolean) => {
        clearTimeout(timer.current);
        if (inLibrary) {
            sent.current = value.trim();
            setQuery({ q: value.trim(), at: null }, replace);
        } else if (!replace) {
            go(href('/', { q: value.trim() }));
        }
    };
    const typed = (value: string) => {
        setWords(value);
        setAt(-1);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => {
            search(value, begun.current || !inLibrary);
            begun.current = true;
        }, SEARCH_AFTER_MS);
        ask(input.current!);
    };
    const take = (item: Suggestion) => {
        const box = input.current!;
        const typing = typingAt(box.value, box.selectionStart ?? 0);
        const tail = box.value.slice(typing.end);
        const added = item.insert + (item.goesOn || tail.startsWith(' ') ? '' : ' ');
        const value = box.value.slice(0, typing.start) + added + tail;
        const caret = typing.start + added.length;
        clearTimeout(timer.current);
        box.value = value; // at once: what is asked next depends on it
        box.focus();
        box.setSelectionRange(caret, caret);
        setWords(value);
        setAt(-1);
        if (item.goesOn) {
            ask(box);
        } else {
            clear();
            search(value, false);
        }
    };
    const key = (event: KeyboardEvent) => {
        const open = items.length > 0;
        if (open && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
            const places = items.length + 1; // none of them is one, too
            setAt(((at + 1 + (event.key === 'ArrowDown' ? 1 : places - 1)) % places) - 1);
        } else if (event.key === 'ArrowDown') {
            document.querySelector<HTMLElement>('.library .table-body')?.focus();
        } else if (event.key === 'Escape' && open) {
            clear();
        } else if (event.key === 'Tab' && open && at >= 0) {
            take(items[at]!);
        } else if (event.key === 'Enter') {
            const item = items[at];
            clear();
            item ? take(item) : search(words, false);
        } else {
            return;
        }
        event.preventDefault();
    };
    return (
        <div class="search" role="search">
            <Icon name="search" />
            <input
                ref={input}
                type="text"
                role="combobox"
                aria-label={text.frame.search}
                aria-expanded={items.length > 0}
                aria-controls={`${id}-list`}
                aria-autocomplete="list"
                aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
                placeholder={text.library.placeholder}
                autocomplete="off"
                autocapitalize="off"
                spellcheck={false}
                maxLength={2000}
                value={words}
                onInput={(event) => typed(event.currentTarget.value)}
                onClick={(event) => ask(event.currentTarget)}
                onBlur={() => {
                    begun.current = false;
                    setTimeout(() => document.activeElement !== input.current && clear(), 150);
                }}
                onKeyDown={key}
            />
            {words && (
                <Button
                    kind="quiet"
                    icon="close"
                    label={text.library.clear}
                    onClick={() => (setWords(''), search('', false), clear(), input.current?.focus())}
                />
            )}
            <Button kind="quiet" icon="info" label={text.library.helpTitle} onClick={() => setHelps(true)} />
            <ul id={`${id}-list`} role="listbox" aria-label={text.library.suggestions} hidden={items.length === 0}>
                {items.map((item, i) => (
                    <li
                        key={item.label + item.note}
                        id={`${id}-${i}`}
                        role="option"
                        aria-selected={i === at}
                        onPointerDown={(event) => event.preventDefault()}
                        onClick={() => take(item)}
                    >
                        <span class="mono ellipsis">{item.label}</span>
                        <span class="soft small">{item.note}</span>
                    </li>
                ))}
            </ul>
            {helps && <Help onClose={() => setHelps(false)} />}
        </div>
    );
}
