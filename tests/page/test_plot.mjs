// The plot: what the legend says, and fields that cannot be plotted.
import { Server, assert, eventually, withPage } from './harness.mjs';
import { driveBag, uploadBag } from './bags.mjs';

const [X, Y] = ['/odom.pose.pose.position.x', '/odom.pose.pose.position.y'];
let server, bag, drive;
export async function setUp() {
    server = await Server.start();
    [bag] = await server.uploadDemo();
    drive = await uploadBag(server, 'drive.bag', driveBag());
}
export async function tearDown() {
    await server?.end();
}

const values = async (page) => (await page.locator('.plot-area .u-legend .u-value').allTextContents()).slice(1).map(Number);
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
            await page.locator('.plot-area .u-legend').getByText('/tf.transforms[0].transform.translation.x').waitFor();
        });
    },
    async a_field_that_cannot_be_plotted_leaves_the_others() {
        const bad = '/odom.no.such.field';
        await withPage(server, `/recordings/${bag.id}?panels=plot&at=5&plot.fields=${[X, bad, Y].join('|')}`, { allow: [/40\d/] }, async (page) => {
            await legend(page, await at(5));
            assert.match(await page.locator('.plot-problem').textContent(), /no\.such\.field/);
        });
    },
};
