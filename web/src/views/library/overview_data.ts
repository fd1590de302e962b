// What the overview draws: days of the whole archive, and what a search finds. Its one rule: a bounded question for any archive, however large.
import { get, getPage } from '../../api';
import { useAsk } from '../../ask';
import type { CollectionSpan, Stat } from '../../types';

export interface Span {
    from: number; // ms
    to: number;
}
interface Piece extends Span {
    recordings: number;
}
export interface OverviewData {
    all: Piece[]; // of the archive, day by day
    found: Piece[]; // of the search
    cut: number; // more was found than this is drawn of; 0: all
}
export interface Bar extends Span {
    all: number;
    found: number;
}

const DAY = 86400000;
const FINENESS = 400; // parts of the view that are told apart
const NARROWEST = 5; // px of a bar

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
): Promise<{ pieces: Piece[]; cut: number }> {
    const tolerance = `${Math.max(1, Math.round(gap_ms))}ms`; // what lies closer together would be one bar anyhow
    const page = await getPage<CollectionSpan>('/coverage', { by: 'collection', tolerance, q: query || null, start, end }, null, signal);
    const pieces = page.items.map((item) => ({ from: Date.parse(item.start), to: Date.parse(item.end), recordings: item.recordings }));
    return { pieces, cut: page.capped ? (page.counted ?? 0) : 0 };
}

/** Days for the long view; each recording where one has searched or looks closely. */
export function useOverview(query: string, start: string | null, end: string | null, round: number) {
    const days = useAsk(daysOf, [round]).value;
    const first = days?.[0];
    const last = days?.[days.length - 1];
    const whole: Span | null = first && last ? { from: first.from, to: last.to } : null;
    const from = start ? Date.parse(start) : whole?.from;
    const to = end ? Date.parse(end) : whole?.to;
    const span: Span | null = from !== undefined && to !== undefined && to > from ? { from, to } : null;
    const gap = span ? (span.to - span.from) / FINENESS : 0;
    const byDays = !!span && query === '' && span.to - span.from >= 7 * DAY; // exact for any archive
    const close = gap > 0 && !byDays;
    const nothing = { pieces: [] as Piece[], cut: 0 };
    const found = useAsk(
        (signal) => (close ? foundOf(query, start, end, gap, signal) : Promise.resolve(nothing)),
        [query, start, end, close && gap, round],
    ).value;
    return { whole: days ? whole : undefined, span, byDays, data: days && found ? { all: days, found: found.pieces, cut: found.cut } : null };
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200].map((s) => s * 1000);

function stepOf(shortest: number): number {
    const step = STEPS.find((one) => one >= shortest);
    return step ?? DAY * Math.ceil(shortest / DAY);
}

export function barsOf(data: OverviewData, span: Span, width: number, byDays: boolean): Bar[] {
    const least = ((span.to - span.from) * NARROWEST) / Math.max(width, 1);
    const step = stepOf(byDays ? Math.max(least, DAY) : least);
    const origin = Math.floor(span.from / step) * step;
    const bars: Bar[] = [];
    for (let from = origin; from < span.to; from += step) {
        bars.push({ from, to: from + step, all: 0, found: 0 });
    }
    // A day, or a row of recordings close together: spread over the bars it touches, each of which gets at least one.
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

/** Marks at least 90 px apart, at round times of UTC. */
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
