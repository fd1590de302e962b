// The view of a recording: header, timeline, panels, sidebar.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { address, setQuery, useAddress } from '../../address';
import { ApiError, onChange, send } from '../../api';
import { useRequest } from '../../use_request';
import { frameSteps } from '../../frames';
import { Playback } from '../../playback';
import type { Panel, PanelProps } from '../../panels';
import { text } from '../../text';
import { boundsOf, fromSeconds, toSeconds } from '../../recording_time';
import { showError } from '../../toasts';
import type { Recording, Topic } from '../../types';
import { Button, EmptyState, Failed, ErrorBoundary, Menu, Spinner } from '../../ui';
import { Details } from './details';
import { loadEvents } from './events';
import { useKeys } from './keys';
import { loadRecording } from './load';
import { openingTime } from './opening';
import { Header } from './header';
import { availablePanels, setSettings, settingsOf, setPanels, shownPanels } from './panel_layout';
import type { Loaded } from './annotations';
import { Player } from './player';
import { ExportDialog } from './export';
import { Timeline } from './timeline';

/** The playback state, initialized from the URL; written back to the URL when it rests. */
function useRecordingPlayback(recording: Recording, opening: bigint | null): Playback {
    const bounds = boundsOf(recording);
    const playback = useMemo(() => {
        const created = new Playback(bounds, opening ?? bounds.start);
        const query = new URLSearchParams(location.search);
        const [from, to] = (query.get('range') ?? '').split('~');
        if (from && to) {
            created.setRange({ start: fromSeconds(recording, from), end: fromSeconds(recording, to) });
        }
        const at = query.get('at');
        if (at) {
            created.seek(fromSeconds(recording, at));
        }
        return created;
    }, [recording.id, bounds.start, bounds.end]);
    useEffect(() => {
        let timer: ReturnType<typeof setTimeout>;
        const keep = () => {
            const { time_ns, range, playing } = playback.get();
            if (!playing && address.get().path.startsWith('recordings/')) {
                const at = time_ns === opening ? null : toSeconds(recording, time_ns);
                setQuery({ at, range: range && `${toSeconds(recording, range.start)}~${toSeconds(recording, range.end)}` }, true);
            }
        };
        const stop = playback.subscribe(() => {
            clearTimeout(timer);
            timer = setTimeout(keep, 300);
        });
        return () => {
            stop();
            clearTimeout(timer);
            playback.pause();
        };
    }, [playback]);
    return playback;
}

function PanelFrame({ panel, onClose, ...shared }: Omit<PanelProps, 'settings' | 'onSettings'> & { panel: Panel; onClose: () => void }) {
    const { query } = useAddress();
    return (
        <section class={`panel panel-${panel.name}`} aria-label={panel.title}>
            <header class="panel-head">
                <h2>{panel.title}</h2>
                <Button kind="quiet" icon="close" label={text.recording.closePanel(panel.title)} onClick={onClose} />
            </header>
            <div class="panel-body">
                <ErrorBoundary>
                    <panel.Panel {...shared} settings={settingsOf(panel.name, query)} onSettings={(changes) => setSettings(panel.name, changes)} />
                </ErrorBoundary>
            </div>
        </section>
    );
}

function Panels({ recording, topics, playback }: { recording: Recording; topics: Topic[]; playback: Playback }) {
    const { query } = useAddress();
    const shown = shownPanels(recording, topics, query);
    const names = shown.map((panel) => panel.name);
    const toggle = (name: string) => setPanels(recording, names.includes(name) ? names.filter((n) => n !== name) : [...names, name]);
    const open: PanelProps['open'] = (name, settings) => {
        if (!names.includes(name)) {
            setPanels(recording, [...names, name]);
        }
        setSettings(name, settings(settingsOf(name, query)));
    };
    return (
        <>
            <div class="panels-bar row">
                <Menu label={text.recording.panels} kind="plain" icon="plus" items={availablePanels(recording, topics).map((panel) => ({ label: panel.title, checked: names.includes(panel.name), run: () => toggle(panel.name) }))}>
                    {text.recording.panels}
                </Menu>
            </div>
            <div class={`panels panels-${Math.min(shown.length, 4)}`}>
                {shown.map((panel) => (
                    <PanelFrame key={panel.name} panel={panel} recording={recording} topics={topics} playback={playback} companion={null} open={open} onClose={() => toggle(panel.name)} />
                ))}
            </div>
        </>
    );
}

/** A recording in the trash can only be restored or deleted. */
function TrashedRecording({ loaded }: { loaded: Loaded }) {
    const restore = () => void send('POST', `/recordings/${loaded.recording.id}/restore`).then(loaded.reload, showError);
    return (
        <div class="recording">
            <Header loaded={loaded} onExport={null} />
            <EmptyState title={text.recording.inTrash} help={text.recording.inTrashHelp}>
                <Button kind="main" onClick={restore}>
                    {text.recording.restore}
                </Button>
            </EmptyState>
        </div>
    );
}

function emptyText(state: string): { title: string; help: string } {
    const t = text.recording;
    return state === 'recording'
        ? { title: t.waiting, help: t.waitingHelp }
        : state === 'scanning'
          ? { title: t.scanning, help: t.scanningHelp }
          : { title: t.empty, help: t.emptyHelp };
}

function FullRecording({ loaded, opening }: { loaded: Loaded; opening: bigint | null }) {
    const { recording } = loaded;
    const topics = recording.topics ?? [];
    const playback = useRecordingPlayback(recording, opening);
    const events = useRequest((signal) => loadEvents(recording.id, signal), [recording.id, recording.events]);
    const [exporting, setExporting] = useState(false);
    const step = useMemo(() => frameSteps(recording, topics, playback), [playback]);
    useKeys(playback, step);
    return (
        <div class="recording">
            <Header loaded={loaded} onExport={() => setExporting(true)} />
            <div class="recording-main">
                {recording.messages > 0 ? (
                    <div class="recording-content">
                        <Timeline recording={recording} topics={topics} playback={playback} events={events.value ?? []} />
                        <Player recording={recording} playback={playback} step={step} />
                        <Panels recording={recording} topics={topics} playback={playback} />
                    </div>
                ) : (
                    <div class="recording-content">
                        <EmptyState {...emptyText(recording.state)} />
                        <Panels recording={recording} topics={topics} playback={playback} />
                    </div>
                )}
                <Details loaded={loaded} playback={playback} events={events} />
            </div>
            {exporting && <ExportDialog recording={recording} topics={topics} playback={playback} onClose={() => setExporting(false)} />}
        </div>
    );
}

export default function RecordingView() {
    const id = useAddress().path.split('/')[1] ?? '';
    const result = useRequest(async (signal) => {
        const answer = await loadRecording(id, signal);
        return { of: id, ...answer, opening: await openingTime(answer.value, new URLSearchParams(location.search), signal) };
    }, [id]);
    const found = result.value?.of === id ? result.value : null;
    const its = found?.value.id;
    useEffect(() => onChange((change) => (change.recording === (its ?? id) || change.kind === 'gap') && result.reload()), [its, id]);
    const name = found?.value.name;
    useEffect(() => {
        if (name) {
            document.title = `${name} – ${text.name}`;
        }
    }, [name]);
    if (result.error instanceof ApiError && (result.error.status === 404 || result.error.status === 410) && !found && !result.loading) {
        return (
            <EmptyState title={text.recording.notFound} help={text.recording.notFoundHelp}>
                <a href="./">{text.notFound.back}</a>
            </EmptyState>
        );
    }
    if (result.error !== null && !found && !result.loading) {
        return <Failed error={result.error} retry={result.reload} />;
    }
    if (!found) {
        return (
            <div class="empty">
                <Spinner />
            </div>
        );
    }
    const loaded = { recording: found.value, tag: found.tag, reload: result.reload };
    return loaded.recording.state === 'trashed' ? <TrashedRecording loaded={loaded} /> : <FullRecording key={id} loaded={loaded} opening={found.opening} />;
}
