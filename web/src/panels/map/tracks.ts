// Tracks: positions of a topic over time, thinned by the server to about MAX_POINTS.
import { getRows } from '../../api';
import type { Message, Recording, Topic } from '../../types';

export interface TrackKind {
    coordinates: 'globe' | 'plane'; // degrees, or metres
    fields: [x: string, y: string]; // longitude first; '' where one message has many positions
}
export interface Track {
    key: string; // of the track in the settings
    name: string;
    coordinates: TrackKind['coordinates'];
    points: { x: number; y: number; time: bigint }[];
}

const MAX_POINTS = 4000;
const MAX_ACTOR_BYTES = 2_800_000; // of actor positions: about 100,000
const KNOWN: [RegExp, TrackKind][] = [
    [/(^|[/.])(NavSatFix|LocationFix)$/, { coordinates: 'globe', fields: ['longitude', 'latitude'] }],
    [/^gps_common\/(msg\/)?GPSFix$/, { coordinates: 'globe', fields: ['longitude', 'latitude'] }],
    [/^ulog\/vehicle_global_position$/, { coordinates: 'globe', fields: ['lon', 'lat'] }],
    [
        /^nav_msgs\/(msg\/)?Odometry$/,
        { coordinates: 'plane', fields: ['pose.pose.position.x', 'pose.pose.position.y'] },
    ],
    [
        /^geometry_msgs\/(msg\/)?PoseWithCovarianceStamped$/,
        { coordinates: 'plane', fields: ['pose.pose.position.x', 'pose.pose.position.y'] },
    ],
    [/^geometry_msgs\/(msg\/)?PoseStamped$/, { coordinates: 'plane', fields: ['pose.position.x', 'pose.position.y'] }],
    [/^geometry_msgs\/(msg\/)?PointStamped$/, { coordinates: 'plane', fields: ['point.x', 'point.y'] }],
    [/^geometry_msgs\/(msg\/)?Point$/, { coordinates: 'plane', fields: ['x', 'y'] }],
    [/^turtlesim\/(msg\/)?Pose$/, { coordinates: 'plane', fields: ['x', 'y'] }],
    [/^std_msgs\/RobotBase2DOdom$/, { coordinates: 'plane', fields: ['pos.x', 'pos.y'] }],
    [/^carla\/Position$/, { coordinates: 'plane', fields: ['', ''] }],
];

export function trackKind(topic: Topic): TrackKind | null {
    return topic.messages > 0 ? (KNOWN.find(([type]) => type.test(topic.type))?.[1] ?? null) : null;
}

interface Actors {
    actors: Record<string, { location: { x: number; y: number } }>;
}

const pointsIn = (tracks: Track[]): number => tracks.reduce((sum, { points }) => sum + points.length, 0);
/** The time after the last point. */
const endOf = (tracks: Track[]): bigint | null =>
    tracks.reduce<bigint | null>(
        (end, { points }) => (points.length > 0 && points.at(-1)!.time >= (end ?? 0n) ? points.at(-1)!.time + 1n : end),
        null,
    );

async function actorsOf(
    id: string,
    topic: Topic,
    every: number,
    known: Track[],
    signal: AbortSignal,
): Promise<Track[]> {
    const tracks = new Map(known.map((track) => [track.key, { ...track, points: [...track.points] }]));
    const step = Math.max(every, Math.ceil((topic.payload_bytes ?? 0) / MAX_ACTOR_BYTES));
    for await (const row of getRows<Message<Actors>>(
        `/recordings/${id}/messages`,
        { topic: topic.name, every: step, start: endOf(known), time_format: 'nanoseconds' },
        signal,
    )) {
        for (const [actor, { location }] of Object.entries(row.data.actors)) {
            let track = tracks.get(actor);
            if (!track) {
                track = { key: actor, name: actor, coordinates: 'plane', points: [] };
                tracks.set(actor, track);
            }
            // centimetres, left-handed
            track.points.push({ x: location.x / 100, y: -location.y / 100, time: BigInt(row.log_time) });
        }
    }
    return [...tracks.values()];
}

/**
 * `loaded`: what was loaded of a live recording before. Only what came since is added, until those are too many points.
 */
export async function tracksOf(
    recording: Recording,
    topic: Topic,
    kind: TrackKind,
    loaded: Track[],
    signal: AbortSignal,
): Promise<Track[]> {
    const every = Math.max(1, Math.ceil(topic.messages / MAX_POINTS));
    const known = pointsIn(loaded) < 2 * MAX_POINTS ? loaded : [];
    if (topic.type === 'carla/Position') {
        return actorsOf(recording.id, topic, every, known, signal);
    }
    const track: Track = {
        key: topic.name,
        name: topic.name,
        coordinates: kind.coordinates,
        points: [...(known[0]?.points ?? [])],
    };
    const rows = getRows<Message<Record<string, unknown>>>(
        `/recordings/${recording.id}/messages`,
        { topic: topic.name, fields: kind.fields.join(','), every, start: endOf(known), time_format: 'nanoseconds' },
        signal,
    );
    for await (const row of rows) {
        // null: not a number
        const [x, y] = kind.fields.map((field) => Number(row.data[field] ?? NaN)) as [number, number];
        if (Number.isFinite(x) && Number.isFinite(y) && !(kind.coordinates === 'globe' && x === 0 && y === 0)) {
            track.points.push({ x, y, time: BigInt(row.log_time) });
        }
    }
    return track.points.length > 0 ? [track] : [];
}

export function geoJson(tracks: Track[]): string {
    const features = tracks.map((t) => ({
        type: 'Feature',
        properties: { name: t.name, coordinates: t.coordinates === 'globe' ? 'longitude, latitude' : 'metres' },
        geometry:
            t.points.length > 1
                ? { type: 'LineString', coordinates: t.points.map((p) => [p.x, p.y]) }
                : { type: 'Point', coordinates: [t.points[0]?.x, t.points[0]?.y] },
    }));
    return JSON.stringify({ type: 'FeatureCollection', features });
}
