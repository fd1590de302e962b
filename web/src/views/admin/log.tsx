// Work that runs, and who did what.
import { useEffect } from 'preact/hooks';
import { get, send } from '../../api';
import { useAsk } from '../../ask';
import { ago, dateTime, percent } from '../../format';
import { text } from '../../text';
import { showError } from '../../toasts';
import type { Job } from '../../types';
import { Badge, Button, Failed, Spinner } from '../../ui';
import { Rows } from './rows';

interface Act {
    time: string;
    caller: string;
    how: string;
    peer: string;
    method: string;
    path: string;
    status: number;
    request_id: string;
}
const LOOK_MS = 3000;

export function Jobs() {
    const asked = useAsk((signal) => get<{ items: Job[] }>('/jobs', {}, signal), []);
    useEffect(() => {
        if (!asked.waiting) {
            const timer = setTimeout(asked.again, LOOK_MS); // after the answer: a slow server is not asked faster than it can say
            return () => clearTimeout(timer);
        }
        return undefined;
    }, [asked.waiting]);
    if (asked.error !== null) {
        return <Failed error={asked.error} retry={asked.again} />;
    }
    const kind = (state: string) => (state === 'failed' ? 'bad' : state === 'running' ? 'accent' : '');
    return asked.value ? (
        <Rows
            caption={text.admin.jobs.title}
            empty={text.admin.jobs.none}
            rows={asked.value.items}
            columns={[
                { title: text.admin.jobs.kind, cell: (j) => j.kind },
                { title: text.admin.jobs.subject, cell: (j) => j.subject },
                { title: text.admin.jobs.state, cell: (j) => <Badge kind={kind(j.state)}>{j.state}</Badge> },
                { title: text.admin.jobs.progress, right: true, cell: (j) => (j.state === 'running' && j.total > 0 ? percent(j.done, j.total) : '') },
                { title: text.admin.jobs.begun, cell: (j) => ago(j.created) },
                { title: text.admin.jobs.problem, cell: (j) => <span class="admin-reason error">{j.problem ?? ''}</span> },
                { title: '', right: true, cell: (j) => (j.state === 'running' || j.state === 'queued' ? <Button onClick={() => void send('DELETE', `/jobs/${j.id}`).then(asked.again, showError)}>{text.cancel}</Button> : null) },
            ]}
        />
    ) : (
        <Spinner />
    );
}

export function Audit() {
    const asked = useAsk(async (signal) => {
        const answer = await get<Act[] | { items: Act[] }>('/audit', { limit: 500 }, signal);
        return Array.isArray(answer) ? answer : answer.items;
    }, []);
    if (asked.error !== null) {
        return <Failed error={asked.error} retry={asked.again} />;
    }
    return asked.value ? (
        <Rows
            caption={text.admin.audit.title}
            empty={text.admin.audit.none}
            rows={asked.value}
            columns={[
                { title: text.admin.audit.time, cell: (a) => <span class="mono">{dateTime(a.time)}</span> },
                { title: text.admin.audit.who, cell: (a) => `${a.caller} (${a.how})` },
                { title: text.admin.audit.from, cell: (a) => a.peer },
                {
                    title: text.admin.audit.what,
                    cell: (a) => (
                        <span class="mono">
                            {a.method} {a.path}
                        </span>
                    ),
                },
                { title: text.admin.audit.status, right: true, cell: (a) => <Badge kind={a.status >= 400 ? 'bad' : 'good'}>{a.status}</Badge> },
            ]}
        />
    ) : (
        <Spinner />
    );
}
