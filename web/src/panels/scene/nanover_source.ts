// A simulation of NanoVer: what all messages up to a window's start add up to comes from the server, the frames after it are added here.
import * as THREE from 'three';
import { get, getRows } from '../../api';
import type { Range } from '../../clock';
import { count } from '../../format';
import { text } from '../../text';
import { Walk, Windows } from '../windows';
import { matrixOf, type Quaternion, type Vector } from './frames';
import { Molecule, type NanoverFrame, type Paint } from './molecule';
import type { Facts, Followable, Source } from './source';
import { disposeAll } from './stage';

interface Row {
    topic: string;
    log_time: string; // ns; '' for the whole state at the window's start
    data: { frame?: NanoverFrame; poses?: { position: Vector; orientation: Quaternion }[] };
}

/** Keys that change what there is, not only where it is. */
const MAKES = /^(particle\.(?!positions)|bond\.|residue\.|chain\.)/;

async function* rowsOf(id: string, start: bigint, end: bigint, signal: AbortSignal): AsyncGenerator<Row> {
    const whole = await get<{ frame: NanoverFrame }>(`/recordings/${id}/nanover/frame`, { at: start }, signal);
    yield { topic: 'frame', log_time: '', data: { frame: whole.frame } };
    yield* getRows<Row>(`/recordings/${id}/as/scene.ndjson`, { view: 'foxglove', topic: ['frame', '/view/avatars'], start, end, time_format: 'nanoseconds' }, signal);
}

export class NanoverSource implements Source {
    readonly group = new THREE.Group();
    readonly centre: THREE.Object3D;
    private molecule: Molecule;
    private visitors = new THREE.Group();
    private walk: Walk<Row>;
    private state: NanoverFrame = {};

    constructor(id: string, bounds: Range, width_ns: bigint, paint: Paint, changed: () => void) {
        this.molecule = new Molecule(paint);
        this.centre = this.molecule.atoms;
        this.group.add(this.molecule.group, this.visitors);
        this.walk = new Walk(new Windows<Row>((start, end, signal) => rowsOf(id, start, end, signal), bounds, width_ns, changed), (row, window) => (row.log_time === '' ? window.start : BigInt(row.log_time)));
    }

    setPaint(paint: Paint): void {
        this.molecule.setPaint(paint, this.state);
    }

    show(time_ns: bigint): boolean {
        return this.walk.to(time_ns, ({ window, from, upto, fresh }) => {
            if (fresh) {
                this.state = {};
                this.showVisitors([]); // the window begins with who is there
            }
            let anew = fresh;
            let moved = fresh;
            for (let i = from; i < upto; i++) {
                const { frame, poses } = window.rows[i]!.data;
                if (frame) {
                    const reset = frame['frame.index'] === 0 && i > 0;
                    anew ||= reset || Object.keys(frame).some((key) => MAKES.test(key));
                    this.state = reset ? { ...frame } : { ...this.state, ...frame };
                    moved = true;
                } else if (poses) {
                    this.showVisitors(poses);
                }
            }
            if (moved) {
                this.molecule.show(this.state, anew);
            }
        });
    }

    private showVisitors(poses: { position: Vector; orientation: Quaternion }[]): void {
        disposeAll(this.visitors);
        this.visitors.clear();
        for (const pose of poses) {
            const cone = new THREE.Mesh(new THREE.ConeGeometry(0.12, 0.35, 12).rotateX(Math.PI / 2), new THREE.MeshStandardMaterial({ color: '#d97706' }));
            cone.applyMatrix4(matrixOf(pose.position, pose.orientation));
            this.visitors.add(cone);
        }
    }

    followables(): Followable[] {
        return [];
    }
    placeOf(): THREE.Vector3 | null {
        return null;
    }
    facts(): Facts[] {
        return [
            { title: text.scene.atoms, value: count(this.molecule.count) },
            { title: text.scene.bonds, value: count(this.molecule.bondCount) },
            { title: text.scene.residues, value: count(this.state['residue.names']?.length ?? 0) },
            { title: text.scene.visitors, value: count(this.visitors.children.length) },
        ];
    }
    stop(): void {
        this.walk.stop();
    }
}
