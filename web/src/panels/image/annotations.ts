// What is drawn over an image: foxglove.ImageAnnotations and vision_msgs/Detection2DArray, in px of the image.
import { getRows } from '../../api';
import type { Message, Recording, Topic } from '../../types';

type Place = [x: number, y: number];
export type Shape =
    | { kind: 'line'; points: Place[]; closed: boolean; stroke: string; fill: string }
    | { kind: 'dots'; points: Place[]; fill: string }
    | { kind: 'circle'; at: Place; radius: number; stroke: string; fill: string }
    | { kind: 'text'; at: Place; text: string; size: number | null; fill: string };

const MAX_SHAPES = 2000;
const MAX_POINTS = 20_000; // of all shapes; more are left out
const OLD_NS = 1_000_000_000n; // annotations that are older than the playhead by more are not of the image
const COLOURS = 8;

export const isAnnotation = ({ type, messages }: Topic): boolean =>
    messages > 0 && /(^|[/.])ImageAnnotations$|^vision_msgs\/(msg\/)?Detection2D(Array)?$/.test(type);

const shared = (a: string, b: string): number => {
    const [x, y] = [a.split('/'), b.split('/')];
    const differs = x.findIndex((part, i) => part !== y[i]);
    return differs < 0 ? x.length : differs;
};
/** The annotations of an image topic until some are selected: those whose names are more like it than like others. */
export const annotationsOf = (image: string, images: string[], annotations: Topic[]): string[] =>
    annotations
        .map(({ name }) => name)
        .filter((name) => images.every((other) => shared(name, other) <= shared(name, image)));

// ---- foxglove.ImageAnnotations

interface Colour {
    r?: number;
    g?: number;
    b?: number;
    a?: number;
}
interface Point {
    x?: number;
    y?: number;
}
interface ImageAnnotations {
    circles?: { position?: Point; diameter?: number; outline_color?: Colour; fill_color?: Colour }[];
    points?: { type?: number | string; points?: Point[]; outline_color?: Colour; fill_color?: Colour }[];
    texts?: { position?: Point; text?: string; font_size?: number; text_color?: Colour }[];
}

const css = (colour: Colour | null | undefined): string => {
    const { r = 0, g = 0, b = 0, a = 0 } = colour ?? {};
    return `rgb(${[r, g, b].map((part) => Math.round(part * 255)).join(' ')} / ${a})`;
};
const place = (point: Point | null | undefined): Place => [point?.x ?? 0, point?.y ?? 0];
const TYPES = ['UNKNOWN', 'POINTS', 'LINE_LOOP', 'LINE_STRIP', 'LINE_LIST'];

function shapesOfAnnotations({ circles, points, texts }: ImageAnnotations): Shape[] {
    return [
        ...(circles ?? []).slice(0, MAX_SHAPES).map((one): Shape => ({
            kind: 'circle',
            at: place(one.position),
            radius: (one.diameter ?? 0) / 2,
            stroke: css(one.outline_color),
            fill: css(one.fill_color),
        })),
        ...(points ?? []).flatMap(({ type, points: some, outline_color, fill_color }): Shape[] => {
            const kind = typeof type === 'number' ? TYPES[type] : type;
            const all = (some ?? []).slice(0, MAX_POINTS).map(place);
            const line = (part: Place[], closed: boolean): Shape => ({
                kind: 'line',
                points: part,
                closed,
                stroke: css(outline_color),
                fill: closed ? css(fill_color) : 'none',
            });
            return kind === 'LINE_LIST'
                ? Array.from({ length: all.length >> 1 }, (_, i) => line(all.slice(2 * i, 2 * i + 2), false))
                : kind === 'LINE_LOOP' || kind === 'LINE_STRIP'
                  ? [line(all, kind === 'LINE_LOOP')]
                  : [{ kind: 'dots', points: all, fill: css(outline_color) }];
        }),
        ...(texts ?? []).slice(0, MAX_SHAPES).map((one): Shape => ({
            kind: 'text',
            at: place(one.position),
            text: one.text ?? '',
            size: one.font_size || null,
            fill: css(one.text_color),
        })),
    ];
}

// ---- vision_msgs/Detection2DArray

interface Detection {
    id?: string;
    results?: { hypothesis?: { class_id?: string; score?: number }; id?: string | number; score?: number }[];
    bbox?: {
        center?: Point & { position?: Point; theta?: number };
        size_x?: number;
        size_y?: number;
    };
}

function colourOf(name: string): string {
    const sum = [...name].reduce((all, c) => (all * 31 + c.charCodeAt(0)) % 9973, 0);
    return `var(--c${(sum % COLOURS) + 1})`;
}

function shapesOfDetection({ id = '', results = [], bbox }: Detection): Shape[] {
    const [best] = [...results].sort((a, b) => scoreOf(b) - scoreOf(a));
    const name = String(best?.hypothesis?.class_id ?? best?.id ?? id);
    const center = bbox?.center;
    const [x, y] = place(center?.position ?? center);
    const [cos, sin] = [Math.cos(center?.theta ?? 0), Math.sin(center?.theta ?? 0)];
    const [w, h] = [(bbox?.size_x ?? 0) / 2, (bbox?.size_y ?? 0) / 2];
    const corner = (dx: number, dy: number): Place => [x + dx * cos - dy * sin, y + dx * sin + dy * cos];
    const points = [corner(-w, -h), corner(w, -h), corner(w, h), corner(-w, h)];
    const score = best && scoreOf(best) > 0 ? ` ${Math.round(scoreOf(best) * 100)} %` : '';
    const colour = colourOf(name);
    return [
        { kind: 'line', points, closed: true, stroke: colour, fill: 'none' },
        ...(name ? [{ kind: 'text' as const, at: points[0]!, text: name + score, size: null, fill: colour }] : []),
    ];
}
const scoreOf = (result: NonNullable<Detection['results']>[number]): number =>
    result.hypothesis?.score ?? result.score ?? 0;

export function shapesOf(data: unknown): Shape[] {
    const { detections, bbox } = (data ?? {}) as { detections?: Detection[]; bbox?: unknown };
    return detections
        ? detections.flatMap(shapesOfDetection)
        : bbox
          ? shapesOfDetection(data as Detection)
          : shapesOfAnnotations((data ?? {}) as ImageAnnotations);
}

/** As many of the shapes, and of their points, as are drawn. */
function drawable(shapes: Shape[]): Shape[] {
    let left = MAX_POINTS;
    return shapes.slice(0, MAX_SHAPES).flatMap((shape): Shape[] => {
        if (!('points' in shape)) {
            return [shape];
        }
        const points = shape.points.slice(0, left);
        left -= points.length;
        return points.length > 0 ? [{ ...shape, points }] : [];
    });
}

/** The newest annotations of each topic at a time. */
export async function shapesAt(
    recording: Recording,
    topics: string[],
    time_ns: bigint,
    signal: AbortSignal,
): Promise<Shape[]> {
    const params = {
        topic: topics,
        start: time_ns + 1n,
        end: time_ns + 2n,
        last: 'per_topic',
        lookback: '1s',
        time_format: 'nanoseconds',
    };
    const shapes = new Map<string, Shape[]>();
    for await (const row of getRows<Message>(`/recordings/${recording.id}/messages`, params, signal)) {
        const age = time_ns - BigInt(row.log_time);
        if (age >= 0n && age <= OLD_NS) {
            shapes.set(row.topic, shapesOf(row.data));
        }
    }
    return drawable([...shapes.values()].flat());
}
