// Measures the distance between two points that are clicked.
import * as THREE from 'three';
import { disposeAll, type Viewport } from './viewport';

const CLICK_PX = 4; // more is a drag, which moves the camera

export interface Measured {
    points: number; // that have been chosen
    offset: THREE.Vector3 | null; // from the first to the second
}

/** Returns a function that ends it. */
export function measure(view: Viewport, canvas: HTMLCanvasElement, report: (measured: Measured) => void): () => void {
    const chosen: THREE.Vector3[] = [];
    const drawn = new THREE.Group();
    view.overlay.add(drawn);
    let pressed: PointerEvent | null = null;
    const show = () => {
        disposeAll(drawn);
        drawn.clear();
        const geometry = () => new THREE.BufferGeometry().setFromPoints(chosen);
        const dots = new THREE.Points(
            geometry(),
            new THREE.PointsMaterial({ color: 0xff3b8d, size: 9, sizeAttenuation: false, depthTest: false }),
        );
        const line = new THREE.Line(geometry(), new THREE.LineBasicMaterial({ color: 0xff3b8d, depthTest: false }));
        for (const object of [dots, line]) {
            object.frustumCulled = false;
            object.renderOrder = 10;
            drawn.add(object);
        }
        view.draw();
        report({ points: chosen.length, offset: chosen.length === 2 ? chosen[1]!.clone().sub(chosen[0]!) : null });
    };
    const down = (event: PointerEvent) => (pressed = event.button === 0 && event.isPrimary ? event : null);
    const up = (event: PointerEvent) => {
        const still =
            pressed && Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY) <= CLICK_PX;
        const point = still ? view.pick(event.clientX, event.clientY) : null;
        if (point) {
            chosen.splice(0, chosen.length === 2 ? 2 : 0); // a third one starts again
            chosen.push(point);
            show();
        }
    };
    const stop = new AbortController();
    canvas.addEventListener('pointerdown', down, { signal: stop.signal });
    canvas.addEventListener('pointerup', up, { signal: stop.signal });
    report({ points: 0, offset: null });
    return () => {
        stop.abort();
        disposeAll(drawn);
        drawn.removeFromParent();
        view.draw();
    };
}
