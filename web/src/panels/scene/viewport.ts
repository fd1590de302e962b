// The three.js scene: camera, light, grid. Renders only after changes. z points up.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';

export type Camera = 'free' | 'top';

function cssColour(name: string, fallback: string): THREE.Color {
    const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    try {
        return new THREE.Color(value || fallback);
    } catch {
        return new THREE.Color(fallback);
    }
}

export class Viewport {
    readonly world = new THREE.Group();
    private scene = new THREE.Scene();
    private renderer: THREE.WebGLRenderer;
    private perspective = new THREE.PerspectiveCamera(50, 1, 0.01, 20000);
    private above = new THREE.OrthographicCamera(-10, 10, 10, -10, -20000, 20000);
    private controls: OrbitControls;
    private mode: Camera = 'free';
    private grid: THREE.GridHelper | null = null;
    private frame = 0;
    private sizes: ResizeObserver;
    private followed = new THREE.Vector3();
    private following = false;
    private span = 10;

    /** Needs a canvas of its own: dispose() ends its WebGL context. */
    constructor(private canvas: HTMLCanvasElement) {
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
        this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
        const sun = new THREE.DirectionalLight(0xffffff, 1.8);
        sun.position.set(3, -5, 10);
        this.scene.add(new THREE.HemisphereLight(0xffffff, 0x888888, 1.6), sun, this.world);
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
        this.grid = new THREE.GridHelper(step * lines, lines, cssColour('--scene-axis', '#9aa0a8'), cssColour('--scene-grid', '#d8dce0'));
        this.grid.rotation.x = Math.PI / 2;
        this.grid.position.set(Math.round(this.controls.target.x / step) * step, Math.round(this.controls.target.y / step) * step, 0);
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
        const distance = (this.span / 2 / Math.tan((this.perspective.fov * Math.PI) / 360) / this.aspectLimit()) * 0.95;
        this.perspective.position.copy(centre).add(new THREE.Vector3(-0.55, -0.65, 0.52).normalize().multiplyScalar(distance));
        this.perspective.near = distance / 1000;
        this.perspective.far = distance * 100;
        this.above.position.set(centre.x, centre.y, centre.z + 1000);
        this.above.zoom = 1;
        this.controls.target.copy(centre);
        this.updateGrid(this.span);
        this.resize();
        this.controls.update();
    }

    /** Moves the camera with `position`, keeping direction and distance; null: stop following. */
    follow(position: THREE.Vector3 | null): void {
        if (position && this.following) {
            const step = position.clone().sub(this.followed);
            this.camera.position.add(step);
            this.controls.target.add(step);
            this.controls.update();
        } else if (position) {
            const step = position.clone().sub(this.controls.target);
            this.camera.position.add(step);
            this.controls.target.copy(position);
            this.controls.update();
        }
        this.following = position !== null;
        if (position) {
            this.followed.copy(position);
        }
    }

    /** Width divided by height, at most 1. */
    private aspectLimit(): number {
        const { clientWidth: width, clientHeight: height } = this.canvas.parentElement!;
        return width > 0 && height > 0 ? Math.min(1, width / height) : 1;
    }

    private resize(): void {
        const { clientWidth: width, clientHeight: height } = this.canvas.parentElement!;
        if (width > 0 && height > 0) {
            this.renderer.setSize(width, height, false);
            this.perspective.aspect = width / height;
            this.perspective.updateProjectionMatrix();
            const half = (this.span * 0.6) / this.aspectLimit();
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
            this.frame = requestAnimationFrame(() => {
                this.frame = 0;
                this.renderer.render(this.scene, this.camera);
            });
        }
    };

    dispose(): void {
        cancelAnimationFrame(this.frame);
        this.sizes.disconnect();
        this.controls.dispose();
        this.grid?.dispose();
        disposeAll(this.world);
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
