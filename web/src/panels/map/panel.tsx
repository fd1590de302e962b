// The map: drag to move, scroll or use the buttons to zoom. Dots mark the positions at the playhead.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useRequest } from '../../use_request';
import { saveBlob } from '../../save_blob';
import { useStore } from '../../store';
import { text } from '../../text';
import { colour, shownTheme } from '../../theme';
import { Button, Failed, Spinner } from '../../ui';
import type { PanelProps } from '../index';
import { drawMap, flatten, fitAll, type View } from './draw';
import { geoJson, trackKind, tracksOf, type Track } from './tracks';

const SCALE = { min: 1e-7, max: 1e5 }; // pixels per metre
const KEY_PX = 40; // that an arrow key moves the map

function useTracks({ recording, topics }: PanelProps) {
    return useRequest<Track[]>(
        async (signal) => {
            const sources = topics.flatMap((topic) => {
                const kind = trackKind(topic);
                return kind ? [{ topic, kind }] : [];
            });
            const coordinates = sources.some((s) => s.kind.coordinates === 'globe') ? 'globe' : 'plane'; // tracks in metres have no place on the globe
            const all = await Promise.all(sources.filter((s) => s.kind.coordinates === coordinates).map((s) => tracksOf(recording, s.topic, s.kind, signal)));
            return all.flat();
        },
        [recording.id],
    );
}

function save(tracks: Track[], name: string): void {
    saveBlob(new Blob([geoJson(tracks)], { type: 'application/geo+json' }), `${name}.geojson`);
}

export function MapPanel(props: PanelProps) {
    const { playback, recording } = props;
    const tracks = useTracks(props);
    const flat = useMemo(() => flatten(tracks.value ?? []), [tracks.value]);
    const canvas = useRef<HTMLCanvasElement>(null);
    const [size, setSize] = useState({ width: 0, height: 0 });
    const [view, setView] = useState<View | null>(null);
    const theme = useStore(shownTheme);
    const now = view ?? fitAll(flat, size.width, size.height);
    useEffect(() => {
        const sizes = new ResizeObserver(([entry]) => setSize({ width: entry!.contentRect.width, height: entry!.contentRect.height }));
        sizes.observe(canvas.current!.parentElement!);
        return () => sizes.disconnect();
    }, []);
    useEffect(() => {
        const element = canvas.current!;
        const scale = devicePixelRatio || 1;
        element.width = Math.max(1, Math.round(size.width * scale));
        element.height = Math.max(1, Math.round(size.height * scale));
        const context = element.getContext('2d')!;
        context.scale(scale, scale);
        const colours = { grid: colour('--line'), text: colour('--ink-soft'), background: colour('--paper'), curves: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => colour(`--c${n}`)) };
        const draw = () => drawMap(context, flat, now, size.width, size.height, playback.get().time_ns, colours);
        draw();
        return playback.subscribe(draw);
    }, [flat, now.x, now.y, now.scale, size.width, size.height, theme, playback]);
    const zoom = (by: number) => setView({ ...now, scale: Math.min(Math.max(now.scale * by, SCALE.min), SCALE.max) });
    const move = (x: number, y: number) => setView({ ...now, x: now.x + x / now.scale, y: now.y + y / now.scale });
    const drag = (event: PointerEvent) => {
        if (event.buttons === 1) {
            move(-event.movementX, event.movementY);
        }
    };
    const key = (event: KeyboardEvent) => {
        const step = { ArrowLeft: [-KEY_PX, 0], ArrowRight: [KEY_PX, 0], ArrowUp: [0, KEY_PX], ArrowDown: [0, -KEY_PX] }[event.key];
        if (step) {
            move(step[0]!, step[1]!);
        } else if (event.key === '+' || event.key === '-') {
            zoom(event.key === '+' ? 1.5 : 1 / 1.5);
        } else {
            return;
        }
        event.preventDefault();
    };
    const wheel = (event: WheelEvent) => {
        event.preventDefault();
        zoom(Math.exp(-event.deltaY / 500));
    };
    return (
        <div class="map">
            <div class="map-tools row">
                <Button icon="plus" label={text.map.zoomIn} onClick={() => zoom(1.5)} />
                <Button onClick={() => zoom(1 / 1.5)} label={text.map.zoomOut}>
                    −
                </Button>
                <Button icon="full" label={text.map.resetZoom} onClick={() => setView(null)} />
                <Button icon="download" disabled={!tracks.value?.length} onClick={() => save(tracks.value ?? [], recording.name)}>
                    {text.map.save}
                </Button>
                <span class="small muted">{text.map.tracks(tracks.value?.length ?? 0)}</span>
                {tracks.loading && <Spinner />}
            </div>
            {tracks.error !== null && <Failed error={tracks.error} retry={tracks.reload} />}
            <div class="map-area">
                <canvas ref={canvas} tabIndex={0} role="img" aria-label={text.map.label((tracks.value ?? []).map((t) => t.name).join(', '))} onPointerMove={drag} onWheel={wheel} onKeyDown={key} />
            </div>
        </div>
    );
}
