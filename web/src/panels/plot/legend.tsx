// The legend: for each line its colour, name and value at the playhead, or under the pointer. The values change without
// a render.
import { useEffect, useRef } from 'preact/hooks';
import { offset } from '../../format';
import type { Playback } from '../../playback';
import { plotText } from '../../text/panels';
import { Button, Menu } from '../../ui';
import { curveOf, stepText, type Curve } from './curves';
import type { Line } from './data';
import { colourOf } from './draw';
import { watchHead } from './head';
import { indexAt } from './maths';
import type { PlotSettings } from './settings';

const SHOWN_DIGITS = 7;
export const valueText = (value: number): string =>
    Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(SHOWN_DIGITS)));

/** How a curve is called: the field, and what is done to it. */
export const curveName = ({ field, steps }: Curve): string => [field, ...steps.map(stepText)].join(' ');
/** With its recording, where there are two; `own`: the name of the panel's. */
export const nameOf = ({ curve, source }: Line, own: string): string =>
    [curveName(curve), source.name || own].filter(Boolean).join(' · ');

interface Props {
    playback: Playback;
    set: PlotSettings;
    lines: Line[];
    own: string; // the name of the panel's recording where there are two; else empty
    theme: string;
    onEdit: (index: number) => void;
    /** Sets what shows the values at a time. */
    values: { current: ((seconds: number) => void) | null };
}

function CurveMenu({ set, curve, onEdit }: { set: PlotSettings; curve: Curve; onEdit: () => void }) {
    const change = (part: Partial<Curve>) =>
        set.setCurves(set.curves.map((one) => (one === curve ? { ...one, ...part } : one)));
    const step = (kind: 'derivative' | 'integral') => ({
        label: plotText.step[kind],
        run: () =>
            set.setCurves(
                set.curves.flatMap((one) =>
                    one === curve ? [one, { ...curveOf(one.field), steps: [...one.steps, { kind }] }] : [one],
                ),
            ),
    });
    return (
        <Menu
            label={plotText.curve(curveName(curve))}
            items={[
                { label: plotText.edit, icon: 'edit', run: onEdit },
                step('derivative'),
                step('integral'),
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

export function Legend({ playback, set, lines, own, theme, onEdit, values }: Props) {
    const root = useRef<HTMLDivElement>(null);
    const secondsOf = (time_ns: bigint) => Number(time_ns - playback.get().bounds.start) / 1e9;
    const last = useRef(secondsOf(playback.get().time_ns)); // the shown time
    useEffect(() => {
        const exact = new Map<Line, { seconds: number; value: number }>(); // where the playhead rests
        const show = (seconds: number) => {
            last.current = seconds;
            root.current!.querySelector('.plot-time')!.textContent = offset(BigInt(Math.round(seconds * 1e9)));
            root.current!.querySelectorAll('.plot-value').forEach((element, i) => {
                const line = lines[i]!;
                const at = indexAt(line.points, seconds);
                const known = exact.get(line);
                const value = known?.seconds === seconds ? known.value : at < 0 ? NaN : line.points.v[at]!;
                element.textContent = Number.isNaN(value) ? '–' : valueText(value);
            });
        };
        const stop = watchHead(playback, lines, (line, time_ns, value) => {
            exact.set(line, { seconds: secondsOf(time_ns), value });
            show(last.current);
        });
        values.current = show;
        show(last.current);
        return () => {
            values.current = null;
            stop();
        };
    }, [lines, playback]);
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
                                    <CurveMenu set={set} curve={curve} onEdit={() => onEdit(line.index)} />
                                )}
                            </span>
                        )
                    );
                })}
            </span>
        </div>
    );
}
