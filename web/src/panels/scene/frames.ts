// The tree of coordinate frames. A frame without a known path to the root is a root itself.
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
    matrix: THREE.Matrix4; // to the parent
}

const ONE = new THREE.Vector3(1, 1, 1);
const DEPTH_MAX = 64;

export function matrixOf(
    position: Partial<Vector> | undefined,
    rotation: Partial<Quaternion> | undefined,
): THREE.Matrix4 {
    const q = new THREE.Quaternion(rotation?.x ?? 0, rotation?.y ?? 0, rotation?.z ?? 0, rotation?.w ?? 1);
    if (q.lengthSq() < 1e-12) {
        q.identity();
    }
    return new THREE.Matrix4().compose(
        new THREE.Vector3(position?.x ?? 0, position?.y ?? 0, position?.z ?? 0),
        q.normalize(),
        ONE,
    );
}

/** ROS 1 names may begin with a slash, ROS 2 names do not. */
const normalize = (frame: string) => frame.replace(/^\/+/, '');

export class Frames {
    private frames = new Map<string, Frame>();

    set(parent: string, child: string, matrix: THREE.Matrix4): void {
        this.frames.set(normalize(child), { parent: normalize(parent), matrix });
    }
    clear(): void {
        this.frames.clear();
    }
    copy(): Frames {
        const copy = new Frames();
        copy.frames = new Map(this.frames);
        return copy;
    }
    /** The transform from the frame to the root of its tree. */
    toRoot(frame: string): THREE.Matrix4 {
        const result = new THREE.Matrix4();
        let at = this.frames.get(normalize(frame));
        for (let depth = 0; at && depth < DEPTH_MAX; depth++) {
            result.premultiply(at.matrix);
            at = this.frames.get(at.parent);
        }
        return result;
    }
    /** All frames, also the roots. */
    all(): { name: string; parent: string | null }[] {
        const roots = new Set(
            [...this.frames.values()].map((f) => f.parent).filter((parent) => !this.frames.has(parent)),
        );
        return [
            ...[...roots].map((name) => ({ name, parent: null })),
            ...[...this.frames].map(([name, { parent }]) => ({ name, parent })),
        ];
    }
    names(): string[] {
        return [...this.frames.keys()];
    }
}
