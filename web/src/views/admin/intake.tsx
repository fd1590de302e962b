// What comes in by itself, and what could not be taken in.
import { get, getPage, send } from '../../api';
import { useAsk } from '../../ask';
import { ago, count } from '../../format';
import { text } from '../../text';
import { showError } from '../../toasts';
import { Badge, Button, Failed, Spinner } from '../../ui';
import { Rows } from './rows';

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
    last: string;
}

export function Watches() {
    const asked = useAsk((signal) => get<{ items: Watch[] }>('/watches', {}, signal), []);
    if (asked.error !== null) {
        return <Failed error={asked.error} retry={asked.again} />;
    }
    return asked.value ? (
        <Rows
            caption={text.admin.watches.title}
            empty={text.admin.watches.none}
            rows={asked.value.items}
            columns={[
                { title: text.admin.watches.folder, cell: (w) => <span class="mono">{w.folder}</span> },
                { title: text.admin.watches.collection, cell: (w) => w.collection },
                { title: text.admin.watches.mode, cell: (w) => w.mode },
                { title: text.admin.watches.state, cell: (w) => <Badge title={w.note}>{w.state}</Badge> },
                { title: text.admin.watches.queue, right: true, cell: (w) => `${count(w.queue)} / ${count(w.waiting)}` },
                { title: text.admin.watches.files, right: true, cell: (w) => count(w.last_scan.files) },
                { title: text.admin.watches.seen, cell: (w) => ago(w.last_scan.ended) },
            ]}
        />
    ) : (
        <Spinner />
    );
}

export function Failures() {
    const asked = useAsk(async (signal) => {
        const page = await getPage<Failure>('/failures', { limit: 1000 }, null, signal);
        return Array.isArray(page) ? (page as Failure[]) : page.items;
    }, []);
    const act = (what: Promise<unknown>) => void what.then(asked.again, showError);
    if (asked.error !== null) {
        return <Failed error={asked.error} retry={asked.again} />;
    }
    return asked.value ? (
        <Rows
            caption={text.admin.failures.title}
            empty={text.admin.failures.none}
            rows={asked.value}
            columns={[
                { title: text.admin.failures.file, cell: (f) => (f.recording ? <a href={`/recordings/${f.recording}`}>{f.name ?? f.recording}</a> : <span class="mono">{f.path ?? f.name}</span>) },
                { title: text.admin.failures.collection, cell: (f) => f.collection },
                { title: text.admin.failures.reason, cell: (f) => <span class="admin-reason">{f.reason}</span> },
                { title: text.admin.failures.tries, right: true, cell: (f) => count(f.tries) },
                { title: text.admin.failures.last, cell: (f) => ago(f.last) },
                {
                    title: '',
                    right: true,
                    cell: (f) => (
                        <>
                            <Button onClick={() => act(send('POST', `/failures/${f.id}/retry`))}>{text.retry}</Button> <Button kind="quiet" icon="close" label={text.admin.failures.forget} onClick={() => act(send('DELETE', `/failures/${f.id}`))} />
                        </>
                    ),
                },
            ]}
        />
    ) : (
        <Spinner />
    );
}
