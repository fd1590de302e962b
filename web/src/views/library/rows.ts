// The rows of a search, a page at a time. Its one rule: of a hundred thousand rows only those near the view are kept, and where each page begins.
import { getPage, type Params } from '../../api';
import type { Recording } from '../../types';

export const PAGE = 100;
const PAGES_KEPT = 24;
const SETTLE_MS = 40; // who scrolls fast passes by

export class Rows {
    total: number | null = null;
    more = false; // there are more than that
    error: unknown = null;
    waiting = true;
    private pages = new Map<number, Recording[]>(); // in the order of their last use
    private stale = new Set<number>();
    private cursors = new Map<number, string>([[0, '']]);
    private asked = new Map<number, AbortController>();
    private seen: [number, number] = [0, PAGE];
    private timer: ReturnType<typeof setTimeout> | undefined;

    constructor(
        private readonly params: Params,
        private readonly changed: () => void,
    ) {
        void this.load(0, true);
    }

    at(index: number): Recording | undefined {
        return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
    }

    /** These are in sight. */
    show(first: number, end: number): void {
        this.seen = [first, end];
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.loadSeen(), SETTLE_MS);
    }

    /** Something has changed: what is in sight is asked again, what is not is forgotten. */
    refresh(): void {
        this.stop();
        this.cursors = new Map([[0, '']]);
        const [first, last] = this.seenPages();
        for (const page of [...this.pages.keys()]) {
            if (page < first || page > last) {
                this.pages.delete(page);
            } else {
                this.stale.add(page);
            }
        }
        this.stale.add(first);
        void this.load(first, true);
        this.loadSeen();
    }

    stop(): void {
        clearTimeout(this.timer);
        this.asked.forEach((one) => one.abort());
        this.asked.clear();
    }

    private seenPages(): [number, number] {
        return [Math.max(0, Math.floor(this.seen[0] / PAGE)), Math.max(0, Math.floor((this.seen[1] - 1) / PAGE))];
    }

    private loadSeen(): void {
        const [first, last] = this.seenPages();
        for (const [page, one] of this.asked) {
            if (page < first - 1 || page > last + 1) {
                one.abort();
                this.asked.delete(page);
            }
        }
        const most = this.total === null ? first : Math.ceil(this.total / PAGE) - 1;
        for (let page = first; page <= Math.min(last + 1, most); page++) {
            // and one ahead
            if (!this.pages.has(page) || this.stale.has(page)) {
                void this.load(page, false);
            }
        }
    }

    private async load(page: number, count: boolean): Promise<void> {
        if (this.asked.has(page)) {
            return;
        }
        const stop = new AbortController();
        this.asked.set(page, stop);
        this.waiting = true;
        const cursor = this.cursors.get(page);
        const offset = cursor === undefined ? page * PAGE : null; // a jump: the pages before were never seen
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
                // counted no further: it grows while one scrolls
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
        this.asked.delete(page);
        this.waiting = this.asked.size > 0;
        this.changed();
    }

    private keep(page: number, items: Recording[], next: string | null): void {
        this.pages.delete(page);
        this.pages.set(page, items);
        this.stale.delete(page);
        if (next) {
            this.cursors.set(page + 1, next);
        }
        const [first, last] = this.seenPages();
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
