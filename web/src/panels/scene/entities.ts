// Scene entities of the server's view "foxglove": cubes, spheres, cylinders, lines and texts, each attached to a frame.
// An entity is built once, when its update arrives; afterwards only its frame moves.
import * as THREE from 'three';
import { matrixOf, type Frames, type Quaternion, type Vector } from './frames';
import { label } from './labels';
import { disposeAll } from './viewport';

interface Colour {
    r: number;
    g: number;
    b: number;
    a: number;
}
interface Pose {
    position: Vector;
    orientation: Quaternion;
}
interface Solid {
    pose: Pose;
    size: Vector;
    color: Colour;
}
interface Line {
    type: number; // 0 strip, 1 loop, 2 list
    pose: Pose;
    thickness: number;
    points: Vector[];
    color: Colour;
    colors: Colour[];
    indices: number[];
}
interface Label {
    pose: Pose;
    font_size: number;
    color: Colour;
    text: string;
}
export interface Entity {
    id: string;
    frame_id: string;
    metadata?: { key: string; value: string }[];
    cubes?: Solid[];
    spheres?: Solid[];
    cylinders?: Solid[];
    lines?: Line[];
    texts?: Label[];
}
export interface SceneUpdate {
    deletions: { type: number; id: string }[];
    entities: Entity[];
}

const GEOMETRIES = {
    cubes: () => new THREE.BoxGeometry(1, 1, 1),
    spheres: () => new THREE.SphereGeometry(0.5, 16, 12),
    cylinders: () => new THREE.CylinderGeometry(0.5, 0.5, 1, 16).rotateX(Math.PI / 2),
};

function colourOf(c: Colour): THREE.Color {
    return new THREE.Color().setRGB(c.r, c.g, c.b, THREE.SRGBColorSpace);
}

function solids(kind: keyof typeof GEOMETRIES, list: Solid[]): THREE.InstancedMesh {
    const translucent = list.some((s) => s.color.a < 1);
    const material = new THREE.MeshStandardMaterial({
        roughness: 0.75,
        transparent: translucent,
        opacity: translucent ? Math.max(0.15, list[0]!.color.a) : 1,
    });
    const mesh = new THREE.InstancedMesh(GEOMETRIES[kind](), material, list.length);
    list.forEach((solid, i) => {
        const matrix = matrixOf(solid.pose.position, solid.pose.orientation);
        mesh.setMatrixAt(i, matrix.scale(new THREE.Vector3(solid.size.x, solid.size.y, solid.size.z)));
        mesh.setColorAt(i, colourOf(solid.color));
    });
    mesh.frustumCulled = false;
    return mesh;
}

function edges(list: Solid[]): THREE.LineSegments {
    const box = new THREE.EdgesGeometry(new THREE.BoxGeometry(1, 1, 1));
    const from = box.getAttribute('position');
    const points: THREE.Vector3[] = [];
    for (const solid of list) {
        const matrix = matrixOf(solid.pose.position, solid.pose.orientation).scale(
            new THREE.Vector3(solid.size.x, solid.size.y, solid.size.z),
        );
        for (let i = 0; i < from.count; i++) {
            points.push(new THREE.Vector3().fromBufferAttribute(from, i).applyMatrix4(matrix));
        }
    }
    box.dispose();
    return new THREE.LineSegments(
        new THREE.BufferGeometry().setFromPoints(points),
        new THREE.LineBasicMaterial({ color: 0x222222, transparent: true, opacity: 0.55 }),
    );
}

function line(one: Line): THREE.Object3D {
    const at = one.indices.length > 0 ? one.indices : one.points.map((_, i) => i);
    const points = at.map((i) => one.points[i]).filter((p) => p !== undefined);
    const geometry = new THREE.BufferGeometry().setFromPoints(points.map((p) => new THREE.Vector3(p.x, p.y, p.z)));
    const each = one.colors.length === one.points.length && one.colors.length > 0;
    if (each) {
        const colours = at.flatMap((i) => colourOf(one.colors[i] ?? one.color).toArray());
        geometry.setAttribute('color', new THREE.Float32BufferAttribute(colours, 3));
    }
    const material = new THREE.LineBasicMaterial({
        color: each ? 0xffffff : colourOf(one.color),
        vertexColors: each,
        transparent: true,
        opacity: Math.max(0.25, one.color.a || 1),
    });
    const object =
        one.type === 2
            ? new THREE.LineSegments(geometry, material)
            : one.type === 1
              ? new THREE.LineLoop(geometry, material)
              : new THREE.Line(geometry, material);
    object.applyMatrix4(matrixOf(one.pose?.position, one.pose?.orientation));
    object.frustumCulled = false;
    return object;
}

function text(one: Label): THREE.Sprite {
    const sprite = label(one.text, '#' + colourOf(one.color).getHexString(), one.font_size || 1);
    sprite.position.set(one.pose.position.x, one.pose.position.y, one.pose.position.z);
    return sprite;
}

export function build(entity: Entity): THREE.Group {
    const group = new THREE.Group();
    group.matrixAutoUpdate = false;
    for (const kind of ['cubes', 'spheres', 'cylinders'] as const) {
        const list = entity[kind] ?? [];
        if (list.length > 0) {
            group.add(solids(kind, list));
        }
    }
    if (entity.cubes && entity.cubes.length > 0) {
        group.add(edges(entity.cubes));
    }
    entity.lines?.forEach((one) => one.points.length > 1 && group.add(line(one)));
    entity.texts?.forEach((one) => one.text && group.add(text(one)));
    return group;
}

interface ShownEntity {
    entity: Entity;
    group: THREE.Group;
    name: THREE.Sprite | null;
}

const NAME_HEIGHT = 0.6; // m
const NAME_ABOVE = 0.3; // m above the box

/** The name of an entity above its first cube. */
function nameAbove(text: string, { cubes }: Entity): THREE.Sprite {
    const sprite = label(text, '#ffffff', NAME_HEIGHT, '#1c2329');
    const { pose, size } = cubes![0]!;
    sprite.position.set(pose.position.x, pose.position.y, pose.position.z + size.z / 2 + NAME_ABOVE + NAME_HEIGHT / 2);
    sprite.renderOrder = 6;
    return sprite;
}

/** The entities of one topic. */
export class Entities {
    readonly group = new THREE.Group();
    private shown = new Map<string, ShownEntity>();
    private named = true;

    /** `nameOf`: what is written above an entity with cubes; null: nothing. */
    constructor(private nameOf: (entity: Entity) => string | null = () => null) {}

    apply(update: SceneUpdate): void {
        for (const deletion of update.deletions) {
            if (deletion.type === 1) {
                this.clear();
            } else {
                this.remove(deletion.id);
            }
        }
        for (const entity of update.entities) {
            this.remove(entity.id);
            const group = build(entity);
            const text = entity.cubes?.length ? this.nameOf(entity) : null;
            const name = text === null ? null : nameAbove(text, entity);
            void (name && ((name.visible = this.named), group.add(name)));
            this.group.add(group);
            this.shown.set(entity.id, { entity, group, name });
        }
    }
    setNamed(named: boolean): void {
        this.named = named;
        this.shown.forEach(({ name }) => name && (name.visible = named));
    }
    /** The entity that an object belongs to. */
    ownerOf(object: THREE.Object3D): Entity | null {
        for (let at: THREE.Object3D | null = object; at; at = at.parent) {
            for (const { entity, group } of this.shown.values()) {
                if (group === at) {
                    return entity;
                }
            }
        }
        return null;
    }
    /** Moves the entities to the current positions of their frames. */
    move(frames: Frames): void {
        for (const { entity, group } of this.shown.values()) {
            group.matrix.copy(frames.toRoot(entity.frame_id));
            group.matrixWorldNeedsUpdate = true;
        }
    }
    clear(): void {
        [...this.shown.keys()].forEach((id) => this.remove(id));
    }
    /** The number of cubes shown: one per actor. */
    cubeCount(): number {
        let n = 0;
        for (const { entity } of this.shown.values()) {
            n += entity.cubes?.length ?? 0;
        }
        return n;
    }
    list(): Entity[] {
        return [...this.shown.values()].map((s) => s.entity);
    }
    private remove(id: string): void {
        const one = this.shown.get(id);
        if (one) {
            one.group.removeFromParent();
            disposeAll(one.group);
            this.shown.delete(id);
        }
    }
}
