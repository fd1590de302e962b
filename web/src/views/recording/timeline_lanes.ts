// The lanes of the timeline: message counts of each topic over time, from /coverage. Lists without items are left out:
// CARLA writes one for what did not happen, in every frame.
import { get } from '../../api';
import type { Range } from '../../playback';
import { TOPICS_MAX } from './load';
import { timeNs } from '../../recording_time';

export interface Lane {
    topic: string;
    spans: { start: bigint; end: bigint; count: number }[];
    most: number; // of a span
    count: number;
}
interface Coverage {
    next: string | null;
    topics: { topic: string; spans: [string, string, number][] }[];
}

const BINS = 300;

export async function lanesOf(id: string, signal: AbortSignal): Promise<Lane[]> {
    const topics: Coverage['topics'] = [];
    let cursor: string | null = null;
    do {
        const page: Coverage = await get<Coverage>(
            `/recordings/${id}/coverage`,
            { bins: BINS, tolerance: '1ns', empty: false, cursor },
            signal,
        );
        topics.push(...page.topics);
        cursor = page.next;
    } while (cursor && topics.length < TOPICS_MAX);
    return topics.map(({ topic, spans }) => {
        const parsed = spans.map(([start, end, count]) => ({ start: timeNs(start), end: timeNs(end), count }));
        return {
            topic,
            spans: parsed,
            most: parsed.reduce((most, s) => Math.max(most, s.count), 0),
            count: parsed.reduce((sum, s) => sum + s.count, 0),
        };
    });
}

export const LANE_HEIGHT = 18;

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
    colours: Colours,
): void {
    context.clearRect(0, 0, width, lanes.length * LANE_HEIGHT);
    lanes.forEach((lane, i) => {
        const top = i * LANE_HEIGHT;
        context.fillStyle = colours.line;
        context.fillRect(0, top + LANE_HEIGHT - 1, width, 1);
        context.fillStyle = colours.lane[i % colours.lane.length]!;
        for (const span of lane.spans) {
            const start = xOf(span.start, view, width);
            const from = start > width ? start : Math.min(start, width - 1.5); // a message at the very end is visible
            const to = Math.max(xOf(span.end, view, width), from + 1.5);
            if (to >= 0 && from <= width) {
                const share = lane.most > 0 ? span.count / lane.most : 0;
                const height = Math.max(3, Math.round((LANE_HEIGHT - 5) * Math.sqrt(share)));
                context.fillRect(from, top + LANE_HEIGHT - 2 - height, to - from, height);
            }
        }
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
