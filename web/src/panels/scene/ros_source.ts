// ROS topics: the last message of each at or before the playhead, and markers that are still there, placed by the
// recorded transforms.
import * as THREE from 'three';
import { getRows } from '../../api';
import type { Range } from '../../playback';
import { count } from '../../format';
import { sceneText } from '../../text/panels';
import type { Topic } from '../../types';
import { RowCursor, TimeWindows } from '../time_windows';
import { colourOfNumber } from './elements';
import { Frames, matrixOf, type Quaternion, type Vector } from './frames';
import { looksText } from './look_settings';
import { DEFAULT_LOOK, type Look } from './points';
import { hasPoints } from './ros_shapes';
import { drawnAs, isTransforms, kindOf } from './ros_types';
import { History } from './history';
import { Past, type Older } from './past';
import { pastStat, type Described, type FollowTarget, type SceneOptions } from './source';
import type { SceneTopic, Source, Span, Stat } from './source';
import { TopicView } from './topic_view';

const MAX_STATIC = 1000;
const MAX_FRAMES = 200; // offered to be followed
const FRAME = 'frame:'; // the id of a frame that is followed; topics begin with a slash
const LEAD_NS = 500_000_000n; // of transforms before older messages: where these were
const SPANS: Span[] = [0n, 1_000_000_000n, 5_000_000_000n, 30_000_000_000n];
const ROBOT_TRAIL = new THREE.Color(0xe5484d);
const ROBOT_FRAMES = ['base_link', 'base_footprint', 'base']; // REP 105

interface Row {
    topic: string;
    log_time: string; // ns
    data: unknown;
}
interface Transforms {
    transforms: {
        header: { frame_id: string };
        child_frame_id: string;
        transform: { translation: Vector; rotation: Quaternion };
    }[];
}

export class RosSource implements Source {
    readonly group = new THREE.Group();
    readonly frames = new Frames();
    readonly spans = SPANS;
    private history = this.makeHistory();
    private past: Past<Row>;
    private span = 0n;
    private cursor: RowCursor<Row>;
    private views = new Map<string, TopicView>(); // of all drawn topics
    private transforms: string[] = [];
    private hidden: ReadonlySet<string> = new Set();
    private looks: ReadonlyMap<string, Look> = new Map();

    constructor(
        private id: string,
        topics: readonly Topic[],
        private bounds: () => Range,
        private width_ns: bigint,
        private changed: () => void,
    ) {
        this.add(topics);
        this.past = new Past<Row>(bounds, width_ns, {
            load: (start, end, signal) => this.loadPast(start, end, signal),
            older: () => this.older(),
            drop: (before) => this.history.drop(before),
            changed,
        });
        this.cursor = this.open();
        this.group.add(this.history.group);
    }

    private makeHistory(): History {
        return new History((name) => this.views.get(name)?.colour ?? ROBOT_TRAIL);
    }
    private older(): Older<Row> {
        const older = this.makeHistory();
        const frames = this.frames.copy(); // those that stay; the others come with the rows
        return { add: (row) => this.remember(older, frames, row), end: () => this.history.addOlder(older) };
    }
    private remember(history: History, frames: Frames, row: Row): void {
        const view = this.views.get(row.topic);
        const time = BigInt(row.log_time);
        if (view && !view.keepsState) {
            history.add(row.topic, view, row.data, time, frames);
        } else if (!view) {
            this.transform(row.data as Transforms, frames);
            const robot = ROBOT_FRAMES.find((name) => frames.names().includes(name));
            void (robot && history.addFrame(FRAME + robot, time, frames.toRoot(robot)));
        }
    }

    /** Adds the topics that are not there yet; true: there were some. */
    private add(topics: readonly Topic[]): boolean {
        const before = this.views.size + this.transforms.length;
        topics.forEach((topic, number) => {
            const type = topic.messages > 0 && !this.views.has(topic.name) ? drawnAs(topic.type) : null;
            if (type) {
                const view = new TopicView(type, new THREE.Color(colourOfNumber(number)));
                view.setLook(this.looks.get(topic.name) ?? DEFAULT_LOOK);
                this.views.set(topic.name, view);
                this.group.add(view.group);
            }
        });
        this.transforms = topics.filter((t) => isTransforms(t.type)).map((t) => t.name);
        return this.views.size + this.transforms.length > before;
    }

    setTopics(topics: readonly Topic[]): void {
        if (this.add(topics)) {
            this.reopen();
        }
    }

    /** The transforms and the topics that are not hidden. */
    private names(): string[] {
        return [...this.transforms, ...[...this.views.keys()].filter((name) => !this.hidden.has(name))];
    }
    private load(
        topic: string[],
        start: bigint,
        end: bigint,
        signal: AbortSignal,
        last: string | null = null,
    ): AsyncIterable<Row> {
        const query = { topic, start, end, last, time_format: 'nanoseconds' };
        return getRows<Row>(`/recordings/${this.id}/messages`, query, signal);
    }
    /** What remember() has use and room for. */
    private async *loadPast(start: bigint, end: bigint, signal: AbortSignal): AsyncGenerator<Row> {
        const first = this.bounds().start;
        const lead = start - LEAD_NS > first ? start - LEAD_NS : first;
        if (this.transforms.length > 0 && lead < start) {
            yield* this.load(this.transforms, lead, start, signal);
        }
        const names = this.names().filter((name) => {
            const view = this.views.get(name);
            return !view || (!view.keepsState && !(hasPoints(view.type) && this.history.isFull(name)));
        });
        if (names.length > 0) {
            yield* this.load(names, start, end, signal);
        }
    }
    private open(): RowCursor<Row> {
        const { id, bounds } = this;
        const names = this.names();
        const rowsOf = this.load.bind(this);
        // each message may hold other frames, so the last one is not enough
        const staticTopics = this.transforms.filter((name) => /(^|\/)tf_static$/.test(name));
        const load = async function* (start: bigint, end: bigint, signal: AbortSignal, first: boolean) {
            if (first && staticTopics.length > 0 && start > bounds().start) {
                yield* getRows<Row>(
                    `/recordings/${id}/messages`,
                    { topic: staticTopics, end: start, limit: MAX_STATIC, time_format: 'nanoseconds' },
                    signal,
                );
            }
            if (names.length > 0) {
                yield* rowsOf(names, start, end, signal, first ? 'per_topic' : null);
            }
        };
        return new RowCursor(new TimeWindows<Row>(load, bounds, this.width_ns, this.changed), (row) =>
            BigInt(row.log_time),
        );
    }

    setOptions({ hidden, looks, span }: SceneOptions): void {
        const before = this.hidden;
        const again = span !== this.span || looksText(new Map(looks)) !== looksText(new Map(this.looks));
        this.hidden = hidden;
        this.looks = looks;
        this.span = span === 'all' ? 0n : span;
        this.views.forEach((view, name) => {
            void (hidden.has(name) && view.clear());
            view.setLook(looks.get(name) ?? DEFAULT_LOOK);
        });
        if ([...this.views.keys()].some((name) => before.has(name) !== hidden.has(name))) {
            this.reopen();
        } else if (again) {
            this.past.forget();
            this.cursor.restart();
        }
    }
    private reopen(): void {
        this.past.forget();
        this.cursor.stop();
        this.cursor = this.open();
    }

    show(time_ns: bigint): boolean {
        return this.cursor.moveTo(time_ns, ({ window, from, upto, backwards }) => {
            if (backwards) {
                // later messages do not exist yet; the frames stay: an outdated one is better than none
                this.views.forEach((view) => view.clear());
            }
            const last = new Map<TopicView, Row>();
            const known = this.span > 0n ? this.past.move(window.start, time_ns, this.span) : null;
            for (let i = from; i < upto; i++) {
                const row = window.rows[i]!;
                const view = this.views.get(row.topic);
                if (!view) {
                    this.transform(row.data as Transforms, this.frames);
                }
                if (this.span > 0n && (known === null || BigInt(row.log_time) > known)) {
                    this.remember(this.history, this.frames, row);
                }
                if (!view) {
                    continue;
                } else if (view.keepsState) {
                    view.apply(row.data, BigInt(row.log_time));
                } else {
                    last.set(view, row);
                }
            }
            last.forEach((row, view) => view.apply(row.data, BigInt(row.log_time)));
            this.views.forEach((view) => view.place(this.frames, time_ns));
            this.history.show(time_ns, this.span, this.hidden);
        });
    }

    private transform(data: Transforms, frames: Frames): void {
        for (const t of data.transforms ?? []) {
            frames.set(t.header.frame_id, t.child_frame_id, matrixOf(t.transform.translation, t.transform.rotation));
        }
    }

    topics(): SceneTopic[] {
        return [...this.views].map(([name, { type, facts }]) => ({
            name,
            title: name,
            type,
            group: sceneText.kinds[kindOf(type)],
            points: hasPoints(type) ? (facts ?? { fields: [], field: null, range: null }) : null,
        }));
    }
    private drawn(): string[] {
        return [...this.views].filter(([, view]) => !view.empty).map(([name]) => name);
    }
    followTargets(): FollowTarget[] {
        const frames = this.frames.names().sort().slice(0, MAX_FRAMES);
        return [
            ...this.drawn().map((topic) => ({ id: topic, title: topic })),
            ...frames.map((frame) => ({ id: FRAME + frame, title: sceneText.frame(frame) })),
        ];
    }
    robot(): string | null {
        const frame = ROBOT_FRAMES.find((name) => this.frames.names().includes(name));
        return frame
            ? FRAME + frame
            : (this.drawn().find((topic) => this.views.get(topic)!.type === 'nav_msgs/Odometry') ?? null);
    }
    placeOf(id: string): THREE.Matrix4 | null {
        if (id.startsWith(FRAME)) {
            const frame = id.slice(FRAME.length);
            return this.frames.names().includes(frame) ? this.frames.toRoot(frame) : null;
        }
        return this.views.get(id)?.placeOf() ?? null;
    }
    identify({ object, index }: THREE.Intersection): string | null {
        for (const [topic, view] of this.views) {
            const key = view.keyOf(object);
            if (key !== null) {
                return JSON.stringify([topic, key, hasPoints(view.type) ? (index ?? null) : null]);
            }
        }
        return null;
    }
    describe(id: string): Described | null {
        const [topic, key, point] = JSON.parse(id) as [string, string, number | null];
        const view = this.views.get(topic);
        const values = point === null ? view?.valuesOf(key) : view?.pointValues(point);
        return view && values
            ? { title: topic, topic, values: [[sceneText.type, view.type], ...values], follow: topic }
            : null;
    }
    stats(): Stat[] {
        return [
            { title: sceneText.topics, value: count(this.drawn().length) },
            { title: sceneText.frames, value: count(this.frames.names().length) },
            ...pastStat(this.past.failed, this.span > 0n && this.history.shortened),
        ];
    }
    stop(): void {
        this.past.stop();
        this.cursor.stop();
    }
}
