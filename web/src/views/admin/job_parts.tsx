// What several sections show of jobs.
import { useEffect, useState } from 'preact/hooks';
import { followJob, send } from '../../api';
import { bytes, count, percent } from '../../format';
import { labelOf, text } from '../../text/common';
import { adminText } from '../../text/admin';
import { showToast } from '../../toasts';
import type { Job, JobStarted } from '../../types';
import { Badge, Progress } from '../../ui';
import { Action } from './parts';

export const isOver = (job: Job): boolean => job.state !== 'queued' && job.state !== 'running';

export function StateBadge({ job }: { job: Job }) {
    const kind =
        job.state === 'failed' ? 'bad' : job.state === 'running' ? 'accent' : job.state === 'done' ? 'good' : '';
    return (
        <>
            <Badge kind={kind}>{labelOf(text.jobs.states, job.state)}</Badge>{' '}
            {job.state === 'running' && job.total > 0 && percent(job.done, job.total)}{' '}
            {job.problem && <span class="admin-reason error">{job.problem}</span>}
        </>
    );
}

/** The counts of its outcome, without those that are 0: "3 added, 1 failed". */
export function outcomeText(job: Job): string {
    return Object.entries(job.outcome ?? {})
        .filter(([, value]) => typeof value === 'number' && value > 0)
        .map(([name, value]) => `${count(value as number)} ${labelOf(adminText.jobs.outcomes, name)}`)
        .join(', ');
}

/** What it has done so far: "3 added, 1 failed · 12 MB of 1.2 GB", or "12 of 90". */
function progressText(job: Job): string {
    const [done, total] = [job.done, job.total].map(job.kind === 'import' ? bytes : count);
    return [outcomeText(job), job.total > 0 && text.jobs.of(done!, total!)].filter(Boolean).join(' · ');
}

/** The progress of a job that was just started, with a button to cancel it; its end is also a notification. */
export function RunningJob({ id, label, ended }: { id: string; label: string; ended: () => void }) {
    const [job, setJob] = useState<Job | null>(null);
    useEffect(() => {
        const stop = followJob(id, (now) => {
            setJob(now);
            if (isOver(now)) {
                stop();
                ended();
                const outcome = outcomeText(now);
                showToast(
                    now.state === 'done'
                        ? adminText.finished(labelOf(text.jobs.kinds, now.kind)) + (outcome && `: ${outcome}`)
                        : (now.problem ?? labelOf(text.jobs.states, now.state)),
                    undefined,
                    now.state === 'failed' ? 'error' : 'info',
                );
            }
        });
        return stop;
    }, [id]);
    return (
        <div class="admin-job">
            <div class="admin-progress">
                <Progress label={label} value={job && job.total > 0 ? job.done / job.total : null} />
                <span class="small muted" role="status">
                    {job && progressText(job)}
                </span>
            </div>
            <Action label={text.cancel} run={() => send('DELETE', `/jobs/${id}`)} />
        </div>
    );
}

/** A button that starts a job and shows its progress. */
export function JobButton({
    label,
    start,
    ended,
}: {
    label: string;
    start: () => Promise<JobStarted | null>;
    ended: () => void;
}) {
    const [job, setJob] = useState<string | null>(null);
    return (
        <div class="row">
            <Action label={label} disabled={job !== null} run={async () => setJob((await start())?.job.id ?? null)} />
            {job && <RunningJob id={job} label={label} ended={() => (setJob(null), ended())} />}
        </div>
    );
}
