// Imports of files on the server: a preview, the import as a job, the last ones; and the watched folders.
import { useState } from 'preact/hooks';
import { send } from '../../api';
import { ago, bytes, count } from '../../format';
import { service, useRole } from '../../service';
import { useStore } from '../../store';
import { labelOf } from '../../text/common';
import { adminText } from '../../text/admin';
import { uploadText } from '../../text/upload';
import type { ImportItem, Job, JobStarted, Watch } from '../../types';
import { Badge, Button } from '../../ui';
import { parseTags } from '../upload/tags';
import { outcomeText, RunningJob, StateBadge } from './job_parts';
import { FieldError, Form, ListTable, Table, useList, type Rows, type Values } from './parts';

const t = adminText.imports;
const fieldsFor = (roots: string[]) => [
    { name: 'path', label: t.path, help: t.pathHelp, placeholder: '2024/may', choices: roots },
    { name: 'glob', label: t.glob, help: t.globHelp, placeholder: '*.bag' },
    { name: 'collection', label: t.collection, placeholder: 'default' },
    { name: 'mode', label: t.mode, options: Object.entries(t.modes) },
    { name: 'tags', label: t.tags, help: t.tagsHelp, placeholder: 'robot:r1' },
    { name: 'replace', label: t.replace, check: true },
];

function bodyOf({ path, glob, collection, mode, tags, replace }: Values): Record<string, unknown> {
    const pairs = parseTags(tags ?? '');
    if (!pairs) {
        throw new FieldError('tags', uploadText.tagForm);
    }
    const where = path?.startsWith('s3://') ? { url: path } : path ? { path } : {};
    const names = glob || (path ? '' : '*');
    return {
        ...where,
        ...(names ? { glob: names } : {}),
        ...(collection ? { collection } : {}),
        mode,
        ...(Object.keys(pairs).length > 0 ? { tags: pairs } : {}),
        ...(replace ? { replace: true } : {}),
    };
}

function Preview({ found }: { found: Rows<ImportItem> }) {
    return (
        <>
            <p role="status">
                {t.found(
                    found.items.filter((item) => item.outcome === 'would_take').length,
                    bytes(found.items.reduce((sum, item) => sum + (item.outcome === 'would_take' ? item.size : 0), 0)),
                    Boolean(found.next),
                )}
            </p>
            <Table
                caption={t.preview}
                empty={t.foundNone}
                rows={found.items}
                columns={[
                    { title: t.files, cell: (i) => <span class="admin-long mono">{i.files.join(', ')}</span> },
                    {
                        title: t.outcome,
                        cell: (i) => (
                            <Badge kind={i.outcome === 'failed' ? 'bad' : ''}>{labelOf(t.outcomes, i.outcome)}</Badge>
                        ),
                    },
                    {
                        title: t.name,
                        cell: (i) =>
                            i.name && (
                                <span class="admin-long">{i.name_taken ? `${i.name} (${t.taken})` : i.name}</span>
                            ),
                    },
                    { title: adminText.storage.size, right: true, cell: (i) => bytes(i.size) },
                    {
                        title: adminText.jobs.problem,
                        cell: (i) => <span class="admin-reason error">{i.problem ?? ''}</span>,
                    },
                ]}
            />
        </>
    );
}

export function Imports() {
    const last = useList<Job>('/jobs', { kind: 'import', limit: 20 });
    const mayImport = useRole('edit');
    const roots = useStore(service)?.import_roots ?? [];
    const [found, setFound] = useState<Rows<ImportItem> | null>(null);
    const [job, setJob] = useState<string | null>(null);
    const start = async (values: Values) => {
        const started = await send<JobStarted>('POST', '/imports', { body: bodyOf(values) });
        setFound(null);
        setJob(started!.job.id);
        last.reload();
    };
    const preview = async (values: Values) => {
        setFound(
            await send<Rows<ImportItem>>('POST', '/imports', {
                params: { limit: 200 },
                body: { ...bodyOf(values), dry_run: true },
            }),
        );
    };
    return (
        <>
            {mayImport && roots.length === 0 && <p class="muted">{t.noRoots}</p>}
            {mayImport && roots.length > 0 && (
                <Form fields={fieldsFor(roots)} submit={preview}>
                    {({ busy, send: submit, body }) => (
                        <div class="admin-inline">
                            {body}
                            <div class="row">
                                <Button disabled={busy} onClick={() => submit()}>
                                    {t.preview}
                                </Button>
                                <Button kind="main" disabled={busy || job !== null} onClick={() => submit(start)}>
                                    {t.start}
                                </Button>
                            </div>
                        </div>
                    )}
                </Form>
            )}
            {job && <RunningJob id={job} label={t.start} ended={() => (setJob(null), last.reload())} />}
            {found && <Preview found={found} />}
            <h2>{t.last}</h2>
            <ListTable
                caption={t.last}
                empty={t.none}
                of={last}
                columns={[
                    { title: adminText.jobs.subject, cell: (j) => <span class="mono">{j.subject}</span> },
                    { title: adminText.jobs.state, cell: (j) => <StateBadge job={j} /> },
                    { title: t.result, cell: (j) => outcomeText(j) },
                    { title: adminText.jobs.started, cell: (j) => ago(j.created) },
                ]}
            />
        </>
    );
}

export function Watches() {
    const list = useList<Watch>('/watches');
    const w = adminText.watches;
    return (
        <ListTable
            caption={w.title}
            empty={w.none}
            of={list}
            columns={[
                { title: w.folder, cell: (one) => <span class="mono">{one.folder}</span> },
                { title: w.collection, cell: (one) => one.collection },
                { title: w.mode, cell: (one) => labelOf(w.modes, one.mode) },
                {
                    title: w.state,
                    cell: (one) => (
                        <>
                            <Badge kind={one.state === 'unreadable' ? 'bad' : ''}>{labelOf(w.states, one.state)}</Badge>{' '}
                            {one.note}
                        </>
                    ),
                },
                { title: w.queue, right: true, cell: (one) => `${count(one.queue)} / ${count(one.waiting)}` },
                { title: w.files, right: true, cell: (one) => count(one.last_scan.files) },
                { title: w.added, right: true, cell: (one) => count(one.counts.created) },
                {
                    title: w.failed,
                    right: true,
                    cell: (one) =>
                        one.counts.failed > 0 ? <a href="admin/failures">{count(one.counts.failed)}</a> : '0',
                },
                { title: w.lastScan, cell: (one) => ago(one.last_scan.ended) },
            ]}
        />
    );
}
