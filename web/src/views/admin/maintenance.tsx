// Integrity check and backup: start one, its result, the last ones.
import { get, send } from '../../api';
import { ago, bytes, count, percent } from '../../format';
import { labelOf, text } from '../../text/common';
import { adminText } from '../../text/admin';
import type { Backup, Job, JobStarted, NoBackup, Scrub } from '../../types';
import { useRequest } from '../../use_request';
import { isOver, JobButton, StateBadge } from './job_parts';
import { Form, ListTable, Loaded, moment, Table, useList } from './parts';

const t = adminText.maintenance;
const SCRUB_FIELDS = [
    { name: 'rate', label: t.rate },
    { name: 'restart', label: t.restart, check: true },
];
const BACKUP_FIELDS = [{ name: 'blobs', label: t.blobs, options: Object.entries(t.blobOptions) }];

/** What it holds, and what it does not. */
function LastBackup({ backup: { name, time, recordings, files } }: { backup: Backup }) {
    return (
        <>
            <p>{t.backupLast(name, moment(time), count(recordings))}</p>
            <p class={files.kept === 'none' ? 'error' : ''}>
                {t.backupFiles[files.kept](count(files.count), bytes(files.size))}
            </p>
            {files.kept !== 'none' && files.elsewhere > 0 && (
                <p class="error">{t.backupElsewhere(count(files.elsewhere))}</p>
            )}
        </>
    );
}

function LastScrub({ scrub }: { scrub: Scrub }) {
    if (scrub.state === 'none') {
        return <p class="muted">{t.scrubNever}</p>;
    }
    const faults = (scrub.corrupted ?? 0) + (scrub.missing ?? 0);
    return (
        <>
            <p class={faults > 0 ? 'error' : ''}>
                {faults > 0
                    ? t.notIntact(scrub.corrupted ?? 0, scrub.missing ?? 0)
                    : t.intact(count(scrub.files), bytes(scrub.size))}{' '}
                {scrub.ended ? moment(scrub.ended) : t.checked(percent(scrub.files ?? 0, scrub.files_total ?? 0))}
            </p>
            {(scrub.corrupted_packs ?? 0) > 0 && <p class="error">{t.packsRebuilt(scrub.corrupted_packs ?? 0)}</p>}
            {scrub.corrupted_files.length > 0 && (
                <Table
                    caption={t.corrupted}
                    empty=""
                    rows={scrub.corrupted_files}
                    columns={[
                        { title: t.file, cell: (f) => <span class="mono">{f.sha256}</span> },
                        { title: t.problem, cell: (f) => <span class="admin-reason error">{f.problem}</span> },
                        {
                            title: t.recordings,
                            cell: (f) =>
                                f.recordings.map((r) => (
                                    <div key={r.id}>
                                        <a class="admin-long" href={`recordings/${r.id}`}>
                                            {r.collection}/{r.name}
                                        </a>
                                    </div>
                                )),
                        },
                    ]}
                />
            )}
        </>
    );
}

export function Maintenance() {
    const scrub = useRequest((signal) => get<Scrub>('/admin/scrub/last', {}, signal), []);
    const backup = useRequest((signal) => get<Backup | NoBackup>('/admin/backup/last', {}, signal), []);
    const jobs = useList<Job>('/jobs', { kind: ['backup', 'scrub'], limit: 20 });
    const start = (path: string, params: Record<string, string>) => send<JobStarted>('POST', path, { params });
    return (
        <>
            <h2>{t.backup}</h2>
            <p class="muted">{t.backupHelp}</p>
            <Loaded of={backup}>
                {(last) => <>{last.state === 'done' ? <LastBackup backup={last} /> : <p>{t.backupNone}</p>}</>}
            </Loaded>
            <Form fields={BACKUP_FIELDS} submit={async () => undefined}>
                {({ values, body }) => (
                    <div class="admin-inline">
                        {body}
                        <JobButton
                            label={t.backupStart}
                            start={() => start('/admin/backup', { blobs: values['blobs']! })}
                            ended={() => (backup.reload(), jobs.reload())}
                        />
                    </div>
                )}
            </Form>
            <p class="muted">{t.restore}</p>
            <h2>{t.scrub}</h2>
            <p class="muted">{t.scrubHelp}</p>
            <Loaded of={scrub}>{(value) => <LastScrub scrub={value} />}</Loaded>
            <Form fields={SCRUB_FIELDS} initial={{ rate: '50' }} submit={async () => undefined}>
                {({ values, body }) => (
                    <div class="admin-inline">
                        {body}
                        <JobButton
                            label={t.scrubStart}
                            start={() =>
                                start('/admin/scrub', {
                                    mb_per_second: values['rate']!,
                                    restart: String(values['restart'] === 'yes'),
                                })
                            }
                            ended={() => (scrub.reload(), jobs.reload())}
                        />
                    </div>
                )}
            </Form>
            <h2>{t.recent}</h2>
            <ListTable
                caption={t.recent}
                empty={t.recentNone}
                of={jobs}
                columns={[
                    { title: adminText.jobs.kind, cell: (j) => labelOf(text.jobs.kinds, j.kind) },
                    { title: adminText.jobs.state, cell: (j) => <StateBadge job={j} /> },
                    { title: adminText.jobs.started, cell: (j) => ago(j.created) },
                    { title: adminText.jobs.ended, cell: (j) => (isOver(j) ? ago(j.ended) : '') },
                ]}
            />
        </>
    );
}
