// Storage: totals per collection, integrity check, backup.
import { useState } from 'preact/hooks';
import { ApiError, followJob, get, getPage, send } from '../../api';
import { useRequest } from '../../use_request';
import { bytes, count, dateTime, duration, percent } from '../../format';
import { useRole } from '../../service';
import { text } from '../../text';
import { showError, showToast } from '../../toasts';
import type { Job, JobStarted, Recording, Stat } from '../../types';
import { Button, Confirm, Failed, Progress, Spinner } from '../../ui';
import { SimpleTable } from './simple_table';

interface Scrub {
    state: string;
    files?: number;
    size?: number;
    files_total?: number;
    corrupted?: number;
    missing?: number;
    corrupted_packs?: number;
    started?: string;
    ended?: string;
    corrupted_files: { name?: string; path?: string; sha256?: string; problem?: string }[];
}

/** A button that starts a job and shows its progress. */
function JobButton({ path, label, ended }: { path: string; label: string; ended: () => void }) {
    const [job, setJob] = useState<Job | null>(null);
    const start = async () => {
        try {
            const started = await send<JobStarted>('POST', path);
            if (started?.job) {
                const stop = followJob(started.job.id, (now) => {
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
        <div class="admin-job">
            <Button disabled={job !== null} onClick={() => void start()}>
                {label}
            </Button>
            {job && <Progress label={label} value={job.total > 0 ? job.done / job.total : null} />}
        </div>
    );
}

function LastScrub({ refreshCount }: { refreshCount: number }) {
    const result = useRequest((signal) => get<Scrub>('/admin/scrub/last', {}, signal), [refreshCount]);
    const scrub = result.value;
    if (result.error !== null) {
        return <Failed error={result.error} retry={result.reload} />;
    }
    if (!scrub) {
        return <Spinner />;
    }
    if (scrub.state === 'none') {
        return <p class="muted">{text.admin.storage.scrubNever}</p>;
    }
    const faults = (scrub.corrupted ?? 0) + (scrub.missing ?? 0);
    return (
        <>
            <p class={faults > 0 ? 'error' : ''}>
                {faults > 0 ? text.admin.storage.notIntact(scrub.corrupted ?? 0, scrub.missing ?? 0) : text.admin.storage.intact(count(scrub.files), bytes(scrub.size))} {scrub.ended ? dateTime(scrub.ended) : text.admin.storage.checked(percent(scrub.files ?? 0, scrub.files_total ?? 0))}
            </p>
            {(scrub.corrupted_packs ?? 0) > 0 && <p class="error">{text.admin.storage.packsRebuilt(scrub.corrupted_packs ?? 0)}</p>}
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

/** The trash: how much is in it, and a button that deletes all of it permanently. */
function EmptyTrash({ done }: { done: () => void }) {
    const trash = useRequest((signal) => get<{ items: Stat[] }>('/stats', { by: 'state' }, signal), []);
    const [confirming, setConfirming] = useState(false);
    const [left, setLeft] = useState<number | null>(null);
    const mayPurge = useRole('admin');
    const found = trash.value?.items.find((stat) => stat.name === 'trashed');
    const n = found?.recordings ?? 0;
    const run = async () => {
        try {
            await emptyTrash(setLeft);
            showToast(text.admin.storage.trashEmptied);
        } catch (error) {
            showError(error);
        }
        setLeft(null);
        trash.reload();
        done();
    };
    if (!trash.value) {
        return null;
    }
    return (
        <>
            <h2>{text.admin.storage.trash}</h2>
            <p class="muted">{n > 0 ? <a href="./?q=state%3Atrashed">{text.admin.storage.inTrash(n, bytes(found?.size ?? 0))}</a> : text.library.trashEmpty}</p>
            {mayPurge && n > 0 && (
                <div class="admin-job">
                    <Button kind="danger" disabled={left !== null} onClick={() => setConfirming(true)}>
                        {text.admin.storage.emptyTrash}
                    </Button>
                    {left !== null && <Progress label={text.admin.storage.emptyTrash} value={n > 0 ? 1 - left / n : null} />}
                </div>
            )}
            {confirming && (
                <Confirm
                    title={text.admin.storage.emptyTrashTitle}
                    help={text.admin.storage.emptyTrashHelp(n)}
                    button={text.library.purge}
                    onYes={() => void run()}
                    onClose={() => setConfirming(false)}
                />
            )}
        </>
    );
}

/** Deletes what is in the trash, page by page. Recordings that were deleted or restored in the meantime are passed over. */
async function emptyTrash(report: (left: number) => void): Promise<void> {
    for (;;) {
        const page = await getPage<Recording>('/recordings', { state: 'trashed', limit: 100, count: true });
        report(page.total ?? page.items.length);
        if (page.items.length === 0) {
            return;
        }
        for (const [i, recording] of page.items.entries()) {
            await send('DELETE', `/recordings/${recording.id}`, { params: { purge: true } }).catch((error: unknown) => {
                if (!(error instanceof ApiError && error.status === 404)) {
                    throw error;
                }
            });
            report((page.total ?? page.items.length) - i - 1);
        }
    }
}

export function Storage() {
    const stats = useRequest((signal) => get<{ items: Stat[] }>('/stats', { by: 'collection' }, signal), []);
    const service = useRequest((signal) => get<{ free_bytes: number }>('', {}, signal), []);
    const mayRun = useRole('admin', true);
    if (stats.error !== null) {
        return <Failed error={stats.error} retry={stats.reload} />;
    }
    return (
        <>
            <SimpleTable
                caption={text.admin.storage.title}
                empty={text.admin.storage.none}
                rows={stats.value?.items ?? []}
                columns={[
                    { title: text.admin.storage.collection, cell: (s) => <a href={`./?q=${encodeURIComponent(`collection:"${s.name ?? ''}"`)}`}>{s.name}</a> },
                    { title: text.admin.storage.recordings, right: true, cell: (s) => count(s.recordings) },
                    { title: text.admin.storage.size, right: true, cell: (s) => bytes(s.size) },
                    { title: text.admin.storage.messages, right: true, cell: (s) => count(s.messages) },
                    { title: text.admin.storage.duration, right: true, cell: (s) => duration(Math.round(s.duration_s * 1e9)) },
                ]}
            />
            {service.value && <p>{text.admin.storage.free(bytes(service.value.free_bytes))}</p>}
            <EmptyTrash done={stats.reload} />
            {mayRun && <Maintenance />}
        </>
    );
}

function Maintenance() {
    const [refreshCount, setRefreshCount] = useState(0);
    return (
        <>
            <h2>{text.admin.storage.scrub}</h2>
            <p class="muted">{text.admin.storage.scrubHelp}</p>
            <LastScrub refreshCount={refreshCount} />
            <JobButton path="/admin/scrub" label={text.admin.storage.scrubStart} ended={() => setRefreshCount(refreshCount + 1)} />
            <h2>{text.admin.storage.backup}</h2>
            <p class="muted">{text.admin.storage.backupHelp}</p>
            <JobButton path="/admin/backup" label={text.admin.storage.backupStart} ended={() => setRefreshCount(refreshCount + 1)} />
        </>
    );
}
