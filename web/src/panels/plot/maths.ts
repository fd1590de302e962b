// What is done to the points of a curve: derivative, integral, moving average, scale, offset, and another field; and
// matching two fields by time.
import type { Operation, Step } from './curves';

/** Ordered by time. `v` has NaN where there is no value. */
export interface Points {
    t: Float64Array; // seconds from the recording's start
    v: Float64Array;
}

/** Between two points: the slope, at the time of the later one. */
function derivative({ t, v }: Points): Float64Array {
    return v.map((value, i) => (i === 0 ? NaN : t[i] === t[i - 1] ? NaN : (value - v[i - 1]!) / (t[i]! - t[i - 1]!)));
}

/** From the first point on, by the trapezoidal rule. */
function integral({ t, v }: Points): Float64Array {
    let sum = 0;
    return v.map((value, i) => {
        const area = i === 0 ? 0 : ((value + v[i - 1]!) / 2) * (t[i]! - t[i - 1]!);
        sum += Number.isFinite(area) ? area : 0;
        return sum;
    });
}

/** Of the points up to `seconds` before each point, and itself. */
function average({ t, v }: Points, seconds: number): Float64Array {
    const out = new Float64Array(v.length);
    for (let i = 0, first = 0, sum = 0, count = 0; i < v.length; i++) {
        if (Number.isFinite(v[i])) {
            sum += v[i]!;
            count++;
        }
        for (; t[first]! < t[i]! - seconds; first++) {
            if (Number.isFinite(v[first])) {
                sum -= v[first]!;
                count--;
            }
        }
        out[i] = count > 0 ? sum / count : NaN;
    }
    return out;
}

const OPERATE: Record<Operation, (a: number, b: number) => number> = {
    '-': (a, b) => a - b,
    '+': (a, b) => a + b,
    '*': (a, b) => a * b,
    '/': (a, b) => (b === 0 ? NaN : a / b),
    h: Math.hypot,
};
/** At the times of the first; the second is interpolated. */
export const combined = ({ t, v }: Points, operation: Operation, other: Points): Points => ({
    t,
    v: v.map((value, i) => OPERATE[operation](value, valueAt(other, t[i]!))),
});

function applyOne(points: Points, step: Step, pointsOf: (field: string) => Points): Float64Array {
    switch (step.kind) {
        case 'derivative':
            return derivative(points);
        case 'integral':
            return integral(points);
        case 'average':
            return average(points, step.seconds);
        case 'scale':
            return points.v.map((value) => value * step.by);
        case 'add':
            return points.v.map((value) => value + step.value);
        case 'with':
            return combined(points, step.operation, pointsOf(step.field)).v;
    }
}
/** `pointsOf`: the points of the other fields that the steps have. */
export const applySteps = (points: Points, steps: Step[], pointsOf: (field: string) => Points): Points =>
    steps.reduce((now, step) => ({ t: now.t, v: applyOne(now, step, pointsOf) }), points);

/** The number of `times` (in order) at or before `time`. */
export function countUpTo(times: ArrayLike<number>, time: number): number {
    let [low, high] = [0, times.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle]! <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/** The value at `time`, interpolated between the points around it; NaN outside of them. */
export function valueAt({ t, v }: Points, time: number): number {
    const i = countUpTo(t, time) - 1;
    if (i < 0 || (i === t.length - 1 && t[i]! < time)) {
        return NaN;
    }
    return t[i] === time ? v[i]! : v[i]! + ((v[i + 1]! - v[i]!) * (time - t[i]!)) / (t[i + 1]! - t[i]!);
}

/** Index of the last value at or before `time`, else of the first one; -1: none. */
export function indexAt({ t, v }: Points, time: number): number {
    for (let i = countUpTo(t, time) - 1; i >= 0; i--) {
        if (!Number.isNaN(v[i])) {
            return i;
        }
    }
    return v.findIndex((value) => !Number.isNaN(value));
}
