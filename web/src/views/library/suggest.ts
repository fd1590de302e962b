// Search suggestions: keys, values of a key, topics. Values and their counts come from the server.
import { href } from '../../address';
import { get, type Page } from '../../api';
import { recent } from '../../recent';
import { formatTitle, service } from '../../service';
import { text } from '../../text/common';
import { libraryText, savedText } from '../../text/library';
import type { Recording, Values } from '../../types';
import { quoted, type Typing } from './query';
import { savedSearches } from './saved';

export interface Suggestion {
    insert: string; // replaces the typed text
    label: string;
    note: string;
    incomplete: boolean; // more must be typed: no space is added
    href?: string; // opens this instead
}

const KEYS = [
    'format',
    'topic',
    'type',
    'collection',
    'state',
    'group',
    'damaged',
    'size',
    'duration',
    'messages',
    'created',
    'meta.',
] as const;
const EXAMPLES: Record<string, string[]> = {
    damaged: ['true', 'false'],
    size: ['>100M', '<10M', '100M..1G'],
    duration: ['>1m', '<10s', '1m..1h'],
    messages: ['>1000', '<100'],
    created: ['>now-1d', '>now-7d', '>now-30d'],
};
const FIELDS = new Set(['topic', 'type', 'format', 'collection', 'state']);
const MAX_ITEMS = 10;
const PLACES = 5;
const LEAST_OF_VALUE = 2; // characters

async function valuesOf(field: string, prefix: string, signal: AbortSignal): Promise<Values> {
    return get<Values>('/values', { field, prefix, limit: MAX_ITEMS }, signal);
}

async function suggestValues(typing: Typing, signal: AbortSignal): Promise<Suggestion[]> {
    const key = typing.key!.replace(/"/g, '');
    if (EXAMPLES[key]) {
        return EXAMPLES[key]
            .filter((one) => one.startsWith(typing.prefix))
            .map((one) => ({ insert: one, label: one, note: '', incomplete: false }));
    }
    if (key === 'group') {
        return [];
    }
    const field = FIELDS.has(key) ? key : key.startsWith('meta.') ? key : `tag:${key}`;
    const { items } = await valuesOf(field, typing.prefix, signal);
    const title = (value: string) => (key === 'format' ? `${formatTitle(service.get(), value)}, ` : '');
    return items.map((item) => ({
        insert: quoted(item.value),
        label: item.value,
        note: title(item.value) + text.recordings(item.recordings),
        incomplete: false,
    }));
}

/** Values of tags, of any key. */
async function taggedWith(prefix: string, signal: AbortSignal): Promise<Suggestion[]> {
    const keys = (await valuesOf('tag', '', signal)).items.map(({ value }) => value);
    const found = await Promise.all(keys.map((key) => valuesOf('tag:' + key, prefix, signal)));
    return found.flatMap(({ items }, i) =>
        items.map(({ value, recordings }) => {
            const term = `${quoted(keys[i]!)}:${quoted(value)}`;
            return { insert: term, label: term, note: text.recordings(recordings), incomplete: false };
        }),
    );
}

async function suggestKeys(typing: Typing, signal: AbortSignal): Promise<Suggestion[]> {
    const { prefix } = typing;
    const conditions = prefix.startsWith('/') ? await suggestConditions(typing, signal) : [];
    const keys = KEYS.filter((key) => key.startsWith(prefix)).map((key) => ({
        insert: key === 'meta.' ? key : key + ':',
        label: key === 'meta.' ? key : key + ':',
        note: libraryText.keys[key],
        incomplete: true,
    }));
    const tags = await valuesOf('tag', prefix, signal);
    const tagged = tags.items.map((item) => ({
        insert: quoted(item.value) + ':',
        label: item.value + ':',
        note: libraryText.tagKey(item.recordings),
        incomplete: true,
    }));
    let topics: Suggestion[] = [];
    if (prefix.length > 0) {
        const found = await valuesOf('topic', prefix, signal);
        topics = found.items.slice(0, 5).map((item) => ({
            insert: `topic:${quoted(item.value)}`,
            label: item.value,
            note: libraryText.topicIn(item.recordings),
            incomplete: false,
        }));
    }
    const values = prefix.length >= LEAST_OF_VALUE ? await taggedWith(prefix, signal) : [];
    return [...conditions, ...keys, ...tagged, ...values.slice(0, 5), ...topics].slice(0, prefix ? MAX_ITEMS : 20);
}

/** The fields of a topic, as a recording has them that was added last. */
async function fieldsOf(topic: string, signal: AbortSignal): Promise<string[]> {
    const q = `topic:${quoted(topic)}`;
    const [recording] = (await get<Page<Recording>>('/recordings', { q, limit: 1, sort: '-created' }, signal)).items;
    const all = recording
        ? await get<{ fields: { path: string }[] }>(`/recordings/${recording.id}/topics/fields`, { topic }, signal)
        : { fields: [] };
    return all.fields.map(({ path }) => path);
}

/** Topics, then fields of one, for a condition such as /battery.voltage<11. */
async function suggestConditions({ prefix }: Typing, signal: AbortSignal): Promise<Suggestion[]> {
    const item = (insert: string, note: string) => ({ insert, label: insert, note, incomplete: true });
    const [name] = prefix.split('.', 1);
    const topics = (await valuesOf('topic', name!, signal)).items;
    if (name === prefix) {
        return topics.slice(0, PLACES).map(({ value }) => item(value + '.', libraryText.valuesOf));
    }
    const topic = topics.find(({ value }) => prefix.startsWith(value + '.'))?.value;
    const begun = prefix.slice((topic ?? '').length + 1);
    const fields = topic === undefined ? [] : await fieldsOf(topic, signal);
    return fields
        .filter((path) => path.startsWith(begun))
        .slice(0, MAX_ITEMS)
        .map((path) => item(`${topic}.${path}`, libraryText.fieldOf));
}

/** Saved searches by any part of their name; while nothing is typed also the recordings that were opened last. */
function suggestPlaces({ prefix }: Typing): Suggestion[] {
    const place = (label: string, note: string, to: string): Suggestion => ({
        insert: '',
        label,
        note,
        incomplete: false,
        href: to,
    });
    const saved = (savedSearches.get() ?? []).filter((one) => one.name.toLowerCase().includes(prefix.toLowerCase()));
    return [
        ...saved
            .slice(0, PLACES)
            .map((one) => place(one.name, savedText.note, href('', { ...one.query, saved: one.name }))),
        ...(prefix
            ? []
            : recent
                  .get()
                  .slice(0, PLACES)
                  .map((one) => place(one.name, savedText.recentNote, href(`recordings/${one.id}`)))),
    ];
}

/** Returns no suggestions after an error; throws only if aborted. */
export async function suggest(typing: Typing, signal: AbortSignal): Promise<Suggestion[]> {
    try {
        return await (typing.key === null
            ? suggestKeys(typing, signal).then((keys) => [...suggestPlaces(typing), ...keys])
            : suggestValues(typing, signal));
    } catch (error) {
        if (signal.aborted) {
            throw error;
        }
        return [];
    }
}
