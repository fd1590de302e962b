// The frequencies of a curve: the amplitude of each, by a fast Fourier transform with a Hann window.
import { valueAt, type Points } from './maths';

const FEWEST = 8; // points
const MOST = 1 << 14;

/** In place; the length is a power of two. */
function transform(re: Float64Array, im: Float64Array): void {
    const n = re.length;
    for (let i = 1, j = 0; i < n; i++) {
        let bit = n >> 1;
        for (; j & bit; bit >>= 1) {
            j ^= bit;
        }
        j ^= bit;
        if (i < j) {
            [re[i], re[j]] = [re[j]!, re[i]!];
            [im[i], im[j]] = [im[j]!, im[i]!];
        }
    }
    for (let half = 1; half < n; half *= 2) {
        for (let k = 0; k < half; k++) {
            const [c, s] = [Math.cos((-Math.PI * k) / half), Math.sin((-Math.PI * k) / half)];
            for (let a = k; a < n; a += 2 * half) {
                const b = a + half;
                const [x, y] = [re[b]! * c - im[b]! * s, re[b]! * s + im[b]! * c];
                [re[b], im[b]] = [re[a]! - x, im[a]! - y];
                [re[a], im[a]] = [re[a]! + x, im[a]! + y];
            }
        }
    }
}

/**
 * `t` is in Hz, up to half the rate of the points. The points between two times are taken at equal distances, a power of
 * two of them, without their mean.
 */
export function spectrumOf({ t, v }: Points, from: number, to: number): Points {
    const used = [...t.keys()].filter((i) => t[i]! >= from && t[i]! <= to && Number.isFinite(v[i]));
    if (used.length < FEWEST) {
        return { t: new Float64Array(), v: new Float64Array() };
    }
    const points = { t: Float64Array.from(used, (i) => t[i]!), v: Float64Array.from(used, (i) => v[i]!) };
    const n = Math.min(2 ** Math.ceil(Math.log2(used.length)), MOST);
    const [first, last] = [points.t[0]!, points.t.at(-1)!];
    const step = (last - first) / (n - 1);
    const re = Float64Array.from({ length: n }, (_, i) => valueAt(points, Math.min(first + i * step, last)));
    const mean = re.reduce((sum, value) => sum + value, 0) / n;
    // the mean of the window is 1/2, and each frequency is there twice
    const windowed = re.map((value, i) => ((value - mean) * (1 - Math.cos((2 * Math.PI * i) / n)) * 2) / n);
    transform(windowed, re.fill(0));
    const half = Math.min(n, used.length) / 2;
    return {
        t: Float64Array.from({ length: half }, (_, i) => i / (n * step)),
        v: Float64Array.from({ length: half }, (_, i) => Math.hypot(windowed[i]!, re[i]!)),
    };
}

/** The frequency with the largest amplitude; NaN: there is none. */
export const peakOf = ({ t, v }: Points): number => t[v.indexOf(Math.max(...v))] ?? NaN;
