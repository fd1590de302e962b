// The play head that all panels of a recording share. Its one rule: nothing else holds time; a panel listens, and asks it to move.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Store, type Readable } from './store';

export interface Range {
    start: bigint; // ns, in
    end: bigint; // ns, out
}

export interface ClockState {
    time_ns: bigint;
    bounds: Range; // of the recording
    range: Range | null; // what is selected on the timeline; null: all
    playing: boolean;
    speed: number;
    loop: boolean;
}

const STEP_MOST_MS = 1000; // a page that was hidden goes on where it was

export class Clock implements Readable<ClockState> {
    private store: Store<ClockState>;
    private frame = 0;
    private before = 0;

    constructor(bounds: Range) {
        this.store = new Store<ClockState>({ time_ns: bounds.start, bounds, range: null, playing: false, speed: 1, loop: false });
    }
    get(): ClockState {
        return this.store.get();
    }
    subscribe(listener: (state: ClockState) => void): () => void {
        return this.store.subscribe(listener);
    }
    private change(part: Partial<ClockState>): void {
        this.store.set({ ...this.get(), ...part });
    }
    /** Where playing begins and ends: the range, or all. */
    span(): Range {
        return this.get().range ?? this.get().bounds;
    }
    seek(time_ns: bigint): void {
        const { start, end } = this.get().bounds;
        const time = time_ns < start ? start : time_ns > end ? end : time_ns;
        if (time !== this.get().time_ns) {
            this.change({ time_ns: time });
        }
    }
    /** What lies outside the recording is cut off; a range of nothing is none. */
    setRange(range: Range | null): void {
        const { bounds } = this.get();
        const start = range && (range.start < bounds.start ? bounds.start : range.start);
        const end = range && (range.end > bounds.end ? bounds.end : range.end);
        this.change({ range: start !== null && end !== null && start < end ? { start, end } : null });
    }
    setSpeed(speed: number): void {
        this.change({ speed });
    }
    setLoop(loop: boolean): void {
        this.change({ loop });
    }
    play(): void {
        const { time_ns, playing } = this.get();
        const { start, end } = this.span();
        if (playing || end <= start) {
            return;
        }
        this.change({ playing: true, time_ns: time_ns >= end || time_ns < start ? start : time_ns });
        this.before = performance.now();
        this.frame = requestAnimationFrame(this.tick);
    }
    pause(): void {
        cancelAnimationFrame(this.frame);
        if (this.get().playing) {
            this.change({ playing: false });
        }
    }
    toggle(): void {
        if (this.get().playing) {
            this.pause();
        } else {
            this.play();
        }
    }
    private tick = (now: number): void => {
        const { time_ns, speed, loop } = this.get();
        const { start, end } = this.span();
        const passed = Math.min(Math.max(0, now - this.before), STEP_MOST_MS);
        const step = BigInt(Math.round(passed * 1e6 * speed));
        this.before = now;
        const next = time_ns + step;
        if (next >= end && !loop) {
            this.change({ time_ns: end, playing: false });
            return;
        }
        this.change({ time_ns: next >= end ? start : next });
        this.frame = requestAnimationFrame(this.tick);
    };
}

/** The clock's state, drawn anew at most every `interval_ms` while it plays (0: each frame); the last state is never missed. */
export function useClock(clock: Clock, interval_ms = 0): ClockState {
    const [state, setState] = useState(clock.get());
    const last = useRef(0);
    const timer = useRef<ReturnType<typeof setTimeout>>();
    useEffect(() => {
        const show = () => {
            clearTimeout(timer.current);
            timer.current = undefined;
            last.current = performance.now();
            setState(clock.get());
        };
        const heard = () => {
            const wait = last.current + interval_ms - performance.now();
            if (wait <= 0) {
                show();
            } else if (timer.current === undefined) {
                timer.current = setTimeout(show, wait);
            }
        };
        show();
        const stop = clock.subscribe(heard);
        return () => {
            stop();
            clearTimeout(timer.current);
            timer.current = undefined;
        };
    }, [clock, interval_ms]);
    return state;
}
