// What a search can be narrowed by, with counts. Its one rule: a click changes the search line, which is all there is of state.
import { useEffect, useState } from 'preact/hooks';
import { setQuery } from '../../address';
import { get, patch } from '../../api';
import { useAsk } from '../../ask';
import { count } from '../../format';
import { text } from '../../text';
import { showError } from '../../toasts';
import type { Collection, Stat, Values } from '../../types';
import { Button, Dialog, Field, Icon } from '../../ui';
import { dropKey, hasTerm, toggleTerm } from './query';

const FIRST = 8;
const MOST = 200;
const words = text.library;

interface Within {
    query: string;
    start: string | null;
    end: string | null;
    round: number; // counts again when this changes
}

interface FacetProps extends Within {
    field: string; // of /values
    term: string; // in the search line
    title: string;
    hide?: (value: string) => boolean;
    capped?: boolean; // it says so when not all were counted
}

/** Of what is searched for, but for the term itself: what else could be chosen. */
function useValues(field: string, term: string | null, { query, start, end, round }: Within) {
    const q = (term === null ? query : dropKey(query, term)) || null;
    const { value } = useAsk((signal) => get<Values>('/values', { field, q, start, end, limit: MOST }, signal), [field, q, start, end, round]);
    return value;
}

function FacetItem({ term, value, recordings, query }: { term: string; value: string; recordings: number; query: string }) {
    const on = hasTerm(query, term, value);
    return (
        <li>
            <button type="button" class="library-value" aria-pressed={on} onClick={() => setQuery({ q: toggleTerm(query, term, value), at: null })}>
                <span class="ellipsis" title={value}>
                    {term === 'state' ? (text.state[value] ?? value) : value}
                </span>
                <span class="soft">{count(recordings)}</span>
            </button>
        </li>
    );
}

function Facet({ field, term, title, hide, capped, ...within }: FacetProps) {
    const { query } = within;
    const [whole, setWhole] = useState(false);
    const found = useValues(field, term, within);
    const items = [...(found?.items ?? [])].filter((item) => !hide?.(item.value)).sort((a, b) => b.recordings - a.recordings);
    return (
        <section>
            <h2>
                {title}
                {capped && found?.capped && <span class="soft small">{words.capped(found.counted ?? 0)}</span>}
            </h2>
            <ul>
                {items.slice(0, whole ? MOST : FIRST).map((item) => (
                    <FacetItem key={item.value} term={term} value={item.value} recordings={item.recordings} query={query} />
                ))}
                {found && items.length === 0 && <li class="soft small library-none">{words.noValues}</li>}
            </ul>
            {!whole && items.length > FIRST && (
                <Button kind="quiet" onClick={() => setWhole(true)}>
                    {words.moreValues}
                </Button>
            )}
        </section>
    );
}

function TagValues({ name, ...within }: Within & { name: string }) {
    const found = useValues(`tag:${name}`, name, within);
    const items = [...(found?.items ?? [])].sort((a, b) => b.recordings - a.recordings).slice(0, 40);
    return (
        <ul class="library-sub">
            {items.map((item) => (
                <FacetItem key={item.value} term={name} value={item.value} recordings={item.recordings} query={within.query} />
            ))}
        </ul>
    );
}

function TagFacet(within: Within) {
    const found = useValues('tag', null, within);
    const [open, setOpen] = useState<string | null>(null);
    const keys = found?.items ?? [];
    return (
        <section>
            <h2>{words.facet.tag}</h2>
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
                            <span class="soft">{count(key.recordings)}</span>
                        </button>
                        {open === key.value && <TagValues name={key.value} {...within} />}
                    </li>
                ))}
                {found && keys.length === 0 && <li class="soft small library-none">{words.noValues}</li>}
            </ul>
        </section>
    );
}

function Others({ query, round }: { query: string; round: number }) {
    const stats = useAsk((signal) => get<{ items: Stat[] }>('/stats', { by: 'state' }, signal), [round]).value;
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
                        onClick={() => setQuery({ q: toggleTerm(query, 'damaged', 'true'), at: null })}
                    >
                        <span class="grow">{words.damagedOnly}</span>
                    </button>
                </li>
                <li>
                    <button
                        type="button"
                        class="library-value"
                        aria-pressed={inTrash}
                        onClick={() => setQuery({ q: inTrash ? dropKey(query, 'state') : 'state:trashed', at: null, start: null, end: null })}
                    >
                        <Icon name="trash" size={14} />
                        <span class="grow">{words.trash}</span>
                        <span class="soft">{count(trashed)}</span>
                    </button>
                </li>
            </ul>
        </section>
    );
}

export function Facets(within: Within) {
    return (
        <nav class="library-facets" aria-label={words.facets}>
            <Facet {...within} field="collection" term="collection" title={words.facet.collection} capped />
            <Facet {...within} field="format" term="format" title={words.facet.format} />
            <Facet {...within} field="state" term="state" title={words.facet.state} hide={(value) => value === 'trashed'} />
            <TagFacet {...within} />
            <Others query={within.query} round={within.round} />
        </nav>
    );
}

/** Of the one collection that is looked at: what somebody wrote of it, and writing it. */
export function CollectionNote({ name, round }: { name: string; round: number }) {
    const path = `/collections/${encodeURIComponent(name)}`;
    const { value, again } = useAsk((signal) => get<Collection>(path, {}, signal), [name, round]);
    const [edits, setEdits] = useState(false);
    const [draft, setDraft] = useState('');
    useEffect(() => setDraft(value?.description ?? ''), [value]);
    const save = () => {
        patch(path, { description: draft }).then(() => (setEdits(false), again()), showError);
    };
    if (!value) {
        return null;
    }
    return (
        <div class="library-note">
            <strong>{value.name}</strong>
            <span class="grow ellipsis" title={value.description}>
                {value.description}
            </span>
            <Button kind="quiet" icon="edit" label={words.describe} onClick={() => setEdits(true)} />
            {edits && (
                <Dialog
                    title={words.describe}
                    onClose={() => setEdits(false)}
                    actions={
                        <Button kind="main" onClick={save}>
                            {words.save}
                        </Button>
                    }
                >
                    <Field label={words.describeHelp} multiline value={draft} onInput={(event) => setDraft(event.currentTarget.value)} />
                </Dialog>
            )}
        </div>
    );
}
