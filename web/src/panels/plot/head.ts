// The values at the playhead where it rests: of a curve with more messages than points, the message there, which the
// points may not have.
import { ApiError, get } from '../../api';
import type { Playback } from '../../playback';
import type { Message } from '../../types';
import type { Line } from './data';
import { applySteps, type Points } from './maths';

const REST_MS = 120;
const NONE = (): Points => ({ t: new Float64Array(), v: new Float64Array() }); // of another field

interface Wanted {
    line: Line;
    topic: string;
    path: string;
}

/**
 * Where there are no more messages than points, or the value depends on other messages, the points are what there is.
 */
function wantedOf(line: Line): Wanted | null {
    const { field, steps } = line.curve;
    const [topic] = line.source.topics
        .filter((t) => field === t.name || field.startsWith(`${t.name}.`))
        .sort((a, b) => b.name.length - a.name.length);
    const alone = steps.every((step) => step.kind === 'scale' || step.kind === 'add');
    return topic && alone && !line.source.difference && topic.messages > line.points.t.length
        ? { line, topic: topic.name, path: field.slice(topic.name.length + 1) }
        : null;
}

async function valueOf({ line, topic, path }: Wanted, time_ns: bigint, signal: AbortSignal): Promise<number> {
    const params = { topic, at: time_ns - line.source.shift_ns, ...(path === '' ? {} : { fields: path }) };
    const { data } = await get<Message<Record<string, unknown> | number | null>>(
        `/recordings/${line.source.recording.id}/message`,
        params,
        signal,
    );
    const value = path === '' ? data : (data as Record<string, unknown>)[path];
    return applySteps({ t: Float64Array.of(0), v: Float64Array.of(Number(value ?? NaN)) }, line.curve.steps, NONE)
        .v[0]!;
}

/** Calls `found` with each value, for the time it is of. Returns a function that stops it. */
export function watchHead(
    playback: Playback,
    lines: Line[],
    found: (line: Line, time_ns: bigint, value: number) => void,
): () => void {
    const wanted = lines.flatMap((line) => wantedOf(line) ?? []);
    let abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
        const { signal } = abort;
        const { time_ns } = playback.get();
        for (const one of wanted) {
            valueOf(one, time_ns, signal).then(
                (value) => signal.aborted || found(one.line, time_ns, value),
                (error: unknown) => {
                    if (!signal.aborted && !(error instanceof ApiError)) {
                        throw error; // none there, or not reachable: the points are what is shown
                    }
                },
            );
        }
    };
    const rest = () => {
        clearTimeout(timer);
        abort.abort();
        abort = new AbortController();
        timer = playback.get().playing ? undefined : setTimeout(look, REST_MS);
    };
    rest();
    const unsubscribe = wanted.length > 0 ? playback.subscribe(rest) : () => undefined;
    return () => {
        unsubscribe();
        clearTimeout(timer);
        abort.abort();
    };
}
