// The picture at the playhead: one of a run while the page plays, else one by itself. One request at a time; if the
// playhead moved meanwhile, the newest time is loaded next.
import { getParts } from '../../api';
import type { Playback } from '../../playback';
import { timeNs } from '../../recording_time';
import { isVideoTopic } from '../../frames';
import { imageText } from '../../text/panels';
import type { Topic } from '../../types';
import { decodeStill, isVideo, Run, type Picture, type PictureSource } from './run';
import { VideoUnits } from './video_units';

const JUMP_MS = 2000; // of the page's time: the playhead was moved

interface Listener {
    /** The picture may be closed after the call. Null: there is none at or before the playhead. */
    show: (picture: Picture | null) => void;
    failed: (error: unknown) => void;
    unplayable: (codec: string) => void;
}

export class Pictures {
    private run: Run | null = null;
    private runs: { speed: number; time: bigint } = { speed: 0, time: 0n }; // how it plays, and where it was
    private shown: bigint | null = null; // time of the picture
    private loaded: bigint | null = null; // the playhead when a single picture was asked for
    private loading = false;
    private video: boolean; // as far as it is known
    private stopped = new AbortController();
    private unsubscribe: () => void;

    constructor(
        private playback: Playback,
        private source: PictureSource,
        private on: Listener,
    ) {
        this.video = isVideoTopic(source.topic);
        this.unsubscribe = playback.subscribe(() => this.update());
        this.update();
    }
    stop(): void {
        this.unsubscribe();
        this.stopped.abort();
        this.endRun();
    }
    /** Another size is requested from now on. */
    setWidth(width: number): void {
        if (width !== this.source.width) {
            this.source = { ...this.source, width };
            this.reload();
        }
    }
    /** The topic of a recording that grew. */
    setTopic(topic: Topic): void {
        this.source = { ...this.source, topic };
        this.run?.setTopic(topic);
    }
    reload(): void {
        this.endRun();
        this.shown = this.loaded = null;
        this.update();
    }

    private update(): void {
        const { time_ns, playing, speed } = this.playback.get();
        if (playing && !(this.video && speed < 0)) {
            this.play(time_ns, speed);
        } else {
            this.endRun(); // its last picture may not be the one at the playhead
            void this.load();
        }
    }

    /** ns that the picture is older than the playhead. */
    behind(): number {
        return this.shown === null ? 0 : Math.abs(Number(this.playback.get().time_ns - this.shown));
    }
    private endRun(): void {
        this.run?.stop();
        this.run = null;
        this.playback.setLate(this, false);
    }
    private play(time: bigint, speed: number): void {
        const moved = Number(time - this.runs.time) * Math.sign(speed);
        if (!this.run || this.runs.speed !== speed || moved < 0 || moved > JUMP_MS * 1e6 * Math.abs(speed)) {
            this.endRun();
            this.loaded = null;
            this.run = new Run(this.source, time, speed, { ...this.on, changed: () => this.showOfRun() });
        }
        this.runs = { speed, time };
        this.showOfRun();
    }
    private showOfRun(): void {
        const { time_ns, speed } = this.playback.get();
        const picture = this.run?.at(time_ns) ?? null;
        // than this one: a frame that others depend on
        const older = speed > 0 && this.shown !== null && this.shown <= time_ns;
        if (picture && picture.time <= time_ns && (older ? picture.time > this.shown! : picture.time !== this.shown)) {
            this.shown = picture.time;
            this.on.show(picture);
        }
        this.playback.setLate(this, this.run?.isLate() ?? false);
    }

    /** The picture at the playhead by itself; of a video with the frames that it depends on. */
    private async load(): Promise<void> {
        const { time_ns } = this.playback.get();
        if (this.loading || time_ns === this.loaded || this.stopped.signal.aborted) {
            return;
        }
        this.loading = true;
        this.loaded = time_ns;
        try {
            await this.loadAt(time_ns);
        } catch (error) {
            if (!this.stopped.signal.aborted) {
                this.on.failed(error);
            }
        }
        this.loading = false;
        if (!this.run) {
            void this.load();
        }
    }
    private async loadAt(time: bigint): Promise<void> {
        const { topic, recording, width } = this.source;
        let last: Picture | null = null;
        const keep = (picture: Picture) => {
            last?.image?.close();
            last = picture;
        };
        let playable = true;
        let parts = 0;
        const video = new VideoUnits(
            keep,
            (codec) => {
                playable = false;
                this.on.unplayable(codec);
            },
            () => undefined,
        );
        try {
            for await (const part of getParts(
                `/recordings/${recording}/frames`,
                { topic: topic.name, width, start: time, end: time + 1n, latch: true },
                this.stopped.signal,
            )) {
                parts++;
                if (isVideo(part)) {
                    this.video = true;
                    await video.decode(part, timeNs(part.headers.get('X-Log-Time')!));
                } else {
                    keep(await decodeStill(part));
                }
            }
            await video.finish();
        } finally {
            video.close();
        }
        const none = parts > 0 ? { time, image: null, problem: imageText.damagedVideo, size: null } : null;
        const picture = (last as Picture | null) ?? none; // assigned by callbacks
        if (!this.stopped.signal.aborted && playable && !this.run) {
            this.shown = picture && picture.time;
            this.on.show(picture);
        }
        picture?.image?.close();
    }
}
