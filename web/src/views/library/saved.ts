// Searches that are saved on the server by name, for everybody who may see all collections. The address names the one
// that is open (saved=), with its terms beside it; a link with the name alone opens it as it is then.
import { ApiError, getAll, send } from '../../api';
import { Store } from '../../store';
import { savedText } from '../../text/library';
import type { Saved } from '../../types';

/** The parts of the address that are saved. */
export const PARTS = ['q', 'where', 'start', 'end', 'sort'] as const;
export type SavedQuery = Record<(typeof PARTS)[number], string | null>;

export interface SavedSearch {
    name: string;
    query: SavedQuery;
}

/** null: not loaded yet. */
export const savedSearches = new Store<readonly SavedSearch[] | null>(null);

const pathOf = (name: string) => `/searches/${encodeURIComponent(name)}`;

const textOf = (value: unknown) => (typeof value === 'string' && value ? value : null);
function readSaved({ name, value }: Saved): SavedSearch {
    return { name, query: Object.fromEntries(PARTS.map((part) => [part, textOf(value[part])])) as SavedQuery };
}

export const queryOf = (address: URLSearchParams): SavedQuery =>
    Object.fromEntries(PARTS.map((part) => [part, address.get(part) || null])) as SavedQuery;
export const isSame = (a: SavedQuery, b: SavedQuery): boolean =>
    PARTS.every((part) => (a[part] ?? '') === (b[part] ?? ''));

export async function loadSaved(): Promise<void> {
    savedSearches.set((await getAll<Saved>('/searches', { limit: null })).map(readSaved));
}

/** `over`: replaces one of this name; otherwise it is refused if there is one. */
export async function saveSearch(name: string, query: SavedQuery, over: boolean): Promise<void> {
    try {
        await send('PUT', pathOf(name), { body: { value: query }, headers: over ? {} : { 'If-None-Match': '*' } });
    } catch (error) {
        throw error instanceof ApiError && error.status === 412 ? new Error(savedText.taken(name)) : error;
    }
    await loadSaved();
}

export async function deleteSearch(name: string): Promise<void> {
    await send('DELETE', pathOf(name));
    await loadSaved();
}

export async function renameSearch(from: SavedSearch, to: string): Promise<void> {
    await saveSearch(to, from.query, false);
    await deleteSearch(from.name);
}
