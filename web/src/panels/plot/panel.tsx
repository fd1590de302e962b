// The plot: fields over time or against another field; each zoom loads /series anew at full resolution.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useRequest } from '../../use_request';
import { useStore } from '../../store';
import { plotText } from '../../text/panels';
import { shownTheme } from '../../theme';
import { Button, EmptyState, Failed } from '../../ui';
import { panSpan, useGestures, zoomSpan } from '../../zoom';
import type { PanelProps } from '../index';
import { Chart } from './chart';
import { CurveDialog } from './curve_dialog';
import { curveOf, DRAGGED_FIELD, withField, writeCurves } from './curves';
import { loadLines, type Line, type Loaded, type Source } from './data';
import { curveName, Legend } from './legend';
import { Picker } from './picker';
import { isOf, usePlotSettings, writeSpan, type PlotSettings } from './settings';
import { PlotTools } from './tools';

const SHORTEST_S = 1e-6; // of a zoom by the wheel
const SETTLE_MS = 150; // after the last step of the wheel, the points are loaded

const NOTHING: Loaded = { lines: [], problems: [] };
function useLines({ recording, topics, playback }: PanelProps, set: PlotSettings, width: () => number) {
    const { bounds } = playback.get();
    const { other } = set;
    const fields = [set.x, ...set.curves].map((curve) => curve && writeCurves([curve])).join(' ');
    const result = useRequest<Loaded>(
        (signal) => {
            const request = {
                start: bounds.start,
                from: set.from,
                to: set.to,
                points: Math.max(400, width() * 2),
                xField: set.x,
            };
            const own: Source = { recording, topics, shift_ns: 0n, name: '' };
            const second = other && { ...other, name: other.recording.name };
            return set.curves.length > 0
                ? loadLines(own, second, set.curves, (curve) => other !== null && isOf(other, curve), request, signal)
                : Promise.resolve(NOTHING);
        },
        [recording.id, bounds.end, fields, set.from, set.to, other?.recording.id, other?.shift_ns],
    );
    return { ...result, own: other ? recording.name : '' };
}

/** The chart in `area`, drawn anew when the lines, the settings or the colours change: in the frame of the change. */
function useChart(
    { playback }: PanelProps,
    set: PlotSettings,
    lines: Line[] | null,
    area: { current: HTMLDivElement | null },
) {
    const chart = useRef<Chart | null>(null);
    const values = useRef<((seconds: number) => void) | null>(null);
    const theme = useStore(shownTheme);
    const latest = useRef(set);
    latest.current = set;
    const key = useRef(''); // of what is drawn; empty while the points of another range are awaited
    const { bounds } = playback.get();
    useLayoutEffect(() => {
        const seconds = () => Number(playback.get().time_ns - bounds.start) / 1e9;
        let hovered: number | null = null;
        const showValues = () => values.current?.(hovered ?? seconds());
        const created = new Chart(area.current!, {
            zoom: (a, b) => latest.current.zoom(a, b),
            resetZoom: () => latest.current.resetZoom(),
            seek: (s) => playback.seek(bounds.start + BigInt(Math.round(s * 1e9))),
            hover: (s) => ((hovered = s), showValues()),
            drawn: () => (area.current!.dataset.drawn = key.current),
        });
        chart.current = created;
        const sizes = new ResizeObserver(([entry]) =>
            created.resize(entry!.contentRect.width, entry!.contentRect.height),
        );
        sizes.observe(area.current!);
        const move = () => (created.setPlayhead(seconds()), showValues());
        const unsubscribe = playback.subscribe(move);
        move();
        return () => {
            unsubscribe();
            sizes.disconnect();
            created.destroy();
        };
    }, [playback]);
    useLayoutEffect(() => {
        key.current = '';
        chart.current?.move(set.from, set.to);
    }, [set.from, set.to]);
    useLayoutEffect(() => {
        if (lines) {
            key.current = writeSpan([set.from, set.to]);
            chart.current!.show(
                {
                    lines: lines.filter((line) => !line.curve.hidden),
                    from: set.from,
                    to: set.to,
                    overTime: set.x === null,
                    dots: set.dots,
                    y: set.y,
                    y2: set.y2,
                },
                theme,
            );
        }
    }, [lines, theme, set.dots, set.y?.join(), set.y2?.join()]);
    return { chart, values, theme };
}

/** The wheel and two fingers zoom; the points are loaded when they rest. */
function useWheel(set: PlotSettings, chart: { current: Chart | null }, area: { current: HTMLDivElement | null }) {
    const timer = useRef<ReturnType<typeof setTimeout>>();
    const now = useRef<[number, number]>([set.from, set.to]);
    useEffect(() => {
        now.current = [set.from, set.to];
        return () => clearTimeout(timer.current);
    }, [set.from, set.to]);
    const { whole } = set;
    const to = (next: [number, number]): boolean => {
        const [a, b] = now.current;
        if (set.x || (next[0] === a && next[1] === b)) {
            return false;
        }
        now.current = next;
        chart.current?.move(...next);
        clearTimeout(timer.current);
        timer.current = setTimeout(
            () => (next[0] <= whole[0] && next[1] >= whole[1] ? set.resetZoom() : set.zoom(...next)),
            SETTLE_MS,
        );
        return true;
    };
    useGestures(area, {
        zoom: (factor, x) => {
            const at = chart.current?.timeAt(x) ?? null;
            return at !== null && to(zoomSpan(now.current, at, factor, whole, SHORTEST_S));
        },
        pan: (dx) => to(panSpan(now.current, -dx * (chart.current?.secondsPerPixel() ?? 0), whole)),
    });
}

export default function Plot(props: PanelProps) {
    const { settings, onSettings } = props;
    const set = usePlotSettings(props);
    const area = useRef<HTMLDivElement>(null);
    const [picking, setPicking] = useState(false);
    const [edited, setEdited] = useState<number | null>(null);
    const result = useLines(props, set, () => area.current?.clientWidth ?? 600);
    const lines = useMemo(() => result.value?.lines ?? null, [result.value]);
    const { chart, values, theme } = useChart(props, set, result.loading ? null : lines, area);
    useWheel(set, chart, area);
    const drop = (event: DragEvent) => {
        const field = event.dataTransfer?.getData(DRAGGED_FIELD);
        if (field) {
            event.preventDefault();
            onSettings({ fields: withField(settings.fields ?? writeCurves(set.curves), field) });
        }
    };
    const setFields = (fields: string[]) =>
        set.setCurves(
            fields.flatMap((field) =>
                set.curves.some((c) => c.field === field)
                    ? set.curves.filter((c) => c.field === field)
                    : [curveOf(field)],
            ),
        );
    const curve = edited === null ? undefined : set.curves[edited];
    return (
        <div
            class="plot"
            onDragOver={(event) => event.dataTransfer?.types.includes(DRAGGED_FIELD) && event.preventDefault()}
            onDrop={drop}
        >
            <PlotTools
                {...props}
                set={set}
                chart={chart}
                own={result.own}
                onPick={() => setPicking(true)}
                busy={set.searching || (result.loading && set.curves.length > 0)}
            />
            {result.error !== null && <Failed error={result.error} retry={result.reload} />}
            {result.value?.problems.map(({ field, why }) => (
                <p key={field} class="plot-problem small" role="alert">
                    <span class="mono">{field}</span>: {why}
                </p>
            ))}
            {set.curves.length === 0 && !set.searching && (
                <EmptyState title={plotText.empty} help={plotText.emptyHelp}>
                    <Button kind="main" onClick={() => setPicking(true)}>
                        {plotText.choose}
                    </Button>
                </EmptyState>
            )}
            <div class="plot-body">
                <div
                    class={`plot-area ${set.curves.length === 0 ? 'visually-hidden' : ''}`}
                    ref={area}
                    role="img"
                    aria-label={plotText.label(set.curves.map(curveName).join(', '))}
                />
                {lines && lines.length > 0 && settings.legend !== 'no' && (
                    <Legend
                        playback={props.playback}
                        set={set}
                        lines={lines}
                        own={result.own}
                        theme={theme}
                        values={values}
                        onEdit={setEdited}
                    />
                )}
            </div>
            {picking && (
                <Picker
                    {...props}
                    chosen={[...new Set(set.curves.map((one) => one.field))]}
                    onChange={setFields}
                    onClose={() => setPicking(false)}
                />
            )}
            {curve && (
                <CurveDialog
                    curve={curve}
                    onChange={(next) => set.setCurves(set.curves.map((one) => (one === curve ? next : one)))}
                    onClose={() => setEdited(null)}
                />
            )}
        </div>
    );
}
