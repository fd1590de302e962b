// Jobs of the server: a list by kind and state, cancelled here; what a batch of changes did with each recording. The
// URL holds the filter.
import { useEffect } from 'preact/hooks';
import { send } from '../../api';
import { setQuery, useAddress } from '../../address';
import { ago } from '../../format';
import { useRole } from '../../service';
import { labelOf, text } from '../../text/common';
import { adminText } from '../../text/admin';
import type { BatchResult, Job } from '../../types';
import { Badge, Button, Check, Dialog, Select } from '../../ui';
import { isOver, outcomeText, StateBadge } from './job_parts';
import { Action, ListTable, useList } from './parts';

const t = adminText.jobs;
const POLL_MS = 3000;
const KINDS = Object.keys(text.jobs.kinds).filter((kind) => kind !== 'plan'); // each view of a recording adds plans

function Results({ id }: { id: string }) {
    const list = useList<BatchResult>(`/jobs/${encodeURIComponent(id)}/results`, { limit: 200 });
    return (
        <Dialog wide title={t.results} onClose={() => setQuery({ job: null })}>
            <ListTable
                caption={t.results}
                empty={t.noResults}
                of={list}
                columns={[
                    {
                        title: t.recording,
                        cell: (r) => (
                            <a class="admin-long" href={`recordings/${r.recording}`}>
                                {r.name || r.recording}
                            </a>
                        ),
                    },
                    { title: t.collection, cell: (r) => r.collection },
                    {
                        title: t.newName,
                        cell: (r) => r.new_name !== r.name && <span class="admin-long">{r.new_name}</span>,
                    },
                    {
                        title: t.state,
                        cell: (r) => (
                            <Badge kind={r.result === 'failed' ? 'bad' : r.result === 'changed' ? 'good' : ''}>
                                {t.resultStates[r.result]}
                            </Badge>
                        ),
                    },
                    { title: t.problem, cell: (r) => <span class="admin-reason error">{r.problem}</span> },
                ]}
            />
        </Dialog>
    );
}

export function Jobs() {
    const { query } = useAddress();
    const [kind, state, plans, shown] = [
        query.get('kind') ?? '',
        query.get('state') ?? '',
        query.has('plans'),
        query.get('job'),
    ];
    const mayCancel = useRole('edit');
    const list = useList<Job>('/jobs', { kind: kind || (plans ? null : KINDS), state: state || null, limit: 100 });
    useEffect(() => {
        if (!list.loading) {
            // after the response, so that a slow server is not asked faster than it responds
            const timer = setTimeout(list.reload, POLL_MS);
            return () => clearTimeout(timer);
        }
        return undefined;
    }, [list.loading]);
    return (
        <>
            <div class="row admin-filter">
                <Select
                    label={t.kind}
                    value={kind}
                    options={[
                        ['', adminText.all],
                        ...KINDS.map((one): [string, string] => [one, text.jobs.kinds[one]!]),
                    ]}
                    onChange={(value) => setQuery({ kind: value })}
                />
                <Select
                    label={t.state}
                    value={state}
                    options={[['', adminText.all], ...Object.entries(text.jobs.states)]}
                    onChange={(value) => setQuery({ state: value })}
                />
                <Check
                    label={t.plans}
                    checked={plans}
                    disabled={kind !== ''}
                    onChange={(on) => setQuery({ plans: on ? 'yes' : null })}
                />
            </div>
            <ListTable
                caption={t.title}
                empty={kind || state ? t.noMatch : t.none}
                of={list}
                columns={[
                    { title: t.kind, cell: (j) => labelOf(text.jobs.kinds, j.kind) },
                    { title: t.subject, cell: (j) => <span class="admin-reason">{j.subject}</span> },
                    { title: t.state, cell: (j) => <StateBadge job={j} /> },
                    { title: t.outcome, cell: (j) => outcomeText(j) },
                    { title: t.started, cell: (j) => ago(j.created) },
                    { title: t.ended, cell: (j) => (isOver(j) ? ago(j.ended) : '') },
                    {
                        title: '',
                        right: true,
                        cell: (j) => (
                            <span class="admin-actions">
                                {j.kind === 'batch' && (
                                    <Button onClick={() => setQuery({ job: j.id })}>{t.results}</Button>
                                )}
                                {mayCancel && !isOver(j) && (
                                    <Action
                                        label={text.cancel}
                                        run={() => send('DELETE', `/jobs/${j.id}`)}
                                        done={list.reload}
                                    />
                                )}
                            </span>
                        ),
                    },
                ]}
            />
            {shown && <Results id={shown} />}
        </>
    );
}
