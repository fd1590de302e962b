// From positions to the plane of the map. Degrees are projected as Web Mercator (EPSG:3857), which tiles have; metres
// stay as they are.
import type { Size } from '../../use_size';
import type { Track } from './tracks';

export interface View {
    x: number; // the centre, in units of the plane
    y: number;
    scale: number; // pixels per unit
}
export interface Spot {
    x: number;
    y: number;
    time: bigint;
    speed: number; // m/s
}
/** A track on the plane. */
export interface Flat {
    key: string;
    name: string;
    spots: Spot[]; // by time
}

const RADIUS = 6_378_137; // of the sphere of Web Mercator
export const HALF_WORLD = Math.PI * RADIUS; // of its square
const LATITUDE_MAX = 85.0511; // of that square
const MAX_SCALE = 5000; // that fitting chooses: not closer than 5 px a millimetre
const SCALE = { min: 1e-6, max: 1e5 }; // pixels per metre
const SPEED_S = 0.5; // over which a speed is measured at least

const radians = (degrees: number): number => (degrees * Math.PI) / 180;
const degrees = (value: number): number => (value * 180) / Math.PI;

export const mercatorX = (longitude: number): number => RADIUS * radians(longitude);
export function mercatorY(latitude: number): number {
    const kept = Math.min(Math.max(latitude, -LATITUDE_MAX), LATITUDE_MAX);
    return RADIUS * Math.log(Math.tan(Math.PI / 4 + radians(kept) / 2));
}
export const longitudeOf = (x: number): number => degrees(x / RADIUS);
export const latitudeOf = (y: number): number => degrees(2 * Math.atan(Math.exp(y / RADIUS)) - Math.PI / 2);
/** How much longer than on the ground distances are on the plane there. */
export const stretchAt = (y: number): number => Math.cosh(y / RADIUS);

function withSpeeds(spots: Spot[], globe: boolean): Spot[] {
    let before = 0; // the last one that is SPEED_S earlier
    spots.forEach((spot, i) => {
        while (before + 1 < i && Number(spot.time - spots[before + 1]!.time) / 1e9 >= SPEED_S) {
            before++;
        }
        const from = spots[before]!;
        const seconds = Number(spot.time - from.time) / 1e9;
        const metres = Math.hypot(spot.x - from.x, spot.y - from.y) / (globe ? stretchAt(spot.y) : 1);
        spot.speed = seconds > 0 ? metres / seconds : 0;
    });
    if (spots.length > 1) {
        spots[0]!.speed = spots[1]!.speed;
    }
    return spots;
}

export function flatten(tracks: Track[]): Flat[] {
    return tracks.map(({ key, name, coordinates, points }) => {
        const globe = coordinates === 'globe';
        const spots = points.map(({ x, y, time }) => ({
            x: globe ? mercatorX(x) : x,
            y: globe ? mercatorY(y) : y,
            time,
            speed: 0,
        }));
        return { key, name, spots: withSpeeds(spots, globe) };
    });
}

/** The view of all tracks; they leave the corner at the top right free, `corner` pixels wide and high. */
export function fitAll(tracks: Flat[], { width, height }: Size, corner: number): View {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { spots } of tracks) {
        for (const p of spots) {
            [left, right, low, high] = [
                Math.min(left, p.x),
                Math.max(right, p.x),
                Math.min(low, p.y),
                Math.max(high, p.y),
            ];
        }
    }
    if (left > right || width <= 0 || height <= 0) {
        return { x: 0, y: 0, scale: 1 };
    }
    const fit = (beside: number): View => {
        const scale = Math.min(
            ((width - beside) / Math.max(right - left, 1e-3)) * 0.85,
            (height / Math.max(high - low, 1e-3)) * 0.85,
            MAX_SCALE,
        );
        return { x: (left + right) / 2 + beside / 2 / scale, y: (low + high) / 2, scale };
    };
    const whole = fit(0);
    const size = { width, height };
    const isBeside = (spot: Spot): boolean => {
        const [x, y] = toPx(whole, size, spot);
        return x < width - corner || y > corner;
    };
    const free = tracks.every(({ spots }) => spots.every(isBeside));
    return free || width < 2 * corner ? whole : fit(corner);
}

export const toPx = (view: View, { width, height }: Size, at: { x: number; y: number }): [number, number] => [
    width / 2 + (at.x - view.x) * view.scale,
    height / 2 - (at.y - view.y) * view.scale,
];
export const fromPx = (view: View, { width, height }: Size, x: number, y: number): [number, number] => [
    view.x + (x - width / 2) / view.scale,
    view.y - (y - height / 2) / view.scale,
];

/** That the map can draw: the URL may say anything. */
export const usableScale = (scale: number): number => Math.min(Math.max(scale, SCALE.min), SCALE.max);

/** 1, 2 or 5 times a power of ten, not below `least`. */
export function niceStep(least: number): number {
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least * (1 - 1e-9)) ?? power * 10;
}
