// A signed link opens the page for one recording, read-only. Its key comes in the fragment of the address, which
// browsers send to nobody; it stays in this tab and goes with each request (api.ts). No other module reads it from the
// address or stores it.
const KEY = 'reel.link';

function take(): string | null {
    const given = /^#link=([\w.-]+)$/.exec(location.hash)?.[1];
    const key = given ?? sessionStorage.getItem(KEY);
    if (given) {
        // not into bookmarks, and not onto projectors
        history.replaceState(null, '', location.pathname + location.search);
    }
    const of = new URL(`recordings/${key?.split('.')[0]}`, document.baseURI).pathname;
    if (!key || location.pathname !== of) {
        // another page of the archive, opened in the same tab
        sessionStorage.removeItem(KEY);
        return null;
    }
    sessionStorage.setItem(KEY, key);
    return key;
}

/** null: the page was not opened by such a link. */
export const linkKey = take();
addEventListener('hashchange', () => location.hash.startsWith('#link=') && location.reload());

/** Shows the recording to those who can log in. */
export function leaveLink(): void {
    sessionStorage.removeItem(KEY);
    location.reload();
}
