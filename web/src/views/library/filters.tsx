// The filters with their counts. A click changes the search text, which is the only state.
import { useEffect, useState } from 'preact/hooks';
import { setQuery } from '../../address';
import { get, patch } from '../../api';
import { formatTitle, service, useRole } from '../../service';
import { useStore } from '../../store';
import { useRequest } from '../../use_request';
import { count } from '../../format';
import { text } from '../../text/common';
import { libraryText } from '../../text/library';
import { showError } from '../../toasts';
import type { Collection, Stat, Values } from '../../types';
import { Button, Dialog, Field, Icon } from '../../ui';
import { Dates } from './dates';
import { RecentlyOpened, SavedSearches } from './saved_list';
import { dropKey, hasTerm, setTerm, toggleTerm } from './query';

const INITIAL = 8;
const MAX_VALUES = 200;
const t = libraryText;

interface FilterScope {
    query: string;
    start: string | null;
    end: string | null;
    refreshCount: number; // counts are reloaded when it changes
}

interface FilterProps extends FilterScope {
    field: string; // the parameter of /values
    term: string; // the key in the search text
    title: string;
    hide?: (value: string) => boolean;
    capped?: boolean; // shows whether only part was counted
}

/** Values within the search without this key's own terms: the alternatives. */
function useValues(field: string, term: string | null, { query, start, end, refreshCount }: FilterScope) {
    const q = (term === null ? query : dropKey(query, term)) || null;
    const { value } = useRequest(
        (signal) => get<Values>('/values', { field, q, start, end, limit: MAX_VALUES }, signal),
        [field, q, start, end, refreshCount],
    );
    return value;
}

function FilterValue({
    term,
    value,
    recordings,
    query,
}: {
    term: string;
    value: string;
    recordings: number;
    query: string;
}) {
    const on = hasTerm(query, term, value);
    const known = useStore(service);
    const label =
        term === 'state' ? (text.state[value] ?? value) : term === 'format' ? formatTitle(known, value) : value;
    return (
        <li>
            <button
                type="button"
                class="library-value"
                data-value={value}
                aria-pressed={on}
                onClick={() => setQuery({ q: toggleTerm(query, term, value), row: null })}
            >
                <span class="ellipsis" title={label}>
                    {label}
                </span>
                <span class="muted">{count(recordings)}</span>
            </button>
        </li>
    );
}

function Filter({ field, term, title, hide, capped, ...scope }: FilterProps) {
    const { query } = scope;
    const [expanded, setExpanded] = useState(false);
    const found = useValues(field, term, scope);
    const items = [...(found?.items ?? [])]
        .filter((item) => !hide?.(item.value))
        .sort((a, b) => b.recordings - a.recordings);
    return (
        <section>
            <h2>
                {title}
                {capped && found?.capped && <span class="muted small">{t.truncated(found.counted ?? 0)}</span>}
            </h2>
            <ul>
                {items.slice(0, expanded ? MAX_VALUES : INITIAL).map((item) => (
                    <FilterValue
                        key={item.value}
                        term={term}
                        value={item.value}
                        recordings={item.recordings}
                        query={query}
                    />
                ))}
                {found && items.length === 0 && <li class="muted small library-none">{t.noValues}</li>}
            </ul>
            {!expanded && items.length > INITIAL && (
                <Button kind="quiet" onClick={() => setExpanded(true)}>
                    {t.moreValues}
                </Button>
            )}
        </section>
    );
}

function TagValues({ name, ...scope }: FilterScope & { name: string }) {
    const found = useValues(`tag:${name}`, name, scope);
    const items = [...(found?.items ?? [])].sort((a, b) => b.recordings - a.recordings).slice(0, 40);
    return (
        <ul class="library-sub">
            {items.map((item) => (
                <FilterValue
                    key={item.value}
                    term={name}
                    value={item.value}
                    recordings={item.recordings}
                    query={scope.query}
                />
            ))}
        </ul>
    );
}

function TagFilter(scope: FilterScope) {
    const found = useValues('tag', null, scope);
    const [open, setOpen] = useState<string | null>(null);
    const keys = found?.items ?? [];
    return (
        <section>
            <h2>{t.filter.tag}</h2>
            <ul>
                {keys.map((key) => (
                    <li key={key.value}>
                        <button
                            type="button"
                            class="library-value"
                            aria-expanded={open === key.value}
                            onClick={() => setOpen(open === key.value ? null : key.value)}
                        >
                            <Icon name={open === key.value ? 'down' : 'right'} size={12} />
                            <span class="ellipsis grow">{key.value}</span>
                            <span class="muted">{count(key.recordings)}</span>
                        </button>
                        {open === key.value && <TagValues name={key.value} {...scope} />}
                    </li>
                ))}
                {found && keys.length === 0 && <li class="muted small library-none">{t.noValues}</li>}
            </ul>
        </section>
    );
}

function OtherFilters({ query, refreshCount }: { query: string; refreshCount: number }) {
    const stats = useRequest(
        (signal) => get<{ items: Stat[] }>('/stats', { by: 'state' }, signal),
        [refreshCount],
    ).value;
    const trashed = stats?.items.find((stat) => stat.name === 'trashed')?.recordings ?? 0;
    const damaged = hasTerm(query, 'damaged', 'true');
    const inTrash = hasTerm(query, 'state', 'trashed');
    return (
        <section>
            <ul>
                <li>
                    <button
                        type="button"
                        class="library-value"
                        aria-pressed={damaged}
                        onClick={() => setQuery({ q: toggleTerm(query, 'damaged', 'true'), row: null })}
                    >
                        <span class="grow">{t.damagedOnly}</span>
                    </button>
                </li>
                <li>
                    <button
                        type="button"
                        class="library-value"
                        aria-pressed={inTrash}
                        onClick={() =>
                            setQuery({
                                q: inTrash ? dropKey(query, 'state') : 'state:trashed',
                                row: null,
                                start: null,
                                end: null,
                            })
                        }
                    >
                        <Icon name="trash" size={14} />
                        <span class="grow">{t.trash}</span>
                        <span class="muted">{count(trashed)}</span>
                    </button>
                </li>
            </ul>
        </section>
    );
}

/** Ranges of sizes, as written in a search. */
const SIZES = ['<10M', '10M..100M', '100M..1G', '>1G'];
const ADDED = ['>now-1d', '>now-7d', '>now-30d'];

function Choices({
    title,
    term,
    choices,
    label,
    query,
}: {
    title: string;
    term: string;
    choices: string[];
    label: (choice: string) => string;
    query: string;
}) {
    return (
        <section>
            <h2>{title}</h2>
            <ul>
                {choices.map((choice) => {
                    const on = hasTerm(query, term, choice);
                    return (
                        <li key={choice}>
                            <button
                                type="button"
                                class="library-value"
                                aria-pressed={on}
                                onClick={() => setQuery({ q: setTerm(query, term, on ? null : choice), row: null })}
                            >
                                {label(choice)}
                            </button>
                        </li>
                    );
                })}
            </ul>
        </section>
    );
}

/** `query` null: not known yet whether the server takes it. */
export function Filters({
    query,
    dates,
    ...rest
}: Omit<FilterScope, 'query'> & { query: string | null; dates: { start: string | null; end: string | null } }) {
    const scope = { ...rest, query: query ?? '' };
    if (query === null) {
        return <nav class="library-filters" aria-label={t.filters} />;
    }
    return (
        <nav class="library-filters" aria-label={t.filters}>
            <SavedSearches />
            <RecentlyOpened />
            <Filter {...scope} field="collection" term="collection" title={t.filter.collection} capped />
            <Filter {...scope} field="format" term="format" title={t.filter.format} hide={(value) => value === ''} />
            <Filter
                {...scope}
                field="state"
                term="state"
                title={t.filter.state}
                hide={(value) => value === 'trashed'}
            />
            <TagFilter {...scope} />
            <Dates chosen={dates} resolved={scope} />
            <Choices
                title={t.filter.size}
                term="size"
                choices={SIZES}
                label={(choice) => t.sizes[choice]!}
                query={scope.query}
            />
            <Choices
                title={t.filter.added}
                term="created"
                choices={ADDED}
                label={(choice) => t.added[choice]!}
                query={scope.query}
            />
            <OtherFilters query={scope.query} refreshCount={scope.refreshCount} />
        </nav>
    );
}

/** Shows and edits the description of the selected collection. */
export function CollectionDescription({ name, refreshCount }: { name: string; refreshCount: number }) {
    const path = `/collections/${encodeURIComponent(name)}`;
    const { value, reload } = useRequest((signal) => get<Collection>(path, {}, signal), [name, refreshCount]);
    const mayEdit = useRole('edit');
    const [editing, setEditing] = useState(false);
    const [draft, setDraft] = useState('');
    useEffect(() => setDraft(value?.description ?? ''), [value]);
    const save = () => {
        patch(path, { description: draft }).then(() => (setEditing(false), reload()), showError);
    };
    if (!value) {
        return null;
    }
    return (
        <div class="library-description">
            <strong>{value.name}</strong>
            <span class="grow ellipsis" title={value.description}>
                {value.description}
            </span>
            {mayEdit && <Button kind="quiet" icon="edit" label={t.describe} onClick={() => setEditing(true)} />}
            {editing && (
                <Dialog
                    title={t.describe}
                    onClose={() => setEditing(false)}
                    actions={
                        <>
                            <Button onClick={() => setEditing(false)}>{text.cancel}</Button>
                            <Button kind="main" onClick={save}>
                                {t.save}
                            </Button>
                        </>
                    }
                >
                    <Field
                        label={t.describeLabel}
                        multiline
                        value={draft}
                        onInput={(event) => setDraft(event.currentTarget.value)}
                    />
                </Dialog>
            )}
        </div>
    );
}
