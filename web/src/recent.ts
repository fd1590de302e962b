// The recordings that were opened last in this browser.
import { Store } from './store';
import type { Recording } from './types';

const KEY = 'reel.recent';
const KEPT = 20;

export interface Opened {
    id: string;
    name: string;
    collection: string;
}

function stored(): Opened[] {
    try {
        const list: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
        return Array.isArray(list)
            ? list.filter((one: Partial<Opened> | null) => typeof one?.id === 'string' && typeof one.name === 'string')
            : [];
    } catch {
        return [];
    }
}
export const recent = new Store<readonly Opened[]>(stored());

function keep(list: Opened[]): void {
    recent.set(list.slice(0, KEPT));
    localStorage.setItem(KEY, JSON.stringify(recent.get()));
}
export function rememberOpened({ id, name, collection }: Recording): void {
    keep([{ id, name, collection }, ...stored().filter((one) => one.id !== id)]); // another tab may have added some
}
export function forgetOpened(id?: string): void {
    keep(id === undefined ? [] : stored().filter((one) => one.id !== id));
}
