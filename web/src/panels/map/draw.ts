// Draws the map: grid, scale, north, tracks; and above them what moves: the positions at the playhead, the spot below
// the pointer.
import type { Size } from '../../use_size';
import { mapColour } from '../colour_maps';
import { countUntil } from '../time_windows';
import {
    fromPx,
    latitudeOf,
    longitudeOf,
    mercatorX,
    mercatorY,
    niceStep,
    stretchAt,
    toPx,
    type Flat,
    type Spot,
    type View,
} from './geometry';
import type { Tiles } from './tiles';

export interface Colours {
    grid: string;
    text: string;
    background: string;
    curves: string[];
}
export type ColourBy = 'track' | 'time' | 'speed';
export interface Scene {
    tracks: Flat[]; // visible ones
    colourOf: (track: Flat) => string;
    by: ColourBy;
    range: [number, number]; // of the values that colour
    globe: boolean;
    view: View;
    size: Size;
    colours: Colours;
}

const GRID_PX = 100;
const MARGIN_PX = 12;
export const NORTH_PX = 64; // width and height of the corner with the arrow
const BINS = 24; // of colours along a track
const MAP = 'rainbow';

export function metres(step: number): string {
    return step >= 1000
        ? `${step / 1000} km`
        : step >= 1
          ? `${step} m`
          : step >= 0.01
            ? `${Math.round(step * 100)} cm`
            : `${Math.round(step * 1000)} mm`;
}
const degreeText = (value: number, step: number, signs: [string, string]): string =>
    `${Math.abs(value).toFixed(Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)))}°${value < 0 ? signs[1] : signs[0]}`;

/** The value that colours a spot; `start`: of the range of times. */
export const valueOf = (spot: Spot, by: ColourBy, start: bigint): number =>
    by === 'speed' ? spot.speed : Number(spot.time - start) / 1e9;

function haloText(context: CanvasRenderingContext2D, text: string, x: number, y: number, colours: Colours): void {
    context.strokeStyle = colours.background;
    context.lineWidth = 3;
    context.lineJoin = 'round';
    context.strokeText(text, x, y);
    context.fillStyle = colours.text;
    context.fillText(text, x, y);
}

type Line = { at: number; label: string }; // px
/** The lines of the grid: of degrees on the globe, of metres on the plane. */
function gridLines({ globe, view, size }: Scene): [vertical: Line[], horizontal: Line[]] {
    const [left, top] = fromPx(view, size, 0, 0);
    const [right, bottom] = fromPx(view, size, size.width, size.height);
    const axis = (
        from: number,
        to: number,
        px: number,
        label: (value: number, step: number) => string,
        place: (value: number) => number,
    ): Line[] => {
        const step = niceStep(((to - from) * GRID_PX) / px);
        const lines: Line[] = [];
        for (let i = Math.ceil(from / step); i * step <= to && lines.length < 100; i++) {
            lines.push({ at: place(i * step), label: label(i * step, step) });
        }
        return lines;
    };
    const x = (value: number) => toPx(view, size, { x: value, y: 0 })[0];
    const y = (value: number) => toPx(view, size, { x: 0, y: value })[1];
    if (!globe) {
        const label = (value: number, step: number) =>
            `${Number(value.toPrecision(12)).toFixed(Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)))} m`;
        return [axis(left, right, size.width, label, x), axis(bottom, top, size.height, label, y)];
    }
    return [
        axis(
            longitudeOf(left),
            longitudeOf(right),
            size.width,
            (value, step) => degreeText(value, step, ['E', 'W']),
            (value) => x(mercatorX(value)),
        ),
        axis(
            latitudeOf(bottom),
            latitudeOf(top),
            size.height,
            (value, step) => degreeText(value, step, ['N', 'S']),
            (value) => y(mercatorY(value)),
        ),
    ];
}

function drawGrid(context: CanvasRenderingContext2D, scene: Scene, onTiles: boolean): void {
    const { size, colours } = scene;
    const [vertical, horizontal] = gridLines(scene);
    context.strokeStyle = colours.grid;
    context.globalAlpha = onTiles ? 0.5 : 1;
    context.lineWidth = 1;
    context.beginPath();
    for (const { at } of vertical) {
        context.moveTo(Math.round(at) + 0.5, 0);
        context.lineTo(Math.round(at) + 0.5, size.height);
    }
    for (const { at } of horizontal) {
        context.moveTo(0, Math.round(at) + 0.5);
        context.lineTo(size.width, Math.round(at) + 0.5);
    }
    context.stroke();
    context.globalAlpha = 1;
    context.font = '10.5px sans-serif';
    vertical.forEach(
        ({ at, label }) =>
            at > 60 &&
            at + context.measureText(label).width < size.width - NORTH_PX &&
            haloText(context, label, at + 3, 11, colours),
    );
    horizontal.forEach(
        ({ at, label }) => at > 30 && at < size.height - 50 && haloText(context, label, 4, at - 3, colours),
    );
}

function drawScale(context: CanvasRenderingContext2D, { globe, view, size, colours }: Scene): void {
    const perMetre = view.scale * (globe ? stretchAt(view.y) : 1);
    const step = niceStep(70 / perMetre);
    const [x, y] = [MARGIN_PX, size.height - MARGIN_PX];
    context.font = '11px sans-serif';
    haloText(context, metres(step), x, y - 8, colours);
    context.strokeStyle = colours.text;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(x, y - 4);
    context.lineTo(x, y);
    context.lineTo(x + step * perMetre, y);
    context.lineTo(x + step * perMetre, y - 4);
    context.stroke();
}

/** An arrow to the north; on the plane the directions of x and y. */
function drawNorth(context: CanvasRenderingContext2D, { globe, size, colours }: Scene): void {
    const [x, y] = [size.width - (globe ? 22 : 50), globe ? 40 : 46];
    context.font = 'bold 11px sans-serif';
    context.fillStyle = context.strokeStyle = colours.text;
    context.lineWidth = 1.5;
    const arrow = (dx: number, dy: number, name: string) => {
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(x + dx * 20, y + dy * 20);
        context.lineTo(x + dx * 14 + dy * 4, y + dy * 14 + dx * 4);
        context.moveTo(x + dx * 20, y + dy * 20);
        context.lineTo(x + dx * 14 - dy * 4, y + dy * 14 - dx * 4);
        context.stroke();
        haloText(context, name, x + dx * 26 - 4, y + dy * 24 + (dy === 0 ? 4 : 0), colours);
        context.strokeStyle = colours.text;
        context.lineWidth = 1.5;
    };
    arrow(0, -1, globe ? 'N' : 'y');
    if (!globe) {
        arrow(1, 0, 'x');
    }
}

/** A wide line below the track, so that it stands out from tiles. */
function drawHalo(context: CanvasRenderingContext2D, { view, size, colours }: Scene, track: Flat): void {
    context.lineWidth = 5.5;
    context.strokeStyle = colours.background;
    context.beginPath();
    track.spots.forEach((spot) => context.lineTo(...toPx(view, size, spot)));
    context.stroke();
}

function drawTrack(context: CanvasRenderingContext2D, scene: Scene, track: Flat, start: bigint): void {
    const { view, size, by, range } = scene;
    context.lineJoin = context.lineCap = 'round';
    drawHalo(context, scene, track);
    context.lineWidth = 2.5;
    const bin = (spot: Spot) =>
        Math.round(((valueOf(spot, by, start) - range[0]) / (range[1] - range[0] || 1)) * (BINS - 1));
    let colour = -1;
    context.strokeStyle = scene.colourOf(track);
    context.beginPath();
    track.spots.forEach((spot, i) => {
        const px = toPx(view, size, spot);
        const next = by === 'track' ? 0 : bin(spot);
        if (i > 0) {
            context.lineTo(...px);
        }
        if (next !== colour) {
            // another colour from here on
            context.stroke();
            context.beginPath();
            context.strokeStyle =
                by === 'track' ? scene.colourOf(track) : `rgb(${mapColour(MAP, next / (BINS - 1)).join(' ')})`;
            colour = next;
            context.moveTo(...px);
        }
    });
    context.stroke();
}

/** The start is a ring, the end a square. */
function drawEnds(context: CanvasRenderingContext2D, { view, size, colours, colourOf }: Scene, track: Flat): void {
    const [first, last] = [track.spots[0], track.spots.at(-1)];
    if (!first || !last || first === last) {
        return;
    }
    context.lineWidth = 2;
    context.strokeStyle = colourOf(track);
    context.fillStyle = colours.background;
    context.beginPath();
    context.arc(...toPx(view, size, first), 4.5, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    const [x, y] = toPx(view, size, last);
    context.fillRect(x - 4.5, y - 4.5, 9, 9);
    context.strokeRect(x - 4.5, y - 4.5, 9, 9);
}

export function drawMap(
    context: CanvasRenderingContext2D,
    scene: Scene,
    tiles: Tiles | null,
    dark: boolean,
    start: bigint,
): void {
    const { width, height } = scene.size;
    context.clearRect(0, 0, width, height);
    if (tiles && scene.globe) {
        context.globalAlpha = dark ? 0.6 : 0.9; // tracks stand out
        tiles.draw(context, scene.view, scene.size);
        context.globalAlpha = 1;
    }
    drawGrid(context, scene, tiles !== null && scene.globe);
    scene.tracks.forEach((track) => drawTrack(context, scene, track, start));
    scene.tracks.forEach((track) => drawEnds(context, scene, track));
    drawScale(context, scene);
    drawNorth(context, scene);
}

/** Where a track is at a time; null: not there yet. */
export function spotAt(track: Flat, time: bigint): Spot | null {
    return track.spots[countUntil(track.spots, time, (spot) => spot.time) - 1] ?? null;
}

export function drawPositions(
    context: CanvasRenderingContext2D,
    scene: Scene,
    time: bigint,
    hovered: { track: Flat; spot: Spot } | null,
): void {
    const { view, size, colours } = scene;
    context.clearRect(0, 0, size.width, size.height);
    for (const track of scene.tracks) {
        const spot = spotAt(track, time);
        if (spot) {
            context.beginPath();
            context.arc(...toPx(view, size, spot), 6, 0, 2 * Math.PI);
            context.fillStyle = scene.colourOf(track);
            context.fill();
            context.lineWidth = 2.5;
            context.strokeStyle = colours.background;
            context.stroke();
        }
    }
    if (hovered) {
        context.beginPath();
        context.arc(...toPx(view, size, hovered.spot), 7, 0, 2 * Math.PI);
        context.lineWidth = 2;
        context.strokeStyle = colours.text;
        context.stroke();
    }
}

/** The spot that is closest to a pixel, at most `reach` px away. */
export function nearest(
    { tracks, view, size }: Scene,
    x: number,
    y: number,
    reach: number,
): { track: Flat; spot: Spot } | null {
    let best: { track: Flat; spot: Spot } | null = null;
    let least = reach * reach;
    for (const track of tracks) {
        for (const spot of track.spots) {
            const [px, py] = toPx(view, size, spot);
            const away = (px - x) ** 2 + (py - y) ** 2;
            if (away <= least) {
                least = away;
                best = { track, spot };
            }
        }
    }
    return best;
}
