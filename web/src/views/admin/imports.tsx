// Watched folders and failed imports.
import { get, getPage, send } from '../../api';
import { useRequest } from '../../use_request';
import { ago, count } from '../../format';
import { labelOf, text } from '../../text';
import { showError } from '../../toasts';
import { Badge, Button, Failed, Spinner } from '../../ui';
import { SimpleTable } from './simple_table';

interface Watch {
    id: number;
    folder: string;
    collection: string;
    mode: string;
    state: string;
    note: string;
    watched_folders: number;
    waiting: number;
    queue: number;
    last_scan: { started: string | null; ended: string | null; files: number; folders: number };
}
interface Failure {
    id: number;
    path: string | null;
    recording: string | null;
    name: string | null;
    collection: string;
    code: string;
    reason: string;
    tries: number;
    last_failed: string;
}

export function Watches() {
    const result = useRequest((signal) => get<{ items: Watch[] }>('/watches', {}, signal), []);
    if (result.error !== null) {
        return <Failed error={result.error} retry={result.reload} />;
    }
    return result.value ? (
        <SimpleTable
            caption={text.admin.watches.title}
            empty={text.admin.watches.none}
            rows={result.value.items}
            columns={[
                { title: text.admin.watches.folder, cell: (w) => <span class="mono">{w.folder}</span> },
                { title: text.admin.watches.collection, cell: (w) => w.collection },
                { title: text.admin.watches.mode, cell: (w) => labelOf(text.admin.watches.modes, w.mode) },
                { title: text.admin.watches.state, cell: (w) => <Badge title={w.note}>{labelOf(text.admin.watches.states, w.state)}</Badge> },
                { title: text.admin.watches.queue, right: true, cell: (w) => `${count(w.queue)} / ${count(w.waiting)}` },
                { title: text.admin.watches.files, right: true, cell: (w) => count(w.last_scan.files) },
                { title: text.admin.watches.lastScan, cell: (w) => ago(w.last_scan.ended) },
            ]}
        />
    ) : (
        <Spinner />
    );
}

export function Failures() {
    const result = useRequest(async (signal) => {
        const page = await getPage<Failure>('/failures', { limit: 1000 }, null, signal);
        return Array.isArray(page) ? (page as Failure[]) : page.items;
    }, []);
    const act = (request: Promise<unknown>) => void request.then(result.reload, showError);
    if (result.error !== null) {
        return <Failed error={result.error} retry={result.reload} />;
    }
    return result.value ? (
        <SimpleTable
            caption={text.admin.failures.title}
            empty={text.admin.failures.none}
            rows={result.value}
            columns={[
                { title: text.admin.failures.file, cell: (f) => (f.recording ? <a href={`recordings/${f.recording}`}>{f.name ?? f.recording}</a> : <span class="mono">{f.path ?? f.name}</span>) },
                { title: text.admin.failures.collection, cell: (f) => f.collection },
                { title: text.admin.failures.reason, cell: (f) => <span class="admin-reason">{f.reason}</span> },
                { title: text.admin.failures.tries, right: true, cell: (f) => count(f.tries) },
                { title: text.admin.failures.last, cell: (f) => ago(f.last_failed) },
                {
                    title: '',
                    right: true,
                    cell: (f) => (
                        <>
                            <Button onClick={() => act(send('POST', `/failures/${f.id}/retry`))}>{text.retry}</Button> <Button kind="quiet" icon="close" label={text.admin.failures.dismiss} onClick={() => act(send('DELETE', `/failures/${f.id}`))} />
                        </>
                    ),
                },
            ]}
        />
    ) : (
        <Spinner />
    );
}
