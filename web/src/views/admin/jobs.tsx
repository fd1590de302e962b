// Jobs of the server.
import { useEffect, useState } from 'preact/hooks';
import { get, send } from '../../api';
import { useRequest } from '../../use_request';
import { ago, percent } from '../../format';
import { useRole } from '../../service';
import { labelOf, text } from '../../text';
import { showError } from '../../toasts';
import type { Job } from '../../types';
import { Badge, Button, Check, Failed, Spinner } from '../../ui';
import { SimpleTable } from './simple_table';

const POLL_MS = 3000;
const KINDS = Object.keys(text.jobs.kinds).filter((kind) => kind !== 'plan'); // each view of a recording adds plans

export function Jobs() {
    const [plans, setPlans] = useState(false);
    const mayCancel = useRole('edit');
    const result = useRequest((signal) => get<{ items: Job[] }>('/jobs', plans ? {} : { kind: KINDS }, signal), [plans]);
    useEffect(() => {
        if (!result.loading) {
            const timer = setTimeout(result.reload, POLL_MS); // after the response, so that a slow server is not asked faster than it responds
            return () => clearTimeout(timer);
        }
        return undefined;
    }, [result.loading]);
    if (result.error !== null) {
        return <Failed error={result.error} retry={result.reload} />;
    }
    const kind = (state: string) => (state === 'failed' ? 'bad' : state === 'running' ? 'accent' : '');
    return result.value ? (
        <>
            <Check label={text.admin.jobs.plans} checked={plans} onChange={setPlans} />
            <SimpleTable
                caption={text.admin.jobs.title}
                empty={text.admin.jobs.none}
                rows={result.value.items}
                columns={[
                    { title: text.admin.jobs.kind, cell: (j) => labelOf(text.jobs.kinds, j.kind) },
                    { title: text.admin.jobs.subject, cell: (j) => j.subject },
                    { title: text.admin.jobs.state, cell: (j) => <Badge kind={kind(j.state)}>{labelOf(text.jobs.states, j.state)}</Badge> },
                    { title: text.admin.jobs.progress, right: true, cell: (j) => (j.state === 'running' && j.total > 0 ? percent(j.done, j.total) : '') },
                    { title: text.admin.jobs.started, cell: (j) => ago(j.created) },
                    { title: text.admin.jobs.problem, cell: (j) => <span class="admin-reason error">{j.problem ?? ''}</span> },
                    { title: '', right: true, cell: (j) => (mayCancel && (j.state === 'running' || j.state === 'queued') ? <Button onClick={() => void send('DELETE', `/jobs/${j.id}`).then(result.reload, showError)}>{text.cancel}</Button> : null) },
                ]}
            />
        </>
    ) : (
        <Spinner />
    );
}
