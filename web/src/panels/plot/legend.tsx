// The legend: for each line its colour, name and value at the playhead, or under the pointer. The values change without
// a render.
import { useEffect, useRef } from 'preact/hooks';
import { offset } from '../../format';
import type { Playback } from '../../playback';
import { plotText } from '../../text/panels';
import { Button, Menu } from '../../ui';
import { curveName, curveOf, type Curve, type Step } from './curves';
import type { Line } from './data';
import { colourOf } from './draw';
import { watchHead } from './head';
import { indexAt } from './maths';
import type { PlotSettings } from './settings';
import { peakOf } from './spectrum';

const SHOWN_DIGITS = 7;
const AVERAGE_S = 1; // of a moving average, until it is edited
export const valueText = (value: number): string =>
    Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(SHOWN_DIGITS)));

/** With its recording, where there are two; `own`: the name of the panel's. */
export const nameOf = ({ curve, source }: Line, own: string): string =>
    [curveName(curve), source.name || own].filter(Boolean).join(' · ');

/** Shows the values at a time, or at a frequency; `pointed`: under the pointer. */
export type ShowValues = (at: number, pointed: boolean) => void;

interface Props {
    playback: Playback;
    set: PlotSettings;
    lines: Line[];
    own: string; // the name of the panel's recording where there are two; else empty
    theme: string;
    onEdit: (index: number) => void;
    onCombine: (curve: Curve) => void;
    values: { current: ShowValues | null }; // set here
}

type MenuProps = { set: PlotSettings; curve: Curve; onEdit: () => void; onCombine: (curve: Curve) => void };
function CurveMenu({ set, curve, onEdit, onCombine }: MenuProps) {
    const change = (part: Partial<Curve>) =>
        set.setCurves(set.curves.map((one) => (one === curve ? { ...one, ...part } : one)));
    const step = (added: Extract<Step, { kind: 'derivative' | 'integral' | 'average' }>) => ({
        label: plotText.step[added.kind],
        run: () =>
            set.setCurves(
                set.curves.flatMap((one) =>
                    one === curve ? [one, { ...curveOf(one.field), steps: [...one.steps, added] }] : [one],
                ),
            ),
    });
    return (
        <Menu
            label={plotText.curve(curveName(curve))}
            items={[
                { label: plotText.edit, icon: 'edit', run: onEdit },
                step({ kind: 'derivative' }),
                step({ kind: 'integral' }),
                step({ kind: 'average', seconds: AVERAGE_S }),
                { label: plotText.combine, run: () => onCombine(curve) },
                { label: plotText.right, checked: curve.right, run: () => change({ right: !curve.right }) },
                { label: plotText.useAsX, run: () => set.setX(curve) },
                {
                    label: plotText.remove,
                    icon: 'trash',
                    run: () => set.setCurves(set.curves.filter((one) => one !== curve)),
                },
            ]}
        />
    );
}

/** A square in the line's colour; without a fill where the curve is hidden. */
function Swatch({ line, name, theme, onClick }: { line: Line; name: string; theme: string; onClick: () => void }) {
    return (
        <button
            type="button"
            class="plot-swatch"
            aria-pressed={!line.curve.hidden}
            aria-label={plotText.show(name)}
            title={plotText.show(name)}
            onClick={onClick}
        >
            <span
                key={theme}
                class={line.source.name ? 'plot-swatch-other' : ''}
                style={{
                    borderColor: colourOf(line),
                    background: line.curve.hidden || line.source.name ? 'none' : colourOf(line),
                }}
            />
        </button>
    );
}

export function Legend({ playback, set, lines, own, theme, onEdit, onCombine, values }: Props) {
    const root = useRef<HTMLDivElement>(null);
    const secondsOf = (time_ns: bigint) => Number(time_ns - playback.get().bounds.start) / 1e9;
    const last = useRef({ at: secondsOf(playback.get().time_ns), pointed: false }); // what is shown
    useEffect(() => {
        const exact = new Map<Line, { seconds: number; value: number }>(); // where the playhead rests
        const valueOf = (line: Line, at: number, pointed: boolean): string => {
            if (set.spectrum && !pointed) {
                return plotText.peak(peakOf(line.points));
            }
            const index = indexAt(line.points, at);
            const known = exact.get(line);
            const value = known?.seconds === at ? known.value : index < 0 ? NaN : line.points.v[index]!;
            return Number.isNaN(value) ? '–' : valueText(value);
        };
        const show: ShowValues = (at, pointed) => {
            last.current = { at, pointed };
            root.current!.querySelector('.plot-time')!.textContent = !set.spectrum
                ? offset(BigInt(Math.round(at * 1e9)))
                : pointed
                  ? plotText.hertz(at)
                  : '';
            root.current!.querySelectorAll('.plot-value').forEach((element, i) => {
                const line = lines[i]; // none: this is called before the effect of a render with more lines
                element.textContent = line ? valueOf(line, at, pointed) : '–';
            });
        };
        const stop = watchHead(playback, set.spectrum ? [] : lines, (line, time_ns, value) => {
            exact.set(line, { seconds: secondsOf(time_ns), value });
            show(last.current.at, last.current.pointed);
        });
        values.current = show;
        show(last.current.at, last.current.pointed);
        return () => {
            values.current = null;
            stop();
        };
    }, [lines, playback, set.spectrum]);
    const toggle = (curve: Curve) =>
        set.setCurves(set.curves.map((one) => (one === curve ? { ...one, hidden: !one.hidden } : one)));
    return (
        <div class="plot-legend small" ref={root} role="group" aria-label={plotText.legend}>
            <span class="mono plot-time" />
            <span class="plot-items">
                {set.x && (
                    <span class="plot-item">
                        <span class="muted">{plotText.x}</span> <span class="mono">{curveName(set.x)}</span>
                        <Button kind="quiet" icon="close" label={plotText.overTime} onClick={() => set.setX(null)} />
                    </span>
                )}
                {lines.map((line) => {
                    const curve = set.curves[line.index];
                    return (
                        curve && (
                            <span key={`${line.index} ${line.source.name}`} class="plot-item">
                                <Swatch
                                    line={line}
                                    name={nameOf(line, own)}
                                    theme={theme}
                                    onClick={() => toggle(curve)}
                                />
                                <span class="mono plot-name" title={nameOf(line, own)}>
                                    <bdi>{nameOf(line, own)}</bdi>
                                </span>
                                <span class="mono plot-value" />
                                {!line.source.name && (
                                    <CurveMenu
                                        set={set}
                                        curve={curve}
                                        onEdit={() => onEdit(line.index)}
                                        onCombine={onCombine}
                                    />
                                )}
                            </span>
                        )
                    );
                })}
            </span>
        </div>
    );
}
