// The drawing area of a plot: uPlot draws the axes and the selection, draw.ts the lines. x is in seconds from the
// recording's start, as a double precise to a microsecond over years, or in an XY plot a value.
import uPlot from 'uplot';
import { offset } from '../../format';
import { colour } from '../../theme';
import type { Line } from './data';
import { colourOf, dashOf, eachPoint, extent, toPixels, trace, within, type Area } from './draw';
import { indexAt } from './maths';

export interface View {
    lines: Line[]; // in order; those hidden are left out
    from: number; // seconds
    to: number;
    overTime: boolean;
    spectrum: boolean; // x is a frequency
    dots: boolean;
    y: [number, number] | null; // null: fitted
    y2: [number, number] | null;
}
export interface ChartEvents {
    zoom: (from: number, to: number) => void;
    resetZoom: () => void;
    seek: (seconds: number) => void;
    /** The time or frequency under the pointer; null: it is not over the plot. */
    hover: (seconds: number | null) => void;
    drawn: () => void;
}
const FEW = 60; // points of a line, which are then also drawn as dots
const DOT = 2.5; // px
const TICK_PX = 11;

const LABEL_GAP = 14; // px between two labels of times

// seconds between two labels of times, and below a second
const STEPS = [...Array(27).keys()].map((i) => [1, 2, 5][i % 3]! * 10 ** (Math.floor(i / 3) - 9));
STEPS.push(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200);
STEPS.push(...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000].map((days) => days * 86400));
const DIGITS: [number, number][] = [
    [1, 0],
    [1e-3, 3],
    [1e-6, 6],
    [1e-9, 9],
]; // of the labels, from a step on

const timeLabel = (seconds: number, step: number): string =>
    offset(BigInt(Math.round(seconds * 1e9)), DIGITS.find(([least]) => step >= least * 0.999)?.[1] ?? 9);

/** The least px between two ticks, so that their labels do not touch. */
function timeSpace(u: uPlot, from: number, to: number, width: number): number {
    u.ctx.save();
    u.ctx.font = fontOf(uPlot.pxRatio);
    const spaces = DIGITS.map(([step]): [number, number] => {
        const wide = [from, to].map((at) => u.ctx.measureText(timeLabel(at, step)).width);
        return [step, Math.max(...wide) / uPlot.pxRatio + LABEL_GAP];
    });
    u.ctx.restore();
    // half of it is the longest shorter step
    const found = spaces.find(([step, space]) => ((to - from) * space) / width > step / 2);
    return (found ?? spaces.at(-1)!)[1];
}

const fontOf = (ratio: number): string => `${TICK_PX * ratio}px ${getComputedStyle(document.body).fontFamily}`;

function axisOptions(side: number, extra: Partial<uPlot.Axis>): uPlot.Axis {
    return {
        side,
        stroke: colour('--ink-soft'),
        grid: { stroke: colour('--line'), width: 1 },
        ticks: { stroke: colour('--line'), width: 1 },
        font: fontOf(1),
        ...extra,
    };
}

export class Chart {
    private plot: uPlot | null = null;
    private view: View | null = null;
    private shape = ''; // what the axes were made for
    private now = 0; // of the playhead
    private cursor: number | null = null; // the time under the pointer in another panel
    private clip = document.createElement('div'); // above the canvas
    private marks: HTMLElement[] = [];
    private size = { width: 300, height: 200 };
    private ranges: Record<string, [number, number]> = { x: [0, 1], y: [0, 1], y2: [0, 1] };

    constructor(
        private root: HTMLElement,
        private on: ChartEvents,
    ) {
        this.clip.className = 'plot-marks';
    }

    /** `theme`: what the colours depend on. */
    show(view: View, theme: string): void {
        this.view = view;
        this.ranges = this.rangesOf(view);
        const shape = [theme, view.overTime, view.spectrum, view.lines.some((line) => line.curve.right)].join();
        if (shape !== this.shape || !this.plot) {
            this.shape = shape;
            this.plot?.destroy();
            this.plot = new uPlot(this.options(view), [[0], [null], [null]], this.root);
        } else {
            this.rescale();
        }
    }

    /** Before the points of another time range are there, those that are shown move. */
    move(from: number, to: number): void {
        if (this.view?.overTime) {
            this.view = { ...this.view, from, to };
            this.ranges = this.rangesOf(this.view);
            this.rescale();
        }
    }

    /** Only the marks above the canvas move; the canvas is not drawn again. */
    setPlayhead(seconds: number): void {
        this.now = seconds;
        this.placeMarks();
    }
    setCursor(seconds: number | null): void {
        this.cursor = seconds;
        this.placeMarks();
    }
    resize(width: number, height: number): void {
        this.size = { width, height: Math.max(60, height) };
        this.plot?.setSize(this.size);
    }
    destroy(): void {
        this.plot?.destroy();
        this.plot = null;
    }
    /** The time at `x`, in px from the left of the root; null: it is not beside the axes. */
    timeAt(x: number): number | null {
        const inside = this.plot ? x - this.plot.bbox.left / uPlot.pxRatio : -1;
        return this.plot && inside >= 0 ? this.plot.posToVal(inside, 'x') : null;
    }
    secondsPerPixel(): number {
        const [from, to] = this.ranges.x!;
        return this.plot ? ((to - from) * uPlot.pxRatio) / this.plot.bbox.width : 0;
    }
    /** The ranges of the axes now. */
    axes(): { y: [number, number]; y2: [number, number] } {
        return { y: this.ranges.y!, y2: this.ranges.y2! };
    }
    /** What is drawn, for an image of it. */
    picture(): { canvas: HTMLCanvasElement; area: Area; view: View; ratio: number } | null {
        return (
            this.plot &&
            this.view && {
                canvas: this.plot.ctx.canvas,
                area: this.area(this.plot),
                view: this.view,
                ratio: uPlot.pxRatio,
            }
        );
    }

    private rangesOf({ lines, from, to, overTime, spectrum, y, y2 }: View): Record<string, [number, number]> {
        const seen = spectrum ? within(0, Infinity) : within(from, to);
        const of = (right: boolean) =>
            extent(
                lines.filter((line) => line.curve.right === right),
                (line, i) => line.points.v[i]!,
                seen,
            ) ?? [0, 1];
        const x: [number, number] = !overTime
            ? spectrum
                ? [0, Math.max(...lines.map((line) => line.x.at(-1) ?? 0), 0) || 1]
                : (extent(lines, (line, i) => line.x[i]!, seen) ?? [0, 1])
            : from < to
              ? [from, to]
              : [from - 0.5, from + 0.5]; // a single message has no extent
        return { x, y: y ?? of(false), y2: y2 ?? of(true) };
    }

    private rescale(): void {
        const plot = this.plot!;
        plot.batch(() =>
            ['x', 'y', 'y2'].forEach((key) =>
                plot.setScale(key, { min: this.ranges[key]![0], max: this.ranges[key]![1] }),
            ),
        );
        plot.redraw(false, true); // the ranges may be the same as before
    }

    private options(view: View): uPlot.Options {
        const right = view.lines.some((line) => line.curve.right);
        const scale = (key: string): uPlot.Scale => ({ time: false, auto: false, range: () => this.ranges[key]! });
        return {
            ...this.size,
            legend: { show: false },
            cursor: { drag: { x: view.overTime, y: false, setScale: false }, points: { show: false } },
            scales: { x: scale('x'), y: scale('y'), y2: scale('y2') },
            axes: [
                axisOptions(2, {
                    scale: 'x',
                    ...(view.overTime && {
                        incrs: STEPS,
                        space: (u, _axis, from, to, width) => timeSpace(u, from, to, width),
                        values: (_u, splits, _axis, _space, step) => splits.map((at) => timeLabel(at, step)),
                    }),
                    ...(view.spectrum ? { values: (_u, splits) => splits.map((hz) => `${hz} Hz`) } : {}),
                }),
                axisOptions(3, { scale: 'y', size: 64 }),
                axisOptions(1, { scale: 'y2', size: 64, grid: { show: false }, show: right }),
            ],
            series: [{}, { scale: 'y', show: true }, { scale: 'y2', show: true }],
            hooks: {
                setSelect: [(u) => this.selected(u)],
                draw: [(u) => this.draw(u)],
                setCursor: [(u) => this.hovered(u)],
                ready: [(u) => this.watch(u)],
            },
        };
    }

    private selected(u: uPlot): void {
        if (u.select.width > 4) {
            this.on.zoom(u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x'));
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }
    }

    private hovered(u: uPlot): void {
        const left = u.cursor.left ?? -1;
        this.on.hover(left < 0 || !(this.view?.overTime || this.view?.spectrum) ? null : u.posToVal(left, 'x'));
    }

    private watch(u: uPlot): void {
        u.over.append(this.clip);
        u.over.addEventListener('click', (event) => {
            if (u.select.width < 1 && !this.view?.spectrum) {
                const time = this.view?.overTime
                    ? u.posToVal(event.offsetX, 'x')
                    : this.nearest(u, event.offsetX, event.offsetY);
                if (time !== null && Number.isFinite(time)) {
                    this.on.seek(time);
                }
            }
        });
        u.over.addEventListener('dblclick', () => this.on.resetZoom());
    }

    /** The time of the point of an XY plot next to a place. */
    private nearest(u: uPlot, left: number, top: number): number | null {
        const ratio = uPlot.pxRatio;
        const area = this.area(u);
        const [cx, cy] = [left * ratio + area.left, top * ratio + area.top];
        let [best, time] = [Infinity, null as number | null];
        for (const line of this.view?.lines ?? []) {
            const { px, py } = toPixels(area, line.curve.right);
            for (let i = 0; i < line.x.length; i++) {
                const apart = (px(line.x[i]!) - cx) ** 2 + (py(line.points.v[i]!) - cy) ** 2;
                if (apart < best) {
                    [best, time] = [apart, line.points.t[i]!];
                }
            }
        }
        return time;
    }

    private area(u: uPlot): Area {
        const { left, top, width, height } = u.bbox;
        return { left, top, width, height, x: this.ranges.x!, y: this.ranges.y!, y2: this.ranges.y2! };
    }

    private draw(u: uPlot): void {
        const { view } = this;
        if (!view) {
            return;
        }
        const { ctx } = u;
        const area = this.area(u);
        const ratio = uPlot.pxRatio;
        ctx.save();
        ctx.beginPath();
        ctx.rect(area.left, area.top, area.width, area.height);
        ctx.clip();
        ctx.lineJoin = 'round';
        ctx.lineWidth = 1.5 * ratio;
        for (const line of view.lines) {
            ctx.strokeStyle = ctx.fillStyle = colourOf(line);
            ctx.globalAlpha = line.source.name && !line.source.difference ? 0.65 : 1;
            ctx.setLineDash(dashOf(line).map((px) => px * ratio));
            ctx.beginPath();
            trace(line, area, view.overTime, ctx);
            ctx.stroke();
            if (view.dots || line.x.length < FEW) {
                ctx.beginPath();
                eachPoint(line, area, view.overTime, (x, y) =>
                    ctx.rect(x - DOT * ratio, y - DOT * ratio, 2 * DOT * ratio, 2 * DOT * ratio),
                );
                ctx.fill();
            }
        }
        ctx.globalAlpha = 1;
        ctx.restore();
        this.placeMarks();
        this.on.drawn();
    }

    /** The playhead: a line; in an XY plot a dot on each curve. Beside it, the pointer of another panel. */
    private placeMarks(): void {
        const { plot, view } = this;
        if (!plot || !view) {
            return;
        }
        const line = (seconds: number | null) =>
            seconds === null ? null : `translateX(${plot.valToPos(seconds, 'x')}px)`;
        const places = view.overTime
            ? [line(this.now), line(this.cursor)]
            : view.spectrum
              ? []
              : view.lines.map((one) => this.dotOf(plot, one));
        while (this.marks.length < places.length) {
            this.marks.push(document.createElement('div'));
        }
        this.marks.splice(places.length).forEach((mark) => mark.remove());
        this.marks.forEach((mark, i) => {
            mark.className = !view.overTime ? 'plot-dot' : i === 0 ? 'plot-playhead' : 'plot-cursor';
            mark.hidden = places[i] === null;
            mark.style.transform = places[i] ?? '';
            if (mark.parentElement !== this.clip) {
                this.clip.append(mark);
            }
        });
    }

    private dotOf(plot: uPlot, line: Line): string | null {
        const i = indexAt(line.points, this.now);
        return i < 0
            ? null
            : `translate(${plot.valToPos(line.x[i]!, 'x')}px, ${plot.valToPos(line.points.v[i]!, line.curve.right ? 'y2' : 'y')}px)`;
    }
}
