// The fields of a topic that are numbers or texts: those of its schema, and those of one message where the schema is
// not enough (maps keyed by actor or particle).
import { ApiError, get } from '../../api';
import type { Message, Recording, Topic } from '../../types';
import { firstTime } from '../../recording_time';
import { fieldOf } from './curves';
import { decoded } from './decoded';

export interface FieldChoice {
    topic: string;
    path: string; // '/topic.a.b'
    unit: string;
    numeric: boolean; // else a text
}
const MAX_FIELDS = 2000; // of one message
const SMALL_BYTES = 20_000; // of a message that is looked at without being asked for
const MAX_TOPICS = 300; // whose fields are listed at once
const TOPICS_AT_A_TIME = 4;

const NUMBER = /^(-?\d{16,20}|NaN|-?Infinity)$/; // that JSON cannot hold
function leaves(value: unknown, path: string, out: Map<string, boolean>): void {
    if (out.size >= MAX_FIELDS) {
        return;
    }
    if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string') {
        out.set(path, typeof value !== 'string' || NUMBER.test(value));
    } else if (Array.isArray(value)) {
        value.slice(0, 64).forEach((one, i) => leaves(one, `${path}[${i}]`, out));
    } else if (value !== null && typeof value === 'object' && !('$base64' in value)) {
        Object.entries(value).forEach(([key, one]) => leaves(one, path ? `${path}.${key}` : key, out));
    }
}

interface SchemaField {
    path: string;
    type: string;
    unit: string;
    numeric: boolean;
}
const schemaOf = async (id: string, topic: string, signal: AbortSignal): Promise<SchemaField[]> =>
    (await get<{ fields: SchemaField[] }>(`/recordings/${id}/topics/fields`, { topic }, signal)).fields;
/** The size of its elements is known from a message only. */
const isOpen = (field: SchemaField): boolean => !field.numeric && /\[|^map/.test(field.type);
const isText = (field: SchemaField): boolean => /string|text/i.test(field.type) && !isOpen(field);

/** `at`: the time of the message to look at. Large messages are not looked at. */
export async function fieldsOf(id: string, topic: Topic, at: bigint, signal: AbortSignal): Promise<FieldChoice[]> {
    const schema = await schemaOf(id, topic.name, signal);
    const known = new Map<string, FieldChoice>();
    const add = (path: string, unit: string, numeric: boolean) =>
        known.set(path, { topic: topic.name, path: fieldOf(topic, path), unit, numeric });
    schema.filter((f) => f.numeric || isText(f)).forEach((f) => add(f.path, f.unit, f.numeric));
    const small = (topic.payload_bytes ?? 0) / Math.max(topic.messages, 1) < SMALL_BYTES;
    if (!small || (schema.length > 0 && !schema.some(isOpen))) {
        return [...known.values()];
    }
    const first = firstTime(topic) ?? at;
    const message = await get<Message>(
        `/recordings/${id}/message`,
        { topic: topic.name, at: at < first ? first : at },
        signal,
    ).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) {
            return null;
        }
        throw error;
    });
    const found = new Map<string, boolean>();
    leaves(message?.data, '', found);
    found.forEach(
        (numeric, path) => known.has(path) || known.has(path.replace(/\[(\d+)\]/g, '.$1')) || add(path, '', numeric),
    );
    return [...known.values()];
}

/**
 * The fields of all `topics`, some topics at a time; `found` is called with those found so far. A topic whose fields
 * cannot be listed is left out.
 */
export async function allFields(
    id: string,
    topics: Topic[],
    at: bigint,
    found: (fields: FieldChoice[]) => void,
    signal: AbortSignal,
): Promise<void> {
    const waiting = topics.filter(decoded).slice(0, MAX_TOPICS);
    const byTopic = new Map<string, FieldChoice[]>(waiting.map((t) => [t.name, []]));
    const worker = async () => {
        for (let topic = waiting.shift(); topic && !signal.aborted; topic = waiting.shift()) {
            try {
                byTopic.set(topic.name, await fieldsOf(id, topic, at, signal));
            } catch (error) {
                if (!(error instanceof ApiError)) {
                    throw error;
                }
            }
            if (!signal.aborted) {
                found([...byTopic.values()].flat());
            }
        }
    };
    await Promise.all(Array.from({ length: TOPICS_AT_A_TIME }, worker));
}

// numbers that say nothing about the robot
const BOOKKEEPING = /(^|\.)(header|stamp|seq|sequence_number|height|width|step|level|line|is_bigendian|\w+_time)(\.|$)/;
const DEFAULT_COUNT = 2;
const MAX_TRIED = 5; // topics

/**
 * The fields plotted until some are selected, where no type is known: the first ones of the topic with the most
 * messages that has any, preferably with fractions.
 */
export async function firstFields(
    recording: Recording,
    topics: readonly Topic[],
    signal: AbortSignal,
): Promise<string[]> {
    const tried = topics
        .filter(decoded)
        .sort((a, b) => b.messages - a.messages)
        .slice(0, MAX_TRIED);
    let whole: string[] = [];
    for (const topic of tried) {
        const fields = (await schemaOf(recording.id, topic.name, signal)).filter(
            (f) => f.numeric && !BOOKKEEPING.test(f.path),
        );
        const paths = (some: SchemaField[]) => some.slice(0, DEFAULT_COUNT).map((f) => fieldOf(topic, f.path));
        const fractions = paths(fields.filter((f) => /float|double/.test(f.type)));
        if (fractions.length > 0) {
            return fractions;
        }
        whole = whole.length > 0 ? whole : paths(fields);
    }
    return whole;
}

/** The fields plotted until some are selected. */
export function defaultFields(topics: readonly { name: string; type: string; messages: number }[]): string[] {
    const defaults: [RegExp, string[]][] = [
        [/^(nanover\/frame|GetFrameResponse)$/, ['frame.energy.kinetic', 'frame.energy.potential']],
        [/(^|\/)turtlesim\/(msg\/)?Pose$/, ['x', 'y']],
        [/nav_msgs\/(msg\/)?Odometry$/, ['pose.pose.position.x', 'pose.pose.position.y']],
        [/PoseStamped$/, ['pose.position.x', 'pose.position.y']],
        [/\/(msg\/)?Imu$/, ['angular_velocity.z', 'linear_acceleration.x']],
        [/std_msgs\/(msg\/)?(U?Int\d+|Float\d+)$/, ['data']],
        [/geometry_msgs\/(msg\/)?Point$/, ['x', 'y']],
        [/^carla\/FrameStart$/, ['duration']],
    ];
    for (const [type, paths] of defaults) {
        const topic = topics.find((t) => type.test(t.type) && t.messages > 1);
        if (topic) {
            return paths.map((path) => `${topic.name}.${path}`);
        }
    }
    return [];
}
