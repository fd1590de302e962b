// Changes of many recordings by one job: what would change, the job, its results, and how to take it back.
import { followJob, getAll, send } from '../../api';
import { text } from '../../text';
import { showError, showToast } from '../../toasts';
import type { BatchPlan, BatchResult, Job, JobStarted, Recording } from '../../types';
import { MOST, type Selection } from './selection';

const t = text.library;
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

/** Carries the batch out and says what was done, with an undo where there is one. Returns those that could not be changed. */
export async function carryOut(action: Action, batch: Batch, onProgress: (job: Job) => void): Promise<BatchResult[]> {
    const results = await run(batch, onProgress);
    const changed = results.filter((one) => one.result === 'changed').map((one) => one.recording);
    const back = action === 'trash' || action === 'restore' ? OPPOSITE[action] : null;
    const undo = () => void carryOut(back!, { action: back!, ids: changed }, () => undefined).catch(showError);
    showToast(t.batch[action].done(changed.length), back && changed.length > 0 ? { label: text.undo, run: undo } : undefined);
    return results.filter((one) => one.result === 'failed');
}
