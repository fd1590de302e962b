// Signed links: make one from an address of this archive or of a recording's page. They are not stored, so only the
// audit log says that one was made.
import { useState } from 'preact/hooks';
import { ROOT } from '../../address';
import { send } from '../../api';
import { dateTime } from '../../format';
import { useRole } from '../../service';
import { adminText } from '../../text/admin';
import type { AuditEntry } from '../../types';
import { Button } from '../../ui';
import { FieldError, Form, inZone, ListTable, moment, SecretDialog, useList, type Values } from './parts';

const t = adminText.links;
interface Link {
    url: string;
    expires: string;
}
const FIELDS = [
    { name: 'path', label: t.path, help: t.pathHelp },
    { name: 'expires', label: t.expires, options: Object.entries(t.lifetimes) },
];
/** The page of a recording becomes a link to that page; any other address of the archive is signed as it is. */
function requestOf({ path, expires }: Values): Promise<Link | null> {
    let url: URL;
    try {
        url = new URL(path!, location.origin);
    } catch {
        throw new FieldError('path', t.pathForm);
    }
    const [, recording] = new RegExp(`^${ROOT}recordings/([0-9a-f]{32})$`).exec(url.pathname) ?? [];
    return recording
        ? send<Link>('POST', `/recordings/${recording}/links`, { body: { expires } })
        : send<Link>('POST', '/links', { body: { path: url.pathname + url.search, expires } });
}

/** What a link opens; the audit log knows the recording, but no other address. */
function target(made: string) {
    const recording = /\/recordings\/(\w+)\/links$/.exec(made)?.[1];
    return recording ? <a href={`recordings/${recording}`}>{t.recording}</a> : t.other;
}

/** Who made links, and when. */
function Made() {
    const list = useList<AuditEntry>('/audit', { path: '/links', method: 'POST', status: '2xx', limit: 20 });
    return (
        <>
            <h2>{t.createdLinks}</h2>
            <ListTable
                caption={t.createdLinks}
                empty={t.none}
                of={list}
                columns={[
                    { title: inZone(adminText.audit.time), cell: (a) => <span class="mono">{dateTime(a.time)}</span> },
                    { title: t.to, cell: (a) => target(a.path) },
                    { title: adminText.audit.user, cell: (a) => a.caller || adminText.audit.anonymous },
                    { title: adminText.audit.address, cell: (a) => a.peer },
                ]}
            />
        </>
    );
}

export function Links() {
    const [link, setLink] = useState<Link | null>(null);
    const mayAudit = useRole('admin', true);
    const make = async (values: Values) => setLink(await requestOf(values));
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
            {mayAudit && <Made key={link?.url} />}
            {link && (
                <SecretDialog
                    title={t.created}
                    help={t.expiresAt(moment(link.expires))}
                    secret={new URL(link.url, location.origin).href}
                    onClose={() => setLink(null)}
                />
            )}
        </>
    );
}
