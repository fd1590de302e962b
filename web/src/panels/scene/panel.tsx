// The scene and its few controls. Its one rule: it draws what the source shows at the clock's time, and tells when that is not there yet.
import * as THREE from 'three';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ClockState } from '../../clock';
import { text } from '../../text';
import { shown as themeShown } from '../../theme';
import { Button, Failed, Select, Spinner } from '../../ui';
import type { PanelProps } from '../index';
import { windowWidth } from '../windows';
import type { Paint } from './molecule';
import { NanoverSource } from './nanover_source';
import { RosSource } from './ros_source';
import type { Facts, Followable, Source } from './source';
import { Stage, type Look } from './stage';
import { ViewSource } from './view_source';

/** How many times larger the rows are that a source asks for than the recording's payload. */
const GROWTH = 8;

function open({ recording, topics, clock }: PanelProps, paint: Paint, changed: () => void): Source {
    const { bounds } = clock.get();
    const width = windowWidth((recording.payload_bytes ?? recording.size) * GROWTH, bounds);
    if (topics.some((t) => t.type === 'carla/Position')) {
        return new ViewSource(recording.id, bounds, width, changed);
    }
    if (topics.some((t) => t.type === 'nanover/frame')) {
        return new NanoverSource(recording.id, bounds, width, paint, changed);
    }
    return new RosSource(recording.id, topics, bounds, width, changed);
}

interface Said {
    waiting: boolean;
    error: unknown;
    facts: Facts[];
    followables: Followable[];
}
const NOTHING: Said = { waiting: true, error: null, facts: [], followables: [] };

/** A browser without WebGL is no mistake of the page: it is told. */
function stageOf(canvas: HTMLCanvasElement): Stage | Error {
    try {
        return new Stage(canvas);
    } catch {
        return new Error(text.scene.noWebGL);
    }
}

let canvases = 0;

/** The stage, its source and the clock, tied together for as long as the panel is there. */
function useScene(props: PanelProps, canvas: { current: HTMLCanvasElement | null }, round: number) {
    const { clock, settings } = props;
    const [said, setSaid] = useState<Said>(NOTHING);
    const stage = useRef<Stage | null>(null);
    const source = useRef<Source | null>(null);
    const follow = useRef('');
    follow.current = settings.follow ?? '';
    const show = useRef<(state: ClockState) => void>(() => undefined);

    useEffect(() => {
        const made = stageOf(canvas.current!);
        if (made instanceof Error) {
            setSaid({ ...NOTHING, waiting: false, error: made });
            show.current = () => undefined;
            return undefined;
        }
        let fitted = false;
        let last = 0;
        const source_ = open(props, settings.paint === 'residue' ? 'residue' : 'element', () => show.current(clock.get()));
        made.world.add(source_.group);
        show.current = ({ time_ns, playing }) => {
            let waiting = true;
            let error: unknown = null;
            try {
                waiting = !source_.show(time_ns);
            } catch (thrown) {
                error = thrown;
            }
            if (!waiting && !fitted && source_.group.children.length > 0) {
                const box = new THREE.Box3().setFromObject(source_.centre ?? source_.group);
                fitted = !box.isEmpty();
                made.fit(box);
            }
            made.follow(follow.current ? source_.placeOf(follow.current) : null);
            made.draw();
            if (!playing || performance.now() - last > 250) {
                last = performance.now();
                setSaid({ waiting: waiting && !error, error, facts: source_.facts(), followables: source_.followables() });
            }
        };
        stage.current = made;
        source.current = source_;
        show.current(clock.get());
        const stops = [clock.subscribe((state) => show.current(state)), themeShown.subscribe(made.theme)];
        return () => {
            stops.forEach((stop) => stop());
            source_.stop();
            made.dispose();
            stage.current = source.current = null;
        };
    }, [props.recording.id, clock, round]);
    return { said, stage, source, again: () => show.current(clock.get()) };
}

export default function ScenePanel(props: PanelProps) {
    const { settings, onSettings, recording, topics } = props;
    const canvas = useRef<HTMLCanvasElement>(null);
    const [round, setRound] = useState(0);
    const own = useMemo(() => ++canvases, [recording.id, props.clock, round]); // a stage ends its canvas, the next one needs another
    const { said, stage, source, again } = useScene(props, canvas, round);
    const look: Look = settings.look === 'top' ? 'top' : 'free';
    const molecule = useMemo(() => topics.some((t) => t.type === 'nanover/frame'), [topics]);
    useEffect(() => stage.current?.setLook(look), [look, own]);
    useEffect(again, [settings.follow]);
    const fit = () => {
        const shown = source.current?.group;
        if (shown) {
            stage.current?.fit(new THREE.Box3().setFromObject(shown));
        }
    };
    const paint = (to: string) => {
        onSettings({ paint: to === 'element' ? null : to });
        (source.current as NanoverSource | null)?.setPaint(to as Paint);
        stage.current?.draw();
    };
    return (
        <div class="scene">
            <div class="scene-tools row">
                <Button pressed={look === 'top'} onClick={() => onSettings({ look: look === 'top' ? null : 'top' })}>
                    {text.scene.above}
                </Button>
                <Button icon="full" label={text.scene.fit} onClick={fit} />
                {said.followables.length > 0 && (
                    <Select label={text.scene.follow} hidden_label value={settings.follow ?? ''} options={[['', text.scene.followNone], ...said.followables.map((f): [string, string] => [f.id, f.title])]} onChange={(id) => onSettings({ follow: id || null })} />
                )}
                {molecule && (
                    <Select label={text.scene.paint} hidden_label value={settings.paint ?? 'element'} options={[['element', text.scene.byElement], ['residue', text.scene.byResidue]]} onChange={paint} />
                )}
                {said.waiting && <Spinner />}
            </div>
            <div class="scene-room">
                <canvas key={own} ref={canvas} tabIndex={0} role="img" aria-label={text.scene.label(said.facts.map((f) => `${f.title}: ${f.value}`).join(', '))} />
                <dl class="scene-facts">
                    {said.facts.map((f) => (
                        <div key={f.title} class="row">
                            <dt>{f.title}</dt>
                            <dd>{f.value}</dd>
                        </div>
                    ))}
                </dl>
                {said.error !== null && (
                    <div class="scene-failed">
                        <Failed error={said.error} retry={() => setRound(round + 1)} />
                    </div>
                )}
            </div>
        </div>
    );
}
