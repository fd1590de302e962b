// Draws ROS messages: scans, point clouds, poses and paths. An incomplete or invalid message draws nothing.
import * as THREE from 'three';
import { matrixOf, type Quaternion, type Vector } from './frames';
import type { Drawn } from './ros_types';

type Shape = (data: never, colour: THREE.Color) => THREE.Object3D | null;
interface Pose {
    position: Vector;
    orientation: Quaternion;
}
const POINTS_MAX = 400_000;

function points(positions: Float32Array, colour: THREE.Color, size = 3): THREE.Points {
    const geometry = new THREE.BufferGeometry().setAttribute('position', new THREE.BufferAttribute(positions, 3));
    const object = new THREE.Points(geometry, new THREE.PointsMaterial({ color: colour, size, sizeAttenuation: false }));
    object.frustumCulled = false;
    return object;
}

interface Scan {
    angle_min: number;
    angle_increment: number;
    range_min: number;
    range_max: number;
    ranges: (number | null)[];
}
function scan(data: Scan, colour: THREE.Color): THREE.Object3D {
    const out: number[] = [];
    data.ranges.forEach((r, i) => {
        if (typeof r === 'number' && r >= data.range_min && r <= data.range_max) {
            const angle = data.angle_min + i * data.angle_increment;
            out.push(r * Math.cos(angle), r * Math.sin(angle), 0);
        }
    });
    return points(new Float32Array(out), colour);
}

interface Cloud2 {
    width: number;
    height: number;
    point_step: number;
    is_bigendian: boolean;
    fields: { name: string; offset: number; datatype: number }[];
    data: { $base64: string } | number[];
}
function bytesOf(data: Cloud2['data']): Uint8Array {
    if (Array.isArray(data)) {
        return Uint8Array.from(data);
    }
    return Uint8Array.from(atob(data.$base64), (c) => c.charCodeAt(0));
}
function cloud2(data: Cloud2, colour: THREE.Color): THREE.Object3D | null {
    const field = (name: string) => data.fields.find((f) => f.name === name && (f.datatype === 7 || f.datatype === 8));
    const [x, y, z] = [field('x'), field('y'), field('z')];
    const bytes = bytesOf(data.data);
    const all = Math.floor(bytes.length / data.point_step);
    if (!x || !y || !z || !(data.point_step > 0) || [x, y, z].some((f) => f.offset + (f.datatype === 8 ? 8 : 4) > data.point_step)) {
        return null;
    }
    const view = new DataView(bytes.buffer);
    const read = (f: typeof x, at: number) => (f.datatype === 8 ? view.getFloat64(at + f.offset, !data.is_bigendian) : view.getFloat32(at + f.offset, !data.is_bigendian));
    const step = Math.ceil(all / POINTS_MAX);
    const out: number[] = [];
    for (let i = 0; i < all; i += step) {
        const [px, py, pz] = [read(x, i * data.point_step), read(y, i * data.point_step), read(z, i * data.point_step)];
        if (Number.isFinite(px) && Number.isFinite(py) && Number.isFinite(pz)) {
            out.push(px, py, pz);
        }
    }
    return points(new Float32Array(out), colour, 2);
}

function cloud1(data: { points: Vector[] }, colour: THREE.Color): THREE.Object3D {
    return points(new Float32Array(data.points.slice(0, POINTS_MAX).flatMap((p) => [p.x, p.y, p.z])), colour, 2);
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
    const geometry = new THREE.BufferGeometry().setFromPoints(list.map(({ position: p }) => new THREE.Vector3(p.x, p.y, p.z)));
    const object = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: colour }));
    object.frustumCulled = false;
    return object;
}

const SHAPES: Record<Drawn, Shape> = {
    'sensor_msgs/LaserScan': scan,
    'sensor_msgs/PointCloud2': cloud2,
    'sensor_msgs/PointCloud': cloud1,
    'std_msgs/LaserScan': scan,
    'std_msgs/PointCloud': cloud1,
    'geometry_msgs/PoseStamped': (data: { pose: Pose }, colour) => pose(data.pose, colour),
    'geometry_msgs/PoseWithCovarianceStamped': (data: { pose: { pose: Pose } }, colour) => pose(data.pose.pose, colour),
    'geometry_msgs/Pose': pose,
    'geometry_msgs/PoseArray': (data: { poses: Pose[] }, colour) => poses(data.poses, colour),
    'nav_msgs/Odometry': (data: { pose: { pose: Pose } }, colour) => pose(data.pose.pose, colour),
    'nav_msgs/Path': (data: { poses: { pose: Pose }[] }, colour) => path(data.poses.map((p) => p.pose), colour),
    'turtlesim/Pose': (data: { x: number; y: number; theta: number }, colour) =>
        pose({ position: { x: data.x, y: data.y, z: 0 }, orientation: { x: 0, y: 0, z: Math.sin(data.theta / 2), w: Math.cos(data.theta / 2) } }, colour),
};

export function draw(type: Drawn, data: unknown, colour: THREE.Color): THREE.Object3D | null {
    try {
        return SHAPES[type](data as never, colour);
    } catch {
        return null;
    }
}

export function frameOf(data: unknown): string {
    return (data as { header?: { frame_id?: string } } | null)?.header?.frame_id ?? '';
}
