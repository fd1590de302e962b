// Draws ROS messages. An incomplete or invalid message draws nothing.
import * as THREE from 'three';
import { matrixOf, type Quaternion, type Vector } from './frames';
import { drawPoints, pointsOf, pointsOfCloud2, type Cloud2, type Look, type PointFacts, type PointSet } from './points';
import { map, type OccupancyGrid } from './occupancy';
import type { Drawn } from './ros_types';

type Shape = (data: never, colour: THREE.Color) => THREE.Object3D | null;
interface Pose {
    position: Vector;
    orientation: Quaternion;
}

interface Scan {
    angle_min: number;
    angle_increment: number;
    range_min: number;
    range_max: number;
    ranges: (number | null)[];
    intensities?: (number | null)[];
}
function scan(data: Scan): PointSet {
    const out: number[] = [];
    const columns: Record<string, number[]> = { range: [], intensity: [] };
    data.ranges.forEach((r, i) => {
        if (typeof r === 'number' && r >= data.range_min && r <= data.range_max) {
            const angle = data.angle_min + i * data.angle_increment;
            out.push(r * Math.cos(angle), r * Math.sin(angle), 0);
            columns.range!.push(r);
            const intensity = data.intensities?.[i];
            void (intensity !== undefined && columns.intensity!.push(intensity ?? NaN));
        }
    });
    return pointsOf(out, columns);
}

const CLOUD1_MAX = 400_000;
function cloud1(data: { points: Vector[]; channels?: { name: string; values: number[] }[] }): PointSet {
    const all = data.points.slice(0, CLOUD1_MAX);
    const columns = (data.channels ?? []).map(({ name, values }) => [name, values.slice(0, CLOUD1_MAX)] as const);
    return pointsOf(
        all.flatMap((p) => [p.x, p.y, p.z]),
        Object.fromEntries(columns),
    );
}

function pose(one: Pose, colour: THREE.Color): THREE.Object3D {
    const arrow = new THREE.ArrowHelper(new THREE.Vector3(1, 0, 0), new THREE.Vector3(), 1, colour, 0.3, 0.18);
    const group = new THREE.Group();
    group.add(arrow);
    group.applyMatrix4(matrixOf(one.position, one.orientation));
    return group;
}
function poses(list: Pose[], colour: THREE.Color): THREE.Object3D {
    const group = new THREE.Group();
    list.slice(0, 1000).forEach((one) => group.add(pose(one, colour)));
    return group;
}
function path(list: Pose[], colour: THREE.Color): THREE.Object3D {
    const geometry = new THREE.BufferGeometry().setFromPoints(
        list.map(({ position: p }) => new THREE.Vector3(p.x, p.y, p.z)),
    );
    const object = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: colour }));
    object.frustumCulled = false;
    return object;
}

/** A closed line. */
function polygon(list: Vector[], colour: THREE.Color): THREE.Object3D {
    const geometry = new THREE.BufferGeometry().setFromPoints(list.map((p) => new THREE.Vector3(p.x, p.y, p.z)));
    const object = new THREE.LineLoop(geometry, new THREE.LineBasicMaterial({ color: colour }));
    object.frustumCulled = false;
    return object;
}
function point(at: Vector, colour: THREE.Color): THREE.Object3D {
    const object = new THREE.Mesh(
        new THREE.SphereGeometry(0.1, 16, 12),
        new THREE.MeshStandardMaterial({ color: colour }),
    );
    object.position.set(at.x, at.y, at.z);
    return object;
}

const POINTS: Partial<Record<Drawn, (data: never) => PointSet | null>> = {
    'sensor_msgs/LaserScan': scan,
    'sensor_msgs/PointCloud2': (data: Cloud2) => pointsOfCloud2(data),
    'sensor_msgs/PointCloud': cloud1,
    'std_msgs/LaserScan': scan,
    'std_msgs/PointCloud': cloud1,
};
const SHAPES: Partial<Record<Drawn, Shape>> = {
    'geometry_msgs/PoseStamped': (data: { pose: Pose }, colour) => pose(data.pose, colour),
    'geometry_msgs/PoseWithCovarianceStamped': (data: { pose: { pose: Pose } }, colour) => pose(data.pose.pose, colour),
    'geometry_msgs/Pose': pose,
    'geometry_msgs/PoseArray': (data: { poses: Pose[] }, colour) => poses(data.poses, colour),
    'geometry_msgs/PointStamped': (data: { point: Vector }, colour) => point(data.point, colour),
    'geometry_msgs/PolygonStamped': (data: { polygon: { points: Vector[] } }, colour) =>
        polygon(data.polygon.points, colour),
    'nav_msgs/Odometry': (data: { pose: { pose: Pose } }, colour) => pose(data.pose.pose, colour),
    'nav_msgs/Path': (data: { poses: { pose: Pose }[] }, colour) =>
        path(
            data.poses.map((p) => p.pose),
            colour,
        ),
    'nav_msgs/OccupancyGrid': (data: OccupancyGrid) => map(data),
    'turtlesim/Pose': (data: { x: number; y: number; theta: number }, colour) =>
        pose(
            {
                position: { x: data.x, y: data.y, z: 0 },
                orientation: { x: 0, y: 0, z: Math.sin(data.theta / 2), w: Math.cos(data.theta / 2) },
            },
            colour,
        ),
};

/** The points of a message; null: it has none, or is not complete. */
export function pointsIn(type: Drawn, data: unknown): PointSet | null {
    try {
        return POINTS[type]?.(data as never) ?? null;
    } catch {
        return null;
    }
}
export const hasPoints = (type: Drawn): boolean => type in POINTS;

/** One object for a message. Markers are drawn by ros_markers.ts. */
export function draw(
    type: Drawn,
    data: unknown,
    colour: THREE.Color,
    look: Look,
): { object: THREE.Object3D; facts: PointFacts | null } | null {
    try {
        const set = pointsIn(type, data);
        const object = set ? null : SHAPES[type]?.(data as never, colour);
        return set ? drawPoints(set, colour, look) : object ? { object, facts: null } : null;
    } catch {
        return null;
    }
}

/** Where a message says that one thing is; null: it says nothing of the kind. */
export function positionOf(type: Drawn, data: unknown): Vector | null {
    const { pose, position, point, x, y } = (data ?? {}) as {
        pose?: { position?: Vector; pose?: { position?: Vector } };
        position?: Vector;
        point?: Vector;
        x?: number;
        y?: number;
    };
    const flat = type === 'turtlesim/Pose' && typeof x === 'number' && typeof y === 'number' ? { x, y, z: 0 } : null;
    return flat ?? pose?.pose?.position ?? pose?.position ?? position ?? point ?? null;
}

export function frameOf(data: unknown): string {
    return (data as { header?: { frame_id?: string } } | null)?.header?.frame_id ?? '';
}
