// Sharing: the address of exactly this view, and signed links for people without access to the archive.
import { useState } from 'preact/hooks';
import { address } from '../../address';
import { send } from '../../api';
import { copyText } from '../../clipboard';
import { dateTime } from '../../format';
import type { Playback } from '../../playback';
import { toSeconds } from '../../recording_time';
import { service, type Service } from '../../service';
import { useStore } from '../../store';
import { adminText } from '../../text/admin';
import { shareText } from '../../text/recording';
import { zoneName } from '../../time_zone';
import type { RecordingLink } from '../../types';
import { Button, Dialog, Field, Select } from '../../ui';
import type { Source } from './layout/frame';
import { writeTree } from './layout/tree';
import { shownLayout } from './panel_layout';

const t = shareText;

/**
 * The parameters of the address, and what the address leaves to defaults and to this browser: the panels and the time.
 */
function viewQuery(sources: Source[], playback: Playback): URLSearchParams {
    const { query } = address.get();
    const { recording } = sources[0]!;
    const { time_ns, range, following } = playback.get();
    const full = new URLSearchParams(query);
    full.set('panels', writeTree(shownLayout(sources, query)));
    if (recording.messages > 0 && !following) {
        full.set('at', toSeconds(recording, time_ns));
    }
    if (range) {
        full.set('range', `${toSeconds(recording, range.start)}~${toSeconds(recording, range.end)}`);
    }
    return full;
}

/** A link is signed by a token, or by an admin. */
const maySign = (known: Service) => !!known && (known.caller.how !== 'proxy' || known.caller.role === 'admin');

function Address({ label, value }: { label: string; value: string }) {
    return (
        <div class="row share-address">
            <Field
                label={label}
                hidden_label
                value={value}
                readOnly
                class="grow"
                onFocus={(event) => event.currentTarget.select()}
            />
            <Button icon="copy" onClick={() => void copyText(value)}>
                {t.copy}
            </Button>
        </div>
    );
}

function SignedLink({ id, query }: { id: string; query: URLSearchParams }) {
    const [expires, setExpires] = useState('7d');
    const [made, setMade] = useState<RecordingLink | null>(null);
    const [error, setError] = useState<string | null>(null);
    const second = query.has('with');
    const create = () =>
        send<RecordingLink>('POST', `/recordings/${id}/links`, { body: { expires } }).then(
            (link) => (setMade(link), setError(null)),
            (failed: unknown) => setError((failed as Error).message),
        );
    const url = () => {
        const shown = new URLSearchParams(query);
        ['with', 'shift'].forEach((name) => shown.delete(name));
        const address = new URL(made!.url);
        address.search = shown.toString();
        return address.href;
    };
    return (
        <section class="share-part">
            <h3>{t.outside}</h3>
            <p class="muted">
                {t.outsideHelp} {second && t.firstOnly}
            </p>
            <div class="row">
                <Select
                    label={t.expires}
                    value={expires}
                    options={Object.entries(adminText.links.lifetimes)}
                    onChange={(value) => (setExpires(value), setMade(null))}
                />
                <Button kind="main" icon="link" onClick={() => void create()}>
                    {t.create}
                </Button>
            </div>
            {made && <Address label={t.outside} value={url()} />}
            {made && <p class="muted small">{t.until(`${dateTime(made.expires, 0)} ${zoneName()}`)}</p>}
            {error !== null && (
                <p class="error" role="alert">
                    {error}
                </p>
            )}
        </section>
    );
}

export function ShareDialog({
    sources,
    playback,
    onClose,
}: {
    sources: Source[];
    playback: Playback;
    onClose: () => void;
}) {
    const known = useStore(service);
    const [query] = useState(() => viewQuery(sources, playback)); // as it was when the dialog was opened
    return (
        <Dialog title={t.title} onClose={onClose}>
            <div class="share">
                <section class="share-part">
                    <h3>{t.view}</h3>
                    <p class="muted">{known?.caller.how === 'open' ? t.openHelp : t.viewHelp}</p>
                    <Address label={t.view} value={new URL(`${address.get().path}?${query}`, document.baseURI).href} />
                </section>
                {known && known.caller.how !== 'open' && maySign(known) && (
                    <SignedLink id={sources[0]!.recording.id} query={query} />
                )}
            </div>
        </Dialog>
    );
}
