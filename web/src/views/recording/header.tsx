// The header of a recording: name, state, actions.
import { useState } from 'preact/hooks';
import { go, href } from '../../address';
import { download, linkTo, send } from '../../api';
import { copyText } from '../../clipboard';
import { bytes, count, duration } from '../../format';
import { startText } from '../../recording_time';
import { linkKey } from '../../shared_link';
import { formatTitle, service, useRole } from '../../service';
import { useStore } from '../../store';
import { text } from '../../text/common';
import { exportText } from '../../text/export';
import { detailsText, pairText, recordingText, shareText } from '../../text/recording';
import { showError, showToast } from '../../toasts';
import type { Recording } from '../../types';
import { Badge, Button, Confirm, Field, Menu, type MenuItem } from '../../ui';
import { quoted } from '../library/query';
import { change, useDraft, type Loaded } from './annotations';
import { exportPath, subjectOf } from './export_plan';
import { detailsShown } from './remembered';

const UNREADABLE = ['failed', 'missing', 'changed'];
const CALM = ['scanning', 'recording', 'announced']; // nothing is wrong

function Name(loaded: Loaded) {
    const { recording } = loaded;
    const mayEdit = useRole('edit');
    const { draft, setDraft, button } = useDraft();
    if (draft === null) {
        return (
            <h1 class="recording-name">
                {recording.name}
                {mayEdit && (
                    <span ref={button}>
                        <Button
                            kind="quiet"
                            icon="edit"
                            label={recordingText.rename}
                            onClick={() => setDraft(recording.name)}
                        />
                    </span>
                )}
            </h1>
        );
    }
    const save = async () => (draft === recording.name || (await change(loaded, { name: draft }))) && setDraft(null);
    return (
        <form class="row recording-name" onSubmit={(event) => (event.preventDefault(), void save())}>
            <Field
                focused
                label={recordingText.name}
                hidden_label
                value={draft}
                onInput={(event) => setDraft(event.currentTarget.value)}
                onKeyDown={(event) => event.key === 'Escape' && setDraft(null)}
                class="grow"
            />
            <Button type="submit" kind="main">
                {detailsText.save}
            </Button>
            <Button onClick={() => setDraft(null)}>{text.cancel}</Button>
        </form>
    );
}

function State({ recording }: { recording: Recording }) {
    return (
        <>
            {recording.state !== 'ready' && (
                <Badge kind={CALM.includes(recording.state) ? 'accent' : 'bad'} title={text.stateHelp[recording.state]}>
                    {text.state[recording.state]}
                </Badge>
            )}
            {recording.damaged && (
                <Badge kind="warn" title={recordingText.damagedHelp(bytes(recording.lost_bytes))}>
                    {text.damaged}
                </Badge>
            )}
        </>
    );
}

export async function trash(recording: Recording, done: () => void): Promise<void> {
    try {
        await send('DELETE', `/recordings/${recording.id}`);
        showToast(recordingText.trashed(recording.name), {
            label: text.undo,
            run: () => void send('POST', `/recordings/${recording.id}/restore`).then(done, showError),
        });
        done();
    } catch (error) {
        showError(error);
    }
}

// The viewers that the server is started with.
function inViewers({ links }: Recording): MenuItem[] {
    const open = (label: string, link: string): MenuItem => ({
        label,
        icon: 'play',
        run: () => void window.open(link, '_blank', 'noopener'),
    });
    const items: MenuItem[] = [];
    if (links?.viewer) {
        const { viewer } = links;
        items.push(open(recordingText.openViewer, viewer));
        items.push({ label: recordingText.viewerLink, icon: 'link', run: () => void copyText(viewer) });
    }
    if (links?.mol) {
        items.push(open(recordingText.openMol, links.mol));
    }
    return items;
}

function useActions({ recording, reload }: Loaded, confirmPurge: () => void): MenuItem[] {
    const [mayAppend, mayEdit, mayPurge] = [useRole('upload'), useRole('edit'), useRole('admin')];
    const original = exportPath(subjectOf(recording), null, 0);
    const act = (request: Promise<unknown>, message?: string) =>
        void request.then(() => (reload(), message && showToast(message)), showError);
    const link = async () => new URL(await linkTo(original, {}, '24h'), location.origin).href;
    if (recording.state === 'recording') {
        const finish = () => act(send('POST', `/recordings/${recording.id}/finish`), recordingText.finished);
        const ends: MenuItem[] = mayAppend ? [{ label: recordingText.finish, icon: 'check', run: finish }] : [];
        return linkKey ? ends : [...inViewers(recording), ...ends];
    }
    const announced = recording.state === 'announced';
    const actions: MenuItem[] = [];
    if (!announced) {
        actions.push({
            label: recordingText.original,
            icon: 'download',
            run: () => void download(original).catch(showError),
        });
    }
    if (linkKey) {
        return actions;
    }
    if (!announced) {
        actions.push({ label: recordingText.link, icon: 'link', run: () => void copyText(link()) });
    }
    if (mayEdit && !announced) {
        actions.push({
            label: recordingText.rescan,
            icon: 'search',
            run: () => act(send('POST', `/admin/rescan/${recording.id}`), recordingText.rescanning),
        });
    }
    actions.push(...inViewers(recording));
    if (mayEdit && recording.state === 'trashed') {
        actions.push({
            label: recordingText.restore,
            icon: 'back',
            run: () => act(send('POST', `/recordings/${recording.id}/restore`)),
        });
    }
    if (mayPurge && recording.state === 'trashed') {
        actions.push({ label: recordingText.purge, icon: 'trash', danger: true, run: confirmPurge });
    }
    if (mayEdit && recording.state !== 'trashed') {
        actions.push({
            label: recordingText.toTrash,
            icon: 'trash',
            danger: true,
            run: () => void trash(recording, reload),
        });
    }
    return actions;
}

function DetailsButton() {
    const shown = useStore(detailsShown);
    return (
        <Button class="recording-details" pressed={shown} onClick={() => detailsShown.choose(!shown)}>
            {detailsText.title}
        </Button>
    );
}

interface HeaderProps {
    loaded: Loaded;
    onExport: (() => void) | null; // null: not offered
    onCompare?: (() => void) | null;
    onShare?: (() => void) | null;
}
export function Header({ loaded, onExport, onCompare = null, onShare = null }: HeaderProps) {
    const { recording } = loaded;
    const [purging, setPurging] = useState(false);
    const actions = useActions(loaded, () => setPurging(true));
    const purge = () =>
        void send('DELETE', `/recordings/${recording.id}`, { params: { purge: true } }).then(() => go('./'), showError);
    const known = useStore(service);
    const facts = [
        formatTitle(known, recording.format),
        startText(recording, 0),
        recording.messages > 0 && duration(recording.duration_ns),
        `${count(recording.messages)} ${recordingText.messages}`,
        bytes(recording.size),
    ];
    const problem =
        recording.problem || (UNREADABLE.includes(recording.state) ? text.stateHelp[recording.state] : null);
    return (
        <header class="recording-header">
            <div class="grow">
                <p class="recording-path small">
                    {linkKey ? (
                        recording.collection
                    ) : (
                        <a href={href('', { q: `collection:${quoted(recording.collection)}` })}>
                            {recording.collection}
                        </a>
                    )}
                </p>
                <Name {...loaded} />
                <p class="recording-facts small muted">
                    <State recording={recording} /> {facts.filter(Boolean).join(' · ')}
                </p>
                {problem && <p class="error recording-problem">{problem}</p>}
            </div>
            <div class="row recording-actions">
                {onExport && (
                    <Button kind="main" icon="download" onClick={onExport}>
                        {exportText.title}
                    </Button>
                )}
                {onCompare && <Button onClick={onCompare}>{pairText.compare}</Button>}
                {onShare && (
                    <Button icon="link" onClick={onShare}>
                        {shareText.button}
                    </Button>
                )}
                {recording.state !== 'trashed' && <DetailsButton />}
                <Menu items={actions} kind="plain" label={recordingText.actions} />
            </div>
            {purging && (
                <Confirm
                    title={recordingText.purgeTitle}
                    help={recordingText.purgeHelp(recording.name)}
                    button={recordingText.purge}
                    onYes={purge}
                    onClose={() => setPurging(false)}
                />
            )}
        </header>
    );
}
