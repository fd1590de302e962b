// Administration: storage, jobs, failed imports, watched folders, tokens, audit log.
import net from 'node:net';
import { SIZES, Server, assert, checkAxeInBothThemes, checkView, eventually, withPage } from './harness.mjs';

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
    async jobs_leave_out_what_views_prepare() {
        const [recording] = (await server.json('/recordings?format=rosbag')).items;
        const plans = async () => (await server.json('/jobs?kind=plan')).items;
        for (let i = 1; i < 200 && (await plans()).length === 0; i++) {
            // one that is not made at once
            await fetch(`${server.api}/recordings/${recording.id}/as/a.mcap?end=%2B${i * 20}ms`, { headers: { Prefer: 'respond-async' } });
        }
        assert.ok((await plans()).length > 0, 'a plan');
        await withPage(server, '/admin/jobs', {}, async (page) => {
            await page.locator('.admin-section tbody tr').first().waitFor();
            assert.equal(await page.getByRole('cell', { name: 'Preparing data' }).count(), 0);
            assert.equal(await page.getByRole('cell', { name: 'plan', exact: true }).count(), 0);
            await page.getByLabel('Also show data prepared for viewing and export').check();
            await page.getByRole('cell', { name: 'Preparing data' }).first().waitFor();
        });
    },
    async shows_a_request_without_an_answer() {
        await new Promise((done, fail) => {
            const socket = net.connect(server.port, '127.0.0.1', () => {
                socket.write('PUT /api/v1/recordings/by-name/lab/cut.bag HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nsome bytes');
                setTimeout(() => socket.destroy(), 300);
            });
            socket.on('close', done);
            socket.on('error', fail);
        });
        const entries = await eventually(async () => {
            const { items } = await server.json('/audit');
            return items.some((entry) => entry.status === 0) ? items : null;
        }, 'the entry');
        await withPage(server, '/admin/audit', {}, async (page) => {
            const cell = page.locator('.admin-section tbody tr').nth(entries.findIndex((entry) => entry.status === 0)).locator('.badge');
            assert.equal(await cell.textContent(), 'none');
            assert.match(await cell.getAttribute('class'), /warn/);
        });
    },
    async empties_the_trash() {
        const made = await server.uploadDemo('rubbish');
        for (const { id } of made) {
            await server.json('/recordings/' + id, { method: 'DELETE' });
        }
        await withPage(server, '/admin', {}, async (page) => {
            await page.getByText(/^2 recordings, /).waitFor();
            await page.getByRole('button', { name: 'Empty trash' }).click();
            await checkAxeInBothThemes(page);
            await page.getByRole('dialog').getByRole('button', { name: 'Delete permanently' }).click();
            await page.getByText('Trash is empty', { exact: true }).waitFor();
            assert.equal((await fetch(`${server.api}/recordings/${made[0].id}`)).status, 404);
            assert.equal((await server.json('/recordings?count=true')).total, 2);
        });
    },
    async failed_imports_are_listed_until_dismissed() {
        const answer = await fetch(server.api + '/recordings/by-name/lab/junk.bin?keep=true', { method: 'PUT', body: 'this is no recording' });
        assert.equal(answer.status, 415);
        await withPage(server, '/admin/failures', {}, async (page) => {
            await page.locator('.admin-section tbody tr', { hasText: 'junk.bin' }).waitFor();
            assert.equal(await page.getByText('No failed imports').count(), 0);
        });
    },
    async leaves_room_for_the_section_on_a_phone() {
        await withPage(server, '/admin/jobs', { size: SIZES.narrow }, async (page) => {
            await page.locator('.admin-section').waitFor();
            const top = await page.locator('.admin-section').evaluate((section) => section.getBoundingClientRect().top);
            assert.ok(top < 150, `the section begins at ${top}`);
            await page.locator('.admin-choice select').selectOption({ label: 'Audit log' });
            await page.waitForURL('**/admin/audit');
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
