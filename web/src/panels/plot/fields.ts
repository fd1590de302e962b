// The numeric fields of a topic: those of its schema, and those of one message where the schema is not enough
// (maps keyed by actor or particle).
import { ApiError, get } from '../../api';
import type { Message } from '../../types';

export interface FieldChoice {
    path: string; // '/topic.a.b'
    unit: string;
}
const MAX_FIELDS = 2000;

function leaves(value: unknown, path: string, out: string[]): void {
    if (out.length >= MAX_FIELDS) {
        return;
    }
    if (typeof value === 'number' || typeof value === 'boolean') {
        out.push(path);
    } else if (Array.isArray(value)) {
        value.slice(0, 64).forEach((one, i) => leaves(one, `${path}[${i}]`, out));
    } else if (value !== null && typeof value === 'object') {
        Object.entries(value).forEach(([key, one]) => leaves(one, path ? `${path}.${key}` : key, out));
    }
}

export async function fieldsOf(id: string, topic: string, at: bigint, signal: AbortSignal): Promise<FieldChoice[]> {
    const schema = await get<{ fields: { path: string; unit: string; numeric: boolean }[] }>(`/recordings/${id}/topics/fields`, { topic }, signal);
    const known = new Map(schema.fields.filter((f) => f.numeric).map((f) => [f.path, f.unit]));
    const message = await get<Message>(`/recordings/${id}/message`, { topic, at }, signal).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) {
            return null;
        }
        throw error;
    });
    const paths: string[] = [];
    leaves(message?.data, '', paths);
    paths.forEach((path) => known.has(path) || known.has(path.replace(/\[(\d+)\]/g, '.$1')) || known.set(path, ''));
    return [...known].map(([path, unit]) => ({ path: `${topic}.${path}`, unit }));
}

/** The fields plotted until some are selected. */
export function defaultFields(topics: readonly { name: string; type: string; messages: number }[]): string[] {
    const defaults: [RegExp, string[]][] = [
        [/^nanover\/frame$/, ['frame.energy.kinetic', 'frame.energy.potential']],
        [/(^|\/)turtlesim\/(msg\/)?Pose$/, ['x', 'y']],
        [/nav_msgs\/(msg\/)?Odometry$/, ['pose.pose.position.x', 'pose.pose.position.y']],
        [/PoseStamped$/, ['pose.position.x', 'pose.position.y']],
        [/\/(msg\/)?Imu$/, ['angular_velocity.z', 'linear_acceleration.x']],
        [/std_msgs\/(msg\/)?(U?Int\d+|Float\d+)$/, ['data']],
        [/geometry_msgs\/(msg\/)?Point$/, ['x', 'y']],
        [/^carla\/Frame$/, ['duration']],
    ];
    for (const [type, paths] of defaults) {
        const topic = topics.find((t) => type.test(t.type) && t.messages > 1);
        if (topic) {
            return paths.map((path) => `${topic.name}.${path}`);
        }
    }
    return [];
}
