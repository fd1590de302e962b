// The uploads of this page: hashed, then sent by tus, a few at a time. Its one rule: the queue outlives the view; leaving the view stops nothing.
import * as tus from 'tus-js-client';
import { ApiError, BASE, get, tokenHeaders } from '../../api';
import { Store } from '../../store';
import { text } from '../../text';
import { showToast } from '../../toasts';
import type { Problem, Recording } from '../../types';
import { digestOf } from './hashing';

export type UploadState = 'waiting' | 'hashing' | 'sending' | 'paused' | 'done' | 'duplicate' | 'failed';
export interface Item {
    id: number;
    name: string; // with its folders, as it will be called
    size: number;
    state: UploadState;
    done: number; // bytes hashed or sent, by the state
    speed: number; // bytes a second while it is sent
    problem: string | null;
    recording: { id: string; name: string } | null;
}
interface Work {
    file: File;
    collection: string;
    tags: Record<string, string>;
    digest: string | null;
    upload: tus.Upload | null;
    stop: AbortController;
    since: { at: number; done: number };
}

const AT_ONCE = 3;
const RETRIES_MS = [0, 500, 1000, 2000, 4000, 8000, 15000, 30000];

export const queue = new Store<Item[]>([]);
const works = new Map<number, Work>();
let next = 1;

function change(id: number, part: Partial<Item>): void {
    queue.set(queue.get().map((item) => (item.id === id ? { ...item, ...part } : item)));
}
const itemOf = (id: number) => queue.get().find((item) => item.id === id);
const over = (state: UploadState) => state === 'done' || state === 'duplicate';
const busy = (state: UploadState) => state === 'hashing' || state === 'sending';

export interface Chosen {
    file: File;
    name: string;
}
/** A file that is under way already is not taken twice: both would write into the one upload the server has of it. */
function underWay({ file, name }: Chosen, collection: string): boolean {
    const same = (one: File) => one.size === file.size && one.lastModified === file.lastModified;
    return queue.get().some((item) => item.name === name && !over(item.state) && works.get(item.id)!.collection === collection && same(works.get(item.id)!.file));
}

export function addFiles(files: Chosen[], collection: string, tags: Record<string, string>): void {
    const fresh = files.filter((one) => !underWay(one, collection));
    if (fresh.length < files.length) {
        showToast(text.upload.underWay(files.length - fresh.length));
    }
    const items = fresh.map(({ file, name }): Item => {
        const id = next++;
        works.set(id, { file, collection, tags, digest: null, upload: null, stop: new AbortController(), since: { at: 0, done: 0 } });
        return { id, name, size: file.size, state: 'waiting', done: 0, speed: 0, problem: null, recording: null };
    });
    queue.set([...queue.get(), ...items]);
    go();
}

function go(): void {
    let free = AT_ONCE - queue.get().filter((one) => busy(one.state)).length;
    for (const item of queue.get()) {
        if (free <= 0) {
            return;
        }
        if (item.state === 'waiting') {
            free--;
            void run(item.id);
        }
    }
}

function fail(id: number, error: unknown): void {
    if (!(error instanceof DOMException && error.name === 'AbortError')) {
        change(id, { state: 'failed', problem: wordsOf(error), speed: 0 });
    }
    go();
}

/** The server's own words, out of a tus error as well. */
function wordsOf(error: unknown): string {
    const response = error instanceof tus.DetailedError ? error.originalResponse : null;
    if (response) {
        try {
            const problem = JSON.parse(response.getBody()) as Problem;
            return problem.detail || problem.title;
        } catch {
            return text.httpError(response.getStatus());
        }
    }
    return error instanceof tus.DetailedError ? text.noAnswer : error instanceof Error ? error.message : String(error);
}

async function known(digest: string, signal: AbortSignal): Promise<Recording | null> {
    try {
        const there = await get<Recording>(`/recordings/sha256:${digest}`, {}, signal);
        return there.state === 'trashed' ? null : there;
    } catch (error) {
        if (error instanceof ApiError && error.status === 404) {
            return null;
        }
        throw error;
    }
}

async function run(id: number): Promise<void> {
    const work = works.get(id)!;
    const { signal } = work.stop; // of this run: going on after a pause is another one
    try {
        change(id, { state: 'hashing', done: 0, problem: null });
        if (work.file.size === 0) {
            throw new Error(text.upload.empty);
        }
        work.digest ??= await digestOf(work.file, (done) => signal.aborted || change(id, { done }), signal);
        const there = await known(work.digest, signal);
        signal.throwIfAborted();
        if (there) {
            change(id, { state: 'duplicate', done: work.file.size, recording: { id: there.id, name: `${there.collection}/${there.name}` } });
            go();
            return;
        }
        await send(id, work, signal);
    } catch (error) {
        fail(id, error);
    }
}

function metadataOf(item: Item, work: Work): Record<string, string> {
    return {
        filename: item.name,
        collection: work.collection,
        sha256: work.digest!,
        ...(Object.keys(work.tags).length > 0 ? { tags: JSON.stringify(work.tags) } : {}),
    };
}

async function send(id: number, work: Work, signal: AbortSignal): Promise<void> {
    const item = itemOf(id)!;
    change(id, { state: 'sending', done: 0, problem: null });
    work.since = { at: performance.now(), done: 0 };
    let place: string | undefined;
    const upload = new tus.Upload(work.file, {
        endpoint: BASE + '/uploads',
        metadata: metadataOf(item, work),
        onBeforeRequest: (request) => Object.entries(tokenHeaders()).forEach(([name, value]) => request.setHeader(name, value)), // as it is by then: who logs in anew goes on
        retryDelays: RETRIES_MS,
        fingerprint: () => Promise.resolve(`reel-${work.digest}-${work.collection}-${item.name}`),
        removeFingerprintOnSuccess: true,
        onAfterResponse: (_request, response) => {
            place = response.getHeader('Content-Location') ?? place;
        },
        onShouldRetry: (error) => {
            const status = error.originalResponse?.getStatus() ?? 0;
            return status === 0 || status === 409 || status === 423 || status === 429 || status >= 500;
        },
        onProgress: (sent) => progress(id, work, sent),
        onError: (error) => fail(id, error),
        onSuccess: () => {
            const recording = place?.split('/recordings/')[1]?.split('/')[0];
            change(id, { state: 'done', done: work.file.size, speed: 0, recording: recording ? { id: recording, name: `${work.collection}/${item.name}` } : null });
            go();
        },
    });
    work.upload = upload;
    const [before] = await upload.findPreviousUploads(); // of a page that was closed
    signal.throwIfAborted(); // paused or taken out meanwhile
    if (before) {
        upload.resumeFromPreviousUpload(before);
    }
    upload.start();
}

function progress(id: number, work: Work, sent: number): void {
    const now = performance.now();
    if (sent < work.since.done) {
        work.since = { at: now, done: sent };
    }
    const seconds = (now - work.since.at) / 1000;
    const speed = seconds > 0.2 ? (sent - work.since.done) / seconds : 0;
    if (seconds > 3) {
        work.since = { at: now, done: sent };
    }
    change(id, { done: sent, ...(speed > 0 ? { speed } : {}) });
}

export function pause(id: number): void {
    const work = works.get(id)!;
    work.stop.abort();
    void work.upload?.abort();
    change(id, { state: 'paused', speed: 0 });
    go();
}
export function resume(id: number): void {
    const work = works.get(id)!;
    work.stop = new AbortController();
    change(id, { state: 'waiting', problem: null });
    go();
}
/** Takes it out of the list; what the server has of it is given up. */
export function remove(id: number): void {
    const item = itemOf(id);
    const work = works.get(id);
    if (item && work && !over(item.state)) {
        work.stop.abort();
        void work.upload?.abort(item.state !== 'failed').catch(() => undefined); // what is left there expires
    }
    works.delete(id);
    queue.set(queue.get().filter((one) => one.id !== id));
    go();
}
export function clearDone(): void {
    queue.get().forEach((item) => over(item.state) && remove(item.id));
}
