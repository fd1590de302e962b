// Fields as strips over time: each value from where it begins to the next one. Texts, booleans and numbers that are few.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { offset } from '../../format';
import { usePlaybackPart } from '../../playback';
import { statesText } from '../../text/signals';
import type { Topic } from '../../types';
import { Button, EmptyState, Failed, Menu, Spinner } from '../../ui';
import { useRequest } from '../../use_request';
import { useWidth } from '../../use_size';
import { panSpan, useGestures, zoomSpan } from '../../zoom';
import type { PanelProps } from '../index';
import { useLink, type Link } from '../linked';
import { curveOf, dropTarget, readCurves, withFields, writeCurves } from '../plot/curves';
import { Picker } from '../plot/picker';
import { readSpan, writeSpan } from '../plot/settings';
import { loadTracks, namesOf, placesKey, runAt, type Track } from './runs';
import { Strip } from './strip';

type Span = [from: number, to: number];
const SHORTEST_S = 1e-6; // of a zoom by the wheel
const SETTLE_MS = 150; // after the last step of the wheel, the messages are loaded
const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** The fields shown until some are selected: booleans and texts of their own topics. */
const defaultFields = (topics: Topic[]): string[] =>
    topics
        .filter(({ type, messages }) => messages > 0 && /std_msgs\/(msg\/)?(Bool|String)$/.test(type))
        .slice(0, 4)
        .map(({ name }) => `${name}.data`);

function useTracks({ recording, topics }: PanelProps, fields: string[], [from, to]: Span, end: bigint) {
    const key = useMemo(() => placesKey(fields, topics), [fields, topics]);
    const names = useRequest((signal) => namesOf(recording, topics, fields, signal), [recording.id, key]);
    return useRequest(
        (signal) =>
            names.loading
                ? Promise.resolve([])
                : loadTracks({ recording, topics, fields, from, to }, names.value ?? new Map(), signal),
        [recording.id, end, key, from, to, names.loading],
    );
}

/** The wheel and two fingers zoom; `draft` is the zoom until they rest. */
function useZoom(link: Link, shown: Span, whole: Span, area: { current: HTMLElement | null }) {
    const [draft, setDraft] = useState<Span | null>(null);
    const timer = useRef<ReturnType<typeof setTimeout>>();
    useEffect(() => {
        setDraft(null);
        return () => clearTimeout(timer.current);
    }, shown);
    const now = draft ?? shown;
    const to = (next: Span): boolean => {
        if (next[0] === now[0] && next[1] === now[1]) {
            return false;
        }
        setDraft(next);
        clearTimeout(timer.current);
        timer.current = setTimeout(
            () => link.setZoom(next[0] <= whole[0] && next[1] >= whole[1] ? null : writeSpan(next)),
            SETTLE_MS,
        );
        return true;
    };
    const perPixel = () => (now[1] - now[0]) / (area.current?.clientWidth || 1);
    useGestures(area, {
        zoom: (factor, x) => to(zoomSpan(now, now[0] + x * perPixel(), factor, whole, SHORTEST_S)),
        pan: (dx) => to(panSpan(now, -dx * perPixel(), whole)),
    });
    return now;
}

/** Moves the playhead's line and the pointer's, and writes the values there, without a render. */
function useMarks(
    { playback }: PanelProps,
    link: Link,
    tracks: Track[],
    [from, to]: Span,
    root: { current: HTMLElement | null },
) {
    useLayoutEffect(() => {
        const { bounds } = playback.get();
        const place = (name: string, seconds: number | null) => {
            const mark = root.current!.querySelector<HTMLElement>(`.states-${name}`)!;
            mark.hidden = seconds === null || seconds < from || seconds > to;
            mark.style.left = `${(((seconds ?? from) - from) / (to - from || 1)) * 100}%`;
        };
        const show = () => {
            const now = Number(playback.get().time_ns - bounds.start) / 1e9;
            const pointed = link.cursor?.get() ?? null;
            place('playhead', now);
            place('cursor', pointed);
            root.current!.querySelectorAll('.states-value').forEach((element, i) => {
                element.textContent = runAt(tracks[i]?.runs ?? [], pointed ?? now)?.value ?? '–';
            });
        };
        show();
        const stops = [playback.subscribe(show), link.cursor?.subscribe(show)];
        return () => stops.forEach((stop) => stop?.());
    }, [playback, link.cursor, tracks, from, to]);
}

export default function States(props: PanelProps) {
    const { topics, playback, settings, onSettings } = props;
    const newest = usePlaybackPart(playback, (state) => state.bounds);
    const [bounds, setBounds] = useState(newest);
    const link = useLink(props);
    const area = useRef<HTMLDivElement>(null);
    const width = useWidth(area);
    const [picking, setPicking] = useState(false);
    const whole: Span = useMemo(() => [0, Math.max(Number(bounds.end - bounds.start) / 1e9, 1e-6)], [bounds]);
    const zoom = readSpan(settings.zoom);
    const fields = useMemo(
        () =>
            settings.fields === undefined
                ? defaultFields(topics)
                : readCurves(settings.fields).map(({ field }) => field),
        [settings.fields, topics],
    );
    const asked = zoom ?? whole;
    const [from, to] = useZoom(link, asked, whole, area);
    const result = useTracks(props, fields, asked, bounds.end);
    useEffect(() => {
        if (!result.loading) {
            setBounds(newest); // a live recording grows faster than some requests are answered
        }
    }, [newest, result.loading]);
    const tracks = useMemo(
        () =>
            fields.map(
                (field) => result.value?.find((one) => one.field === field) ?? { field, runs: [], thinned: false },
            ),
        [fields, result.value],
    );
    useMarks(props, link, tracks, [from, to], area);
    const pointed = useRef(false);
    const point = (seconds: number | null) => {
        pointed.current = seconds !== null;
        link.cursor?.set(seconds);
    };
    useEffect(() => () => void (pointed.current && link.cursor?.set(null)), [link.cursor]);
    const setFields = (next: string[]) => onSettings({ fields: writeCurves(next.map(curveOf)) });
    const timeAt = (event: MouseEvent) => {
        const box = area.current!.getBoundingClientRect();
        return from + ((event.clientX - box.left) / box.width) * (to - from);
    };
    const seek = (seconds: number) => playback.seek(bounds.start + BigInt(Math.round(seconds * 1e9)));
    const step = ({ runs }: Track, forward: boolean) => {
        const now = Number(playback.get().time_ns - bounds.start) / 1e9;
        const next = forward ? runs.find((run) => run.from > now) : runs.filter((run) => run.from < now).at(-1);
        if (next) {
            playback.pause();
            seek(next.from);
        }
    };
    return (
        <div
            class="states"
            {...dropTarget((dropped) =>
                onSettings({ fields: withFields(settings.fields ?? writeCurves(fields.map(curveOf)), dropped) }),
            )}
        >
            <div class="states-bar row">
                <Button icon="settings" onClick={() => setPicking(true)}>
                    {statesText.fields}
                </Button>
                {zoom && <Button onClick={() => link.setZoom(null)}>{statesText.resetZoom}</Button>}
                <Menu
                    icon="more"
                    kind="plain"
                    label={statesText.view}
                    items={[{ label: statesText.link, checked: link.linked, run: link.toggle }]}
                />
                {result.loading && fields.length > 0 && <Spinner />}
            </div>
            {result.error !== null && <Failed error={result.error} retry={result.reload} />}
            {tracks.some(({ thinned }) => thinned) && <p class="states-note small muted">{statesText.thinned}</p>}
            {fields.length === 0 && (
                <EmptyState title={statesText.empty} help={statesText.emptyHelp}>
                    <Button kind="main" onClick={() => setPicking(true)}>
                        {statesText.choose}
                    </Button>
                </EmptyState>
            )}
            <div class={`states-scroll ${fields.length === 0 ? 'visually-hidden' : ''}`}>
                <div
                    class="states-area"
                    ref={area}
                    onPointerMove={(event) => point(timeAt(event))}
                    onPointerLeave={() => point(null)}
                    onClick={(event) => (event.target as Element).closest('.states-strip') && seek(timeAt(event))}
                    onDblClick={() => link.setZoom(null)}
                >
                    {tracks.map((track) => (
                        <Strip
                            key={track.field}
                            track={track}
                            from={from}
                            to={to}
                            width={width}
                            onStep={(forward) => step(track, forward)}
                            onRemove={() => setFields(fields.filter((field) => field !== track.field))}
                        />
                    ))}
                    <div class="states-axis small muted" aria-hidden="true">
                        {TICKS.map((part) => (
                            <span key={part}>{offset(BigInt(Math.round((from + part * (to - from)) * 1e9)))}</span>
                        ))}
                    </div>
                    <div class="states-cursor" />
                    <div class="states-playhead" />
                </div>
            </div>
            {picking && (
                <Picker {...props} texts chosen={fields} onChange={setFields} onClose={() => setPicking(false)} />
            )}
        </div>
    );
}
