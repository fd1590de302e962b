// The source of a scene: one per kind of recording. It draws the state at any time the playhead moves to.
import type * as THREE from 'three';

export interface FollowTarget {
    id: string;
    title: string;
}
export interface Stat {
    title: string;
    value: string;
}

export interface Source {
    /** The drawn objects; added to the viewport's world. */
    readonly group: THREE.Group;
    /** What the camera shows initially; default: all of `group`. */
    readonly centre?: THREE.Object3D;
    /** Draws the state at `time_ns`. False while data is loading; `changed` is called when it has arrived. */
    show(time_ns: bigint): boolean;
    followTargets(): FollowTarget[];
    /** What the camera follows until something is selected: the robot. Null: nothing. */
    robot(): string | null;
    /** The current position of a follow target. */
    positionOf(id: string): THREE.Vector3 | null;
    /** Statistics shown in the corner: number of actors, atoms … */
    stats(): Stat[];
    stop(): void;
}
