// The source of a scene: one per kind of recording. It draws the state at any time the playhead moves to.
import type * as THREE from 'three';
import type { Topic } from '../../types';
import type { Frames } from './frames';
import type { Look, PointFacts } from './points';

export interface FollowTarget {
    id: string;
    title: string;
}
export interface Stat {
    title: string;
    value: string;
}
/** A topic, or a part of a scene, that can be hidden. */
export interface SceneTopic {
    name: string;
    title: string;
    type: string; // '': has none
    group: string; // the title of its group
    points: PointFacts | null; // it has points, which can be coloured
}
export interface SceneOptions {
    hidden: ReadonlySet<string>;
    looks: ReadonlyMap<string, Look>;
}

export interface Source {
    /** The drawn objects; added to the viewport's world. */
    readonly group: THREE.Group;
    /** What the camera shows initially; default: all of `group`. */
    readonly centre?: THREE.Object3D;
    /** Draws the state at `time_ns`. False while data is loading; `changed` is called when it has arrived. */
    show(time_ns: bigint): boolean;
    topics(): SceneTopic[];
    /** The topics of the recording now: a live one may get more. */
    setTopics?(topics: readonly Topic[]): void;
    /** What is hidden is removed, and not loaded. Takes effect with the next show(). */
    setOptions(options: SceneOptions): void;
    /** The tree of coordinate frames; null: there is none. */
    readonly frames: Frames | null;
    followTargets(): FollowTarget[];
    /** What the camera follows until something is selected: the robot. Null: nothing. */
    robot(): string | null;
    /** The current place of a follow target. */
    placeOf(id: string): THREE.Matrix4 | null;
    /** Statistics shown in the corner: number of actors, atoms … */
    stats(): Stat[];
    stop(): void;
}
