// The frame around all views.
import { Server, assert, withPage } from './harness.mjs';

let server;
export async function setUp() {
    server = await Server.start();
}
export async function tearDown() {
    await server?.end();
}

export const tests = {
    async navigates_without_loading_anew() {
        await withPage(server, '/', {}, async (page) => {
            await page.evaluate(() => (window.stillHere = true));
            for (const [link, path] of [
                ['Upload', '/upload'],
                ['Administration', '/admin'],
                ['Library', '/'],
            ]) {
                await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: link }).click();
                await page.waitForURL('**' + path);
                assert.equal(await page.locator('nav [aria-current=page]').textContent(), link);
            }
            await page.goBack();
            await page.waitForURL('**/admin');
            assert.equal(await page.evaluate(() => window.stillHere), true);
        });
    },
    async theme_is_kept() {
        await withPage(server, '/', { theme: 'dark' }, async (page) => {
            const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
            const dark = await ground();
            await page.getByRole('button', { name: 'Theme: as the system' }).click();
            assert.notEqual(await ground(), dark);
            const light = await ground();
            await page.reload();
            await page.getByRole('button', { name: 'Theme: light' }).waitFor();
            assert.equal(await ground(), light);
        });
    },
    async unknown_addresses_lead_back() {
        await withPage(server, '/recordings/', {}, async (page) => {
            await page.getByRole('link', { name: 'To the library' }).click();
            await page.waitForURL(server.base + '/');
        });
    },
};
