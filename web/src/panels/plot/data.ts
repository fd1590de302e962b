// Loads the points of curves from /series. Fields without steps come as minima and maxima, so that no peak is lost;
// those with steps as means, which can be differentiated and integrated; those of an XY plot as points that were
// recorded. Answers are kept for a while.
import { ApiError, get } from '../../api';
import type { Recording, Topic } from '../../types';
import { boundsOf } from '../../recording_time';
import { fieldsOfCurve, type Curve } from './curves';
import { applySteps, combined, valueAt, type Points } from './maths';

const STEP_POINTS = 20_000; // of a field with steps, or of an XY plot
const KEPT = 1_000_000; // points in memory beside those that are drawn
const GROWING = 50; // curves of live recordings whose points are kept
const BUSY_MS = 1000; // between two requests while the server reads the values

/** A curve as it is drawn. */
export interface Line {
    curve: Curve;
    index: number; // of the curve in the list
    source: Source;
    points: Points; // over time
    x: Float64Array; // where each point is drawn: its time, or the value of the x field at that time
}
export interface Source {
    recording: Recording;
    topics: Topic[];
    shift_ns: bigint; // added to its times
    name: string; // in the legend; empty: the panel's own
    difference?: true; // the other recording's values are subtracted
}
export interface Loaded {
    lines: Line[];
    problems: { field: string; why: string }[];
}

type Answer = [time: number, value: number | string | null][];
const kept = new Map<string, Points>(); // used last at the end
let keptPoints = 0;

function keep(key: string, points: Points): void {
    kept.set(key, points);
    keptPoints += points.t.length;
    for (const [oldest, { t }] of kept) {
        if (keptPoints <= KEPT) {
            break;
        }
        kept.delete(oldest);
        keptPoints -= t.length;
    }
}

async function ask(path: string, params: Record<string, string | number>, signal: AbortSignal): Promise<Answer> {
    for (;;) {
        try {
            return await get<Answer>(path, params, signal);
        } catch (error) {
            if (!(error instanceof ApiError && error.status === 503 && error.problem?.job)) {
                throw error;
            }
        }
        await new Promise((done) => setTimeout(done, BUSY_MS));
    }
}

interface SeriesParams {
    field: string;
    start: string;
    end: string;
    agg: string;
    max_points: number;
}

/** `zero`: the time that is 0 in `t`, on the recording's clock. */
async function fetchPoints(
    { recording }: Source,
    params: SeriesParams,
    zero: bigint,
    signal: AbortSignal,
): Promise<Points> {
    // relative to start
    const answer = await ask(`/recordings/${recording.id}/series`, { ...params, time_format: 'relative' }, signal);
    const from = Number(BigInt(params.start) - zero) / 1e9;
    return {
        t: Float64Array.from(answer, ([time]) => from + time),
        v: Float64Array.from(answer, ([, value]) =>
            value === null || !Number.isFinite(Number(value)) ? NaN : Number(value),
        ),
    };
}

function joined(a: Float64Array, b: Float64Array): Float64Array {
    const out = new Float64Array(a.length + b.length);
    out.set(a);
    out.set(b, a.length);
    return out;
}

// of the live recordings that are shown: what was loaded last, and up to where
const growing = new Map<string, { points: Points; end: string }>();

/** Of a live recording only what came since the last answer, until that are too many points. */
async function loadGrowing(source: Source, params: SeriesParams, zero: bigint, signal: AbortSignal): Promise<Points> {
    const key = JSON.stringify([source.recording.id, zero.toString(), { ...params, end: '' }]);
    const before = growing.get(key);
    const more =
        before !== undefined &&
        BigInt(before.end) <= BigInt(params.end) &&
        before.points.t.length < 2 * params.max_points;
    const came = await fetchPoints(source, { ...params, start: more ? before.end : params.start }, zero, signal);
    const points = more ? { t: joined(before.points.t, came.t), v: joined(before.points.v, came.v) } : came;
    growing.delete(key);
    growing.set(key, { points, end: params.end });
    [...growing.keys()].slice(0, -GROWING).forEach((oldest) => growing.delete(oldest));
    return points;
}

/** Waits while the server reads the values. Of a live recording it loads what is new. */
export async function load(source: Source, params: SeriesParams, zero: bigint, signal: AbortSignal): Promise<Points> {
    const { recording } = source;
    if (recording.state === 'recording') {
        return loadGrowing(source, params, zero, signal);
    }
    const key = JSON.stringify([recording.id, recording.content, recording.end_ns, zero.toString(), params]);
    const before = kept.get(key);
    if (before) {
        kept.delete(key);
        kept.set(key, before);
        return before;
    }
    const points = await fetchPoints(source, params, zero, signal);
    keep(key, points);
    return points;
}

// from the first message on
const needsAll = (curve: Curve): boolean => curve.steps.some((step) => step.kind === 'integral');
const isLinear = (curve: Curve): boolean => curve.steps.every((step) => step.kind === 'scale' || step.kind === 'add');

/** The points of a curve between two times (seconds from the start of the panel's recording), after its steps. */
async function pointsOf(source: Source, curve: Curve, request: SeriesRequest, signal: AbortSignal): Promise<Points> {
    const zero = request.start - source.shift_ns;
    const bounds = boundsOf(source.recording);
    const at = (seconds: number) => {
        const time = zero + BigInt(Math.round(seconds * 1e9));
        return time < bounds.start ? bounds.start : time > bounds.end ? bounds.end : time;
    };
    const before = Math.max(0, ...curve.steps.map((step) => (step.kind === 'average' ? step.seconds : 0)));
    const all = needsAll(curve);
    const exact = request.sampled === null && isLinear(curve);
    const fields = [...new Set(fieldsOfCurve(curve))];
    const points = await Promise.all(
        fields.map((field) =>
            load(
                source,
                {
                    field,
                    start: String(all ? bounds.start : at(request.from - before)),
                    end: String(all ? bounds.end + 1n : at(request.to) + 1n),
                    agg: exact ? 'minmax' : isLinear(curve) ? request.sampled! : 'mean',
                    max_points: exact ? request.points : STEP_POINTS,
                },
                zero,
                signal,
            ),
        ),
    );
    return applySteps(points[0]!, curve.steps, (field) => points[fields.indexOf(field)]!);
}

export interface SeriesRequest {
    start: bigint; // time 0
    from: number;
    to: number;
    points: number; // at most, of each curve
    xField: Curve | null; // null: time
    sampled: 'last' | 'mean' | null; // null: the smallest and the largest values
}

async function linesOf(
    source: Source,
    curves: { curve: Curve; index: number }[],
    request: SeriesRequest,
    signal: AbortSignal,
): Promise<Loaded> {
    const x = request.xField && (await pointsOf(source, request.xField, request, signal));
    const answers = await Promise.allSettled(curves.map(({ curve }) => pointsOf(source, curve, request, signal)));
    signal.throwIfAborted();
    const failed = answers.flatMap((answer, i) =>
        answer.status === 'rejected' ? [{ field: curves[i]!.curve.field, error: answer.reason as Error }] : [],
    );
    const refused = (error: unknown) =>
        error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 401;
    if (failed.length > 0 && !failed.every(({ error }) => refused(error))) {
        throw failed.find(({ error }) => !refused(error))!.error;
    }
    return {
        lines: answers.flatMap((answer, i) => {
            const points = answer.status === 'fulfilled' ? answer.value : null;
            return points
                ? [{ ...curves[i]!, source, points, x: x ? points.t.map((time) => valueAt(x, time)) : points.t }]
                : [];
        }),
        problems: failed.map(({ field, error }) => ({ field, why: error.message })),
    };
}

/** What a curve of this recording has more than that of the other, at the same times. */
function differences(mine: Line[], others: Line[], name: string): Line[] {
    return mine.flatMap((line) => {
        const other = others.find(({ index }) => index === line.index);
        const points = other && combined(line.points, '-', other.points);
        const source: Source = { ...line.source, name, difference: true };
        // on the right axis: it is small where the recordings are alike
        return points ? [{ ...line, curve: { ...line.curve, right: true }, source, points, x: points.t }] : [];
    });
}

/**
 * What could be loaded, and of each other field why not. Of a companion only the `shared` fields, and those that it
 * has. `difference`: the name of the differences between both; null: they are not wanted.
 */
export async function loadLines(
    own: Source,
    companion: Source | null,
    curves: Curve[],
    shared: (curve: Curve) => boolean,
    request: SeriesRequest,
    difference: string | null,
    signal: AbortSignal,
): Promise<Loaded> {
    const numbered = curves.map((curve, index) => ({ curve, index }));
    const [mine, other] = await Promise.all([
        linesOf(own, numbered, request, signal),
        companion &&
            linesOf(
                companion,
                numbered.filter(({ curve }) => shared(curve)),
                request,
                signal,
            ),
    ]);
    const others = other?.lines ?? [];
    const differing = difference === null ? [] : differences(mine.lines, others, difference);
    return { lines: [...mine.lines, ...others, ...differing], problems: mine.problems };
}
