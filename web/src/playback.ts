// Playback state of a recording, shared by all its panels: playhead, selected range, speed. Nothing else holds the
// current time.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Store, type Readable } from './store';

export interface Range {
    start: bigint; // ns, inclusive
    end: bigint; // ns, exclusive
}

export interface PlaybackState {
    time_ns: bigint;
    bounds: Range; // of the recording
    range: Range | null; // selected on the timeline; null: the full recording
    playing: boolean;
    speed: number; // below 0: backwards
    loop: boolean;
    growing: boolean; // a live recording that is not finished
    following: boolean; // the playhead stays at its end
    late: boolean; // a panel does not have yet what is at the playhead
    waits: boolean; // the playhead waits for such panels
}

export const SPEEDS = [-10, -5, -2, -1, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 100];
/** The next faster speed in the same direction. */
export const nextSpeed = (speed: number): number =>
    (speed > 0 ? SPEEDS.find((s) => s > speed) : [...SPEEDS].reverse().find((s) => s < speed)) ?? speed;

const WAITS_KEY = 'reel.wait';
const MAX_STEP_MS = 1000; // a page that was hidden resumes where it stopped

export class Playback implements Readable<PlaybackState> {
    private store: Store<PlaybackState>;
    private frame = 0;
    private latePanels = new Set<object>();
    private before = 0;

    constructor(bounds: Range, time_ns = bounds.start) {
        this.store = new Store<PlaybackState>({
            time_ns,
            bounds,
            range: null,
            playing: false,
            speed: 1,
            loop: false,
            growing: false,
            following: false,
            late: false,
            waits: localStorage.getItem(WAITS_KEY) !== null,
        });
    }
    get(): PlaybackState {
        return this.store.get();
    }
    subscribe(listener: (state: PlaybackState) => void): () => void {
        return this.store.subscribe(listener);
    }
    private change(part: Partial<PlaybackState>): void {
        this.store.set({ ...this.get(), ...part });
    }
    /** The range that is played: the selection, or the full recording. */
    span(): Range {
        return this.get().range ?? this.get().bounds;
    }
    seek(time_ns: bigint): void {
        const { start, end } = this.get().bounds;
        const time = time_ns < start ? start : time_ns > end ? end : time_ns;
        if (time !== this.get().time_ns || this.get().following) {
            this.change({ time_ns: time, following: false });
        }
    }
    /** New bounds, of a recording that got more messages. The playhead moves only where it follows the end. */
    grow(bounds: Range, growing: boolean): void {
        const before = this.get();
        const following = before.following && growing;
        const time_ns = following ? bounds.end : before.time_ns;
        if (
            growing !== before.growing ||
            following !== before.following ||
            bounds.start !== before.bounds.start ||
            bounds.end !== before.bounds.end
        ) {
            this.change({ bounds, growing, following, time_ns });
        }
    }
    /** Keeps the playhead at the end of a recording that grows. */
    follow(): void {
        this.pause();
        this.change({ following: true, time_ns: this.get().bounds.end });
    }
    /** Clamped to the recording; an empty range clears the selection. */
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
    /** Whether a panel that plays is late: what it shows is older than the playhead. */
    setLate(panel: object, late: boolean): void {
        void (late ? this.latePanels.add(panel) : this.latePanels.delete(panel));
        if (this.get().late !== this.latePanels.size > 0) {
            this.change({ late: !this.get().late });
        }
    }
    /** Kept in the browser for other recordings. */
    setWaits(waits: boolean): void {
        void (waits ? localStorage.setItem(WAITS_KEY, 'yes') : localStorage.removeItem(WAITS_KEY));
        this.change({ waits });
    }
    play(): void {
        const { time_ns, playing, speed } = this.get();
        const { start, end } = this.span();
        if (playing || end <= start) {
            return;
        }
        const outside = speed > 0 ? time_ns >= end || time_ns < start : time_ns <= start || time_ns > end;
        this.change({ playing: true, following: false, time_ns: outside ? (speed > 0 ? start : end) : time_ns });
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
        const { time_ns, speed, loop, growing, range, late, waits } = this.get();
        const { start, end } = this.span();
        const passed = late && waits ? 0 : Math.min(Math.max(0, now - this.before), MAX_STEP_MS);
        const step = BigInt(Math.round(passed * 1e6 * speed));
        this.before = now;
        if (step === 0n) {
            this.frame = requestAnimationFrame(this.tick);
            return;
        }
        const next = time_ns + step;
        const [last, first] = speed > 0 ? [end, start] : [start, end];
        const over = speed > 0 ? next >= last : next <= last;
        if (over && !loop) {
            this.change({ time_ns: last, playing: false, following: growing && range === null && speed > 0 });
            return;
        }
        this.change({ time_ns: over ? first : next });
        this.frame = requestAnimationFrame(this.tick);
    };
}

/** The playback state, rendered at most every `interval_ms` (0: every frame); the last state is always rendered. */
export function usePlayback(playback: Playback, interval_ms = 0): PlaybackState {
    const [state, setState] = useState(playback.get());
    const last = useRef(0);
    const timer = useRef<ReturnType<typeof setTimeout>>();
    useEffect(() => {
        const show = () => {
            clearTimeout(timer.current);
            timer.current = undefined;
            last.current = performance.now();
            setState(playback.get());
        };
        const onChange = () => {
            const wait = last.current + interval_ms - performance.now();
            if (wait <= 0) {
                show();
            } else if (timer.current === undefined) {
                timer.current = setTimeout(show, wait);
            }
        };
        show();
        const stop = playback.subscribe(onChange);
        return () => {
            stop();
            clearTimeout(timer.current);
            timer.current = undefined;
        };
    }, [playback, interval_ms]);
    return state;
}

/** A part of the playback state, rendered only when it changes; for what does not move with the playhead. */
export function usePlaybackPart<T>(playback: Playback, pick: (state: PlaybackState) => T): T {
    const [part, setPart] = useState<T>(() => pick(playback.get()));
    useEffect(() => {
        const show = () => setPart(() => pick(playback.get()));
        show();
        return playback.subscribe(show);
    }, [playback]);
    return part;
}
