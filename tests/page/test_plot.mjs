// The plot: what the legend says, and fields that cannot be plotted.
import { Server, assert, checkAxe, eventually, sample, withPage } from './harness.mjs';
import { driveBag, fastBag, uploadBag } from './bags.mjs';

const [X, Y] = ['/odom.pose.pose.position.x', '/odom.pose.pose.position.y'];
let server, bag, drive, fast;
export async function setUp() {
    server = await Server.start();
    [bag] = await server.uploadDemo();
    drive = await uploadBag(server, 'drive.bag', driveBag());
    fast = await uploadBag(server, 'fast.bag', fastBag());
}
export async function tearDown() {
    await server?.end();
}

const values = async (page) => (await page.locator('.plot-legend .plot-value').allTextContents()).map(Number);
const legend = (page, expected) =>
    eventually(async () => {
        const shown = await values(page);
        return shown.length === expected.length && shown.every((value, i) => Math.abs(value - expected[i]) < 0.01);
    }, `the legend: ${expected}`);

/** The last value of each field at or before this time. */
async function at(seconds) {
    const all = await server.json(`/recordings/${bag.id}/series?field=${X}&field=${Y}&time_format=nanoseconds&max_points=5000`);
    return [X, Y].map((field) => all[field].filter(([time]) => Number(BigInt(time) - BigInt(bag.start_ns)) / 1e9 <= seconds).at(-1)[1]);
}

export const tests = {
    async the_legend_has_the_values_at_the_playhead() {
        await withPage(server, `/recordings/${bag.id}?panels=plot&at=5`, {}, async (page) => {
            await legend(page, await at(5));
            const over = await page.locator('.plot-area .u-over').boundingBox();
            await page.mouse.move(over.x + over.width * 0.7, over.y + 20);
            await eventually(async () => (await values(page))[1] < 0, 'the values under the pointer'); // y is 2 at 5 s
            await page.mouse.move(2, 2);
            await legend(page, await at(5));
            await page.goto(`/recordings/${bag.id}?panels=plot&at=12`);
            await legend(page, await at(12));
        });
    },
    async fields_of_all_topics_are_filtered_at_once() {
        await withPage(server, `/recordings/${drive.id}?panels=plot`, {}, async (page) => {
            await page.getByRole('button', { name: 'Fields', exact: true }).click();
            const list = page.locator('.plot-list');
            for (const path of ['/speed.data', '/pose.pose.position.x', '/tf.transforms[0].transform.translation.x']) { // the last one is known from a message only
                await list.getByText(path, { exact: true }).waitFor();
            }
            await page.getByLabel('Filter').fill('POS position');
            await list.getByText('/speed.data').waitFor({ state: 'detached' });
            assert.deepEqual((await list.locator('label').allInnerTexts()).filter((label) => label.includes('/pose') && !/position\.[xyz]/.test(label)), []);
            await page.getByLabel('Filter').fill('tf translation.x');
            await list.getByText('/tf.transforms[0].transform.translation.x').click();
            await page.getByRole('button', { name: 'Done' }).click();
            await page.waitForURL(/translation\.x/);
            await page.locator('.plot-legend').getByText('/tf.transforms[0].transform.translation.x').waitFor();
        });
    },
    async a_field_that_cannot_be_plotted_leaves_the_others() {
        const bad = '/odom.no.such.field';
        await withPage(server, `/recordings/${bag.id}?panels=plot&at=5&plot.fields=${[X, bad, Y].join('|')}`, { allow: [/40\d/] }, async (page) => {
            await legend(page, await at(5));
            assert.match(await page.locator('.plot-problem').textContent(), /no\.such\.field/);
        });
    },
    async a_field_of_a_message_is_plotted_and_shown_as_a_column() {
        await withPage(server, `/recordings/${bag.id}?panels=messages&messages.topic=/odom&at=5`, {}, async (page) => {
            const line = (path) => page.locator(`.messages [data-path="${path}"] > .tree-line`);
            for (const path of ['/pose', '/pose/pose', '/pose/pose/position', '/pose/covariance']) {
                await line(path).click();
            }
            await line('/pose/pose/position/x').hover();
            await checkAxe(page, '.messages');
            await line('/pose/pose/position/x').getByRole('button', { name: 'Plot' }).click();
            await page.locator('.panel-plot').waitFor();
            await page.locator('.messages [data-path="/pose/covariance/7"]').focus(); // by keyboard: Tab to its buttons
            await page.keyboard.press('Tab');
            await page.keyboard.press('Enter');
            await page.waitForURL((url) => url.searchParams.get('plot.fields') === `${X}|/odom.pose.covariance[7]`);
            assert.equal(await line('/child_frame_id').getByRole('button', { name: 'Plot', includeHidden: true }).count(), 0, 'a text');
            await line('/child_frame_id').hover();
            await line('/child_frame_id').getByRole('button', { name: 'Column' }).click();
            await page.locator('.messages .table-row.current').getByText('"base_link"').waitFor();
            await page.getByRole('button', { name: 'Columns', exact: true }).click();
            await page.getByLabel('Filter').fill('position.x');
            await page.locator('.plot-list').getByText('pose.pose.position.x').click();
            await page.getByRole('button', { name: 'Done' }).click();
            const current = page.locator('.messages .table-row.current');
            const x = async () => Number(await current.locator('.c-field-1').innerText());
            await eventually(async () => Math.abs((await x()) - (await at(5))[0]) < 1e-6, 'x at the playhead');
            await checkAxe(page, '.messages');
            await page.locator('.messages .table-body').press('Home');
            await eventually(async () => (await current.innerText()).startsWith('0:00.003'), 'the first row');
            await page.getByRole('button', { name: 'Remove the column child_frame_id' }).click();
            await page.waitForURL((url) => url.searchParams.get('messages.columns') === 'pose.pose.position.x');
        });
    },
    async a_long_table_follows_the_playhead() {
        await withPage(server, `/recordings/${fast.id}?panels=messages&messages.view=table&messages.columns=data&at=7`, {}, async (page) => {
            const current = page.locator('.messages .table-row.current .c-field-0');
            await eventually(async () => (await current.count()) > 0 && (await current.innerText()) === '700', 'the row of 7 s');
            const body = page.locator('.messages .table-body');
            await body.evaluate((element) => (element.scrollTop = 24 * 350));
            const row = page.locator('.messages .table-row', { hasText: /^0:03\.550355$/ });
            await row.click();
            await page.waitForURL(/at=3\.55(&|$)/);
            await eventually(async () => (await current.innerText()) === '355', 'the clicked row');
        });
    },
    async an_opaque_message_says_why_it_has_no_plot() {
        const [tape] = await server.upload([sample('mira/mira_basic.tape')], 'real');
        await withPage(server, `/recordings/${tape.id}?panels=messages&messages.topic=/robot/Battery`, {}, async (page) => {
            await page.locator('.messages-opaque').getByText('does not decode messages of the encoding mira').waitFor();
            assert.equal(await page.locator('.messages').getByRole('button', { name: 'Plot', includeHidden: true }).count(), 0);
            assert.match(await page.locator('.messages-hex').innerText(), /^000000 /);
        });
    },
};
