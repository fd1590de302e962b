// Changes of many recordings by one job: what would change, the job, its results, and how to take it back.
import { followJob, get, getAll, patch, send } from '../../api';
import { text } from '../../text/common';
import { libraryText } from '../../text/library';
import { showError, showToast } from '../../toasts';
import type { BatchPlan, BatchResult, Job, JobStarted, Recording } from '../../types';
import { MOST, type Selection } from './selection';

const t = libraryText;
export type Action = 'tag' | 'move' | 'trash' | 'restore';
export interface Batch {
    action: 'change' | 'trash' | 'restore';
    ids?: string[];
    q?: string;
    collection?: string;
    name?: string;
    tags?: Record<string, string | null>;
}

/** The selection as a batch names it: by the search, or by ids if the search has dates, which a batch does not know. */
export async function targetOf({ ids, search }: Selection, signal: AbortSignal): Promise<Pick<Batch, 'ids' | 'q'>> {
    if (!search) {
        return { ids: [...ids.keys()] };
    }
    if (search.start || search.end) {
        return { ids: (await getAll<Recording>('/recordings', { ...search }, MOST + 1, signal)).map((row) => row.id) };
    }
    return { q: search.q ?? '-state:trashed' }; // a batch needs a search that is not empty
}

export async function foresee(batch: Batch, signal: AbortSignal): Promise<BatchPlan> {
    return (await send<BatchPlan>('POST', '/recordings:batch', { params: { dry_run: true }, body: batch, signal }))!;
}

/** Starts the job and waits for its end. */
async function run(batch: Batch, onProgress: (job: Job) => void): Promise<BatchResult[]> {
    const { job } = (await send<JobStarted>('POST', '/recordings:batch', { body: batch }))!;
    const ended = await new Promise<Job>((done) => {
        const stop = followJob(job.id, (state) => {
            onProgress(state);
            if (state.state !== 'queued' && state.state !== 'running') {
                stop();
                done(state);
            }
        });
    });
    if (ended.state === 'failed') {
        throw new Error(ended.problem ?? text.jobs.states.failed!);
    }
    return getAll<BatchResult>(`/jobs/${job.id}/results`, {}, MOST);
}

const OPPOSITE = { trash: 'restore', restore: 'trash' } as const;
const UNDONE_MAX = 100; // recordings whose tags and names are put back, one by one

/** The recordings before a change; null: too many to take it back. */
async function rowsBefore({ ids, search, count }: Selection): Promise<Recording[] | null> {
    if (count > UNDONE_MAX) {
        return null;
    }
    return search
        ? getAll<Recording>('/recordings', { ...search }, UNDONE_MAX)
        : Promise.all([...ids.keys()].map((id) => get<Recording>(`/recordings/${id}`)));
}

async function putBack(before: readonly Recording[], batch: Batch): Promise<void> {
    for (const { id, collection, name, tags } of before) {
        const old = batch.tags && Object.fromEntries(Object.keys(batch.tags).map((key) => [key, tags[key] ?? null]));
        await patch(`/recordings/${id}`, {
            ...(batch.collection || batch.name ? { collection, name } : {}),
            ...(old ? { tags: old } : {}),
        });
    }
    showToast(t.batch.undone(before.length));
}

/**
 * Carries the batch out and says what was done, with an undo where there is one. Returns those that could not be
 * changed.
 */
export async function carryOut(
    action: Action,
    batch: Batch,
    selection: Selection | null,
    onProgress: (job: Job) => void,
): Promise<BatchResult[]> {
    const before = selection && batch.action === 'change' ? await rowsBefore(selection) : null;
    const results = await run(batch, onProgress);
    const changed = results.filter((one) => one.result === 'changed').map((one) => one.recording);
    const undo = () => {
        const back = action === 'trash' || action === 'restore' ? OPPOSITE[action] : null;
        const done: Promise<unknown> = back
            ? carryOut(back, { action: back, ids: changed }, null, () => undefined)
            : putBack(
                  before!.filter((row) => changed.includes(row.id)),
                  batch,
              );
        void done.catch(showError);
    };
    showToast(
        t.batch[action].done(changed.length),
        changed.length > 0 && (batch.action !== 'change' || before) ? { label: text.undo, run: undo } : undefined,
    );
    return results.filter((one) => one.result === 'failed');
}
