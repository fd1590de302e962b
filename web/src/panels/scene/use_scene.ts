// Connects viewport, source and playback while the panel is mounted.
import type * as THREE from 'three';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PlaybackState } from '../../playback';
import { sceneText } from '../../text/panels';
import { colour, shownTheme } from '../../theme';
import { hiddenOf } from '../hidden';
import type { PanelProps } from '../index';
import { windowWidth } from '../time_windows';
import { FrameAxes } from './frame_axes';
import { isStyle } from './molecule';
import { NanoverSource } from './nanover_source';
import { RosSource } from './ros_source';
import { looksOf } from './look_settings';
import type { Described, FollowTarget, SceneOptions, SceneTopic, Source, Span, Stat } from './source';
import { follow, openView, viewText } from './camera';
import { spanOf } from './span';
import { Viewport } from './viewport';
import { ViewSource } from './view_source';

/** The size of the rows a source loads, relative to the recording's payload. */
const GROWTH = 8;
const STATUS_MS = 250; // during playback

function createSource({ recording, topics, playback, settings }: PanelProps, changed: () => void): Source {
    const bounds = () => playback.get().bounds;
    const width = windowWidth((recording.payload_bytes ?? recording.size) * GROWTH, bounds());
    if (topics.some((t) => t.type === 'carla/Position')) {
        return new ViewSource(recording.id, bounds, width, changed);
    }
    if (topics.some((t) => t.type === 'nanover/frame')) {
        const colourBy = settings.colourBy === 'residue' ? 'residue' : 'element';
        const style = isStyle(settings.style) ? settings.style : 'balls';
        return new NanoverSource(recording.id, bounds, width, { colourBy, style }, changed);
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
    spans: readonly Span[];
    chases: boolean;
    described: Described | null;
    hasChains: boolean;
}
const INITIAL: Status = {
    waiting: true,
    error: null,
    stats: [],
    topics: [],
    followTargets: [],
    robot: null,
    hasFrames: false,
    spans: [],
    chases: false,
    described: null,
    hasChains: false,
};
const MOVED_MS = 300; // after which the link holds where the camera is

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
    const picked = useRef<string | null>(null);
    const written = useRef(settings.view); // by the camera, not by the address
    const save = () => {
        const text = viewport.current && viewText(viewport.current);
        if (text && text !== now.current.view) {
            written.current = text;
            props.onSettings({ view: text });
        }
    };
    const optionsOf = (source_: Source): SceneOptions => ({
        hidden: hiddenOf(now.current.hide),
        looks: looksOf(now.current.points),
        span: spanOf(now.current.span, source_.spans),
    });

    useEffect(() => {
        const view = createViewport(canvas.current!);
        if (view instanceof Error) {
            setStatus({ ...INITIAL, waiting: false, error: view });
            show.current = () => undefined;
            return undefined;
        }
        let fitted = false;
        let last = 0;
        const source_ = createSource(props, () => show.current(playback.get()));
        const axes = new FrameAxes(() => colour('--ink'));
        view.world.add(source_.group);
        view.overlay.add(axes.group);
        source_.setOptions(optionsOf(source_));
        let moved: ReturnType<typeof setTimeout> | undefined;
        view.watch(() => {
            clearTimeout(moved);
            moved = setTimeout(save, MOVED_MS);
        });
        show.current = ({ time_ns, playing }) => {
            let waiting = true;
            let error: unknown = null;
            try {
                waiting = !source_.show(time_ns);
            } catch (thrown) {
                error = thrown;
            }
            if (!waiting && !fitted) {
                fitted = openView(view, source_, now.current);
            }
            const { axes: shown } = now.current;
            axes.update(shown ? source_.frames : null, shown === 'names');
            follow(view, source_, now.current);
            view.setGround(source_.ground?.() ?? 0);
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
                    spans: source_.spans,
                    chases: source_.chases === true,
                    hasChains: source_ instanceof NanoverSource && source_.hasChains,
                    described: picked.current === null ? null : source_.describe(picked.current),
                });
            }
        };
        viewport.current = view;
        source.current = source_;
        show.current(playback.get());
        const stops = [playback.subscribe((state) => show.current(state)), shownTheme.subscribe(view.applyTheme)];
        return () => {
            stops.forEach((stop) => stop());
            clearTimeout(moved);
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
        source.current?.setOptions(optionsOf(source.current));
        show.current(playback.get());
    }, [settings.hide, settings.points, settings.follow, settings.turn, settings.axes, settings.span]);
    useEffect(() => {
        if (settings.view !== written.current && viewport.current && source.current) {
            written.current = settings.view;
            openView(viewport.current, source.current, settings);
            show.current(playback.get());
        }
    }, [settings.view, settings.camera]);
    const home = () => {
        if (viewport.current && source.current) {
            written.current = undefined;
            openView(viewport.current, source.current, settings.follow ? { follow: settings.follow } : {});
            show.current(playback.get());
        }
    };
    /** The nearest of `hits` that can be described. */
    const pick = (hits: THREE.Intersection[]) => {
        picked.current = hits.reduce<string | null>((id, hit) => id ?? source.current?.identify(hit) ?? null, null);
        show.current(playback.get());
    };
    return { status, viewport, source, save, home, pick };
}
