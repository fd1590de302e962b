// Readers of streamed responses: lines and server-sent events.
import { EventSourceParserStream } from 'eventsource-parser/stream';

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

export interface EventStream {
    connect: (last: string | null) => Promise<Response>;
    onEvent: (kind: string, data: unknown) => void;
    signal: AbortSignal;
    endless: boolean; // reconnect also after the event `end`
    isFinal: (error: unknown) => boolean; // true: do not reconnect
}

const WAIT_MS = 2000;
const MAX_WAIT_MS = 60000;

function pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((done) => {
        const end = () => {
            clearTimeout(timer);
            signal.removeEventListener('abort', end);
            done();
        };
        const timer = setTimeout(end, ms);
        signal.addEventListener('abort', end);
    });
}

async function readOnce(stream: EventStream, response: Response, last: { id: string | null }): Promise<boolean> {
    let ended = false;
    for await (const { id, event = 'message', data } of piecesOf(textOf(response).pipeThrough(new EventSourceParserStream()))) {
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
