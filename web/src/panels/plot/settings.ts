// The settings of a plot: fields (curves.ts), x (the field of an XY plot), zoom, y and y2 (fixed axes), dots.
import { useMemo } from 'preact/hooks';
import { useRequest } from '../../use_request';
import type { PanelProps } from '../index';
import { curveOf, readCurves, writeCurves, type Curve } from './curves';
import { defaultFields, firstFields } from './fields';

type Span = [from: number, to: number];

/** 'a~b'; null: anything else, as the URL may contain anything. */
export function readSpan(setting: string | undefined): Span | null {
    const [a = NaN, b = NaN] = setting?.split('~').map(Number) ?? [];
    return Number.isFinite(a) && Number.isFinite(b) && a < b ? [a, b] : null;
}
export const writeSpan = ([a, b]: Span, digits = 9): string => `${Number(a.toFixed(digits))}~${Number(b.toFixed(digits))}`;

export interface PlotSettings {
    curves: Curve[];
    searching: boolean; // for the curves shown until some are selected
    x: Curve | null; // null: time
    from: number; // seconds
    to: number;
    zoomed: boolean;
    y: Span | null;
    y2: Span | null;
    dots: boolean;
    setCurves: (next: Curve[]) => void;
    setX: (curve: Curve | null) => void;
    zoom: (from: number, to: number) => void;
    resetZoom: () => void;
}

export function usePlotSettings({ recording, topics, playback, settings, onSettings }: PanelProps): PlotSettings {
    const { fields } = settings;
    const known = useMemo(() => (fields === undefined ? defaultFields(topics).map(curveOf) : readCurves(fields)), [fields, topics]);
    const search = fields === undefined && known.length === 0;
    const first = useRequest((signal) => (search ? firstFields(recording, topics, signal) : Promise.resolve([])), [recording.id, search]);
    const found = useMemo(() => (search ? (first.value ?? []).map(curveOf) : known), [search, first.value, known]);
    const x = useMemo(() => readCurves(settings.x ?? '')[0] ?? null, [settings.x]);
    const { bounds } = playback.get();
    const zoom = readSpan(settings.zoom);
    const [from, to] = zoom ?? [0, Number(bounds.end - bounds.start) / 1e9];
    return {
        curves: found,
        searching: search && first.loading,
        x,
        from,
        to,
        zoomed: zoom !== null,
        y: readSpan(settings.y),
        y2: readSpan(settings.y2),
        dots: settings.dots === '1',
        setCurves: (next) => onSettings({ fields: writeCurves(next) }),
        setX: (curve) => onSettings(curve ? { x: writeCurves([curve]), fields: writeCurves(found.filter((one) => one !== curve)) } : { x: null }),
        zoom: (a, b) => onSettings({ zoom: writeSpan([a, b]) }),
        resetZoom: () => onSettings({ zoom: null }),
    };
}
