// The panels of a recording: their places, and what the address says about them.
import { Server, assert, checkAxe, eventually, withPage } from './harness.mjs';

let server, bag, archive;
export async function setUp() {
    server = await Server.start();
    const made = await server.uploadDemo();
    bag = made.find((r) => r.format === 'rosbag-1.2');
    archive = made.find((r) => r.format === 'nanover');
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
const mark = (page) => page.evaluate(() => document.querySelectorAll('.panel canvas, .messages').forEach((one) => (one.marked = true)));
const marked = (page) => page.evaluate(() => [...document.querySelectorAll('.panel canvas, .messages')].every((one) => one.marked));

export const tests = {
    async panels_are_moved_resized_and_closed_and_stay_the_same() {
        await withPage(server, `/recordings/${archive.id}?panels=scene,messages&messages.topic=state`, {}, async (page) => {
            await page.locator('.panel-scene canvas').waitFor();
            await page.locator('.messages-head').waitFor();
            await mark(page);
            const bar = page.getByRole('separator', { name: 'Resize 3D and Messages' });
            const wide = (await boxOf(page, '3D')).width;
            await bar.focus();
            await page.keyboard.press('ArrowRight');
            await eventually(async () => Math.abs((await boxOf(page, '3D')).width - wide - 24) < 2, 'a wider 3D view');
            const { x, y, width, height } = await bar.boundingBox();
            await drag(page, [x + width / 2, y + height / 2], [x + width / 2 - 124, y + height / 2]);
            await eventually(async () => Math.abs((await boxOf(page, '3D')).width - wide + 100) < 2, 'a narrower 3D view');
            assert.match(query(page).get('panels'), /^r\d+-\d+\.scene\.messages$/);
            assert.equal(Number(await bar.getAttribute('aria-valuenow')), Math.round(((wide - 100) / (2 * wide)) * 100));
            await checkAxe(page);
            const [left, right] = [await boxOf(page, '3D'), await boxOf(page, 'Messages')];
            await drag(page, [left.x + 60, left.y + 15], [right.x + right.width / 2, right.y + right.height - 20]); // below the messages
            await shown(page, 'c500-500.messages.scene');
            await menu(page, '3D', 'Move up');
            await shown(page, 'c500-500.scene.messages');
            assert.ok(await marked(page), 'the same elements');
            await page.getByRole('button', { name: 'Maximize 3D' }).click();
            await region(page, 'Messages').waitFor({ state: 'hidden' });
            await page.getByRole('button', { name: 'Restore 3D' }).click();
            await region(page, 'Messages').waitFor();
            assert.ok(await marked(page), 'still the same elements');
            await page.getByRole('button', { name: 'Close Messages' }).click();
            await shown(page, 'scene');
            assert.equal(query(page).get('messages.topic'), null);
            await page.goBack();
            await shown(page, 'c500-500.scene.messages');
            assert.equal(query(page).get('messages.topic'), 'state');
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
            assert.deepEqual(await page.locator('.messages select').evaluateAll((all) => all.map((one) => one.value)), ['/odom', '/scan', '/rosout']);
            await page.keyboard.press('p');
            await page.keyboard.press('p');
            assert.equal(await page.evaluate(() => document.activeElement.id), 'panel-messages2');
            await page.setViewportSize({ width: 360, height: 740 });
            const one = await boxOf(page, 'Messages');
            await eventually(async () => (await boxOf(page, 'Messages 2')).y >= one.y + one.height, 'one below the other');
            assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360, 'nothing beside the window');
        });
    },
    async any_address_shows_something() {
        const deep = 'r1-1.messages.'.repeat(30) + 'topics';
        const wrong = ['r1-1', 'r1-1.messages', 'c0-0.messages.topics', 'r1-1.messages.messages', '..', 'r9999999-1.messages.topics', deep, 'messages.topics', 'plot99999,topics', ','.repeat(500)];
        await withPage(server, `/recordings/${bag.id}?panels=none`, {}, async (page) => {
            for (const panels of wrong) {
                await page.evaluate((to) => {
                    history.pushState(null, '', `?panels=${encodeURIComponent(to)}`);
                    dispatchEvent(new PopStateEvent('popstate'));
                }, panels);
                await page.getByRole('button', { name: 'Add panel' }).click();
                await page.getByRole('menuitem', { name: 'Log' }).click();
                await eventually(async () => (await region(page, 'Log').count()) > 0, panels);
            }
        });
    },
};
