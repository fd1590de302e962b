// The map: tracks on a grid, or on the tiles that the administrator has set. Dots mark the positions at the playhead.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useSize, type Size } from '../../use_size';
import type { Playback } from '../../playback';
import { saveBlob } from '../../save_blob';
import { service } from '../../service';
import { useStore } from '../../store';
import { relativeTime } from '../../recording_time';
import { mapText } from '../../text/panels';
import { colour, shownTheme } from '../../theme';
import { showToast } from '../../toasts';
import type { Recording } from '../../types';
import { Button, Failed, Select, Spinner } from '../../ui';
import { ZOOM_STEP } from '../../zoom';
import { hiddenOf, hiddenText } from '../hidden';
import type { PanelProps } from '../index';
import { drawMap, drawPositions, NORTH_PX, spotAt, valueOf, type ColourBy, type Scene } from './draw';
import { fitAll, latitudeOf, longitudeOf, usableScale, type Flat, type View } from './geometry';
import { Legend } from './legend';
import { Tiles } from './tiles';
import { geoJson } from './tracks';
import { usePointer, type Hovered } from './use_pointer';
import { useTracks } from './use_tracks';

const KEEP_MS = 500; // after the last movement the view is put into the URL

/** A canvas of the size of its area, in px of the page. */
function prepared(canvas: HTMLCanvasElement, { width, height }: Size): CanvasRenderingContext2D {
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (canvas.width !== w || canvas.height !== h) {
        [canvas.width, canvas.height] = [w, h];
    }
    const context = canvas.getContext('2d')!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
}

/** The view, which the URL keeps as x,y,scale. null: all tracks. */
function useView({ settings, onSettings }: PanelProps) {
    const stored = (settings.view ?? '').split(',').map(Number);
    const [view, setView] = useState<View | null>(
        stored.length === 3 && stored.every(Number.isFinite) && stored[2]! > 0
            ? { x: stored[0]!, y: stored[1]!, scale: usableScale(stored[2]!) }
            : null,
    );
    const timer = useRef<ReturnType<typeof setTimeout>>();
    useEffect(() => () => clearTimeout(timer.current), []);
    const change = (to: View | null) => {
        setView(to);
        clearTimeout(timer.current);
        timer.current = setTimeout(
            () => onSettings({ view: to && `${to.x.toFixed(3)},${to.y.toFixed(3)},${to.scale.toPrecision(5)}` }),
            KEEP_MS,
        );
    };
    return { view, setView: change };
}

/** The tiles, and how often one has arrived. */
function useTiles(globe: boolean) {
    const background = useStore(service)?.map ?? null;
    const [arrived, setArrived] = useState(0);
    const tiles = useMemo(() => {
        let reported = false;
        const fail = () => {
            if (!reported) {
                reported = true;
                showToast(mapText.noTiles);
            }
        };
        return background && globe ? new Tiles(background.tiles, () => setArrived((n) => n + 1), fail) : null;
    }, [background?.tiles, globe]);
    useEffect(() => () => tiles?.stop(), [tiles]);
    return { tiles, arrived, attribution: tiles ? background!.attribution : '' };
}

function useFollow(playback: Playback, tracks: Flat[], enabled: boolean): { x: number; y: number } | null {
    const [at, setAt] = useState<{ x: number; y: number } | null>(null);
    useEffect(() => {
        const move = () => setAt((tracks[0] && spotAt(tracks[0], playback.get().time_ns)) ?? null);
        if (!enabled) {
            setAt(null);
            return undefined;
        }
        move();
        return playback.subscribe(move);
    }, [playback, tracks, enabled]);
    return at;
}

function rangeOf(tracks: Flat[], by: ColourBy, start: bigint): [number, number] {
    let [low, high] = [Infinity, -Infinity];
    for (const { spots } of tracks) {
        for (const spot of spots) {
            const value = valueOf(spot, by, start);
            [low, high] = [Math.min(low, value), Math.max(high, value)];
        }
    }
    return low <= high ? [by === 'speed' ? 0 : low, high] : [0, 1];
}

function Tip({
    hovered: { track, spot, x, y },
    recording,
    globe,
    size,
}: {
    hovered: Hovered;
    recording: Recording;
    globe: boolean;
    size: Size;
}) {
    const place = globe
        ? `${latitudeOf(spot.y).toFixed(6)}°, ${longitudeOf(spot.x).toFixed(6)}°`
        : `${spot.x.toFixed(2)} m, ${spot.y.toFixed(2)} m`;
    return (
        <div
            class="map-tip small"
            style={{
                left: `${Math.min(x + 12, Math.max(0, size.width - 190))}px`,
                top: `${Math.min(y + 12, Math.max(0, size.height - 76))}px`,
            }}
        >
            <strong>{track.name}</strong>
            <span class="mono">{relativeTime(recording, spot.time)}</span>
            <span class="mono">{spot.speed.toFixed(2)} m/s</span>
            <span class="mono">{place}</span>
        </div>
    );
}

export default function MapPanel(props: PanelProps) {
    const { playback, recording, settings, onSettings } = props;
    const { request, live, own, flat, globe } = useTracks(props);
    const area = useRef<HTMLDivElement>(null);
    const [base, moving] = [useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null)];
    const size = useSize(area);
    const theme = useStore(shownTheme);
    const { view, setView } = useView(props);
    const [hovered, setHovered] = useState<Hovered | null>(null);
    const { tiles, arrived, attribution } = useTiles(globe);
    const hidden = hiddenOf(settings.hide);
    const tracks = useMemo(() => flat.filter((track) => !hidden.has(track.key)), [flat, settings.hide]);
    const by: ColourBy = settings.colour === 'time' || settings.colour === 'speed' ? settings.colour : 'track';
    const { start } = playback.get().bounds;
    const range = useMemo(() => rangeOf(tracks, by, start), [tracks, by, start]);
    const colours = useMemo(
        () => ({
            grid: colour('--line'),
            text: colour('--ink'),
            background: colour('--paper'),
            curves: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => colour(`--c${n}`)),
        }),
        [theme],
    );
    const colourOf = (track: Flat) => colours.curves[flat.indexOf(track) % colours.curves.length]!;
    const followed = useFollow(playback, tracks, settings.follow === '1');
    const whole = useMemo(() => fitAll(tracks, size, NORTH_PX), [tracks, size.width, size.height]);
    const scene: Scene = {
        tracks,
        colourOf,
        by,
        range,
        globe,
        view: { ...(view ?? whole), ...(followed ? { x: followed.x, y: followed.y } : {}) },
        size,
        colours,
    };
    const { x, y, scale } = scene.view;
    useEffect(
        () => drawMap(prepared(base.current!, size), scene, tiles, theme === 'dark', start),
        [tracks, by, range, x, y, scale, size.width, size.height, colours, tiles, arrived],
    );
    useEffect(() => {
        const context = prepared(moving.current!, size);
        const draw = () => drawPositions(context, scene, playback.get().time_ns, hovered);
        draw();
        return playback.subscribe(draw);
    }, [tracks, x, y, scale, size.width, size.height, colours, playback, hovered]);
    const pointer = usePointer({
        area,
        scene,
        playback,
        setView: (to) => (setView(to), void (settings.follow && to.scale === scale && onSettings({ follow: null }))),
        setHovered,
    });
    const toggle = (key: string, shown: boolean) => {
        void (shown ? hidden.delete(key) : hidden.add(key));
        onSettings({ hide: hiddenText(hidden) });
    };
    return (
        <div class="map">
            <div class="map-tools row">
                <Button icon="plus" label={mapText.zoomIn} onClick={() => pointer.zoom(ZOOM_STEP)} />
                <Button icon="minus" label={mapText.zoomOut} onClick={() => pointer.zoom(1 / ZOOM_STEP)} />
                <Button icon="full" label={mapText.resetZoom} onClick={() => setView(null)} />
                <Button
                    pressed={settings.follow === '1'}
                    onClick={() => onSettings({ follow: settings.follow === '1' ? null : '1' })}
                >
                    {mapText.follow}
                </Button>
                <Select
                    label={mapText.colourBy}
                    hidden_label
                    value={by}
                    options={[
                        ['track', mapText.byTrack],
                        ['time', mapText.byTime],
                        ['speed', mapText.bySpeed],
                    ]}
                    onChange={(to) => onSettings({ colour: to === 'track' ? null : to })}
                />
                <Button
                    icon="download"
                    label={mapText.save}
                    disabled={own.length === 0}
                    onClick={() =>
                        saveBlob(
                            new Blob([geoJson(own)], { type: 'application/geo+json' }),
                            `${recording.name}.geojson`,
                        )
                    }
                />
                {request.loading && !live && <Spinner />}
            </div>
            {request.error !== null && <Failed error={request.error} retry={request.reload} />}
            <Legend tracks={flat} hidden={hidden} colourOf={colourOf} by={by} range={range} onToggle={toggle} />
            <div class={`map-area ${hovered ? 'on-track' : ''}`} ref={area}>
                <canvas ref={base} aria-hidden="true" />
                <canvas
                    ref={moving}
                    tabIndex={0}
                    role="img"
                    aria-label={mapText.label(tracks.map((track) => track.name).join(', '))}
                    {...pointer.handlers}
                />
                {hovered && <Tip hovered={hovered} recording={recording} globe={globe} size={size} />}
                {attribution && <p class="map-attribution">{attribution}</p>}
            </div>
        </div>
    );
}
