// A playback on the clock of one of two recordings: its times are those of the shared playback less a shift, and what
// is changed here is changed there. The time may lie outside of the recording, while the other one plays on.
import { Playback, type PlaybackState, type Range } from '../../../playback';

export class PlaybackView extends Playback {
    private of: PlaybackState | null = null; // that `seen` was made of
    private seen!: PlaybackState;
    private listeners = new Set<(state: PlaybackState) => void>();
    private stop: (() => void) | null = null;

    constructor(
        private shared: Playback,
        private own: Range,
        private shift_ns: bigint,
    ) {
        super(own);
    }
    /** Other bounds, or another shift. */
    place(own: Range, shift_ns: bigint): void {
        if (shift_ns !== this.shift_ns || own.start !== this.own.start || own.end !== this.own.end) {
            [this.own, this.shift_ns, this.of] = [own, shift_ns, null];
            this.tell();
        }
    }
    private tell = (): void => {
        for (const listener of [...this.listeners]) {
            listener(this.get());
        }
    };
    private here(range: Range | null): Range | null {
        const start =
            range && (range.start - this.shift_ns > this.own.start ? range.start - this.shift_ns : this.own.start);
        const end = range && (range.end - this.shift_ns < this.own.end ? range.end - this.shift_ns : this.own.end);
        return start !== null && end !== null && start < end ? { start, end } : null;
    }
    override get(): PlaybackState {
        const now = this.shared.get();
        if (this.of !== now) {
            this.of = now;
            this.seen = { ...now, time_ns: now.time_ns - this.shift_ns, bounds: this.own, range: this.here(now.range) };
        }
        return this.seen;
    }
    override subscribe(listener: (state: PlaybackState) => void): () => void {
        this.listeners.add(listener);
        this.stop ??= this.shared.subscribe(this.tell);
        return () => {
            this.listeners.delete(listener);
            if (this.listeners.size === 0) {
                this.stop?.();
                this.stop = null;
            }
        };
    }
    override seek(time_ns: bigint): void {
        this.shared.seek(time_ns + this.shift_ns);
    }
    override setRange(range: Range | null): void {
        this.shared.setRange(range && { start: range.start + this.shift_ns, end: range.end + this.shift_ns });
    }
    override grow(): void {
        throw new Error('the shared playback grows');
    }
    override follow(): void {
        this.shared.follow();
    }
    override setSpeed(speed: number): void {
        this.shared.setSpeed(speed);
    }
    override setLoop(loop: boolean): void {
        this.shared.setLoop(loop);
    }
    override setLate(panel: object, late: boolean): void {
        this.shared.setLate(panel, late);
    }
    override setWaits(waits: boolean): void {
        this.shared.setWaits(waits);
    }
    override play(): void {
        this.shared.play();
    }
    override pause(): void {
        this.shared.pause();
    }
    override toggle(): void {
        this.shared.toggle();
    }
}
