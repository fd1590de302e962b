// Access tokens. The first token makes login required, so it must have the role admin, and the page logs in with it.
import { useState } from 'preact/hooks';
import { getAll, logIn, send } from '../../api';
import { useRequest } from '../../use_request';
import { copyText } from '../../clipboard';
import { ago, date } from '../../format';
import { Store, useStore } from '../../store';
import { labelOf, text } from '../../text';
import { showError } from '../../toasts';
import { Badge, Button, Confirm, Dialog, Failed, Field, Select, Spinner } from '../../ui';
import { SimpleTable } from './simple_table';

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
const ROLES = ['read', 'upload', 'edit', 'admin'];

function Secret({ token, onClose }: { token: Token; onClose: () => void }) {
    return (
        <Dialog
            title={text.admin.tokens.createdTitle(token.name)}
            onClose={onClose}
            actions={
                <>
                    <Button icon="copy" onClick={() => void copyText(token.token!)}>
                        {text.admin.tokens.copy}
                    </Button>
                    <Button kind="main" onClick={onClose}>
                        {text.close}
                    </Button>
                </>
            }
        >
            <p>{text.admin.tokens.once}</p>
            <p class="admin-secret mono" tabIndex={0}>
                {token.token}
            </p>
        </Dialog>
    );
}

function Form({ first, onCreated, onClose }: { first: boolean; onCreated: (token: Token) => void; onClose: () => void }) {
    const [name, setName] = useState('');
    const [role, setRole] = useState(first ? 'admin' : 'read');
    const [collections, setCollections] = useState('');
    const [expires, setExpires] = useState('');
    const create = async () => {
        try {
            const only = collections.split(/[\s,]+/).filter(Boolean);
            const token = await send<Token>('POST', '/tokens', { body: { name, role, ...(only.length > 0 ? { collections: only } : {}), ...(expires ? { expires } : {}) } });
            onCreated(token!);
        } catch (error) {
            showError(error);
        }
    };
    return (
        <Dialog
            title={text.admin.tokens.create}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{text.cancel}</Button>
                    <Button kind="main" disabled={!name.trim()} onClick={() => void create()}>
                        {text.admin.tokens.create}
                    </Button>
                </>
            }
        >
            <form class="admin-form" onSubmit={(event) => (event.preventDefault(), void create())}>
                {first && <p>{text.admin.tokens.firstHelp}</p>}
                <Field label={text.admin.tokens.name} value={name} onInput={(event) => setName(event.currentTarget.value)} help={text.admin.tokens.nameHelp} />
                {!first && <Select label={text.admin.tokens.role} value={role} options={ROLES.map((r) => [r, text.admin.tokens.roles[r] ?? r])} onChange={setRole} />}
                {!first && <Field label={text.admin.tokens.collections} value={collections} onInput={(event) => setCollections(event.currentTarget.value)} help={text.admin.tokens.collectionsHelp} />}
                {!first && <Select label={text.admin.tokens.expires} value={expires} options={[['', text.admin.tokens.never], ['7d', text.admin.tokens.days(7)], ['90d', text.admin.tokens.days(90)], ['365d', text.admin.tokens.days(365)]]} onChange={setExpires} />}
            </form>
        </Dialog>
    );
}

export function Tokens() {
    const result = useRequest((signal) => getAll<Token>('/tokens', {}, 5000, signal), []);
    const [creating, setCreating] = useState(false);
    const shown = useStore(created);
    const [revoking, setRevoking] = useState<Token | null>(null);
    if (result.error !== null) {
        return <Failed error={result.error} retry={result.reload} />;
    }
    if (!result.value) {
        return <Spinner />;
    }
    const first = result.value.length === 0;
    const show = async (token: Token) => {
        setCreating(false);
        if (first) {
            await logIn(token.token!).catch(showError);
        } else {
            result.reload();
        }
        created.set(token);
    };
    const revoke = (token: Token) => void send('DELETE', `/tokens/${token.id}`).then(result.reload, showError);
    return (
        <>
            {first && <p>{text.admin.tokens.open}</p>}
            <div class="row admin-tools">
                <Button kind="main" icon="plus" onClick={() => setCreating(true)}>
                    {text.admin.tokens.create}
                </Button>
            </div>
            <SimpleTable
                caption={text.admin.tokens.title}
                empty={text.admin.tokens.none}
                rows={result.value}
                columns={[
                    { title: text.admin.tokens.name, cell: (t) => t.name },
                    { title: text.admin.tokens.role, cell: (t) => <Badge kind={t.role === 'admin' ? 'warn' : ''}>{t.role}</Badge> },
                    { title: text.admin.tokens.collections, cell: (t) => t.collections.join(', ') || text.admin.tokens.allCollections },
                    { title: text.admin.tokens.state, cell: (t) => (t.state === 'good' ? '' : <Badge kind="bad">{labelOf(text.admin.tokens.states, t.state)}</Badge>) },
                    { title: text.admin.tokens.expires, cell: (t) => (t.expires ? date(t.expires) : text.admin.tokens.never) },
                    { title: text.admin.tokens.lastUsed, cell: (t) => (t.last_used ? ago(t.last_used) : text.admin.tokens.neverUsed) },
                    { title: '', right: true, cell: (t) => <Button kind="quiet" icon="trash" label={text.admin.tokens.revoke(t.name)} onClick={() => setRevoking(t)} /> },
                ]}
            />
            {creating && <Form first={first} onClose={() => setCreating(false)} onCreated={(token) => void show(token)} />}
            {shown && <Secret token={shown} onClose={() => created.set(null)} />}
            {revoking && <Confirm title={text.admin.tokens.revoke(revoking.name)} help={text.admin.tokens.revokeHelp} button={text.admin.tokens.revokeButton} onYes={() => revoke(revoking)} onClose={() => setRevoking(null)} />}
        </>
    );
}
