// Readers of streamed responses: lines and server-sent events.
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { pause } from './server_state';

/** What a stream yields; leaving the loop early stops the transfer. */
async function* piecesOf<T>(stream: ReadableStream<T>): AsyncGenerator<T> {
    const reader = stream.getReader();
    try {
        for (;;) {
            const { done, value } = await reader.read();
            if (done) {
                return;
            }
            yield value;
        }
    } finally {
        void reader.cancel().catch(() => undefined);
    }
}

const textOf = (response: Response) => response.body!.pipeThrough(new TextDecoderStream());

/** All lines, including empty ones and an unterminated last one. */
export async function* readLines(response: Response): AsyncGenerator<string> {
    let rest = '';
    for await (const piece of piecesOf(textOf(response))) {
        const lines = (rest + piece).split(/\r?\n/);
        rest = lines.pop() ?? '';
        yield* lines;
    }
    yield rest;
}

/** A file of a multipart response. */
export interface FilePart {
    headers: Headers;
    bytes: Uint8Array<ArrayBuffer>;
}

/** Takes lines and runs of bytes off a stream. */
class ByteReader {
    private rest = new Uint8Array(0);

    constructor(private pieces: AsyncGenerator<Uint8Array>) {}

    private async more(): Promise<boolean> {
        const { done, value } = await this.pieces.next();
        this.rest = done ? new Uint8Array(0) : (value as Uint8Array<ArrayBuffer>);
        return !done;
    }
    /** Without its line end; null at the end of the stream. */
    async line(): Promise<string | null> {
        let line = '';
        for (;;) {
            const end = this.rest.indexOf(10);
            line += new TextDecoder().decode(end < 0 ? this.rest : this.rest.subarray(0, end));
            if (end >= 0) {
                this.rest = this.rest.subarray(end + 1);
                return line.replace(/\r$/, '');
            }
            if (!(await this.more())) {
                return line || null;
            }
        }
    }
    async take(size: number): Promise<Uint8Array<ArrayBuffer>> {
        const out = new Uint8Array(size);
        let filled = 0;
        for (;;) {
            const part = this.rest.subarray(0, size - filled);
            out.set(part, filled);
            filled += part.length;
            this.rest = this.rest.subarray(part.length);
            if (filled === size) {
                return out;
            }
            if (!(await this.more())) {
                throw new TypeError('the response ended inside a part');
            }
        }
    }
}

/** The parts of a multipart response, as they arrive. Each has a Content-Length. */
export async function* readParts(response: Response): AsyncGenerator<FilePart> {
    const pieces = piecesOf(response.body!);
    const reader = new ByteReader(pieces);
    try {
        for (
            let boundary = await reader.line();
            boundary !== null && !boundary.endsWith('--');
            boundary = await reader.line()
        ) {
            const headers = new Headers();
            for (let line = await reader.line(); line; line = await reader.line()) {
                const colon = line.indexOf(':');
                headers.set(line.slice(0, colon), line.slice(colon + 1).trim());
            }
            yield { headers, bytes: await reader.take(Number(headers.get('Content-Length'))) };
            await reader.line();
        }
    } finally {
        void pieces.return(undefined);
    }
}

export interface EventStream {
    connect: (last: string | null) => Promise<Response>;
    onEvent: (kind: string, data: unknown) => void;
    signal: AbortSignal;
    endless: boolean; // reconnect also after the event `end`
    isFinal: (error: unknown) => boolean; // true: do not reconnect
}

const WAIT_MS = 2000;
const MAX_WAIT_MS = 60000;

async function readOnce(stream: EventStream, response: Response, last: { id: string | null }): Promise<boolean> {
    let ended = false;
    for await (const { id, event = 'message', data } of piecesOf(
        textOf(response).pipeThrough(new EventSourceParserStream()),
    )) {
        last.id = id ?? last.id;
        ended = event === 'end';
        if (!ended || !stream.endless) {
            stream.onEvent(event, JSON.parse(data));
        }
    }
    return ended;
}

export async function readEvents(stream: EventStream): Promise<void> {
    const last: { id: string | null } = { id: null };
    let wait = WAIT_MS;
    let reconnected = false;
    while (!stream.signal.aborted) {
        try {
            const response = await stream.connect(last.id);
            if (response.status === 204) {
                return;
            }
            wait = WAIT_MS;
            if (reconnected && stream.endless && last.id === null) {
                stream.onEvent('gap', {}); // events between the connections are unknown
            }
            reconnected = true;
            if ((await readOnce(stream, response, last)) && !stream.endless) {
                return;
            }
        } catch (error) {
            if (stream.signal.aborted || stream.isFinal(error)) {
                break;
            }
        }
        await pause(wait, stream.signal);
        wait = Math.min(wait * 2, MAX_WAIT_MS);
    }
}
