// Where things have been in the last seconds: lines that fade towards their beginning.
import * as THREE from 'three';

interface Trail {
    times: number[]; // s, ascending
    points: number[]; // x, y, z of each
    last: [time: number, at: Point][]; // the last two, of which the points need not be so many
}
type Point = [number, number, number];
const speedBetween = (times: readonly number[], [a, b]: readonly Point[]): number =>
    Math.hypot(...a!.map((value, i) => b![i]! - value)) / (times[1]! - times[0]!);
const pointAt = (points: number[], i: number): Point => [points[3 * i]!, points[3 * i + 1]!, points[3 * i + 2]!];

const SECOND = 1e9;
const APART = 2; // widths of a trail between its points
const BREAK = 2; // s: a thing that was not seen for longer has jumped

/** The first index whose value is above `time`. */
function after(times: readonly number[], time: number): number {
    let [low, high] = [0, times.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle]! <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/** Vertices with colours. */
class Strokes {
    private points: number[] = [];
    private colours: number[] = [];
    add([x, y, z]: Point, { r, g, b }: THREE.Color, alpha: number): void {
        this.points.push(x, y, z);
        this.colours.push(r, g, b, alpha);
    }
    showIn(object: THREE.LineSegments | THREE.Mesh): void {
        object.geometry.dispose();
        object.geometry = new THREE.BufferGeometry()
            .setAttribute('position', new THREE.Float32BufferAttribute(this.points, 3))
            .setAttribute('color', new THREE.Float32BufferAttribute(this.colours, 4));
        object.visible = this.points.length > 0;
    }
}

const MATERIAL = { vertexColors: true, transparent: true, depthWrite: false };

export class Trails {
    readonly object = new THREE.Group();
    // a band in the plane, which is wide from near, and a line, which is seen from far
    private bands = new THREE.Mesh(
        new THREE.BufferGeometry(),
        new THREE.MeshBasicMaterial({ ...MATERIAL, side: THREE.DoubleSide }),
    );
    private lines = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial(MATERIAL));
    private trails = new Map<string, Trail>();
    private shown = 0;
    private base: bigint | null = null; // times count from here

    /** `width`: of the bands, in metres. */
    constructor(
        private colourOf: (name: string) => THREE.Color,
        private width: number,
    ) {
        this.object.add(this.bands, this.lines);
        for (const one of [this.bands, this.lines]) {
            one.frustumCulled = false;
            one.renderOrder = -1; // below what moves, which may be translucent
            one.raycast = () => undefined; // not what is clicked at
        }
    }

    private seconds(time_ns: bigint): number {
        this.base ??= time_ns;
        return Number(time_ns - this.base) / SECOND;
    }

    /** Times of a name ascend. */
    add(name: string, time_ns: bigint, at: THREE.Vector3): void {
        const trail = this.trails.get(name) ?? { times: [], points: [], last: [] };
        this.trails.set(name, trail);
        const time = this.seconds(time_ns);
        const last = trail.times.length - 1;
        if (last >= 0 && time <= trail.times[last]!) {
            return;
        }
        const [x, y, z] = last > 0 ? pointAt(trail.points, last - 1) : [NaN, NaN, NaN];
        if (Math.hypot(at.x - x, at.y - y, at.z - z) < APART * this.width) {
            trail.times.pop(); // the end moves on, until it is far enough from the point before
            trail.points.splice(3 * last);
        }
        trail.times.push(time);
        trail.points.push(at.x, at.y, at.z);
        trail.last = [...trail.last.slice(-1), [time, [at.x, at.y, at.z]]];
    }
    /** Puts what came before in front. */
    addOlder(older: Trails): void {
        for (const [name, { times, points, last }] of older.trails) {
            const shift = older.base === null ? 0 : this.seconds(older.base);
            const trail = this.trails.get(name) ?? { times: [], points: [], last: [] };
            const begins = (trail.times[0] ?? Infinity) - 1e-9;
            const shifted = times.map((time) => time + shift);
            const upto = after(shifted, begins);
            const before = last.map(([time, at]): Trail['last'][number] => [time + shift, at]);
            this.trails.set(name, {
                times: [...shifted.slice(0, upto), ...trail.times],
                points: [...points.slice(0, 3 * upto), ...trail.points],
                last: [...before.filter(([time]) => time <= begins), ...trail.last].slice(-2),
            });
        }
    }
    /** Forgets what was before; null: all. */
    drop(before: bigint | null): void {
        if (before === null) {
            this.trails.clear();
            this.base = null;
            return;
        }
        for (const trail of this.trails.values()) {
            const from = after(trail.times, this.seconds(before));
            trail.times.splice(0, from);
            trail.points.splice(0, 3 * from);
            trail.last = trail.last.filter(([time]) => time > this.seconds(before));
        }
    }

    /**
     * The speed at the time of the last show(), in units a second: between the last two times, in what was before between
     * two points. null: it was at one point only.
     */
    speedOf(name: string): number | null {
        const { times, points, last } = this.trails.get(name) ?? { times: [], points: [], last: [] };
        const [a, b] = last;
        if (a && b && b[0] <= this.shown) {
            return speedBetween([a[0], b[0]], [a[1], b[1]]);
        }
        const i = Math.min(after(times, this.shown), times.length - 1);
        return i < 1 ? null : speedBetween(times.slice(i - 1, i + 1), [pointAt(points, i - 1), pointAt(points, i)]);
    }

    /** Draws the last `span_ns` before `time_ns` of those that `wanted` names. */
    show(time_ns: bigint, span_ns: bigint, wanted: (name: string) => boolean = () => true): void {
        const to = this.seconds(time_ns);
        const span = Number(span_ns) / SECOND;
        this.shown = to;
        const [bands, lines] = [new Strokes(), new Strokes()];
        for (const [name, { times, points }] of this.trails) {
            if (!wanted(name)) {
                continue;
            }
            const colour = this.colourOf(name);
            const end = after(times, to);
            for (let i = after(times, to - span) + 1; i < end; i++) {
                if (times[i]! - times[i - 1]! <= BREAK) {
                    const [a, b] = [pointAt(points, i - 1), pointAt(points, i)];
                    const [seenA, seenB] = [1 - (to - times[i - 1]!) / span, 1 - (to - times[i]!) / span];
                    lines.add(a, colour, seenA);
                    lines.add(b, colour, seenB);
                    this.addBand(bands, [a, b], colour, [seenA, seenB]);
                }
            }
        }
        bands.showIn(this.bands);
        lines.showIn(this.lines);
    }

    private addBand(bands: Strokes, [a, b]: [Point, Point], colour: THREE.Color, seen: [number, number]): void {
        const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
        const length = Math.hypot(dx, dy);
        if (length > 0) {
            const [x, y] = [(-dy / length) * (this.width / 2), (dx / length) * (this.width / 2)];
            const corner = (p: Point, side: number): Point => [p[0] + side * x, p[1] + side * y, p[2]];
            for (const [p, side, alpha] of [
                [a, 1, seen[0]],
                [a, -1, seen[0]],
                [b, 1, seen[1]],
                [b, 1, seen[1]],
                [a, -1, seen[0]],
                [b, -1, seen[1]],
            ] as [Point, number, number][]) {
                bands.add(corner(p, side), colour, alpha);
            }
        }
    }
}
