// Draws lines on a canvas, or as paths of an SVG image. Where points are denser than pixels, the smallest and largest
// value of each column of pixels is drawn.
import { colour } from '../../theme';
import { COLOURS } from './curves';
import type { Line } from './data';
import { countUpTo } from './maths';

export const colourOf = ({ curve, index }: Pick<Line, 'curve' | 'index'>): string =>
    colour(`--c${curve.colour ?? (index % COLOURS) + 1}`);
export const dashOf = ({ source }: Line): number[] => (source.difference ? [2, 3] : source.name ? [6, 4] : []);

export interface Area {
    left: number;
    top: number;
    width: number;
    height: number;
    x: [min: number, max: number];
    y: [min: number, max: number];
    y2: [min: number, max: number]; // of the axis at the right
}
export interface Pen {
    moveTo(x: number, y: number): void;
    lineTo(x: number, y: number): void;
}

/** The part of a line over time that is visible, with one point beyond each end. */
function visible(line: Line, { x }: Area, overTime: boolean): [number, number] {
    return overTime
        ? [Math.max(0, countUpTo(line.x, x[0]) - 1), Math.min(line.x.length, countUpTo(line.x, x[1]) + 1)]
        : [0, line.x.length];
}

export function toPixels(area: Area, right: boolean): { px: (x: number) => number; py: (y: number) => number } {
    const [y0, y1] = right ? area.y2 : area.y;
    const [sx, sy] = [area.width / (area.x[1] - area.x[0]), area.height / (y1 - y0)];
    return { px: (x) => area.left + (x - area.x[0]) * sx, py: (y) => area.top + area.height - (y - y0) * sy };
}

export function trace(line: Line, area: Area, overTime: boolean, pen: Pen): void {
    const { px, py } = toPixels(area, line.curve.right);
    const { x, points } = line;
    const [first, end] = visible(line, area, overTime);
    const dense = overTime && end - first > 4 * area.width;
    let down = false;
    for (let i = first; i < end; i++) {
        const [cx, cy] = [px(x[i]!), py(points.v[i]!)];
        if (Number.isNaN(cx) || Number.isNaN(cy)) {
            down = false;
            continue;
        }
        if (!down) {
            pen.moveTo(cx, cy);
            down = true;
        }
        pen.lineTo(cx, cy);
        if (dense) {
            const column = Math.floor(cx);
            let [low, high, last] = [cy, cy, cy];
            while (i + 1 < end && Math.floor(px(x[i + 1]!)) === column && !Number.isNaN(points.v[i + 1]!)) {
                last = py(points.v[++i]!);
                low = Math.min(low, last);
                high = Math.max(high, last);
            }
            pen.lineTo(cx, low);
            pen.lineTo(cx, high);
            pen.lineTo(cx, last);
        }
    }
}

export function eachPoint(line: Line, area: Area, overTime: boolean, at: (x: number, y: number) => void): void {
    const { px, py } = toPixels(area, line.curve.right);
    const [first, end] = visible(line, area, overTime);
    for (let i = first; i < end; i++) {
        const [x, y] = [px(line.x[i]!), py(line.points.v[i]!)];
        if (!Number.isNaN(x) && !Number.isNaN(y)) {
            at(x, y);
        }
    }
}

const ROUNDING = 1e-12; // relative: a derivative that is constant differs by this much

/** The smallest and the largest of what is seen, with some room; null: nothing. */
export function extent(
    lines: Line[],
    values: (line: Line, i: number) => number,
    between: (line: Line) => [number, number],
): [number, number] | null {
    let [low, high] = [Infinity, -Infinity];
    for (const line of lines) {
        const [first, end] = between(line);
        for (let i = first; i < end; i++) {
            const value = values(line, i);
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
    }
    if (low > high) {
        return null;
    }
    const size = Math.max(Math.abs(low), Math.abs(high));
    const room = high - low > size * ROUNDING ? (high - low) * 0.06 : size * 0.1 || 1;
    return [low - room, high + room];
}
/** Of the points between two times. */
export const within =
    (from: number, to: number) =>
    (line: Line): [number, number] => [
        Math.max(0, countUpTo(line.points.t, from) - 1),
        Math.min(line.points.t.length, countUpTo(line.points.t, to) + 1),
    ];
