// The source of a scene: one per kind of recording. It draws the state at any time the playhead moves to.
import type * as THREE from 'three';
import { sceneText } from '../../text/panels';
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
/** Says so if not all of the past is there that should be shown. */
export const pastStat = (failed: boolean, shortened: boolean): Stat[] =>
    failed || shortened
        ? [{ title: sceneText.pastOf, value: failed ? sceneText.pastFailed : sceneText.pastShortened }]
        : [];
/** A topic, or a part of a scene, that can be hidden. */
export interface SceneTopic {
    name: string;
    title: string;
    type: string; // '': has none
    group: string; // the title of its group
    points: PointFacts | null; // it has points, which can be coloured
}
/** How long the past is shown: ns before the playhead, or all of it. */
export type Span = bigint | 'all';
export interface SceneOptions {
    hidden: ReadonlySet<string>;
    looks: ReadonlyMap<string, Look>;
    span: Span;
}
/** What was clicked at: its values at the playhead. */
export interface Described {
    title: string;
    topic: string | null; // whose messages hold it
    values: [name: string, value: string][];
    follow: string | null; // the target by which the camera follows it
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
    /** The lengths of the past that are offered, the default first; none: the source shows the present only. */
    readonly spans: readonly Span[];
    /** What is hidden is removed, and not loaded. Takes effect with the next show(). */
    setOptions(options: SceneOptions): void;
    /** The tree of coordinate frames; null: there is none. */
    readonly frames: Frames | null;
    followTargets(): FollowTarget[];
    /** What the camera follows until something is selected: the robot. Null: nothing. */
    robot(): string | null;
    /** The first view is from behind the robot; the camera turns with it. Else it shows all. */
    readonly chases?: boolean;
    /** The height of the ground; default: 0. */
    ground?(): number;
    /** What an object or one of its points is; null: nothing that can be described. */
    identify(hit: THREE.Intersection): string | null;
    /** What identify() has named, as it is now; null: it is gone. */
    describe(id: string): Described | null;
    /** The current place of a follow target. */
    placeOf(id: string): THREE.Matrix4 | null;
    /** Statistics shown in the corner: number of actors, atoms … */
    stats(): Stat[];
    stop(): void;
}
