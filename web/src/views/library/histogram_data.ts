// The data of the histogram: how many recordings of the search, and of the archive, overlap each bucket of time. The
// server counts them exactly.
import { get, getPage } from '../../api';
import { useRequest } from '../../use_request';
import { offsetMs, shownZone } from '../../time_zone';
import type { CoverageBucket, Recording, Stat } from '../../types';

export interface Span {
    from: number; // ms
    to: number;
}
export interface Bar extends Span {
    all: number; // of the archive
    found: number; // of the search
}
/** Recordings of the search outside the time range that is shown. */
export interface Outside {
    before: number;
    after: number;
    more: boolean; // the counts are lower bounds
}

const DAY = 86400000;
const MIN_BAR_PX = 8;
const OUTLIERS = 0.1; // of the recordings, at most, are drawn as a mark at the end of the range
const EMPTIER = 2; // if the gap before them is this many times as long as the rest

interface Day extends Span {
    recordings: number;
}

const STATS_MAX = 5000; // the server answers no more of them

/** When recordings begin: by day, or by month if there are too many days. */
async function daysOf(signal: AbortSignal): Promise<Day[]> {
    const days = (await get<{ items: Stat[] }>('/stats', { by: 'day' }, signal)).items;
    const months = days.length >= STATS_MAX;
    const items = months ? (await get<{ items: Stat[] }>('/stats', { by: 'month' }, signal)).items : days;
    const next = (from: number) => (months ? new Date(from).setUTCMonth(new Date(from).getUTCMonth() + 1) : from + DAY);
    return items
        .filter((item) => item.name !== null && /^\d{4}-/.test(item.name))
        .map((item) => ({
            from: Date.parse(item.name!),
            to: next(Date.parse(item.name!)),
            recordings: item.recordings,
        }))
        .sort((a, b) => a.from - b.from);
}

/** Without the few days at either end that are far from all others, such as 1970 from clocks that were not set. */
export function mainRange(days: readonly Day[]): Span | null {
    let [first, last] = [0, days.length - 1];
    let spare = days.reduce((sum, day) => sum + day.recordings, 0) * OUTLIERS;
    const length = (a: number, b: number) => days[b]!.to - days[a]!.from;
    for (let cut = true; cut;) {
        cut = false;
        for (let i = first, sum = 0; i < last && (sum += days[i]!.recordings) <= spare && !cut; i++) {
            if (days[i + 1]!.from - days[i]!.to > EMPTIER * length(i + 1, last)) {
                [first, spare, cut] = [i + 1, spare - sum, true];
            }
        }
        for (let i = last, sum = 0; i > first && (sum += days[i]!.recordings) <= spare && !cut; i--) {
            if (days[i]!.from - days[i - 1]!.to > EMPTIER * length(first, i - 1)) {
                [last, spare, cut] = [i - 1, spare - sum, true];
            }
        }
    }
    return days.length > 0 ? { from: days[first]!.from, to: days[last]!.to } : null;
}

const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
const CALENDAR: [string, number][] = [
    ['week', 7 * DAY],
    ['month', 30.4 * DAY],
    ['year', 365 * DAY],
];

/** The narrowest bucket that makes bars wide enough to see and to point at. */
function bucketFor(span: Span, width: number): string {
    const least = ((span.to - span.from) * MIN_BAR_PX) / Math.max(width, 1);
    const seconds = SECONDS.find((s) => s * 1000 >= least);
    return seconds ? `${seconds}s` : (CALENDAR.find(([, ms]) => ms >= least)?.[0] ?? 'year');
}

/**
 * How far the clock of the bars is ahead of UTC: one for all, also where daylight saving time begins or ends among
 * them.
 */
export const clockOf = (span: Span): number => offsetMs((span.from + span.to) / 2, shownZone());

interface Counts {
    buckets: CoverageBucket[];
    truncated: number; // only so many recordings were counted; 0: all
}
async function countsOf(query: string, span: Span, bucket: string, signal: AbortSignal): Promise<Counts> {
    const iso = (ms: number) => new Date(ms).toISOString();
    const utc_offset = Math.round(clockOf(span) / 60000);
    const page = await getPage<CoverageBucket>(
        '/coverage',
        { by: 'time', bucket, utc_offset, q: query || null, start: iso(span.from), end: iso(span.to) },
        null,
        signal,
    );
    return { buckets: page.items, truncated: page.capped ? (page.counted ?? 0) : 0 };
}

async function outsideOf(query: string, span: Span, signal: AbortSignal): Promise<Outside> {
    const total = (range: { start?: string; end?: string }) =>
        getPage<Recording>('/recordings', { q: query || null, ...range, limit: 1, count: true }, null, signal);
    const [before, after] = await Promise.all([
        total({ end: new Date(span.from).toISOString() }),
        total({ start: new Date(span.to).toISOString() }),
    ]);
    return {
        before: before.total ?? 0,
        after: after.total ?? 0,
        more: before.total_capped === true || after.total_capped === true,
    };
}

function barsOf(all: Counts, found: Counts): Bar[] {
    const bars = new Map<number, Bar>();
    for (const [counts, key] of [
        [all, 'all'],
        [found, 'found'],
    ] as const) {
        for (const { start, end, recordings } of counts.buckets) {
            const from = Date.parse(start);
            const bar = bars.get(from) ?? { from, to: Date.parse(end), all: 0, found: 0 };
            bar[key] = recordings;
            bars.set(from, bar);
        }
    }
    return [...bars.values()].sort((a, b) => a.from - b.from);
}

const NONE: Outside = { before: 0, after: 0, more: false };

/** `query` null: not known yet whether the server takes it. */
export function useHistogram(
    query: string | null,
    start: string | null,
    end: string | null,
    refreshCount: number,
    width: number,
) {
    const days = useRequest(daysOf, [refreshCount]).value;
    const archive = days ? mainRange(days) : undefined; // undefined: not known yet
    const full = days && days.length > 0 ? { from: days[0]!.from, to: days[days.length - 1]!.to } : null;
    const [first, last] = [start ? Date.parse(start) : null, end ? Date.parse(end) : null];
    const from = first ?? (archive && (last === null || last > archive.from) ? archive.from : full?.from);
    const to = last ?? (archive && (first === null || first < archive.to) ? archive.to : full?.to);
    const span: Span | null = from !== undefined && to !== undefined && to > from ? { from, to } : null;
    const bucket = span && width > 0 ? bucketFor(span, width) : null;
    const whole = start === null && end === null;
    const cut = whole && !!archive && !!full && (archive.from > full.from || archive.to < full.to);
    const bars = useRequest(
        async (signal) => {
            if (!span || !bucket || query === null) {
                return null;
            }
            const found = countsOf(query, span, bucket, signal);
            const [all, of] = await Promise.all([query ? countsOf('', span, bucket, signal) : found, found]);
            return { bars: barsOf(all, of), bucket, truncated: of.truncated || all.truncated };
        },
        [query, span?.from, span?.to, bucket, refreshCount],
    ).value;
    const outside = useRequest(
        (signal) => (cut && query !== null ? outsideOf(query, archive, signal) : Promise.resolve(NONE)),
        [query, cut, archive?.from, archive?.to, refreshCount],
    ).value;
    return { archive, span, data: bars, outside: outside ?? NONE };
}

const STEPS = SECONDS.slice(0, -1).map((s) => s * 1000);

function stepOf(shortest: number): number {
    const step = STEPS.find((one) => one >= shortest);
    return step ?? DAY * Math.ceil(shortest / DAY);
}

export interface Tick {
    time: number;
    label: string;
}
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Ticks at least 90 px apart, at round times of the clock. */
export function ticksOf(span: Span, width: number): Tick[] {
    const clock = clockOf(span);
    return roundTimes(
        { from: span.from + clock, to: span.to + clock },
        ((span.to - span.from) * 90) / Math.max(width, 1),
    ).map(({ time, label }) => ({ time: time - clock, label }));
}

function roundTimes(span: Span, least: number): Tick[] {
    if (least < 15 * DAY) {
        const step = least <= 43200000 ? stepOf(least) : Math.ceil(least / DAY) * DAY;
        const ticks: Tick[] = [];
        for (let time = Math.ceil(span.from / step) * step; time < span.to; time += step) {
            const iso = new Date(time).toISOString();
            const day = `${Number(iso.slice(8, 10))} ${MONTHS[Number(iso.slice(5, 7)) - 1]!}`;
            ticks.push({
                time,
                label: step >= DAY || time % DAY === 0 ? day : step < 60000 ? iso.slice(11, 19) : iso.slice(11, 16),
            });
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

/** What a bar is called: its month or day, or its times. */
export function barName(bar: Span, bucket: string, clock: number): string {
    const iso = (ms: number) => new Date(ms + clock).toISOString().replace('T', ' ');
    const begin = new Date(bar.from + clock);
    if (bucket === 'year') {
        return String(begin.getUTCFullYear());
    }
    if (bucket === 'month') {
        return `${MONTHS[begin.getUTCMonth()]!} ${begin.getUTCFullYear()}`;
    }
    if (bucket === '86400s') {
        return iso(bar.from).slice(0, 10);
    }
    const digits = bucket === 'week' ? 10 : Number.parseInt(bucket, 10) % 60 === 0 ? 16 : 19;
    return `${iso(bar.from).slice(0, digits)} – ${iso(bucket === 'week' ? bar.to - 1 : bar.to).slice(0, digits)}`;
}
