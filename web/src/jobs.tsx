// Work that goes on in the server, in the bar: how much, how far, and to be stopped. Its one rule: while nothing runs nothing is asked.
import { useEffect, useState } from 'preact/hooks';
import { began, get, onChange, send } from './api';
import { text } from './text';
import { showError } from './toasts';
import type { Job } from './types';
import { Button, Progress, Spinner } from './ui';

const AGAIN_MS = 1500;
const words = text.jobs;

/** Jobs that have been under way for more than one look: what is over at once is not worth a word. */
function useJobs(): Job[] {
    const [jobs, setJobs] = useState<Job[]>([]);
    useEffect(() => {
        const stop = new AbortController();
        let timer: ReturnType<typeof setTimeout> | undefined;
        let known = new Set<string>();
        const look = async () => {
            timer = undefined;
            const all = await get<{ items: Job[] }>('/jobs', {}, stop.signal).catch(() => ({ items: [] })); // who may not see them has none
            const running = all.items.filter((job) => job.state === 'running' || job.state === 'queued');
            if (stop.signal.aborted) {
                return;
            }
            setJobs(running.filter((job) => known.has(job.id)));
            known = new Set(running.map((job) => job.id));
            if (running.length > 0) {
                timer ??= setTimeout(() => void look(), AGAIN_MS); // a change heard meanwhile has set it already
            }
        };
        const soon = () => {
            timer ??= setTimeout(() => void look(), AGAIN_MS / 3);
        };
        soon();
        const stops = [onChange(soon), began.subscribe(soon)];
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
                {words.running(jobs.length)}
            </summary>
            <ul>
                {jobs.map((job) => (
                    <li key={job.id}>
                        <span class="ellipsis" title={job.subject}>
                            {words.what(job.kind, job.subject)}
                        </span>
                        <Progress
                            value={job.state === 'running' && job.total > 0 ? job.done / job.total : null}
                            label={words.what(job.kind, job.subject)}
                        />
                        <Button
                            kind="quiet"
                            icon="close"
                            label={words.stop(job.subject)}
                            onClick={() => void send('DELETE', `/jobs/${job.id}`).catch(showError)}
                        />
                    </li>
                ))}
            </ul>
        </details>
    );
}
