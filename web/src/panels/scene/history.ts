// The messages of the last seconds, each where its frame was at its time: clouds and scans as they are, poses as a
// trail.
import * as THREE from 'three';
import { frameOf, hasPoints, positionOf } from './ros_shapes';
import type { Frames } from './frames';
import type { TopicView } from './topic_view';
import { Trails } from './trails';
import { disposeAll } from './viewport';

interface Drawn {
    time: bigint;
    object: THREE.Group;
    points: number;
}
const TRAIL_WIDTH = 0.04; // m
const DRAWN_MAX = 400; // of a topic; the oldest ones go
const POINTS_MAX = 4_000_000; // of all topics, about 50 bytes each; the oldest clouds go
const ROOM_MIN = 400_000; // points of one cloud

export class History {
    readonly group = new THREE.Group();
    private drawn = new Map<string, Drawn[]>();
    private trails: Trails;
    private points = 0;
    /** At the last show(), clouds of the time that is shown had gone, for there were too many points. */
    shortened = false;

    constructor(colourOf: (name: string) => THREE.Color) {
        this.trails = new Trails(colourOf, TRAIL_WIDTH);
        this.group.add(this.trails.object);
    }

    /** A message of a topic, with the frames at its time; later than those before. */
    add(topic: string, view: TopicView, data: unknown, time: bigint, frames: Frames): void {
        const matrix = frames.toRoot(frameOf(data));
        const position = hasPoints(view.type) ? null : positionOf(view.type, data);
        if (position) {
            this.trails.add(topic, time, new THREE.Vector3().copy(position).applyMatrix4(matrix));
        }
        const object = hasPoints(view.type) ? view.drawnAlone(data) : null;
        if (object) {
            const group = new THREE.Group();
            group.matrixAutoUpdate = false;
            group.matrix.copy(matrix);
            group.userData.topic = topic;
            group.add(object);
            const list = this.drawn.get(topic) ?? [];
            this.drawn.set(topic, list);
            const points = (object as Partial<THREE.Points>).geometry?.getAttribute('position')?.count ?? 0;
            list.push({ time, object: group, points });
            this.points += points;
            this.group.add(group);
            this.trim(list);
        }
    }
    /** A frame at a time. */
    addFrame(name: string, time: bigint, matrix: THREE.Matrix4): void {
        this.trails.add(name, time, new THREE.Vector3().setFromMatrixPosition(matrix));
    }
    /** Takes over what came before. */
    addOlder(older: History): void {
        this.trails.addOlder(older.trails);
        for (const [topic, before] of older.drawn) {
            const list = [...before, ...(this.drawn.get(topic) ?? [])];
            before.forEach(({ object }) => this.group.add(object));
            this.drawn.set(topic, list);
        }
        this.points += older.points;
        this.drawn.forEach((list) => this.trim(list));
        disposeAll(older.trails.object);
    }

    show(time_ns: bigint, span_ns: bigint, hidden: ReadonlySet<string>): void {
        for (const [topic, list] of this.drawn) {
            list.forEach(({ time, object }) => {
                object.visible = !hidden.has(topic) && time <= time_ns && time > time_ns - span_ns;
            });
        }
        this.shortened = [...this.drawn].some(
            ([topic, [first]]) => first && this.isFull(topic) && first.time > time_ns - span_ns,
        );
        this.trails.show(time_ns, span_ns, (name) => !hidden.has(name));
    }
    /** Older clouds of the topic have no room. */
    isFull(topic: string): boolean {
        return (this.drawn.get(topic)?.length ?? 0) >= DRAWN_MAX || this.points > POINTS_MAX - ROOM_MIN;
    }
    drop(before: bigint | null): void {
        this.trails.drop(before);
        for (const list of this.drawn.values()) {
            this.cut(list, before === null ? list.length : list.filter(({ time }) => time < before).length);
        }
    }
    /** Removes the first ones of `list`, and the oldest of all, until the rest are few enough. */
    private trim(list: Drawn[]): void {
        this.cut(list, list.length - DRAWN_MAX);
        while (this.points > POINTS_MAX) {
            const lists = [...this.drawn.values()].filter((one) => one.length > 0);
            this.cut(
                lists.reduce((a, b) => (b[0]!.time < a[0]!.time ? b : a)),
                1,
            );
        }
    }
    /** Removes the first ones. */
    private cut(list: Drawn[], count: number): void {
        for (const { object, points } of list.splice(0, Math.max(count, 0))) {
            this.points -= points;
            object.removeFromParent();
            disposeAll(object);
        }
    }
}
