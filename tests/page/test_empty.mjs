// An archive without recordings: what it takes, how it is filled, and nothing that only makes sense when it is.
import { SIZES, Server, assert, becomes, checkAxeInBothThemes, checkView, eventually, withPage } from './harness.mjs';

let server;
export async function setUp() {
    server = await Server.start();
}
export async function tearDown() {
    await server?.end();
}
const ready = (page) => page.getByText('No recordings yet').waitFor();

export const tests = {
    async it_says_what_it_takes_and_has_no_filters() {
        await checkView(server, '/', 'empty', ready);
        await withPage(server, '/', {}, async (page) => {
            await ready(page);
            for (const words of ['.mcap: MCAP', '.bag: ROS 1 bag (2.0)', '.nanover.zip: NanoVer']) {
                await page.getByText(words).waitFor();
            }
            await becomes(() => page.locator('.library-filters, .library-foot').count(), 0);
            await checkAxeInBothThemes(page);
        });
    },
    async demonstration_recordings_are_one_click_away() {
        await withPage(server, '/', { size: SIZES.medium }, async (page) => {
            await ready(page);
            await page.getByRole('button', { name: 'Upload demonstration recordings' }).click();
            await becomes(() => page.locator('.upload-item .badge.good').count(), 2);
            await page.getByRole('link', { name: 'Library' }).click();
            await becomes(
                async () => (await page.locator('.library-name').allTextContents()).sort(),
                ['demo.bag', 'demo.nanover.zip'],
            );
            await becomes(() => page.locator('.library-filters').count(), 1);
        });
        const { items } = await server.json('/recordings?collection=demo');
        assert.equal(items.length, 2);
        for (const { id } of items) {
            await server.json('/recordings/' + id, { method: 'DELETE' });
        }
        await withPage(server, '/', {}, async (page) => {
            await page.getByRole('link', { name: '2 recordings in the trash' }).click();
            await eventually(async () => (await page.locator('.library-name').count()) === 2, 'the trash');
        });
    },
};
