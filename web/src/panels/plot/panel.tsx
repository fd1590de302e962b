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
import { curveName, curveOf, dropTarget, withFields, writeCurves, type Curve } from './curves';
import { loadLines, type Line, type Loaded, type Source } from './data';
import { FormulaDialog } from './formula';
import { Legend, type ShowValues } from './legend';
import { Picker } from './picker';
import { isOf, usePlotSettings, writeSpan, type PlotSettings } from './settings';
import { spectrumOf } from './spectrum';
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
                sampled: set.spectrum ? ('mean' as const) : set.x || set.difference ? ('last' as const) : null,
            };
            const own: Source = { recording, topics, shift_ns: 0n, name: '' };
            const second = other && { ...other, name: other.recording.name };
            const shared = (curve: Curve) => other !== null && isOf(other, curve);
            const difference = set.difference && other ? plotText.differenceTo(other.recording.name) : null;
            return set.curves.length > 0
                ? loadLines(own, second, set.curves, shared, request, difference, signal)
                : Promise.resolve(NOTHING);
        },
        [
            recording.id,
            bounds.end,
            fields,
            set.from,
            set.to,
            other?.recording.id,
            other?.shift_ns,
            set.spectrum,
            set.difference,
        ],
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
    const values = useRef<ShowValues | null>(null);
    const theme = useStore(shownTheme);
    const latest = useRef(set);
    latest.current = set;
    const key = useRef(''); // of what is drawn; empty while the points of another range are awaited
    const { bounds } = playback.get();
    useLayoutEffect(() => {
        const seconds = () => Number(playback.get().time_ns - bounds.start) / 1e9;
        let hovered: number | null = null;
        const cursor = set.link.cursor;
        const pointed = () => hovered ?? (latest.current.spectrum ? null : (cursor?.get() ?? null));
        const showValues = () => values.current?.(pointed() ?? seconds(), pointed() !== null);
        const hover = (at: number | null) => {
            hovered = at;
            if (!latest.current.spectrum) {
                cursor?.set(at);
            }
            showValues();
        };
        const created = new Chart(area.current!, {
            zoom: (a, b) => latest.current.zoom(a, b),
            resetZoom: () => latest.current.resetZoom(),
            seek: (s) => playback.seek(bounds.start + BigInt(Math.round(s * 1e9))),
            hover,
            drawn: () => (area.current!.dataset.drawn = key.current),
        });
        chart.current = created;
        const sizes = new ResizeObserver(([entry]) =>
            created.resize(entry!.contentRect.width, entry!.contentRect.height),
        );
        sizes.observe(area.current!);
        const move = () => (created.setPlayhead(seconds()), showValues());
        const unsubscribe = playback.subscribe(move);
        const unlink = cursor?.subscribe((at) => (created.setCursor(hovered === null ? at : null), showValues()));
        move();
        return () => {
            unsubscribe();
            unlink?.();
            void (hovered !== null && cursor?.set(null)); // the pointer cannot leave any more
            sizes.disconnect();
            created.destroy();
        };
    }, [playback, set.link.cursor]);
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
                    overTime: set.x === null && !set.spectrum,
                    spectrum: set.spectrum,
                    dots: set.dots,
                    y: set.y,
                    y2: set.y2,
                },
                theme,
            );
        }
    }, [lines, theme, set.dots, set.y?.join(), set.y2?.join(), set.link.cursor]);
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
        if (set.x || set.spectrum || (next[0] === a && next[1] === b)) {
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
    const [combined, setCombined] = useState<Curve | null>(null);
    const result = useLines(props, set, () => area.current?.clientWidth ?? 600);
    const lines = useMemo(() => {
        const loaded = result.value?.lines ?? null;
        const { from, to } = set;
        return set.spectrum && loaded
            ? loaded.map((line) => {
                  const points = spectrumOf(line.points, from, to);
                  return { ...line, points, x: points.t };
              })
            : loaded;
    }, [result.value, set.spectrum]);
    const { chart, values, theme } = useChart(props, set, result.loading ? null : lines, area);
    useWheel(set, chart, area);
    const drop = dropTarget((fields) =>
        onSettings({ fields: withFields(settings.fields ?? writeCurves(set.curves), fields) }),
    );
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
        <div class="plot" {...drop}>
            <PlotTools
                {...props}
                set={set}
                chart={chart}
                own={result.own}
                onPick={() => setPicking(true)}
                onCombine={() => setCombined(set.curves[0] ?? null)}
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
                        onCombine={setCombined}
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
            {combined && (
                <FormulaDialog
                    {...props}
                    curves={set.curves}
                    first={combined}
                    onAdd={(added) => set.setCurves([...set.curves, added])}
                    onClose={() => setCombined(null)}
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
