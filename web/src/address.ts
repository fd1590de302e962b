// The URL holds the whole state of a view: views read it from here, change it here, and keep no copy.
import { linkKey } from './shared_link';
import { Store, useStore } from './store';

/**
 * The path that the page is served under, by the <base> that the server writes: '/', or '/reel/' behind a proxy. Paths
 * within the page have no leading slash; in links and requests the browser puts them after the root.
 */
export const ROOT = new URL(document.baseURI).pathname;

export interface Address {
    path: string; // within the page: 'recordings/ID', '' for the library
    query: URLSearchParams; // read only: change it with setQuery
}

function current(): Address {
    const path = location.pathname.startsWith(ROOT) ? location.pathname.slice(ROOT.length) : '';
    return { path, query: new URLSearchParams(location.search) };
}

export const address = new Store<Address>(current());
addEventListener('popstate', () => address.set(current()));

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

/** Builds an href such as 'recordings/ID?at=…'; the path of the library is ''. */
export function href(path: string, query: Query = {}): string {
    const search = withChanges(new URLSearchParams(), query).toString();
    return (path || './') + (search ? '?' + search : '');
}

/** Navigates to another view. `replace`: without a new history entry. */
export function go(target: string, replace = false): void {
    if (new URL(target, document.baseURI).href !== location.href) {
        history[replace ? 'replaceState' : 'pushState'](null, '', target);
    }
    address.set(current());
}

/**
 * Changes parameters of the current URL; null or '' removes one. `replace` for changes that need no history entry:
 * typing, dragging, playing.
 */
export function setQuery(changes: Query, replace = false): void {
    const { path, query } = address.get();
    const search = withChanges(query, changes).toString();
    go((path || './') + (search ? '?' + search : ''), replace);
}

export function useAddress(): Address {
    return useStore(address);
}

/** Follows the page's own links without reloading it. Call once. */
export function handleLinks(): void {
    document.addEventListener('click', (event) => {
        const anchor = event.target instanceof Element ? event.target.closest('a') : null;
        const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
        if (
            event.defaultPrevented ||
            linkKey ||
            !anchor ||
            !plain ||
            anchor.target ||
            anchor.hasAttribute('download') ||
            anchor.hash ||
            !anchor.href.startsWith(document.baseURI)
        ) {
            return;
        }
        if (/^($|upload$|docs$|admin($|\/)|recordings\/)/.test(anchor.pathname.slice(ROOT.length))) {
            event.preventDefault();
            go(anchor.pathname + anchor.search);
        }
    });
}
