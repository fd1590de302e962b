// Atoms as balls, bonds as sticks, the box of the simulation. Its one rule: built anew only when what there is changes; a frame only moves it.
import * as THREE from 'three';
import { colourOfNumber, elementColour, elementRadius } from './elements';
import { disposeAll } from './stage';

export type Triple = readonly [number, number, number] | readonly number[];
export interface NanoverFrame {
    'particle.positions'?: Triple[];
    'particle.elements'?: number[];
    'particle.residues'?: number[];
    'bond.pairs'?: (readonly number[])[];
    'residue.names'?: string[];
    'system.box.vectors'?: Triple[];
    [key: string]: unknown;
}
export type Paint = 'element' | 'residue';

const ROUND = 6000; // atoms until which balls are round and bonds are sticks

function place(mesh: THREE.InstancedMesh, index: number, from: THREE.Vector3, to: THREE.Vector3, thickness: number): void {
    const way = to.clone().sub(from);
    const length = Math.max(way.length(), 1e-6);
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), way.divideScalar(length));
    mesh.setMatrixAt(index, new THREE.Matrix4().compose(from.clone().add(to).multiplyScalar(0.5), turn, new THREE.Vector3(thickness, length, thickness)));
}

export class Molecule {
    readonly group = new THREE.Group();
    /** The atoms alone, without the box. */
    readonly atoms = new THREE.Group();
    private balls: THREE.InstancedMesh | null = null;
    private sticks: THREE.InstancedMesh | null = null;
    private box: THREE.LineSegments | null = null;
    private radii: number[] = [];
    private bonds: (readonly number[])[] = [];

    constructor(private paint: Paint = 'element') {
        this.group.add(this.atoms);
    }

    get count(): number {
        return this.balls?.count ?? 0;
    }
    get bondCount(): number {
        return this.bonds.length;
    }

    /** `what`: all that is known at this time; `anew`: something but positions has changed. */
    show(what: NanoverFrame, anew: boolean): void {
        const positions = what['particle.positions'] ?? [];
        if (anew || positions.length !== this.count) {
            this.build(what, positions.length);
        }
        this.move(positions);
        this.showBox(what['system.box.vectors']);
    }

    setPaint(paint: Paint, what: NanoverFrame): void {
        this.paint = paint;
        this.colour(what);
    }

    private build(what: NanoverFrame, n: number): void {
        for (const old of [this.balls, this.sticks]) {
            if (old) {
                old.removeFromParent();
                disposeAll(old);
            }
        }
        const elements = what['particle.elements'] ?? [];
        const fine = n <= ROUND;
        this.radii = Array.from({ length: n }, (_, i) => elementRadius(elements[i] ?? 0));
        this.bonds = (what['bond.pairs'] ?? []).filter((b) => (b[0] ?? n) < n && (b[1] ?? n) < n);
        this.balls = new THREE.InstancedMesh(new THREE.IcosahedronGeometry(1, fine ? 3 : 1), new THREE.MeshStandardMaterial({ roughness: 0.55 }), n);
        this.sticks = new THREE.InstancedMesh(new THREE.CylinderGeometry(1, 1, 1, fine ? 10 : 4, 1, true), new THREE.MeshStandardMaterial({ roughness: 0.7, color: '#8a9098' }), this.bonds.length);
        this.balls.frustumCulled = this.sticks.frustumCulled = false;
        this.atoms.add(this.balls, this.sticks);
        this.colour(what);
    }

    private colour(what: NanoverFrame): void {
        const [elements, residues] = [what['particle.elements'] ?? [], what['particle.residues'] ?? []];
        for (let i = 0; i < this.count; i++) {
            this.balls!.setColorAt(i, new THREE.Color(this.paint === 'residue' ? colourOfNumber(residues[i] ?? 0) : elementColour(elements[i] ?? 0)));
        }
        if (this.balls?.instanceColor) {
            this.balls.instanceColor.needsUpdate = true;
        }
    }

    private move(positions: Triple[]): void {
        if (!this.balls || !this.sticks) {
            return;
        }
        const matrix = new THREE.Matrix4();
        const at = positions.map((p) => new THREE.Vector3(p[0], p[1], p[2]));
        at.forEach((p, i) => {
            const r = this.radii[i] ?? 0.06;
            this.balls!.setMatrixAt(i, matrix.makeScale(r, r, r).setPosition(p));
        });
        this.bonds.forEach((bond, i) => place(this.sticks!, i, at[bond[0]!]!, at[bond[1]!]!, 0.018));
        this.balls.boundingBox = this.sticks.boundingBox = null; // "show all" asks where they are now
        this.balls.instanceMatrix.needsUpdate = this.sticks.instanceMatrix.needsUpdate = true;
    }

    private showBox(vectors: Triple[] | undefined): void {
        if (this.box) {
            this.box.removeFromParent();
            disposeAll(this.box);
            this.box = null;
        }
        if (vectors?.length === 3) {
            const [a, b, c] = vectors.map((v) => new THREE.Vector3(v[0], v[1], v[2])) as [THREE.Vector3, THREE.Vector3, THREE.Vector3];
            const corner = (i: number) => new THREE.Vector3().addScaledVector(a, i & 1).addScaledVector(b, (i >> 1) & 1).addScaledVector(c, i >> 2);
            const points = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((i) => [1, 2, 4].filter((bit) => !(i & bit)).flatMap((bit) => [corner(i), corner(i | bit)]));
            this.box = new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(points), new THREE.LineBasicMaterial({ color: '#7d8590' }));
            this.group.add(this.box);
        }
    }
}
