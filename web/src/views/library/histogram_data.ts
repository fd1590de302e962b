// The data of the histogram: days of the archive, and the results of a search. Requests are bounded for any archive size.
import { get, getPage } from '../../api';
import { useRequest } from '../../use_request';
import type { CollectionSpan, Stat } from '../../types';

export interface Span {
    from: number; // ms
    to: number;
}
interface Piece extends Span {
    recordings: number;
}
export interface HistogramData {
    all: Piece[]; // of the archive, per day
    found: Piece[]; // of the search
    truncated: number; // only so many recordings were counted; 0: all
}
export interface Bar extends Span {
    all: number;
    found: number;
}

const DAY = 86400000;
const RESOLUTION = 400; // distinguishable parts of the view
const MIN_BAR_PX = 5;

async function daysOf(signal: AbortSignal): Promise<Piece[]> {
    const { items } = await get<{ items: Stat[] }>('/stats', { by: 'day' }, signal);
    const days = items.filter((day) => day.name !== null && /^\d{4}-/.test(day.name));
    return days
        .map((day) => ({ from: Date.parse(day.name!), to: Date.parse(day.name!) + DAY, recordings: day.recordings }))
        .sort((a, b) => a.from - b.from);
}

async function foundOf(
    query: string,
    start: string | null,
    end: string | null,
    gap_ms: number,
    signal: AbortSignal,
): Promise<{ pieces: Piece[]; truncated: number }> {
    const tolerance = `${Math.max(1, Math.round(gap_ms))}ms`; // closer recordings would share a bar anyway
    const page = await getPage<CollectionSpan>('/coverage', { by: 'collection', tolerance, q: query || null, start, end }, null, signal);
    const pieces = page.items.map((item) => ({ from: Date.parse(item.start), to: Date.parse(item.end), recordings: item.recordings }));
    return { pieces, truncated: page.capped ? (page.counted ?? 0) : 0 };
}

/** Days for a wide range without a search; otherwise single recordings. */
export function useHistogram(query: string, start: string | null, end: string | null, refreshCount: number) {
    const days = useRequest(daysOf, [refreshCount]).value;
    const first = days?.[0];
    const last = days?.[days.length - 1];
    const archive: Span | null = first && last ? { from: first.from, to: last.to } : null;
    const from = start ? Date.parse(start) : archive?.from;
    const to = end ? Date.parse(end) : archive?.to;
    const span: Span | null = from !== undefined && to !== undefined && to > from ? { from, to } : null;
    const gap = span ? (span.to - span.from) / RESOLUTION : 0;
    const byDays = !!span && query === '' && span.to - span.from >= 7 * DAY; // exact for any archive
    const close = gap > 0 && !byDays;
    const nothing = { pieces: [] as Piece[], truncated: 0 };
    const found = useRequest(
        (signal) => (close ? foundOf(query, start, end, gap, signal) : Promise.resolve(nothing)),
        [query, start, end, close && gap, refreshCount],
    ).value;
    return { archive: days ? archive : undefined, span, byDays, data: days && found ? { all: days, found: found.pieces, truncated: found.truncated } : null };
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200].map((s) => s * 1000);

function stepOf(shortest: number): number {
    const step = STEPS.find((one) => one >= shortest);
    return step ?? DAY * Math.ceil(shortest / DAY);
}

export function barsOf(data: HistogramData, span: Span, width: number, byDays: boolean): Bar[] {
    const least = ((span.to - span.from) * MIN_BAR_PX) / Math.max(width, 1);
    const step = stepOf(byDays ? Math.max(least, DAY) : least);
    const origin = Math.floor(span.from / step) * step;
    const bars: Bar[] = [];
    for (let from = origin; from < span.to; from += step) {
        bars.push({ from, to: from + step, all: 0, found: 0 });
    }
    // A day, or a series of adjacent recordings, is spread over the bars it touches; each gets at least one.
    const add = (piece: Piece, key: 'all' | 'found') => {
        const first = Math.max(0, Math.floor((piece.from - origin) / step));
        const last = Math.min(bars.length - 1, Math.floor((Math.max(piece.from, piece.to - 1) - origin) / step));
        const each = Math.max(1, (piece.recordings * step) / Math.max(piece.to - piece.from, step));
        for (let i = first; i <= last; i++) {
            bars[i]![key] += first === last ? piece.recordings : each;
        }
    };
    if (step >= DAY) {
        data.all.forEach((piece) => add(piece, 'all'));
    }
    data.found.forEach((piece) => add(piece, 'found'));
    return bars;
}

export interface Tick {
    time: number;
    label: string;
}
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Ticks at least 90 px apart, at round UTC times. */
export function ticksOf(span: Span, width: number): Tick[] {
    const least = ((span.to - span.from) * 90) / Math.max(width, 1);
    if (least < 15 * DAY) {
        const step = least <= 43200000 ? stepOf(least) : Math.ceil(least / DAY) * DAY;
        const ticks: Tick[] = [];
        for (let time = Math.ceil(span.from / step) * step; time < span.to; time += step) {
            const iso = new Date(time).toISOString();
            const day = `${Number(iso.slice(8, 10))} ${MONTHS[Number(iso.slice(5, 7)) - 1]!}`;
            ticks.push({ time, label: step >= DAY || time % DAY === 0 ? day : step < 60000 ? iso.slice(11, 19) : iso.slice(11, 16) });
        }
        return ticks;
    }
    const months = [1, 2, 3, 6, 12, 24, 60, 120, 240].find((n) => n * 30.4 * DAY >= least) ?? 600;
    const begin = new Date(span.from);
    const ticks: Tick[] = [];
    for (let i = Math.ceil((begin.getUTCFullYear() * 12 + begin.getUTCMonth()) / months) * months; ; i += months) {
        const time = Date.UTC(Math.floor(i / 12), i % 12, 1);
        if (time >= span.to || ticks.length > 200) {
            return ticks;
        }
        if (time >= span.from) {
            ticks.push({ time, label: i % 12 === 0 ? String(i / 12) : `${MONTHS[i % 12]!} ${Math.floor(i / 12)}` });
        }
    }
}
