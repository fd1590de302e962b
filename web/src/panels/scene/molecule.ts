// Atoms as spheres, bonds as sticks, proteins as ribbons, and the simulation box. Rebuilt only when the topology changes;
// a frame otherwise only moves the atoms.
import * as THREE from 'three';
import { colourOfNumber, elementColour, elementRadius } from './elements';
import { chainsOf, ribbons, type Chains } from './ribbon';
import { disposeAll } from './viewport';

export type Triple = readonly [number, number, number] | readonly number[];
export interface NanoverFrame {
    'particle.positions'?: Triple[];
    'particle.elements'?: number[];
    'particle.residues'?: number[];
    'particle.names'?: string[];
    'bond.pairs'?: (readonly number[])[];
    'residue.names'?: string[];
    'residue.chains'?: number[];
    'system.box.vectors'?: Triple[];
    [key: string]: unknown;
}
export type ColourBy = 'element' | 'residue';
export const STYLES = ['balls', 'licorice', 'spheres', 'ribbon'] as const;
export type Style = (typeof STYLES)[number];
export const isStyle = (text: string | undefined): text is Style => STYLES.some((one) => one === text);
const WHOLE = 3; // radii of elements.ts in one of van der Waals
const [STICK, LICORICE] = [0.018, 0.032]; // nm

const DETAILED_MAX = 6000; // atoms: above it, spheres and sticks have fewer faces

function placeStick(
    mesh: THREE.InstancedMesh,
    index: number,
    from: THREE.Vector3,
    to: THREE.Vector3,
    thickness: number,
): void {
    const direction = to.clone().sub(from);
    const length = Math.max(direction.length(), 1e-6);
    const rotation = new THREE.Quaternion().setFromUnitVectors(
        new THREE.Vector3(0, 1, 0),
        direction.divideScalar(length),
    );
    mesh.setMatrixAt(
        index,
        new THREE.Matrix4().compose(
            from.clone().add(to).multiplyScalar(0.5),
            rotation,
            new THREE.Vector3(thickness, length, thickness),
        ),
    );
}

export class Molecule {
    readonly group = new THREE.Group();
    /** The atoms alone, without the box. */
    readonly atoms = new THREE.Group();
    private spheres: THREE.InstancedMesh | null = null;
    private sticks: THREE.InstancedMesh | null = null;
    private box: THREE.LineSegments | null = null;
    private radii: number[] = [];
    private bonds: (readonly number[])[] = [];
    private chains: Chains = [];
    private inRibbon: boolean[] = []; // by atom
    private bands = new THREE.Group();

    constructor(
        private colourBy: ColourBy = 'element',
        private style: Style = 'balls',
    ) {
        this.group.add(this.atoms);
        this.atoms.add(this.bands);
    }

    /** It has proteins, which a ribbon can show. */
    get hasChains(): boolean {
        return this.chains.length > 0;
    }
    /** The atom that an instance of an object is, or the first one of a bond; null: it is another object. */
    atomOf(object: THREE.Object3D, instance: number): number | null {
        return object === this.spheres ? instance : object === this.sticks ? (this.bonds[instance]?.[0] ?? null) : null;
    }
    setStyle(style: Style, frame: NanoverFrame): void {
        this.style = style;
        this.show(frame, true);
    }

    get count(): number {
        return this.spheres?.count ?? 0;
    }
    get bondCount(): number {
        return this.bonds.length;
    }

    /** `frame`: the merged state at this time. `rebuild`: more than the positions has changed. */
    show(frame: NanoverFrame, rebuild: boolean): void {
        const positions = frame['particle.positions'] ?? [];
        if (rebuild || positions.length !== this.count) {
            this.build(frame, positions.length);
        }
        this.move(positions);
        this.showBox(frame['system.box.vectors']);
    }

    setColourBy(colourBy: ColourBy, frame: NanoverFrame): void {
        this.colourBy = colourBy;
        this.colour(frame);
        this.showBands(frame['particle.positions'] ?? []);
    }

    private build(frame: NanoverFrame, n: number): void {
        for (const old of [this.spheres, this.sticks]) {
            if (old) {
                old.removeFromParent();
                disposeAll(old);
            }
        }
        const elements = frame['particle.elements'] ?? [];
        const fine = n <= DETAILED_MAX;
        this.chains = chainsOf(frame);
        const shown = new Set(this.style === 'ribbon' ? this.chains.flat().map((residue) => residue.number) : []);
        const residues = frame['particle.residues'] ?? [];
        this.inRibbon = Array.from({ length: n }, (_, i) => shown.has(residues[i] ?? -1));
        this.radii = Array.from({ length: n }, (_, i) =>
            this.inRibbon[i]
                ? 0
                : this.style === 'licorice'
                  ? LICORICE
                  : elementRadius(elements[i] ?? 0) * (this.style === 'spheres' ? WHOLE : 1),
        );
        this.bonds = (frame['bond.pairs'] ?? []).filter((b) => (b[0] ?? n) < n && (b[1] ?? n) < n);
        this.spheres = new THREE.InstancedMesh(
            new THREE.IcosahedronGeometry(1, fine ? 3 : 1),
            new THREE.MeshStandardMaterial({ roughness: 0.55 }),
            n,
        );
        this.sticks = new THREE.InstancedMesh(
            new THREE.CylinderGeometry(1, 1, 1, fine ? 10 : 4, 1, true),
            new THREE.MeshStandardMaterial({ roughness: 0.7, color: '#8a9098' }),
            this.bonds.length,
        );
        this.sticks.visible = this.style !== 'spheres';
        this.spheres.frustumCulled = this.sticks.frustumCulled = false;
        this.atoms.add(this.spheres, this.sticks);
        this.colour(frame);
    }

    private colour(frame: NanoverFrame): void {
        const [elements, residues] = [frame['particle.elements'] ?? [], frame['particle.residues'] ?? []];
        for (let i = 0; i < this.count; i++) {
            this.spheres!.setColorAt(
                i,
                new THREE.Color(
                    this.colourBy === 'residue' ? colourOfNumber(residues[i] ?? 0) : elementColour(elements[i] ?? 0),
                ),
            );
        }
        if (this.spheres?.instanceColor) {
            this.spheres.instanceColor.needsUpdate = true;
        }
    }

    private move(positions: Triple[]): void {
        if (!this.spheres || !this.sticks) {
            return;
        }
        const matrix = new THREE.Matrix4();
        const at = positions.map((p) => new THREE.Vector3(p[0], p[1], p[2]));
        at.forEach((p, i) => {
            const r = this.radii[i] ?? 0.06;
            this.spheres!.setMatrixAt(i, matrix.makeScale(r, r, r).setPosition(p));
        });
        const thickness = this.style === 'licorice' ? LICORICE : STICK;
        this.bonds.forEach((bond, i) => {
            const hidden = this.inRibbon[bond[0]!] && this.inRibbon[bond[1]!];
            placeStick(this.sticks!, i, at[bond[0]!]!, at[bond[1]!]!, hidden ? 0 : thickness);
        });
        // outdated: "reset zoom" and clicks compute them again
        for (const mesh of [this.spheres, this.sticks]) {
            mesh.boundingBox = mesh.boundingSphere = null;
        }
        this.showBands(positions);
        this.spheres.instanceMatrix.needsUpdate = this.sticks.instanceMatrix.needsUpdate = true;
    }

    private showBands(positions: Triple[]): void {
        disposeAll(this.bands);
        this.bands.clear();
        if (this.style === 'ribbon') {
            this.bands.add(...ribbons(this.chains, positions, this.colourBy === 'residue'));
        }
    }

    private showBox(vectors: Triple[] | undefined): void {
        if (this.box) {
            this.box.removeFromParent();
            disposeAll(this.box);
            this.box = null;
        }
        if (vectors?.length === 3) {
            const [a, b, c] = vectors.map((v) => new THREE.Vector3(v[0], v[1], v[2])) as [
                THREE.Vector3,
                THREE.Vector3,
                THREE.Vector3,
            ];
            const corner = (i: number) =>
                new THREE.Vector3()
                    .addScaledVector(a, i & 1)
                    .addScaledVector(b, (i >> 1) & 1)
                    .addScaledVector(c, i >> 2);
            const points = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((i) =>
                [1, 2, 4].filter((bit) => !(i & bit)).flatMap((bit) => [corner(i), corner(i | bit)]),
            );
            this.box = new THREE.LineSegments(
                new THREE.BufferGeometry().setFromPoints(points),
                new THREE.LineBasicMaterial({ color: '#7d8590' }),
            );
            this.group.add(this.box);
        }
    }
}
