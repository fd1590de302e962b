// A scene from the server's view "foxglove": CARLA's actors, traffic lights and trajectories. Each time window begins
// with the full state, so seeking loads only one window.
import * as THREE from 'three';
import { getRows } from '../../api';
import type { Range } from '../../playback';
import { count } from '../../format';
import { sceneText } from '../../text/panels';
import { RowCursor, TimeWindows } from '../time_windows';
import { Entities, type SceneUpdate } from './entities';
import { Frames, matrixOf, type Quaternion, type Vector } from './frames';
import type { FollowTarget, SceneOptions, SceneTopic, Source, Stat } from './source';

interface Row {
    topic: string;
    log_time: string; // ns
    data: unknown;
}
interface Transforms {
    transforms: { parent_frame_id: string; child_frame_id: string; translation: Vector; rotation: Quaternion }[];
}

const PARTS = [
    ['/view/scene', sceneText.actors],
    ['/view/trajectories', sceneText.trajectories],
] as const;
const ROBOT_ROLES = ['hero', 'ego_vehicle']; // CARLA's role names of the vehicle under test

export class ViewSource implements Source {
    readonly group = new THREE.Group();
    private shown = new Map<string, Entities>();
    readonly frames = new Frames();
    private hidden: ReadonlySet<string> = new Set();
    private cursor: RowCursor<Row>;

    constructor(id: string, bounds: () => Range, width_ns: bigint, changed: () => void) {
        const load = (start: bigint, end: bigint, signal: AbortSignal) =>
            getRows<Row>(
                `/recordings/${id}/as/scene.ndjson`,
                {
                    view: 'foxglove',
                    topic: ['/view/tf', '/view/scene', '/view/trajectories'],
                    start,
                    end,
                    time_format: 'nanoseconds',
                },
                signal,
            );
        this.cursor = new RowCursor(new TimeWindows<Row>(load, bounds, width_ns, changed), (row) =>
            BigInt(row.log_time),
        );
    }

    show(time_ns: bigint): boolean {
        return this.cursor.moveTo(time_ns, ({ window, from, upto, reset }) => {
            if (reset) {
                this.frames.clear();
                this.shown.forEach((one) => one.clear());
            }
            for (let i = from; i < upto; i++) {
                this.apply(window.rows[i]!);
            }
            this.shown.forEach((one) => one.move(this.frames));
        });
    }

    private apply(row: Row): void {
        if (row.topic === '/view/tf') {
            for (const t of (row.data as Transforms).transforms) {
                this.frames.set(t.parent_frame_id, t.child_frame_id, matrixOf(t.translation, t.rotation));
            }
            return;
        }
        if (this.hidden.has(row.topic)) {
            return;
        }
        let entities = this.shown.get(row.topic);
        if (!entities) {
            entities = new Entities();
            this.shown.set(row.topic, entities);
            this.group.add(entities.group);
        }
        entities.apply(row.data as SceneUpdate);
    }

    private entities() {
        return this.shown.get('/view/scene')?.list() ?? [];
    }
    topics(): SceneTopic[] {
        return PARTS.map(([name, title]) => ({ name, title, type: '', group: sceneText.parts, points: null }));
    }
    setOptions({ hidden }: SceneOptions): void {
        if (PARTS.some(([name]) => hidden.has(name) !== this.hidden.has(name))) {
            this.hidden = hidden;
            this.cursor.restart();
        }
    }
    followTargets(): FollowTarget[] {
        return this.entities()
            .filter((e) => (e.cubes?.length ?? 0) > 0)
            .map((e) => {
                const metadata = (key: string) => e.metadata?.find((m) => m.key === key)?.value ?? '';
                return {
                    id: e.id,
                    title: [e.id.replace('actor/', ''), metadata('type'), metadata('role_name')]
                        .filter(Boolean)
                        .join(' · '),
                };
            });
    }
    robot(): string | null {
        return (
            this.entities().find((e) => e.metadata?.some((m) => m.key === 'role_name' && ROBOT_ROLES.includes(m.value)))
                ?.id ?? null
        );
    }
    placeOf(id: string): THREE.Matrix4 | null {
        const entity = this.entities().find((e) => e.id === id);
        return entity ? this.frames.toRoot(entity.frame_id) : null;
    }
    stats(): Stat[] {
        return [{ title: sceneText.actors, value: count(this.shown.get('/view/scene')?.cubeCount() ?? 0) }];
    }
    stop(): void {
        this.cursor.stop();
    }
}
