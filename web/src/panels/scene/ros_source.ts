// Poses, scans and point clouds of a bag: the last message of each topic at or before the playhead, placed by the recorded transforms.
import * as THREE from 'three';
import { getRows } from '../../api';
import type { Range } from '../../playback';
import { count } from '../../format';
import { text } from '../../text';
import type { Topic } from '../../types';
import { RowCursor, TimeWindows } from '../time_windows';
import { colourOfNumber } from './elements';
import { Frames, matrixOf, type Quaternion, type Vector } from './frames';
import { draw, frameOf } from './ros_shapes';
import { drawnAs, isTransforms } from './ros_types';
import type { Stat, FollowTarget, Source } from './source';
import { disposeAll } from './viewport';

const MAX_STATIC = 1000;
const MAX_FRAMES = 200; // offered to be followed
const FRAME = 'frame:'; // the id of a frame that is followed; topics begin with a slash
const ROBOT_FRAMES = ['base_link', 'base_footprint', 'base']; // REP 105

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
    private cursor: RowCursor<Row>;
    private types: Map<string, string>;
    private shown = new Map<string, Shown>();

    constructor(id: string, topics: readonly Topic[], bounds: () => Range, width_ns: bigint, changed: () => void) {
        this.types = new Map(topics.filter((t) => drawnAs(t.type) || isTransforms(t.type)).map((t) => [t.name, t.type]));
        const names = [...this.types.keys()];
        const staticTopics = names.filter((name) => /(^|\/)tf_static$/.test(name)); // each message may hold other frames, so the last one is not enough
        const load = async function* (start: bigint, end: bigint, signal: AbortSignal, first: boolean) {
            if (first && staticTopics.length > 0 && start > bounds().start) {
                yield* getRows<Row>(`/recordings/${id}/messages`, { topic: staticTopics, end: start, limit: MAX_STATIC, time_format: 'nanoseconds' }, signal);
            }
            yield* getRows<Row>(`/recordings/${id}/messages`, { topic: names, start, end, last: first ? 'per_topic' : null, time_format: 'nanoseconds' }, signal);
        };
        this.cursor = new RowCursor(new TimeWindows<Row>(load, bounds, width_ns, changed), (row) => BigInt(row.log_time));
    }

    show(time_ns: bigint): boolean {
        return this.cursor.moveTo(time_ns, ({ window, from, upto, backwards }) => {
            if (backwards) {
                this.clear(); // later messages do not exist yet
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
        const drawn = type && draw(type, row.data, new THREE.Color(colourOfNumber(number)));
        if (drawn) {
            const object = new THREE.Group();
            object.matrixAutoUpdate = false;
            object.add(drawn);
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
    /** Keeps the frames: a rarely sent transform is better outdated than missing. */
    private clear(): void {
        [...this.shown.keys()].forEach((topic) => this.remove(topic));
    }

    followTargets(): FollowTarget[] {
        const frames = this.frames.names().sort().slice(0, MAX_FRAMES);
        return [...[...this.shown.keys()].map((topic) => ({ id: topic, title: topic })), ...frames.map((frame) => ({ id: FRAME + frame, title: text.scene.frame(frame) }))];
    }
    robot(): string | null {
        const frame = ROBOT_FRAMES.find((name) => this.frames.names().includes(name));
        return frame ? FRAME + frame : ([...this.shown.keys()].find((topic) => /Odometry$/.test(this.types.get(topic) ?? '')) ?? null);
    }
    positionOf(id: string): THREE.Vector3 | null {
        if (id.startsWith(FRAME)) {
            const frame = id.slice(FRAME.length);
            return this.frames.names().includes(frame) ? new THREE.Vector3().setFromMatrixPosition(this.frames.toRoot(frame)) : null;
        }
        const one = this.shown.get(id);
        return one ? new THREE.Vector3().setFromMatrixPosition(one.object.children[0]!.matrix).applyMatrix4(one.object.matrix) : null;
    }
    stats(): Stat[] {
        return [
            { title: text.scene.topics, value: count(this.shown.size) },
            { title: text.scene.frames, value: count(this.frames.names().length) },
        ];
    }
    stop(): void {
        this.cursor.stop();
    }
}
