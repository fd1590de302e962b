// What was before the playhead, for as long as it is shown: the rows that were played, and those that are loaded after a
// seek. The scene itself does not wait for them.
import type { Range } from '../../playback';

const GAP_NS = 500_000_000n; // between windows that are played one after the other
const KEPT = 2n; // times what is shown: the playhead may move back a little
const PART = 4n; // windows that are loaded at once
const PART_MIN_NS = 1_000_000_000n;
const RETRY_MS = 5000;

export interface Older<Row> {
    add: (row: Row) => void;
    end: () => void; // there are no more: from now on they belong to the past
}
interface Use<Row> {
    load: (start: bigint, end: bigint, signal: AbortSignal) => AsyncIterable<Row>;
    /** Takes rows before all others, as they arrive. */
    older: () => Older<Row>;
    /** Rows before this time are not needed any more; null: none are. */
    drop: (before: bigint | null) => void;
    changed: () => void;
}

export class Past<Row> {
    private covered: { from: bigint; to: bigint } | null = null;
    private loading: AbortController | null = null;
    private retry: ReturnType<typeof setTimeout> | undefined;
    private part_ns: bigint;
    /** The last rows that were asked for did not come; they are asked for again. */
    failed = false;

    /** `width_ns`: of a time window. */
    constructor(
        private bounds: () => Range,
        width_ns: bigint,
        private use: Use<Row>,
    ) {
        this.part_ns = PART * width_ns > PART_MIN_NS ? PART * width_ns : PART_MIN_NS;
    }

    /**
     * The rows of [from, to] are at hand; those of `span_ns` before `to` are wanted. Returns the time up to which rows
     * were known before; null: none were.
     */
    move(from: bigint, to: bigint, span_ns: bigint): bigint | null {
        const before = this.covered;
        const apart = before === null || from > before.to + GAP_NS || to < before.from;
        if (apart) {
            this.forget();
        }
        const covered = (this.covered =
            before === null || apart ? { from, to } : { from: before.from, to: to > before.to ? to : before.to });
        const first = covered.to - (KEPT + 1n) * span_ns;
        // after a seek the rows come only when this returns
        if (!apart && covered.from < first && to - span_ns > first) {
            covered.from = first;
            this.use.drop(first);
        }
        const { start } = this.bounds();
        const wanted = to - span_ns > start ? to - span_ns : start;
        if (wanted < covered.from && !this.loading && this.retry === undefined) {
            const all = to - KEPT * span_ns;
            const part = covered.from - this.part_ns;
            const more = part > all ? part : all;
            void this.load(more > start ? more : start, covered.from);
        }
        return apart ? null : before.to;
    }

    private async load(start: bigint, end: bigint): Promise<void> {
        const stop = (this.loading = new AbortController());
        const older = this.use.older();
        let failed = false;
        try {
            for await (const row of this.use.load(start, end, stop.signal)) {
                older.add(row);
            }
        } catch {
            failed = true;
        }
        if (stop.signal.aborted) {
            return;
        }
        this.loading = null;
        this.failed = failed;
        if (failed) {
            this.retry = setTimeout(() => {
                this.retry = undefined;
                this.use.changed();
            }, RETRY_MS);
        } else if (this.covered?.from === end) {
            this.covered.from = start; // else the playhead has moved on, and they are not needed any more
            older.end();
        }
        this.use.changed();
    }

    forget(): void {
        this.stop();
        this.loading = this.covered = null;
        this.failed = false;
        this.use.drop(null);
    }
    stop(): void {
        this.loading?.abort();
        clearTimeout(this.retry);
        this.retry = undefined;
    }
}
