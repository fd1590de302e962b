// The view of one recording: head, timeline, panels, and what people say of it.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { setQuery, useAddress } from '../../address';
import { getTagged, onChange, send } from '../../api';
import { useAsk } from '../../ask';
import { Clock } from '../../clock';
import type { Panel } from '../../panels';
import { text } from '../../text';
import { boundsOf, fromSeconds, toSeconds } from '../../times';
import { showError } from '../../toasts';
import type { Recording, Topic } from '../../types';
import { Button, EmptyState, Failed, Guard, Menu, Spinner } from '../../ui';
import { About } from './about';
import { marksOf } from './events';
import { Header } from './header';
import { offered, setSettings, settingsOf, showPanels, shownPanels } from './layout';
import type { Loaded } from './notes';
import { Player } from './player';
import { Take } from './take';
import { Timeline } from './timeline';

/** The clock of a recording, set from the address; where it stands goes back there when it rests. */
function useRecordingClock(recording: Recording): Clock {
    const bounds = boundsOf(recording);
    const clock = useMemo(() => {
        const made = new Clock(bounds);
        const query = new URLSearchParams(location.search);
        const [from, to] = (query.get('range') ?? '').split('~');
        if (from && to) {
            made.setRange({ start: fromSeconds(recording, from), end: fromSeconds(recording, to) });
        }
        const at = query.get('at');
        if (at) {
            made.seek(fromSeconds(recording, at));
        }
        return made;
    }, [recording.id, bounds.start, bounds.end]);
    useEffect(() => {
        let timer: ReturnType<typeof setTimeout>;
        const keep = () => {
            const { time_ns, range, playing } = clock.get();
            if (!playing && location.pathname.startsWith('/recordings/')) {
                const at = time_ns === clock.get().bounds.start ? null : toSeconds(recording, time_ns);
                setQuery({ at, range: range && `${toSeconds(recording, range.start)}~${toSeconds(recording, range.end)}` }, true);
            }
        };
        const stop = clock.subscribe(() => {
            clearTimeout(timer);
            timer = setTimeout(keep, 300);
        });
        return () => {
            stop();
            clearTimeout(timer);
            clock.pause();
        };
    }, [clock]);
    return clock;
}

function PanelFrame({ panel, recording, topics, clock, onClose }: { panel: Panel; recording: Recording; topics: Topic[]; clock: Clock; onClose: () => void }) {
    const { query } = useAddress();
    return (
        <section class={`panel panel-${panel.name}`} aria-label={panel.title}>
            <header class="panel-head">
                <h2>{panel.title}</h2>
                <Button kind="quiet" icon="close" label={text.recording.closePanel(panel.title)} onClick={onClose} />
            </header>
            <div class="panel-body">
                <Guard>
                    <panel.Panel recording={recording} topics={topics} clock={clock} settings={settingsOf(panel.name, query)} onSettings={(changes) => setSettings(panel.name, changes)} />
                </Guard>
            </div>
        </section>
    );
}

function Panels({ recording, topics, clock }: { recording: Recording; topics: Topic[]; clock: Clock }) {
    const { query } = useAddress();
    const shown = shownPanels(recording, topics, query);
    const names = shown.map((panel) => panel.name);
    const toggle = (name: string) => showPanels(recording, names.includes(name) ? names.filter((n) => n !== name) : [...names, name]);
    return (
        <>
            <div class="panels-bar row">
                <Menu label={text.recording.panels} kind="plain" icon="plus" items={offered(recording, topics).map((panel) => ({ label: panel.title, checked: names.includes(panel.name), run: () => toggle(panel.name) }))}>
                    {text.recording.panels}
                </Menu>
            </div>
            <div class={`panels panels-${Math.min(shown.length, 4)}`}>
                {shown.map((panel) => (
                    <PanelFrame key={panel.name} panel={panel} recording={recording} topics={topics} clock={clock} onClose={() => toggle(panel.name)} />
                ))}
            </div>
        </>
    );
}

/** Space plays, wherever nothing else wants it. */
function usePlayKey(clock: Clock) {
    useEffect(() => {
        const key = (event: KeyboardEvent) => {
            const free = !(event.target instanceof HTMLElement) || event.target === document.body || event.target.id === 'content';
            if (event.key === ' ' && free && !event.defaultPrevented) {
                clock.toggle();
                event.preventDefault();
            }
        };
        document.addEventListener('keydown', key);
        return () => document.removeEventListener('keydown', key);
    }, [clock]);
}

/** What is in the trash is not read: only taken out again, or deleted. */
function Trashed({ loaded }: { loaded: Loaded }) {
    const restore = () => void send('POST', `/recordings/${loaded.recording.id}/restore`).then(loaded.again, showError);
    return (
        <div class="recording">
            <Header loaded={loaded} onTake={null} />
            <EmptyState title={text.recording.inTrash} help={text.recording.inTrashHelp}>
                <Button kind="main" onClick={restore}>
                    {text.recording.restore}
                </Button>
            </EmptyState>
        </div>
    );
}

function Whole({ loaded }: { loaded: Loaded }) {
    const { recording } = loaded;
    const topics = recording.topics ?? [];
    const clock = useRecordingClock(recording);
    const events = useAsk((signal) => marksOf(recording.id, signal), [recording.id, recording.events]);
    const [taking, setTaking] = useState(false);
    usePlayKey(clock);
    return (
        <div class="recording">
            <Header loaded={loaded} onTake={() => setTaking(true)} />
            <div class="recording-main">
                {recording.messages > 0 ? (
                    <div class="recording-show">
                        <Timeline recording={recording} topics={topics} clock={clock} events={events.value ?? []} />
                        <Player recording={recording} clock={clock} />
                        <Panels recording={recording} topics={topics} clock={clock} />
                    </div>
                ) : (
                    <div class="recording-show">
                        <EmptyState title={recording.state === 'scanning' ? text.recording.scanning : text.recording.empty} help={recording.state === 'scanning' ? text.recording.scanningHelp : text.recording.emptyHelp} />
                        <Panels recording={recording} topics={topics} clock={clock} />
                    </div>
                )}
                <About loaded={loaded} clock={clock} events={events} />
            </div>
            {taking && <Take recording={recording} topics={topics} clock={clock} onClose={() => setTaking(false)} />}
        </div>
    );
}

export default function RecordingView() {
    const id = useAddress().path.split('/')[2] ?? '';
    const asked = useAsk(async (signal) => ({ of: id, ...(await getTagged<Recording>(`/recordings/${id}`, {}, signal)) }), [id]);
    const found = asked.value?.of === id ? asked.value : null;
    const its = found?.value.id;
    useEffect(() => onChange((change) => (change.recording === (its ?? id) || change.kind === 'gap') && asked.again()), [its, id]);
    const name = found?.value.name;
    useEffect(() => {
        if (name) {
            document.title = `${name} – ${text.name}`;
        }
    }, [name]);
    if (asked.error !== null && !found && !asked.waiting) {
        return <Failed error={asked.error} retry={asked.again} />;
    }
    if (!found) {
        return (
            <div class="empty">
                <Spinner />
            </div>
        );
    }
    const loaded = { recording: found.value, tag: found.tag, again: asked.again };
    return loaded.recording.state === 'trashed' ? <Trashed loaded={loaded} /> : <Whole key={id} loaded={loaded} />;
}
