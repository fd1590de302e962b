// Layouts of a collection, saved by name on the server: the tree and the settings of its panels, without times, so that
// they fit its other recordings, too. One of them may be shown when a recording is opened.
import { address, setQuery } from '../../../address';
import { get, send, type Page } from '../../../api';
import { linkKey } from '../../../shared_link';
import type { Recording, Topic } from '../../../types';
import { forgetLayout, panelOf, setLayout, settingsOf, shownLayout } from '../panel_layout';
import { idsOf, readTree, writeTree } from './tree';

interface Value {
    panels: string;
    settings: Record<string, Record<string, string>>; // by panel
    opened?: boolean; // with each recording of the collection
}
export interface SavedLayout {
    name: string;
    value: Value;
}

const TIMES = ['zoom']; // settings that belong to one recording

const pathOf = (collection: string, name?: string) =>
    `/collections/${encodeURIComponent(collection)}/layouts${name === undefined ? '' : '/' + encodeURIComponent(name)}`;
const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);

/** Others may have written anything. */
function layoutOf({ name, value }: { name: string; value: unknown }): SavedLayout[] {
    const { panels, settings, opened } = isObject(value) ? value : {};
    if (typeof panels !== 'string' || readTree(panels) === undefined) {
        return [];
    }
    const texts = (one: unknown) =>
        Object.fromEntries(
            Object.entries(isObject(one) ? one : {}).flatMap(([key, text]) =>
                typeof text === 'string' ? [[key, text]] : [],
            ),
        );
    const byPanel = Object.fromEntries(
        Object.entries(isObject(settings) ? settings : {}).map(([id, one]) => [id, texts(one)]),
    );
    return [{ name, value: { panels, settings: byPanel, opened: opened === true } }];
}

export async function loadLayouts(collection: string, signal?: AbortSignal): Promise<SavedLayout[]> {
    return (await get<Page<{ name: string; value: unknown }>>(pathOf(collection), {}, signal)).items.flatMap(layoutOf);
}

/** `create`: fails if there is one of this name. */
export async function saveLayout(collection: string, { name, value }: SavedLayout, create = false): Promise<void> {
    await send('PUT', pathOf(collection, name), { body: { value }, headers: create ? { 'If-None-Match': '*' } : {} });
}
export async function deleteLayout(collection: string, name: string): Promise<void> {
    await send('DELETE', pathOf(collection, name));
}
export async function renameLayout(collection: string, layout: SavedLayout, name: string): Promise<void> {
    await saveLayout(collection, { ...layout, name }, true);
    await deleteLayout(collection, layout.name);
}
/** Null: none is opened. */
export async function openAtFirst(collection: string, layouts: SavedLayout[], name: string | null): Promise<void> {
    for (const layout of layouts) {
        if (layout.value.opened !== (layout.name === name)) {
            await saveLayout(collection, { ...layout, value: { ...layout.value, opened: layout.name === name } });
        }
    }
}

/** What is shown now. */
export function currentLayout(recordings: { recording: Recording; topics: Topic[] }[]): Value {
    const { query } = address.get();
    const tree = shownLayout(recordings, query);
    const kept = (id: string) =>
        Object.fromEntries(Object.entries(settingsOf(id, query)).filter(([name]) => !TIMES.includes(name)));
    return { panels: writeTree(tree), settings: Object.fromEntries(idsOf(tree).map((id) => [id, kept(id)])) };
}

/** Shows a layout instead of the current one; `chosen` by the user. */
export function applyLayout(recording: Recording, { value }: SavedLayout, chosen: boolean): void {
    const tree = readTree(value.panels) ?? null;
    const { query } = address.get();
    const settings = idsOf(tree).map((id) => [
        id,
        {
            ...Object.fromEntries(Object.keys(settingsOf(id, query)).map((name) => [name, null])),
            ...value.settings[id],
        },
    ]);
    setLayout(recording, tree, { settings: Object.fromEntries(settings), undo: chosen, remember: chosen });
}

/** The panels of a layout that do not fit the recordings, by their titles. */
export function leftOut(recordings: { recording: Recording; topics: Topic[] }[], { value }: SavedLayout): string[] {
    const shown = idsOf(shownLayout(recordings, address.get().query));
    return idsOf(readTree(value.panels) ?? null)
        .filter((id) => !shown.includes(id))
        .map((id) => panelOf(id)?.title ?? id);
}

/** The layout that the collection opens its recordings with, unless the address has panels of its own. */
export async function openSavedLayout(recording: Recording, signal: AbortSignal): Promise<void> {
    const here = address.get().path;
    const layouts = linkKey ? [] : await loadLayouts(recording.collection, signal).catch(() => []);
    const layout = layouts.find((one) => one.value.opened);
    if (layout && address.get().path === here && !signal.aborted) {
        applyLayout(recording, layout, false);
    }
}

/** The layout of the collection, else the one that fits the recording best. */
export function resetLayout(recording: Recording, layouts: SavedLayout[]): void {
    const opened = layouts.find((one) => one.value.opened);
    if (opened) {
        applyLayout(recording, opened, true);
        return;
    }
    forgetLayout(recording);
    const names = [...address.get().query.keys()].filter(
        (name) => name === 'panels' || name === 'max' || panelOf(name.split('.')[0]!),
    );
    setQuery(Object.fromEntries(names.map((name) => [name, null])));
}
