// Administration: storage, jobs, failed imports, watched folders, tokens, audit log.
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {
    LONG,
    SIZES,
    Server,
    assert,
    checkAxe,
    checkAxeInBothThemes,
    eventually,
    runReel,
    screenshot,
    settled,
    withPage,
    becomes,
} from './harness.mjs';

const SECTIONS = [
    'storage',
    'retention',
    'live',
    'jobs',
    'imports',
    'watches',
    'failures',
    'tokens',
    'links',
    'audit',
    'webhooks',
    'maintenance',
    'monitoring',
];
let server, folder;
export async function setUp() {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-import-'));
    const [files, backups] = ['files', 'backups'].map((name) => path.join(folder, name));
    fs.mkdirSync(backups);
    await runReel(['demo', files]);
    server = await Server.start('--webhook-private', '--import-root', files, '--backup-dir', backups);
    await server.uploadDemo();
}
export async function tearDown() {
    await server?.end();
    fs.rmSync(folder, { recursive: true, force: true });
}

export const tests = {
    async looks_right() {
        await withPage(server, '/admin', {}, async (page) => {
            for (const [i, section] of SECTIONS.entries()) {
                await page.setViewportSize(SIZES.wide);
                await page.emulateMedia({ colorScheme: 'light' });
                await page.locator(`.admin-nav a[href$="admin/${section}"]`).click();
                await settled(page);
                await becomes(() => page.locator('.admin-section .error').count(), 0, section);
                await screenshot(page, `admin-${section}-wide-light`);
                if (LONG || i % 2 === 0) {
                    await checkAxe(page);
                }
                await page.setViewportSize({ width: 360, height: 740 });
                await page.emulateMedia({ colorScheme: 'dark' });
                await screenshot(page, `admin-${section}-narrow-dark`);
                if (LONG || i % 2 === 1) {
                    await checkAxe(page);
                }
                assert.ok(
                    await page.evaluate(
                        () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
                    ),
                    `${section} is too wide`,
                );
            }
        });
    },
    async storage_matches_the_api() {
        const { items } = await server.json('/collections');
        await withPage(server, '/admin', {}, async (page) => {
            const rows = page.locator('.admin-section tbody tr');
            await eventually(async () => (await rows.count()) === items.length, 'the collections');
            await becomes(() => rows.first().locator('td').first().textContent(), items[0].name);
            await becomes(() => rows.first().locator('td').nth(1).textContent(), String(items[0].recordings));
        });
    },
    async reports_an_integrity_check() {
        await withPage(server, '/admin/maintenance', {}, async (page) => {
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
            await fetch(`${server.api}/recordings/${recording.id}/as/a.mcap?end=%2B${i * 20}ms`, {
                headers: { Prefer: 'respond-async' },
            });
        }
        assert.ok((await plans()).length > 0, 'a plan');
        await withPage(server, '/admin/jobs', {}, async (page) => {
            await page.locator('.admin-section tbody tr').first().waitFor();
            await becomes(() => page.getByRole('cell', { name: 'Preparing data' }).count(), 0);
            await becomes(() => page.getByRole('cell', { name: 'plan', exact: true }).count(), 0);
            await page.getByLabel('Also show data prepared for viewing and export').check();
            await page.getByRole('cell', { name: 'Preparing data' }).first().waitFor();
        });
    },
    async shows_a_request_without_an_answer() {
        await new Promise((done, fail) => {
            const socket = net.connect(server.port, '127.0.0.1', () => {
                socket.write(
                    'PUT /api/v1/recordings/by-name/lab/cut.bag HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nsome bytes',
                );
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
            const cell = page
                .locator('.admin-section tbody tr')
                .nth(entries.findIndex((entry) => entry.status === 0))
                .locator('.badge');
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
        const answer = await fetch(server.api + '/recordings/by-name/lab/junk.bin?keep=true', {
            method: 'PUT',
            body: 'this is no recording',
        });
        assert.equal(answer.status, 415);
        await withPage(server, '/admin/failures', {}, async (page) => {
            const row = page.locator('.admin-section tbody tr', { hasText: 'junk.bin' });
            await row.waitFor();
            const [saved] = await Promise.all([
                page.waitForEvent('download'),
                row.getByRole('button', { name: 'Download junk.bin' }).click(),
            ]);
            assert.equal(fs.readFileSync(await saved.path(), 'utf8'), 'this is no recording');
            await page.getByRole('button', { name: 'Retry all' }).click();
            await page.locator('.toast', { hasText: 'Retrying' }).waitFor();
            await eventually(async () => (await server.json('/failures')).items[0]?.tries === 2, 'the second attempt');
            await page.getByRole('button', { name: 'Dismiss all' }).click();
            await page.getByRole('dialog').getByRole('button', { name: 'Dismiss all' }).click();
            await page.getByText('No failed imports').waitFor();
        });
    },
    async a_webhook_is_added_tested_and_deleted() {
        const got = [];
        const receiver = http.createServer((request, response) => {
            got.push(request.headers['reel-event']);
            response.writeHead(got.length > 1 ? 503 : 204).end();
            request.resume();
        });
        await new Promise((done) => receiver.listen(0, '127.0.0.1', done));
        const url = `http://127.0.0.1:${receiver.address().port}/hook`;
        await withPage(server, '/admin/webhooks', { allow: [/status of 400/] }, async (page) => {
            await page.getByText('No webhooks').waitFor();
            await page.getByRole('button', { name: 'Add webhook' }).click();
            const form = page.getByRole('dialog');
            await form.getByLabel('URL').fill('ftp://nowhere');
            await form.getByLabel('Changes').fill('tag.set');
            await form.getByRole('button', { name: 'Add webhook' }).click();
            await eventually(
                async () => (await form.getByLabel('URL').getAttribute('aria-invalid')) === 'true',
                'the error beside the URL',
            );
            await checkAxe(page);
            await form.getByLabel('URL').fill(url);
            await page.keyboard.press('Enter');
            await becomes(() => page.locator('.admin-secret').textContent(), /^[0-9a-f]{64}$/);
            await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
            const row = page.locator('.admin-section tbody tr');
            const test = row.getByRole('button', { name: 'Test' });
            await test.click();
            await row.getByRole('status').getByText('204').waitFor();
            await test.click();
            await row.getByText('the answer was 503').waitFor();
            assert.deepEqual(got, ['webhook.test', 'webhook.test']);
            await row.getByRole('button', { name: 'Deliveries' }).click();
            await page.getByRole('dialog').getByText('Nothing sent yet').waitFor();
            await page.keyboard.press('Escape');
            await row.getByRole('button', { name: `Delete ${url}` }).click();
            await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
            await page.getByText('No webhooks').waitFor();
        });
        receiver.close();
        assert.deepEqual((await server.json('/webhooks')).items, []);
    },
    async rules_and_quotas_are_reviewed_before_they_are_saved() {
        const saved = () => server.json('/admin/retention');
        await withPage(server, '/admin/retention', { allow: [/status of 400/] }, async (page) => {
            await page.getByRole('button', { name: 'Add rule' }).click();
            const dialog = page.getByRole('dialog');
            await dialog.getByLabel('Collection').fill('demo');
            await dialog.getByLabel('Keep for').fill('soon');
            await dialog.getByRole('button', { name: 'Review' }).click();
            await eventually(
                async () => (await dialog.getByLabel('Keep for').getAttribute('aria-invalid')) === 'true',
                'the error beside the age',
            );
            await dialog.getByLabel('Keep for').fill('');
            await dialog.getByLabel('Keep at most').fill('0 B');
            await dialog.getByRole('button', { name: 'Review' }).click();
            await dialog.getByText('2 recordings').waitFor();
            await checkAxeInBothThemes(page);
            assert.deepEqual((await saved()).rules, []); // nothing was saved so far
            await dialog.getByRole('button', { name: 'Cancel' }).click();
            // one that deletes nothing: the daily run may come at any time
            await page.getByRole('button', { name: 'Add rule' }).click();
            await dialog.getByLabel('Collection').fill('demo');
            await dialog.getByLabel('Keep at most').fill('5 TB');
            await dialog.getByLabel('Never delete').fill('golden customer:acme');
            await dialog.getByRole('button', { name: 'Review' }).click();
            await dialog.getByText('Nothing would be deleted').waitFor();
            await dialog.getByRole('button', { name: 'Save' }).click();
            await page.locator('.admin-section tbody tr', { hasText: '5 TB' }).waitFor();
            await page.getByRole('button', { name: 'Add quota' }).click();
            await dialog.getByLabel('Collection').fill('d*');
            await dialog.getByLabel('Size').fill('2.5 TB');
            await dialog.getByRole('button', { name: 'Review' }).click();
            await dialog.getByRole('button', { name: 'Save' }).click();
            await page.getByText(/^demo: 0 % /).waitFor();
            const { rules, quotas } = await saved();
            assert.deepEqual(
                [rules, quotas],
                [
                    [{ collection: 'demo', max_size: 5000000000000, keep: { golden: null, customer: 'acme' } }],
                    [{ collection: 'd*', size: 2500000000000 }],
                ],
            );
            await page.getByRole('button', { name: 'Remove demo' }).click();
            await dialog.getByText('Nothing would be deleted').waitFor();
            await dialog.getByRole('button', { name: 'Save' }).click();
            await page.getByText('No rules').waitFor();
        });
        assert.equal((await server.json('/recordings?collection=demo&count=true')).total, 2);
    },
    async files_of_the_server_are_imported_after_a_preview() {
        await withPage(server, '/admin/imports', { allow: [/status of 4\d\d/] }, async (page) => {
            await page.getByLabel('Folder or file').fill('nowhere');
            await page.getByRole('button', { name: 'Preview' }).click();
            await page.locator('.admin-section .error').waitFor();
            await page.getByLabel('Tags').fill('robot');
            await page.getByRole('button', { name: 'Preview' }).click();
            await page.getByText('Write tags as key:value').waitFor();
            await page.getByLabel('Tags').fill('');
            await page.getByLabel('Folder or file').fill('');
            await page.getByLabel('Collection').fill('imported');
            await page.getByRole('button', { name: 'Preview' }).click();
            await page.getByText('2 recordings would be imported').waitFor();
            await page.getByRole('button', { name: 'Import', exact: true }).click();
            await page.locator('.admin-section tbody tr', { hasText: 'Done' }).getByText('2 added').waitFor();
        });
    },
    async jobs_are_filtered_by_the_address() {
        await withPage(server, '/admin/jobs?kind=import', {}, async (page) => {
            const cells = page.locator('.admin-section tbody tr td:first-child');
            await eventually(async () => (await cells.allTextContents()).join() === 'Import', 'only the import');
            await page.getByLabel('Status').selectOption('Failed');
            await page.getByText('No jobs match').waitFor();
            await becomes(() => new URL(page.url()).search, '?kind=import&state=failed');
        });
    },
    async a_live_recording_is_finished() {
        const { id } = await server.json('/recordings?live=true&name=live1&collection=demo', { method: 'POST' });
        await withPage(server, '/admin/live', {}, async (page) => {
            const row = page.locator('.admin-section tbody tr', { hasText: 'live1' });
            await row.getByRole('button', { name: 'Finish' }).click();
            await page.getByRole('dialog').getByText('Nothing more can be appended').waitFor();
            await page.getByRole('dialog').getByRole('button', { name: 'Finish' }).click();
            await page.getByText('No live recordings').waitFor();
        });
        await server.json(`/recordings/${id}?purge=true`, { method: 'DELETE' });
    },
    async a_backup_is_made_and_described() {
        await withPage(server, '/admin/maintenance', {}, async (page) => {
            await page.getByRole('button', { name: 'Back up now' }).click();
            await page.getByText(/^Last backup: reel-.* recordings\.$/).waitFor();
            await page.getByText(/^With copies of all \d+ files/).waitFor();
            await page.locator('.admin-section tbody tr', { hasText: 'Backup' }).getByText('Done').waitFor();
            assert.equal((await server.json('/admin/backup/last')).files.kept, 'copy');
            await page.waitForTimeout(1100); // backups are named by the second
            await page.getByLabel('Recorded files').selectOption('Not copied: catalog only');
            await page.getByRole('button', { name: 'Back up now' }).click();
            const missing = page.getByText(/^Catalog only: the \d+ recorded files .* are not in the backup\./);
            await missing.waitFor();
            const colour = (one) => one.evaluate((element) => getComputedStyle(element).color);
            assert.notEqual(await colour(missing), await colour(page.getByText(/^Last backup/)));
            await checkAxeInBothThemes(page);
        });
    },
    async a_collection_is_described_and_renamed() {
        await server.uploadDemo('hall');
        await withPage(server, '/admin', {}, async (page) => {
            await page.getByRole('button', { name: 'Edit hall' }).click();
            const dialog = page.getByRole('dialog');
            await dialog.getByLabel('Name').fill('big hall');
            await dialog.getByLabel('Description').fill('the one with the crane');
            await dialog.getByRole('button', { name: 'Save' }).click();
            await page
                .locator('.admin-section tbody tr', { hasText: 'big hall' })
                .getByText('the one with the crane')
                .waitFor();
        });
        const { items } = await server.json('/recordings?collection=big%20hall');
        assert.equal(items.length, 2);
        for (const { id } of items) {
            await server.json(`/recordings/${id}?purge=true`, { method: 'DELETE' });
        }
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
            await page.locator('dialog input:focus').fill('robot1'); // the first field has the focus
            await page.getByLabel('Role').selectOption('upload');
            await page.getByLabel('Collections').fill('lab');
            await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click();
            await page.locator('.admin-secret').waitFor();
            await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
            const list = (await server.json('/tokens', { token: secret })).items;
            assert.deepEqual(
                list.map((t) => [t.name, t.role, t.collections]),
                [
                    ['owner', 'admin', []],
                    ['robot1', 'upload', ['lab']],
                ],
            );
            await page.getByRole('button', { name: 'Revoke robot1' }).click();
            await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
            await eventually(
                async () =>
                    (await server.json('/tokens', { token: secret })).items.filter((t) => t.state === 'good').length ===
                    1,
                'the revocation',
            );
            await page.getByRole('link', { name: 'Links', exact: true }).click();
            const [{ id }] = (await server.json('/recordings?collection=demo', { token: secret })).items;
            await page.getByLabel('Address').fill(`${server.base}/api/v1/recordings/${id}`);
            await page.getByRole('button', { name: 'Create link' }).click();
            // without a token
            assert.equal((await fetch(await page.locator('.admin-secret').textContent())).status, 200);
            await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
            await page.locator('.admin-section tbody tr', { hasText: 'owner' }).waitFor();
            await page.getByLabel('Address').fill(`${server.base}/recordings/${id}?panels=plot`);
            await page.keyboard.press('Enter');
            await page.locator('.admin-secret', { hasText: '#link=' }).waitFor();
            await becomes(() => page.locator('.admin-secret').textContent(), /\/recordings\/[0-9a-f]{32}#link=/);
            await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
            await page.getByRole('link', { name: 'Audit log' }).click();
            await page.locator('.admin-section tbody tr', { hasText: '/api/v1/tokens' }).first().waitFor();
            await page.getByLabel('Status').selectOption('4xx');
            await page.getByLabel('Path contains').fill('/tokens');
            await page.keyboard.press('Enter');
            await eventually(async () => {
                const statuses = await page.locator('.admin-section tbody .badge').allTextContents();
                return statuses.length > 0 && statuses.every((status) => status === '401');
            }, 'only refused requests');
            await page.getByRole('button', { name: 'Log out' }).click();
            await page.getByLabel('Token').fill(secret);
            await page.getByRole('button', { name: 'Log in' }).click();
            await page.locator('.admin-section').waitFor();
        });
    },
};
