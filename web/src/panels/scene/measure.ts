// Measures the distance between two points that are clicked.
import * as THREE from 'three';
import { disposeAll, type Viewport } from './viewport';

const CLICK_PX = 4; // more is a drag, which moves the camera

export interface Measured {
    points: number; // that have been chosen
    offset: THREE.Vector3 | null; // from the first to the second
}

/** Calls `clicked` with clicks that are no drags, until `signal`. */
export function watchClicks(
    canvas: HTMLCanvasElement,
    clicked: (event: PointerEvent) => void,
    signal: AbortSignal,
): void {
    let pressed: PointerEvent | null = null;
    const down = (event: PointerEvent) => (pressed = event.button === 0 && event.isPrimary ? event : null);
    const up = (event: PointerEvent) => {
        const from = pressed;
        pressed = null;
        if (from && Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) <= CLICK_PX) {
            clicked(event);
        }
    };
    canvas.addEventListener('pointerdown', down, { signal });
    canvas.addEventListener('pointerup', up, { signal });
}

/** Returns a function that ends it. */
export function measure(view: Viewport, canvas: HTMLCanvasElement, report: (measured: Measured) => void): () => void {
    const chosen: THREE.Vector3[] = [];
    const drawn = new THREE.Group();
    view.overlay.add(drawn);
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
    const chose = (event: PointerEvent) => {
        const point = view.pick(event.clientX, event.clientY);
        if (point) {
            chosen.splice(0, chosen.length === 2 ? 2 : 0); // a third one starts again
            chosen.push(point);
            show();
        }
    };
    const stop = new AbortController();
    watchClicks(canvas, chose, stop.signal);
    report({ points: 0, offset: null });
    return () => {
        stop.abort();
        disposeAll(drawn);
        drawn.removeFromParent();
        view.draw();
    };
}
