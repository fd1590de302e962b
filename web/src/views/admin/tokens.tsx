// Access tokens. The first token makes login required, so it must have the role admin, and the page logs in with it.
import { useState } from 'preact/hooks';
import { logIn, send } from '../../api';
import { ago, date } from '../../format';
import { Store, useStore } from '../../store';
import { labelOf } from '../../text/common';
import { adminText } from '../../text/admin';
import { showError } from '../../toasts';
import { Badge, Button } from '../../ui';
import { Action, FormDialog, ListTable, Loaded, SecretDialog, useList, words, type Values } from './parts';

const t = adminText.tokens;

interface Token {
    id: number;
    name: string;
    role: string;
    collections: string[];
    state: string;
    created: string;
    expires: string | null;
    last_used: string | null;
    token?: string; // only in the response that creates it
}
/** The token just created. Outside the view, since logging in with the first token mounts the view again. */
const created = new Store<Token | null>(null);
const FIELDS = [
    { name: 'name', label: t.name, help: t.nameHelp },
    { name: 'role', label: t.role, options: Object.entries(t.roles) },
    { name: 'collections', label: t.collections, help: t.collectionsHelp },
    {
        name: 'expires',
        label: t.expires,
        options: [['', t.never], ...[7, 90, 365].map((n) => [`${n}d`, t.days(n)])] as [string, string][],
    },
];

export function Tokens() {
    const list = useList<Token>('/tokens', { limit: 1000 });
    const [creating, setCreating] = useState(false);
    const shown = useStore(created);
    const first = list.value?.items.length === 0;
    const create = async ({ name, role, collections, expires }: Values) => {
        const only = words(collections);
        const token = await send<Token>('POST', '/tokens', {
            body: first
                ? { name, role: 'admin' }
                : { name, role, ...(only.length > 0 ? { collections: only } : {}), ...(expires ? { expires } : {}) },
        });
        setCreating(false);
        if (first) {
            await logIn(token!.token!).catch(showError);
        } else {
            list.reload();
        }
        created.set(token);
    };
    return (
        <>
            <Loaded of={list}>
                {() => (
                    <>
                        {first && <p>{t.open}</p>}
                        <div class="row">
                            <Button kind="main" icon="plus" onClick={() => setCreating(true)}>
                                {t.create}
                            </Button>
                        </div>
                    </>
                )}
            </Loaded>
            <ListTable
                caption={t.title}
                empty={t.none}
                of={list}
                columns={[
                    { title: t.name, cell: (one) => <span class="admin-long">{one.name}</span> },
                    {
                        title: t.role,
                        cell: (one) => <Badge kind={one.role === 'admin' ? 'warn' : ''}>{one.role}</Badge>,
                    },
                    { title: t.collections, cell: (one) => one.collections.join(', ') || t.allCollections },
                    {
                        title: t.state,
                        cell: (one) =>
                            one.state === 'good' ? '' : <Badge kind="bad">{labelOf(t.states, one.state)}</Badge>,
                    },
                    { title: t.expires, cell: (one) => (one.expires ? date(one.expires) : t.never) },
                    { title: t.lastUsed, cell: (one) => (one.last_used ? ago(one.last_used) : t.neverUsed) },
                    {
                        title: '',
                        right: true,
                        cell: (one) =>
                            one.state !== 'revoked' && (
                                <Action
                                    kind="quiet"
                                    icon="trash"
                                    label={t.revoke(one.name)}
                                    confirm={{ title: t.revoke(one.name), help: t.revokeHelp, button: t.revokeButton }}
                                    run={() => send('DELETE', `/tokens/${one.id}`)}
                                    done={list.reload}
                                />
                            ),
                    },
                ]}
            />
            {creating && (
                <FormDialog
                    title={t.create}
                    help={first ? t.firstHelp : undefined}
                    button={t.create}
                    fields={first ? FIELDS.slice(0, 1) : FIELDS}
                    submit={create}
                    onClose={() => setCreating(false)}
                />
            )}
            {shown && (
                <SecretDialog
                    title={t.createdTitle(shown.name)}
                    help={t.once}
                    secret={shown.token!}
                    onClose={() => created.set(null)}
                />
            )}
        </>
    );
}
