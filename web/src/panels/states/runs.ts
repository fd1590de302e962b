// How long each value of a field holds: from the message that has it first to the next one that has another.
import { get, getRows } from '../../api';
import { boundsOf } from '../../recording_time';
import type { Message, Recording, Topic } from '../../types';
import { constantsOf } from './constants';

const MAX_ROWS = 20_000; // of a topic; of more messages some are left out
const NOT_A_VALUE = '–';
const DIGITS = 7; // of a fraction

/** Seconds from the recording's start. */
export interface Run {
    from: number;
    to: number;
    value: string;
}
export interface Track {
    field: string;
    runs: Run[];
    thinned: boolean; // some messages were left out
}

/** The topic that a field is of, and its path within a message. */
export function placeOf(field: string, topics: readonly Topic[]): { topic: Topic; path: string } | null {
    const [topic] = topics
        .filter(({ name }) => field === name || field.startsWith(`${name}.`))
        .sort((a, b) => b.name.length - a.name.length);
    return topic ? { topic, path: field.slice(topic.name.length + 1) } : null;
}

/** Changes when the topic of a field begins, in a live recording. */
export const placesKey = (fields: string[], topics: readonly Topic[]): string =>
    fields.map((field) => `${field}@${placeOf(field, topics)?.topic.name ?? ''}`).join('|');

/** The constants of fields, by field. */
export async function namesOf(
    recording: Recording,
    topics: readonly Topic[],
    fields: string[],
    signal: AbortSignal,
): Promise<Map<string, Map<string, string>>> {
    const names = await Promise.all(
        fields.map(async (field): Promise<[string, Map<string, string>]> => {
            const place = placeOf(field, topics);
            const channel = place?.topic.channels.find((one) => /^ros[12]msg$/.test(one.schema_encoding ?? ''));
            if (!place || !channel?.schema_id) {
                return [field, new Map()];
            }
            const path = `/recordings/${recording.id}/schemas/${channel.schema_id}`;
            const { data } = await get<{ data: string | null }>(path, {}, signal);
            return [field, constantsOf(data ?? '', place.topic.type, place.path)];
        }),
    );
    return new Map(names);
}

export function stateText(value: unknown, names: Map<string, string> | undefined): string {
    return value === null || value === undefined
        ? NOT_A_VALUE
        : typeof value === 'object'
          ? JSON.stringify(value)
          : (names?.get(String(value)) ??
            String(typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value));
}

interface Wanted {
    recording: Recording;
    topics: readonly Topic[];
    fields: string[];
    from: number;
    to: number;
}

/**
 * The runs of one topic's fields; those that begin before `from` are there, too. null: there are more than MAX_ROWS
 * messages; `thinned` asks for no more.
 */
async function readRuns(
    { recording, from, to }: Wanted,
    topic: Topic,
    paths: Map<string, string>,
    names: Map<string, Map<string, string>>,
    thinned: boolean,
    signal: AbortSignal,
): Promise<Track[] | null> {
    const { start } = boundsOf(recording);
    const at = (seconds: number) => start + BigInt(Math.round(seconds * 1e9));
    const length = Math.max(to - from, 1e-6);
    const whole = [...paths.values()].includes('');
    const params = {
        topic: topic.name,
        start: at(from),
        end: at(to) + 1n,
        last: 'per_topic',
        time_format: 'nanoseconds',
        ...(whole ? {} : { fields: [...paths.values()].join(',') }),
        ...(thinned ? { every: `${Math.ceil((length * 1e9) / MAX_ROWS)}ns` } : {}),
    };
    const tracks = [...paths.keys()].map((field): Track => ({ field, runs: [], thinned }));
    let rows = 0;
    for await (const row of getRows<Message>(`/recordings/${recording.id}/messages`, params, signal)) {
        if (!thinned && ++rows > MAX_ROWS) {
            return null;
        }
        const seconds = Number(BigInt(row.log_time) - start) / 1e9;
        for (const { field, runs } of tracks) {
            const path = paths.get(field)!;
            const data = whole && path === '' ? row.data : (row.data as Record<string, unknown> | null)?.[path];
            const value = stateText(data, names.get(field));
            const last = runs.at(-1);
            if (last?.value === value) {
                continue;
            }
            if (last) {
                last.to = seconds;
            }
            runs.push({ from: seconds, to, value });
        }
    }
    return tracks;
}

/** Some messages are left out only where there are too many. */
async function runsOf(
    wanted: Wanted,
    topic: Topic,
    paths: Map<string, string>,
    names: Map<string, Map<string, string>>,
    signal: AbortSignal,
): Promise<Track[]> {
    const { start, end } = boundsOf(wanted.recording);
    const share = Math.min(1, (wanted.to - wanted.from) / (Number(end - start) / 1e9 || 1));
    const all = topic.messages * share > MAX_ROWS ? null : await readRuns(wanted, topic, paths, names, false, signal);
    return all ?? (await readRuns(wanted, topic, paths, names, true, signal)) ?? [];
}

/** The tracks of all fields, in their order; one whose topic is not there has no runs. */
export async function loadTracks(
    wanted: Wanted,
    names: Map<string, Map<string, string>>,
    signal: AbortSignal,
): Promise<Track[]> {
    const byTopic = new Map<Topic, Map<string, string>>();
    for (const field of wanted.fields) {
        const place = placeOf(field, wanted.topics);
        if (place) {
            byTopic.set(place.topic, (byTopic.get(place.topic) ?? new Map()).set(field, place.path));
        }
    }
    const loaded = await Promise.all([...byTopic].map(([topic, paths]) => runsOf(wanted, topic, paths, names, signal)));
    const tracks = loaded.flat();
    return wanted.fields.map(
        (field) => tracks.find((track) => track.field === field) ?? { field, runs: [], thinned: false },
    );
}

/** The run at a time; null: none yet. */
export function runAt(runs: readonly Run[], seconds: number): Run | null {
    let [low, high] = [0, runs.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (runs[middle]!.from <= seconds) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return runs[low - 1] ?? null;
}

/** What is drawn: runs narrower than a pixel or two are one segment without a value. */
export interface Segment extends Run {
    changes: number; // 0: one run
    left: number; // px
    width: number;
}
const LEAST_PX = 2;

export function segmentsOf(runs: readonly Run[], from: number, to: number, width: number): Segment[] {
    const px = (seconds: number) => ((Math.min(Math.max(seconds, from), to) - from) / (to - from || 1)) * width;
    const segments: Segment[] = [];
    for (const run of runs) {
        if (run.to < from || run.from > to) {
            continue;
        }
        const [left, right] = [px(run.from), px(run.to)];
        const last = segments.at(-1);
        const narrow = right - left < LEAST_PX;
        if (narrow && last && (last.changes > 0 || last.width < LEAST_PX)) {
            last.to = run.to;
            last.width = right - last.left;
            last.changes++;
        } else {
            segments.push({ ...run, left, width: right - left, changes: 0 });
        }
    }
    return segments;
}
