// Administration: storage, work, failures, tokens, audit.
import { Server, assert, eventually, look, withPage } from './harness.mjs';

let server;
export async function setUp() {
    server = await Server.start();
    await server.feedDemo();
}
export async function tearDown() {
    await server?.end();
}

export const tests = {
    async looks_right() {
        for (const section of ['storage', 'jobs', 'failures', 'watches', 'tokens', 'audit']) {
            await look(server, `/admin/${section}`, `admin-${section}`, (page) => page.locator('.admin-section table, .admin-section p').first().waitFor());
        }
    },
    async storage_is_what_the_api_says() {
        const { items } = await server.json('/stats?by=collection');
        await withPage(server, '/admin', {}, async (page) => {
            const rows = page.locator('.admin-section tbody tr');
            await eventually(async () => (await rows.count()) === items.length, 'the collections');
            assert.equal(await rows.first().locator('td').first().textContent(), items[0].name);
            assert.equal(await rows.first().locator('td').nth(1).textContent(), String(items[0].recordings));
        });
    },
    async a_scrub_is_told() {
        await withPage(server, '/admin', {}, async (page) => {
            await page.getByText('Nothing has been scrubbed yet.').waitFor();
            await page.getByRole('button', { name: 'Scrub now' }).click();
            await page.getByText(/are as they were/).waitFor();
        });
    },
    async the_first_token_closes_the_doors_and_the_page_goes_on() {
        await withPage(server, '/admin/tokens', { allow: [/401/] }, async (page) => {
            await page.getByText('whoever reaches this server may do everything').waitFor();
            await page.getByRole('button', { name: 'Make a token' }).click();
            await page.getByLabel('Name').fill('keeper');
            await page.getByRole('dialog').getByRole('button', { name: 'Make a token' }).click();
            const secret = await page.locator('.admin-secret').textContent();
            assert.match(secret, /^reel_/);
            assert.equal((await fetch(server.api + '/tokens')).status, 401); // closed
            await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
            await page.getByRole('button', { name: 'Make a token' }).click();
            await page.getByLabel('Name').fill('robot1');
            await page.getByLabel('Role').selectOption('upload');
            await page.getByLabel('Collections').fill('lab');
            await page.getByRole('dialog').getByRole('button', { name: 'Make a token' }).click();
            await page.locator('.admin-secret').waitFor();
            await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
            const list = await server.json('/tokens', { token: secret });
            assert.deepEqual(list.map((t) => [t.name, t.role, t.collections]), [['keeper', 'admin', []], ['robot1', 'upload', ['lab']]]);
            await page.getByRole('button', { name: 'Revoke robot1' }).click();
            await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
            await eventually(async () => (await server.json('/tokens', { token: secret })).filter((t) => t.state === 'good').length === 1, 'that it is revoked');
            await page.getByRole('link', { name: 'Audit' }).click();
            await page.locator('.admin-section tbody tr', { hasText: '/api/v1/tokens' }).first().waitFor();
            await page.getByRole('button', { name: 'Log out' }).click();
            await page.getByLabel('Token').fill(secret);
            await page.getByRole('button', { name: 'Log in' }).click();
            await page.locator('.admin-section').waitFor();
        });
    },
};
