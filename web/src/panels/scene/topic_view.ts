// What is drawn of a topic: objects with keys, each in a frame. A message replaces the one before; markers replace
// those with the same id.
import * as THREE from 'three';
import type { Frames } from './frames';
import { DEFAULT_LOOK, type Look, type PointFacts } from './points';
import { DELETE, DELETE_ALL, drawMarker, keyOf, lifetimeOf, markersOf } from './ros_markers';
import { draw, frameOf } from './ros_shapes';
import type { Drawn } from './ros_types';
import { disposeAll } from './viewport';

interface Part {
    object: THREE.Group;
    frame: string;
    until: bigint | null; // it vanishes then
}

const PARTS_MAX = 20_000; // markers of a topic

export class TopicView {
    readonly group = new THREE.Group();
    facts: PointFacts | null = null;
    private parts = new Map<string, Part>();
    private last: unknown = null; // the message that is drawn, to draw it with another look

    constructor(
        readonly type: Drawn,
        private colour: THREE.Color,
        private look: Look = DEFAULT_LOOK,
    ) {}

    get keepsState(): boolean {
        return this.type === 'visualization_msgs/Marker' || this.type === 'visualization_msgs/MarkerArray';
    }
    get empty(): boolean {
        return this.parts.size === 0;
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
            this.put('', drawn.object, frameOf(data), null);
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
                this.put(keyOf(marker), object, frameOf(marker), lifetime > 0n ? time_ns + lifetime : null);
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

    private put(key: string, drawn: THREE.Object3D, frame: string, until: bigint | null): void {
        const object = new THREE.Group();
        object.matrixAutoUpdate = false;
        object.add(drawn);
        this.group.add(object);
        this.parts.set(key, { object, frame, until });
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
