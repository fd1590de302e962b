// The address bar holds the whole state of a view. Its one rule: views read from here and write to here, and keep no copy.
import { Store, useStore } from './store';

export interface Address {
    path: string; // '/recordings/ID'
    query: URLSearchParams; // not to be changed: see setQuery
}

function here(): Address {
    return { path: location.pathname, query: new URLSearchParams(location.search) };
}

export const address = new Store<Address>(here());
addEventListener('popstate', () => address.set(here()));

export type Query = Record<string, string | number | readonly string[] | null | undefined>;

function withChanges(query: URLSearchParams, changes: Query): URLSearchParams {
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries(changes)) {
        next.delete(name);
        if (Array.isArray(value)) {
            value.forEach((one) => next.append(name, one));
        } else if (value !== null && value !== undefined && value !== '') {
            next.set(name, String(value));
        }
    }
    return next;
}

/** '/recordings/ID?at=…' for an href. */
export function href(path: string, query: Query = {}): string {
    const tail = withChanges(new URLSearchParams(), query).toString();
    return path + (tail ? '?' + tail : '');
}

/** To another view; back leads here again. `replace`: it does not. */
export function go(target: string, replace = false): void {
    if (target !== location.pathname + location.search) {
        history[replace ? 'replaceState' : 'pushState'](null, '', target);
    }
    address.set(here());
}

/** Changes some of this view's state; null or '' takes a name away. `replace` for what back should not stop at: typing, dragging, playing. */
export function setQuery(changes: Query, replace = false): void {
    const { path, query } = address.get();
    const tail = withChanges(query, changes).toString();
    go(path + (tail ? '?' + tail : ''), replace);
}

export function useAddress(): Address {
    return useStore(address);
}

/** Links of the page work without loading it anew: called once, for the whole document. */
export function catchLinks(): void {
    document.addEventListener('click', (event) => {
        const anchor = event.target instanceof Element ? event.target.closest('a') : null;
        const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
        if (event.defaultPrevented || !anchor || !plain || anchor.target || anchor.hasAttribute('download') || anchor.origin !== location.origin) {
            return;
        }
        if (/^\/($|upload$|docs$|admin($|\/)|recordings\/)/.test(anchor.pathname)) {
            event.preventDefault();
            go(anchor.pathname + anchor.search);
        }
    });
}
