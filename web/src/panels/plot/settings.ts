// The settings of a plot: fields (curves.ts), x (the field of an XY plot), zoom and link (linked.ts), y and y2 (fixed
// axes), dots, fft (frequencies), diff (the difference between two recordings).
import { useMemo } from 'preact/hooks';
import { useRequest } from '../../use_request';
import { boundsOf } from '../../recording_time';
import type { Companion, PanelProps } from '../index';
import { useLink, type Link } from '../linked';
import { curveOf, fieldsOfCurve, readCurves, writeCurves, type Curve } from './curves';
import { defaultFields, firstFields } from './fields';

type Span = [from: number, to: number];
const FURTHEST_S = 1e11; // of a zoom: more than nanoseconds in 64 bits reach

/** 'a~b'; null: anything else, as the URL may contain anything. */
export function readSpan(setting: string | undefined): Span | null {
    const [a = NaN, b = NaN] = setting?.split('~').map(Number) ?? [];
    return Number.isFinite(a) && Number.isFinite(b) && a < b ? [a, b] : null;
}
export const writeSpan = ([a, b]: Span, digits = 9): string =>
    `${Number(a.toFixed(digits))}~${Number(b.toFixed(digits))}`;

export interface PlotSettings {
    curves: Curve[];
    searching: boolean; // for the curves shown until some are selected
    x: Curve | null; // null: time
    other: Companion | null; // a second recording that has some of the fields
    whole: Span; // seconds: of the recording, and of the other
    from: number;
    to: number;
    zoomed: boolean;
    y: Span | null;
    y2: Span | null;
    dots: boolean;
    spectrum: boolean;
    difference: boolean;
    link: Link;
    setCurves: (next: Curve[]) => void;
    setX: (curve: Curve | null) => void;
    zoom: (from: number, to: number) => void;
    resetZoom: () => void;
}

/** Whether the other recording has the topic of a curve. */
export const isOf = (other: Companion, curve: Curve): boolean =>
    fieldsOfCurve(curve).every((field) => other.topics.some((t) => field === t.name || field.startsWith(`${t.name}.`)));

export function usePlotSettings(props: PanelProps): PlotSettings {
    const { recording, topics, playback, settings, onSettings, companion } = props;
    const link = useLink(props);
    const { fields } = settings;
    const known = useMemo(
        () => (fields === undefined ? defaultFields(topics).map(curveOf) : readCurves(fields)),
        [fields, topics],
    );
    const search = fields === undefined && known.length === 0;
    const first = useRequest(
        (signal) => (search ? firstFields(recording, topics, signal) : Promise.resolve([])),
        [recording.id, search],
    );
    const found = useMemo(() => (search ? (first.value ?? []).map(curveOf) : known), [search, first.value, known]);
    const x = useMemo(() => readCurves(settings.x ?? '')[0] ?? null, [settings.x]);
    const { bounds } = playback.get();
    const other =
        companion && found.some((curve) => isOf(companion, curve)) && (!x || isOf(companion, x)) ? companion : null;
    const seconds = (time: bigint) => Number(time - bounds.start) / 1e9;
    const beside = other ? boundsOf(other.recording) : bounds;
    const shift = other?.shift_ns ?? 0n;
    const whole: Span = [
        Math.min(0, seconds(beside.start + shift)),
        Math.max(seconds(bounds.end), seconds(beside.end + shift)),
    ];
    const asked = readSpan(settings.zoom);
    const zoom = asked && Math.max(Math.abs(asked[0]), Math.abs(asked[1])) < FURTHEST_S ? asked : null;
    const [from, to] = zoom ?? whole;
    return {
        curves: found,
        searching: search && first.loading,
        x,
        other,
        whole,
        from,
        to,
        zoomed: zoom !== null,
        y: readSpan(settings.y),
        y2: readSpan(settings.y2),
        dots: settings.dots === '1',
        spectrum: settings.fft === '1' && x === null,
        difference: settings.diff === '1' && x === null && other !== null,
        link,
        setCurves: (next) => onSettings({ fields: writeCurves(next) }),
        setX: (curve) =>
            onSettings(
                curve
                    ? { x: writeCurves([curve]), fields: writeCurves(found.filter((one) => one !== curve)) }
                    : { x: null },
            ),
        zoom: (a, b) => link.setZoom(writeSpan([a, b])),
        resetZoom: () => link.setZoom(null),
    };
}
