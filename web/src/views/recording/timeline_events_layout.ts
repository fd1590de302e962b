// Where the events are drawn on the timeline: in rows, and in clusters where they are too dense to be told apart.
import type { Range } from '../../playback';
import type { EventMark } from './event_store';

export interface Placed {
    marks: EventMark[]; // several: a cluster
    x: number; // px
    width: number;
    row: number;
    room: number; // px right of it, up to the next one in the same row
    clear: number; // px of it from the left that no other one covers
}

const ROWS_MAX = 3;
const LEAST_PX = 6; // of a bar
const CLUSTER_PX = 36; // events that begin closer together share a bar
const NARROW_PX = 14; // in a dense view narrower ones are only in the last row
const DENSE_PX = 10; // for each event of the view
const BEYOND_PX = 4; // bars end this far outside of the view, since a very wide element would be scrolled

/** How many rows the events need: as many as go on at the same time, up to a limit. */
export function rowsOf(marks: readonly EventMark[]): number {
    const ends: bigint[] = [];
    for (const { start, end } of marks) {
        const free = ends.findIndex((one) => one <= start);
        if (free >= 0) {
            ends[free] = end;
        } else if (ends.push(end) === ROWS_MAX) {
            break;
        }
    }
    return Math.max(1, ends.length);
}

/** The row whose last bar began first: its title has the most room before another bar lies above it. */
const earliest = (last: readonly (Placed | null)[]): number =>
    last.reduce((best, one, row) => ((one?.x ?? 0) < (last[best]?.x ?? 0) ? row : best), 0);

/** `marks`: by start. The event `apart` is never part of a cluster. */
export function layOut(
    marks: readonly EventMark[],
    view: Range,
    width: number,
    rows: number,
    apart: string | null,
): Placed[] {
    const scale = width / (Number(view.end - view.start) || 1);
    const left = (time: bigint) => Math.max(-BEYOND_PX, Number(time - view.start) * scale);
    const right = (time: bigint) => Math.min(width + BEYOND_PX, Number(time - view.start) * scale);
    const placed: Placed[] = [];
    const last: (Placed | null)[] = Array<Placed | null>(rows).fill(null);
    const put = (mark: EventMark, row: number, x: number): Placed => {
        const before = last[row];
        if (before) {
            before.room = Math.max(0, x - before.x - before.width);
            before.clear = x - before.x;
            // not only by the least width over the next one
            before.width = Math.min(before.width, Math.max(x - before.x, right(before.marks.at(-1)!.end) - before.x));
        }
        const one = {
            marks: [mark],
            x,
            width: Math.max(LEAST_PX, right(mark.end) - x),
            row,
            room: Infinity,
            clear: Infinity,
        };
        placed.push(one);
        last[row] = one;
        return one;
    };
    const inView = marks.filter((mark) => mark.end >= view.start && mark.start <= view.end);
    const dense = inView.length * DENSE_PX > width * rows;
    for (const mark of inView) {
        const x = left(mark.start);
        if (mark.id === apart) {
            continue;
        }
        const narrow = right(mark.end) - x < NARROW_PX;
        const joins = (one: Placed | null) =>
            // a long bar keeps its title
            one !== null && x - one.x < CLUSTER_PX && !(narrow && one.marks.length === 1 && one.width > CLUSTER_PX);
        const close = dense ? (joins(last[rows - 1]!) ? last[rows - 1]! : undefined) : last.find(joins);
        const fits = (one: Placed | null) =>
            !one ||
            one.x + one.width <= x ||
            (one.marks.length === 1 && one.x + LEAST_PX <= x && right(one.marks[0]!.end) <= x);
        const free = dense && narrow && (close || rows > 1) ? -1 : last.findIndex(fits);
        if (free < 0 && close) {
            close.marks.push(mark);
            close.width = Math.max(close.width, CLUSTER_PX, right(mark.end) - close.x);
        } else {
            put(mark, free >= 0 ? free : dense ? rows - 1 : earliest(last), x);
        }
    }
    const one = inView.find((mark) => mark.id === apart);
    if (one) {
        const x = left(one.start);
        const crossed = new Set(
            placed.filter((p) => p.x < right(one.end) + LEAST_PX && p.x + p.width > x).map((p) => p.row),
        );
        const row = Array.from({ length: rows }, (_, i) => i).find((i) => !crossed.has(i)) ?? rows - 1;
        placed.push({
            marks: [one],
            x,
            width: Math.max(LEAST_PX, right(one.end) - x),
            row,
            room: crossed.has(row) ? 0 : 80,
            clear: Infinity,
        });
    }
    return placed;
}
