// Bodies that come piece by piece: lines and server-sent events. Its one rule: a piece is handed on when it is whole.
// Empty ones too. What stands behind the last line's end is given only when it may be whole.
export async function* readLines(response: Response, endsWithoutOne: boolean): AsyncGenerator<string> {
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
        if (endsWithoutOne) {
            yield rest;
        }
    } finally {
        void reader.cancel().catch(() => undefined); // who stops early wants no more bytes
    }
}

export interface EventsAsk {
    ask: (last: string | null) => Promise<Response>;
    heard: (kind: string, data: unknown) => void;
    signal: AbortSignal;
    endless: boolean; // an end only says: come again
    final: (error: unknown) => boolean; // asking again would not help
}

const WAIT_MS = 2000;
const WAIT_MOST_MS = 60000;

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

async function readOnce(asked: EventsAsk, response: Response, last: { id: string | null }): Promise<boolean> {
    let kind = 'message';
    let data: string[] = [];
    let ended = false;
    for await (const line of readLines(response, false)) {
        if (line === '') {
            if (data.length > 0) {
                ended = kind === 'end';
                if (!ended || !asked.endless) {
                    asked.heard(kind, JSON.parse(data.join('\n')));
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

export async function readEvents(asked: EventsAsk): Promise<void> {
    const last: { id: string | null } = { id: null };
    let wait = WAIT_MS;
    let again = false;
    while (!asked.signal.aborted) {
        try {
            const response = await asked.ask(last.id);
            if (response.status === 204) {
                return;
            }
            wait = WAIT_MS;
            if (again && asked.endless && last.id === null) {
                asked.heard('gap', {}); // nothing says what was missed between
            }
            again = true;
            if ((await readOnce(asked, response, last)) && !asked.endless) {
                return;
            }
        } catch (error) {
            if (asked.signal.aborted || asked.final(error)) {
                break;
            }
        }
        await pause(wait, asked.signal);
        wait = Math.min(wait * 2, WAIT_MOST_MS);
    }
}
