// The tree of frames of transforms. Its one rule: a frame whose way to the root is unknown is its own root, and its things are shown where they say.
import * as THREE from 'three';

export interface Vector {
    x: number;
    y: number;
    z: number;
}
export interface Quaternion extends Vector {
    w: number;
}
interface Frame {
    parent: string;
    place: THREE.Matrix4;
}

const ONE = new THREE.Vector3(1, 1, 1);
const DEPTH_MAX = 64;

export function matrixOf(place: Partial<Vector> | undefined, turn: Partial<Quaternion> | undefined): THREE.Matrix4 {
    const q = new THREE.Quaternion(turn?.x ?? 0, turn?.y ?? 0, turn?.z ?? 0, turn?.w ?? 1);
    if (q.lengthSq() < 1e-12) {
        q.identity();
    }
    return new THREE.Matrix4().compose(new THREE.Vector3(place?.x ?? 0, place?.y ?? 0, place?.z ?? 0), q.normalize(), ONE);
}

/** A name as ROS 1 and 2 both mean it. */
const plain = (frame: string) => frame.replace(/^\/+/, '');

export class Frames {
    private frames = new Map<string, Frame>();

    set(parent: string, child: string, place: THREE.Matrix4): void {
        this.frames.set(plain(child), { parent: plain(parent), place });
    }
    clear(): void {
        this.frames.clear();
    }
    /** From the frame to the root of its tree. */
    toRoot(frame: string): THREE.Matrix4 {
        const whole = new THREE.Matrix4();
        let at = this.frames.get(plain(frame));
        for (let depth = 0; at && depth < DEPTH_MAX; depth++) {
            whole.premultiply(at.place);
            at = this.frames.get(at.parent);
        }
        return whole;
    }
    names(): string[] {
        return [...this.frames.keys()];
    }
}
