// The timeline when it is zoomed and when there are many topics: no gap that is not there, groups, a filter, names.
import fs from 'node:fs';
import { Server, assert, checkAxeInBothThemes, eventually, withPage, becomes } from './harness.mjs';

import { float64, removeBag, uploadBag, writeBag } from './bags.mjs';

const HZ = 10;
const SECONDS = 120;
const GAP = [60, 63]; // seconds without a message
const ROBOTS = 6;
const PARTS = 10; // of a robot
let server, steady, many, torn;
export async function setUp() {
    server = await Server.start();
    const value = (at, topic) => ({
        at,
        topic,
        type: 'std_msgs/Float64',
        data: float64(at),
    });
    steady = await uploadBag(
        server,
        'steady.bag',
        Array.from({ length: HZ * SECONDS }, (_, i) => value(i / HZ, '/camera')).filter(
            ({ at }) => at < GAP[0] || at >= GAP[1],
        ),
    );
    const file = writeBag(
        'torn.bag',
        Array.from({ length: HZ * 20 }, (_, i) => value(i / HZ, '/camera')),
    );
    const bytes = fs.readFileSync(file);
    const place = (at) => bytes.indexOf(float64(at));
    bytes.fill(255, place(5), place(10)); // the messages of these seconds
    fs.writeFileSync(file, bytes);
    [torn] = await server.upload([file], 'bags');
    removeBag(file);
    const topics = Array.from({ length: ROBOTS * PARTS }, (_, i) => {
        const part = String(i % PARTS).padStart(2, '0');
        return `/robot_${Math.floor(i / PARTS)}/subsystem_${part}/value`;
    });
    many = await uploadBag(
        server,
        'many.bag',
        [0, 1].flatMap((at) => [...topics, '/clock'].map((topic) => value(at, topic))),
    );
}
export async function tearDown() {
    await server?.end();
}

const names = (page) => page.locator('.timeline-name').evaluateAll((all) => all.map((one) => one.textContent));
/** The parts of the first lane that are drawn, as [from, to] of its width. */
const drawn = (page) =>
    page.locator('.timeline-canvas').evaluate((canvas) => {
        const y = Math.round((canvas.height / canvas.clientHeight) * 14);
        const { data } = canvas.getContext('2d').getImageData(0, y, canvas.width, 1);
        const runs = [];
        for (let x = 0; x < canvas.width; x++) {
            if (data[4 * x + 3] > 0) {
                data[4 * x - 1] > 0 ? (runs.at(-1)[1] = x + 1) : runs.push([x, x + 1]);
            }
        }
        return runs.map((run) => run.map((at) => at / canvas.width));
    });

/** Opens the timeline at these seconds. */
const zoomed = (from, to, use) =>
    withPage(server, `/recordings/${steady.id}?panels=topics&range=${from}~${to}`, {}, async (page) => {
        const refined = page.waitForRequest((request) => /\/coverage\?.*start=/.test(request.url()));
        await page.getByRole('button', { name: 'Zoom to selection' }).click();
        await refined;
        await use(page);
    });

export const tests = {
    async a_steady_topic_has_no_gaps() {
        await withPage(server, `/recordings/${steady.id}?panels=topics`, {}, async (page) => {
            await eventually(async () => (await drawn(page)).length === 2, 'a lane with the one gap');
            const [[, end], [start]] = await drawn(page);
            assert.ok(
                Math.abs(end * SECONDS - GAP[0]) < 1 && Math.abs(start * SECONDS - GAP[1]) < 1,
                `${end} ${start}`,
            );
        });
        for (const [from, to] of [
            [0, 55],
            [10, 40],
        ]) {
            await zoomed(from, to, (page) =>
                eventually(async () => (await drawn(page)).length === 1, `no gap from ${from} to ${to}`),
            );
        }
        await zoomed(50, 70, (page) =>
            eventually(async () => {
                const gaps = (await drawn(page)).flatMap(([start], i, all) => (i > 0 ? [start - all[i - 1][1]] : []));
                return (
                    gaps.filter((gap) => Math.abs(gap * 20 - 3) < 0.3).length === 1 && gaps.every((gap) => gap < 0.2)
                );
            }, 'the gap of 3 s, and no other of a second'),
        );
    },
    async a_short_view_has_each_message() {
        await zoomed(10, 15, (page) =>
            eventually(async () => {
                const all = (await drawn(page)).map(([from]) => Math.round(from * 50));
                return all.length >= 50 && Array.from({ length: 50 }, (_, i) => i).every((i) => all.includes(i));
            }, 'a line for each of the 50 messages'),
        );
    },
    async what_was_lost_is_marked() {
        await withPage(server, `/recordings/${torn.id}?panels=topics`, {}, async (page) => {
            const loss = page.getByRole('img', { name: /^Lost at .*: / });
            await loss.waitFor();
            const [box, field] = [await loss.boundingBox(), await page.locator('.timeline-field').boundingBox()];
            const ends = [box.x, box.x + box.width].map((x) => ((x - field.x) / field.width) * 20);
            assert.ok(Math.abs(ends[0] - 5) < 0.4 && Math.abs(ends[1] - 10) < 0.4, String(ends));
            assert.ok(box.height > 30);
            await checkAxeInBothThemes(page);
        });
        await withPage(server, `/recordings/${steady.id}?panels=topics`, {}, async (page) => {
            await page.locator('.timeline-name').first().waitFor();
            await becomes(() => page.locator('.timeline-loss').count(), 0); // a pause is no loss
        });
    },
    async many_topics_are_grouped_by_their_path() {
        await withPage(server, `/recordings/${many.id}?panels=topics`, {}, async (page) => {
            const robots = Array.from({ length: ROBOTS }, (_, i) => `/robot_${i}${PARTS}`);
            await page.locator('.timeline-group').first().waitFor();
            await becomes(() => names(page), ['/clock', ...robots]);
            const [row, canvas] = await Promise.all(
                ['.timeline-name', '.timeline-canvas'].map((part) => page.locator(part).first().boundingBox()),
            );
            assert.ok(Math.abs(row.y - canvas.y) < 1, 'names are beside their lanes');
            const group = page.locator('.timeline').getByRole('button', { name: /^\/robot_3/ });
            assert.equal(await group.getAttribute('aria-expanded'), 'false');
            await group.click();
            await eventually(async () => (await names(page)).length === 1 + ROBOTS + PARTS, 'the topics of the group');
            await becomes(async () => (await names(page))[5], '/subsystem_00/value');
            const title = await page.locator('.timeline-name').nth(5).getAttribute('title');
            assert.equal(title, '/robot_3/subsystem_00/value: 2');
            await checkAxeInBothThemes(page);
            await group.click();
            await eventually(async () => (await names(page)).length === 1 + ROBOTS, 'only the groups');
        });
    },
    async topics_are_filtered() {
        await withPage(server, `/recordings/${many.id}?panels=topics`, {}, async (page) => {
            await page.getByRole('searchbox', { name: 'Filter topics' }).fill('ROBOT_2 _07');
            await eventually(async () => (await names(page)).length === 1, 'the topic that has both words');
            await becomes(() => names(page), ['/robot_2/subsystem_07/value']);
            await page.getByRole('searchbox', { name: 'Filter topics' }).fill('value');
            await eventually(async () => (await names(page)).length === ROBOTS, 'groups again');
        });
        await withPage(server, `/recordings/${steady.id}?panels=topics`, {}, async (page) => {
            await page.locator('.timeline-name').first().waitFor();
            await becomes(() => page.getByRole('searchbox', { name: 'Filter topics' }).count(), 0); // of one topic
        });
    },
    async names_keep_what_they_do_not_share() {
        await withPage(
            server,
            `/recordings/${many.id}?panels=topics`,
            { size: { width: 700, height: 800 } },
            async (page) => {
                await page.getByRole('searchbox', { name: 'Filter topics' }).fill('robot_1');
                await eventually(async () => (await names(page)).length === PARTS, 'the topics of a robot');
                const cut = (part) =>
                    page
                        .locator(`.timeline-name:nth-last-child(2) .timeline-name-${part}`)
                        .evaluateAll((all) => all.some((one) => one.scrollWidth > one.clientWidth));
                assert.equal(await cut('shared'), true);
                assert.equal(await cut('own'), false);
            },
        );
    },
};
