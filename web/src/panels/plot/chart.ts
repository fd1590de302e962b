// uPlot with the page's colours and a playhead. x is in seconds from the recording's start as a double: precise to a microsecond over years.
import uPlot from 'uplot';
import { offset } from '../../format';
import { colour } from '../../theme';

const LEGEND_MS = 100; // between two changes of it during playback

export interface Curve {
    field: string;
    points: [number, number | null][]; // seconds from the start, value
}
export interface Chart {
    show(curves: Curve[], from: number, to: number): void;
    setPlayhead(seconds: number): void;
    resize(width: number, height: number): void;
    toImage(): Promise<Blob | null>;
    destroy(): void;
}
interface ChartEvents {
    zoom: (from: number, to: number) => void;
    seek: (seconds: number) => void;
    resetZoom: () => void;
}

export function aligned(curves: Curve[]): uPlot.AlignedData {
    const tables = curves.map((c): uPlot.AlignedData => [c.points.map((p) => p[0]), c.points.map((p) => p[1])]);
    return tables.length === 0 ? [[]] : tables.length === 1 ? tables[0]! : uPlot.join(tables);
}

function options(curves: Curve[], width: number, height: number, on: ChartEvents, placePlayhead: (u: uPlot) => void, setLegend: (u: uPlot) => void): uPlot.Options {
    const axis: uPlot.Axis = { stroke: colour('--ink-soft'), grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line'), width: 1 }, font: `11px ${getComputedStyle(document.body).fontFamily}` };
    return {
        width,
        height,
        legend: { show: true, live: true },
        cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
        scales: { x: { time: false } },
        axes: [{ ...axis, values: (_u, splits) => splits.map((s) => offset(BigInt(Math.round(s * 1e9)), Math.abs(s % 1) < 1e-9 ? 0 : 3)) }, { ...axis, size: 64 }],
        series: [{ label: 't', value: (_u, s) => (s === null ? '–' : offset(BigInt(Math.round(s * 1e9)))) }, ...curves.map((c, i): uPlot.Series => ({ label: c.field, stroke: colour(`--c${(i % 8) + 1}`), width: 1.5, spanGaps: true, points: { show: c.points.length < 60 } }))],
        hooks: {
            setSelect: [
                (u) => {
                    if (u.select.width > 4) {
                        on.zoom(u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x'));
                        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
                    }
                },
            ],
            draw: [placePlayhead],
            setCursor: [setLegend],
            ready: [
                (u) => {
                    u.over.addEventListener('click', (event) => u.select.width < 1 && on.seek(u.posToVal(event.offsetX, 'x')));
                    u.over.addEventListener('dblclick', on.resetZoom);
                },
            ],
        },
    };
}

/** Index of the last value at or before `seconds`, else of the first one; null: none. */
function indexAt(times: ArrayLike<number>, values: ArrayLike<number | null | undefined>, seconds: number): number | null {
    let [low, high] = [0, times.length]; // the first time after `seconds`
    while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle]! <= seconds) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (let i = low - 1; i >= 0; i--) {
        if (typeof values[i] === 'number') {
            return i;
        }
    }
    const first = Array.from(values).findIndex((value) => typeof value === 'number');
    return first < 0 ? null : first;
}

export function createChart(root: HTMLElement, on: ChartEvents): Chart {
    let plot: uPlot | null = null;
    let now = 0;
    let [width, height] = [300, 200];
    let legendAt = 0; // when it last changed
    let legendTimer: ReturnType<typeof setTimeout> | null = null;
    const playhead = document.createElement('div'); // above the canvas, which is not drawn again when it moves
    playhead.className = 'plot-playhead';
    const placePlayhead = (u: uPlot) => {
        const x = Math.round(u.valToPos(now, 'x'));
        playhead.hidden = !(x >= 0 && x <= u.over.clientWidth);
        playhead.style.transform = `translateX(${x - 1}px)`;
    };
    /** While no pointer is over the plot, the legend shows the values at the playhead. */
    const setLegend = (u: uPlot) => {
        if ((u.cursor.left ?? -1) < 0) {
            const times = u.data[0];
            legendAt = performance.now();
            u.setLegend({ idxs: u.data.map((values, i) => indexAt(times, i === 0 ? times : values, now)) }, false);
        }
    };
    let frame = 0;
    const fit = () => {
        plot?.setSize({ width, height: Math.max(80, height - 30) });
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(() => { // the legend wraps, so its height depends on the width
            const legend = root.querySelector<HTMLElement>('.u-legend')?.offsetHeight ?? 30;
            plot?.setSize({ width, height: Math.max(80, height - legend) });
        });
    };
    return {
        show(curves, from, to) {
            plot?.destroy();
            plot = new uPlot(options(curves, width, Math.max(80, height - 30), on, placePlayhead, setLegend), aligned(curves), root);
            plot.over.append(playhead);
            setLegend(plot);
            plot.setScale('x', from < to ? { min: from, max: to } : { min: from - 0.5, max: from + 0.5 }); // a single message has no extent
            fit();
        },
        setPlayhead(seconds) {
            now = seconds;
            if (plot) {
                placePlayhead(plot);
                legendTimer ??= setTimeout(
                    () => {
                        legendTimer = null;
                        if (plot) {
                            setLegend(plot);
                        }
                    },
                    legendAt + LEGEND_MS - performance.now(),
                );
            }
        },
        resize(w, h) {
            [width, height] = [w, h];
            fit();
        },
        toImage() {
            if (!plot) {
                return Promise.resolve(null);
            }
            const { canvas } = plot.ctx;
            const copy = document.createElement('canvas'); // the plot's canvas is transparent: text in the dark theme would be unreadable elsewhere
            [copy.width, copy.height] = [canvas.width, canvas.height];
            const context = copy.getContext('2d')!;
            context.fillStyle = colour('--raised');
            context.fillRect(0, 0, copy.width, copy.height);
            context.drawImage(canvas, 0, 0);
            return new Promise((done) => copy.toBlob(done, 'image/png'));
        },
        destroy() {
            cancelAnimationFrame(frame);
            plot?.destroy();
            plot = null;
        },
    };
}
