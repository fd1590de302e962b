// The search for values: when a condition held, in which recordings.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server, checkAxeInBothThemes, eventually, runReel, withPage, becomes } from './harness.mjs';

let server;
export async function setUp() {
    server = await Server.start();
    const demo = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-values-'));
    await runReel(['demo', demo]);
    const bag = fs.readFileSync(path.join(demo, 'demo.bag'));
    for (const name of ['walk-1.bag', 'walk-2.bag', 'door.bag']) {
        await server.json(`/recordings/by-name/lab/${name}`, { method: 'PUT', body: bag });
    }
    await server.upload([path.join(demo, 'demo.nanover.zip')], 'lab');
    fs.rmSync(demo, { recursive: true });
}
export async function tearDown() {
    await server?.end();
}

const search = (page) => page.getByRole('combobox', { name: 'Search recordings' });

export const tests = {
    async searches_for_values() {
        await withPage(server, '/', { allow: [/400/] }, async (page) => {
            const choose = async (typed, item) => {
                await search(page).pressSequentially(typed);
                await page.getByRole('option', { name: item }).first().click();
            };
            await choose('format:rosbag-1.2 /od', /^\/odom\./);
            await choose('twist.twist.li', /twist\.linear\.x/);
            await becomes(() => search(page).inputValue(), 'format:rosbag-1.2 /odom.twist.twist.linear.x');
            await search(page).pressSequentially('>0.4 for 2s');
            const found = page.getByRole('region', { name: 'When was' });
            await found.getByRole('status').filter({ hasText: '3 recordings of 3 searched.' }).waitFor();
            await checkAxeInBothThemes(page);
            await found.getByRole('button', { name: 'Save as events…' }).click();
            await page.getByRole('dialog').getByLabel('Title').fill('fast');
            await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
            await page.getByText('3 events in 3 recordings').waitFor();
            const opened = found.getByRole('list', { name: 'Times in walk-1.bag' }).getByRole('link').first();
            await opened.click(); // at the moment
            const head = page.getByRole('slider', { name: 'Playhead' });
            await eventually(async () => (await head.getAttribute('aria-valuetext'))?.includes('0:00.003'), 'the time');
            await page.locator('.timeline').getByText('fast').first().waitFor();
            await page.goBack();
            await found.getByRole('status').filter({ hasText: '3 recordings' }).waitFor();
            await search(page).fill('/odom.twist.twist.linear.x>0.4 and (');
            await search(page).press('Enter');
            await found.getByRole('alert').waitFor();
            await becomes(() => found.getByRole('listitem').count(), 0);
            await search(page).fill('/odom.twist.twist.linear.x>4000');
            await found.getByText('This was in no recording').waitFor();
            await search(page).fill('duration>1s');
            await page.getByRole('link', { name: 'duration:>1s' }).click();
            await page.locator('.library-count').filter({ hasText: '4 recordings' }).waitFor();
        });
    },
};
