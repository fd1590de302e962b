// A live recording grows before one's eyes, and is finished from the page.
import { Server, assert, checkAxe, eventually, settled, withPage, becomes } from './harness.mjs';

let server;
export async function setUp() {
    server = await Server.start();
}
export async function tearDown() {
    await server?.end();
}

const BEGAN = 1700000000000; // ms
async function create(name) {
    return (await server.json(`/recordings?live=true&collection=lab&name=${name}`, { method: 'POST' })).id;
}
async function append(id, from, count) {
    const rows = Array.from({ length: count }, (_, i) => ({
        topic: '/imu',
        log_time: BEGAN * 1e6 + (from + i) * 1e8,
        data: { x: Math.sin((from + i) / 5) },
    }));
    await appendRows(id, rows);
}
async function appendRows(id, rows) {
    await server.json(`/recordings/${id}/messages`, {
        method: 'POST',
        body: rows.map((row) => JSON.stringify(row)).join('\n'),
        headers: { 'Content-Type': 'application/x-ndjson' },
    });
}

export const tests = {
    async it_grows_and_is_finished() {
        const id = await create('drive');
        await withPage(server, '/recordings/' + id, {}, async (page) => {
            await page.getByText('No messages yet').waitFor();
            await append(id, 0, 50);
            await page.locator('.recording-facts', { hasText: '50 messages' }).waitFor();
            await append(id, 50, 25);
            await page.locator('.recording-facts', { hasText: '75 messages' }).waitFor();
            await page.locator('.badge', { hasText: 'Recording' }).waitFor();
            await settled(page);
            await checkAxe(page);
            await page.getByRole('button', { name: 'More actions' }).click();
            await becomes(() => page.getByRole('menuitem').allTextContents(), ['Finish recording']);
            await page.getByRole('menuitem', { name: 'Finish recording' }).click();
            await page.locator('.toast', { hasText: 'Recording finished' }).waitFor();
            await eventually(
                async () => (await page.locator('.badge', { hasText: 'Recording' }).count()) === 0,
                'no badge',
            );
            assert.equal((await server.json('/recordings/' + id)).state, 'ready');
        });
    },
    async the_player_follows_its_end() {
        const id = await create('followed');
        await append(id, 0, 50);
        await withPage(server, `/recordings/${id}?panels=messages,plot`, {}, async (page) => {
            const live = (pressed) => page.getByRole('button', { name: 'Live', pressed }).waitFor();
            const shows = (time) => page.locator('.player-time', { hasText: time }).waitFor();
            await live(true);
            await shows('0:04.900 / 4.90 s');
            await append(id, 50, 25);
            await shows('0:07.400 / 7.40 s');
            await page.locator('.panel-messages', { hasText: '0:07.400' }).waitFor();
            await page.getByRole('button', { name: 'Go to start' }).click();
            await live(false);
            await append(id, 75, 25);
            await shows('0:00.000 / 9.90 s'); // the playhead stays
            await page.getByRole('button', { name: 'Live' }).click();
            await shows('0:09.900 / 9.90 s');
            await append(id, 100, 10);
            await shows('0:10.900 / 10.9 s');
            assert.ok(!page.url().includes('at='), 'a link follows, too');
        });
    },
    async signals_get_what_came_later() {
        const id = await create('signals');
        const add = (topic, at, x) => appendRows(id, [{ topic, log_time: BEGAN * 1e6 + at * 1e9, data: { x } }]);
        await add('/early', 0, 1);
        await add('/early', 1, 3);
        const where =
            '?panels=values,gauge,states&values.fields=/early.x|/late.x&gauge.field=/early.x&states.fields=/late.x';
        await withPage(server, `/recordings/${id}${where}`, {}, async (page) => {
            const ends = () => page.locator('.gauge-ends span').allInnerTexts();
            await becomes(ends, ['1', '3']);
            await add('/late', 2, 7);
            await page.locator('.values .table-row', { hasText: '/late.x' }).getByText('7', { exact: true }).waitFor();
            await becomes(() => page.locator('.states-value').allInnerTexts(), ['7']);
            await add('/early', 3, 5);
            await becomes(ends, ['1', '5']);
        });
    },
    async the_scene_and_the_map_get_what_came_later() {
        const id = await create('poses');
        const drive = (topic, from, count) =>
            appendRows(id, [
                { $channel: { topic, type: 'geometry_msgs/PoseStamped', encoding: 'json' } },
                ...Array.from({ length: count }, (_, i) => ({
                    topic,
                    log_time: BEGAN * 1e6 + (from + i) * 1e8,
                    data: {
                        header: { frame_id: 'map' },
                        pose: { position: { x: i, y: from, z: 0 }, orientation: { x: 0, y: 0, z: 0, w: 1 } },
                    },
                })),
            ]);
        await drive('/a', 0, 20);
        await withPage(server, `/recordings/${id}?panels=scene,map`, {}, async (page) => {
            const topics = (number) => page.locator('.scene-stats', { hasText: `Topics${number}` }).waitFor();
            await topics(1);
            await page.getByRole('checkbox', { name: '/a' }).waitFor();
            await drive('/b', 20, 20); // the end is now beyond what was loaded
            await topics(2);
            await page.getByRole('checkbox', { name: '/b' }).waitFor();
        });
    },
    async the_library_shows_it() {
        const id = await create('other');
        await withPage(server, '/?q=state:recording', {}, async (page) => {
            await page.locator('.table-row', { hasText: 'other' }).waitFor();
            await append(id, 0, 10);
            await page
                .locator('.table-row', { hasText: 'other' })
                .locator('.badge', { hasText: 'Recording' })
                .waitFor();
        });
    },
};
