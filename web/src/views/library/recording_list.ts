// The results of a search, loaded in pages. Keeps only pages near the visible rows, and the cursor of each page.
import { get, getPage, type Page } from '../../api';
import type { Recording } from '../../types';

export const PAGE = 100;
const PAGES_KEPT = 24;
const SCROLL_DELAY_MS = 40; // rows passed by fast scrolling are not loaded

export interface Search {
    q: string | null;
    start: string | null;
    end: string | null;
}

export class RecordingList {
    total: number | null = null;
    more = false; // the total is a lower bound
    error: unknown = null;
    waiting = true;
    private readonly params: Search & { sort: string };
    private pages = new Map<number, Recording[]>(); // in order of last use
    private stale = new Set<number>();
    private cursors = new Map<number, string>([[0, '']]);
    private loading = new Map<number, AbortController>();
    private visible: [number, number] = [0, PAGE];
    private timer: ReturnType<typeof setTimeout> | undefined;

    readonly query: string;
    readonly search: Search;

    constructor(
        { sort, ...search }: Search & { sort: string },
        private readonly changed: () => void,
    ) {
        this.search = search;
        this.params = { ...search, sort };
        this.query = search.q ?? '';
        void this.load(0, true);
    }

    /** Whether any of the loaded rows is not simply ready. */
    get hasStates(): boolean {
        return [...this.pages.values()].some((page) => page.some((row) => row.state !== 'ready' || row.damaged));
    }

    at(index: number): Recording | undefined {
        return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
    }

    /** The rows of a range, also those that are not loaded. */
    async between(first: number, end: number): Promise<Recording[]> {
        const rows: Recording[] = [];
        for (let row = this.at(first); row && first + rows.length < end; row = this.at(first + rows.length)) {
            rows.push(row);
        }
        while (first + rows.length < end) {
            const offset = first + rows.length;
            const page = await get<Page<Recording>>('/recordings', {
                ...this.params,
                offset,
                limit: Math.min(1000, end - offset),
            });
            if (page.items.length === 0) {
                break;
            }
            rows.push(...page.items);
        }
        return rows;
    }

    /** Loads the visible rows. */
    show(first: number, end: number): void {
        this.visible = [first, end];
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.loadVisible(), SCROLL_DELAY_MS);
    }

    /** After a change: reloads the visible pages and drops the others. */
    refresh(): void {
        this.stop();
        this.cursors = new Map([[0, '']]);
        const [first, last] = this.visiblePages();
        for (const page of [...this.pages.keys()]) {
            if (page < first || page > last) {
                this.pages.delete(page);
            } else {
                this.stale.add(page);
            }
        }
        this.stale.add(first);
        void this.load(first, true);
        this.loadVisible();
    }

    stop(): void {
        clearTimeout(this.timer);
        this.loading.forEach((one) => one.abort());
        this.loading.clear();
    }

    private visiblePages(): [number, number] {
        return [Math.max(0, Math.floor(this.visible[0] / PAGE)), Math.max(0, Math.floor((this.visible[1] - 1) / PAGE))];
    }

    private loadVisible(): void {
        const [first, last] = this.visiblePages();
        for (const [page, one] of this.loading) {
            if (page < first - 1 || page > last + 1) {
                one.abort();
                this.loading.delete(page);
            }
        }
        const most = this.total === null ? first : Math.ceil(this.total / PAGE) - 1;
        for (let page = first; page <= Math.min(last + 1, most); page++) {
            // including one page ahead
            if (!this.pages.has(page) || this.stale.has(page)) {
                void this.load(page, false);
            }
        }
    }

    private async load(page: number, count: boolean): Promise<void> {
        if (this.loading.has(page)) {
            return;
        }
        const stop = new AbortController();
        this.loading.set(page, stop);
        this.waiting = true;
        const cursor = this.cursors.get(page);
        const offset = cursor === undefined ? page * PAGE : null; // after a jump no cursor is known
        try {
            const got = await getPage<Recording>(
                '/recordings',
                { ...this.params, limit: PAGE, offset, count: count || null },
                cursor || null,
                stop.signal,
            );
            if (stop.signal.aborted) {
                return;
            }
            this.keep(page, got.items, got.next);
            this.total = got.total_capped ? Math.max(got.total!, this.total ?? 0) : (got.total ?? this.total);
            this.more = got.total_capped ?? this.more;
            if (this.more && this.total !== null) {
                // the server stopped counting: the total grows while scrolling
                const end = page * PAGE + got.items.length;
                this.total = got.next ? Math.max(this.total, end + PAGE) : Math.min(this.total, end);
                this.more = got.next !== null || this.total > end;
            }
            this.error = null;
        } catch (error) {
            if (stop.signal.aborted) {
                return;
            }
            this.error = error;
        }
        this.loading.delete(page);
        this.waiting = this.loading.size > 0;
        this.changed();
    }

    private keep(page: number, items: Recording[], next: string | null): void {
        this.pages.delete(page);
        this.pages.set(page, items);
        this.stale.delete(page);
        if (next) {
            this.cursors.set(page + 1, next);
        }
        const [first, last] = this.visiblePages();
        for (const old of this.pages.keys()) {
            if (this.pages.size <= PAGES_KEPT) {
                break;
            }
            if (old < first - 1 || old > last + 1) {
                this.pages.delete(old);
            }
        }
    }
}
