// The upload queue: files are hashed, then sent with tus, a few at a time. It continues when the upload view is left.
import * as tus from 'tus-js-client';
import { ApiError, BASE, get, tokenHeaders } from '../../api';
import { Store } from '../../store';
import { text } from '../../text';
import { showToast } from '../../toasts';
import type { Problem, Recording } from '../../types';
import { hashFile } from './hash';

export type UploadState = 'waiting' | 'hashing' | 'sending' | 'paused' | 'done' | 'duplicate' | 'failed';
export interface Item {
    id: number;
    name: string; // including folders; the name of the recording
    size: number;
    state: UploadState;
    done: number; // bytes hashed or sent, depending on the state
    speed: number; // bytes per second while sending
    problem: string | null;
    recording: { id: string; name: string } | null;
}
interface Transfer {
    file: File;
    collection: string;
    tags: Record<string, string>;
    digest: string | null;
    upload: tus.Upload | null;
    stop: AbortController;
    since: { at: number; done: number };
}

const MAX_PARALLEL = 3;
const RETRIES_MS = [0, 500, 1000, 2000, 4000, 8000, 15000, 30000];

export const queue = new Store<Item[]>([]);
const transfers = new Map<number, Transfer>();
let next = 1;

function change(id: number, part: Partial<Item>): void {
    queue.set(queue.get().map((item) => (item.id === id ? { ...item, ...part } : item)));
}
const itemOf = (id: number) => queue.get().find((item) => item.id === id);
const finished = (state: UploadState) => state === 'done' || state === 'duplicate';
const busy = (state: UploadState) => state === 'hashing' || state === 'sending';

export interface Chosen {
    file: File;
    name: string;
}
/** A file already in the queue is not added again: both would write to the same upload on the server. */
function isQueued({ file, name }: Chosen, collection: string): boolean {
    const same = (one: File) => one.size === file.size && one.lastModified === file.lastModified;
    return queue.get().some((item) => item.name === name && !finished(item.state) && transfers.get(item.id)!.collection === collection && same(transfers.get(item.id)!.file));
}

export function addFiles(files: Chosen[], collection: string, tags: Record<string, string>): void {
    const added = files.filter((one) => !isQueued(one, collection));
    if (added.length < files.length) {
        showToast(text.upload.alreadyQueued(files.length - added.length));
    }
    const items = added.map(({ file, name }): Item => {
        const id = next++;
        transfers.set(id, { file, collection, tags, digest: null, upload: null, stop: new AbortController(), since: { at: 0, done: 0 } });
        return { id, name, size: file.size, state: 'waiting', done: 0, speed: 0, problem: null, recording: null };
    });
    queue.set([...queue.get(), ...items]);
    startNext();
}

function startNext(): void {
    let free = MAX_PARALLEL - queue.get().filter((one) => busy(one.state)).length;
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
        change(id, { state: 'failed', problem: errorMessage(error), speed: 0 });
    }
    startNext();
}

/** The server's message, also for tus errors. */
function errorMessage(error: unknown): string {
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

async function findByDigest(digest: string, signal: AbortSignal): Promise<Recording | null> {
    try {
        const existing = await get<Recording>(`/recordings/sha256:${digest}`, {}, signal);
        return existing.state === 'trashed' ? null : existing;
    } catch (error) {
        if (error instanceof ApiError && error.status === 404) {
            return null;
        }
        throw error;
    }
}

async function run(id: number): Promise<void> {
    const transfer = transfers.get(id)!;
    const { signal } = transfer.stop; // of this run; resuming after a pause starts a new one
    try {
        change(id, { state: 'hashing', done: 0, problem: null });
        if (transfer.file.size === 0) {
            throw new Error(text.upload.emptyFile);
        }
        transfer.digest ??= await hashFile(transfer.file, (done) => signal.aborted || change(id, { done }), signal);
        const existing = await findByDigest(transfer.digest, signal);
        signal.throwIfAborted();
        if (existing) {
            change(id, { state: 'duplicate', done: transfer.file.size, recording: { id: existing.id, name: `${existing.collection}/${existing.name}` } });
            startNext();
            return;
        }
        await send(id, transfer, signal);
    } catch (error) {
        fail(id, error);
    }
}

function metadataOf(item: Item, transfer: Transfer): Record<string, string> {
    return {
        filename: item.name,
        collection: transfer.collection,
        sha256: transfer.digest!,
        ...(Object.keys(transfer.tags).length > 0 ? { tags: JSON.stringify(transfer.tags) } : {}),
    };
}

async function send(id: number, transfer: Transfer, signal: AbortSignal): Promise<void> {
    const item = itemOf(id)!;
    change(id, { state: 'sending', done: 0, problem: null });
    transfer.since = { at: performance.now(), done: 0 };
    let contentLocation: string | undefined;
    const upload = new tus.Upload(transfer.file, {
        endpoint: BASE + '/uploads',
        metadata: metadataOf(item, transfer),
        onBeforeRequest: (request) => Object.entries(tokenHeaders()).forEach(([name, value]) => request.setHeader(name, value)), // the current token: uploads continue after a new login
        retryDelays: RETRIES_MS,
        fingerprint: () => Promise.resolve(`reel-${transfer.digest}-${transfer.collection}-${item.name}`),
        removeFingerprintOnSuccess: true,
        onAfterResponse: (_request, response) => {
            contentLocation = response.getHeader('Content-Location') ?? contentLocation;
        },
        onShouldRetry: (error) => {
            const status = error.originalResponse?.getStatus() ?? 0;
            return status === 0 || status === 409 || status === 423 || status === 429 || status >= 500;
        },
        onProgress: (sent) => progress(id, transfer, sent),
        onError: (error) => fail(id, error),
        onSuccess: () => {
            const recording = contentLocation?.split('/recordings/')[1]?.split('/')[0];
            change(id, { state: 'done', done: transfer.file.size, speed: 0, recording: recording ? { id: recording, name: `${transfer.collection}/${item.name}` } : null });
            startNext();
        },
    });
    transfer.upload = upload;
    const [before] = await upload.findPreviousUploads(); // from a closed page
    signal.throwIfAborted(); // paused or removed in the meantime
    if (before) {
        upload.resumeFromPreviousUpload(before);
    }
    upload.start();
}

function progress(id: number, transfer: Transfer, sent: number): void {
    const now = performance.now();
    if (sent < transfer.since.done) {
        transfer.since = { at: now, done: sent };
    }
    const seconds = (now - transfer.since.at) / 1000;
    const speed = seconds > 0.2 ? (sent - transfer.since.done) / seconds : 0;
    if (seconds > 3) {
        transfer.since = { at: now, done: sent };
    }
    change(id, { done: sent, ...(speed > 0 ? { speed } : {}) });
}

export function pause(id: number): void {
    const transfer = transfers.get(id)!;
    transfer.stop.abort();
    void transfer.upload?.abort();
    change(id, { state: 'paused', speed: 0 });
    startNext();
}
export function resume(id: number): void {
    const transfer = transfers.get(id)!;
    transfer.stop = new AbortController();
    change(id, { state: 'waiting', problem: null });
    startNext();
}
/** Removes it from the list and discards what the server has received. */
export function remove(id: number): void {
    const item = itemOf(id);
    const transfer = transfers.get(id);
    if (item && transfer && !finished(item.state)) {
        transfer.stop.abort();
        void transfer.upload?.abort(item.state !== 'failed').catch(() => undefined); // the server deletes expired uploads
    }
    transfers.delete(id);
    queue.set(queue.get().filter((one) => one.id !== id));
    startNext();
}
export function clearDone(): void {
    queue.get().forEach((item) => finished(item.state) && remove(item.id));
}
