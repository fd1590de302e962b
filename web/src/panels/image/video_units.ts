// Frames of a video as the byte stream that was recorded (Annex B), decoded by WebCodecs. Browsers have that only in
// secure contexts.
import type { FilePart } from '../../api_streams';
import { timeNs } from '../../recording_time';
import { imageText } from '../../text/panels';
import type { Picture } from './run';

type Codec = 'H.264' | 'H.265';
const codecOf = (part: FilePart): Codec => (part.headers.get('Content-Type') === 'video/h265' ? 'H.265' : 'H.264');

/** The first bytes of each unit. */
function* units(bytes: Uint8Array): Generator<Uint8Array> {
    for (let i = 2; i < bytes.length - 1; i++) {
        if (bytes[i] === 1 && bytes[i - 1] === 0 && bytes[i - 2] === 0) {
            yield bytes.subarray(i + 1, i + 24);
        }
    }
}
const kindOf = (unit: Uint8Array, codec: Codec): number => (codec === 'H.264' ? unit[0]! & 31 : (unit[0]! >> 1) & 63);

export function isKeyFrame(part: FilePart): boolean {
    const codec = codecOf(part);
    for (const unit of units(part.bytes)) {
        const kind = kindOf(unit, codec);
        if (codec === 'H.264' ? kind === 5 || kind === 1 : kind < 32) {
            return codec === 'H.264' ? kind === 5 : kind >= 16; // of the first picture
        }
    }
    return false;
}

const hex = (value: number) => value.toString(16).padStart(2, '0');

/** The codec as WebCodecs and MP4 name it, from the parameter set of a key frame; null if it has none. */
export function codecName(part: FilePart): string | null {
    const codec = codecOf(part);
    for (const unit of units(part.bytes)) {
        if (codec === 'H.264' && kindOf(unit, codec) === 7 && unit.length > 3) {
            return `avc1.${hex(unit[1]!)}${hex(unit[2]!)}${hex(unit[3]!)}`;
        }
        if (codec === 'H.265' && kindOf(unit, codec) === 33 && unit.length > 14) {
            const [tier, profile] = [(unit[3]! >> 5) & 1, unit[3]! & 31];
            return `hvc1.${profile}.${profile === 1 ? 6 : profile === 2 ? 4 : 0}.${tier ? 'H' : 'L'}${unit[14]!}.B0`;
        }
    }
    return null;
}

export class VideoUnits {
    private decoder: VideoDecoder | null = null;
    private times = new Map<number, bigint>(); // of the frames in the decoder
    private count = 0;
    private needsKey = true; // the decoder takes no other frame now
    private closed = false;

    /** `unplayable`: this browser does not decode the codec. `progress`: the queue got shorter. */
    constructor(
        private show: (picture: Picture) => void,
        private unplayable: (codec: string) => void,
        private progress: () => void,
    ) {}

    get queued(): number {
        return this.decoder?.decodeQueueSize ?? 0;
    }

    /** Frames before the first key frame are left out. */
    async decode(part: FilePart, time: bigint): Promise<void> {
        const key = isKeyFrame(part);
        if (key && (this.decoder === null || this.decoder.state === 'closed')) {
            // a damaged frame closes it
            await this.open(part);
        }
        if (this.decoder?.state === 'configured' && (key || !this.needsKey)) {
            this.needsKey = false;
            const timestamp = this.count++;
            this.times.set(timestamp, time);
            this.decoder.decode(new EncodedVideoChunk({ type: key ? 'key' : 'delta', timestamp, data: part.bytes }));
        }
    }
    /** Waits until all are shown; the next one must be a key frame. */
    async finish(): Promise<void> {
        if (this.decoder?.state === 'configured') {
            this.needsKey = true;
            await this.decoder.flush().catch(() => undefined); // `error` tells
        }
    }
    close(): void {
        this.closed = true;
        if (this.decoder && this.decoder.state !== 'closed') {
            this.decoder.close();
        }
        this.decoder = null;
    }

    private async open(part: FilePart): Promise<void> {
        const codec = codecName(part);
        const config = { codec: codec ?? '', optimizeForLatency: true };
        const playable =
            codec !== null &&
            typeof VideoDecoder !== 'undefined' &&
            (await VideoDecoder.isConfigSupported(config).catch(() => null))?.supported;
        if (this.closed) {
            return;
        }
        if (!playable) {
            this.unplayable(codecOf(part));
            return;
        }
        this.times.clear();
        this.needsKey = true;
        this.decoder = new VideoDecoder({
            output: (frame) => {
                const time = this.times.get(frame.timestamp)!;
                this.times.delete(frame.timestamp);
                this.show({ time, image: frame, problem: null, size: [frame.displayWidth, frame.displayHeight] });
            },
            error: () =>
                this.show({
                    time: timeNs(part.headers.get('X-Log-Time')!),
                    image: null,
                    problem: imageText.damagedVideo,
                    size: null,
                }),
        });
        this.decoder.ondequeue = this.progress;
        this.decoder.configure(config);
    }
}
