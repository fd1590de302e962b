// Poses, scans and clouds of a bag: of each topic the last message at or before the play head, on the frames that its transforms tell.
import * as THREE from 'three';
import { getRows } from '../../api';
import type { Range } from '../../clock';
import { count } from '../../format';
import { text } from '../../text';
import type { Topic } from '../../types';
import { Walk, Windows } from '../windows';
import { colourOfNumber } from './elements';
import { Frames, matrixOf, type Quaternion, type Vector } from './frames';
import { draw, frameOf } from './ros_shapes';
import { drawnAs, isTransforms } from './ros_types';
import type { Facts, Followable, Source } from './source';
import { disposeAll } from './stage';

const STATIC_MOST = 1000;

interface Row {
    topic: string;
    log_time: string; // ns
    data: unknown;
}
interface Transforms {
    transforms: { header: { frame_id: string }; child_frame_id: string; transform: { translation: Vector; rotation: Quaternion } }[];
}
interface Shown {
    object: THREE.Object3D;
    frame: string;
}

export class RosSource implements Source {
    readonly group = new THREE.Group();
    private frames = new Frames();
    private walk: Walk<Row>;
    private types: Map<string, string>;
    private shown = new Map<string, Shown>();

    constructor(id: string, topics: readonly Topic[], bounds: Range, width_ns: bigint, changed: () => void) {
        this.types = new Map(topics.filter((t) => drawnAs(t.type) || isTransforms(t.type)).map((t) => [t.name, t.type]));
        const names = [...this.types.keys()];
        const still = names.filter((name) => /(^|\/)tf_static$/.test(name)); // each message tells other frames: the last one is not all
        const ask = async function* (start: bigint, end: bigint, signal: AbortSignal) {
            if (still.length > 0 && start > bounds.start) {
                yield* getRows<Row>(`/recordings/${id}/messages`, { topic: still, end: start, limit: STATIC_MOST, time_format: 'nanoseconds' }, signal);
            }
            yield* getRows<Row>(`/recordings/${id}/messages`, { topic: names, start, end, last: 'per_topic', time_format: 'nanoseconds' }, signal);
        };
        this.walk = new Walk(new Windows<Row>(ask, bounds, width_ns, changed), (row) => BigInt(row.log_time));
    }

    show(time_ns: bigint): boolean {
        return this.walk.to(time_ns, ({ window, from, upto, back }) => {
            if (back) {
                this.clear(); // back: what came later is not there yet
            }
            const last = new Map<string, Row>();
            for (let i = from; i < upto; i++) {
                const row = window.rows[i]!;
                if (isTransforms(this.types.get(row.topic) ?? '')) {
                    this.transform(row.data as Transforms);
                } else {
                    last.set(row.topic, row);
                }
            }
            last.forEach((row) => this.replace(row));
            for (const { object, frame } of this.shown.values()) {
                object.matrix.copy(this.frames.toRoot(frame));
                object.matrixWorldNeedsUpdate = true;
            }
        });
    }

    private transform(data: Transforms): void {
        for (const t of data.transforms ?? []) {
            this.frames.set(t.header.frame_id, t.child_frame_id, matrixOf(t.transform.translation, t.transform.rotation));
        }
    }

    private replace(row: Row): void {
        this.remove(row.topic);
        const number = [...this.types.keys()].indexOf(row.topic);
        const type = drawnAs(this.types.get(row.topic) ?? '');
        const made = type && draw(type, row.data, new THREE.Color(colourOfNumber(number)));
        if (made) {
            const object = new THREE.Group();
            object.matrixAutoUpdate = false;
            object.add(made);
            this.group.add(object);
            this.shown.set(row.topic, { object, frame: frameOf(row.data) });
        }
    }
    private remove(topic: string): void {
        const one = this.shown.get(topic);
        if (one) {
            one.object.removeFromParent();
            disposeAll(one.object);
            this.shown.delete(topic);
        }
    }
    /** All but the frames: a frame whose place is told only now and then is better where it was than nowhere. */
    private clear(): void {
        [...this.shown.keys()].forEach((topic) => this.remove(topic));
    }

    followables(): Followable[] {
        return [...this.shown.keys()].map((topic) => ({ id: topic, title: topic }));
    }
    placeOf(id: string): THREE.Vector3 | null {
        const one = this.shown.get(id);
        return one ? new THREE.Vector3().setFromMatrixPosition(one.object.children[0]!.matrix).applyMatrix4(one.object.matrix) : null;
    }
    facts(): Facts[] {
        return [
            { title: text.scene.topics, value: count(this.shown.size) },
            { title: text.scene.frames, value: count(this.frames.names().length) },
        ];
    }
    stop(): void {
        this.walk.stop();
    }
}
