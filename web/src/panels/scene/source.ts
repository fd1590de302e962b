// What a scene is drawn from: one source a kind of recording. Its one rule: a source draws the state at a time, wherever the play head jumps to.
import type * as THREE from 'three';

export interface Followable {
    id: string;
    title: string;
}
export interface Facts {
    title: string;
    value: string;
}

export interface Source {
    /** What it shows; the stage's world holds it. */
    readonly group: THREE.Group;
    /** What the camera looks at when nobody has chosen; without it all of `group`. */
    readonly centre?: THREE.Object3D;
    /** To the state at `time_ns`. False: what it needs is being loaded; it calls `changed` then. */
    show(time_ns: bigint): boolean;
    followables(): Followable[];
    /** Where one of them is now. */
    placeOf(id: string): THREE.Vector3 | null;
    /** A few words for the corner: how many actors, atoms … */
    facts(): Facts[];
    stop(): void;
}
