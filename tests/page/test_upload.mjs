// Uploads by file picker and by drop: interrupted, already stored, rejected.
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server, assert, eventually, checkView, runReel, withPage } from './harness.mjs';

let server, folder, files;
export async function setUp() {
    server = await Server.start();
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-page-files-'));
    await runReel(['demo', folder]);
    files = fs.readdirSync(folder).sort().map((name) => path.join(folder, name));
}
export async function tearDown() {
    await server?.end();
    fs.rmSync(folder, { recursive: true, force: true });
}

const expected = [/sha256:.*404|404.*sha256:/]; // the check for stored content answers 404 if there is none
const row = (page, name) => page.locator('.upload-item', { hasText: name });
const state = (page, name, words) => eventually(async () => (await row(page, name).locator('.badge').textContent()) === words, `${name}: ${words}`);
const digest = (file) => crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex');
const picker = (page) => page.locator('input[type=file]').first();

async function isThere(file, collection) {
    const { items } = await server.json(`/recordings?collection=${collection}&limit=1000`);
    const found = items.find((r) => r.name === path.basename(file));
    assert.ok(found, `${file} in ${collection}`);
    const bytes = Buffer.from(await (await fetch(`${server.api}/recordings/${found.id}/file/${encodeURIComponent(found.name)}`)).arrayBuffer());
    assert.equal(crypto.createHash('sha256').update(bytes).digest('hex'), digest(file));
    return found;
}

export const tests = {
    async looks_right() {
        await checkView(server, '/upload', 'upload', (page) => page.getByRole('button', { name: 'Choose files' }).waitFor());
    },
    async by_picker() {
        await withPage(server, '/upload', { allow: expected }, async (page) => {
            await page.getByLabel('Collection').fill('picked');
            await page.getByLabel('Tags').fill('robot=r1 site=hall');
            await picker(page).setInputFiles(files);
            for (const file of files) {
                await state(page, path.basename(file), 'Done');
                assert.deepEqual((await isThere(file, 'picked')).tags, { robot: 'r1', site: 'hall' });
            }
            await row(page, path.basename(files[0])).getByRole('link').click();
            await page.getByRole('heading', { level: 1, name: path.basename(files[0]) }).waitFor();
            await page.goBack();
            await picker(page).setInputFiles(files[0]);
            await eventually(async () => (await page.locator('.upload-item .badge', { hasText: 'Already stored' }).count()) === 1, 'the duplicate');
        });
    },
    async by_drop_on_any_view() {
        const name = 'dropped.bag';
        const bytes = fs.readFileSync(files.find((f) => f.endsWith('.bag')));
        const other = Buffer.concat([bytes, Buffer.from('more')]); // other content, so that it is not a duplicate
        await withPage(server, '/', { allow: expected }, async (page) => {
            await page.evaluate(({ name, data }) => {
                const transfer = new DataTransfer();
                transfer.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name));
                for (const kind of ['dragover', 'drop']) {
                    document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
                }
            }, { name, data: other.toString('base64') });
            await page.waitForURL('**/upload');
            await state(page, name, 'Done');
        });
        fs.writeFileSync(path.join(folder, name), other);
        await isThere(path.join(folder, name), 'default');
    },
    async resumes_where_it_stopped() {
        const big = path.join(folder, 'big.bag');
        const bag = fs.readFileSync(files.find((f) => f.endsWith('.bag')));
        fs.writeFileSync(big, Buffer.concat([bag, crypto.randomBytes(24 << 20)])); // the bytes after the bag are reported as damage, and kept
        await withPage(server, '/upload', { allow: [...expected, /ERR_|Failed to load/] }, async (page) => {
            await page.getByLabel('Collection').fill('resumed');
            const cdp = await page.context().newCDPSession(page);
            await cdp.send('Network.enable');
            await cdp.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 4 << 20 });
            await picker(page).setInputFiles(big);
            const sent = async () => Number(/^([\d.]+) MB/.exec(await row(page, 'big.bag').locator('.upload-size').textContent())?.[1] ?? 0);
            await state(page, 'big.bag', 'Uploading');
            await eventually(async () => (await sent()) > 4, 'some of it');
            await page.getByRole('button', { name: 'Pause big.bag' }).click();
            await state(page, 'big.bag', 'Paused');
            await server.stop(); // the server restarts in between
            await server.restart();
            await cdp.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
            const offsets = [];
            page.on('request', (r) => r.method() === 'PATCH' && offsets.push(Number(r.headers()['upload-offset'])));
            await page.getByRole('button', { name: 'Resume big.bag' }).click();
            await state(page, 'big.bag', 'Done');
            assert.ok(offsets.length > 0 && offsets[0] > 0, `resumed at ${offsets}`);
        });
        await isThere(big, 'resumed');
    },
    async rejects_empty_files_duplicates_and_invalid_tags() {
        const empty = path.join(folder, 'empty.bag');
        fs.writeFileSync(empty, '');
        await withPage(server, '/upload', { allow: expected }, async (page) => {
            await picker(page).setInputFiles(empty);
            await state(page, 'empty.bag', 'Failed');
            assert.match(await row(page, 'empty.bag').getByRole('alert').textContent(), /The file is empty/);
            await picker(page).setInputFiles(empty); // already in the list
            await page.getByText('1 file is already in the list.').waitFor();
            assert.equal(await page.locator('.upload-item').count(), 1);
            await page.getByLabel('Tags').fill('robot');
            await picker(page).setInputFiles(files[0]); // not without the intended tags
            await page.locator('.toast.error', { hasText: 'key=value' }).waitFor();
            assert.equal(await page.locator('.upload-item').count(), 1);
        });
    },
    async shows_why_an_upload_failed() {
        const junk = path.join(folder, 'junk.bag');
        fs.writeFileSync(junk, crypto.randomBytes(5000));
        await withPage(server, '/upload', { allow: [...expected, /415/] }, async (page) => {
            await picker(page).setInputFiles(junk);
            await state(page, 'junk.bag', 'Failed');
            assert.match(await row(page, 'junk.bag').getByRole('alert').textContent(), /no known recording format/);
            await page.getByRole('button', { name: 'Remove junk.bag' }).click();
            assert.equal(await page.locator('.upload-item').count(), 0);
        });
    },
};
