// What is drawn of a topic: objects with keys, each in a frame. A message replaces the one before; markers replace
// those with the same id.
import * as THREE from 'three';
import type { Frames } from './frames';
import { DEFAULT_LOOK, pointValue, type Look, type PointFacts } from './points';
import { DELETE, DELETE_ALL, drawMarker, keyOf, lifetimeOf, markersOf, type Marker } from './ros_markers';
import { draw, frameOf, pointsIn } from './ros_shapes';
import type { Drawn } from './ros_types';
import { numberText, valuesOf, VALUES_MAX } from './values';
import { disposeAll } from './viewport';

interface Part {
    object: THREE.Group;
    frame: string;
    until: bigint | null; // it vanishes then
    data: unknown; // the message, or the marker
}

const PARTS_MAX = 20_000; // markers of a topic

export class TopicView {
    readonly group = new THREE.Group();
    facts: PointFacts | null = null;
    private parts = new Map<string, Part>();
    private last: unknown = null; // the message that is drawn, to draw it with another look

    constructor(
        readonly type: Drawn,
        readonly colour: THREE.Color,
        private look: Look = DEFAULT_LOOK,
    ) {}

    get keepsState(): boolean {
        return this.type === 'visualization_msgs/Marker' || this.type === 'visualization_msgs/MarkerArray';
    }
    get empty(): boolean {
        return this.parts.size === 0;
    }
    /** A message drawn by itself, in its frame. */
    drawnAlone(data: unknown): THREE.Object3D | null {
        return draw(this.type, data, this.colour, this.look)?.object ?? null;
    }
    /** The key of the part that an object belongs to; null: it belongs to none. */
    keyOf(object: THREE.Object3D | null): string | null {
        const found = [...this.parts].find(([, part]) => part.object === object);
        return found ? found[0] : object && this.keyOf(object.parent);
    }
    /** The first values of a part; null: it is gone. */
    valuesOf(key: string): [string, string][] | null {
        const part = this.parts.get(key);
        if (!part || !this.keepsState) {
            return part ? valuesOf(part.data) : null;
        }
        const { pose, scale, text } = part.data as Marker;
        return valuesOf({ id: key, frame: part.frame, position: pose?.position, scale, text });
    }
    /** The fields of a point. */
    pointValues(point: number): [string, string][] {
        const set = this.last === null ? null : pointsIn(this.type, this.last);
        return set && point * 3 < set.positions.length
            ? set.fields.slice(0, VALUES_MAX).map((field) => [field, numberText(pointValue(set, field, point))])
            : [];
    }
    setLook(look: Look): void {
        if (look !== this.look) {
            this.look = look;
            void (this.last !== null && this.apply(this.last, 0n));
        }
    }

    apply(data: unknown, time_ns: bigint): void {
        if (this.keepsState) {
            this.applyMarkers(data, time_ns);
            return;
        }
        this.clear();
        this.last = data;
        const drawn = draw(this.type, data, this.colour, this.look);
        if (drawn) {
            this.facts = drawn.facts;
            this.put('', drawn.object, { frame: frameOf(data), until: null, data });
        }
    }
    private applyMarkers(data: unknown, time_ns: bigint): void {
        for (const marker of markersOf(data)) {
            if (marker.action === DELETE_ALL) {
                this.clear();
                continue;
            }
            this.remove(keyOf(marker));
            const object = marker.action === DELETE || this.parts.size >= PARTS_MAX ? null : drawMarker(marker);
            if (object) {
                const lifetime = lifetimeOf(marker);
                const until = lifetime > 0n ? time_ns + lifetime : null;
                this.put(keyOf(marker), object, { frame: frameOf(marker), until, data: marker });
            }
        }
    }

    /** Moves all to the current places of their frames. */
    place(frames: Frames, time_ns: bigint): void {
        for (const [key, { object, frame, until }] of this.parts) {
            if (until !== null && until < time_ns) {
                this.remove(key);
            } else {
                object.matrix.copy(frames.toRoot(frame));
                object.matrixWorldNeedsUpdate = true;
            }
        }
    }
    /** The place of the first object. */
    placeOf(): THREE.Matrix4 | null {
        const [first] = this.parts.values();
        return first ? first.object.matrix.clone().multiply(first.object.children[0]!.matrix) : null;
    }

    private put(key: string, drawn: THREE.Object3D, part: Omit<Part, 'object'>): void {
        const object = new THREE.Group();
        object.matrixAutoUpdate = false;
        object.add(drawn);
        this.group.add(object);
        this.parts.set(key, { object, ...part });
    }
    private remove(key: string): void {
        const part = this.parts.get(key);
        if (part) {
            part.object.removeFromParent();
            disposeAll(part.object);
            this.parts.delete(key);
        }
    }
    clear(): void {
        [...this.parts.keys()].forEach((key) => this.remove(key));
        this.last = null;
    }
}
