// What was before the playhead, for as long as it is shown: the rows that were played, and those that are loaded after a
// seek. The scene itself does not wait for them.
import type { Range } from '../../playback';

const GAP_NS = 500_000_000n; // between windows that are played one after the other
const KEPT = 2n; // times what is shown: the playhead may move back a little

interface Use<Row> {
    load: (start: bigint, end: bigint, signal: AbortSignal) => AsyncIterable<Row>;
    /** Rows before all others. */
    older: (rows: Row[]) => void;
    /** Rows before this time are not needed any more; null: none are. */
    drop: (before: bigint | null) => void;
    changed: () => void;
}

export class Past<Row> {
    private covered: { from: bigint; to: bigint } | null = null;
    private loading: AbortController | null = null;

    constructor(
        private bounds: () => Range,
        private use: Use<Row>,
    ) {}

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
            before === null || apart
                ? { from, to }
                : { from: from < before.from ? from : before.from, to: to > before.to ? to : before.to });
        const first = covered.to - (KEPT + 1n) * span_ns;
        if (covered.from < first && to - span_ns > first) {
            covered.from = first;
            this.use.drop(first);
        }
        const { start } = this.bounds();
        const wanted = to - span_ns > start ? to - span_ns : start;
        if (wanted < covered.from && !this.loading) {
            const more = to - KEPT * span_ns;
            void this.load(more > start ? more : start, covered.from);
        }
        return apart ? null : before.to;
    }

    private async load(start: bigint, end: bigint): Promise<void> {
        const stop = (this.loading = new AbortController());
        const rows: Row[] = [];
        try {
            for await (const row of this.use.load(start, end, stop.signal)) {
                rows.push(row);
            }
        } catch {
            return; // the next forget() allows another try; the scene says what is wrong
        }
        if (!stop.signal.aborted && this.covered) {
            this.covered.from = start;
            this.loading = null;
            this.use.older(rows);
            this.use.changed();
        }
    }

    forget(): void {
        this.loading?.abort();
        this.loading = this.covered = null;
        this.use.drop(null);
    }
    stop(): void {
        this.loading?.abort();
    }
}
