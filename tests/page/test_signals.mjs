// The panels of signals: the tree of fields, strips of states, gauges, diagnostics; and what links them to plots.
import { Server, assert, becomes, checkAxeInBothThemes, eventually, settled, withPage } from './harness.mjs';
import { uploadBag } from './bags.mjs';
import { legend, menu, near, setting } from './plots.mjs';
import { burstBag, diagnosticsBag, driveStateBag, signalBag } from './signal_bags.mjs';

let server, signals, health;
export async function setUp() {
    server = await Server.start();
    signals = await uploadBag(server, 'signals.bag', signalBag());
    health = await uploadBag(server, 'health.bag', diagnosticsBag());
}
export async function tearDown() {
    await server?.end();
}

const node = (page, path) => page.locator(`.fields [data-path="${path}"]`);
const line = (page, path) => node(page, path).locator('> .tree-line');
const at = (topic, ...steps) => '/' + [encodeURIComponent(topic), ...steps].join('/');

export const tests = {
    async fields_are_dragged_from_the_tree_into_a_plot() {
        const where = `/recordings/${signals.id}?panels=fields,plot&plot.fields=/b.data`;
        await withPage(server, where, {}, async (page) => {
            await line(page, at('/velocity')).click();
            await line(page, at('/velocity', 'x')).dragTo(page.locator('.plot-area'));
            await becomes(() => setting(page, 'plot.fields'), '/b.data|/velocity.x');
            await line(page, at('/velocity')).dragTo(page.locator('.plot-area')); // with all that is below
            await becomes(() => setting(page, 'plot.fields'), '/b.data|/velocity.x|/velocity.y|/velocity.z');
            await page.mouse.move(0, 0);
            await near(page, '/velocity.x', 0);
            await line(page, at('/a')).click();
            await node(page, at('/a', 'data')).focus();
            await page.keyboard.press('Enter');
            await becomes(() => setting(page, 'plot.fields'), /\|\/a\.data$/);
            await near(page, '/a.data', 10);
            await checkAxeInBothThemes(page);
        });
    },
    async fields_are_searched_in_all_topics() {
        await withPage(server, `/recordings/${signals.id}?panels=fields`, {}, async (page) => {
            await page.getByLabel('Filter fields').fill('velo .y');
            await line(page, at('/velocity', 'y')).waitFor();
            await becomes(() => page.locator('.fields [role=treeitem]').count(), 2); // and its topic
            assert.equal(setting(page, 'fields.filter'), 'velo .y');
            await line(page, at('/velocity', 'y')).hover();
            await page.getByTitle('Plot /velocity.y', { exact: true }).click();
            await page.locator('.panel-plot').getByText('/velocity.y').first().waitFor();
            await page.getByLabel('Filter fields').fill('mode');
            await line(page, at('/mode', 'data')).hover();
            assert.equal(await page.getByTitle('Plot /mode.data', { exact: true }).count(), 0); // a text
            await page.getByTitle('Show the states of /mode.data').click();
            await page.locator('.panel-states .states-run').first().waitFor();
            await becomes(() => setting(page, 'states.fields'), '/mode.data');
            await page.getByLabel('Filter fields').fill('nothing of this name');
            await page.getByText('No fields match').waitFor();
        });
    },
    async states_are_strips_with_the_names_of_their_values() {
        const fields = '/mode.data|/enabled.data|/goal.status';
        const where = `/recordings/${signals.id}?panels=states&states.fields=${fields}&at=6`;
        await withPage(server, where, {}, async (page) => {
            const runs = (i) => page.locator('.states-strip').nth(i).locator('.states-run').allInnerTexts();
            await becomes(() => runs(0), ['idle', 'driving', 'motor fault']);
            await becomes(() => runs(1), ['false', 'true']);
            await becomes(() => runs(2), ['PENDING', 'ACTIVE', 'SUCCEEDED']);
            const values = () => page.locator('.states-value').allInnerTexts();
            await becomes(values, ['driving', 'true', 'ACTIVE']);
            const strip = await page.locator('.states-strip').first().boundingBox();
            const driving = await page.getByText('driving', { exact: true }).last().boundingBox();
            const length = Number(BigInt(signals.end_ns) - BigInt(signals.start_ns)) / 1e9;
            assert.ok(Math.abs((driving.x - strip.x) / strip.width - 5 / length) < 0.01, 'driving begins at 5 s');
            await page.getByRole('button', { name: 'Next change of /mode.data' }).click();
            await becomes(values, ['motor fault', 'true', 'SUCCEEDED']);
            await page.waitForURL(/at=12(&|$)/);
            await page.mouse.click(strip.x + strip.width * 0.1, strip.y + strip.height / 2); // the playhead
            await page.mouse.move(0, 0);
            await becomes(values, ['idle', 'false', 'PENDING']);
            await page.getByRole('button', { name: 'Remove /enabled.data' }).click();
            await becomes(() => page.locator('.states-row').count(), 2);
            await checkAxeInBothThemes(page);
        });
    },
    async constants_are_those_of_the_fields_own_type() {
        const drive = await uploadBag(server, 'drive.bag', driveStateBag());
        const fields = '/drive.speed|/drive.front.code|/drive.rear.code';
        const where = `/recordings/${drive.id}?panels=states&states.fields=${fields}&at=1`;
        await withPage(server, where, {}, async (page) => {
            const values = () => page.locator('.states-value').allInnerTexts();
            await becomes(values, ['1', 'FRONT_OPEN', 'REAR_OPEN']);
        });
    },
    async a_burst_of_messages_is_thinned() {
        const burst = await uploadBag(server, 'burst.bag', burstBag());
        const where = `/recordings/${burst.id}?panels=states&states.fields=/enabled.data&states.zoom=0~1`;
        await withPage(server, where, {}, async (page) => {
            await page.getByText('Some messages are left out').waitFor();
            await page.locator('.states-run').first().waitFor();
        });
    },
    async fields_of_topics_that_are_not_there_ask_for_nothing() {
        const where = `/recordings/${signals.id}?panels=values&values.fields=/none.data`;
        await withPage(server, where, {}, async (page) => {
            await page.locator('.values .table-row', { hasText: '/none.data' }).waitFor();
            await settled(page);
            const asked = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
            assert.ok(asked.some((url) => url.includes('/recordings/')));
            assert.deepEqual(
                asked.filter((url) => url.includes('/messages?')),
                [],
            );
        });
    },
    async plots_are_linked() {
        const where = `/recordings/${signals.id}?panels=plot,plot2,states&plot.fields=/a.data&plot2.fields=/b.data&at=3`;
        await withPage(server, where, {}, async (page) => {
            const area = (id) => page.locator(`#panel-${id} .plot-area[data-drawn]:not([data-drawn=""])`);
            const drawn = (id) => area(id).getAttribute('data-drawn');
            await area('plot').waitFor();
            await area('plot2').waitFor();
            const over = await page.locator('#panel-plot .u-over').boundingBox();
            await page.mouse.move(over.x + over.width / 2, over.y + over.height / 2);
            const second = async () => Number((await legend(page, '#panel-plot2'))['/b.data']);
            await eventually(async () => Math.abs((await second()) - 40) < 1, 'b at the time of the pointer');
            await page.locator('#panel-plot2 .plot-cursor:not([hidden])').waitFor();
            await page.locator('.states-cursor:not([hidden])').waitFor();
            await page.mouse.down();
            await page.mouse.move(over.x + over.width * 0.75, over.y + over.height / 2, { steps: 4 });
            await page.mouse.up();
            await becomes(() => setting(page, 'plot.zoom'), /~/);
            const zoom = setting(page, 'plot.zoom');
            await becomes(() => setting(page, 'plot2.zoom'), zoom);
            await becomes(() => setting(page, 'states.zoom'), zoom);
            await becomes(() => drawn('plot2'), zoom);
            await menu(page, 'View', 'Link zoom and pointer', '#panel-plot2');
            await becomes(() => setting(page, 'plot2.link'), '0');
            await page.locator('#panel-plot').getByRole('button', { name: 'Reset zoom' }).click();
            await becomes(() => setting(page, 'plot.zoom'), null);
            await becomes(() => setting(page, 'states.zoom'), null);
            assert.equal(setting(page, 'plot2.zoom'), zoom);
        });
    },
    async a_link_opens_with_the_zooms_it_has() {
        const where = `/recordings/${signals.id}?panels=plot,plot2&plot.fields=/a.data&plot2.fields=/b.data&plot.zoom=1~2`;
        await withPage(server, where, {}, async (page) => {
            const area = (id) => page.locator(`#panel-${id} .plot-area[data-drawn]:not([data-drawn=""])`);
            await area('plot').waitFor();
            await area('plot2').waitFor();
            await settled(page);
            assert.equal(setting(page, 'plot2.zoom'), null);
            await page.getByRole('button', { name: 'Add panel' }).click();
            await page.getByRole('menuitem', { name: 'States', exact: true }).click();
            await becomes(
                () => setting(page, 'states.zoom'),
                '1~2',
                'a panel that is added shows what the others show',
            );
        });
    },
    async values_of_several_topics_are_a_table() {
        const where = `/recordings/${signals.id}?panels=fields,values&values.fields=/a.data|/goal.status&at=7.05`;
        await withPage(server, where, {}, async (page) => {
            const rows = async () =>
                (await page.locator('.values .table-row').allInnerTexts()).map((row) =>
                    row.split('\n').filter(Boolean).join(' '),
                );
            await becomes(rows, ['/a.data 31 50 ms', '/goal.status ACTIVE 50 ms']);
            await page.getByLabel('Filter fields').fill('mode');
            await line(page, at('/mode', 'data')).hover();
            await page.getByTitle('Show the value of /mode.data').click();
            await becomes(rows, ['/a.data 31 50 ms', '/goal.status ACTIVE 50 ms', '/mode.data driving 50 ms']);
            await page.getByRole('slider', { name: 'Playhead' }).focus();
            await page.keyboard.press('End');
            await becomes(rows, [
                '/a.data 69.7 80 ms',
                '/goal.status SUCCEEDED 480 ms',
                '/mode.data motor fault 480 ms',
            ]);
            await page.getByRole('button', { name: 'Remove /a.data' }).click();
            await becomes(() => setting(page, 'values.fields'), '/goal.status|/mode.data');
            await checkAxeInBothThemes(page);
        });
    },
    async diagnostics_are_a_table_with_the_worst_first() {
        await withPage(server, `/recordings/${health.id}?panels=diagnostics&at=2`, {}, async (page) => {
            const rows = async () =>
                (await page.locator('.diagnostics .table-row').allInnerTexts()).map((row) =>
                    row.split('\n').filter(Boolean).slice(0, 2).join(' '),
                );
            await becomes(rows, ['OK battery', 'OK lidar', 'OK motor: left']);
            await page.getByRole('slider', { name: 'Playhead' }).focus();
            await page.keyboard.press('End');
            await becomes(rows, ['Error motor: left', 'Stale lidar', 'OK battery']);
            await page.getByText('1 error, 0 warnings, 1 stale, 1 OK').waitFor();
            await page.getByText('spinning, not reported for 11').waitFor();
            await page.locator('.diagnostics .table-row').first().click();
            const values = page.getByRole('group', { name: 'Values of motor: left' });
            await becomes(async () => (await values.locator('dd').allInnerTexts()).join(), 'board 7,98,90');
            await page.getByLabel('Minimum level').selectOption('Error');
            await becomes(rows, ['Error motor: left', 'Stale lidar']);
            await page.locator('.diagnostics').getByLabel('Filter', { exact: true }).fill('hot');
            await becomes(rows, ['Error motor: left']);
            await checkAxeInBothThemes(page);
        });
    },
    async a_gauge_shows_one_field() {
        const where = `/recordings/${signals.id}?panels=gauge&gauge.field=/b.data&at=5`;
        await withPage(server, where, {}, async (page) => {
            const shown = page.locator('.gauge-number');
            await becomes(() => shown.innerText(), '20');
            await becomes(() => page.locator('.gauge-ends span').allInnerTexts(), ['0', '79.6']);
            await page.getByRole('button', { name: 'Range' }).click();
            await page.getByLabel('Maximum').fill('40');
            await page.getByRole('button', { name: 'Done' }).click();
            await becomes(() => page.locator('.gauge-ends span').allInnerTexts(), ['0', '40']);
            await page.locator('.gauge-fill[d*=" 0 0 1 50.00 8.00"]').waitFor(); // half of it: to the top
            await checkAxeInBothThemes(page);
            await page.getByRole('button', { name: 'Field', exact: true }).click();
            await page.getByRole('dialog').getByText('/mode.data').click();
            await becomes(() => shown.innerText(), 'driving');
            await becomes(() => setting(page, 'gauge.max'), null);
        });
    },
    async a_gauge_waits_for_its_range_and_says_why_there_is_none() {
        await withPage(server, '/', { allow: [/50[03]/] }, async (page) => {
            let answers = 0;
            await page.route('**/series?*', (route) => {
                const [status, more] = [
                    [503, { job: 'j1' }],
                    [500, {}],
                ][answers++] ?? [0];
                return status
                    ? route.fulfill({ status, json: { title: 'No values', status, ...more } })
                    : route.continue();
            });
            await page.goto(`/recordings/${signals.id}?panels=gauge&gauge.field=/b.data&at=5`);
            await page.locator('.gauge').getByRole('alert').getByText('No values').waitFor();
            await becomes(() => page.locator('.gauge-number').innerText(), '20');
            await page.locator('.gauge').getByRole('button', { name: 'Try again' }).click();
            await becomes(() => page.locator('.gauge-ends span').allInnerTexts(), ['0', '79.6']);
            assert.equal(answers, 3);
        });
    },
};
