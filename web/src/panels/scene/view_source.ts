// A scene from the server's view "foxglove": CARLA's actors, traffic lights and paths. Each time window begins
// with the full state, so seeking loads only one window. Where the actors were is kept from their transforms.
import * as THREE from 'three';
import { getRows } from '../../api';
import type { Range } from '../../playback';
import { count } from '../../format';
import { sceneText } from '../../text/panels';
import { RowCursor, TimeWindows } from '../time_windows';
import { Entities, type Entity, type SceneUpdate } from './entities';
import { Frames, matrixOf, type Quaternion, type Vector } from './frames';
import { Past, type Older } from './past';
import { pastStat, type Described, type FollowTarget, type SceneOptions } from './source';
import type { SceneTopic, Source, Span, Stat } from './source';
import { Trails } from './trails';

interface Row {
    topic: string;
    log_time: string; // ns
    data: unknown;
}
interface Transforms {
    transforms: { parent_frame_id: string; child_frame_id: string; translation: Vector; rotation: Quaternion }[];
}

const [FRAMES, ACTORS, PATHS] = ['/view/tf', '/view/scene', '/view/trajectories'];
const NAMES = 'names';
const PARTS = [
    [ACTORS, sceneText.actors],
    [NAMES, sceneText.names],
] as const;
const ROBOT_ROLES = ['hero', 'ego_vehicle']; // CARLA's role names of the vehicle under test
const SPANS: Span[] = [5_000_000_000n, 0n, 1_000_000_000n, 30_000_000_000n, 'all'];
const SPEED_NS = 1_000_000_000n; // the positions from which speeds are computed
const ROBOT_TRAIL = new THREE.Color(0xe5484d);
const TRAIL_WIDTH = 0.3; // m
const TRAIL = new THREE.Color(0x3b82d6);

const metadataOf = (entity: Entity, key: string) => entity.metadata?.find((m) => m.key === key)?.value ?? '';
const roleOf = (entity: Entity) => metadataOf(entity, 'role_name');
const numberOf = (id: string) => id.replace('actor/', '');
/** vehicle.tesla.model3 is tesla model3. */
const modelOf = (entity: Entity) => metadataOf(entity, 'type').split('.').slice(1).join(' ');
/** The entity moves; others are in the frame of the map. */
const moves = (entity: Entity) => entity.frame_id === entity.id;

export class ViewSource implements Source {
    readonly group = new THREE.Group();
    readonly frames = new Frames();
    readonly chases = true;
    readonly spans = SPANS;
    private shown = new Map<string, Entities>();
    private hidden: ReadonlySet<string> = new Set();
    private span: Span = SPANS[0]!;
    private cursor: RowCursor<Row>;
    private past: Past<Row>;
    private trails = this.makeTrails();

    constructor(
        private id: string,
        private bounds: () => Range,
        private width_ns: bigint,
        private changed: () => void,
    ) {
        this.past = new Past<Row>(bounds, width_ns, {
            load: (start, end, signal) => this.load([FRAMES!], start, end, signal),
            older: () => this.older(),
            drop: (before) => this.trails.drop(before),
            changed,
        });
        this.cursor = this.open();
        this.group.add(this.trails.object);
    }

    private load(topic: string[], start: bigint, end: bigint, signal: AbortSignal): AsyncIterable<Row> {
        const query = { view: 'foxglove', topic, start, end, time_format: 'nanoseconds' };
        return getRows<Row>(`/recordings/${this.id}/as/scene.ndjson`, query, signal);
    }
    /** The paths over the whole recording cost the server a pass over all of it. */
    private open(): RowCursor<Row> {
        const topics = [FRAMES!, ACTORS!, ...(this.span === 'all' ? [PATHS!] : [])];
        const load = (start: bigint, end: bigint, signal: AbortSignal) => this.load(topics, start, end, signal);
        return new RowCursor(new TimeWindows<Row>(load, this.bounds, this.width_ns, this.changed), (row) =>
            BigInt(row.log_time),
        );
    }
    private makeTrails(): Trails {
        return new Trails((name) => (name === this.robot() ? ROBOT_TRAIL : TRAIL), TRAIL_WIDTH);
    }
    private older(): Older<Row> {
        const older = this.makeTrails();
        return {
            add: ({ data, log_time }) =>
                (data as Transforms).transforms.forEach((t) =>
                    older.add(t.child_frame_id, BigInt(log_time), new THREE.Vector3().copy(t.translation)),
                ),
            end: () => this.trails.addOlder(older),
        };
    }

    show(time_ns: bigint): boolean {
        return this.cursor.moveTo(time_ns, ({ window, from, upto, reset }) => {
            if (reset) {
                this.frames.clear();
                this.shown.forEach((one) => one.clear());
            }
            const span = this.span === 'all' ? 0n : this.span;
            const known = this.past.move(window.start, time_ns, span > SPEED_NS ? span : SPEED_NS);
            for (let i = from; i < upto; i++) {
                this.apply(window.rows[i]!, known);
            }
            this.shown.forEach((one) => one.move(this.frames));
            const moving = new Set(
                this.hidden.has(ACTORS!)
                    ? []
                    : this.entities()
                          .filter(moves)
                          .map(({ id }) => id),
            );
            this.trails.show(time_ns, span, (name) => moving.has(name));
        });
    }

    /** `known`: the time up to which the trails are known already. */
    private apply(row: Row, known: bigint | null): void {
        if (row.topic === FRAMES) {
            const time = BigInt(row.log_time);
            for (const t of (row.data as Transforms).transforms) {
                this.frames.set(t.parent_frame_id, t.child_frame_id, matrixOf(t.translation, t.rotation));
                if (known === null || time > known) {
                    this.trails.add(t.child_frame_id, time, new THREE.Vector3().copy(t.translation));
                }
            }
            return;
        }
        if (this.hidden.has(row.topic)) {
            return;
        }
        let entities = this.shown.get(row.topic);
        if (!entities) {
            entities = new Entities((entity) => (moves(entity) ? this.nameOf(entity) : null));
            entities.setNamed(!this.hidden.has(NAMES));
            this.shown.set(row.topic, entities);
            this.group.add(entities.group);
        }
        entities.apply(row.data as SceneUpdate);
    }

    private nameOf(entity: Entity): string {
        return [roleOf(entity), modelOf(entity), numberOf(entity.id)].filter(Boolean).join(' ');
    }
    private entities(): Entity[] {
        return this.shown.get(ACTORS!)?.list() ?? [];
    }
    private entity(id: string): Entity | undefined {
        return this.entities().find((e) => e.id === id);
    }
    topics(): SceneTopic[] {
        return PARTS.map(([name, title]) => ({ name: name!, title, type: '', group: sceneText.parts, points: null }));
    }
    setOptions({ hidden, span }: SceneOptions): void {
        const whole = (span === 'all') !== (this.span === 'all');
        const restart = hidden.has(ACTORS!) !== this.hidden.has(ACTORS!);
        this.hidden = hidden;
        this.span = span;
        this.shown.forEach((one) => one.setNamed(!hidden.has(NAMES)));
        if (whole) {
            this.cursor.stop();
            this.cursor = this.open();
        } else if (restart) {
            this.cursor.restart();
        }
    }
    followTargets(): FollowTarget[] {
        return this.entities()
            .filter((e) => (e.cubes?.length ?? 0) > 0)
            .map((e) => ({
                id: e.id,
                title: [numberOf(e.id), metadataOf(e, 'type'), roleOf(e)].filter(Boolean).join(' · '),
            }));
    }
    robot(): string | null {
        return this.entities().find((e) => ROBOT_ROLES.includes(roleOf(e)))?.id ?? null;
    }
    placeOf(id: string): THREE.Matrix4 | null {
        const entity = this.entity(id);
        return entity ? this.frames.toRoot(entity.frame_id) : null;
    }
    /** Below the robot; without one, below the lowest actor that moves. */
    ground(): number {
        const robot = this.robot();
        const some = this.entities().filter((e) => (robot ? e.id === robot : moves(e)) && e.cubes?.length);
        const floors = some.map((e) => {
            const { pose, size } = e.cubes![0]!;
            return this.frames.toRoot(e.frame_id).elements[14]! + pose.position.z - size.z / 2;
        });
        return floors.length > 0 ? Math.min(...floors) : 0;
    }
    identify({ object }: THREE.Intersection): string | null {
        return this.shown.get(ACTORS!)?.ownerOf(object)?.id ?? null;
    }
    describe(id: string): Described | null {
        const entity = this.entity(id);
        if (!entity) {
            return null;
        }
        const { x, y, z } = new THREE.Vector3()
            .copy(moves(entity) ? new THREE.Vector3() : entity.cubes![0]!.pose.position)
            .applyMatrix4(this.frames.toRoot(entity.frame_id));
        const speed = this.trails.speedOf(id);
        return {
            title: this.nameOf(entity),
            topic: null,
            values: [
                [sceneText.type, metadataOf(entity, 'type')],
                [sceneText.position, [x, y, z].map((value) => value.toFixed(2)).join(', ') + ' m'],
                ...(speed === null ? [] : [[sceneText.speed, `${speed.toFixed(1)} m/s`] as [string, string]]),
            ],
            follow: id,
        };
    }
    stats(): Stat[] {
        return [
            { title: sceneText.actors, value: count(this.shown.get(ACTORS!)?.cubeCount() ?? 0) },
            ...pastStat(this.past.failed, false),
        ];
    }
    stop(): void {
        this.past.stop();
        this.cursor.stop();
    }
}
