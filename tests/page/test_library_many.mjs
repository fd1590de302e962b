// Many recordings at once: selecting by check boxes, ranges and searches; changing, trashing, restoring and exporting
// what is selected.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
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

const N = 110; // more than a page of the list
let server;
let bag; // a short one

export async function setUp() {
    server = await Server.start();
    const demo = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-many-'));
    await runReel(['demo', demo]);
    bag = fs.readFileSync(path.join(demo, 'demo.bag'));
    fs.rmSync(demo, { recursive: true });
    const put = (collection, name) =>
        server.json(`/recordings/by-name/${collection}/${name}`, { method: 'PUT', body: bag });
    await Promise.all(Array.from({ length: N }, (_, i) => put('lab', `run-${String(i).padStart(3, '0')}.bag`)));
    for (const name of ['run-000.bag', 'run-001.bag', 'run-002.bag']) {
        await put('yard', name);
    }
    await put('hall', 'run-001.bag');
    await eventually(async () => (await total('state:ready')) === N + 4, 'the scans');
}
export async function tearDown() {
    await server?.end();
}

const total = async (q) => (await server.json(`/recordings?count=true&limit=1&q=${encodeURIComponent(q)}`)).total;
const box = (page, name) => page.getByRole('checkbox', { name: 'Select ' + name, exact: true });
const status = (page, text) => page.locator('.library-count').getByText(text, { exact: true }).waitFor();
const button = (page, name) => page.getByRole('button', { name, exact: true });
async function checkDialog(page) {
    for (const colorScheme of ['dark', 'light']) {
        await page.emulateMedia({ colorScheme });
        await checkAxe(page, 'dialog');
    }
}
const SMALL = { size: { width: 1000, height: 500 } }; // few rows: axe takes its time for each
const LAB = '/?sort=name&q=collection:lab';

async function selectsByMouse() {
    await withPage(server, LAB, SMALL, async (page) => {
        await box(page, 'run-001.bag').click();
        await status(page, `1 of ${N} selected`);
        await box(page, 'run-004.bag').click({ modifiers: ['Shift'] });
        await status(page, `4 of ${N} selected`);
        await box(page, 'run-003.bag').click();
        await status(page, `3 of ${N} selected`);
        const body = page.locator('.library .table-body');
        await body.evaluate((list) => (list.scrollTop = list.scrollHeight));
        await box(page, 'run-109.bag').click({ modifiers: ['Shift'] }); // over pages that were not loaded
        await status(page, `${N - 1} of ${N} selected`);
        await body.evaluate((list) => (list.scrollTop = 0));
        await becomes(() => box(page, 'run-000.bag').isChecked(), false);
        await becomes(() => box(page, 'run-004.bag').isChecked(), true);
        await checkAxe(page);
        await screenshot(page, 'library-many');
        await button(page, 'Clear selection').click();
        await status(page, `${N} recordings`);
        await becomes(() => body.evaluate((list) => list === document.activeElement), true, 'the list has the focus');
        await page.getByRole('checkbox', { name: 'Select all recordings of this list' }).click();
        await status(page, `All ${N} that match selected`);
        await box(page, 'run-002.bag').click();
        await status(page, `${N - 1} of ${N} selected`);
        await page.getByRole('combobox', { name: 'Search recordings' }).fill('run-005');
        await status(page, '1 recording'); // another search: nothing is selected
    });
}

async function selectsByKeyboard() {
    await withPage(server, LAB, { size: { width: 360, height: 740 } }, async (page) => {
        await page.locator('.table-row').nth(3).waitFor();
        await page.locator('.library .table-body').focus();
        for (const key of ['Home', 'Space', 'ArrowDown', 'ArrowDown', 'Shift+Space']) {
            await page.keyboard.press(key);
        }
        await status(page, `3 of ${N} selected`);
        const selected = page.locator('.table-row[aria-selected="true"]');
        await becomes(() => selected.count(), 3);
        await checkAxeInBothThemes(page);
        await screenshot(page, 'library-many-narrow');
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it fits');
        await page.keyboard.press('Escape');
        await status(page, `${N} recordings`);
        await becomes(() => selected.count(), 0);
    });
}

async function tagsAllThatMatch() {
    await withPage(server, LAB, SMALL, async (page) => {
        await box(page, 'run-001.bag').click();
        await button(page, `Select all ${N} that match`).click();
        await button(page, 'Tag…').click();
        const dialog = page.getByRole('dialog', { name: 'Change tags' });
        await dialog.getByLabel('Tags to set').fill('lot:7');
        await dialog.getByLabel('Tags to set').press('Enter');
        await dialog.getByText(`${N} of ${N} recordings would change.`).waitFor();
        await checkDialog(page);
        assert.equal(await total('*:7'), 0, 'nothing has changed yet');
        await button(dialog, `Tag ${N} recordings`).click();
        await page.getByText(`${N} recordings tagged`).waitFor();
        assert.equal(await total('lot:7'), N);
        await dialog.waitFor({ state: 'detached' });
        await status(page, `All ${N} that match selected`);
    });
}

async function selectsBySearchesThatABatchDoesNotKnow() {
    for (const [where, found, key] of [
        ['/', N + 4, 'q'],
        ['/?q=collection:yard&start=2010-05-11T00:00:00Z', 3, 'ids'],
    ]) {
        await withPage(server, where, SMALL, async (page) => {
            await status(page, `${found} recordings`);
            await page.getByRole('checkbox', { name: 'Select all recordings of this list' }).click();
            await button(page, 'Tag…').click();
            const dialog = page.getByRole('dialog', { name: 'Change tags' });
            await dialog.getByLabel('Tags to remove').fill('none');
            const [asked] = await Promise.all([
                page.waitForRequest(/recordings:batch/),
                button(dialog, 'Preview').click(),
            ]);
            await dialog.getByText(`${found} of ${found} recordings would change.`).waitFor();
            assert.ok(key in asked.postDataJSON(), asked.postData());
        });
    }
}

async function movesWithConflicts() {
    await withPage(server, LAB, SMALL, async (page) => {
        await box(page, 'run-000.bag').click();
        await box(page, 'run-002.bag').click({ modifiers: ['Shift'] });
        await button(page, 'Move…').click();
        const dialog = page.getByRole('dialog', { name: 'Move or rename' });
        await dialog.getByLabel('Collection').fill('hall');
        await button(dialog, 'Preview').click();
        await dialog.getByText('2 of 3 recordings would change.').waitFor();
        await dialog.getByText('1 recording cannot be changed:').waitFor();
        await dialog.getByText('another recording has that name').waitFor();
        await dialog.getByText('lab/run-000.bag → hall/run-000.bag').waitFor();
        await checkDialog(page);
        await screenshot(page, 'library-many-move');
        await button(dialog, 'Move 2 recordings').click();
        await dialog.getByText('1 recording could not be changed:').waitFor();
        await dialog.getByText('lab/run-001.bag').waitFor();
        await button(dialog, 'Close').last().click();
        assert.equal(await total('collection:hall'), 3);
        await button(page, 'Undo').click();
        await page.getByText('Changes to 2 recordings undone').waitFor();
        assert.deepEqual([await total('collection:hall'), await total('collection:lab')], [1, N]);
    });
}

async function trashesAndRestores() {
    const trash = async (page, count) => {
        await page.locator('.library-bulk').getByRole('button', { name: 'Move to trash' }).click();
        await button(page.getByRole('dialog', { name: 'Move to trash' }), `Move ${count} recordings to trash`).click();
        await page.getByText(`${count} recordings moved to trash`).waitFor();
    };
    const allow = [/404.*\/collections\/yard/]; // a collection whose recordings are all in the trash
    await withPage(server, '/?sort=name&q=collection:yard', { ...SMALL, allow }, async (page) => {
        await box(page, 'run-000.bag').click();
        await box(page, 'run-001.bag').click();
        await trash(page, 2);
        await status(page, '1 recording');
        await button(page, 'Undo').click();
        await page.getByText('2 recordings restored').waitFor();
        await status(page, '3 recordings');
        await page.getByRole('checkbox', { name: 'Select all recordings of this list' }).click();
        await trash(page, 3);
        await page.getByText('No recordings match').waitFor();
        await page.goto('/?q=state:trashed');
        await page.getByRole('checkbox', { name: 'Select all recordings of this list' }).click();
        await becomes(() => button(page, 'Tag…').count(), 0, 'not for the trash');
        await button(page, 'Restore').click();
        await button(page.getByRole('dialog', { name: 'Restore from trash' }), 'Restore 3 recordings').click();
        await page.getByText('Trash is empty').waitFor();
        assert.equal(await total('collection:yard'), 3);
    });
}

async function exportsThem() {
    const exported = async (page, kind) => {
        await button(page, 'Export…').click();
        const dialog = page.getByRole('dialog', { name: /^Export/ });
        await dialog.getByLabel('Files').selectOption(kind);
        await checkDialog(page);
        const [file] = await Promise.all([page.waitForEvent('download'), button(dialog, 'Download').click()]);
        await dialog.waitFor({ state: 'detached' });
        return { url: new URL(file.url()), bytes: fs.readFileSync(await file.path()) };
    };
    await withPage(server, '/?sort=name&q=collection:yard', { ...SMALL, acceptDownloads: true }, async (page) => {
        await box(page, 'run-000.bag').click();
        await box(page, 'run-001.bag').click();
        const named = await exported(page, 'zip');
        assert.equal(named.url.pathname, '/api/v1/search/export.zip');
        assert.equal(named.url.searchParams.getAll('recording').length, 2);
        assert.equal(named.url.searchParams.get('as'), 'mcap');
        assert.equal(named.bytes.toString('latin1', 0, 4), 'PK\x03\x04');
        assert.ok(named.bytes.includes('yard/run-001.mcap') && !named.bytes.includes('yard/run-002.mcap'));
        await button(page, 'Select all 3 that match').click();
        const found = await exported(page, 'zip');
        assert.equal(found.url.search, '?q=collection%3Ayard&as=mcap');
        assert.ok(found.bytes.includes('yard/run-002.mcap'));
        const bag = await exported(page, 'bag');
        assert.equal(bag.url.search, '?q=collection%3Ayard&package=bagit&as=original%2Cmcap');
        assert.ok(bag.bytes.includes('export/data/original/yard/run-002.bag'));
        assert.ok(bag.bytes.includes('export/data/mcap/yard/run-002.mcap'));
        const merged = await exported(page, 'merged');
        assert.equal(merged.url.pathname, '/api/v1/search/as/export.mcap');
        assert.equal(merged.bytes.toString('latin1', 1, 5), 'MCAP');
        await settled(page);
    });
}

async function offersWhatTheRoleMayDo() {
    const admin = (await server.json('/tokens', { method: 'POST', body: '{"name":"boss","role":"admin"}' })).token;
    const { token } = await server.json('/tokens', {
        method: 'POST',
        body: '{"name":"guest","role":"read"}',
        token: admin,
    });
    await withPage(server, LAB, { ...SMALL, allow: [/status of 401/] }, async (page) => {
        await page.getByLabel('Token').fill(token);
        await button(page, 'Log in').click();
        await page.getByLabel('Token').waitFor({ state: 'detached' });
        await settled(page);
        await page.getByRole('checkbox', { name: 'Select all recordings of this list' }).click();
        await button(page, 'Export…').waitFor();
        await becomes(() => page.locator('.library-bulk button').allTextContents(), ['Merge…', 'Export…', '']);
    });
}

export const tests = {
    selectsByMouse,
    selectsByKeyboard,
    tagsAllThatMatch,
    selectsBySearchesThatABatchDoesNotKnow,
    movesWithConflicts,
    trashesAndRestores,
    exportsThem,
    offersWhatTheRoleMayDo,
};
