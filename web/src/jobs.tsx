// Running jobs in the header: how many, their progress, and a button to cancel each. Polls only while jobs run.
import { useEffect, useState } from 'preact/hooks';
import { get, jobsStarted, onChange, send } from './api';
import { percent } from './format';
import { labelOf, text } from './text/common';
import { showError } from './toasts';
import type { Job } from './types';
import { Button, Progress, Spinner } from './ui';

const POLL_MS = 1500;
const t = text.jobs;
const titleOf = (job: Job) => t.title(labelOf(t.kinds, job.kind), job.subject);

/** Jobs that were running in two polls in a row: shorter ones are not worth showing. */
function useJobs(): Job[] {
    const [jobs, setJobs] = useState<Job[]>([]);
    useEffect(() => {
        const stop = new AbortController();
        let timer: ReturnType<typeof setTimeout> | undefined;
        let known = new Set<string>();
        const poll = async () => {
            timer = undefined;
            // without permission to list jobs, show none
            const all = await get<{ items: Job[] }>('/jobs', {}, stop.signal).catch(() => ({ items: [] }));
            const running = all.items.filter(
                ({ state, kind }) => (state === 'running' || state === 'queued') && kind !== 'webhook',
            ); // one that fails is tried again for days
            if (stop.signal.aborted) {
                return;
            }
            setJobs(running.filter((job) => known.has(job.id)));
            known = new Set(running.map((job) => job.id));
            if (running.length > 0) {
                timer ??= setTimeout(() => void poll(), POLL_MS); // unless a change event has set it in the meantime
            }
        };
        const soon = () => {
            timer ??= setTimeout(() => void poll(), POLL_MS / 3);
        };
        soon();
        const stops = [onChange(soon), jobsStarted.subscribe(soon)];
        return () => {
            stop.abort();
            clearTimeout(timer);
            stops.forEach((one) => one());
        };
    }, []);
    return jobs;
}

export function Jobs() {
    const jobs = useJobs();
    if (jobs.length === 0) {
        return null;
    }
    return (
        <details class="jobs">
            <summary>
                <Spinner label="" />
                {t.running(jobs.length)}
            </summary>
            <ul>
                {jobs.map((job) => (
                    <li key={job.id}>
                        <span class="ellipsis" title={job.subject}>
                            {titleOf(job)}
                            {job.state === 'running' && job.total > 0 && ` · ${percent(job.done, job.total)}`}
                        </span>
                        <Progress
                            value={job.state === 'running' && job.total > 0 ? job.done / job.total : null}
                            label={titleOf(job)}
                        />
                        <Button
                            kind="quiet"
                            icon="close"
                            label={t.cancel(titleOf(job))}
                            onClick={() => void send('DELETE', `/jobs/${job.id}`).catch(showError)}
                        />
                    </li>
                ))}
            </ul>
        </details>
    );
}
