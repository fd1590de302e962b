// Connects viewport, source and playback while the panel is mounted.
import * as THREE from 'three';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PlaybackState } from '../../playback';
import { sceneText } from '../../text/panels';
import { colour, shownTheme } from '../../theme';
import { hiddenOf } from '../hidden';
import type { PanelProps } from '../index';
import { windowWidth } from '../time_windows';
import { FrameAxes } from './frame_axes';
import type { ColourBy } from './molecule';
import { NanoverSource } from './nanover_source';
import { RosSource } from './ros_source';
import { looksOf } from './look_settings';
import type { FollowTarget, SceneTopic, Source, Stat } from './source';
import { Viewport } from './viewport';
import { ViewSource } from './view_source';

/** The size of the rows a source loads, relative to the recording's payload. */
const GROWTH = 8;
const STATUS_MS = 250; // during playback

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
    topics: SceneTopic[];
    followTargets: FollowTarget[];
    robot: string | null;
    hasFrames: boolean;
}
const INITIAL: Status = {
    waiting: true,
    error: null,
    stats: [],
    topics: [],
    followTargets: [],
    robot: null,
    hasFrames: false,
};
export const NOTHING = 'none'; // follow nothing

/** Returns an error to be shown if the browser has no WebGL. */
function createViewport(canvas: HTMLCanvasElement): Viewport | Error {
    try {
        return new Viewport(canvas);
    } catch {
        return new Error(sceneText.noWebGL);
    }
}

export function useScene(props: PanelProps, canvas: { current: HTMLCanvasElement | null }, round: number) {
    const { playback, settings } = props;
    const [status, setStatus] = useState<Status>(INITIAL);
    const viewport = useRef<Viewport | null>(null);
    const source = useRef<Source | null>(null);
    const now = useRef(settings);
    now.current = settings;
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
        const source_ = createSource(props, settings.colourBy === 'residue' ? 'residue' : 'element', () =>
            show.current(playback.get()),
        );
        const axes = new FrameAxes(() => colour('--ink'));
        view.world.add(source_.group);
        view.overlay.add(axes.group);
        source_.setOptions({ hidden: hiddenOf(settings.hide), looks: looksOf(settings.points) });
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
                void (
                    fitted &&
                    (now.current.camera === 'front' || now.current.camera === 'side') &&
                    view.lookFrom(now.current.camera)
                );
            }
            const { follow, turn, axes: shown } = now.current;
            const followed = follow ?? source_.robot();
            axes.update(shown ? source_.frames : null, shown === 'names');
            view.follow(followed === null || followed === NOTHING ? null : source_.placeOf(followed), turn === '1');
            view.draw();
            if (!playing || performance.now() - last > STATUS_MS) {
                last = performance.now();
                setStatus({
                    waiting: waiting && !error,
                    error,
                    stats: source_.stats(),
                    topics: source_.topics(),
                    followTargets: source_.followTargets(),
                    robot: source_.robot(),
                    hasFrames: (source_.frames?.names().length ?? 0) > 0,
                });
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
    useEffect(() => {
        source.current?.setTopics?.(props.topics);
        show.current(playback.get());
    }, [props.topics]);
    useEffect(() => {
        source.current?.setOptions({ hidden: hiddenOf(settings.hide), looks: looksOf(settings.points) });
        show.current(playback.get());
    }, [settings.hide, settings.points, settings.follow, settings.turn, settings.axes]);
    return { status, viewport, source };
}
