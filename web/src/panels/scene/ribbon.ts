// Proteins as ribbons: a flat band along the carbon atoms CA of each chain, turned towards the oxygen of each residue.
import * as THREE from 'three';
import { colourOfNumber } from './elements';
import type { NanoverFrame } from './molecule';

const APART = 0.5; // nm: CA that are further apart are not bonded
const LEAST = 3; // residues of a chain
const STEPS = 6; // of a residue
const HALF = [0.14, 0.03] as const; // nm: of the band's width and thickness
const CORNERS = 8; // of its section

interface Residue {
    number: number;
    ca: number; // indices of atoms
    o: number | null;
}
/** The chains of a frame: residues that have a CA, bonded one to the next. */
export type Chains = Residue[][];

export function chainsOf(frame: NanoverFrame): Chains {
    const names = frame['particle.names'];
    const [residues, elements, at] = [
        frame['particle.residues'],
        frame['particle.elements'],
        frame['particle.positions'],
    ];
    const chainOf = frame['residue.chains'];
    if (!names || !residues || !at) {
        return [];
    }
    const found = new Map<number, Residue>();
    names.forEach((name, i) => {
        if (name === 'CA' && (elements?.[i] ?? 6) === 6) {
            found.set(residues[i]!, { number: residues[i]!, ca: i, o: null });
        }
    });
    names.forEach((name, i) => {
        const residue = name === 'O' ? found.get(residues[i]!) : undefined;
        void (residue && (residue.o = i));
    });
    const chains: Chains = [];
    let last: Residue | null = null;
    for (const residue of [...found.values()].sort((a, b) => a.number - b.number)) {
        const [a, b] = [last && at[last.ca], at[residue.ca]];
        const near = a && b && Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!) < APART;
        if (!last || !near || chainOf?.[last.number] !== chainOf?.[residue.number]) {
            chains.push([]);
        }
        chains[chains.length - 1]!.push(residue);
        last = residue;
    }
    return chains.filter((chain) => chain.length >= LEAST);
}

type Point = (atom: number) => THREE.Vector3;

/** For each residue, the direction of the band's width; neighbours do not turn over. */
function sidesOf(chain: Residue[], at: Point): THREE.Vector3[] {
    const sides: THREE.Vector3[] = [];
    chain.forEach((residue, i) => {
        const here = at(residue.ca);
        const [before, after] = [at(chain[Math.max(i - 1, 0)]!.ca), at(chain[Math.min(i + 1, chain.length - 1)]!.ca)];
        const along = after.clone().sub(before).normalize();
        const side =
            residue.o === null
                ? along.clone().cross(before.clone().add(after).addScaledVector(here, -2))
                : at(residue.o).sub(here);
        side.addScaledVector(along, -side.dot(along));
        const last = sides[i - 1];
        if (side.lengthSq() < 1e-9) {
            side.copy(last ?? new THREE.Vector3(along.y, -along.x, 0));
        }
        void (last && side.dot(last) < 0 && side.negate());
        sides.push(side.normalize());
    });
    return sides;
}

/** The band of a chain, as rings of corners one after the other. */
function band(chain: Residue[], at: Point, colourOf: (residue: number) => string): THREE.BufferGeometry {
    const curve = new THREE.CatmullRomCurve3(chain.map(({ ca }) => at(ca)));
    const sides = sidesOf(chain, at);
    const count = (chain.length - 1) * STEPS;
    const [positions, colours, index]: [number[], number[], number[]] = [[], [], []];
    for (let k = 0; k <= count; k++) {
        const residue = Math.min(Math.floor(k / STEPS), chain.length - 2);
        const along = curve.getTangent(k / count);
        const side = sides[residue]!.clone().lerp(sides[residue + 1]!, k / STEPS - residue);
        side.addScaledVector(along, -side.dot(along)).normalize();
        const up = along.clone().cross(side);
        const middle = curve.getPoint(k / count);
        const { r, g, b } = new THREE.Color(colourOf(chain[Math.round(k / STEPS)]!.number));
        for (let c = 0; c < CORNERS; c++) {
            const angle = (2 * Math.PI * c) / CORNERS;
            const corner = middle
                .clone()
                .addScaledVector(side, HALF[0] * Math.cos(angle))
                .addScaledVector(up, HALF[1] * Math.sin(angle));
            positions.push(corner.x, corner.y, corner.z);
            colours.push(r, g, b);
            const [here, next] = [k * CORNERS + c, k * CORNERS + ((c + 1) % CORNERS)];
            void (k < count && index.push(here, next, here + CORNERS, next, next + CORNERS, here + CORNERS));
        }
    }
    const geometry = new THREE.BufferGeometry()
        .setAttribute('position', new THREE.Float32BufferAttribute(positions, 3))
        .setAttribute('color', new THREE.Float32BufferAttribute(colours, 3))
        .setIndex(index);
    geometry.computeVertexNormals();
    return geometry;
}

/** `byResidue`: each residue in its own colour, else each chain. */
export function ribbons(chains: Chains, positions: readonly (readonly number[])[], byResidue: boolean): THREE.Mesh[] {
    const at: Point = (atom) => new THREE.Vector3(...(positions[atom] as [number, number, number]));
    return chains
        .filter((chain) => chain.every(({ ca, o }) => positions[ca] && (o === null || positions[o])))
        .map(
            (chain, i) =>
                new THREE.Mesh(
                    band(chain, at, (residue) => colourOfNumber(byResidue ? residue : i)),
                    new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.6, side: THREE.DoubleSide }),
                ),
        );
}
