// A scene from the server's view "foxglove": CARLA's actors, lights and ways, NanoVer's box and visitors. Every window of it begins with the
// whole state, so a jump needs nothing but the window it lands in.
import * as THREE from 'three';
import { getRows } from '../../api';
import type { Range } from '../../clock';
import { count } from '../../format';
import { text } from '../../text';
import { Walk, Windows } from '../windows';
import { Entities, type SceneUpdate } from './entities';
import { Frames, matrixOf, type Quaternion, type Vector } from './frames';
import type { Facts, Followable, Source } from './source';

interface Row {
    topic: string;
    log_time: string; // ns
    data: unknown;
}
interface Transforms {
    transforms: { parent_frame_id: string; child_frame_id: string; translation: Vector; rotation: Quaternion }[];
}

export class ViewSource implements Source {
    readonly group = new THREE.Group();
    private topics = new Map<string, Entities>();
    private frames = new Frames();
    private walk: Walk<Row>;

    constructor(id: string, bounds: Range, width_ns: bigint, changed: () => void) {
        const ask = (start: bigint, end: bigint, signal: AbortSignal) =>
            getRows<Row>(`/recordings/${id}/as/scene.ndjson`, { view: 'foxglove', topic: ['/view/tf', '/view/scene', '/view/trajectories'], start, end, time_format: 'nanoseconds' }, signal);
        this.walk = new Walk(new Windows<Row>(ask, bounds, width_ns, changed), (row) => BigInt(row.log_time));
    }

    show(time_ns: bigint): boolean {
        return this.walk.to(time_ns, ({ window, from, upto, fresh }) => {
            if (fresh) {
                this.frames.clear();
                this.topics.forEach((one) => one.clear());
            }
            for (let i = from; i < upto; i++) {
                this.apply(window.rows[i]!);
            }
            this.topics.forEach((one) => one.move(this.frames));
        });
    }

    private apply(row: Row): void {
        if (row.topic === '/view/tf') {
            for (const t of (row.data as Transforms).transforms) {
                this.frames.set(t.parent_frame_id, t.child_frame_id, matrixOf(t.translation, t.rotation));
            }
            return;
        }
        let entities = this.topics.get(row.topic);
        if (!entities) {
            entities = new Entities();
            this.topics.set(row.topic, entities);
            this.group.add(entities.group);
        }
        entities.apply(row.data as SceneUpdate);
    }

    private entities() {
        return this.topics.get('/view/scene')?.list() ?? [];
    }
    followables(): Followable[] {
        return this.entities()
            .filter((e) => (e.cubes?.length ?? 0) > 0)
            .map((e) => {
                const said = (key: string) => e.metadata?.find((m) => m.key === key)?.value ?? '';
                return { id: e.id, title: [e.id.replace('actor/', ''), said('type'), said('role_name')].filter(Boolean).join(' · ') };
            });
    }
    placeOf(id: string): THREE.Vector3 | null {
        const entity = this.entities().find((e) => e.id === id);
        return entity ? new THREE.Vector3().setFromMatrixPosition(this.frames.toRoot(entity.frame_id)) : null;
    }
    facts(): Facts[] {
        return [{ title: text.scene.actors, value: count(this.topics.get('/view/scene')?.boxes() ?? 0) }];
    }
    stop(): void {
        this.walk.stop();
    }
}
