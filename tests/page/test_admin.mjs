// Administration: storage, jobs, failed imports, watched folders, tokens, audit log.
import { Server, assert, eventually, checkView, withPage } from './harness.mjs';

let server;
export async function setUp() {
    server = await Server.start();
    await server.uploadDemo();
}
export async function tearDown() {
    await server?.end();
}

export const tests = {
    async looks_right() {
        for (const section of ['storage', 'jobs', 'failures', 'watches', 'tokens', 'audit']) {
            await checkView(server, `/admin/${section}`, `admin-${section}`, (page) => page.locator('.admin-section table, .admin-section p').first().waitFor());
        }
    },
    async storage_matches_the_api() {
        const { items } = await server.json('/stats?by=collection');
        await withPage(server, '/admin', {}, async (page) => {
            const rows = page.locator('.admin-section tbody tr');
            await eventually(async () => (await rows.count()) === items.length, 'the collections');
            assert.equal(await rows.first().locator('td').first().textContent(), items[0].name);
            assert.equal(await rows.first().locator('td').nth(1).textContent(), String(items[0].recordings));
        });
    },
    async reports_an_integrity_check() {
        await withPage(server, '/admin', {}, async (page) => {
            await page.getByText('Never run').waitFor();
            await page.getByRole('button', { name: 'Check now' }).click();
            await page.getByText(/All files intact/).waitFor();
        });
    },
    async the_first_token_makes_login_required_and_the_page_uses_it() {
        await withPage(server, '/admin/tokens', { allow: [/401/] }, async (page) => {
            await page.getByText('The first token makes login required').waitFor();
            await page.getByRole('button', { name: 'Create token' }).click();
            await page.getByLabel('Name').fill('owner');
            await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click();
            const secret = await page.locator('.admin-secret').textContent();
            assert.match(secret, /^reel_/);
            assert.equal((await fetch(server.api + '/tokens')).status, 401); // login is required now
            await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
            await page.getByRole('button', { name: 'Create token' }).click();
            await page.getByLabel('Name').fill('robot1');
            await page.getByLabel('Role').selectOption('upload');
            await page.getByLabel('Collections').fill('lab');
            await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click();
            await page.locator('.admin-secret').waitFor();
            await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
            const list = (await server.json('/tokens', { token: secret })).items;
            assert.deepEqual(list.map((t) => [t.name, t.role, t.collections]), [['owner', 'admin', []], ['robot1', 'upload', ['lab']]]);
            await page.getByRole('button', { name: 'Revoke robot1' }).click();
            await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
            await eventually(async () => (await server.json('/tokens', { token: secret })).items.filter((t) => t.state === 'good').length === 1, 'the revocation');
            await page.getByRole('link', { name: 'Audit log' }).click();
            await page.locator('.admin-section tbody tr', { hasText: '/api/v1/tokens' }).first().waitFor();
            await page.getByRole('button', { name: 'Log out' }).click();
            await page.getByLabel('Token').fill(secret);
            await page.getByRole('button', { name: 'Log in' }).click();
            await page.locator('.admin-section').waitFor();
        });
    },
};
