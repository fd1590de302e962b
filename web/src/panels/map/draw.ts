// Draws tracks on a grid. Both axes have the same scale; degrees are converted to metres around the mean latitude.
import { countUntil } from '../time_windows';
import type { Track } from './tracks';

export interface View {
    x: number; // the centre, in metres
    y: number;
    scale: number; // pixels per metre
}
export interface Colours {
    grid: string;
    text: string;
    background: string;
    curves: string[];
}
interface Flat {
    name: string;
    points: { x: number; y: number; time: bigint }[];
}

const METRES_PER_DEGREE = 111320; // of latitude

export function flatten(tracks: Track[]): Flat[] {
    const globe = tracks.filter((t) => t.coordinates === 'globe').flatMap((t) => t.points);
    const middle = globe.length > 0 ? globe.reduce((sum, p) => sum + p.y, 0) / globe.length : 0;
    const [x0, y0] = [globe[0]?.x ?? 0, globe[0]?.y ?? 0];
    const east = METRES_PER_DEGREE * Math.cos((middle * Math.PI) / 180);
    return tracks.map((t) => ({ name: t.name, points: t.coordinates === 'plane' ? t.points : t.points.map((p) => ({ x: (p.x - x0) * east, y: (p.y - y0) * METRES_PER_DEGREE, time: p.time })) }));
}

export function fitAll(tracks: Flat[], width: number, height: number): View {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { points } of tracks) {
        for (const p of points) {
            [left, right, low, high] = [Math.min(left, p.x), Math.max(right, p.x), Math.min(low, p.y), Math.max(high, p.y)];
        }
    }
    if (left > right) {
        return { x: 0, y: 0, scale: 1 };
    }
    const scale = Math.min(width / Math.max(right - left, 1e-3), height / Math.max(high - low, 1e-3)) * 0.85;
    return { x: (left + right) / 2, y: (low + high) / 2, scale: Math.min(scale, 5000) };
}

/** 1, 2 or 5 times a power of ten, about `px` pixels wide. */
function gridStep(scale: number, px = 90): number {
    const minimum = px / scale;
    const power = 10 ** Math.floor(Math.log10(minimum));
    return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= minimum) ?? power * 10;
}

export function metres(step: number): string {
    return step >= 1000 ? `${step / 1000} km` : step >= 1 ? `${step} m` : step >= 0.01 ? `${Math.round(step * 100)} cm` : `${Math.round(step * 1000)} mm`;
}

function grid(context: CanvasRenderingContext2D, view: View, width: number, height: number, colours: Colours): void {
    const step = gridStep(view.scale);
    context.strokeStyle = colours.grid;
    context.lineWidth = 1;
    context.beginPath();
    for (let x = Math.ceil((view.x - width / 2 / view.scale) / step) * step; (x - view.x) * view.scale < width / 2; x += step) {
        const at = Math.round(width / 2 + (x - view.x) * view.scale) + 0.5;
        context.moveTo(at, 0);
        context.lineTo(at, height);
    }
    for (let y = Math.ceil((view.y - height / 2 / view.scale) / step) * step; (y - view.y) * view.scale < height / 2; y += step) {
        const at = Math.round(height / 2 - (y - view.y) * view.scale) + 0.5;
        context.moveTo(0, at);
        context.lineTo(width, at);
    }
    context.stroke();
    context.fillStyle = colours.text;
    context.font = '11px sans-serif';
    context.fillText(metres(step), 12, height - 14);
    context.fillRect(10, height - 10, step * view.scale, 2);
}

export function drawMap(context: CanvasRenderingContext2D, tracks: Flat[], view: View, width: number, height: number, time: bigint, colours: Colours): void {
    context.clearRect(0, 0, width, height);
    grid(context, view, width, height, colours);
    tracks.forEach(({ points }, i) => {
        const colour = colours.curves[i % colours.curves.length]!;
        const px = (p: { x: number; y: number }): [number, number] => [width / 2 + (p.x - view.x) * view.scale, height / 2 - (p.y - view.y) * view.scale];
        context.strokeStyle = colour;
        context.lineWidth = 1.5;
        context.beginPath();
        points.forEach((p, n) => (n === 0 ? context.moveTo(...px(p)) : context.lineTo(...px(p))));
        context.stroke();
        const now = countUntil(points, time, (p) => p.time) - 1;
        if (now >= 0) {
            context.beginPath();
            context.arc(...px(points[now]!), 5, 0, 2 * Math.PI);
            context.fillStyle = colour;
            context.fill();
            context.lineWidth = 2;
            context.strokeStyle = colours.background;
            context.stroke();
        }
    });
}
