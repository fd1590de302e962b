// The plot: fields, zoom (each zoom loads /series anew at full resolution), playhead, export as PNG or CSV.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError, download, get } from '../../api';
import { useRequest } from '../../use_request';
import { saveBlob } from '../../save_blob';
import { useStore } from '../../store';
import { text } from '../../text';
import { shownTheme } from '../../theme';
import { showError } from '../../toasts';
import { Button, EmptyState, Failed, Menu, Spinner } from '../../ui';
import type { PanelProps } from '../index';
import { createChart, type Chart, type Curve } from './chart';
import { defaultFields, firstFields } from './fields';
import { Picker } from './picker';

type Pair = [string, number | string | null];

function curve(field: string, pairs: Pair[], start: bigint): Curve {
    const number = (value: Pair[1]) => (value === null ? null : Number.isFinite(Number(value)) ? Number(value) : null);
    return { field, points: pairs.map(([time, value]) => [Number(BigInt(time) - start) / 1e9, number(value)]) };
}

/** What could be loaded, and of each other field why not. */
interface Loaded {
    curves: Curve[];
    problems: { field: string; why: string }[];
}

async function curvesOf(id: string, fields: string[], params: Record<string, string | number>, start: bigint, signal: AbortSignal): Promise<Curve[]> {
    const answer = await get<Pair[] | Record<string, Pair[]>>(`/recordings/${id}/series`, { field: fields, time_format: 'nanoseconds', ...params }, signal);
    return Array.isArray(answer) ? [curve(fields[0]!, answer, start)] : fields.map((field) => curve(field, answer[field] ?? [], start));
}

/** In one request; if that is refused, in one for each field, so that the others are shown. */
async function load(id: string, fields: string[], params: Record<string, string | number>, start: bigint, signal: AbortSignal): Promise<Loaded> {
    try {
        return { curves: await curvesOf(id, fields, params, start, signal), problems: [] };
    } catch (error) {
        const refused = error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 401;
        if (!refused || fields.length < 2) {
            throw error;
        }
    }
    const answers = await Promise.allSettled(fields.map((field) => curvesOf(id, [field], params, start, signal)));
    return {
        curves: answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])),
        problems: answers.flatMap((answer, i) => (answer.status === 'rejected' ? [{ field: fields[i]!, why: (answer.reason as Error).message }] : [])),
    };
}

/** Fields joined by '|', which is escaped in names. No field is '|' alone: without the parameter the default fields are shown. */
const joinFields = (fields: string[]): string => fields.map((f) => f.replace(/%/g, '%25').replace(/\|/g, '%7C')).join('|') || '|';
const splitFields = (value: string): string[] =>
    value
        .split('|')
        .filter(Boolean)
        .map((f) => f.replace(/%7C/g, '|').replace(/%25/g, '%'));

/** Fields and zoom from the URL. */
function usePlotSettings({ recording, topics, playback, settings, onSettings }: PanelProps) {
    const known = useMemo(() => (settings.fields === undefined ? defaultFields(topics) : splitFields(settings.fields)), [settings.fields, topics]);
    const search = settings.fields === undefined && known.length === 0;
    const first = useRequest((signal) => (search ? firstFields(recording, topics, signal) : Promise.resolve([])), [recording.id, search]);
    const fields = search ? (first.value ?? []) : known;
    const { bounds } = playback.get();
    const whole = Number(bounds.end - bounds.start) / 1e9;
    const [a = NaN, b = NaN] = settings.zoom?.split('~').map(Number) ?? [];
    const zoomed = Number.isFinite(a) && Number.isFinite(b) && a < b; // the URL may contain anything
    return {
        fields,
        searching: search && first.loading,
        from: zoomed ? a : 0,
        to: zoomed ? b : whole,
        zoomed,
        setFields: (next: string[]) => onSettings({ fields: joinFields(next) }),
        zoom: (a: number, b: number) => onSettings({ zoom: `${a.toFixed(9)}~${b.toFixed(9)}` }),
        resetZoom: () => onSettings({ zoom: null }),
    };
}

export default function Plot(props: PanelProps) {
    const { recording, playback } = props;
    const set = usePlotSettings(props);
    const { bounds } = playback.get();
    const area = useRef<HTMLDivElement>(null);
    const chart = useRef<Chart | null>(null);
    const latest = useRef(set);
    latest.current = set;
    const [picking, setPicking] = useState(false);
    const theme = useStore(shownTheme);
    const at = (seconds: number) => bounds.start + BigInt(Math.round(seconds * 1e9));
    const params = { start: String(at(set.from)), end: String(at(set.to) + 1n) };
    const curves = useRequest<Loaded>(
        (signal) => (set.fields.length > 0 ? load(recording.id, set.fields, { ...params, max_points: Math.max(200, (area.current?.clientWidth ?? 600) * 2) }, bounds.start, signal) : Promise.resolve({ curves: [], problems: [] })),
        [recording.id, set.fields.join('|'), set.from, set.to],
    );
    useEffect(() => {
        const created = createChart(area.current!, { zoom: (a, b) => latest.current.zoom(a, b), resetZoom: () => latest.current.resetZoom(), seek: (s) => Number.isFinite(s) && playback.seek(at(s)) });
        chart.current = created;
        const sizes = new ResizeObserver(([entry]) => created.resize(entry!.contentRect.width, entry!.contentRect.height));
        sizes.observe(area.current!);
        const unsubscribe = playback.subscribe(({ time_ns }) => created.setPlayhead(Number(time_ns - bounds.start) / 1e9));
        created.setPlayhead(Number(playback.get().time_ns - bounds.start) / 1e9);
        return () => {
            unsubscribe();
            sizes.disconnect();
            created.destroy();
        };
    }, [playback]);
    useEffect(() => {
        if (curves.value) {
            chart.current?.show(curves.value.curves, set.from, set.to);
        }
    }, [curves.value, theme]);
    const png = async () => {
        const blob = await chart.current?.toImage();
        if (blob) {
            saveBlob(blob, `${recording.name}.png`);
        }
    };
    const csv = () => void download(`/recordings/${recording.id}/series`, { field: set.fields, ...params, max_points: 100000, time_format: 'rfc3339', format: 'csv' }).catch(showError);
    return (
        <div class="plot">
            <div class="plot-tools row">
                <Button icon="settings" onClick={() => setPicking(true)}>
                    {text.plot.fields}
                </Button>
                {set.zoomed && <Button onClick={set.resetZoom}>{text.plot.resetZoom}</Button>}
                <Menu
                    icon="download"
                    kind="plain"
                    label={text.plot.save}
                    items={[
                        { label: text.plot.png, disabled: set.fields.length === 0, run: () => void png() },
                        { label: text.plot.csv, disabled: set.fields.length === 0, run: csv },
                    ]}
                />
                {(set.searching || (curves.loading && set.fields.length > 0)) && <Spinner />}
            </div>
            {curves.error !== null && <Failed error={curves.error} retry={curves.reload} />}
            {curves.value?.problems.map(({ field, why }) => (
                <p key={field} class="plot-problem small" role="alert">
                    <span class="mono">{field}</span>: {why}
                </p>
            ))}
            {set.fields.length === 0 && !set.searching && (
                <EmptyState title={text.plot.empty} help={text.plot.emptyHelp}>
                    <Button kind="main" onClick={() => setPicking(true)}>
                        {text.plot.choose}
                    </Button>
                </EmptyState>
            )}
            <div class={`plot-area ${set.fields.length === 0 ? 'visually-hidden' : ''}`} ref={area} role="img" aria-label={text.plot.label(set.fields.join(', '))} />
            {picking && <Picker {...props} chosen={set.fields} onChange={set.setFields} onClose={() => setPicking(false)} />}
        </div>
    );
}
