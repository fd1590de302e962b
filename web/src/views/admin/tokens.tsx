// Tokens: who may do what. Its one rule: the first token closes the archive, so it must be an administrator's, and the page goes on with it.
import { useState } from 'preact/hooks';
import { get, logIn, send } from '../../api';
import { useAsk } from '../../ask';
import { copyText } from '../../copy';
import { ago, date } from '../../format';
import { Store, useStore } from '../../store';
import { text } from '../../text';
import { showError } from '../../toasts';
import { Badge, Button, Confirm, Dialog, Failed, Field, Select, Spinner } from '../../ui';
import { Rows } from './rows';

interface Token {
    id: number;
    name: string;
    role: string;
    collections: string[];
    state: string;
    created: string;
    expires: string | null;
    last_used: string | null;
    token?: string; // of the answer that made it only
}
/** The token that was just made. It outlives the view: the first one closes the archive, and the view is made anew for who now is logged in. */
const fresh = new Store<Token | null>(null);
const ROLES = ['read', 'upload', 'edit', 'admin'];

function Secret({ made, onClose }: { made: Token; onClose: () => void }) {
    return (
        <Dialog
            title={text.admin.tokens.madeTitle(made.name)}
            onClose={onClose}
            actions={
                <>
                    <Button icon="copy" onClick={() => void copyText(made.token!)}>
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
                {made.token}
            </p>
        </Dialog>
    );
}

function Form({ first, onMade, onClose }: { first: boolean; onMade: (made: Token) => void; onClose: () => void }) {
    const [name, setName] = useState('');
    const [role, setRole] = useState(first ? 'admin' : 'read');
    const [collections, setCollections] = useState('');
    const [expires, setExpires] = useState('');
    const make = async () => {
        try {
            const only = collections.split(/[\s,]+/).filter(Boolean);
            const made = await send<Token>('POST', '/tokens', { body: { name, role, ...(only.length > 0 ? { collections: only } : {}), ...(expires ? { expires } : {}) } });
            onMade(made!);
        } catch (error) {
            showError(error);
        }
    };
    return (
        <Dialog
            title={text.admin.tokens.make}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{text.cancel}</Button>
                    <Button kind="main" disabled={!name.trim()} onClick={() => void make()}>
                        {text.admin.tokens.make}
                    </Button>
                </>
            }
        >
            <form class="admin-form" onSubmit={(event) => (event.preventDefault(), void make())}>
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
    const asked = useAsk((signal) => get<Token[]>('/tokens', {}, signal), []);
    const [making, setMaking] = useState(false);
    const made = useStore(fresh);
    const [ending, setEnding] = useState<Token | null>(null);
    if (asked.error !== null) {
        return <Failed error={asked.error} retry={asked.again} />;
    }
    if (!asked.value) {
        return <Spinner />;
    }
    const first = asked.value.length === 0;
    const revoke = (token: Token) => void send('DELETE', `/tokens/${token.id}`).then(asked.again, showError);
    return (
        <>
            {first && <p>{text.admin.tokens.open}</p>}
            <div class="row admin-tools">
                <Button kind="main" icon="plus" onClick={() => setMaking(true)}>
                    {text.admin.tokens.make}
                </Button>
            </div>
            <Rows
                caption={text.admin.tokens.title}
                empty={text.admin.tokens.none}
                rows={asked.value}
                columns={[
                    { title: text.admin.tokens.name, cell: (t) => t.name },
                    { title: text.admin.tokens.role, cell: (t) => <Badge kind={t.role === 'admin' ? 'warn' : ''}>{t.role}</Badge> },
                    { title: text.admin.tokens.collections, cell: (t) => t.collections.join(', ') || text.admin.tokens.allCollections },
                    { title: text.admin.tokens.state, cell: (t) => (t.state === 'good' ? '' : <Badge kind="bad">{t.state}</Badge>) },
                    { title: text.admin.tokens.expires, cell: (t) => (t.expires ? date(t.expires) : text.admin.tokens.never) },
                    { title: text.admin.tokens.used, cell: (t) => (t.last_used ? ago(t.last_used) : text.admin.tokens.notYet) },
                    { title: '', right: true, cell: (t) => <Button kind="quiet" icon="trash" label={text.admin.tokens.revoke(t.name)} onClick={() => setEnding(t)} /> },
                ]}
            />
            {making && <Form first={first} onClose={() => setMaking(false)} onMade={(token) => (setMaking(false), fresh.set(token), first ? logIn(token.token!) : asked.again())} />}
            {made && <Secret made={made} onClose={() => fresh.set(null)} />}
            {ending && <Confirm title={text.admin.tokens.revoke(ending.name)} help={text.admin.tokens.revokeHelp} button={text.admin.tokens.revokeButton} onYes={() => revoke(ending)} onClose={() => setEnding(null)} />}
        </>
    );
}
