// What a plot calculates: two fields, frequencies, the difference between two recordings.
import { Server, assert, becomes, eventually, withPage } from './harness.mjs';
import { uploadBag } from './bags.mjs';
import { legend, menu, near, setting } from './plots.mjs';
import { signalBag } from './signal_bags.mjs';

let server, signals, higher;
export async function setUp() {
    server = await Server.start();
    signals = await uploadBag(server, 'signals.bag', signalBag());
    higher = await uploadBag(server, 'higher.bag', signalBag(2));
}
export async function tearDown() {
    await server?.end();
}

export const tests = {
    async two_fields_are_calculated_with() {
        const where = `/recordings/${signals.id}?panels=plot&plot.fields=/a.data|/b.data&at=10`;
        await withPage(server, where, {}, async (page) => {
            await near(page, '/a.data', 40);
            await menu(page, 'Curve /a.data', 'Calculate with another field');
            await page.getByRole('dialog').getByText('/a.data − /b.data').waitFor();
            await page.getByLabel('B, a field').fill('/no.such');
            await page.getByText('No numeric field of this name').waitFor();
            await page.getByLabel('B, a field').fill('/b.data');
            await page.getByRole('button', { name: 'Add curve' }).click();
            await near(page, '/a.data − /b.data', 0);
            await menu(page, 'View', 'Calculate with another field');
            await page.getByLabel('A', { exact: true }).selectOption({ label: '/b.data' });
            await page.getByLabel('Calculation', { exact: true }).selectOption('h');
            await page.getByLabel('B, a field').fill('/velocity.x');
            await page.getByRole('button', { name: 'Add curve' }).click();
            await near(page, 'norm(/b.data, /velocity.x)', 50);
            await menu(page, 'Curve /a.data − /b.data', 'Add its derivative');
            await near(page, '(/a.data − /b.data) d', -1);
            await menu(page, 'Curve /b.data', 'Add its moving average');
            await near(page, '/b.data ~1', 38); // of the second before
            await becomes(
                () => setting(page, 'plot.fields'),
                '/a.data|/b.data|/b.data;~1|/a.data;@-/b.data|/a.data;@-/b.data;d|/b.data;@h/velocity.x',
            );
            await page.reload(); // the link has them
            await near(page, '/a.data − /b.data', 0);
            await near(page, 'norm(/b.data, /velocity.x)', 50);
        });
    },
    async the_difference_between_two_recordings_is_a_curve() {
        const where = `/recordings/${signals.id}?panels=plot&plot.fields=/a.data&with=${higher.id}&at=10`;
        await withPage(server, where, {}, async (page) => {
            await near(page, '/a.data · higher.bag', 42);
            await menu(page, 'View', 'Show the difference between the recordings');
            await near(page, '/a.data · difference to higher.bag', -2);
            assert.equal(setting(page, 'plot.diff'), '1');
            await menu(page, 'View', 'Show the difference between the recordings');
            await becomes(() => page.locator('.plot-item').count(), 2);
        });
    },
    async frequencies_are_seen() {
        const where = `/recordings/${signals.id}?panels=plot&plot.fields=/wheel.data&plot.fft=1`;
        await withPage(server, where, {}, async (page) => {
            const shown = async () => (await legend(page))['/wheel.data'] ?? '';
            await eventually(async () => {
                const hz = Number(/^peak ([\d.]+) Hz$/.exec(await shown())?.[1]);
                return Math.abs(hz - 2) < 0.1;
            }, 'the wheel swings with 2 Hz');
            const over = await page.locator('.plot-area .u-over').boundingBox();
            const amplitudes = [];
            for (let x = Math.floor((over.width * 1.5) / 25); x < (over.width * 2.5) / 25; x++) {
                // of 25 Hz, the half of its rate; below the legend
                await page.mouse.move(over.x + x, over.y + over.height * 0.8);
                amplitudes.push(Number(await shown()));
            }
            const most = Math.max(...amplitudes.filter(Number.isFinite)); // until the pointer is noticed there are none
            assert.ok(Math.abs(most - 5) < 0.5, `it swings by 5, seen as ${most}`);
            await page.mouse.move(0, 0);
            await menu(page, 'View', 'Show frequencies');
            await becomes(() => setting(page, 'plot.fft'), null);
            await eventually(async () => Math.abs(Number(await shown()) - 7) < 0.1, 'over time');
        });
    },
};
