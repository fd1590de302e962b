// THE file that talks to the server. Its one rule: nothing else in the page calls fetch or knows where the token is.
import { readEvents, readLines } from './api_streams';
import { Store } from './store';
import { text } from './text';
import type { Change, Job, Problem } from './types';

export const BASE = '/api/v1';
export type Params = Record<string, string | number | bigint | boolean | null | undefined | readonly string[]>;

/** What the server answered instead; `message` is fit to be shown. */
export class ApiError extends Error {
    constructor(
        readonly status: number, // 0: no answer came
        readonly problem: Problem | null,
        message: string,
    ) {
        super(message);
    }
}

// ---- who asks

const KEY = 'reel.token';
/** needed: the server wants a token (a better one, when there is one). */
export const session = new Store<{ token: string | null; needed: boolean }>({ token: sessionStorage.getItem(KEY), needed: false });

export function logIn(token: string): void {
    sessionStorage.setItem(KEY, token);
    session.set({ token, needed: false });
}
export function logOut(): void {
    sessionStorage.removeItem(KEY);
    session.set({ token: null, needed: false });
}
/** For who must send requests by itself (tus). Asked so, the server does not offer Basic, for which the browser would open its own prompt. */
export function tokenHeaders(): Record<string, string> {
    const { token } = session.get();
    return { 'X-Requested-With': 'reel', ...(token ? { Authorization: 'Bearer ' + token } : {}) };
}

// ---- asking

/** Rises whenever the server says that work has begun. */
export const began = new Store(0);

/** '/recordings' and its parameters as an address of this server; lists repeat, null and undefined are left out. */
export function apiUrl(path: string, params: Params = {}): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) {
        if (Array.isArray(value)) {
            value.forEach((one) => query.append(name, one));
        } else if (value !== null && value !== undefined) {
            query.set(name, String(value));
        }
    }
    const tail = query.toString();
    return BASE + path + (tail ? '?' + tail : '');
}

export interface Ask {
    params?: Params;
    body?: unknown; // becomes JSON; a Blob or ArrayBuffer goes as it is
    headers?: Record<string, string>;
    ifMatch?: string | null;
    signal?: AbortSignal;
}

async function errorOf(response: Response): Promise<ApiError> {
    const words = await response.text().catch(() => '');
    let problem: Problem | null = null;
    try {
        problem = JSON.parse(words) as Problem;
    } catch {
        // a proxy's page, or nothing
    }
    return new ApiError(response.status, problem, problem?.detail || problem?.title || text.httpError(response.status));
}

/** Any request; throws ApiError for what is not 2xx (or 304), and DOMException AbortError when it was given up. */
export async function request(method: string, path: string, ask: Ask = {}): Promise<Response> {
    const headers: Record<string, string> = { ...tokenHeaders(), ...ask.headers };
    let body: BodyInit | undefined;
    if (ask.body instanceof Blob || ask.body instanceof ArrayBuffer) {
        body = ask.body;
    } else if (ask.body !== undefined) {
        body = JSON.stringify(ask.body);
        headers['Content-Type'] ??= method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    }
    if (ask.ifMatch) {
        headers['If-Match'] = ask.ifMatch;
    }
    const asked = session.get().token;
    const response = await fetch(apiUrl(path, ask.params), { method, headers, body, signal: ask.signal }).catch((error: unknown) => {
        throw error instanceof DOMException && error.name === 'AbortError' ? error : new ApiError(0, null, text.noAnswer);
    });
    if (response.status === 401 && asked === session.get().token) {
        session.set({ ...session.get(), needed: true });
    }
    if (response.status === 202) {
        began.set(began.get() + 1);
    }
    if (!response.ok && response.status !== 304) {
        throw await errorOf(response);
    }
    return response;
}

export async function get<T>(path: string, params?: Params, signal?: AbortSignal): Promise<T> {
    return (await (await request('GET', path, { params, signal, headers: { Accept: 'application/json' } })).json()) as T;
}

/** With the entity tag that a later patch() sends back. */
export async function getTagged<T>(path: string, params?: Params, signal?: AbortSignal): Promise<{ value: T; tag: string | null }> {
    const response = await request('GET', path, { params, signal, headers: { Accept: 'application/json' } });
    return { value: (await response.json()) as T, tag: response.headers.get('ETag') };
}

/** POST, PUT, DELETE …: the JSON of the answer, or null when it has none. */
export async function send<T = unknown>(method: string, path: string, ask: Ask = {}): Promise<T | null> {
    const words = await (await request(method, path, ask)).text();
    return words ? (JSON.parse(words) as T) : null;
}

/** A merge patch. With a tag it throws ApiError 412 when the thing has changed meanwhile. */
export async function patch<T>(path: string, body: unknown, tag?: string | null): Promise<{ value: T; tag: string | null }> {
    const response = await request('PATCH', path, { body, ifMatch: tag });
    return { value: (await response.json()) as T, tag: response.headers.get('ETag') };
}

/** The contract of the API; it lies beside it, and is open to all. */
export async function getContract<T>(signal?: AbortSignal): Promise<T> {
    const response = await fetch('/openapi.json', { signal }).catch((error: unknown) => {
        throw error instanceof DOMException ? error : new ApiError(0, null, text.noAnswer);
    });
    if (!response.ok) {
        throw await errorOf(response);
    }
    return (await response.json()) as T;
}
export async function getBytes(path: string, params?: Params, ask: Ask = {}): Promise<ArrayBuffer> {
    return (await request('GET', path, { ...ask, params })).arrayBuffer();
}
export async function getBlob(path: string, params?: Params, ask: Ask = {}): Promise<Blob> {
    return (await request('GET', path, { ...ask, params })).blob();
}
export async function getText(path: string, params?: Params, ask: Ask = {}): Promise<string> {
    return (await request('GET', path, { ...ask, params })).text();
}

// ---- lists

export interface Page<T> {
    items: T[];
    next: string | null;
    total?: number; // with count: true
    total_capped?: boolean; // … there are more
    capped?: boolean;
    counted?: number;
}
export async function getPage<T>(path: string, params: Params = {}, cursor?: string | null, signal?: AbortSignal): Promise<Page<T>> {
    return get<Page<T>>(path, { ...params, cursor }, signal);
}
/** All of a list that is known to be short (at most `most` rows). */
export async function getAll<T>(path: string, params: Params = {}, most = 5000, signal?: AbortSignal): Promise<T[]> {
    const all: T[] = [];
    let cursor: string | null = null;
    do {
        const page: Page<T> = await getPage<T>(path, { limit: 1000, ...params }, cursor, signal);
        all.push(...page.items);
        cursor = page.next;
    } while (cursor && all.length < most);
    return all;
}

// ---- streams

/** NDJSON, row by row as it comes: messages, series, any list. Ends early without an error only when `signal` says so. */
export async function* getRows<T>(path: string, params: Params = {}, signal?: AbortSignal): AsyncGenerator<T> {
    const response = await request('GET', path, { params, signal, headers: { Accept: 'application/x-ndjson' } });
    for await (const line of readLines(response, true)) {
        if (line) {
            yield JSON.parse(line) as T;
        }
    }
}

/** Server-sent events with the token (EventSource sends no headers). Comes again by itself until it has ended or the returned function is called. */
export function follow(path: string, params: Params, heard: (kind: string, data: unknown) => void, endless = false): () => void {
    const stop = new AbortController();
    void readEvents({
        ask: (last) =>
            request('GET', path, {
                params,
                signal: stop.signal,
                headers: { Accept: 'text/event-stream', ...(last ? { 'Last-Event-ID': last } : {}) },
            }),
        heard,
        endless,
        signal: stop.signal,
        final: (error) => error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429,
    });
    return () => stop.abort();
}

const changeListeners = new Set<(change: Change) => void>();
let stopChanges: (() => void) | null = null;

/** /changes, one connection for the whole page. `gap`: what was known is no more: load again. */
export function onChange(listener: (change: Change) => void): () => void {
    changeListeners.add(listener);
    stopChanges ??= follow(
        '/changes',
        {},
        (kind, data) => {
            const change = { ...(data as Change), kind };
            changeListeners.forEach((one) => one(change));
        },
        true,
    );
    return () => {
        changeListeners.delete(listener);
        if (changeListeners.size === 0) {
            stopChanges?.();
            stopChanges = null;
        }
    };
}
session.subscribe(() => {
    if (stopChanges && !session.get().needed) {
        // somebody else asks now
        stopChanges();
        stopChanges = null;
        const [one] = changeListeners;
        if (one) {
            onChange(one);
        }
    }
});

/** A job until it ends. */
export function followJob(id: string, heard: (job: Job) => void): () => void {
    return follow(`/jobs/${id}`, {}, (_kind, data) => heard(data as Job));
}

// ---- links: for what the browser itself asks for

/** A link to a path that works without the token: as it is on an open server, else signed. */
export async function linkTo(path: string, params: Params = {}, expires = '1h'): Promise<string> {
    const plain = apiUrl(path, params);
    if (!session.get().token) {
        return plain;
    }
    const made = await send<{ url: string }>('POST', '/links', { body: { path: plain, expires } });
    const url = new URL(made?.url ?? plain, location.origin);
    return url.pathname + url.search;
}

/** Saves it as a file, whatever its size: the browser loads it, not the page. */
export async function download(path: string, params: Params = {}): Promise<void> {
    const anchor = document.createElement('a');
    anchor.href = await linkTo(path, params);
    anchor.download = '';
    document.body.append(anchor);
    anchor.click();
    anchor.remove();
}
