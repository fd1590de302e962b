// Webhooks: add one, test it, see its last deliveries. The one whose deliveries are shown is in the URL.
import { useState } from 'preact/hooks';
import { get, send } from '../../api';
import { setQuery, useAddress } from '../../address';
import { dateTime } from '../../format';
import { adminText } from '../../text/admin';
import type { Webhook, WebhookDetail, WebhookNew, WebhookTest } from '../../types';
import { Badge, Button, Dialog } from '../../ui';
import { useRequest } from '../../use_request';
import {
    Action,
    FormDialog,
    inZone,
    ListTable,
    Loaded,
    moment,
    SecretDialog,
    Table,
    useList,
    words,
    type Values,
} from './parts';

const t = adminText.webhooks;
const FIELDS = [
    { name: 'url', label: t.url, placeholder: 'https://example.org/hook' },
    { name: 'events', label: t.events, help: t.eventsHelp },
    { name: 'collections', label: t.collections, help: adminText.tokens.collectionsHelp },
    { name: 'secret', label: t.secret, help: t.secretHelp },
];
const INITIAL = { events: 'recording.created scan.failed recording.trashed' };

function State({ hook }: { hook: Webhook }) {
    if (hook.failed_tries > 0) {
        return (
            <>
                <Badge kind="bad">{t.failing(hook.failed_tries)}</Badge>
                {hook.next_try && <div class="muted">{t.nextTry(moment(hook.next_try))}</div>}
            </>
        );
    }
    return hook.delivered > 0 ? <Badge kind="good">{t.good}</Badge> : <Badge>{t.fresh}</Badge>;
}

/** The result of an attempt: its status, or why there is none. */
function Result({ status, took_ms, problem }: { status: number; took_ms: number; problem: string }) {
    return (
        <>
            <Badge kind={problem ? 'bad' : 'good'}>{status || t.noAnswer}</Badge>{' '}
            <span class="muted">{t.took(took_ms)}</span> {problem && <span class="admin-reason error">{problem}</span>}
        </>
    );
}

function Deliveries({ id }: { id: string }) {
    const hook = useRequest((signal) => get<WebhookDetail>(`/webhooks/${encodeURIComponent(id)}`, {}, signal), [id]);
    return (
        <Dialog wide title={t.deliveries} onClose={() => setQuery({ webhook: null })}>
            <Loaded of={hook}>
                {({ url, results }) => (
                    <>
                        <p class="mono admin-long">{url}</p>
                        <Table
                            caption={t.deliveries}
                            empty={t.noDeliveries}
                            rows={results}
                            columns={[
                                {
                                    title: inZone(adminText.audit.time),
                                    cell: (r) => <span class="mono">{dateTime(r.time)}</span>,
                                },
                                { title: t.change, right: true, cell: (r) => r.seq },
                                { title: t.result, cell: (r) => <Result {...r} /> },
                            ]}
                        />
                    </>
                )}
            </Loaded>
        </Dialog>
    );
}

export function Webhooks() {
    const list = useList<Webhook>('/webhooks');
    const [adding, setAdding] = useState(false);
    const [added, setAdded] = useState<WebhookNew | null>(null);
    const [tests, setTests] = useState<Record<number, WebhookTest>>({});
    const shown = useAddress().query.get('webhook');
    const add = async ({ url, events, collections, secret }: Values) => {
        setAdded(
            await send<WebhookNew>('POST', '/webhooks', {
                body: { url, events: words(events), collections: words(collections), ...(secret ? { secret } : {}) },
            }),
        );
        setAdding(false);
        list.reload();
    };
    const test = async (id: number) => {
        const result = await send<WebhookTest>('POST', `/webhooks/${id}/test`);
        setTests((all) => ({ ...all, [id]: result! }));
    };
    return (
        <>
            <div class="row">
                <Button kind="main" icon="plus" onClick={() => setAdding(true)}>
                    {t.add}
                </Button>
            </div>
            <ListTable
                caption={t.title}
                empty={t.none}
                of={list}
                columns={[
                    {
                        title: t.url,
                        cell: (w) => (
                            <>
                                <span class="mono admin-long">{w.url}</span>
                                <div class="admin-result" role="status">
                                    {tests[w.id] && <Result {...tests[w.id]!} />}
                                </div>
                            </>
                        ),
                    },
                    { title: t.state, cell: (w) => <State hook={w} /> },
                    {
                        title: t.events,
                        cell: (w) => <span class="admin-reason">{t.what(w.events, w.collections)}</span>,
                    },
                    { title: t.delivered, right: true, cell: (w) => t.counts(w.delivered, w.dropped) },
                    {
                        title: '',
                        right: true,
                        cell: (w) => (
                            <span class="admin-actions">
                                <Action label={t.test} run={() => test(w.id)} />
                                <Button onClick={() => setQuery({ webhook: w.id })}>{t.deliveries}</Button>
                                <Action
                                    kind="quiet"
                                    icon="trash"
                                    label={t.remove(w.url)}
                                    confirm={{
                                        title: t.removeTitle,
                                        help: t.removeHelp(w.url),
                                        button: t.removeButton,
                                    }}
                                    run={() => send('DELETE', `/webhooks/${w.id}`)}
                                    done={list.reload}
                                />
                            </span>
                        ),
                    },
                ]}
            />
            {adding && (
                <FormDialog
                    title={t.add}
                    button={t.add}
                    fields={FIELDS}
                    initial={INITIAL}
                    submit={add}
                    onClose={() => setAdding(false)}
                />
            )}
            {added && (
                <SecretDialog
                    title={t.secretOf}
                    help={t.secretOnce}
                    secret={added.secret}
                    onClose={() => setAdded(null)}
                />
            )}
            {shown && <Deliveries id={shown} />}
        </>
    );
}
