// The three.js scene: camera, light, grid. Renders only after changes. z points up.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Pace } from './pace';

export type Camera = 'free' | 'top';
/** Directions from which the camera looks. */
const SIDES = { front: [1, 0, 0.12], side: [0, -1, 0.12], free: [-0.55, -0.65, 0.52] } as const;
export type Side = keyof typeof SIDES;

function cssColour(name: string, fallback: string): THREE.Color {
    const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    try {
        return new THREE.Color(value || fallback);
    } catch {
        return new THREE.Color(fallback);
    }
}

const MARGIN = 1.08; // around what is fitted into the view
const PICK_PART = 0.006; // of the distance: how far from the pointer a point or a line is hit

export class Viewport {
    readonly world = new THREE.Group();
    readonly overlay = new THREE.Group(); // what belongs to no topic: not fitted, not measured
    private scene = new THREE.Scene();
    private renderer: THREE.WebGLRenderer;
    private perspective = new THREE.PerspectiveCamera(50, 1, 0.01, 20000);
    private above = new THREE.OrthographicCamera(-10, 10, 10, -10, -20000, 20000);
    private controls: OrbitControls;
    private mode: Camera = 'free';
    private grid: THREE.GridHelper | null = null;
    private frame = 0;
    private pace: Pace;
    private sizes: ResizeObserver;
    private followed = new THREE.Vector3();
    private following = false;
    private heading: number | null = null; // of what is followed, if the camera turns with it
    private gridShown = true;
    private readonly up = new THREE.Vector3(0, 0, 1);
    private span = 10;

    /** Needs a canvas of its own: dispose() ends its WebGL context. */
    constructor(private canvas: HTMLCanvasElement) {
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
        this.pace = new Pace(this.renderer.getContext() as WebGL2RenderingContext);
        this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
        const sun = new THREE.DirectionalLight(0xffffff, 1.8);
        sun.position.set(3, -5, 10);
        this.scene.add(new THREE.HemisphereLight(0xffffff, 0x888888, 1.6), sun, this.world, this.overlay);
        this.perspective.up.set(0, 0, 1);
        this.perspective.position.set(-12, -12, 10);
        this.above.position.set(0, 0, 1000);
        this.controls = this.makeControls(this.perspective);
        this.sizes = new ResizeObserver(() => this.resize());
        this.sizes.observe(canvas.parentElement!);
        this.applyTheme();
    }

    private makeControls(camera: THREE.Camera): OrbitControls {
        const controls = new OrbitControls(camera, this.canvas);
        controls.screenSpacePanning = true;
        controls.listenToKeyEvents(this.canvas); // arrow keys pan, with Ctrl or Shift they rotate
        controls.addEventListener('change', this.draw);
        return controls;
    }

    private get camera(): THREE.PerspectiveCamera | THREE.OrthographicCamera {
        return this.mode === 'top' ? this.above : this.perspective;
    }

    /** Applies the colours of the page's theme. */
    applyTheme = (): void => {
        this.scene.background = cssColour('--scene-bg', '#f4f5f6');
        this.updateGrid(this.span);
        this.draw();
    };

    private updateGrid(span: number): void {
        this.grid?.removeFromParent();
        this.grid?.dispose();
        const step = 10 ** Math.floor(Math.log10(Math.max(span / 4, 1e-3)));
        const lines = 100;
        this.grid = new THREE.GridHelper(
            step * lines,
            lines,
            cssColour('--scene-axis', '#9aa0a8'),
            cssColour('--scene-grid', '#d8dce0'),
        );
        this.grid.material.depthWrite = false; // a map on the ground covers all of its lines, not some
        this.grid.rotation.x = Math.PI / 2;
        this.grid.position.set(
            Math.round(this.controls.target.x / step) * step,
            Math.round(this.controls.target.y / step) * step,
            0,
        );
        this.grid.visible = this.gridShown;
        this.scene.add(this.grid);
    }

    setCamera(mode: Camera): void {
        if (mode !== this.mode) {
            const target = this.controls.target.clone();
            this.controls.dispose();
            this.mode = mode;
            this.above.position.set(target.x, target.y, target.z + 1000);
            this.above.up.set(0, 1, 0);
            this.controls = this.makeControls(this.camera);
            this.controls.target.copy(target);
            this.controls.enableRotate = mode === 'free';
            this.resize();
            this.controls.update();
        }
    }

    /** Moves the camera so that all of `box` is visible. */
    fit(box: THREE.Box3): void {
        if (box.isEmpty()) {
            return;
        }
        const centre = box.getCenter(new THREE.Vector3());
        this.span = Math.max(box.getSize(new THREE.Vector3()).length(), 0.5);
        const back = new THREE.Vector3(...SIDES.free).normalize();
        const distance = Math.max(this.distanceOf(box, centre, back), this.span / 2) * MARGIN;
        this.perspective.position.copy(centre).addScaledVector(back, distance);
        this.perspective.near = distance / 1000;
        this.perspective.far = distance * 100;
        this.above.position.set(centre.x, centre.y, centre.z + 1000);
        this.above.zoom = 1;
        this.controls.target.copy(centre);
        this.updateGrid(this.span);
        this.resize();
        this.controls.update();
    }

    /** How far from the centre the perspective camera sees all corners of the box; `back`: from the centre to it. */
    private distanceOf(box: THREE.Box3, centre: THREE.Vector3, back: THREE.Vector3): number {
        const right = this.up.clone().cross(back).normalize();
        const top = back.clone().cross(right);
        const slope = Math.tan((this.perspective.fov * Math.PI) / 360);
        const aspect = this.aspect();
        let distance = 0;
        for (const x of [box.min.x, box.max.x]) {
            for (const y of [box.min.y, box.max.y]) {
                for (const z of [box.min.z, box.max.z]) {
                    const corner = new THREE.Vector3(x, y, z).sub(centre);
                    distance = Math.max(
                        distance,
                        corner.dot(back) +
                            Math.max(Math.abs(corner.dot(right)) / aspect, Math.abs(corner.dot(top))) / slope,
                    );
                }
            }
        }
        return distance;
    }

    /** Looks at the same point from another side, at the same distance. */
    lookFrom(side: Side): void {
        const { target } = this.controls;
        const distance = Math.max(this.perspective.position.distanceTo(target), 1e-3);
        this.perspective.position
            .copy(target)
            .add(new THREE.Vector3(...SIDES[side]).normalize().multiplyScalar(distance));
        this.controls.update();
        this.draw();
    }

    /**
     * Moves the camera with `place`, keeping direction and distance; with `turns` it also turns about the vertical.
     * null: stop following.
     */
    follow(place: THREE.Matrix4 | null, turns = false): void {
        const position = place && new THREE.Vector3().setFromMatrixPosition(place);
        if (position) {
            const step = position.clone().sub(this.following ? this.followed : this.controls.target);
            this.camera.position.add(step);
            this.controls.target.add(step);
            this.followed.copy(position);
        }
        const heading = place && turns ? Math.atan2(place.elements[1]!, place.elements[0]!) : null;
        if (position && heading !== null && this.heading !== null) {
            const about = this.camera.position
                .clone()
                .sub(position)
                .applyAxisAngle(this.up, heading - this.heading);
            this.camera.position.copy(position).add(about);
            this.controls.target
                .sub(position)
                .applyAxisAngle(this.up, heading - this.heading)
                .add(position);
            this.above.up.applyAxisAngle(this.up, heading - this.heading);
        }
        this.heading = heading;
        this.following = position !== null;
        void (position && this.controls.update());
    }

    setGrid(shown: boolean): void {
        this.gridShown = shown;
        void (this.grid && (this.grid.visible = shown));
        this.draw();
    }

    /** The point of the world that is drawn there, else that of the ground; null: none. */
    pick(clientX: number, clientY: number): THREE.Vector3 | null {
        const box = this.canvas.getBoundingClientRect();
        const ray = new THREE.Raycaster();
        this.camera.updateMatrixWorld(); // it may not have been drawn with yet
        ray.setFromCamera(
            new THREE.Vector2(((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2),
            this.camera,
        );
        const reach =
            (this.mode === 'top'
                ? (this.above.top - this.above.bottom) / this.above.zoom
                : this.camera.position.distanceTo(this.controls.target)) * PICK_PART;
        ray.params.Points.threshold = ray.params.Line.threshold = reach;
        const hits = ray.intersectObject(this.world, true);
        const nearest = hits[0]?.distance ?? 0;
        // of those about as near, the one closest to the pointer
        const close = hits.filter((hit) => hit.distance - nearest < 4 * reach);
        const best = close.reduce<THREE.Intersection | null>(
            (a, b) => (a && (a.distanceToRay ?? 0) <= (b.distanceToRay ?? 0) ? a : b),
            null,
        );
        return best?.point.clone() ?? ray.ray.intersectPlane(new THREE.Plane(this.up, 0), new THREE.Vector3());
    }

    /** Width divided by height. */
    private aspect(): number {
        const { clientWidth: width, clientHeight: height } = this.canvas.parentElement!;
        return width > 0 && height > 0 ? width / height : 1;
    }

    private resize(): void {
        const { clientWidth: width, clientHeight: height } = this.canvas.parentElement!;
        if (width > 0 && height > 0) {
            this.renderer.setSize(width, height, false);
            this.perspective.aspect = width / height;
            this.perspective.updateProjectionMatrix();
            const half = (this.span * 0.6) / Math.min(1, this.aspect());
            this.above.left = (-half * width) / height;
            this.above.right = (half * width) / height;
            this.above.top = half;
            this.above.bottom = -half;
            this.above.updateProjectionMatrix();
            this.draw();
        }
    }

    draw = (): void => {
        if (!this.frame) {
            this.frame = requestAnimationFrame(this.drawNow);
        }
    };
    private drawNow = (): void => {
        this.frame = 0;
        if (this.pace.busy()) {
            this.draw();
            return;
        }
        const began = performance.now();
        this.renderer.render(this.scene, this.camera);
        this.pace.drew(began);
    };

    dispose(): void {
        cancelAnimationFrame(this.frame);
        this.sizes.disconnect();
        this.controls.dispose();
        this.grid?.dispose();
        disposeAll(this.world);
        disposeAll(this.overlay);
        this.renderer.dispose();
        this.renderer.forceContextLoss(); // browsers have few contexts and free them late
    }
}

/** Frees the GPU resources of `root` and its descendants. */
export function disposeAll(root: THREE.Object3D): void {
    root.traverse((one) => {
        const mesh = one as Partial<THREE.Mesh>;
        mesh.geometry?.dispose();
        for (const material of Array.isArray(mesh.material) ? mesh.material : mesh.material ? [mesh.material] : []) {
            (material as THREE.MeshBasicMaterial).map?.dispose();
            material.dispose();
        }
        (one as Partial<THREE.InstancedMesh>).dispose?.();
    });
}
