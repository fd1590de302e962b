// Loads rows of a recording around the playhead, in time windows. At most MAX_WINDOWS are in memory, whatever the
// recording's length.
import type { Range } from '../playback';

const MAX_WINDOWS = 4;

export interface TimeWindow<Row> {
    start: bigint;
    end: bigint;
    loaded: bigint; // rows before this time were loaded; a live recording gets more
    rows: Row[];
    state: 'loading' | 'ready' | 'failed';
    error: unknown;
}

/**
 * Loads the rows of [start, end), ordered by time. `first`: of a window; what holds since before `start` may come in
 * front.
 */
export type LoadRows<Row> = (start: bigint, end: bigint, signal: AbortSignal, first: boolean) => AsyncIterable<Row>;

export class TimeWindows<Row> {
    private windows = new Map<bigint, { window: TimeWindow<Row>; stop: AbortController }>();
    private more = new Set<TimeWindow<Row>>(); // that are ready, and loading more
    private stopped = false;

    /**
     * `bounds`: of the recording, which may grow at its end. `width_ns`: of one window. `changed` is called when a
     * window has loaded or failed.
     */
    constructor(
        private loadRows: LoadRows<Row>,
        private bounds: () => Range,
        private width_ns: bigint,
        private changed: () => void,
    ) {}

    /** The window that contains `time`, loaded or not; also loads the next one. */
    at(time: bigint): TimeWindow<Row> {
        const { start, end } = this.bounds();
        const number = (time - start) / this.width_ns;
        const here = this.window(number);
        if (here.state === 'ready' && here.loaded < here.end && here.loaded <= end) {
            this.loadMore(number);
        }
        if (here.state === 'ready' && start + (number + 1n) * this.width_ns <= end) {
            this.window(number + 1n);
        }
        this.evict(number);
        return here;
    }

    stop(): void {
        this.stopped = true;
        for (const { stop } of this.windows.values()) {
            stop.abort();
        }
        this.windows.clear();
    }

    private window(number: bigint): TimeWindow<Row> {
        const existing = this.windows.get(number);
        if (existing) {
            return existing.window;
        }
        const start = this.bounds().start + number * this.width_ns;
        const window: TimeWindow<Row> = {
            start,
            end: start + this.width_ns,
            loaded: start,
            rows: [],
            state: 'loading',
            error: null,
        };
        const stop = new AbortController();
        this.windows.set(number, { window, stop });
        void this.load(window, stop.signal);
        return window;
    }

    /** The rows that a window got since it was loaded; it stays ready. */
    private loadMore(number: bigint): void {
        const { window, stop } = this.windows.get(number)!;
        if (!this.more.has(window)) {
            this.more.add(window);
            void this.load(window, stop.signal).then(() => this.more.delete(window));
        }
    }

    private async load(window: TimeWindow<Row>, signal: AbortSignal): Promise<void> {
        const known = this.bounds().end;
        const end = known < window.end ? known + 1n : window.end;
        try {
            for await (const row of this.loadRows(window.loaded, end, signal, window.state === 'loading')) {
                window.rows.push(row);
            }
            window.loaded = end;
            window.state = 'ready';
        } catch (error) {
            window.state = 'failed';
            window.error = error;
        }
        if (!this.stopped && !signal.aborted) {
            this.changed();
        }
    }

    private evict(near: bigint): void {
        const far = (a: bigint) => (a < near ? near - a : a - near);
        while (this.windows.size > MAX_WINDOWS) {
            const last = [...this.windows.keys()].sort((a, b) => Number(far(b) - far(a)))[0]!;
            this.windows.get(last)!.stop.abort();
            this.windows.delete(last);
        }
    }
}

export interface Step<Row> {
    window: TimeWindow<Row>;
    from: number; // rows [from, upto) are added to what is shown
    upto: number;
    reset: boolean; // discard what is shown (another window, or a later time); `from` is 0
    backwards: boolean; // to an earlier time
}

/** Follows the playhead through the rows, each window from its first row. */
export class RowCursor<Row> {
    private at: { window: TimeWindow<Row>; rows: number } | null = null;

    constructor(
        private windows: TimeWindows<Row>,
        private timeOf: (row: Row, window: TimeWindow<Row>) => bigint,
    ) {}

    /**
     * Calls `show` with the rows up to `time`. False while the window is loading. Throws the error if loading failed.
     */
    moveTo(time: bigint, show: (step: Step<Row>) => void): boolean {
        const window = this.windows.at(time);
        if (window.state === 'loading') {
            return false;
        }
        if (window.state === 'failed') {
            throw window.error;
        }
        const upto = countUntil(window.rows, time, (row) => this.timeOf(row, window));
        const before = this.at;
        const reset = before?.window !== window || upto < before.rows;
        const backwards =
            before !== null && (before.window === window ? upto < before.rows : before.window.start > window.start);
        show({ window, from: reset ? 0 : before.rows, upto, reset, backwards });
        this.at = { window, rows: upto };
        return true;
    }

    /** The next moveTo() starts at the window's first row. */
    restart(): void {
        this.at = null;
    }
    stop(): void {
        this.windows.stop();
    }
}

/** The width of a window of about 2 MB, between 0.2 s and one minute. */
export function windowWidth(bytes: number, bounds: Range): bigint {
    const length = Number(bounds.end - bounds.start) || 1;
    const width = (length * 2e6) / Math.max(bytes, 1);
    return BigInt(Math.round(Math.min(Math.max(width, 2e8), 6e10, Math.max(length + 1, 2e8))));
}

/** The number of `rows` (ordered by time) at or before `time`. */
export function countUntil<Row>(rows: readonly Row[], time: bigint, timeOf: (row: Row) => bigint): number {
    let low = 0;
    let high = rows.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (timeOf(rows[middle]!) <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
