// The three.js scene: camera, light, grid. Renders only after changes. z points up.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Grid } from './grid';
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
const FAR_MAX = 1e9; // m: of a camera in a link
const PICK_PART = 0.006; // of the distance: how far from the pointer a point or a line is hit

function isShown(object: THREE.Object3D | null): boolean {
    return object === null || (object.visible && isShown(object.parent));
}
/** The direction in which what is there looks, about the vertical. */
const headingOf = (place: THREE.Matrix4): number => Math.atan2(place.elements[1]!, place.elements[0]!);

export class Viewport {
    readonly world = new THREE.Group();
    readonly overlay = new THREE.Group(); // what belongs to no topic: not fitted, not measured
    private scene = new THREE.Scene();
    private renderer: THREE.WebGLRenderer;
    private perspective = new THREE.PerspectiveCamera(50, 1, 0.01, 20000);
    private above = new THREE.OrthographicCamera(-10, 10, 10, -10, -20000, 20000);
    private controls: OrbitControls;
    private mode: Camera = 'free';
    private grid = new Grid();
    private frame = 0;
    private pace: Pace;
    private sizes: ResizeObserver;
    private followed = new THREE.Vector3();
    private following = false;
    private heading: number | null = null; // of what is followed, if the camera turns with it
    private readonly up = new THREE.Vector3(0, 0, 1);
    private span = 10; // of what is seen from above at zoom 1
    private extent = 10; // of all that is there
    private ground = 0;
    private watched: (() => void) | null = null; // called when the user has moved the camera
    private byUser = false;

    /** Needs a canvas of its own: dispose() ends its WebGL context. */
    constructor(private canvas: HTMLCanvasElement) {
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
        this.pace = new Pace(this.renderer.getContext() as WebGL2RenderingContext);
        this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
        const sun = new THREE.DirectionalLight(0xffffff, 1.8);
        sun.position.set(3, -5, 10);
        this.scene.add(
            new THREE.HemisphereLight(0xffffff, 0x888888, 1.6),
            sun,
            this.world,
            this.overlay,
            this.grid.mesh,
        );
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
        this.canvas.onkeydown = () => (this.byUser = true); // before the controls get it
        controls.listenToKeyEvents(this.canvas); // arrow keys pan, with Ctrl or Shift they rotate
        controls.addEventListener('start', () => (this.byUser = true));
        controls.addEventListener('change', () => {
            this.draw();
            void (this.byUser && this.watched?.());
        });
        return controls;
    }

    private get camera(): THREE.PerspectiveCamera | THREE.OrthographicCamera {
        return this.mode === 'top' ? this.above : this.perspective;
    }

    /** Applies the colours of the page's theme. */
    applyTheme = (): void => {
        this.scene.background = cssColour('--scene-bg', '#f4f5f6');
        this.grid.setColours(cssColour('--scene-grid', '#d8dce0'), cssColour('--scene-axis', '#9aa0a8'));
        this.draw();
    };

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
        this.span = this.extent = Math.max(box.getSize(new THREE.Vector3()).length(), 0.5);
        const back = new THREE.Vector3(...SIDES.free).normalize();
        const distance = Math.max(this.distanceOf(box, centre, back), this.span / 2) * MARGIN;
        this.perspective.position.copy(centre).addScaledVector(back, distance);
        this.above.position.set(centre.x, centre.y, centre.z + 1000);
        this.above.zoom = 1;
        this.controls.target.copy(centre);
        this.byUser = false;
        this.resize();
        this.controls.update();
    }

    /** Looks at what is at `place` from behind, `size` metres large, and follows it. `box`: all that is there. */
    behind(place: THREE.Matrix4, size: number, box: THREE.Box3): void {
        const at = new THREE.Vector3().setFromMatrixPosition(place);
        const heading = headingOf(place);
        const ahead = new THREE.Vector3(Math.cos(heading), Math.sin(heading), 0);
        this.span = size * 8;
        this.extent = Math.max(box.getSize(new THREE.Vector3()).length(), this.span);
        this.controls.target.copy(at).addScaledVector(ahead, size);
        this.perspective.position
            .copy(at)
            .addScaledVector(ahead, -2.2 * size)
            .addScaledVector(this.up, 1.3 * size);
        this.above.position.set(at.x, at.y, at.z + 1000);
        this.above.zoom = 1;
        this.byUser = false;
        this.following = true;
        this.followed.copy(at);
        this.heading = null;
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
        this.byUser = false;
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
        const heading = place && turns ? headingOf(place) : null;
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
        if (position) {
            const byUser = this.byUser;
            this.byUser = false; // this movement is not
            this.controls.update();
            this.byUser = byUser;
        }
    }

    setGrid(shown: boolean): void {
        this.grid.mesh.visible = shown;
        this.draw();
    }
    setGround(height: number): void {
        this.ground = height;
    }

    /** `moved`: the user has moved the camera. Movements with what is followed do not count. */
    watch(moved: () => void): void {
        this.watched = moved;
    }
    /**
     * The camera in numbers: where it is and what it looks at, from above the middle and the height of what is seen; both
     * from what is followed, and turned with it if the camera turns.
     */
    view(): number[] {
        const { target } = this.controls;
        const seen = (this.above.top - this.above.bottom) / this.above.zoom;
        const local = (point: THREE.Vector3) =>
            this.following
                ? point
                      .clone()
                      .sub(this.followed)
                      .applyAxisAngle(this.up, -(this.heading ?? 0))
                : point.clone();
        const at = local(target);
        return this.mode === 'top'
            ? [at.x, at.y, seen]
            : [...local(this.perspective.position).toArray(), ...at.toArray()];
    }
    /** Numbers of view(), at what is followed now; false: they are of another kind of camera. */
    setView(numbers: number[]): boolean {
        if (numbers.length !== (this.mode === 'top' ? 3 : 6) || !numbers.every((one) => Math.abs(one) < FAR_MAX)) {
            return false;
        }
        const world = (x: number, y: number, z: number) => {
            const point = new THREE.Vector3(x, y, z);
            return this.following ? point.applyAxisAngle(this.up, this.heading ?? 0).add(this.followed) : point;
        };
        const [a, b, c, d, e, f] = numbers as [number, number, number, number, number, number];
        if (this.mode === 'top') {
            this.controls.target.copy(world(a, b, this.controls.target.z));
            this.above.position.set(this.controls.target.x, this.controls.target.y, this.above.position.z);
            this.above.zoom = (this.above.top - this.above.bottom) / Math.max(c, 1e-6);
            this.above.updateProjectionMatrix();
        } else {
            this.perspective.position.copy(world(a, b, c));
            this.controls.target.copy(world(d, e, f));
        }
        this.byUser = false;
        this.controls.update();
        this.draw();
        return true;
    }
    /** From now on the camera is where it is beside what is at `place`, which it follows. */
    followFrom(place: THREE.Matrix4, turns: boolean): void {
        this.following = true;
        this.followed.setFromMatrixPosition(place);
        this.heading = turns ? headingOf(place) : null;
    }

    /** The point of the world that is drawn there, else that of the ground; null: none. */
    pick(clientX: number, clientY: number): THREE.Vector3 | null {
        const { hits, ray } = this.hit(clientX, clientY);
        const ground = new THREE.Plane(this.up, -this.ground);
        return hits[0]?.point.clone() ?? ray.ray.intersectPlane(ground, new THREE.Vector3());
    }

    /** What is drawn there, the nearest first. */
    hit(clientX: number, clientY: number): { hits: THREE.Intersection[]; ray: THREE.Raycaster } {
        const box = this.canvas.getBoundingClientRect();
        const ray = new THREE.Raycaster();
        this.camera.updateMatrixWorld(); // it may not have been drawn with yet
        ray.setFromCamera(
            new THREE.Vector2(((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2),
            this.camera,
        );
        const reach = this.distance() * PICK_PART;
        ray.params.Points.threshold = ray.params.Line.threshold = reach;
        const hits = ray.intersectObject(this.world, true).filter((hit) => isShown(hit.object));
        const nearest = hits[0]?.distance ?? 0;
        // of those about as near, the one closest to the pointer
        const close = hits.filter((hit) => hit.distance - nearest < 4 * reach);
        close.sort((a, b) => (a.distanceToRay ?? 0) - (b.distanceToRay ?? 0));
        return { hits: [...close, ...hits.slice(close.length)], ray };
    }

    /** How far what is in the middle of the view is, in metres; from above, as if the camera were there. */
    private distance(): number {
        return this.mode === 'top'
            ? (this.above.top - this.above.bottom) / this.above.zoom
            : this.camera.position.distanceTo(this.controls.target);
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
            this.canvas.dataset.pending = ''; // what is seen is not the last state yet
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
        const distance = this.distance();
        this.grid.place(this.controls.target, distance, this.ground);
        this.perspective.near = distance / 500;
        this.perspective.far = distance * 200 + this.extent * 4;
        this.perspective.updateProjectionMatrix();
        this.renderer.render(this.scene, this.camera);
        this.pace.drew(began);
        delete this.canvas.dataset.pending;
    };

    dispose(): void {
        cancelAnimationFrame(this.frame);
        this.sizes.disconnect();
        this.controls.dispose();
        this.grid.dispose();
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
