// The 3D view and its controls. Shows a spinner while the data at the playhead is loading.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { sceneText } from '../../text/panels';
import { Button, Failed, Menu, Select, Spinner } from '../../ui';
import type { PanelProps } from '../index';
import { Layers } from './layers';
import { boxOf, NOTHING, turnsOf } from './camera';
import { measure, watchClicks, type Measured } from './measure';
import { STYLES, isStyle, type ColourBy } from './molecule';
import type { NanoverSource } from './nanover_source';
import { Picked } from './picked';
import { useScene } from './use_scene';
import type { Camera, Side, Viewport } from './viewport';

let canvases = 0;

const metres = (value: number): string => `${Math.abs(value) >= 100 ? value.toFixed(1) : value.toFixed(3)} m`;

function useMeasure(
    viewport: { current: Viewport | null },
    canvas: { current: HTMLCanvasElement | null },
    canvasKey: number,
) {
    const [active, setActive] = useState(false);
    const [measured, setMeasured] = useState<Measured>({ points: 0, offset: null });
    useLayoutEffect(() => {
        // the next click is a point
        if (!active || !viewport.current || !canvas.current) {
            return undefined;
        }
        const end = measure(viewport.current, canvas.current, setMeasured);
        const key = (event: KeyboardEvent) => {
            if (event.key === 'Escape') {
                event.preventDefault();
                setActive(false);
            }
        };
        document.addEventListener('keydown', key);
        return () => {
            end();
            document.removeEventListener('keydown', key);
        };
    }, [active, canvasKey]);
    return { active, measured, toggle: () => setActive(!active) };
}

function Measurement({ measured: { points, offset } }: { measured: Measured }) {
    const t = sceneText;
    return (
        <output class="scene-measure mono">
            {offset
                ? `${t.distance} ${metres(offset.length())}  Δx ${metres(offset.x)}  Δy ${metres(offset.y)}  Δz ${metres(offset.z)}`
                : points === 0
                  ? t.firstPoint
                  : t.secondPoint}
        </output>
    );
}

function CameraMenu({
    settings,
    onSettings,
    viewport,
    home,
}: Pick<PanelProps, 'settings' | 'onSettings'> & { viewport: { current: Viewport | null }; home: () => void }) {
    const look = (side: Side | 'top') => {
        onSettings({ camera: side === 'free' ? null : side, view: null });
        void (side !== 'top' && viewport.current?.setCamera('free'));
        void (side !== 'top' && viewport.current?.lookFrom(side));
        void (side === 'free' && home());
    };
    const sides = [
        ['top', sceneText.topView],
        ['front', sceneText.frontView],
        ['side', sceneText.sideView],
        ['free', sceneText.resetView],
    ] as const;
    return (
        <Menu
            label={sceneText.camera}
            kind="plain"
            icon="down"
            items={sides.map(([side, label]) => ({
                label,
                checked: side === (settings.camera ?? 'free') && side !== 'free',
                run: () => look(side),
            }))}
        >
            {sceneText.camera}
        </Menu>
    );
}

export default function ScenePanel(props: PanelProps) {
    const { settings, onSettings, recording, topics } = props;
    const canvas = useRef<HTMLCanvasElement>(null);
    const [round, setRound] = useState(0);
    const [layers, setLayers] = useState(false);
    // a canvas cannot be used again after dispose()
    const canvasKey = useMemo(() => ++canvases, [recording.id, props.playback, round]);
    const { status, viewport, source, save, home, pick } = useScene(props, canvas, round);
    const measuring = useMeasure(viewport, canvas, canvasKey);
    const camera: Camera = settings.camera === 'top' ? 'top' : 'free';
    const molecule = useMemo(() => topics.some((t) => t.type === 'nanover/frame'), [topics]);
    useEffect(() => viewport.current?.setCamera(camera), [camera, canvasKey]);
    useEffect(() => viewport.current?.setGrid(settings.grid !== '0'), [settings.grid, canvasKey]);
    useEffect(() => {
        if (measuring.active || !canvas.current) {
            return undefined;
        }
        const stop = new AbortController();
        const clicked = ({ clientX, clientY }: PointerEvent) =>
            viewport.current && pick(viewport.current.hit(clientX, clientY).hits);
        watchClicks(canvas.current, clicked, stop.signal);
        return () => stop.abort();
    }, [measuring.active, canvasKey]);
    const fit = () => {
        if (source.current && viewport.current) {
            viewport.current.fit(boxOf(source.current));
            save();
        }
    };
    const setStyle = (to: string) => {
        onSettings({ style: to === 'balls' ? null : to });
        void (isStyle(to) && (source.current as NanoverSource | null)?.setStyle(to));
        viewport.current?.draw();
    };
    const turns = turnsOf(settings, status.chases);
    const setTurns = (on: boolean) => {
        const byDefault = turnsOf({ ...settings, turn: undefined! }, status.chases);
        onSettings({ turn: on === byDefault ? null : on ? '1' : '0' });
    };
    const setColourBy = (to: string) => {
        onSettings({ colourBy: to === 'element' ? null : to });
        (source.current as NanoverSource | null)?.setColourBy(to as ColourBy);
        viewport.current?.draw();
    };
    const followed = settings.follow ?? status.robot ?? NOTHING;
    return (
        <div class="scene">
            <div class="scene-tools row">
                <Button icon="settings" label={sceneText.layers} pressed={layers} onClick={() => setLayers(!layers)} />
                <CameraMenu settings={settings} onSettings={onSettings} viewport={viewport} home={home} />
                <Button icon="full" label={sceneText.resetZoom} onClick={fit} />
                <Button pressed={measuring.active} onClick={measuring.toggle}>
                    {sceneText.measure}
                </Button>
                {status.followTargets.length > 0 && (
                    <Select
                        label={sceneText.follow}
                        hidden_label
                        value={followed}
                        options={[
                            [NOTHING, sceneText.followNone],
                            ...status.followTargets.map((f): [string, string] => [f.id, f.title]),
                        ]}
                        onChange={(id) => onSettings({ follow: id === status.robot ? null : id })}
                    />
                )}
                {status.followTargets.length > 0 && followed !== NOTHING && (
                    <Button pressed={turns} title={sceneText.turnHelp} onClick={() => setTurns(!turns)}>
                        {sceneText.turn}
                    </Button>
                )}
                {molecule && (
                    <Select
                        label={sceneText.style}
                        hidden_label
                        value={isStyle(settings.style) ? settings.style : 'balls'}
                        options={STYLES.filter((one) => one !== 'ribbon' || status.hasChains).map(
                            (one): [string, string] => [one, sceneText.styles[one]],
                        )}
                        onChange={setStyle}
                    />
                )}
                {molecule && (
                    <Select
                        label={sceneText.colourBy}
                        hidden_label
                        value={settings.colourBy ?? 'element'}
                        options={[
                            ['element', sceneText.byElement],
                            ['residue', sceneText.byResidue],
                        ]}
                        onChange={setColourBy}
                    />
                )}
                {status.waiting && <Spinner />}
            </div>
            <div class={`scene-area ${measuring.active ? 'measuring' : ''}`}>
                <canvas
                    key={canvasKey}
                    ref={canvas}
                    tabIndex={0}
                    role="img"
                    aria-label={sceneText.label(status.stats.map((f) => `${f.title}: ${f.value}`).join(', '))}
                />
                {layers && (
                    <Layers
                        topics={status.topics}
                        hasFrames={status.hasFrames}
                        spans={status.spans}
                        settings={settings}
                        onSettings={onSettings}
                    />
                )}
                {measuring.active && <Measurement measured={measuring.measured} />}
                {!measuring.active && status.described && (
                    <Picked
                        described={status.described}
                        onFollow={
                            status.followTargets.some(({ id }) => id === status.described!.follow)
                                ? (id) => onSettings({ follow: id === status.robot ? null : id })
                                : null
                        }
                        onMessages={(topic) => props.open('messages', () => ({ topic }))}
                        onClose={() => pick([])}
                    />
                )}
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
