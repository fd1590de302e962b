// All communication with the server. No other file calls fetch (tus-js-client gets its headers from here), but
// server_state.ts.
import { ROOT } from './address';
import { readEvents, readLines, readParts, type FilePart } from './api_streams';
import { linkKey } from './shared_link';
import { askServer } from './server_state';
import { Store } from './store';
import { text } from './text/common';
import type { Change, Job, Problem } from './types';

export const BASE = ROOT + 'api/v1';
export type Params = Record<string, string | number | bigint | boolean | null | undefined | readonly string[]>;

/** A failed request; `message` can be shown to users. */
export class ApiError extends Error {
    constructor(
        readonly status: number, // 0: no response
        readonly problem: Problem | null,
        message: string,
    ) {
        super(message);
    }
}

// ---- session

const KEY = 'reel.loggedIn'; // only a note for new tabs: the cookie itself cannot be read here
/**
 * needed: the server requires a login, or the one there was has ended. notice: why nobody can log in: the archive has
 * lost its tokens.
 */
export const session = new Store<{ loggedIn: boolean; needed: boolean; notice: string | null }>({
    loggedIn: !linkKey && localStorage.getItem(KEY) !== null,
    needed: false,
    notice: null,
});

/** Exchanges the token for a cookie, which the browser sends from then on. */
export async function logIn(token: string): Promise<void> {
    await request('POST', '/login', { headers: { Authorization: 'Bearer ' + token } });
    localStorage.setItem(KEY, 'yes');
    session.set({ loggedIn: true, needed: false, notice: null });
}
export async function logOut(): Promise<void> {
    await request('DELETE', '/login');
    localStorage.removeItem(KEY);
    session.set({ loggedIn: false, needed: false, notice: null });
}
/**
 * Headers of every request. X-Requested-With keeps the server from offering Basic authentication, for which the browser
 * would open a prompt.
 */
export const ownHeaders: Record<string, string> = {
    'X-Requested-With': 'reel',
    ...(linkKey ? { Authorization: 'Link ' + linkKey } : {}),
};

// ---- requests

/** Increases with every 202 response, that is, when the server has started a job. */
export const jobsStarted = new Store(0);

/** Arrays become repeated parameters; null and undefined are omitted. */
function urlOf(path: string, params: Params = {}): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) {
        if (Array.isArray(value)) {
            value.forEach((one) => query.append(name, one));
        } else if (value !== null && value !== undefined) {
            query.set(name, String(value));
        }
    }
    const search = query.toString();
    return BASE + path + (search ? '?' + search : '');
}
/** The URL of an API path with parameters, for requests that the browser makes by itself, such as those of images. */
export function apiUrl(path: string, params: Params = {}): string {
    return urlOf(path, { ...params, link: linkKey });
}

export interface RequestOptions {
    params?: Params;
    body?: unknown; // sent as JSON, a Blob or ArrayBuffer as it is
    headers?: Record<string, string>;
    ifMatch?: string | null;
    signal?: AbortSignal;
}

async function errorOf(response: Response): Promise<ApiError> {
    const body = await response.text().catch(() => '');
    let problem: Problem | null = null;
    try {
        problem = JSON.parse(body) as Problem;
    } catch {
        // no problem document: the page of a proxy, or an empty body
    }
    return new ApiError(response.status, problem, said(problem, response.status));
}

/** What a problem says: a sentence begins with a capital; not a name, such as run.bag. */
export function said(problem: Problem | null, status: number): string {
    const sentence = problem?.detail || problem?.title || text.httpError(status);
    return sentence.replace(/^[a-z]+(?= )/, (word) => word[0]!.toUpperCase() + word.slice(1));
}

/** Sends a request. Throws ApiError unless the status is 2xx or 304, and DOMException AbortError when aborted. */
export async function request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const headers: Record<string, string> = { ...ownHeaders, ...options.headers };
    let body: BodyInit | undefined;
    if (options.body instanceof Blob || options.body instanceof ArrayBuffer) {
        body = options.body;
    } else if (options.body !== undefined) {
        body = JSON.stringify(options.body);
        headers['Content-Type'] ??= method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    }
    if (options.ifMatch) {
        headers['If-Match'] = options.ifMatch;
    }
    const before = session.get();
    const response = await fetch(urlOf(path, options.params), { method, headers, body, signal: options.signal }).catch(
        (error: unknown) => {
            if (error instanceof DOMException && error.name === 'AbortError') {
                throw error;
            }
            void askServer();
            throw new ApiError(0, null, text.noAnswer);
        },
    );
    const failure = response.ok || response.status === 304 ? null : await errorOf(response);
    if (failure?.status === 401 && before === session.get()) {
        const lost = failure.problem?.type?.endsWith('/problems/no-tokens');
        session.set({ ...before, needed: true, notice: lost ? failure.message : before.notice });
    }
    if (response.status === 202) {
        jobsStarted.set(jobsStarted.get() + 1);
    }
    if (failure) {
        throw failure;
    }
    return response;
}

export async function get<T>(path: string, params?: Params, signal?: AbortSignal): Promise<T> {
    return (await (
        await request('GET', path, { params, signal, headers: { Accept: 'application/json' } })
    ).json()) as T;
}

/** Also returns the ETag, for a later patch(). */
export async function getTagged<T>(
    path: string,
    params?: Params,
    signal?: AbortSignal,
): Promise<{ value: T; tag: string | null }> {
    const response = await request('GET', path, { params, signal, headers: { Accept: 'application/json' } });
    return { value: (await response.json()) as T, tag: response.headers.get('ETag') };
}

/** POST, PUT, DELETE …; returns the JSON of the response, or null if it has no body. */
export async function send<T = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<T | null> {
    const body = await (await request(method, path, options)).text();
    return body ? (JSON.parse(body) as T) : null;
}

/** Sends a merge patch. With an ETag it throws ApiError 412 if the resource has changed since. */
export async function patch<T>(
    path: string,
    body: unknown,
    tag?: string | null,
): Promise<{ value: T; tag: string | null }> {
    const response = await request('PATCH', path, { body, ifMatch: tag });
    return { value: (await response.json()) as T, tag: response.headers.get('ETag') };
}

/** The OpenAPI document. It is outside /api/v1 and needs no token. */
export async function getContract<T>(signal?: AbortSignal): Promise<T> {
    const response = await fetch('openapi.json', { signal }).catch((error: unknown) => {
        throw error instanceof DOMException ? error : new ApiError(0, null, text.noAnswer);
    });
    if (!response.ok) {
        throw await errorOf(response);
    }
    return (await response.json()) as T;
}
export async function getBytes(path: string, params?: Params, options: RequestOptions = {}): Promise<ArrayBuffer> {
    return (await request('GET', path, { ...options, params })).arrayBuffer();
}
export async function getText(path: string, params?: Params, options: RequestOptions = {}): Promise<string> {
    return (await request('GET', path, { ...options, params })).text();
}

// ---- lists

export interface Page<T> {
    items: T[];
    next: string | null;
    total?: number; // with count: true
    total_capped?: boolean; // the total is a lower bound
    capped?: boolean;
    counted?: number;
}
export async function getPage<T>(
    path: string,
    params: Params = {},
    cursor?: string | null,
    signal?: AbortSignal,
): Promise<Page<T>> {
    return get<Page<T>>(path, { ...params, cursor }, signal);
}
/** All pages of a short list, up to about `most` rows. */
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

/** NDJSON, row by row: messages, series, any list. */
export async function* getRows<T>(path: string, params: Params = {}, signal?: AbortSignal): AsyncGenerator<T> {
    const response = await request('GET', path, { params, signal, headers: { Accept: 'application/x-ndjson' } });
    for await (const line of readLines(response)) {
        if (line) {
            yield JSON.parse(line) as T;
        }
    }
}

/** The parts of a multipart response, as they arrive. */
export async function* getParts(path: string, params: Params = {}, signal?: AbortSignal): AsyncGenerator<FilePart> {
    yield* readParts(await request('GET', path, { params, signal }));
}

/**
 * Server-sent events with the token, which EventSource cannot send. Reconnects until the stream has ended or the
 * returned function is called.
 */
export function follow(
    path: string,
    params: Params,
    onEvent: (kind: string, data: unknown) => void,
    endless = false,
): () => void {
    const stop = new AbortController();
    void readEvents({
        connect: (last) =>
            request('GET', path, {
                params,
                signal: stop.signal,
                headers: { Accept: 'text/event-stream', ...(last ? { 'Last-Event-ID': last } : {}) },
            }),
        onEvent,
        endless,
        signal: stop.signal,
        isFinal: (error) =>
            error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429,
    });
    return () => stop.abort();
}

const changeListeners = new Set<(change: Change) => void>();
let stopChanges: (() => void) | null = null;

/**
 * Subscribes to /changes; the page shares one connection. After a change of kind `gap` some changes were missed:
 * reload.
 */
export function onChange(listener: (change: Change) => void): () => void {
    if (linkKey) {
        return () => undefined; // a signed link does not reach the changes of the archive
    }
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
        // another token: reconnect
        stopChanges();
        stopChanges = null;
        const [one] = changeListeners;
        if (one) {
            onChange(one);
        }
    }
});

/** Reports the state of a job until it has ended. */
export function followJob(id: string, onState: (job: Job) => void): () => void {
    return follow(`/jobs/${id}`, {}, (_kind, data) => onState(data as Job));
}

// ---- links: for requests that the browser makes by itself

/** A link that works without a token: signed if the page is logged in. */
export async function linkTo(path: string, params: Params = {}, expires = '1h'): Promise<string> {
    const plain = apiUrl(path, params);
    if (!session.get().loggedIn) {
        return plain;
    }
    const link = await send<{ url: string }>('POST', '/links', { body: { path: plain, expires } });
    const url = new URL(link?.url ?? plain, location.origin);
    return url.pathname + url.search;
}

/** Downloads a file of any size: the browser writes it to disk. */
export async function download(path: string, params: Params = {}): Promise<void> {
    const anchor = document.createElement('a');
    anchor.href = await linkTo(path, params);
    anchor.download = '';
    document.body.append(anchor);
    anchor.click();
    anchor.remove();
}
