// The audit log: who sent which request. The URL holds the filter.
import { setQuery, useAddress } from '../../address';
import { dateTime } from '../../format';
import { adminText } from '../../text/admin';
import type { AuditEntry } from '../../types';
import { Badge, Field, Select } from '../../ui';
import { inZone, ListTable, useList } from './parts';

const t = adminText.audit;
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET'];
const both = (one: string): [string, string] => [one, one];

function Status({ status }: { status: number }) {
    const answered = status > 0;
    return (
        <Badge kind={!answered ? 'warn' : status >= 400 ? 'bad' : 'good'} title={answered ? undefined : t.noAnswerHelp}>
            {answered ? status : t.noAnswer}
        </Badge>
    );
}

export function Audit() {
    const { query } = useAddress();
    const of = (name: string) => query.get(name) ?? '';
    const list = useList<AuditEntry>('/audit', {
        limit: 100,
        ...Object.fromEntries(['caller', 'path', 'method', 'status', 'start'].map((name) => [name, of(name) || null])),
    });
    const field = (name: string, label: string) => (
        <Field
            label={label}
            value={of(name)}
            onInput={(event) => setQuery({ [name]: event.currentTarget.value }, true)}
        />
    );
    const choice = (name: string, label: string, options: [string, string][]) => (
        <Select
            label={label}
            value={of(name)}
            options={[['', adminText.all], ...options]}
            onChange={(value) => setQuery({ [name]: value })}
        />
    );
    return (
        <>
            <div class="row admin-filter">
                {field('caller', t.user)}
                {choice('method', t.method, METHODS.map(both))}
                {field('path', t.path)}
                {choice('status', t.status, Object.entries(t.statuses))}
                {choice('start', t.since, Object.entries(t.spans))}
            </div>
            <ListTable
                caption={t.title}
                empty={query.size > 0 ? t.noMatch : t.none}
                of={list}
                columns={[
                    { title: inZone(t.time), cell: (a) => <span class="mono">{dateTime(a.time)}</span> },
                    {
                        title: t.user,
                        cell: (a) => (a.how === 'open' || !a.caller ? t.anonymous : `${a.caller} (${a.how})`),
                    },
                    { title: t.address, cell: (a) => a.peer },
                    {
                        title: t.request,
                        cell: (a) => (
                            <span class="mono admin-long">
                                {a.method} {a.path}
                            </span>
                        ),
                    },
                    { title: t.status, right: true, cell: (a) => <Status status={a.status} /> },
                ]}
            />
        </>
    );
}
