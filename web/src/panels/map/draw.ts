// Tracks on a grid. Its one rule: both axes have one scale; degrees become metres around the middle of what is shown.
import { countUntil } from '../windows';
import type { Track } from './tracks';

export interface Look {
    x: number; // what is in the middle
    y: number;
    scale: number; // pixels for a metre
}
export interface Ink {
    grid: string;
    words: string;
    paper: string;
    curves: string[];
}
interface Flat {
    name: string;
    points: { x: number; y: number; time: bigint }[];
}

const METRES = 111320; // of a degree of latitude

export function flatten(tracks: Track[]): Flat[] {
    const globe = tracks.filter((t) => t.kind === 'globe').flatMap((t) => t.points);
    const middle = globe.length > 0 ? globe.reduce((sum, p) => sum + p.y, 0) / globe.length : 0;
    const [x0, y0] = [globe[0]?.x ?? 0, globe[0]?.y ?? 0];
    const east = METRES * Math.cos((middle * Math.PI) / 180);
    return tracks.map((t) => ({ name: t.name, points: t.kind === 'plane' ? t.points : t.points.map((p) => ({ x: (p.x - x0) * east, y: (p.y - y0) * METRES, time: p.time })) }));
}

export function lookAtAll(tracks: Flat[], width: number, height: number): Look {
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
    const wanted = px / scale;
    const power = 10 ** Math.floor(Math.log10(wanted));
    return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= wanted) ?? power * 10;
}

export function metres(step: number): string {
    return step >= 1000 ? `${step / 1000} km` : step >= 1 ? `${step} m` : step >= 0.01 ? `${Math.round(step * 100)} cm` : `${Math.round(step * 1000)} mm`;
}

function grid(context: CanvasRenderingContext2D, look: Look, width: number, height: number, ink: Ink): void {
    const step = gridStep(look.scale);
    context.strokeStyle = ink.grid;
    context.lineWidth = 1;
    context.beginPath();
    for (let x = Math.ceil((look.x - width / 2 / look.scale) / step) * step; (x - look.x) * look.scale < width / 2; x += step) {
        const at = Math.round(width / 2 + (x - look.x) * look.scale) + 0.5;
        context.moveTo(at, 0);
        context.lineTo(at, height);
    }
    for (let y = Math.ceil((look.y - height / 2 / look.scale) / step) * step; (y - look.y) * look.scale < height / 2; y += step) {
        const at = Math.round(height / 2 - (y - look.y) * look.scale) + 0.5;
        context.moveTo(0, at);
        context.lineTo(width, at);
    }
    context.stroke();
    context.fillStyle = ink.words;
    context.font = '11px sans-serif';
    context.fillText(metres(step), 12, height - 14);
    context.fillRect(10, height - 10, step * look.scale, 2);
}

export function drawMap(context: CanvasRenderingContext2D, tracks: Flat[], look: Look, width: number, height: number, time: bigint, ink: Ink): void {
    context.clearRect(0, 0, width, height);
    grid(context, look, width, height, ink);
    tracks.forEach(({ points }, i) => {
        const colour = ink.curves[i % ink.curves.length]!;
        const px = (p: { x: number; y: number }): [number, number] => [width / 2 + (p.x - look.x) * look.scale, height / 2 - (p.y - look.y) * look.scale];
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
            context.strokeStyle = ink.paper;
            context.stroke();
        }
    });
}
