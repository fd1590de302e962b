// Events on the timeline: added, moved, renamed and deleted by pointer and by keys; conflicts; many of them.
import { Server, assert, checkAxeInBothThemes, eventually, withPage, becomes } from './harness.mjs';
import { driveBag, uploadBag } from './bags.mjs';

let server, drive, sims;
export async function setUp() {
    server = await Server.start();
    sims = (await server.uploadDemo()).find((r) => r.format === 'nanover');
    drive = await uploadBag(server, 'drive.bag', driveBag());
}
export async function tearDown() {
    await server?.end();
}

const NS = 1e9;
const seconds = (recording, ns) => Number(BigInt(ns) - BigInt(recording.start_ns)) / NS;
const length = (recording) => seconds(recording, recording.end_ns);
const add = (recording, title, from, to) =>
    server.json('/events', {
        method: 'POST',
        body: JSON.stringify({ recording: recording.id, title, start: `+${from}s`, end: `+${to}s` }),
    });
/** The events as the server has them: [title, start, end], in seconds from the recording's start. */
const stored = async (recording) =>
    (await server.json(`/events?recording=${recording.id}`)).items.map((e) => [
        e.title,
        seconds(recording, e.start_ns),
        seconds(recording, e.end_ns),
    ]);
const near = (a, b) => Math.abs(a - b) < 0.04;
const holds = (recording, wanted) =>
    eventually(async () => {
        const now = await stored(recording);
        return (
            now.length === wanted.length &&
            now.every(
                ([title, start, end], i) =>
                    title === wanted[i][0] && near(start, wanted[i][1]) && near(end, wanted[i][2]),
            )
        );
    }, JSON.stringify(wanted)).catch(async (error) => {
        throw new Error(`${error.message}, but they are ${JSON.stringify(await stored(recording))}`);
    });
const bar = (page, title) => page.locator('.timeline-event', { hasText: title });
const form = (page) => page.locator('.timeline-event-form input');
async function lane(page, recording) {
    await page.locator('.timeline-events.edits').waitFor();
    await page.waitForFunction(() => document.querySelector('.timeline-canvas').width > 100);
    const box = await page.locator('.timeline-events').boundingBox();
    return (time) => [box.x + (box.width * time) / length(recording), box.y + box.height / 2];
}
async function drag(page, from, to) {
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move((from[0] + to[0]) / 2, to[1]);
    await page.mouse.move(...to);
    await page.mouse.up();
}

/** A CARLA log of 6 frames, 1 s apart: a car, a walker that comes in frame 3 and is hit in frame 5. */
function carlaLog() {
    const number = (bytes, value) => {
        const out = Buffer.alloc(bytes);
        out.writeUIntLE(value, 0, bytes);
        return out;
    };
    const real = (value) => {
        const out = Buffer.alloc(8);
        out.writeDoubleLE(value);
        return out;
    };
    const string = (text) => Buffer.concat([number(2, text.length), Buffer.from(text)]);
    const eight = (value) => Buffer.concat([number(4, value), number(4, 0)]);
    const packet = (id, ...data) => {
        const body = Buffer.concat(data);
        return Buffer.concat([number(1, id), number(4, body.length), body]);
    };
    const list = (id, ...records) => packet(id, number(2, records.length), ...records);
    const actor = (id, type, name) =>
        Buffer.concat([number(4, id), number(1, type), Buffer.alloc(24), number(4, id), string(name), number(2, 0)]);
    const hit = Buffer.concat([number(4, 0), number(4, 7), number(4, 8), number(2, 0)]);
    const frames = [1, 2, 3, 4, 5, 6].flatMap((k) => [
        packet(0, eight(k), real(k < 6 ? 1 : -1), real(k - 1)),
        list(2, ...(k === 1 ? [actor(7, 1, 'vehicle.a')] : k === 3 ? [actor(8, 2, 'walker.b')] : [])),
        list(3),
        list(4),
        list(5, ...(k === 5 ? [hit] : [])),
        list(6),
        list(7),
        packet(1),
    ]);
    return Buffer.concat([number(2, 1), string('CARLA_RECORDER'), eight(1600000000), string('Town05'), ...frames]);
}

export const tests = {
    async of_a_carla_log_are_shown_and_stay_as_they_are() {
        const { id } = await server.json('/recordings/by-name/lab/hits.log', { method: 'PUT', body: carlaLog() });
        const hits = await eventually(async () => {
            const recording = await server.json('/recordings/' + id);
            return recording.state === 'scanning' ? null : recording;
        });
        await withPage(server, `/recordings/${hits.id}?panels=topics`, {}, async (page) => {
            await lane(page, hits);
            await bar(page, 'Added: walker.b 8').waitFor();
            await bar(page, 'Collision of vehicle.a 7 with walker.b 8').waitFor();
            await becomes(() => page.locator('.timeline-event').count(), 2);
            await becomes(() => page.locator('.timeline-event-edge').count(), 0);
            await becomes(() => page.locator('.timeline-name[title="/collision: 1"]').count(), 1);
            await becomes(() => page.locator('.timeline-name[title="/frame: 6"]').count(), 1);
            const list = page.getByRole('listbox', { name: 'Events' });
            await list.focus();
            await list.press('ArrowDown');
            await list.press('Delete');
            await list.press('F2');
            await bar(page, 'Added: walker.b 8').dblclick();
            await becomes(() => form(page).count(), 0);
            await becomes(() => page.locator('.timeline-event').count(), 2);
            await becomes(
                () =>
                    page
                        .locator('.details')
                        .getByRole('button', { name: /Delete event/ })
                        .count(),
                0,
            );
            await checkAxeInBothThemes(page);
        });
        assert.deepEqual(await stored(hits), []);
    },
    async are_edited_with_the_pointer() {
        await withPage(server, `/recordings/${drive.id}?panels=topics&at=6`, {}, async (page) => {
            const at = await lane(page, drive);
            await drag(page, at(1), at(3));
            await form(page).fill('bump');
            await page.keyboard.press('Enter');
            await bar(page, 'bump').waitFor();
            await holds(drive, [['bump', 1, 3]]);
            await drag(page, at(2), at(5.03)); // its end comes close to the playhead, and snaps to it
            await holds(drive, [['bump', 4, 6]]);
            assert.equal((await stored(drive))[0][2], 6);
            await page.locator('.timeline-event-edge.end').hover();
            const [x, y] = at(5.98);
            await drag(page, [x, y], at(8));
            await holds(drive, [['bump', 4, 8]]);
            await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
            await holds(drive, [['bump', 4, 6]]);
            await page.mouse.dblclick(...at(5));
            await form(page).fill('kerb');
            await page.keyboard.press('Enter');
            await holds(drive, [['kerb', 4, 6]]);
            await checkAxeInBothThemes(page);
            await page.locator('.details').getByRole('button', { name: 'Delete event kerb' }).click();
            await holds(drive, []);
        });
    },
    async are_edited_with_keys() {
        await withPage(server, `/recordings/${drive.id}?panels=topics&at=2`, {}, async (page) => {
            await lane(page, drive);
            await page.keyboard.press('m'); // an instant at the playhead
            await form(page).fill('look m here');
            await page.keyboard.press('Enter');
            await holds(drive, [['look m here', 2, 2]]);
            const list = page.getByRole('listbox', { name: 'Events' });
            await list.focus();
            await list.press('Alt+Shift+ArrowRight'); // not beyond its end
            await list.press('Shift+ArrowRight'); // a second
            await list.press('ArrowRight'); // to the next pose
            await list.press('Alt+ArrowRight');
            await holds(drive, [['look m here', 3.001, 3.101]]);
            await list.press('F2');
            await form(page).fill('x');
            await page.keyboard.press('Escape');
            await list.press('F2');
            await form(page).fill('seen');
            await page.keyboard.press('Enter');
            await holds(drive, [['seen', 3.001, 3.101]]);
            await list.press('Delete');
            await holds(drive, []);
            await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
            await holds(drive, [['seen', 3.001, 3.101]]);
            await page.goto(`/recordings/${sims.id}?panels=topics&range=1~4`); // a relative clock
            await lane(page, sims);
            await page.keyboard.press('m');
            await page.keyboard.press('Enter');
            await holds(sims, [['Event', 1, 4]]);
        });
    },
    async a_conflict_is_reported_and_the_newer_state_is_shown() {
        const { id } = await add(sims, 'mine', 10, 12);
        await withPage(
            server,
            `/recordings/${sims.id}?panels=topics`,
            { allow: [/status of (412|404)/] },
            async (page) => {
                const at = await lane(page, sims);
                let first = true;
                await page.route('**/events/*', async (route) => {
                    if (route.request().method() === 'PATCH' && first) {
                        // somebody else is faster
                        first = false;
                        await server.json('/events/' + id, {
                            method: 'PATCH',
                            body: JSON.stringify({ title: 'theirs' }),
                        });
                    }
                    await route.continue();
                });
                await bar(page, 'mine').waitFor();
                await drag(page, at(11), at(15));
                await page.locator('.toast', { hasText: 'Someone else changed the event “mine”' }).waitFor();
                await bar(page, 'theirs').waitFor();
                const [, start, end] = (await stored(sims)).find(([title]) => title === 'theirs');
                assert.ok(near(start, 10) && near(end, 12), `${start} to ${end}`);
                await server.json('/events/' + id, { method: 'DELETE' });
                await bar(page, 'theirs').waitFor({ state: 'detached' }); // the feed reports it
            },
        );
    },
    async many_are_drawn_as_clusters() {
        for (let i = 0; i < 300; i += 30) {
            await Promise.all(
                Array.from({ length: 30 }, (_, j) =>
                    add(sims, `e${i + j}`, (5 + (i + j) / 100).toFixed(2), (5 + (i + j) / 100).toFixed(2)),
                ),
            );
        }
        await withPage(server, `/recordings/${sims.id}?panels=topics`, {}, async (page) => {
            await lane(page, sims);
            const clusters = page.locator('.timeline-cluster');
            await eventually(async () => {
                const counts = (await clusters.allTextContents()).map(Number);
                return counts.reduce((a, b) => a + b, 0) > 250 && counts.length < 20;
            }, 'the clusters');
            await becomes(() => page.locator('.details-list .link').count(), 100); // the rest on demand
            const before = await clusters.count();
            await clusters.first().click();
            await page.locator('.timeline').getByRole('button', { name: 'Reset zoom' }).waitFor();
            await eventually(
                async () =>
                    (await clusters.count()) < before ||
                    (await clusters.allTextContents()).every((n) => Number(n) < 30),
                'single events',
            );
        });
    },
    async titles_of_long_events_stay_readable() {
        const long = { long: 0, longer: 0.8, longest: 2.1 };
        for (const [title, start] of Object.entries(long)) {
            await add(drive, title, start, 9);
        }
        for (const time of [2.2, 2.25, 2.3, 4]) {
            // where the rows are taken
            await add(drive, `at ${time}`, time, time);
        }
        await withPage(server, `/recordings/${drive.id}?panels=topics`, {}, async (page) => {
            await lane(page, drive);
            await page.locator('.timeline-cluster', { hasText: '3' }).waitFor();
            const bars = await page
                .locator('.timeline-event')
                .evaluateAll((all) =>
                    all.map((one) => ({ text: one.textContent, box: one.getBoundingClientRect().toJSON() })),
                );
            for (const title of Object.keys(long)) {
                const { box } = bars.find(({ text }) => text === title) ?? assert.fail(`${title} is in a cluster`);
                const above = bars.filter(
                    ({ text, box: other }) => text !== title && other.top === box.top && other.left > box.left,
                );
                assert.ok(
                    above.every(({ box: other }) => other.left - box.left > 60),
                    `${title} is covered by ${above.map(({ text }) => text)}`,
                );
            }
        });
    },
};
