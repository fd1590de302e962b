// Signed links: make one from an address of this archive. They are not stored, so only the audit log says that one was made.
import { useState } from 'preact/hooks';
import { send } from '../../api';
import { dateTime } from '../../format';
import { useRole } from '../../service';
import { text } from '../../text';
import type { AuditEntry } from '../../types';
import { Button } from '../../ui';
import { Form, inZone, ListTable, moment, SecretDialog, useList, type Values } from './parts';

const t = text.admin.links;
const FIELDS = [
    { name: 'path', label: t.path, help: t.pathHelp, placeholder: '/api/v1/recordings/ID/as/run.mcap' },
    { name: 'expires', label: t.expires, options: Object.entries(t.lifetimes) },
];
/** The path of an address: of a whole URL, too. */
function pathOf(address: string): string {
    try {
        const { pathname, search } = new URL(address, location.origin);
        return pathname + search;
    } catch {
        return address; // the server says what is wrong with it
    }
}

/** What a link opens; the audit log knows the recording, but no other address. */
function target(made: string) {
    const recording = /\/recordings\/(\w+)\/links$/.exec(made)?.[1];
    return recording ? <a href={`recordings/${recording}`}>{t.recording}</a> : t.path;
}

/** Who made links, and when. */
function Made({ of }: { of: ReturnType<typeof useList<AuditEntry>> }) {
    return (
        <>
            <h2>{t.made}</h2>
            <ListTable
                caption={t.made}
                empty={t.none}
                of={of}
                columns={[
                    { title: inZone(text.admin.audit.time), cell: (a) => <span class="mono">{dateTime(a.time)}</span> },
                    { title: t.to, cell: (a) => target(a.path) },
                    { title: text.admin.audit.user, cell: (a) => a.caller || text.admin.audit.anonymous },
                    { title: text.admin.audit.address, cell: (a) => a.peer },
                ]}
            />
        </>
    );
}
function MadeByAll() {
    return <Made of={useList<AuditEntry>('/audit', { path: '/links', method: 'POST', status: '2xx', limit: 20 })} />;
}

export function Links() {
    const [link, setLink] = useState<{ url: string; expires: string } | null>(null);
    const mayAudit = useRole('admin', true);
    const make = async ({ path, expires }: Values) => {
        setLink(await send<{ url: string; expires: string }>('POST', '/links', { body: { path: pathOf(path!), expires } }));
    };
    return (
        <>
            <p class="muted">{t.help}</p>
            <Form fields={FIELDS} submit={make}>
                {({ busy, send: submit, body }) => (
                    <div class="admin-inline">
                        {body}
                        <div class="row">
                            <Button kind="main" icon="link" disabled={busy} onClick={() => submit()}>
                                {t.create}
                            </Button>
                        </div>
                    </div>
                )}
            </Form>
            {mayAudit && <MadeByAll key={link?.url} />}
            {link && <SecretDialog title={t.created} help={t.expiresAt(moment(link.expires))} secret={new URL(link.url, location.origin).href} onClose={() => setLink(null)} />}
        </>
    );
}
