// A NanoVer simulation: the server returns the merged state at the start of a time window; later frames are merged
// here.
import * as THREE from 'three';
import { get, getRows } from '../../api';
import type { Range } from '../../playback';
import { count } from '../../format';
import { sceneText } from '../../text/panels';
import { RowCursor, TimeWindows } from '../time_windows';
import { matrixOf, type Quaternion, type Vector } from './frames';
import { Molecule, type NanoverFrame, type ColourBy, type Style } from './molecule';
import type { Described, FollowTarget, SceneOptions, SceneTopic, Source, Stat } from './source';
import { elementName } from './elements';
import { numberText } from './values';
import { disposeAll } from './viewport';

interface Row {
    topic: string;
    log_time: string; // ns; '' for the merged state at the window's start
    data: { frame?: NanoverFrame; poses?: { position: Vector; orientation: Quaternion }[] };
}

/** Keys that change the topology, not only positions. */
const TOPOLOGY = /^(particle\.(?!positions)|bond\.|residue\.|chain\.)/;

async function* rowsOf(id: string, start: bigint, end: bigint, signal: AbortSignal): AsyncGenerator<Row> {
    const state = await get<{ frame: NanoverFrame }>(`/recordings/${id}/nanover/frame`, { at: start }, signal);
    yield { topic: 'frame', log_time: '', data: { frame: state.frame } };
    yield* getRows<Row>(
        `/recordings/${id}/as/scene.ndjson`,
        { view: 'foxglove', raw: 'true', topic: ['frame', '/view/avatars'], start, end, time_format: 'nanoseconds' },
        signal,
    );
}

export class NanoverSource implements Source {
    readonly group = new THREE.Group();
    readonly centre: THREE.Object3D;
    private molecule: Molecule;
    private avatars = new THREE.Group();
    private cursor: RowCursor<Row>;
    private state: NanoverFrame = {};
    readonly frames = null;
    readonly spans = [];

    constructor(
        id: string,
        bounds: () => Range,
        width_ns: bigint,
        { colourBy, style }: { colourBy: ColourBy; style: Style },
        changed: () => void,
    ) {
        this.molecule = new Molecule(colourBy, style);
        this.centre = this.molecule.atoms;
        this.group.add(this.molecule.group, this.avatars);
        this.cursor = new RowCursor(
            new TimeWindows<Row>((start, end, signal) => rowsOf(id, start, end, signal), bounds, width_ns, changed),
            (row, window) => (row.log_time === '' ? window.start : BigInt(row.log_time)),
        );
    }

    get hasChains(): boolean {
        return this.molecule.hasChains;
    }
    setStyle(style: Style): void {
        this.molecule.setStyle(style, this.state);
    }
    setColourBy(colourBy: ColourBy): void {
        this.molecule.setColourBy(colourBy, this.state);
    }

    show(time_ns: bigint): boolean {
        return this.cursor.moveTo(time_ns, ({ window, from, upto, reset }) => {
            if (reset) {
                this.state = {};
                this.showAvatars([]); // the window begins with the avatars present
            }
            let rebuild = reset;
            let moved = reset;
            for (let i = from; i < upto; i++) {
                const { frame, poses } = window.rows[i]!.data;
                if (frame) {
                    const restarted = frame['frame.index'] === 0 && i > 0;
                    rebuild ||= restarted || Object.keys(frame).some((key) => TOPOLOGY.test(key));
                    this.state = restarted ? { ...frame } : { ...this.state, ...frame };
                    moved = true;
                } else if (poses) {
                    this.showAvatars(poses);
                }
            }
            if (moved) {
                this.molecule.show(this.state, rebuild);
            }
        });
    }

    private showAvatars(poses: { position: Vector; orientation: Quaternion }[]): void {
        disposeAll(this.avatars);
        this.avatars.clear();
        for (const pose of poses) {
            const cone = new THREE.Mesh(
                new THREE.ConeGeometry(0.12, 0.35, 12).rotateX(Math.PI / 2),
                new THREE.MeshStandardMaterial({ color: '#d97706' }),
            );
            cone.applyMatrix4(matrixOf(pose.position, pose.orientation));
            this.avatars.add(cone);
        }
    }

    topics(): SceneTopic[] {
        return [['atoms', sceneText.atoms] as const, ['avatars', sceneText.avatars] as const].map(([name, title]) => ({
            name,
            title,
            type: '',
            group: sceneText.parts,
            points: null,
        }));
    }
    setOptions({ hidden }: SceneOptions): void {
        this.molecule.group.visible = !hidden.has('atoms'); // of a few MB at most
        this.avatars.visible = !hidden.has('avatars');
    }
    followTargets(): FollowTarget[] {
        return [];
    }
    robot(): string | null {
        return null;
    }
    placeOf(): null {
        return null;
    }
    identify({ object, instanceId }: THREE.Intersection): string | null {
        const atom = instanceId === undefined ? null : this.molecule.atomOf(object, instanceId);
        return atom === null ? null : String(atom);
    }
    describe(id: string): Described | null {
        const atom = Number(id);
        const frame = this.state;
        const at = frame['particle.positions']?.[atom];
        const text = (key: string, i: number | undefined) => {
            const list = frame[key];
            const value: unknown = i !== undefined && Array.isArray(list) ? list[i] : undefined;
            return value === undefined || value === null ? '' : String(value as string | number);
        };
        const residue = frame['particle.residues']?.[atom];
        const values: [string, string][] = [
            [sceneText.element, elementName(frame['particle.elements']?.[atom] ?? 0)],
            [sceneText.atomName, text('particle.names', atom)],
            [
                sceneText.residue,
                [text('residue.names', residue), text('residue.ids', residue)].filter(Boolean).join(' '),
            ],
            [sceneText.position, at ? Array.from(at, numberText).join(', ') + ' nm' : ''],
        ];
        return at
            ? { title: sceneText.atom(atom), topic: null, values: values.filter(([, value]) => value), follow: null }
            : null;
    }
    stats(): Stat[] {
        return [
            { title: sceneText.atoms, value: count(this.molecule.count) },
            { title: sceneText.bonds, value: count(this.molecule.bondCount) },
            { title: sceneText.residues, value: count(this.state['residue.names']?.length ?? 0) },
            { title: sceneText.avatars, value: count(this.avatars.children.length) },
        ];
    }
    stop(): void {
        this.cursor.stop();
    }
}
