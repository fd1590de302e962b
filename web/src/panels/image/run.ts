// A run of pictures from one time on, forwards or backwards: fetched in ranges, decoded ahead of the clock, dropped
// when they come late.
import { getParts } from '../../api';
import type { FilePart } from '../../api_streams';
import { isVideoTopic } from '../../frames';
import { timeNs } from '../../recording_time';
import type { Topic } from '../../types';
import { countUntil } from '../time_windows';
import { isKeyFrame, VideoUnits } from './video_units';

export interface Picture {
    time: bigint;
    image: ImageBitmap | VideoFrame | null; // null: `problem` says why there is none
    problem: string | null;
    size: [number, number] | null; // before the server scaled it
}
export interface PictureSource {
    recording: string;
    topic: Topic;
    width: number; // wider pictures are scaled down
}

const LEAD_MS = 1000; // of the page's time that is fetched ahead
const DECODED_MS = 300; // of it that is decoded: decoded pictures are large
const CHUNK_MS = 1500; // of the page's time that one request fetches
const SHOWN_HZ = 40; // pictures a second that are fetched at most
const DECODED_BYTES = 48 << 20;
const ENCODED_BYTES = 32 << 20;
const VIDEO_AHEAD = 6; // frames; a decoder has few buffers
const RETRY_MS = 1000;
const CAUGHT_UP_MS = 300; // of the page's time that is fetched ahead again

const bytesOf = ({ image }: Picture) =>
    image === null
        ? 0
        : 4 * ('codedWidth' in image ? image.codedWidth * image.codedHeight : image.width * image.height);
export const isVideo = (part: FilePart) => part.headers.get('Content-Type')!.startsWith('video/');

export function sizeOf(part: FilePart): [number, number] | null {
    const found = /^(\d+)x(\d+)$/.exec(part.headers.get('X-Image-Size') ?? '');
    return found && [Number(found[1]), Number(found[2])];
}

/** A part that is no frame of a video, as a picture. */
export async function decodeStill(part: FilePart): Promise<Picture> {
    const time = timeNs(part.headers.get('X-Log-Time')!);
    const type = part.headers.get('Content-Type')!;
    try {
        const problem = type.startsWith('text/') ? new TextDecoder().decode(part.bytes) : null;
        return {
            time,
            problem,
            image: problem === null ? await createImageBitmap(new Blob([part.bytes], { type })) : null,
            size: sizeOf(part),
        };
    } catch (error) {
        return { time, problem: String(error), image: null, size: null };
    }
}

/** Ordered by time. */
interface Waiting {
    time: bigint;
    part: FilePart;
}

export class Run {
    private ready: Picture[] = []; // ordered by time
    private waiting: Waiting[] = []; // fetched, not decoded; ordered by time
    private edge: bigint; // where the next request begins; backwards: ends
    private stopped = new AbortController();
    private waiters: (() => void)[] = [];
    private video: VideoUnits | null = null;
    private first = true;
    private late = false;

    /**
     * `changed`: a picture is ready. `failed`: of a request, which is repeated. `unplayable`: a video that this browser
     * does not decode.
     */
    constructor(
        private source: PictureSource,
        private now: bigint,
        private speed: number,
        private on: { changed: () => void; failed: (error: unknown) => void; unplayable: (codec: string) => void },
    ) {
        this.edge = speed > 0 ? now : now + 1n;
        void this.fetchAhead();
        void this.decodeAhead();
    }

    /** The picture at `time`, the clock's; null: not decoded yet. Forgets those that the clock has passed. */
    at(time: bigint): Picture | null {
        this.now = time;
        const upto = countUntil(this.ready, time, (p) => p.time) - 1;
        const passed = this.speed > 0 ? this.ready.splice(0, Math.max(upto, 0)) : this.ready.splice(upto + 1);
        passed.forEach((p) => p.image?.close());
        this.wake();
        return this.ready[this.speed > 0 ? 0 : this.ready.length - 1] ?? null;
    }
    /** Whether the picture at the clock, or one before it that was not shown, has not come yet or is not decoded. */
    isLate(): boolean {
        const { start_ns, end_ns } = this.source.topic;
        const all = this.speed > 0 ? this.edge > BigInt(end_ns ?? 0) : this.edge <= BigInt(start_ns ?? 0);
        const next = this.speed > 0 ? this.waiting[0] : this.waiting.at(-1);
        const fetched = all || this.ahead(this.edge) > (this.late ? CAUGHT_UP_MS : 0);
        this.late = !fetched || (next !== undefined && this.ahead(next.time) < 0);
        return this.late;
    }
    /** The topic of a recording that grew. */
    setTopic(topic: Topic): void {
        this.source = { ...this.source, topic };
        this.wake();
    }
    stop(): void {
        this.stopped.abort();
        this.video?.close();
        this.ready.splice(0).forEach((p) => p.image?.close());
        this.waiting = [];
        this.wake();
    }

    private wake(): void {
        this.waiters.splice(0).forEach((go) => go());
    }
    private async until(condition: () => boolean): Promise<void> {
        while (!this.stopped.signal.aborted && !condition()) {
            await new Promise<void>((done) => this.waiters.push(done));
        }
    }
    /** The page's time from the clock to `time`, in ms. */
    private ahead(time: bigint): number {
        return Number(time - this.now) / 1e6 / this.speed;
    }

    // ---- fetching

    private async fetchAhead(): Promise<void> {
        const within = ({ start_ns, end_ns }: Topic) =>
            this.speed > 0 ? this.edge <= BigInt(end_ns ?? 0) : this.edge > BigInt(start_ns ?? 0);
        for (;;) {
            await this.until(() => this.ahead(this.edge) < LEAD_MS && within(this.source.topic));
            if (this.stopped.signal.aborted) {
                return;
            }
            try {
                await this.fetchChunk();
            } catch (error) {
                if (!this.stopped.signal.aborted) {
                    this.on.failed(error);
                    await new Promise((done) => setTimeout(done, RETRY_MS));
                }
            }
        }
    }
    private async fetchChunk(): Promise<void> {
        const late = this.ahead(this.edge) < 0; // it goes on where the clock is
        const edge = late ? this.now : this.edge;
        const length = BigInt(Math.round(CHUNK_MS * 1e6 * Math.abs(this.speed)));
        const [start, end] = this.speed > 0 ? [edge, edge + length] : [edge - length, edge];
        const known = BigInt(this.source.topic.end_ns ?? 0) + 1n; // what comes after it may not be there yet
        const latch = this.first || late || this.speed < 0;
        this.first = false;
        const params = {
            topic: this.source.topic.name,
            width: this.source.width,
            start,
            end,
            latch,
            every: this.every(),
        };
        const came: Waiting[] = [];
        for await (const part of getParts(`/recordings/${this.source.recording}/frames`, params, this.stopped.signal)) {
            const one = { time: timeNs(part.headers.get('X-Log-Time')!), part };
            if (this.speed > 0) {
                this.waiting.push(one);
                this.edge = one.time < start ? start : one.time + 1n;
                this.wake();
                await this.until(
                    () => this.waiting.reduce((sum, { part: { bytes } }) => sum + bytes.length, 0) < ENCODED_BYTES,
                );
            } else {
                came.push(one);
            }
        }
        this.waiting.unshift(...came);
        this.edge = this.speed < 0 ? start : end < known ? end : this.edge < known ? known : this.edge;
        this.wake();
        this.on.changed(); // nothing to show may have come
    }
    /** Frames of a video depend on each other: all are fetched. */
    private every(): string | null {
        return this.rate() > SHOWN_HZ && !isVideoTopic(this.source.topic) && this.video === null
            ? `${Math.round((1e9 * Math.abs(this.speed)) / SHOWN_HZ)}ns`
            : null;
    }

    /** Pictures a second of the page's time. */
    private rate(): number {
        const { messages, start_ns, end_ns } = this.source.topic;
        return (Math.abs(this.speed) * messages * 1e9) / (Number(BigInt(end_ns ?? 0) - BigInt(start_ns ?? 0)) || 1);
    }

    // ---- decoding

    private hasRoom(): boolean {
        const ahead = this.speed > 0 ? this.ready.at(-1) : this.ready[0];
        const few = this.video === null || (this.ready.length < VIDEO_AHEAD && this.video.queued < VIDEO_AHEAD);
        return (
            few &&
            (!ahead || this.ahead(ahead.time) < DECODED_MS) &&
            this.ready.reduce((sum, p) => sum + bytesOf(p), 0) < DECODED_BYTES
        );
    }
    /** The next one; of several that the clock has passed, the newest. */
    private take(): Waiting {
        if (this.speed < 0) {
            const at = this.waiting.findIndex(({ time }) => time > this.now);
            const late = at < 0 ? [] : this.waiting.splice(at);
            return this.waiting.pop() ?? late[0]!;
        }
        const passed = isVideo(this.waiting[0]!.part) ? 0 : countUntil(this.waiting, this.now, (w) => w.time) - 1;
        return this.waiting.splice(0, Math.max(passed, 0) + 1).at(-1)!;
    }
    private async decodeAhead(): Promise<void> {
        for (;;) {
            await this.until(() => this.waiting.length > 0 && this.hasRoom());
            if (this.stopped.signal.aborted) {
                return;
            }
            const { part, time } = this.take();
            this.wake();
            if (isVideo(part)) {
                await this.decodeFrame(part, time);
            } else {
                this.add(await decodeStill(part));
            }
        }
    }
    private async decodeFrame(part: FilePart, time: bigint): Promise<void> {
        this.video ??= new VideoUnits(
            (picture) => this.add(picture),
            (codec) => this.on.unplayable(codec),
            () => this.wake(),
        );
        if (this.rate() <= 3 * SHOWN_HZ || isKeyFrame(part)) {
            // faster than that only key frames are shown
            await this.video.decode(part, time);
        }
        if (this.waiting.length === 0 && time >= BigInt(this.source.topic.end_ns ?? 0)) {
            await this.video.finish();
        }
    }
    private add(picture: Picture): void {
        if (this.stopped.signal.aborted) {
            picture.image?.close();
            return;
        }
        this.ready.splice(
            countUntil(this.ready, picture.time, (p) => p.time),
            0,
            picture,
        );
        this.on.changed();
    }
}
