// What lies where, whether it is still whole, and copies of it.
import { useState } from 'preact/hooks';
import { followJob, get, send } from '../../api';
import { useAsk } from '../../ask';
import { bytes, count, dateTime, duration, percent } from '../../format';
import { text } from '../../text';
import { showError, showToast } from '../../toasts';
import type { Job, Stat } from '../../types';
import { Button, Failed, Progress, Spinner } from '../../ui';
import { Rows } from './rows';

interface Scrub {
    state: string;
    files?: number;
    bytes?: number;
    files_total?: number;
    corrupted?: number;
    missing?: number;
    started?: string;
    ended?: string;
    corrupted_files: { name?: string; path?: string; sha256?: string; problem?: string }[];
}

/** A button that starts work, and how far that is. */
function Work({ path, label, ended }: { path: string; label: string; ended: () => void }) {
    const [job, setJob] = useState<Job | null>(null);
    const start = async () => {
        try {
            const begun = await send<{ id: string }>('POST', path);
            if (begun?.id) {
                const stop = followJob(begun.id, (now) => {
                    setJob(now);
                    if (now.state !== 'queued' && now.state !== 'running') {
                        stop();
                        setJob(null);
                        ended();
                        showToast(now.state === 'done' ? text.admin.storage.finished(label) : (now.problem ?? now.state), undefined, now.state === 'done' ? 'info' : 'error');
                    }
                });
            }
        } catch (error) {
            showError(error);
        }
    };
    return (
        <div class="admin-work">
            <Button disabled={job !== null} onClick={() => void start()}>
                {label}
            </Button>
            {job && <Progress label={label} value={job.total > 0 ? job.done / job.total : null} />}
        </div>
    );
}

function LastScrub({ round }: { round: number }) {
    const asked = useAsk((signal) => get<Scrub>('/admin/scrub/last', {}, signal), [round]);
    const scrub = asked.value;
    if (asked.error !== null) {
        return <Failed error={asked.error} retry={asked.again} />;
    }
    if (!scrub) {
        return <Spinner />;
    }
    if (scrub.state === 'none') {
        return <p class="soft">{text.admin.storage.neverScrubbed}</p>;
    }
    const bad = (scrub.corrupted ?? 0) + (scrub.missing ?? 0);
    return (
        <>
            <p class={bad > 0 ? 'error' : ''}>
                {bad > 0 ? text.admin.storage.rot(scrub.corrupted ?? 0, scrub.missing ?? 0) : text.admin.storage.noRot(count(scrub.files), bytes(scrub.bytes))} {scrub.ended ? dateTime(scrub.ended) : text.admin.storage.soFar(percent(scrub.files ?? 0, scrub.files_total ?? 0))}
            </p>
            <ul>
                {scrub.corrupted_files.map((r, i) => (
                    <li key={i} class="mono">
                        {r.name ?? r.path ?? r.sha256} {r.problem}
                    </li>
                ))}
            </ul>
        </>
    );
}

export function Storage() {
    const stats = useAsk((signal) => get<{ items: Stat[] }>('/stats', { by: 'collection' }, signal), []);
    const service = useAsk((signal) => get<{ free_bytes: number }>('', {}, signal), []);
    const [round, setRound] = useState(0);
    if (stats.error !== null) {
        return <Failed error={stats.error} retry={stats.again} />;
    }
    return (
        <>
            <Rows
                caption={text.admin.storage.title}
                empty={text.admin.storage.none}
                rows={stats.value?.items ?? []}
                columns={[
                    { title: text.admin.storage.collection, cell: (s) => <a href={`/?q=${encodeURIComponent(`collection:"${s.name ?? ''}"`)}`}>{s.name}</a> },
                    { title: text.admin.storage.recordings, right: true, cell: (s) => count(s.recordings) },
                    { title: text.admin.storage.size, right: true, cell: (s) => bytes(s.size) },
                    { title: text.admin.storage.messages, right: true, cell: (s) => count(s.messages) },
                    { title: text.admin.storage.time, right: true, cell: (s) => duration(Math.round(s.duration_s * 1e9)) },
                ]}
            />
            {service.value && <p>{text.admin.storage.free(bytes(service.value.free_bytes))}</p>}
            <h2>{text.admin.storage.scrub}</h2>
            <p class="soft">{text.admin.storage.scrubHelp}</p>
            <LastScrub round={round} />
            <Work path="/admin/scrub" label={text.admin.storage.scrubNow} ended={() => setRound(round + 1)} />
            <h2>{text.admin.storage.backup}</h2>
            <p class="soft">{text.admin.storage.backupHelp}</p>
            <Work path="/admin/backup" label={text.admin.storage.backupNow} ended={() => setRound(round + 1)} />
        </>
    );
}
