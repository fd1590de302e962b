// A file in parts for tus, each with the SHA-256 of its bytes, which the server verifies before it acknowledges them.
// The browser's own SHA-256 is several times as fast as one in WebAssembly, but has to have all bytes at once. Browsers
// offer it to pages of https and of this machine only.
const SHORTEST = 1 << 20;
const LONGEST = 16 << 20;
const FAST_MS = 500; // a part that is sent sooner is followed by a longer one
const SLOW_MS = 2000; // of an interrupted part everything is sent again

export const verifiesParts = () => globalThis.crypto?.subtle !== undefined;

interface Part {
    start: number;
    end: number;
    read: Promise<{ value: Blob; checksum: string }>;
}

async function readPart(piece: Blob): Promise<{ value: Blob; checksum: string }> {
    const bytes = await piece.arrayBuffer();
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    return { value: new Blob([bytes]), checksum: 'sha256 ' + btoa(String.fromCharCode(...digest)) };
}

/** What tus reads: each byte is read once, and a part while the one before is being sent. */
export class Parts {
    readonly size: number;
    checksum = ''; // of the part that was read last
    private ahead: Part | null = null;

    constructor(private readonly file: Blob) {
        this.size = file.size;
    }
    async slice(start: number, end: number): Promise<{ value: Blob; done: boolean }> {
        const part = this.ahead?.start === start && this.ahead.end === end ? this.ahead : this.part(start, end);
        this.ahead = end < this.size ? this.part(end, Math.min(end + (end - start), this.size)) : null;
        const { value, checksum } = await part.read;
        this.checksum = checksum;
        return { value, done: end >= this.size };
    }
    close(): void {
        this.ahead = null;
    }
    private part(start: number, end: number): Part {
        const read = readPart(this.file.slice(start, end));
        read.catch(() => undefined); // reported when it is sent
        return { start, end, read };
    }
}

export const FIRST_PART = SHORTEST;

/** The size of the next part after one of `size` bytes that took `ms` to send. */
export function nextPart(size: number, ms: number): number {
    return ms < FAST_MS ? Math.min(size * 2, LONGEST) : ms > SLOW_MS ? Math.max(size / 2, SHORTEST) : size;
}
