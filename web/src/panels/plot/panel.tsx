// The plot: its fields, its zoom (a new question to /series, never a coarser picture blown up), the head, and taking it away as PNG or CSV.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { download, get } from '../../api';
import { useAsk } from '../../ask';
import { saveBlob } from '../../save';
import { useStore } from '../../store';
import { text } from '../../text';
import { shown as themeShown } from '../../theme';
import { showError } from '../../toasts';
import { Button, EmptyState, Failed, Menu, Spinner } from '../../ui';
import type { PanelProps } from '../index';
import { makeChart, type Chart, type Curve } from './chart';
import { usualFields } from './fields';
import { Picker } from './picker';

type Pair = [string, number | string | null];

function curve(field: string, pairs: Pair[], start: bigint): Curve {
    const number = (value: Pair[1]) => (value === null ? null : Number.isFinite(Number(value)) ? Number(value) : null);
    return { field, points: pairs.map(([time, value]) => [Number(BigInt(time) - start) / 1e9, number(value)]) };
}

async function curvesOf(id: string, fields: string[], params: Record<string, string | number>, start: bigint, signal: AbortSignal): Promise<Curve[]> {
    const answer = await get<Pair[] | Record<string, Pair[]>>(`/recordings/${id}/series`, { field: fields, time_format: 'nanoseconds', ...params }, signal);
    return Array.isArray(answer) ? [curve(fields[0]!, answer, start)] : fields.map((field) => curve(field, answer[field] ?? [], start));
}

/** Fields as one text: a topic may have a bar in its name. None at all is a bar alone, for no text means what is usual. */
const joined = (fields: string[]): string => fields.map((f) => f.replace(/%/g, '%25').replace(/\|/g, '%7C')).join('|') || '|';
const parted = (words: string): string[] =>
    words
        .split('|')
        .filter(Boolean)
        .map((f) => f.replace(/%7C/g, '|').replace(/%25/g, '%'));

/** The fields and the zoom, as the address has them. */
function useSettings({ topics, clock, settings, onSettings }: PanelProps) {
    const fields = useMemo(() => (settings.fields === undefined ? usualFields(topics) : parted(settings.fields)), [settings.fields, topics]);
    const { bounds } = clock.get();
    const whole = Number(bounds.end - bounds.start) / 1e9;
    const [a = NaN, b = NaN] = settings.zoom?.split('~').map(Number) ?? [];
    const zoomed = Number.isFinite(a) && Number.isFinite(b) && a < b; // what an address says may be anything
    return {
        fields,
        from: zoomed ? a : 0,
        to: zoomed ? b : whole,
        zoomed,
        setFields: (next: string[]) => onSettings({ fields: joined(next) }),
        zoom: (a: number, b: number) => onSettings({ zoom: `${a.toFixed(9)}~${b.toFixed(9)}` }),
        whole: () => onSettings({ zoom: null }),
    };
}

export default function Plot(props: PanelProps) {
    const { recording, clock } = props;
    const set = useSettings(props);
    const { bounds } = clock.get();
    const room = useRef<HTMLDivElement>(null);
    const chart = useRef<Chart | null>(null);
    const now = useRef(set);
    now.current = set;
    const [picking, setPicking] = useState(false);
    const theme = useStore(themeShown);
    const at = (seconds: number) => bounds.start + BigInt(Math.round(seconds * 1e9));
    const params = { start: String(at(set.from)), end: String(at(set.to) + 1n) };
    const curves = useAsk<Curve[]>(
        (signal) => (set.fields.length > 0 ? curvesOf(recording.id, set.fields, { ...params, max_points: Math.max(200, (room.current?.clientWidth ?? 600) * 2) }, bounds.start, signal) : Promise.resolve([])),
        [recording.id, set.fields.join('|'), set.from, set.to],
    );
    useEffect(() => {
        const made = makeChart(room.current!, { zoom: (a, b) => now.current.zoom(a, b), whole: () => now.current.whole(), seek: (s) => Number.isFinite(s) && clock.seek(at(s)) });
        chart.current = made;
        const sizes = new ResizeObserver(([entry]) => made.size(entry!.contentRect.width, entry!.contentRect.height));
        sizes.observe(room.current!);
        const leave = clock.subscribe(({ time_ns }) => made.head(Number(time_ns - bounds.start) / 1e9));
        made.head(Number(clock.get().time_ns - bounds.start) / 1e9);
        return () => {
            leave();
            sizes.disconnect();
            made.stop();
        };
    }, [clock]);
    useEffect(() => {
        if (curves.value) {
            chart.current?.show(curves.value, set.from, set.to);
        }
    }, [curves.value, theme]);
    const png = async () => {
        const blob = await chart.current?.picture();
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
                {set.zoomed && <Button onClick={set.whole}>{text.plot.whole}</Button>}
                <Menu
                    icon="download"
                    kind="plain"
                    label={text.plot.save}
                    items={[
                        { label: text.plot.png, disabled: set.fields.length === 0, run: () => void png() },
                        { label: text.plot.csv, disabled: set.fields.length === 0, run: csv },
                    ]}
                />
                {curves.waiting && set.fields.length > 0 && <Spinner />}
            </div>
            {curves.error !== null && <Failed error={curves.error} retry={curves.again} />}
            {set.fields.length === 0 && (
                <EmptyState title={text.plot.empty} help={text.plot.emptyHelp}>
                    <Button kind="main" onClick={() => setPicking(true)}>
                        {text.plot.choose}
                    </Button>
                </EmptyState>
            )}
            <div class={`plot-room ${set.fields.length === 0 ? 'unseen' : ''}`} ref={room} role="img" aria-label={text.plot.label(set.fields.join(', '))} />
            {picking && <Picker {...props} chosen={set.fields} onChange={set.setFields} onClose={() => setPicking(false)} />}
        </div>
    );
}
