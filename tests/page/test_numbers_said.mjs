// What is said in numbers and reasons: imports while they run, quotas, retention, buttons that wait for something.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server, assert, becomes, checkAxe, eventually, runReel, withPage } from './harness.mjs';

const PART = 1.04; // how full the collection is
let server, folder, size;
export async function setUp() {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-root-'));
    await runReel(['demo', folder]);
    server = await Server.start('--import-root', folder);
    size = (await server.uploadDemo('lab')).reduce((sum, one) => sum + one.size, 0);
    const body = JSON.stringify({
        rules: [{ collection: 'old', max_age: '90d' }],
        quotas: [{ collection: 'lab', size: Math.round(size / PART) }],
    });
    await server.json('/admin/retention', { method: 'PUT', body, headers: { 'Content-Type': 'application/json' } });
}
export async function tearDown() {
    await server?.end();
    fs.rmSync(folder, { recursive: true, force: true });
}

export const tests = {
    async import_roots_are_offered_and_progress_has_numbers() {
        await withPage(server, '/admin/imports', {}, async (page) => {
            await page.getByRole('button', { name: folder }).click();
            await becomes(() => page.getByLabel('Folder or file').inputValue(), folder);
            await checkAxe(page);
            const id = 'f'.repeat(32);
            const job = {
                id,
                kind: 'import',
                subject: '1 path',
                state: 'running',
                done: 250e6,
                total: 1.9e9,
                created: '2026-01-01T00:00:00Z',
            };
            const state = { ...job, outcome: { created: 1200, failed: 3 } };
            await page.route('**/api/v1/imports', (route) =>
                route.fulfill({ status: 202, json: { job: { id, href: `/api/v1/jobs/${id}` } } }),
            );
            await page.route(`**/api/v1/jobs/${id}*`, (route) =>
                route.fulfill({
                    contentType: 'text/event-stream',
                    body: `event: running\ndata: ${JSON.stringify(state)}\n\n`,
                }),
            );
            await page.getByRole('button', { name: 'Import', exact: true }).click();
            await page.getByText('1\u202f200 added, 3 failed · 250 MB of 1.9 GB').waitFor();
        });
        const other = await Server.start();
        try {
            await withPage(other, '/admin/imports', {}, async (page) => {
                await page.getByText('start it with --import-root').waitFor();
                await becomes(() => page.getByLabel('Folder or file').count(), 0);
            });
        } finally {
            await other.end();
        }
    },
    async a_quota_that_is_exceeded_says_so() {
        await withPage(server, '/admin/retention', {}, async (page) => {
            const row = page.locator('tbody tr', { hasText: 'lab' });
            await row.getByText(/lab: 104 % \(.* 2 recordings\)/).waitFor();
            await row.locator('.badge.bad').getByText('Full: uploads are refused').waitFor();
        });
        await withPage(server, '/upload?collection=lab', { allow: [/status of 507/] }, async (page) => {
            await page
                .locator('input[type=file]')
                .first()
                .setInputFiles({
                    name: 'more.bag',
                    mimeType: 'application/octet-stream',
                    buffer: Buffer.alloc(1.5e6, 1),
                });
            const said = page.locator('.upload-item .error');
            await said.waitFor();
            await becomes(
                () => said.textContent(),
                /^The collection lab is full: its quota is [\d.]+ [kM]B, it has [\d.]+ [kM]B, and 1\.5 MB more do not fit/,
            );
        });
    },
    async retention_says_when_it_runs() {
        const { job } = await server.json('/admin/retention/run', { method: 'POST' });
        await eventually(async () => (await server.json(`/jobs/${job.id}`)).state === 'done', 'the run');
        const next = /Next run: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, or up to ten minutes later\./;
        await withPage(server, '/admin/retention', {}, async (page) => {
            await page.getByText(next).waitFor();
            await page.getByRole('button', { name: 'Add rule' }).click();
            const dialog = page.getByRole('dialog');
            await dialog.getByLabel('Collection').fill('lab');
            await dialog.getByLabel('Keep for').fill('90d');
            await dialog.getByRole('button', { name: 'Review' }).click();
            await dialog.getByText(next).waitFor();
        });
    },
    async a_disabled_button_says_what_it_waits_for() {
        await withPage(server, '/', {}, async (page) => {
            await page.locator('.table-row').nth(1).waitFor();
            await page.getByRole('checkbox', { name: /^Select demo\.bag/ }).click();
            await page.getByRole('button', { name: 'Tag…' }).click();
            const dialog = page.getByRole('dialog');
            const run = dialog.getByRole('button', { name: 'Tag 1 recording' });
            const reason = dialog.getByText('Enter what to change, then preview it.');
            assert.ok(await run.isDisabled());
            assert.ok(await reason.isVisible());
            await dialog.getByLabel('Tags to set').fill('robot:r1');
            await dialog.getByRole('button', { name: 'Preview' }).click();
            await eventually(async () => !(await run.isDisabled()), 'the button');
            await becomes(() => reason.count(), 0);
        });
    },
};
