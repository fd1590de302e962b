// What could be typed next: keys of the search, values of a key, topics. Its one rule: values come from the server, counted.
import { get } from '../../api';
import { text } from '../../text';
import type { Values } from '../../types';
import { quoted, type Typing } from './query';

export interface Suggestion {
    insert: string; // in place of what is typed
    label: string;
    note: string;
    goesOn: boolean; // more is to be typed: no blank after it
}

const KEYS = ['format', 'topic', 'type', 'collection', 'state', 'group', 'damaged', 'meta.'] as const;
const FIELDS = new Set(['topic', 'type', 'format', 'collection', 'state']);
const MOST = 10;

async function valuesOf(field: string, prefix: string, signal: AbortSignal): Promise<Values> {
    return get<Values>('/values', { field, prefix, limit: MOST }, signal);
}

async function suggestValues(typing: Typing, signal: AbortSignal): Promise<Suggestion[]> {
    const key = typing.key!.replace(/"/g, '');
    if (key === 'damaged') {
        return ['true', 'false'].filter((one) => one.startsWith(typing.prefix)).map((one) => ({ insert: one, label: one, note: '', goesOn: false }));
    }
    if (key === 'group') {
        return [];
    }
    const field = FIELDS.has(key) ? key : key.startsWith('meta.') ? key : `tag:${key}`;
    const { items } = await valuesOf(field, typing.prefix, signal);
    return items.map((item) => ({ insert: quoted(item.value), label: item.value, note: text.recordings(item.recordings), goesOn: false }));
}

async function suggestStarts(typing: Typing, signal: AbortSignal): Promise<Suggestion[]> {
    const { prefix } = typing;
    const keys = KEYS.filter((key) => key.startsWith(prefix)).map((key) => ({
        insert: key === 'meta.' ? key : key + ':',
        label: key === 'meta.' ? key : key + ':',
        note: text.library.keys[key],
        goesOn: true,
    }));
    const tags = await valuesOf('tag', prefix, signal);
    const tagged = tags.items.map((item) => ({
        insert: quoted(item.value) + ':',
        label: item.value + ':',
        note: text.library.tagKey(item.recordings),
        goesOn: true,
    }));
    let topics: Suggestion[] = [];
    if (prefix.length > 0) {
        const found = await valuesOf('topic', prefix, signal);
        topics = found.items
            .slice(0, 5)
            .map((item) => ({
                insert: `topic:${quoted(item.value)}`,
                label: item.value,
                note: text.library.topicIn(item.recordings),
                goesOn: false,
            }));
    }
    return [...keys, ...tagged, ...topics].slice(0, prefix ? MOST : 20);
}

/** Nothing for a query that cannot be asked; throws only when it was given up. */
export async function suggest(typing: Typing, signal: AbortSignal): Promise<Suggestion[]> {
    try {
        return await (typing.key === null ? suggestStarts(typing, signal) : suggestValues(typing, signal));
    } catch (error) {
        if (signal.aborted) {
            throw error;
        }
        return [];
    }
}
