// The panels of a recording: their places, and what the address says about them.
import { cameraBag, gpsBag, uploadBag } from './bags.mjs';
import { Server, assert, checkAxe, eventually, withPage, becomes } from './harness.mjs';

let server, bag, archive, part;
export async function setUp() {
    server = await Server.start();
    const made = await server.uploadDemo();
    bag = made.find((r) => r.format === 'rosbag-1.2');
    archive = made.find((r) => r.format === 'nanover');
    const cut = await fetch(`${server.api}/recordings/${bag.id}/as/part.bag?start=%2B5s&end=%2B12s`);
    const { id } = await server.json('/recordings/by-name/lab/part.bag', {
        method: 'PUT',
        body: await cut.arrayBuffer(),
    });
    part = await eventually(async () => {
        const recording = await server.json('/recordings/' + id);
        return recording.state === 'ready' && recording;
    });
}
export async function tearDown() {
    await server?.end();
}

const query = (page) => new URL(page.url()).searchParams;
const region = (page, name) => page.getByRole('region', { name, exact: true });
const boxOf = (page, name) => region(page, name).boundingBox();
async function menu(page, title, item) {
    await page.getByRole('button', { name: `Menu of ${title}`, exact: true }).click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
}
async function drag(page, from, to) {
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2);
    await page.mouse.move(...to);
    await page.mouse.up();
}
const shown = (page, panels) => eventually(() => query(page).get('panels') === panels, `panels=${panels}`);
/** Marks the elements of the panels, to see later that they are the same. */
const mark = (page) =>
    page.evaluate(() => document.querySelectorAll('.panel canvas, .messages').forEach((one) => (one.marked = true)));
const marked = (page) =>
    page.evaluate(() => [...document.querySelectorAll('.panel canvas, .messages')].every((one) => one.marked));

export const tests = {
    async panels_are_moved_resized_and_closed_and_stay_the_same() {
        await withPage(server, `/recordings/${bag.id}?panels=map,messages&messages.topic=/scan`, {}, async (page) => {
            await page.locator('.panel-map canvas').first().waitFor();
            await page.locator('.messages-head').waitFor();
            await mark(page);
            const bar = page.getByRole('separator', { name: 'Resize Map and Messages' });
            const wide = (await boxOf(page, 'Map')).width;
            await bar.focus();
            await page.keyboard.press('ArrowRight');
            await eventually(async () => Math.abs((await boxOf(page, 'Map')).width - wide - 24) < 2, 'a wider map');
            const { x, y, width, height } = await bar.boundingBox();
            await drag(page, [x + width / 2, y + height / 2], [x + width / 2 - 124, y + height / 2]);
            await eventually(async () => Math.abs((await boxOf(page, 'Map')).width - wide + 100) < 2, 'a narrower map');
            assert.match(query(page).get('panels'), /^r\d+-\d+\.map\.messages$/);
            assert.equal(
                Number(await bar.getAttribute('aria-valuenow')),
                Math.round(((wide - 100) / (2 * wide)) * 100),
            );
            await checkAxe(page);
            const [left, right] = [await boxOf(page, 'Map'), await boxOf(page, 'Messages')];
            // below the messages
            await drag(page, [left.x + 60, left.y + 15], [right.x + right.width / 2, right.y + right.height - 20]);
            await shown(page, 'c500-500.messages.map');
            await menu(page, 'Map', 'Move up');
            await shown(page, 'c500-500.map.messages');
            assert.ok(await marked(page), 'the same elements');
            await page.getByRole('button', { name: 'Maximize Map' }).click();
            await region(page, 'Messages').waitFor({ state: 'hidden' });
            await page.getByRole('button', { name: 'Restore Map' }).click();
            await region(page, 'Messages').waitFor();
            assert.ok(await marked(page), 'still the same elements');
            await page.getByRole('button', { name: 'Close Messages' }).click();
            await shown(page, 'map');
            assert.equal(query(page).get('messages.topic'), null);
            await page.goBack();
            await shown(page, 'c500-500.map.messages');
            assert.equal(query(page).get('messages.topic'), '/scan');
        });
    },
    async a_recording_never_opens_without_panels() {
        const camera = await uploadBag(server, 'camera.bag', cameraBag());
        const gps = await uploadBag(server, 'gps.bag', gpsBag());
        const again = await uploadBag(server, 'camera_2.bag', cameraBag());
        const open = async (page, { id }, query = '') => {
            await page.goto(`/recordings/${id}${query}`);
            await page.locator('.panel').first().waitFor();
        };
        await withPage(server, `/recordings/${camera.id}`, {}, async (page) => {
            await page.getByRole('button', { name: 'Maximize Image' }).waitFor();
            for (const close of await page
                .locator('.panel:not(#panel-image)')
                .getByLabel(/^Close /)
                .all()) {
                await close.click();
            }
            await shown(page, 'image');
            await open(page, gps); // of the same format, without pictures
            await region(page, 'Map').waitFor();
            await open(page, gps, '?panels=image,image2'); // a link from another recording
            await region(page, 'Map').waitFor();
            await open(page, again); // of the same topics
            await region(page, 'Image').waitFor();
            await becomes(() => page.locator('.panel').count(), 1);
            await page.getByRole('button', { name: 'Close Image' }).click();
            await page.getByText('No panels are shown.').waitFor(); // as the user wanted, here
            await open(page, camera);
        });
    },
    async each_of_several_panels_of_a_kind_has_its_own_settings() {
        await withPage(server, `/recordings/${bag.id}?panels=messages&messages.topic=/odom`, {}, async (page) => {
            const topic = (name) => region(page, name).getByLabel('Topic');
            await topic('Messages').waitFor();
            await menu(page, 'Messages', 'Duplicate');
            assert.equal(await topic('Messages 2').inputValue(), '/odom');
            await topic('Messages 2').selectOption('/scan');
            await menu(page, 'Messages 2', 'Split below');
            await region(page, 'New panel').getByRole('button', { name: 'Messages' }).click();
            await topic('Messages 3').selectOption('/rosout');
            await eventually(() => query(page).get('messages3.topic') === '/rosout', 'the topic in the address');
            assert.equal(query(page).get('panels'), 'r500-500.messages.c500-500.messages2.messages3');
            await page.reload();
            await topic('Messages').waitFor();
            await becomes(
                () => page.locator('.messages select').evaluateAll((all) => all.map((one) => one.value)),
                ['/odom', '/scan', '/rosout'],
            );
            await page.keyboard.press('p');
            await page.keyboard.press('p');
            await becomes(() => page.evaluate(() => document.activeElement.id), 'panel-messages2');
            await page.setViewportSize({ width: 360, height: 740 });
            const one = await boxOf(page, 'Messages');
            await eventually(
                async () => (await boxOf(page, 'Messages 2')).y >= one.y + one.height,
                'one below the other',
            );
            assert.ok(
                (await page.evaluate(() => document.documentElement.scrollWidth)) <= 360,
                'nothing beside the window',
            );
        });
    },
    async a_panel_opens_another_one_beside_it_or_changes_the_last_used() {
        await withPage(
            server,
            `/recordings/${bag.id}?panels=r500-500.messages.log&messages.topic=/scan`,
            {},
            async (page) => {
                const plot = async (field) => {
                    const line = page.locator(`.messages [data-path$="/${field}"] > .tree-line`);
                    await line.hover();
                    await line.getByRole('button', { name: 'Plot' }).click();
                };
                await plot('angle_min');
                await region(page, 'Plot').waitFor();
                assert.equal(query(page).get('panels'), 'r500-500.c500-500.messages.plot.log');
                await menu(page, 'Plot', 'Duplicate');
                await plot('range_max');
                const has = (id, fields) =>
                    eventually(() => query(page).get(`${id}.fields`) === fields, `${id}.fields=${fields}`);
                await has('plot2', '/scan.angle_min|/scan.range_max');
                await region(page, 'Plot').getByRole('heading').click();
                await plot('scan_time');
                await has('plot', '/scan.angle_min|/scan.scan_time');
                await has('plot2', '/scan.angle_min|/scan.range_max');
            },
        );
    },
    async any_address_shows_something() {
        const deep = 'r1-1.messages.'.repeat(30) + 'topics';
        const wrong = [
            'r1-1',
            'r1-1.messages',
            'c0-0.messages.topics',
            'r1-1.messages.messages',
            '..',
            'r9999999-1.messages.topics',
            deep,
            'messages.topics',
            'plot99999,topics',
            ','.repeat(500),
        ];
        await withPage(server, `/recordings/${bag.id}?panels=none`, {}, async (page) => {
            for (const panels of wrong) {
                await page.evaluate((to) => {
                    history.pushState(null, '', `${location.pathname}?panels=${encodeURIComponent(to)}`);
                    dispatchEvent(new PopStateEvent('popstate'));
                }, panels);
                await page.getByRole('button', { name: 'Add panel' }).click();
                await page.getByRole('menuitem', { name: 'Log' }).click();
                await eventually(async () => (await region(page, 'Log').count()) > 0, panels);
            }
        });
    },
    async two_recordings_run_on_one_clock() {
        await withPage(
            server,
            `/recordings/${bag.id}?panels=messages&messages.topic=/odom&at=7.001`,
            {},
            async (page) => {
                const time = async (name) =>
                    Number((await region(page, name).locator('.messages-head .mono').textContent()).replace(':', ''));
                /** The messages are at these seconds of their recordings; there are ten a second. */
                const at = (one, two) =>
                    eventually(
                        async () =>
                            Math.abs((await time('Messages')) - one) < 0.15 &&
                            Math.abs((await time('Messages 2')) - two) < 0.15,
                        `${one} and ${two}`,
                    );
                await page.getByRole('button', { name: 'Compare…' }).click();
                await page.getByLabel('Search', { exact: true }).fill('part');
                await page.getByRole('list', { name: 'Recordings' }).getByRole('button', { name: 'part.bag' }).click();
                await at(6.95, 1.95); // recorded at the same time, so that is how they are aligned
                assert.deepEqual(
                    [query(page).get('panels'), query(page).get('messages2.of')],
                    ['r500-500.messages.messages2', '2'],
                );
                await page.getByRole('button', { name: 'As recorded', pressed: true }).waitFor();
                await checkAxe(page);
                await page.getByRole('button', { name: 'Export' }).click();
                await page.getByLabel('Recording', { exact: true }).selectOption('Both, merged by time');
                await page.getByLabel('Format').selectOption('.mcap');
                const coming = page.waitForEvent('download');
                await page.getByRole('button', { name: 'Download' }).click();
                const { pathname, searchParams } = new URL((await coming).url());
                assert.deepEqual(
                    [pathname, searchParams.getAll('recording'), searchParams.get('shift')],
                    ['/api/v1/merge/as/demo.mcap', [bag.id, part.id], `${part.id}:0s`],
                );
                await page.getByRole('button', { name: 'Align starts' }).click();
                await at(6.95, 6.95);
                await page.getByRole('button', { name: 'Export' }).click();
                await page.getByLabel('Recording', { exact: true }).selectOption('Both, merged by time');
                await page.getByLabel('Format').selectOption('.mcap');
                const moved = page.waitForEvent('download');
                await page.getByRole('button', { name: 'Download' }).click();
                const rows = await fetch(
                    (await moved).url().replace('demo.mcap', 'demo.ndjson') + '&topic=/odom&decode=none&prefix=always',
                );
                const first = (await rows.text())
                    .trim()
                    .split('\n')
                    .map((line) => JSON.parse(line));
                const startOf = (id) => first.find((row) => row.recording === id).log_time;
                assert.equal(startOf(part.id), startOf(bag.id)); // as they are shown
                const box = await page.locator('.timeline-field').boundingBox();
                const bar = page.locator('.pair-extent');
                const from = await bar.boundingBox();
                // a tenth of 19.9 s
                await drag(page, [from.x + 40, from.y + 4], [from.x + 40 + box.width / 10, from.y + 4]);
                await eventually(() => Math.abs(Number(query(page).get('shift')) - 1.99) < 0.05, 'the shift');
                await at(6.95, 4.95);
                await bar.focus();
                await page.keyboard.press('ArrowRight');
                await page.getByRole('spinbutton', { name: /Start of the second/ }).fill('-3');
                await page.keyboard.press('Enter');
                await at(6.95, 6.95); // the end of the second
                await region(page, 'Messages 2').getByRole('button', { name: 'Previous message' }).click();
                await at(3.85, 6.85);
                const slider = page.getByRole('slider', { name: 'Playhead' });
                await slider.focus();
                await page.keyboard.press('Home');
                await region(page, 'Messages').getByText('No message at or before').waitFor();
                await eventually(() => query(page).get('at') === '-3', 'the time in the address');
                await page.reload();
                await region(page, 'Messages 2').getByRole('button', { name: 'Next message' }).click();
                // the playback runs over both
                await eventually(async () => (await time('Messages 2')) < 0.1, 'the first message of the second');
                await region(page, 'Messages').getByText('No message at or before').waitFor();
                await page.getByLabel('Recording in Messages', { exact: true }).selectOption('2 · part.bag');
                await at(0, 0);
                await page.getByRole('button', { name: 'Close the second recording' }).click();
                await eventually(
                    () => query(page).get('with') === null && !/none|^messages/.test(query(page).get('panels')),
                    'the default panels of one recording',
                );
                await page.goBack();
                await eventually(() => query(page).get('with') === part.id, 'both again');
            },
        );
    },
    async a_second_recording_that_is_missing_is_said() {
        await withPage(
            server,
            `/recordings/${bag.id}?with=${'0'.repeat(32)}&shift=1e99&panels=r1-1.log.log2&log2.of=2`,
            { allow: [/404/] },
            async (page) => {
                await page.getByText('The second recording cannot be shown').waitFor();
                await region(page, 'Log').waitFor();
                await page.getByRole('button', { name: 'Close the second recording' }).click();
                await page.getByText('The second recording cannot be shown').waitFor({ state: 'detached' });
            },
        );
    },
    async layouts_are_saved_for_a_collection() {
        const again = await server.json(`/recordings/${archive.id}`); // of the same collection, with other topics
        const choose = async (page, item) => {
            await page.getByRole('button', { name: 'Layout', exact: true }).click();
            await page
                .getByRole(item.endsWith('…') || item === 'Default layout' ? 'menuitem' : 'menuitemcheckbox', {
                    name: item,
                    exact: true,
                })
                .click();
        };
        await withPage(
            server,
            `/recordings/${bag.id}?panels=r250-750.messages.c500-500.plot.map&messages.topic=/scan&plot.fields=/odom.pose.pose.position.x&plot.zoom=1~2&at=3`,
            { allow: [/404.*\/series/] },
            async (page) => {
                await choose(page, 'Save as…');
                await page.getByLabel('Name', { exact: true }).fill('the plan');
                await page.getByRole('checkbox', { name: /^Default for recordings in/ }).check();
                await page.keyboard.press('Enter');
                await page.getByText('Layout “the plan” saved').waitFor();
                const [{ value }] = (await server.json('/collections/demo/layouts')).items;
                assert.deepEqual(value, {
                    opened: true,
                    panels: 'r250-750.messages.c500-500.plot.map',
                    settings: { messages: { topic: '/scan' }, plot: { fields: '/odom.pose.pose.position.x' }, map: {} },
                });
                await page.getByRole('button', { name: 'Close Map' }).click();
                await choose(page, 'the plan');
                await region(page, 'Map').waitFor();
                await page.getByRole('button', { name: 'Layout', exact: true }).click();
                await page.getByRole('menuitemcheckbox', { name: 'the plan', checked: true }).waitFor();
                await page.keyboard.press('Escape');
                // opens with it: the map does not fit, and the topic is missing
                await page.goto(`/recordings/${again.id}`);
                await region(page, 'Messages').getByText('no /scan').waitFor();
                await becomes(
                    async () => [query(page).get('panels'), await page.locator('.panel').count()],
                    ['r250-750.messages.c500-500.plot.map', 2],
                );
                await page.goto(`/recordings/${again.id}?panels=topics`); // an address that says which panels wins
                await region(page, 'Topics').waitFor();
                await choose(page, 'the plan');
                await page.getByText('Left out because this recording has no data for them: Map').waitFor();
                await choose(page, 'Manage…');
                await page.getByRole('button', { name: 'Rename the plan' }).click();
                await page.keyboard.type('ours');
                await page.keyboard.press('Enter');
                await page.getByRole('button', { name: 'Default', pressed: true }).click();
                await page.getByRole('button', { name: 'Default', pressed: false }).waitFor();
                assert.deepEqual(
                    (await server.json('/collections/demo/layouts')).items.map((one) => [one.name, one.value.opened]),
                    [['ours', false]],
                );
                await checkAxe(page, '.dialog');
                await page.getByRole('button', { name: 'Delete ours' }).click();
                await page.getByText('No saved layouts').waitFor();
                await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click();
                await choose(page, 'Default layout');
                await region(page, '3D').waitFor();
                assert.equal(query(page).get('panels'), null);
            },
        );
    },
};
