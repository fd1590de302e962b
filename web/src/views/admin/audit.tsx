// The audit log: who sent which request.
import { getPage } from '../../api';
import { dateTime } from '../../format';
import { zoneName } from '../../time_zone';
import { text } from '../../text';
import { Badge, Failed, Spinner } from '../../ui';
import { useRequest } from '../../use_request';
import { SimpleTable } from './simple_table';

interface Entry {
    time: string;
    caller: string;
    how: string;
    peer: string;
    method: string;
    path: string;
    status: number;
    request_id: string;
}
function Status({ status }: { status: number }) {
    const answered = status > 0;
    return (
        <Badge kind={!answered ? 'warn' : status >= 400 ? 'bad' : 'good'} title={answered ? undefined : text.admin.audit.noAnswerHelp}>
            {answered ? status : text.admin.audit.noAnswer}
        </Badge>
    );
}

export function Audit() {
    const result = useRequest(async (signal) => (await getPage<Entry>('/audit', { limit: 500 }, null, signal)).items, []);
    if (result.error !== null) {
        return <Failed error={result.error} retry={result.reload} />;
    }
    return result.value ? (
        <SimpleTable
            caption={text.admin.audit.title}
            empty={text.admin.audit.none}
            rows={result.value}
            columns={[
                { title: text.zone.in(text.admin.audit.time, zoneName()), cell: (a) => <span class="mono">{dateTime(a.time)}</span> },
                { title: text.admin.audit.user, cell: (a) => (a.how === 'open' || !a.caller ? text.admin.audit.anonymous : `${a.caller} (${a.how})`) },
                { title: text.admin.audit.address, cell: (a) => a.peer },
                {
                    title: text.admin.audit.request,
                    cell: (a) => (
                        <span class="mono">
                            {a.method} {a.path}
                        </span>
                    ),
                },
                { title: text.admin.audit.status, right: true, cell: (a) => <Status status={a.status} /> },
            ]}
        />
    ) : (
        <Spinner />
    );
}
