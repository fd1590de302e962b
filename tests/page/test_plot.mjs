// The plot, and what leads to it: the legend, curves, two recordings; fields of a message, and its table.
import fs from 'node:fs';
import { Server, assert, checkAxe, eventually, sample, withPage, becomes } from './harness.mjs';
import { driveBag, fastBag, uploadBag } from './bags.mjs';

const [X, Y] = ['/odom.pose.pose.position.x', '/odom.pose.pose.position.y'];
let server, bag, drive, fast, later;
export async function setUp() {
    server = await Server.start();
    [bag] = await server.uploadDemo();
    drive = await uploadBag(server, 'drive.bag', driveBag());
    fast = await uploadBag(server, 'fast.bag', fastBag());
    later = await uploadBag(server, 'later.bag', fastBag());
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
    const all = await server.json(
        `/recordings/${bag.id}/series?field=${X}&field=${Y}&time_format=nanoseconds&max_points=5000`,
    );
    return [X, Y].map(
        (field) =>
            all[field].filter(([time]) => Number(BigInt(time) - BigInt(bag.start_ns)) / 1e9 <= seconds).at(-1)[1],
    );
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
            for (const path of ['/speed.data', '/pose.pose.position.x', '/tf.transforms[0].transform.translation.x']) {
                // the last one is known from a message only
                await list.getByText(path, { exact: true }).waitFor();
            }
            await page.getByLabel('Filter').fill('POS position');
            await list.getByText('/speed.data').waitFor({ state: 'detached' });
            await becomes(
                async () =>
                    (await list.locator('label').allInnerTexts()).filter(
                        (label) => label.includes('/pose') && !/position\.[xyz]/.test(label),
                    ),
                [],
            );
            await page.getByLabel('Filter').fill('tf translation.x');
            await list.getByText('/tf.transforms[0].transform.translation.x').click();
            await page.getByRole('button', { name: 'Done' }).click();
            await page.waitForURL(/translation\.x/);
            await page.locator('.plot-legend').getByText('/tf.transforms[0].transform.translation.x').waitFor();
        });
    },
    async a_field_that_cannot_be_plotted_leaves_the_others() {
        const bad = '/odom.no.such.field';
        await withPage(
            server,
            `/recordings/${bag.id}?panels=plot&at=5&plot.fields=${[X, bad, Y].join('|')}`,
            { allow: [/40\d/] },
            async (page) => {
                await legend(page, await at(5));
                await becomes(() => page.locator('.plot-problem').textContent(), /no\.such\.field/);
            },
        );
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
            await becomes(
                () => line('/child_frame_id').getByRole('button', { name: 'Plot', includeHidden: true }).count(),
                0,
                'a text',
            );
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
        await withPage(
            server,
            `/recordings/${fast.id}?panels=messages&messages.view=table&messages.columns=data&at=7`,
            {},
            async (page) => {
                const current = page.locator('.messages .table-row.current .c-field-0');
                await eventually(
                    async () => (await current.count()) > 0 && (await current.innerText()) === '700',
                    'the row of 7 s',
                );
                const body = page.locator('.messages .table-body');
                await body.evaluate((element) => (element.scrollTop = 24 * 350));
                const row = page.locator('.messages .table-row', { hasText: /^0:03\.550355$/ });
                await row.click();
                await page.waitForURL(/at=3\.55(&|$)/);
                await eventually(async () => (await current.innerText()) === '355', 'the clicked row');
            },
        );
    },
    async an_opaque_message_says_why_it_has_no_plot() {
        const [tape] = await server.upload([sample('mira/mira_basic.tape')], 'real');
        await withPage(
            server,
            `/recordings/${tape.id}?panels=messages&messages.topic=/robot/Battery`,
            {},
            async (page) => {
                await page.locator('.messages-opaque').getByText('how it is serialized is not documented').waitFor();
                await becomes(
                    () => page.locator('.messages').getByRole('button', { name: 'Plot', includeHidden: true }).count(),
                    0,
                );
                await becomes(() => page.locator('.messages-hex').innerText(), /^000000 /);
            },
        );
    },
    async calculations_are_drawn_and_saved() {
        // 20, 20.5, 21 … each half a second
        const fields = ['/speed.data;d', '/speed.data;i;r', '/speed.data;*2;-10;c3', '/speed.data;~1;h'];
        await withPage(
            server,
            `/recordings/${drive.id}?panels=plot&at=4&plot.fields=${encodeURIComponent(fields.join('|'))}`,
            {},
            async (page) => {
                await legend(page, [1, 76.125, 37, 23]); // at 3.5 s
                await checkAxe(page, '.plot');
                const save = async (item) => {
                    await page.getByRole('button', { name: 'Save plot' }).click();
                    const [file] = await Promise.all([
                        page.waitForEvent('download'),
                        page.getByRole('menuitem', { name: item, exact: true }).click(),
                    ]);
                    return fs.readFileSync(await file.path(), 'utf8');
                };
                const rows = (await save('Save plotted points as CSV')).trim().split('\r\n');
                assert.equal(rows[0], 'time,curve,value');
                assert.ok(rows.includes('3.502,/speed.data *2 -10,37'), rows.slice(0, 5).join(' '));
                assert.ok(!rows.some((row) => row.includes('~1')), 'a hidden curve');
                const svg = await save('Save as SVG');
                assert.ok(
                    svg.includes('>/speed.data d</text>') && (svg.match(/<path d="M[^"]*L/g) ?? []).length === 3,
                    svg.slice(0, 500),
                );
                assert.match(await save('Save values as CSV'), /^time,value\r\n/);
            },
        );
    },
    async curves_are_changed_in_the_legend() {
        const setting = (name, wanted) => (page) =>
            page.waitForURL((url) => url.searchParams.get(`plot.${name}`) === wanted);
        await withPage(
            server,
            `/recordings/${bag.id}?panels=plot&at=5&range=2~8&plot.fields=${X}|${Y}`,
            {},
            async (page) => {
                const menu = async (button, item) => {
                    await page.getByRole('button', { name: button, exact: true }).click();
                    await page.locator('[role^=menuitem]', { hasText: item }).click();
                };
                await page.locator('.plot-area[data-drawn]:not([data-drawn=""])').waitFor();
                await page.getByRole('button', { name: `Show ${X}` }).click();
                await setting('fields', `${X};h|${Y}`)(page);
                await menu(`Curve ${X}`, 'Right axis');
                await setting('fields', `${X};r;h|${Y}`)(page);
                await menu(`Curve ${Y}`, 'Add its derivative');
                await menu(`Curve ${Y} d`, 'Edit');
                await page.getByLabel('Calculation').fill('d *3.6 nonsense');
                await page.getByText('Not a valid calculation').waitFor();
                await page.getByLabel('Calculation').fill('d *3.6');
                await page.getByRole('button', { name: 'Done' }).click();
                await setting('fields', `${X};r;h|${Y}|${Y};d;*3.6`)(page);
                await menu(`Curve ${Y} d *3.6`, 'Remove');
                await menu('View', 'Zoom to the selected range');
                await page.locator('.plot-area[data-drawn="2~8"]').waitFor();
                await menu('View', 'Lock y axis');
                await page.waitForURL(/plot\.y=-?[\d.]+(~|%7E)[\d.]+/);
                await menu('View', 'Lock y axis');
                await setting('y', null)(page);
                await page.getByRole('button', { name: 'Reset zoom' }).click();
                await menu(`Curve ${X}`, 'Use as x axis');
                await setting('x', `${X};r;h`)(page);
                await page.locator('.plot-area[data-drawn^="0~"]').waitFor();
                await eventually(async () => {
                    // null while the plot over time makes way for this one
                    const box = await page.locator('.plot-area .u-over').boundingBox();
                    // the lowest point of the circle
                    await (box && page.mouse.click(box.x + box.width / 2, box.y + box.height - 2));
                    return Math.abs((await values(page))[0] + 2) < 0.05;
                }, 'y at the point clicked');
                await page.getByRole('button', { name: 'Plot over time' }).click();
                await setting('x', null)(page);
            },
        );
    },
    async a_second_recording_is_drawn_in_the_same_plot() {
        await withPage(
            server,
            `/recordings/${fast.id}?panels=plot&with=${later.id}&shift=2&at=5&plot.fields=/fast.data`,
            {},
            async (page) => {
                await legend(page, [500, 300]);
                await becomes(
                    () => page.locator('.plot-name').allInnerTexts(),
                    ['/fast.data · fast.bag', '/fast.data · later.bag'],
                );
                await page.locator('.plot-area[data-drawn="0~11.99"]').waitFor(); // both
            },
        );
    },
};
