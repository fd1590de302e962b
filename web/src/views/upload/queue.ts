// The upload queue: files are sent with tus, a few at a time, in parts that the server verifies. A whole file is hashed,
// while it is sent, only if it may be stored already, or where the browser cannot hash parts. It continues when the
// upload view is left.
import * as tus from 'tus-js-client';
import { ApiError, BASE, get, getPage, ownHeaders, patch, said } from '../../api';
import { askServer } from '../../server_state';
import { Store } from '../../store';
import { text } from '../../text/common';
import { uploadText } from '../../text/upload';
import { showToast } from '../../toasts';
import type { Problem, Recording } from '../../types';
import { uploadProgress } from '../../upload_progress';
import { groupFiles, type Group } from './grouping';
import { hashFile } from './hash';
import { FIRST_PART, nextPart, Parts, verifiesParts } from './parts';

// checking: everything has been sent; the checksum is compared and the recording is scanned. partial: stored, but
// damaged.
export type UploadState = 'waiting' | 'sending' | 'checking' | 'paused' | 'done' | 'partial' | 'duplicate' | 'failed';
export interface Item {
    id: number;
    name: string; // including folders
    recordingName: string;
    after: number | null; // a further file of a recording: the item before it, which is sent first
    size: number;
    state: UploadState;
    done: number; // bytes sent
    hashed: number;
    speed: number; // bytes per second while sending
    problem: string | null;
    recording: { id: string; name: string; collection: string } | null;
    collection: string; // that was chosen
    tags: Record<string, string>;
    tagged: boolean; // a duplicate: the tags were added to the existing recording
}
interface Transfer {
    file: File;
    hash: Promise<string> | null; // running, or finished
    upload: tus.Upload | null;
    stop: AbortController; // of this run; resuming after a pause starts a new one
    removed: AbortController;
    since: { at: number; done: number };
    last: number; // the time of the last progress
}

const MAX_PARALLEL = 3;
const QUICK_MS = 700; // a file that is hashed in this time is not sent if it is already stored
const POLL_MS = 1500;
const SILENT_MS = 4000; // without progress
const OTHER_BYTES = 460; // a part that did not arrive as it was sent
const FULL = 507; // the disk, or the quota of the collection: waiting does not help
const RETRIES_MS = [0, 500, 1000, ...Array.from({ length: 100 }, () => 3000)]; // five minutes

export const queue = new Store<Item[]>([]);
const transfers = new Map<number, Transfer>();
let next = 1;

function change(id: number, part: Partial<Item>): void {
    queue.set(queue.get().map((item) => (item.id === id ? { ...item, ...part } : item)));
}
const itemOf = (id: number) => queue.get().find((item) => item.id === id);

const sent = ({ size, done, state }: Item) => (state === 'checking' || finished(state) ? size : done);
/** Reports what is left to do, and asks before the page is closed meanwhile. */
queue.subscribe((items) => {
    const counted = items.filter(({ state }) => state !== 'failed' && state !== 'paused');
    const left = counted.filter(({ state }) => !finished(state)).length;
    const sum = (of: (item: Item) => number) => counted.reduce((all, item) => all + of(item), 0);
    uploadProgress.set(
        left > 0
            ? {
                  left,
                  part:
                      sum(sent) /
                      Math.max(
                          1,
                          sum(({ size }) => size),
                      ),
              }
            : null,
    );
});
addEventListener('beforeunload', (event) => uploadProgress.get() && event.preventDefault());

/** An upload without progress: whether the server is still there. */
setInterval(() => {
    const now = performance.now();
    for (const { id, state } of queue.get()) {
        const { since, last } = transfers.get(id)!;
        if (state === 'sending' && since.at > 0 && now - last > SILENT_MS) {
            change(id, { speed: 0 });
            void askServer();
        }
    }
}, SILENT_MS / 2);
export const finished = (state: UploadState) => state === 'done' || state === 'partial' || state === 'duplicate';
const busy = (state: UploadState) => state === 'sending';

export interface Chosen {
    file: File;
    name: string;
}
/** A file already in the queue is not added again: both would write to the same upload on the server. */
function isQueued({ file, name }: Chosen, collection: string): boolean {
    const same = (one: File) => one.size === file.size && one.lastModified === file.lastModified;
    return queue
        .get()
        .some(
            (item) =>
                item.name === name &&
                !finished(item.state) &&
                item.collection === collection &&
                same(transfers.get(item.id)!.file),
        );
}

export function addFiles(files: Chosen[], collection: string, tags: Record<string, string>): void {
    const added = files.filter((one) => !isQueued(one, collection));
    if (added.length < files.length) {
        showToast(uploadText.alreadyQueued(files.length - added.length));
    }
    const items = groupFiles(added).flatMap((group) => itemsOf(group, collection, tags));
    queue.set([...queue.get(), ...items]);
    startNext();
}

function itemsOf(group: Group, collection: string, tags: Record<string, string>): Item[] {
    return group.files.map(({ file, name }, position): Item => {
        const id = next++;
        transfers.set(id, {
            file,
            hash: null,
            upload: null,
            stop: new AbortController(),
            removed: new AbortController(),
            since: { at: 0, done: 0 },
            last: 0,
        });
        return {
            id,
            name,
            recordingName: group.name,
            after: position > 0 ? id - 1 : null,
            size: file.size,
            state: 'waiting',
            done: 0,
            hashed: 0,
            speed: 0,
            problem: null,
            recording: null,
            collection,
            tags,
            tagged: false,
        };
    });
}

/** Whether the item before it is stored; if that failed, so has this one. */
function mayStart(item: Item): boolean {
    const before = item.after === null ? undefined : itemOf(item.after);
    if (before?.state === 'failed') {
        change(item.id, { state: 'failed', problem: uploadText.partFailed(before.name) });
    }
    return before === undefined || finished(before.state);
}

function startNext(): void {
    let free = MAX_PARALLEL - queue.get().filter((one) => busy(one.state)).length;
    for (const item of queue.get()) {
        if (free <= 0) {
            return;
        }
        if (item.state === 'waiting' && mayStart(item)) {
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
            return said(JSON.parse(response.getBody()) as Problem, response.getStatus());
        } catch {
            return said(null, response.getStatus());
        }
    }
    return error instanceof tus.DetailedError ? text.noAnswer : error instanceof Error ? error.message : String(error);
}

/** Whether a recording has as many bytes: a file that has not is no duplicate. */
async function isSizeStored(size: number, signal: AbortSignal): Promise<boolean> {
    const found = await getPage<Recording>('/recordings', { q: `size:${size}..${size}`, limit: 1 }, null, signal);
    return found.items.length > 0;
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

/** Runs on through pauses, since the file does not change. */
function startHash(id: number, transfer: Transfer): Promise<string> {
    if (!transfer.hash) {
        transfer.hash = hashFile(transfer.file, (hashed) => change(id, { hashed }), transfer.removed.signal);
        transfer.hash.catch(() => (transfer.hash = null)); // whoever waits for it reports the error
    }
    return transfer.hash;
}
const nameOf = (recording: Recording) => ({ id: recording.id, name: recording.name, collection: recording.collection });

async function foundDuplicate(id: number, digest: string, signal: AbortSignal): Promise<boolean> {
    const existing = await findByDigest(digest, signal);
    signal.throwIfAborted();
    if (existing) {
        change(id, { state: 'duplicate', done: itemOf(id)!.size, speed: 0, recording: nameOf(existing) });
        startNext();
    }
    return existing !== null;
}

async function run(id: number): Promise<void> {
    const transfer = transfers.get(id)!;
    const { signal } = transfer.stop;
    try {
        change(id, { state: 'sending', problem: null });
        if (transfer.file.size === 0) {
            throw new Error(uploadText.emptyFile);
        }
        const alone = isAlone(itemOf(id)!); // of several files the server finds out
        const hashed = !verifiesParts() || (alone && (await isSizeStored(transfer.file.size, signal)));
        signal.throwIfAborted();
        const hash = hashed ? startHash(id, transfer) : null;
        const late = new Promise<null>((done) => setTimeout(() => done(null), QUICK_MS));
        const quick = hash && (await Promise.race([hash, late]));
        signal.throwIfAborted();
        if (quick && alone && (await foundDuplicate(id, quick, signal))) {
            return;
        }
        await send(id, transfer, quick, signal);
        if (hash && !quick && alone) {
            void stopIfStored(id, transfer, hash, signal);
        }
    } catch (error) {
        fail(id, error);
    }
}

/**
 * The digest of a large file is known only while it is being sent. If the content is already stored, the rest need not
 * be sent.
 */
async function stopIfStored(id: number, transfer: Transfer, hash: Promise<string>, signal: AbortSignal): Promise<void> {
    try {
        const digest = await hash;
        if (!signal.aborted && itemOf(id)?.state === 'sending' && (await foundDuplicate(id, digest, signal))) {
            transfer.stop.abort();
            await transfer.upload?.abort(true);
        }
    } catch {
        // the upload goes on; a digest that cannot be computed is reported at its end
    }
}

const isAlone = (item: Item) => item.after === null && item.recordingName === item.name;

function metadataOf(item: Item, digest: string | null): Record<string, string> {
    const file = item.name.slice(item.name.lastIndexOf('/') + 1);
    return {
        ...(item.after !== null
            ? { filename: file, part_of: item.recordingName }
            : isAlone(item)
              ? { filename: item.name }
              : { filename: item.recordingName, file_name: file }),
        collection: item.collection,
        ...(digest ? { sha256: digest } : {}),
        ...(item.after === null && Object.keys(item.tags).length > 0 ? { tags: JSON.stringify(item.tags) } : {}),
    };
}

async function send(id: number, transfer: Transfer, digest: string | null, signal: AbortSignal): Promise<void> {
    const item = itemOf(id)!;
    transfer.since = { at: performance.now(), done: 0 };
    transfer.last = transfer.since.at;
    const answer: Answer = { recording: null, digest: null };
    const parts = verifiesParts() ? new Parts(transfer.file) : null;
    let began = 0; // of the part
    const upload = new tus.Upload(transfer.file, {
        ...(parts && {
            chunkSize: FIRST_PART,
            fileReader: { openFile: () => Promise.resolve(parts) },
            onBeforeRequest: (request) => {
                if (request.getMethod() === 'PATCH') {
                    request.setHeader('Upload-Checksum', parts.checksum);
                    began = performance.now();
                }
            },
            onChunkComplete: (size) => {
                upload.options.chunkSize = nextPart(size, performance.now() - began);
            },
        }),
        endpoint: BASE + '/uploads',
        metadata: metadataOf(item, digest),
        headers: ownHeaders,
        retryDelays: RETRIES_MS,
        fingerprint: () =>
            Promise.resolve(
                [
                    'reel',
                    item.size,
                    transfer.file.lastModified,
                    item.collection,
                    item.name,
                    JSON.stringify(item.tags),
                ].join(' '),
            ),
        removeFingerprintOnSuccess: true,
        onAfterResponse: (_request, response) => {
            answer.recording =
                response.getHeader('Content-Location')?.split('/recordings/')[1]?.split('/')[0] ?? answer.recording;
            answer.digest = /sha-256=:([^:]+):/.exec(response.getHeader('Repr-Digest') ?? '')?.[1] ?? answer.digest;
        },
        onShouldRetry: (error) => {
            const status = error.originalResponse?.getStatus() ?? 0;
            change(id, { speed: 0 });
            if (status === 0) {
                void askServer();
            }
            return [0, 409, 423, 429, OTHER_BYTES].includes(status) || (status >= 500 && status !== FULL);
        },
        onProgress: (sent) => signal.aborted || progress(id, transfer, sent),
        onError: (error) => fail(id, error),
        onSuccess: () => signal.aborted || void check(id, transfer, answer),
    });
    transfer.upload = upload;
    const [before] = await upload.findPreviousUploads(); // from a closed page
    signal.throwIfAborted(); // paused or removed in the meantime
    if (before) {
        upload.resumeFromPreviousUpload(before);
    }
    upload.start();
}

interface Answer {
    recording: string | null;
    digest: string | null; // of what the server has received, in base64
}

/** Everything has been sent: compares the checksums, and follows the scan to see what could be read. */
async function check(id: number, transfer: Transfer, answer: Answer): Promise<void> {
    const { signal } = transfer.removed;
    try {
        change(id, {
            state: 'checking',
            done: transfer.file.size,
            speed: 0,
            ...(verifiesParts() && { hashed: transfer.file.size }),
        });
        startNext();
        if (!verifiesParts() && answer.digest && hexOf(answer.digest) !== (await startHash(id, transfer))) {
            throw new Error(uploadText.otherBytes);
        }
        if (!answer.recording) {
            change(id, { state: 'done' });
            startNext();
            return;
        }
        let recording = await get<Recording>(`/recordings/${answer.recording}`, {}, signal);
        while (recording.state === 'scanning') {
            await new Promise((done) => setTimeout(done, POLL_MS));
            recording = await get<Recording>(`/recordings/${answer.recording}`, {}, signal);
        }
        change(id, { recording: nameOf(recording), ...(await outcomeOf(recording, signal)) });
        startNext(); // a further file of the recording
    } catch (error) {
        fail(id, error);
    }
}

function hexOf(base64: string): string {
    return [...atob(base64)].map((c) => c.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}

/** What became of it: a damaged file is stored, but says what was lost. */
async function outcomeOf(recording: Recording, signal: AbortSignal): Promise<Partial<Item>> {
    if (recording.state === 'failed') {
        return { state: 'failed', problem: recording.problem ?? text.stateHelp.failed! };
    }
    if (!recording.damaged) {
        return { state: 'done' };
    }
    const scan = await get<{ lost_bytes: number; findings: { severity: string; text: string }[] }>(
        `/recordings/${recording.id}/scan`,
        {},
        signal,
    );
    const worst = scan.findings.find((finding) => finding.severity === 'loss') ?? scan.findings[0];
    return {
        state: 'partial',
        problem: uploadText.partial(recording.messages ?? 0, scan.lost_bytes, worst?.text ?? ''),
    };
}

/** Adds the chosen tags to the recording that has the same content. */
export async function addTags(id: number): Promise<void> {
    const item = itemOf(id)!;
    await patch(`/recordings/${item.recording!.id}`, { tags: item.tags });
    change(id, { tagged: true });
}

function progress(id: number, transfer: Transfer, sent: number): void {
    const now = performance.now();
    transfer.last = now;
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
    change(id, { state: 'paused', speed: 0 }); // what has been sent stays
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
    transfer?.removed.abort();
    if (item && transfer && !finished(item.state)) {
        transfer.stop.abort();
        // the server deletes expired uploads
        void transfer.upload?.abort(item.state !== 'failed').catch(() => undefined);
    }
    transfers.delete(id);
    queue.set(queue.get().filter((one) => one.id !== id));
    startNext();
}
export function clearDone(): void {
    queue.get().forEach((item) => finished(item.state) && remove(item.id));
}
