// The map: drag moves it, the wheel and the buttons zoom, dots are where things are at the play head.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAsk } from '../../ask';
import { saveBlob } from '../../save';
import { useStore } from '../../store';
import { text } from '../../text';
import { colour, shown as themeShown } from '../../theme';
import { Button, Failed, Spinner } from '../../ui';
import type { PanelProps } from '../index';
import { drawMap, flatten, lookAtAll, type Look } from './draw';
import { geoJson, placesOf, tracksOf, type Track } from './tracks';

const SCALE = { least: 1e-7, most: 1e5 }; // pixels for a metre
const KEY_PX = 40; // an arrow moves the map so far

function useTracks({ recording, topics }: PanelProps) {
    return useAsk<Track[]>(
        async (signal) => {
            const places = topics.flatMap((topic) => {
                const place = placesOf(topic);
                return place ? [{ topic, place }] : [];
            });
            const kind = places.some((p) => p.place.kind === 'globe') ? 'globe' : 'plane'; // metres of somewhere else do not go on the globe
            const all = await Promise.all(places.filter((p) => p.place.kind === kind).map((p) => tracksOf(recording, p.topic, p.place, signal)));
            return all.flat();
        },
        [recording.id],
    );
}

function save(tracks: Track[], name: string): void {
    saveBlob(new Blob([geoJson(tracks)], { type: 'application/geo+json' }), `${name}.geojson`);
}

export function MapPanel(props: PanelProps) {
    const { clock, recording } = props;
    const tracks = useTracks(props);
    const flat = useMemo(() => flatten(tracks.value ?? []), [tracks.value]);
    const canvas = useRef<HTMLCanvasElement>(null);
    const [size, setSize] = useState({ width: 0, height: 0 });
    const [look, setLook] = useState<Look | null>(null);
    const theme = useStore(themeShown);
    const now = look ?? lookAtAll(flat, size.width, size.height);
    useEffect(() => {
        const sizes = new ResizeObserver(([entry]) => setSize({ width: entry!.contentRect.width, height: entry!.contentRect.height }));
        sizes.observe(canvas.current!.parentElement!);
        return () => sizes.disconnect();
    }, []);
    useEffect(() => {
        const made = canvas.current!;
        const scale = devicePixelRatio || 1;
        made.width = Math.max(1, Math.round(size.width * scale));
        made.height = Math.max(1, Math.round(size.height * scale));
        const context = made.getContext('2d')!;
        context.scale(scale, scale);
        const ink = { grid: colour('--line'), words: colour('--ink-soft'), paper: colour('--paper'), curves: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => colour(`--c${n}`)) };
        const draw = () => drawMap(context, flat, now, size.width, size.height, clock.get().time_ns, ink);
        draw();
        return clock.subscribe(draw);
    }, [flat, now.x, now.y, now.scale, size.width, size.height, theme, clock]);
    const zoom = (by: number) => setLook({ ...now, scale: Math.min(Math.max(now.scale * by, SCALE.least), SCALE.most) });
    const move = (x: number, y: number) => setLook({ ...now, x: now.x + x / now.scale, y: now.y + y / now.scale });
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
                <Button icon="plus" label={text.map.closer} onClick={() => zoom(1.5)} />
                <Button onClick={() => zoom(1 / 1.5)} label={text.map.farther}>
                    −
                </Button>
                <Button icon="full" label={text.map.all} onClick={() => setLook(null)} />
                <Button icon="download" disabled={!tracks.value?.length} onClick={() => save(tracks.value ?? [], recording.name)}>
                    {text.map.save}
                </Button>
                <span class="small soft">{text.map.tracks(tracks.value?.length ?? 0)}</span>
                {tracks.waiting && <Spinner />}
            </div>
            {tracks.error !== null && <Failed error={tracks.error} retry={tracks.again} />}
            <div class="map-room">
                <canvas ref={canvas} tabIndex={0} role="img" aria-label={text.map.label((tracks.value ?? []).map((t) => t.name).join(', '))} onPointerMove={drag} onWheel={wheel} onKeyDown={key} />
            </div>
        </div>
    );
}
