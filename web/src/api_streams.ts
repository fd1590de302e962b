// Readers of streamed responses: lines and server-sent events.

/** All lines, including empty ones. An unterminated last line is returned only with `keepPartial`. */
export async function* readLines(response: Response, keepPartial: boolean): AsyncGenerator<string> {
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    try {
        for (;;) {
            const { done, value } = await reader.read();
            if (done) {
                break;
            }
            const lines = (rest + value).split(/\r?\n/);
            rest = lines.pop() ?? '';
            yield* lines;
        }
        if (keepPartial) {
            yield rest;
        }
    } finally {
        void reader.cancel().catch(() => undefined); // stops the transfer if the caller left the loop early
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
    let kind = 'message';
    let data: string[] = [];
    let ended = false;
    for await (const line of readLines(response, false)) {
        if (line === '') {
            if (data.length > 0) {
                ended = kind === 'end';
                if (!ended || !stream.endless) {
                    stream.onEvent(kind, JSON.parse(data.join('\n')));
                }
            }
            kind = 'message';
            data = [];
        } else if (line.startsWith('id:')) {
            last.id = line.slice(3).trim();
        } else if (line.startsWith('event:')) {
            kind = line.slice(6).trim();
        } else if (line.startsWith('data:')) {
            data.push(line.slice(5).replace(/^ /, ''));
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
