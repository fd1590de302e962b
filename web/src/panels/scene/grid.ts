// The ground: a grid without an end, whose lines fade with the distance. A plane that moves with the camera, drawn by a
// shader; its lines stay where they are in the world.
import * as THREE from 'three';

const LINES = 4; // at least this many steps to what the camera looks at
const REACH = 14; // of that distance: the lines end there

const VERTEX = `
uniform float reach;
varying vec2 at;
void main() {
    at = position.xy * reach;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;
// lines are a pixel wide; where they come closer than a few pixels they vanish
const FRAGMENT = `
uniform vec3 fine, coarse;
uniform float width, blend, reach;
uniform vec2 focus;
varying vec2 at;
float lines(float apart) {
    vec2 p = at / apart;
    vec2 pixel = fwidth(p);
    vec2 near = 1.0 - min(abs(fract(p - 0.5) - 0.5) / pixel, 1.0);
    near *= 1.0 - smoothstep(0.15, 0.5, pixel);
    return max(near.x, near.y);
}
void main() {
    float coarser = lines(width * 10.0);
    float seen = 1.0 - smoothstep(0.1, 0.9, length(at - focus) / reach);
    float alpha = max(coarser, lines(width) * blend) * seen;
    if (alpha < 0.01) {
        discard;
    }
    gl_FragColor = vec4(mix(fine, coarse, coarser), alpha);
    #include <colorspace_fragment>
}`;

export class Grid {
    readonly mesh: THREE.Mesh<THREE.PlaneGeometry, THREE.ShaderMaterial>;

    constructor() {
        const material = new THREE.ShaderMaterial({
            uniforms: {
                fine: { value: new THREE.Color() },
                coarse: { value: new THREE.Color() },
                width: { value: 1 },
                blend: { value: 1 },
                reach: { value: 1 },
                focus: { value: new THREE.Vector2() },
            },
            vertexShader: VERTEX,
            fragmentShader: FRAGMENT,
            transparent: true,
            depthWrite: false,
            side: THREE.DoubleSide,
        });
        this.mesh = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), material);
        this.mesh.frustumCulled = false;
        this.mesh.renderOrder = -2; // a map on the ground covers it
    }

    setColours(fine: THREE.Color, coarse: THREE.Color): void {
        this.mesh.material.uniforms.fine!.value = fine;
        this.mesh.material.uniforms.coarse!.value = coarse;
    }

    /** `distance`: of the camera from `target`, which it looks at; `ground`: the height of the grid. */
    place(target: THREE.Vector3, distance: number, ground: number): void {
        const decade = Math.log10(Math.max(distance, 1e-3) / LINES);
        const width = 10 ** Math.floor(decade);
        const snapped = (value: number) => Math.round(value / (10 * width)) * 10 * width; // the shader counts from there
        const reach = distance * REACH;
        const { uniforms } = this.mesh.material;
        uniforms.width!.value = width;
        uniforms.blend!.value = 1 - (decade - Math.floor(decade)) ** 2;
        uniforms.reach!.value = reach;
        this.mesh.position.set(snapped(target.x), snapped(target.y), ground);
        this.mesh.scale.set(reach, reach, 1);
        (uniforms.focus!.value as THREE.Vector2).set(target.x - this.mesh.position.x, target.y - this.mesh.position.y);
    }

    dispose(): void {
        this.mesh.geometry.dispose();
        this.mesh.material.dispose();
    }
}
