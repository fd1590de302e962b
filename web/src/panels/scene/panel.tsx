// The 3D view and its controls. Shows a spinner while the data at the playhead is loading.
import * as THREE from 'three';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PlaybackState } from '../../playback';
import { text } from '../../text';
import { shownTheme } from '../../theme';
import { Button, Failed, Select, Spinner } from '../../ui';
import type { PanelProps } from '../index';
import { windowWidth } from '../time_windows';
import type { ColourBy } from './molecule';
import { NanoverSource } from './nanover_source';
import { RosSource } from './ros_source';
import type { Stat, FollowTarget, Source } from './source';
import { Viewport, type Camera } from './viewport';
import { ViewSource } from './view_source';

/** The size of the rows a source loads, relative to the recording's payload. */
const GROWTH = 8;

function createSource({ recording, topics, playback }: PanelProps, colourBy: ColourBy, changed: () => void): Source {
    const bounds = () => playback.get().bounds;
    const width = windowWidth((recording.payload_bytes ?? recording.size) * GROWTH, bounds());
    if (topics.some((t) => t.type === 'carla/Position')) {
        return new ViewSource(recording.id, bounds, width, changed);
    }
    if (topics.some((t) => t.type === 'nanover/frame')) {
        return new NanoverSource(recording.id, bounds, width, colourBy, changed);
    }
    return new RosSource(recording.id, topics, bounds, width, changed);
}

interface Status {
    waiting: boolean;
    error: unknown;
    stats: Stat[];
    followTargets: FollowTarget[];
    robot: string | null;
}
const INITIAL: Status = { waiting: true, error: null, stats: [], followTargets: [], robot: null };
const NOTHING = 'none'; // follow nothing

/** Returns an error to be shown if the browser has no WebGL. */
function createViewport(canvas: HTMLCanvasElement): Viewport | Error {
    try {
        return new Viewport(canvas);
    } catch {
        return new Error(text.scene.noWebGL);
    }
}

let canvases = 0;

/** Connects viewport, source and playback while the panel is mounted. */
function useScene(props: PanelProps, canvas: { current: HTMLCanvasElement | null }, round: number) {
    const { playback, settings } = props;
    const [status, setStatus] = useState<Status>(INITIAL);
    const viewport = useRef<Viewport | null>(null);
    const source = useRef<Source | null>(null);
    const follow = useRef<string | null>(null);
    follow.current = settings.follow ?? null;
    const show = useRef<(state: PlaybackState) => void>(() => undefined);

    useEffect(() => {
        const view = createViewport(canvas.current!);
        if (view instanceof Error) {
            setStatus({ ...INITIAL, waiting: false, error: view });
            show.current = () => undefined;
            return undefined;
        }
        let fitted = false;
        let last = 0;
        const source_ = createSource(props, settings.colourBy === 'residue' ? 'residue' : 'element', () => show.current(playback.get()));
        view.world.add(source_.group);
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
                view.fit(box);
            }
            const followed = follow.current ?? source_.robot();
            view.follow(followed === null || followed === NOTHING ? null : source_.positionOf(followed));
            view.draw();
            if (!playing || performance.now() - last > 250) {
                last = performance.now();
                setStatus({ waiting: waiting && !error, error, stats: source_.stats(), followTargets: source_.followTargets(), robot: source_.robot() });
            }
        };
        viewport.current = view;
        source.current = source_;
        show.current(playback.get());
        const stops = [playback.subscribe((state) => show.current(state)), shownTheme.subscribe(view.applyTheme)];
        return () => {
            stops.forEach((stop) => stop());
            source_.stop();
            view.dispose();
            viewport.current = source.current = null;
        };
    }, [props.recording.id, playback, round]);
    return { status, viewport, source, reload: () => show.current(playback.get()) };
}

export default function ScenePanel(props: PanelProps) {
    const { settings, onSettings, recording, topics } = props;
    const canvas = useRef<HTMLCanvasElement>(null);
    const [round, setRound] = useState(0);
    const canvasKey = useMemo(() => ++canvases, [recording.id, props.playback, round]); // a canvas cannot be used again after dispose()
    const { status, viewport, source, reload } = useScene(props, canvas, round);
    const camera: Camera = settings.camera === 'top' ? 'top' : 'free';
    const molecule = useMemo(() => topics.some((t) => t.type === 'nanover/frame'), [topics]);
    useEffect(() => viewport.current?.setCamera(camera), [camera, canvasKey]);
    useEffect(reload, [settings.follow]);
    const fit = () => {
        const shown = source.current?.group;
        if (shown) {
            viewport.current?.fit(new THREE.Box3().setFromObject(shown));
        }
    };
    const setColourBy = (to: string) => {
        onSettings({ colourBy: to === 'element' ? null : to });
        (source.current as NanoverSource | null)?.setColourBy(to as ColourBy);
        viewport.current?.draw();
    };
    return (
        <div class="scene">
            <div class="scene-tools row">
                <Button pressed={camera === 'top'} onClick={() => onSettings({ camera: camera === 'top' ? null : 'top' })}>
                    {text.scene.topView}
                </Button>
                <Button icon="full" label={text.scene.resetZoom} onClick={fit} />
                {status.followTargets.length > 0 && (
                    <Select label={text.scene.follow} hidden_label value={settings.follow ?? status.robot ?? NOTHING} options={[[NOTHING, text.scene.followNone], ...status.followTargets.map((f): [string, string] => [f.id, f.title])]} onChange={(id) => onSettings({ follow: id === status.robot ? null : id })} />
                )}
                {molecule && (
                    <Select label={text.scene.colourBy} hidden_label value={settings.colourBy ?? 'element'} options={[['element', text.scene.byElement], ['residue', text.scene.byResidue]]} onChange={setColourBy} />
                )}
                {status.waiting && <Spinner />}
            </div>
            <div class="scene-area">
                <canvas key={canvasKey} ref={canvas} tabIndex={0} role="img" aria-label={text.scene.label(status.stats.map((f) => `${f.title}: ${f.value}`).join(', '))} />
                <dl class="scene-stats">
                    {status.stats.map((f) => (
                        <div key={f.title} class="row">
                            <dt>{f.title}</dt>
                            <dd>{f.value}</dd>
                        </div>
                    ))}
                </dl>
                {status.error !== null && (
                    <div class="scene-failed">
                        <Failed error={status.error} retry={() => setRound(round + 1)} />
                    </div>
                )}
            </div>
        </div>
    );
}
