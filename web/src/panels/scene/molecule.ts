// Atoms as spheres, bonds as sticks, and the simulation box. Rebuilt only when the topology changes; a frame otherwise
// only moves the atoms.
import * as THREE from 'three';
import { colourOfNumber, elementColour, elementRadius } from './elements';
import { disposeAll } from './viewport';

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
export type ColourBy = 'element' | 'residue';

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

    constructor(private colourBy: ColourBy = 'element') {
        this.group.add(this.atoms);
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
        this.radii = Array.from({ length: n }, (_, i) => elementRadius(elements[i] ?? 0));
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
        this.bonds.forEach((bond, i) => placeStick(this.sticks!, i, at[bond[0]!]!, at[bond[1]!]!, 0.018));
        this.spheres.boundingBox = this.sticks.boundingBox = null; // outdated: "reset zoom" computes them again
        this.spheres.instanceMatrix.needsUpdate = this.sticks.instanceMatrix.needsUpdate = true;
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
