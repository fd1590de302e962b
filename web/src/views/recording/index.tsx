// The view of a recording: header, timeline, panels, sidebar.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { address, setQuery, useAddress } from '../../address';
import { ApiError, onChange, send } from '../../api';
import { useRequest } from '../../use_request';
import { frameSteps } from '../../frames';
import { Playback, type Range } from '../../playback';
import { forgetOpened, rememberOpened } from '../../recent';
import { text } from '../../text/common';
import { recordingText } from '../../text/recording';
import { boundsOf, fromSeconds, toSeconds } from '../../recording_time';
import { reachable } from '../../server_state';
import { linkKey } from '../../shared_link';
import { useStore } from '../../store';
import { showError } from '../../toasts';
import type { Recording } from '../../types';
import { Button, EmptyState, Failed, Spinner } from '../../ui';
import { Announced } from './announced';
import { Details } from './details';
import { detailsShown } from './remembered';
import { derives, useEvents } from './event_store';
import { useGrowing } from './growing';
import { useKeys } from './keys';
import { loadRecording } from './load';
import { openingTime } from './opening';
import { Header } from './header';
import { openSavedLayout } from './layout/saved';
import { PanelsBar } from './layout/bar';
import { Panels } from './layout/panels';
import type { Loaded } from './annotations';
import { doubleLayout, PairBar, PairFailed, showsSecond, startPair } from './pair/bar';
import { ChooseSecond } from './pair/choose';
import { exportOffers } from './pair/export';
import { LaneNames, PairLanes, useLanes } from './pair/lanes';
import { unionOf, usePair, useSecond, useSources, type Second } from './pair/pair';
import { Player } from './player';
import { ExportDialog } from './export';
import { ShareDialog } from './share';
import { Timeline } from './timeline';

/** The playback state, initialized from the URL; written back to the URL when it rests. */
/** The playhead stops where no data comes any more, and goes on with it. */
function useWaiting(playback: Playback): void {
    useEffect(() => {
        let held = false;
        return reachable.subscribe((answers) => {
            if (answers && held) {
                playback.play();
            }
            held = !answers && playback.get().playing;
            if (held) {
                playback.pause();
            }
        });
    }, [playback]);
}

function useRecordingPlayback(recording: Recording, opening: bigint | null, bounds: Range): Playback {
    const playback = useMemo(() => {
        const created = new Playback(bounds, opening ?? boundsOf(recording).start);
        const query = new URLSearchParams(location.search);
        const [from, to] = (query.get('range') ?? '').split('~');
        if (from && to) {
            created.setRange({ start: fromSeconds(recording, from), end: fromSeconds(recording, to) });
        }
        const at = query.get('at');
        if (at) {
            created.seek(fromSeconds(recording, at));
        } else if (recording.state === 'recording') {
            created.follow();
        }
        return created;
    }, [recording.id, recording.messages > 0]);
    useEffect(() => {
        let timer: ReturnType<typeof setTimeout>;
        const keep = () => {
            const { time_ns, range, playing, following } = playback.get();
            if (!playing && address.get().path.startsWith('recordings/')) {
                const at = following || time_ns === opening ? null : toSeconds(recording, time_ns);
                setQuery(
                    { at, range: range && `${toSeconds(recording, range.start)}~${toSeconds(recording, range.end)}` },
                    true,
                );
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

/** A recording in the trash can only be restored or deleted. */
function TrashedRecording({ loaded }: { loaded: Loaded }) {
    const restore = () =>
        void send('POST', `/recordings/${loaded.recording.id}/restore`).then(loaded.reload, showError);
    return (
        <div class="recording">
            <Header loaded={loaded} onExport={null} />
            <EmptyState title={recordingText.inTrash} help={recordingText.inTrashHelp}>
                <Button kind="main" onClick={restore}>
                    {recordingText.restore}
                </Button>
            </EmptyState>
        </div>
    );
}

function emptyText(state: string): { title: string; help: string } {
    const t = recordingText;
    return state === 'recording'
        ? { title: t.waiting, help: t.waitingHelp }
        : state === 'scanning'
          ? { title: t.scanning, help: t.scanningHelp }
          : state === 'failed'
            ? { title: t.failed, help: t.failedHelp }
            : { title: t.empty, help: t.emptyHelp };
}

function FullRecording({
    loaded,
    opening,
    fresh,
    second,
}: {
    loaded: Loaded;
    opening: bigint | null;
    fresh: boolean;
    second: Second;
}) {
    const { recording } = loaded;
    const topics = recording.topics ?? [];
    const announced = recording.state === 'announced';
    const pair = usePair(recording, second.recording);
    const bounds = unionOf(recording, pair);
    const playback = useRecordingPlayback(recording, opening, bounds);
    useWaiting(playback);
    const sources = useSources(recording, playback, pair);
    useLayoutEffect(
        () => playback.grow(bounds, recording.state === 'recording'),
        [playback, bounds.start, bounds.end, recording.state],
    ); // after the views of the playback have the new ends, or panels would load times beyond them
    const own = sources[0]!.playback;
    const lanes = useLanes(second.recording);
    const [choosing, setChoosing] = useState(false);
    const events = useEvents(recording.id, !announced && derives(topics));
    const details = useStore(detailsShown);
    const [exporting, setExporting] = useState(false);
    const [sharing, setSharing] = useState(false);
    const step = useMemo(() => frameSteps(recording, topics, own), [own, recording]);
    useKeys(playback, step);
    const doubles = useRef(fresh); // the second recording gets panels, too
    useLayoutEffect(() => {
        if (second.recording) {
            if (doubles.current && !showsSecond(sources)) {
                doubleLayout(sources);
            }
            doubles.current = false;
        }
    }, [second.recording?.id]);
    const compare = (other: Recording) => {
        doubles.current = true;
        setChoosing(false);
        startPair(other);
    };
    const below = pair && {
        names: (open: boolean) => <LaneNames pair={pair} lanes={open ? lanes.lanes : []} />,
        lanes: (view: Range, width: number, open: boolean) => (
            <PairLanes pair={pair} lanes={open ? lanes : { ...lanes, lanes: [] }} view={view} width={width} />
        ),
    };
    return (
        <div class="recording">
            <Header
                loaded={loaded}
                onExport={announced ? null : () => setExporting(true)}
                onCompare={announced || pair || recording.messages === 0 || linkKey ? null : () => setChoosing(true)}
                onShare={announced || linkKey ? null : () => setSharing(true)}
            />
            <div class={`recording-main ${details ? '' : 'recording-without-details'}`}>
                <div class="recording-content">
                    {recording.messages > 0 && (
                        <Timeline
                            recording={recording}
                            topics={topics}
                            playback={playback}
                            events={events}
                            below={below}
                        />
                    )}
                    {pair && <PairBar pair={pair} source={sources[0]!} />}
                    {second.error !== null && <PairFailed error={second.error} source={sources[0]!} />}
                    {!announced && (
                        <div class="recording-bar">
                            {recording.messages > 0 && <Player recording={recording} playback={playback} step={step} />}
                            <PanelsBar sources={sources} />
                        </div>
                    )}
                    {!announced && recording.messages === 0 && <EmptyState {...emptyText(recording.state)} />}
                    <div class="panels-area">
                        {announced ? <Announced loaded={loaded} playback={own} /> : <Panels sources={sources} />}
                    </div>
                </div>
                <Details loaded={loaded} playback={own} events={events} />
            </div>
            {choosing && <ChooseSecond recording={recording} onChoose={compare} onClose={() => setChoosing(false)} />}
            {exporting && (
                <ExportDialog offers={exportOffers(sources, pair, playback)} onClose={() => setExporting(false)} />
            )}
            {sharing && <ShareDialog sources={sources} playback={playback} onClose={() => setSharing(false)} />}
        </div>
    );
}

export default function RecordingView() {
    const id = useAddress().path.split('/')[1] ?? '';
    const second = useSecond();
    const opened = useRef('');
    const latest = useRef<{ of: string; value: Recording; opening: bigint | null; fresh: boolean } | null>(null);
    const result = useRequest(
        async (signal) => {
            const answer = await loadRecording(id, signal);
            // opened already
            const before = latest.current?.of === id && latest.current.value.messages > 0 ? latest.current : null;
            const fresh = before ? before.fresh : !new URLSearchParams(location.search).has('panels');
            if (fresh && !before) {
                await openSavedLayout(answer.value, signal);
            }
            return {
                of: id,
                ...answer,
                fresh,
                opening: before
                    ? before.opening
                    : await openingTime(answer.value, new URLSearchParams(location.search), signal),
            };
        },
        [id],
    );
    latest.current = result.value;
    const found = result.value?.of === id ? result.value : null;
    const its = found?.value.id;
    useEffect(
        () => onChange((change) => (change.recording === (its ?? id) || change.kind === 'gap') && result.reload()),
        [its, id],
    );
    useGrowing(
        found?.value.state === 'recording' && !result.loading,
        found?.value.messages ?? 0,
        result.value,
        result.reload,
    );
    const name = found?.value.name;
    useEffect(() => {
        if (name) {
            document.title = `${name} – ${text.name}`;
            rememberOpened(found!.value);
        }
    }, [its, name]);
    const gone =
        result.error instanceof ApiError &&
        (result.error.status === 404 || result.error.status === 410) &&
        !found &&
        !result.loading;
    useEffect(() => void (gone && forgetOpened(id)), [gone, id]);
    if (gone) {
        return (
            <EmptyState title={recordingText.notFound} help={recordingText.notFoundHelp}>
                {!linkKey && <a href="./">{text.notFound.back}</a>}
            </EmptyState>
        );
    }
    if (result.error !== null && !found && !result.loading) {
        return <Failed error={result.error} retry={result.reload} />;
    }
    if (!found || (second.waiting && opened.current !== id)) {
        // a second one that is chosen later replaces nothing while it loads
        return (
            <div class="empty">
                <Spinner />
            </div>
        );
    }
    opened.current = id;
    const loaded = { recording: found.value, tag: found.tag, reload: result.reload };
    return loaded.recording.state === 'trashed' ? (
        <TrashedRecording loaded={loaded} />
    ) : (
        <FullRecording key={id} loaded={loaded} opening={found.opening} fresh={found.fresh} second={second} />
    );
}
