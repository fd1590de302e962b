// visualization_msgs/Marker: shapes with an id, which stay until they are deleted or their lifetime ends.
import * as THREE from 'three';
import { build, type Entity } from './entities';
import { matrixOf, type Quaternion, type Vector } from './frames';

interface Colour {
    r: number;
    g: number;
    b: number;
    a: number;
}
export interface Marker {
    header: { frame_id: string };
    ns: string;
    id: number;
    type: number;
    action: number; // 0 add or modify, 2 delete, 3 delete all
    pose: { position: Vector; orientation: Quaternion };
    scale: Vector;
    color: Colour;
    lifetime: unknown;
    points?: Vector[];
    colors?: Colour[];
    text?: string;
}
export const DELETE = 2;
export const DELETE_ALL = 3;

const SOLIDS: Record<number, 'cubes' | 'spheres' | 'cylinders'> = {
    1: 'cubes',
    2: 'spheres',
    3: 'cylinders',
    6: 'cubes',
    7: 'spheres',
};
const LISTS = new Set([6, 7]);
const LINES: Record<number, number> = { 4: 0, 5: 2 }; // strip, list
const [ARROW, POINTS, TEXT, TRIANGLES] = [0, 8, 9, 11];
const NOWHERE = { position: { x: 0, y: 0, z: 0 }, orientation: { x: 0, y: 0, z: 0, w: 1 } };

export const keyOf = (marker: Marker): string => `${marker.ns}/${marker.id}`;
export const markersOf = (data: unknown): Marker[] =>
    (data as { markers?: Marker[] } | null)?.markers ?? [data as Marker];

/** 0: for ever. A duration is {sec, nsec} or {secs, nsecs} or {sec, nanosec}, or seconds. */
export function lifetimeOf(marker: Marker): bigint {
    const value = marker.lifetime as Record<string, number> | number | string | null;
    if (typeof value !== 'object' || value === null) {
        return BigInt(Math.round(Number(value ?? 0) * 1e9) || 0);
    }
    return (
        BigInt(value.sec ?? value.secs ?? 0) * 1_000_000_000n + BigInt(value.nsec ?? value.nsecs ?? value.nanosec ?? 0)
    );
}

const colourAt = (marker: Marker, i: number): Colour => marker.colors?.[i] ?? marker.color;
const threeColour = (c: Colour): THREE.Color => new THREE.Color().setRGB(c.r, c.g, c.b, THREE.SRGBColorSpace);

function entityOf(marker: Marker): Partial<Entity> {
    const kind = SOLIDS[marker.type];
    const points = marker.points ?? [];
    if (kind) {
        const places = LISTS.has(marker.type) ? points : [NOWHERE.position];
        return {
            [kind]: places.map((position, i) => ({
                pose: { ...NOWHERE, position },
                size: marker.scale,
                color: colourAt(marker, i),
            })),
        };
    }
    if (marker.type in LINES) {
        return {
            lines: [
                {
                    type: LINES[marker.type]!,
                    pose: NOWHERE,
                    thickness: marker.scale.x,
                    points,
                    color: marker.color,
                    colors: marker.colors ?? [],
                    indices: [],
                },
            ],
        };
    }
    return marker.type === TEXT
        ? { texts: [{ pose: NOWHERE, font_size: marker.scale.z, color: marker.color, text: marker.text ?? '' }] }
        : {};
}

function arrow(marker: Marker): THREE.Object3D {
    const [from, to] = (marker.points ?? []).map((p) => new THREE.Vector3(p.x, p.y, p.z));
    const direction = from && to ? to.clone().sub(from) : new THREE.Vector3(marker.scale.x, 0, 0);
    const length = Math.max(direction.length(), 1e-3);
    return new THREE.ArrowHelper(
        direction.normalize(),
        from ?? new THREE.Vector3(),
        length,
        threeColour(marker.color),
        length * 0.25,
        Math.min(length * 0.2, Math.max(marker.scale.y * 2, length * 0.08)),
    );
}

function vertices(marker: Marker): THREE.BufferGeometry {
    const points = marker.points ?? [];
    const geometry = new THREE.BufferGeometry().setFromPoints(points.map((p) => new THREE.Vector3(p.x, p.y, p.z)));
    return geometry.setAttribute(
        'color',
        new THREE.Float32BufferAttribute(
            points.flatMap((_, i) => threeColour(colourAt(marker, i)).toArray()),
            3,
        ),
    );
}
function triangles(marker: Marker): THREE.Object3D {
    const geometry = vertices(marker);
    geometry.computeVertexNormals();
    return new THREE.Mesh(
        geometry,
        new THREE.MeshStandardMaterial({
            vertexColors: true,
            side: THREE.DoubleSide,
            transparent: marker.color.a < 1,
            opacity: marker.color.a,
        }),
    );
}

/** Null: a kind that is not drawn, such as a mesh in another file. */
export function drawMarker(marker: Marker): THREE.Object3D | null {
    try {
        const { type } = marker;
        const object =
            type === ARROW
                ? arrow(marker)
                : type === POINTS
                  ? new THREE.Points(
                        vertices(marker),
                        new THREE.PointsMaterial({ vertexColors: true, size: Math.max(marker.scale.x, 0.01) }),
                    )
                  : type === TRIANGLES
                    ? triangles(marker)
                    : build({ id: '', frame_id: '', ...entityOf(marker) });
        const group = new THREE.Group();
        group.add(object);
        group.applyMatrix4(matrixOf(marker.pose.position, marker.pose.orientation));
        return object.children.length > 0 || 'geometry' in object ? group : null;
    } catch {
        return null;
    }
}
