// The rows of a long table in pages, loaded as they are seen. At most MAX_PAGES are in memory, whatever the table's
// length.
import { countUntil } from '../time_windows';

export const PAGE = 200;
const MAX_PAGES = 50;
const AT_ONCE = 2; // requests; while a table is scrolled fast, the pages passed meanwhile are left out

export class Pages<Row> {
    private pages = new Map<number, Row[]>(); // those used last are at the end
    private loading = new Set<number>();
    private failed = new Set<number>();
    private wanted: number[] = [];
    private stop = new AbortController();

    /** `changed`: a page has arrived, or could not be loaded. */
    constructor(
        private load: (offset: number, limit: number, signal: AbortSignal) => Promise<Row[]>,
        private count: number,
        private changed: (error: unknown) => void,
    ) {}

    rowAt(index: number): Row | undefined {
        return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
    }

    /** Loads the rows [first, end) unless they are there, and the pages around them after that. */
    want(first: number, end: number): void {
        const [from, to] = [Math.floor(first / PAGE), Math.floor(Math.max(first, end - 1) / PAGE)];
        const last = Math.floor((this.count - 1) / PAGE);
        const around = [to + 1, from - 1].filter((page) => page >= 0 && page <= last);
        this.wanted = [...Array.from({ length: to - from + 1 }, (_, i) => from + i), ...around];
        this.next();
    }

    retry(): void {
        this.failed.clear();
        this.next();
    }

    /** The index of the last row at or before `time`; null: it is not among the loaded rows. */
    find(time: bigint, timeOf: (row: Row) => bigint): number | null {
        for (const [page, rows] of this.pages) {
            const isLast = (page + 1) * PAGE >= this.count;
            if (rows.length > 0 && timeOf(rows[0]!) <= time && (isLast || time < timeOf(rows.at(-1)!))) {
                return page * PAGE + countUntil(rows, time, timeOf) - 1;
            }
        }
        return null;
    }

    end(): void {
        this.stop.abort();
    }

    private next(): void {
        for (const page of this.wanted) {
            const rows = this.pages.get(page);
            if (rows) {
                this.pages.delete(page);
                this.pages.set(page, rows);
            } else if (this.loading.size < AT_ONCE && !this.loading.has(page) && !this.failed.has(page)) {
                void this.fetch(page);
            }
        }
    }

    private async fetch(page: number): Promise<void> {
        this.loading.add(page);
        let error: unknown = null;
        try {
            const rows = await this.load(page * PAGE, PAGE, this.stop.signal);
            this.pages.set(page, rows);
            for (const oldest of [...this.pages.keys()].slice(0, Math.max(0, this.pages.size - MAX_PAGES))) {
                this.pages.delete(oldest);
            }
        } catch (failure) {
            error = failure;
            this.failed.add(page);
        }
        this.loading.delete(page);
        if (!this.stop.signal.aborted) {
            this.changed(error);
            this.next();
        }
    }
}
