// Rows of a recording around the play head, in windows of time. Its one rule: at most KEPT windows are held, whatever the recording's length.
import type { Range } from '../clock';

const KEPT = 4;

export interface Window<Row> {
    start: bigint;
    end: bigint;
    rows: Row[];
    state: 'loading' | 'ready' | 'failed';
    error: unknown;
}

/** `ask` gives the rows of [start, end) in the order of time. */
export type Ask<Row> = (start: bigint, end: bigint, signal: AbortSignal) => AsyncIterable<Row>;

export class Windows<Row> {
    private windows = new Map<bigint, { window: Window<Row>; stop: AbortController }>();
    private stopped = false;

    /** `width_ns`: of a window; `changed` is called when one of them is ready or has failed. */
    constructor(
        private ask: Ask<Row>,
        private bounds: Range,
        private width_ns: bigint,
        private changed: () => void,
    ) {}

    /** The window that holds `time`, ready or not; it and the one behind it are asked for. */
    at(time: bigint): Window<Row> {
        const number = (time - this.bounds.start) / this.width_ns;
        const here = this.window(number);
        if (here.state === 'ready' && this.bounds.start + (number + 1n) * this.width_ns <= this.bounds.end) {
            this.window(number + 1n);
        }
        this.forget(number);
        return here;
    }

    stop(): void {
        this.stopped = true;
        for (const { stop } of this.windows.values()) {
            stop.abort();
        }
        this.windows.clear();
    }

    private window(number: bigint): Window<Row> {
        const known = this.windows.get(number);
        if (known) {
            return known.window;
        }
        const start = this.bounds.start + number * this.width_ns;
        const window: Window<Row> = { start, end: start + this.width_ns, rows: [], state: 'loading', error: null };
        const stop = new AbortController();
        this.windows.set(number, { window, stop });
        void this.load(window, stop.signal);
        return window;
    }

    private async load(window: Window<Row>, signal: AbortSignal): Promise<void> {
        try {
            for await (const row of this.ask(window.start, window.end, signal)) {
                window.rows.push(row);
            }
            window.state = 'ready';
        } catch (error) {
            window.state = 'failed';
            window.error = error;
        }
        if (!this.stopped && !signal.aborted) {
            this.changed();
        }
    }

    private forget(near: bigint): void {
        const far = (a: bigint) => (a < near ? near - a : a - near);
        while (this.windows.size > KEPT) {
            const last = [...this.windows.keys()].sort((a, b) => Number(far(b) - far(a)))[0]!;
            this.windows.get(last)!.stop.abort();
            this.windows.delete(last);
        }
    }
}

export interface Step<Row> {
    window: Window<Row>;
    from: number; // rows [from, upto) are to be added to what is shown
    upto: number;
    fresh: boolean; // what is shown belongs to another window, or to a later time: from is 0
    back: boolean; // to an earlier time
}

/** Walks along the rows with the play head, each window from its first row. */
export class Walk<Row> {
    private at: { window: Window<Row>; rows: number } | null = null;

    constructor(
        private windows: Windows<Row>,
        private timeOf: (row: Row, window: Window<Row>) => bigint,
    ) {}

    /** Has `show` draw the step to `time`. False: the window is still being loaded. Throws what kept it from being there. */
    to(time: bigint, show: (step: Step<Row>) => void): boolean {
        const window = this.windows.at(time);
        if (window.state === 'loading') {
            return false;
        }
        if (window.state === 'failed') {
            throw window.error;
        }
        const upto = countUntil(window.rows, time, (row) => this.timeOf(row, window));
        const before = this.at;
        const fresh = before?.window !== window || upto < before.rows;
        const back = before !== null && (before.window === window ? upto < before.rows : before.window.start > window.start);
        show({ window, from: fresh ? 0 : before.rows, upto, fresh, back });
        this.at = { window, rows: upto };
        return true;
    }

    stop(): void {
        this.windows.stop();
    }
}

/** So wide that a window is about two megabytes, between 0.2 s and a minute. */
export function windowWidth(bytes: number, bounds: Range): bigint {
    const whole = Number(bounds.end - bounds.start) || 1;
    const wanted = (whole * 2e6) / Math.max(bytes, 1);
    return BigInt(Math.round(Math.min(Math.max(wanted, 2e8), 6e10, Math.max(whole + 1, 2e8))));
}

/** How many of `rows` (ordered by time) lie at or before `time`. */
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
