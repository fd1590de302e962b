// Axes of the coordinate frames, a line to the parent of each, and their names.
import * as THREE from 'three';
import type { Frames } from './frames';
import { screenLabel } from './labels';
import { disposeAll } from './viewport';

const FRAMES_MAX = 200;
const LENGTH = 0.4; // m

interface Axes {
    axes: THREE.AxesHelper;
    name: THREE.Sprite | null;
}

/** Frames are often inside of what they belong to. */
function onTop(lines: THREE.LineSegments): void {
    const material = lines.material as THREE.LineBasicMaterial;
    material.depthTest = false;
    material.transparent = true; // drawn after all that is not
    lines.renderOrder = 5;
}

export class FrameAxes {
    readonly group = new THREE.Group();
    private shown = new Map<string, Axes>();
    private links = new THREE.LineSegments(
        new THREE.BufferGeometry(),
        new THREE.LineBasicMaterial({ color: 0xe0a020 }),
    );

    constructor(private colour: () => string) {
        this.links.frustumCulled = false;
        onTop(this.links);
        this.group.add(this.links);
    }

    /** `names`: and write them beside the frames. `frames` null: show none. */
    update(frames: Frames | null, names: boolean): void {
        const all = frames?.all().slice(0, FRAMES_MAX) ?? [];
        const wanted = new Set(all.map((one) => one.name));
        for (const [name, { axes }] of this.shown) {
            if (!wanted.has(name)) {
                axes.removeFromParent();
                disposeAll(axes);
                this.shown.delete(name);
            }
        }
        const at = new Map<string, THREE.Vector3>();
        for (const { name } of all) {
            const one = this.axesOf(name);
            one.axes.matrix.copy(frames!.toRoot(name));
            one.axes.matrixWorldNeedsUpdate = true;
            at.set(name, new THREE.Vector3().setFromMatrixPosition(one.axes.matrix));
            this.setName(one, name, names);
        }
        this.link(
            all.flatMap(({ name, parent }) =>
                parent !== null && at.has(parent) ? [at.get(parent)!, at.get(name)!] : [],
            ),
        );
    }

    private axesOf(name: string): Axes {
        let one = this.shown.get(name);
        if (!one) {
            one = { axes: new THREE.AxesHelper(LENGTH), name: null };
            one.axes.matrixAutoUpdate = false;
            onTop(one.axes);
            this.group.add(one.axes);
            this.shown.set(name, one);
        }
        return one;
    }
    private setName(one: Axes, name: string, shown: boolean): void {
        if (shown && !one.name) {
            one.name = screenLabel(name, this.colour());
            one.axes.add(one.name);
        } else if (!shown && one.name) {
            one.name.removeFromParent();
            disposeAll(one.name);
            one.name = null;
        }
    }
    /** Called with each frame of the page: another material would be compiled each time. */
    private link(points: THREE.Vector3[]): void {
        this.links.geometry.dispose();
        this.links.geometry = new THREE.BufferGeometry().setFromPoints(points);
        this.links.visible = points.length > 0;
    }
}
