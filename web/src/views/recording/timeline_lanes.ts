// The lanes of the timeline: message counts of each topic over time, from /coverage. Lists without items are left out:
// CARLA writes one for what did not happen, in every frame.
import { get } from '../../api';
import type { Range } from '../../playback';
import { TOPICS_MAX } from './load';
import { timeNs } from '../../recording_time';

interface Span {
    start: bigint;
    end: bigint;
    count: number;
    share: number; // of the most that a bin of the lane has
}
export interface Lane {
    topic: string;
    spans: Span[];
    count: number;
    period: number; // ns between two messages where they are not apart
}
interface Coverage {
    next: string | null;
    topics: { topic: string; spans: [string, string, number][] }[];
}

const BINS = 300;

/** Of the whole recording, or of a part of it, in as many bins. */
export async function lanesOf(id: string, signal: AbortSignal, part: Range | null = null): Promise<Lane[]> {
    const topics: Coverage['topics'] = [];
    const range = part && { start: String(part.start), end: String(part.end) };
    let cursor: string | null = null;
    do {
        const page: Coverage = await get<Coverage>(
            `/recordings/${id}/coverage`,
            { bins: BINS, tolerance: '1ns', empty: false, ...range, cursor },
            signal,
        );
        topics.push(...page.topics);
        cursor = page.next;
    } while (cursor && topics.length < TOPICS_MAX);
    return topics.map(laneOf);
}

function laneOf({ topic, spans }: Coverage['topics'][number]): Lane {
    const most = spans.reduce((most, [, , count]) => Math.max(most, count), 1);
    const parsed = spans.map(([start, end, count]) => ({
        start: timeNs(start),
        end: timeNs(end),
        count,
        share: count / most,
    }));
    return { topic, spans: parsed, count: parsed.reduce((sum, { count }) => sum + count, 0), period: periodOf(parsed) };
}

/** Of messages that share a bin; if none do, the gap between two that half of the gaps are shorter than. */
function periodOf(spans: readonly Span[]): number {
    const steps = spans.reduce((sum, { count }) => sum + count - 1, 0);
    if (steps > 0) {
        return spans.reduce((sum, { start, end }) => sum + Number(end - start), 0) / steps;
    }
    const gaps = spans.slice(1).map(({ start }, i) => Number(start - spans[i]!.end));
    return gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? 0;
}

/** `lanes` with the spans of `fine`, which are of a part of the recording, in the place of their own. */
export function refined(lanes: readonly Lane[], fine: readonly Lane[], part: Range): Lane[] {
    const found = new Map(fine.map((lane) => [lane.topic, lane]));
    return lanes.map((lane) => ({
        ...lane,
        spans: [
            ...lane.spans
                .filter(({ start }) => start < part.start)
                .map((span) => (span.end >= part.start ? { ...span, end: part.start } : span)),
            ...(found.get(lane.topic)?.spans ?? []),
            ...lane.spans
                .filter(({ end }) => end >= part.end)
                .map((span) => (span.start < part.end ? { ...span, start: part.end } : span)),
        ],
    }));
}

export const LANE_HEIGHT = 18;
const APART_PX = 4; // messages further apart than this are drawn one by one
const STEADY = 1.5; // times the period: a longer gap is one

export interface Colours {
    lane: string[];
    line: string;
    ink: string;
}

/** x of a time in a view of `width` pixels. */
export function xOf(time: bigint, view: Range, width: number): number {
    const length = Number(view.end - view.start) || 1;
    return (Number(time - view.start) / length) * width;
}
export function timeAt(x: number, view: Range, width: number): bigint {
    const length = Number(view.end - view.start) || 1;
    return view.start + BigInt(Math.round((Math.min(Math.max(x, 0), width) / Math.max(width, 1)) * length));
}

export function drawLanes(
    context: CanvasRenderingContext2D,
    lanes: Lane[],
    view: Range,
    width: number,
    row: number, // its height
    colours: Colours,
): void {
    context.clearRect(0, 0, width, lanes.length * row);
    const perNs = width / (Number(view.end - view.start) || 1);
    lanes.forEach((lane, i) => {
        const top = i * row;
        const dense = lane.period * perNs < APART_PX;
        context.fillStyle = colours.line;
        context.fillRect(0, top + row - 1, width, 1);
        context.fillStyle = colours.lane[i % colours.lane.length]!;
        lane.spans.forEach((span, k) => {
            const start = xOf(span.start, view, width);
            const from = start > width ? start : Math.min(start, width - 1.5); // a message at the very end is visible
            const next = lane.spans[k + 1];
            // where messages are not drawn apart, the time to the next one is no gap
            const steady = dense && next && Number(next.start - span.end) <= STEADY * lane.period;
            const to = Math.max(xOf(steady ? next.start : span.end, view, width), from + 1.5);
            if (to >= 0 && from <= width) {
                const height = Math.max(3, Math.round((row - 5) * Math.sqrt(span.share)));
                context.fillRect(from, top + row - 2 - height, to - from, height);
            }
        });
    });
}

const STEPS_S = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
    10800, 21600, 43200, 86400, 172800, 604800,
];

/** The ticks of the ruler, in seconds from the recording's start. */
export function rulerTicks(view: Range, start: bigint, width: number): { seconds: number; time: bigint }[] {
    const length = Number(view.end - view.start) / 1e9;
    const step = STEPS_S.find((s) => (s / Math.max(length, 1e-9)) * width >= 80) ?? Math.max(length, 1);
    const first = Math.ceil(Number(view.start - start) / 1e9 / step);
    const out = [];
    for (let i = first; out.length < 200; i++) {
        const seconds = i * step;
        const time = start + BigInt(Math.round(seconds * 1e9));
        if (time > view.end) {
            break;
        }
        out.push({ seconds, time });
    }
    return out;
}
