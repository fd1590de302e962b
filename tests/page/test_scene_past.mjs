// The past of the 3D view without a page: which rows are kept and loaded, how many points, the speed of what moves.
import { createRequire } from 'node:module';
import path from 'node:path';
import { ROOT, assert, becomes, eventually } from './harness.mjs';

const WEB = path.join(ROOT, 'web');
const { build } = createRequire(path.join(WEB, 'package.json'))('esbuild');
const SECOND = 1_000_000_000n;

let Past, History, Trails, THREE;
export async function setUp() {
    const { outputFiles } = await build({
        stdin: {
            contents: ['Past', 'History', 'Trails']
                .map((name) => `export { ${name} } from './src/panels/scene/${name.toLowerCase()}';`)
                .concat("export * as THREE from 'three';")
                .join('\n'),
            resolveDir: WEB,
        },
        bundle: true,
        format: 'esm',
        write: false,
    });
    const code = 'data:text/javascript;base64,' + Buffer.from(outputFiles[0].contents).toString('base64');
    ({ Past, History, Trails, THREE } = await import(code));
}

/** A recording of 60 s with a row each second, in one window from `window` on, and what is kept of it. */
function recorded(window, { width = 60, load = async function* () {} } = {}) {
    const kept = [];
    const asked = [];
    const past = new Past(() => ({ start: 0n, end: 60n * SECOND }), BigInt(width) * SECOND, {
        load: (start, end, signal) => {
            asked.push([Number(start / SECOND), Number(end / SECOND)]);
            return load(start, end, signal);
        },
        older: () => {
            const rows = [];
            return { add: (row) => rows.push(row), end: () => kept.unshift(...rows) };
        },
        drop: (before) => kept.splice(0, before === null ? kept.length : kept.filter((row) => row < before).length),
        changed: () => undefined,
    });
    const move = (to, span = 5) => {
        const known = past.move(BigInt(window) * SECOND, BigInt(to) * SECOND, BigInt(span) * SECOND);
        for (let row = window; row <= to; row++) {
            if (known === null || BigInt(row) * SECOND > known) {
                kept.push(BigInt(row) * SECOND);
            }
        }
    };
    return { past, asked, move, kept: () => kept.map((row) => Number(row / SECOND)) };
}
async function* rowsOf(start, end) {
    for (let row = start; row < end; row += SECOND) {
        yield row;
    }
}
const range = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

export const tests = {
    async what_was_dropped_is_loaded_after_a_seek_back() {
        const { past, move, kept } = recorded(0, { load: rowsOf });
        move(30);
        move(31); // drops what is before 16
        assert.deepEqual(kept(), range(16, 31));
        move(17);
        await becomes(async () => kept(), range(7, 31));
        move(9);
        await becomes(async () => kept(), range(0, 31));
        past.stop();
    },
    async nothing_is_loaded_twice() {
        const { past, asked, move, kept } = recorded(10, { load: rowsOf });
        move(40); // the rows of the window come after this
        move(28);
        assert.deepEqual(kept(), range(10, 40));
        assert.deepEqual(asked, []);
        past.stop();
    },
    async the_past_is_loaded_in_parts() {
        const { past, asked, move, kept } = recorded(50, { width: 2, load: rowsOf });
        for (let count = 1; count <= 3; count++) {
            move(50, 20);
            await becomes(async () => kept()[0], Math.max(50 - 8 * count, 10));
        }
        assert.deepEqual(asked, [
            [42, 50],
            [34, 42],
            [26, 34],
        ]);
        past.stop();
    },
    async what_cannot_be_loaded_is_asked_for_again() {
        const { past, asked, move } = recorded(20, {
            load: async function* () {
                throw new Error('busy');
            },
        });
        move(20);
        await eventually(async () => past.failed, 'the failure');
        move(20);
        assert.equal(asked.length, 1, 'not at once');
        past.forget();
        assert.equal(past.failed, false);
        move(20);
        assert.equal(asked.length, 2);
        past.stop();
    },
    async points_have_a_ceiling() {
        const history = new History(() => new THREE.Color());
        const cloud = new THREE.BufferGeometry().setAttribute(
            'position',
            new THREE.BufferAttribute(new Float32Array(3 * 300_000), 3),
        );
        const view = { type: 'sensor_msgs/PointCloud2', drawnAlone: () => new THREE.Points(cloud) };
        const frames = { toRoot: () => new THREE.Matrix4() };
        for (let i = 0; i < 30; i++) {
            history.add(i % 2 ? '/a' : '/b', view, {}, BigInt(i) * SECOND, frames);
        }
        const clouds = history.group.children.filter((one) => one.userData.topic);
        assert.equal(clouds.length, 13); // 3.9 million points
        assert.ok(history.isFull('/a') && history.isFull('/b'));
        history.show(29n * SECOND, 10n * SECOND, new Set());
        assert.equal(history.shortened, false);
        history.show(29n * SECOND, 20n * SECOND, new Set());
        assert.equal(history.shortened, true);
        history.drop(null);
        assert.equal(history.isFull('/a'), false);
    },
    async the_speed_is_that_of_the_moment() {
        const trails = new Trails(() => new THREE.Color(), 0.3);
        const at = (tenths) => BigInt(tenths) * (SECOND / 10n);
        const x = (tenths) => Math.min(tenths, 12) * 0.2; // stops after 1.2 s, 2.4 m away
        for (let tenths = 0; tenths <= 50; tenths++) {
            trails.add('car', at(tenths), new THREE.Vector3(x(tenths), 0, 0));
            trails.show(at(tenths), 5n * SECOND);
            const speed = trails.speedOf('car');
            if (tenths === 0) {
                assert.equal(speed, null);
            } else {
                assert.ok(Math.abs(speed - (tenths <= 12 ? 2 : 0)) < 1e-6, `${speed} m/s after ${tenths / 10} s`);
            }
        }
        trails.show(at(6), 5n * SECOND); // after a seek back
        assert.ok(Math.abs(trails.speedOf('car') - 2) < 0.01);
    },
};
