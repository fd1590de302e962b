// Uploads by file picker and by drop: interrupted, already stored, rejected.
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
    Server,
    assert,
    checkAxeInBothThemes,
    checkView,
    eventually,
    runReel,
    screenshot,
    settled,
    withPage,
    becomes,
} from './harness.mjs';

let server, folder, files;
export async function setUp() {
    server = await Server.start();
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-page-files-'));
    await runReel(['demo', folder]);
    files = fs
        .readdirSync(folder)
        .sort()
        .map((name) => path.join(folder, name));
}
export async function tearDown() {
    await server?.end();
    fs.rmSync(folder, { recursive: true, force: true });
}

const expected = [/sha256:.*404|404.*sha256:/]; // the check for stored content answers 404 if there is none
const row = (page, name) => page.locator('.upload-item', { hasText: name });
const state = (page, name, words) =>
    eventually(async () => (await row(page, name).locator('.badge').textContent()) === words, `${name}: ${words}`);
const digest = (file) => crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex');
/** Drops a file on the page. */
const drop = (page, name, bytes) =>
    page.evaluate(
        ({ name, data }) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name));
            for (const kind of ['dragover', 'drop']) {
                document.body.dispatchEvent(
                    new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }),
                );
            }
        },
        { name, data: bytes.toString('base64') },
    );
/** Drops a folder with these files: the page reads it entry by entry, as of a real one. */
const dropFolder = (page, folderName, contents) =>
    page.evaluate(
        ({ folderName, contents }) => {
            const entries = contents.map(({ name, data }) => ({
                isFile: true,
                isDirectory: false,
                name,
                fullPath: `/${folderName}/${name}`,
                file: (done) => done(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name)),
            }));
            DataTransferItem.prototype.webkitGetAsEntry = () => ({
                isFile: false,
                isDirectory: true,
                name: folderName,
                fullPath: '/' + folderName,
                createReader: () => ({ readEntries: (done) => done(entries.splice(0, 2)) }),
            });
            const transfer = new DataTransfer();
            transfer.items.add(new File([], folderName));
            for (const kind of ['dragover', 'drop']) {
                document.body.dispatchEvent(
                    new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }),
                );
            }
        },
        { folderName, contents },
    );
/** As on a page of http from another machine: the browser does not hash by itself. */
async function withoutSha256(page) {
    await page.addInitScript(() => Object.defineProperty(crypto, 'subtle', { value: undefined }));
    await page.reload();
}
const picker = (page) => page.locator('input[type=file]').first();

async function isThere(file, collection) {
    const { items } = await server.json(`/recordings?collection=${collection}&limit=1000`);
    const found = items.find((r) => r.name === path.basename(file));
    assert.ok(found, `${file} in ${collection}`);
    const bytes = Buffer.from(
        await (
            await fetch(`${server.api}/recordings/${found.id}/file/${encodeURIComponent(found.name)}`)
        ).arrayBuffer(),
    );
    assert.equal(crypto.createHash('sha256').update(bytes).digest('hex'), digest(file));
    return found;
}

export const tests = {
    async looks_right() {
        await checkView(server, '/upload', 'upload', (page) =>
            page.getByRole('button', { name: 'Choose files' }).waitFor(),
        );
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
            await checkAxeInBothThemes(page); // with rows
            await screenshot(page, 'upload-rows');
            await picker(page).setInputFiles(files[0]);
            await eventually(
                async () => (await page.locator('.upload-item .badge', { hasText: 'Already stored' }).count()) === 1,
                'the duplicate',
            );
        });
    },
    async a_drop_elsewhere_asks_first() {
        const name = 'dropped.bag';
        const bytes = fs.readFileSync(files.find((f) => f.endsWith('.bag')));
        const other = Buffer.concat([bytes, Buffer.from('more')]); // other content, so that it is not a duplicate
        const [shown] = await server.upload([files[0]], 'viewed');
        for (const [where, preset] of [
            ['/?q=collection:viewed', 'viewed'],
            ['/recordings/' + shown.id, 'viewed'],
            ['/', 'default'],
        ]) {
            await withPage(server, where, { allow: expected }, async (page) => {
                const sent = [];
                page.on('request', (r) => r.url().includes('/uploads') && sent.push(r.url()));
                await settled(page);
                await drop(page, name, other);
                const sheet = page.getByRole('dialog', { name: 'Upload 1 file' });
                await sheet.getByText(name).waitFor();
                await becomes(() => sheet.getByLabel('Collection').inputValue(), preset, where);
                if (preset === 'default') {
                    await checkAxeInBothThemes(page);
                    await screenshot(page, 'sheet');
                }
                await settled(page);
                assert.deepEqual(sent, []);
                await sheet.getByRole('button', { name: 'Cancel' }).click();
                await sheet.waitFor({ state: 'detached' });
                await becomes(() => new URL(page.url()).pathname, where.split('?')[0]);
                if (preset === 'default') {
                    await drop(page, name, other);
                    await sheet.getByLabel('Collection').fill('asked');
                    await sheet.getByLabel('Tags').fill('robot:r9');
                    await sheet.getByRole('button', { name: 'Upload', exact: true }).click();
                    await page.waitForURL('**/upload');
                    await state(page, name, 'Done');
                }
            });
        }
        fs.writeFileSync(path.join(folder, name), other);
        assert.deepEqual((await isThere(path.join(folder, name), 'asked')).tags, { robot: 'r9' });
    },
    async a_ros_2_folder_is_one_recording() {
        const made = path.join(folder, 'drive');
        fs.mkdirSync(made);
        const parts = ['drive_0.mcap', 'drive_1.mcap'];
        const bag = files.find((f) => f.endsWith('.bag'));
        await runReel(['convert', bag, path.join(made, parts[0]), '--end', '+5s']);
        await runReel(['convert', bag, path.join(made, parts[1]), '--start', '+5s']);
        const yaml =
            'rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: mcap\n  relative_file_paths:\n' +
            parts.map((name) => `    - ${name}\n`).join('');
        const contents = [
            ...parts.map((name) => ({ name, data: fs.readFileSync(path.join(made, name)).toString('base64') })),
            { name: 'metadata.yaml', data: Buffer.from(yaml).toString('base64') },
        ];
        await withPage(server, '/', { allow: expected }, async (page) => {
            await settled(page);
            await dropFolder(page, 'drive', contents);
            const sheet = page.getByRole('dialog', { name: 'Upload 3 files' });
            await sheet.getByLabel('Collection').fill('folders');
            await sheet.getByLabel('Tags').fill('robot:r9');
            await sheet.getByRole('button', { name: 'Upload', exact: true }).click();
            await page.waitForURL('**/upload');
            for (const { name } of contents) {
                await state(page, name, 'Done');
            }
        });
        const { items } = await server.json('/recordings?collection=folders');
        assert.deepEqual(
            items.map((r) => [r.name, r.format, r.tags]),
            [['drive', 'rosbag2', { robot: 'r9' }]],
        );
        const { parts: stored } = await server.json('/recordings/' + items[0].id);
        assert.deepEqual(stored.map((part) => part.name).sort(), [...parts, 'metadata.yaml']);
        fs.rmSync(made, { recursive: true });
    },
    async sends_while_it_hashes() {
        const file = path.join(folder, 'hashed.bag');
        fs.writeFileSync(
            file,
            Buffer.concat([fs.readFileSync(files.find((f) => f.endsWith('.bag'))), Buffer.from('hashed')]),
        );
        await withPage(server, '/upload', { allow: expected, own: true }, async (page) => {
            await withoutSha256(page);
            let release;
            const held = new Promise((done) => (release = done));
            await page.route('**/hash_worker*', async (route) => (await held, route.continue()));
            const patched = page.waitForRequest((r) => r.method() === 'PATCH');
            await page.getByLabel('Collection').fill('hashed');
            await picker(page).setInputFiles(file);
            await patched;
            await state(page, 'hashed.bag', 'Verifying'); // everything has been sent, and there is no checksum yet
            await isThere(file, 'hashed');
            release();
            await state(page, 'hashed.bag', 'Done');
        });
    },
    async stops_sending_what_is_already_stored() {
        const big = path.join(folder, 'stored.bag');
        fs.writeFileSync(
            big,
            Buffer.concat([fs.readFileSync(files.find((f) => f.endsWith('.bag'))), crypto.randomBytes(16 << 20)]),
        );
        const [stored] = await server.upload([big], 'stored');
        await withPage(server, '/upload', { allow: expected, own: true }, async (page) => {
            let release;
            const held = new Promise((done) => (release = done));
            await page.route('**/hash_worker*', async (route) => (await held, route.continue()));
            const cdp = await page.context().newCDPSession(page);
            await cdp.send('Network.enable');
            await cdp.send('Network.emulateNetworkConditions', {
                offline: false,
                latency: 0,
                downloadThroughput: -1,
                uploadThroughput: 1 << 20,
            });
            const patched = page.waitForRequest((r) => r.method() === 'PATCH');
            const dropped = page.waitForRequest((r) => r.method() === 'DELETE' && r.url().includes('/uploads/'));
            await picker(page).setInputFiles(big);
            await patched;
            release();
            await state(page, 'stored.bag', 'Already stored');
            await becomes(
                () => row(page, 'stored.bag').getByRole('link').getAttribute('href'),
                'recordings/' + stored.id,
            );
            await dropped; // what had been sent is discarded
        });
    },
    async notices_other_bytes() {
        const file = path.join(folder, 'other.bag');
        fs.writeFileSync(
            file,
            Buffer.concat([fs.readFileSync(files.find((f) => f.endsWith('.bag'))), crypto.randomBytes(1000)]),
        );
        await withPage(server, '/upload', { allow: expected, own: true }, async (page) => {
            await withoutSha256(page);
            let release;
            const held = new Promise((done) => (release = done));
            await page.route('**/hash_worker*', async (route) => (await held, route.continue()));
            await page.route('**/api/v1/uploads/*', async (route) => {
                const data = route.request().postDataBuffer();
                if (route.request().method() === 'PATCH' && data) {
                    data[data.length - 1] ^= 1;
                    await route.continue({ postData: data });
                } else {
                    await route.continue();
                }
            });
            await picker(page).setInputFiles(file);
            await state(page, 'other.bag', 'Verifying');
            release();
            await state(page, 'other.bag', 'Failed');
            await becomes(() => row(page, 'other.bag').getByRole('alert').textContent(), /different bytes/);
        });
    },
    async a_duplicate_offers_the_tags() {
        const [first] = await server.upload([files[0]], 'first');
        await withPage(server, '/upload', { allow: expected }, async (page) => {
            await page.getByLabel('Collection').fill('second');
            await page.getByLabel('Tags').fill('robot:r7 site:"main hall"');
            await picker(page).setInputFiles(files[0]);
            const name = path.basename(files[0]);
            await state(page, name, 'Already stored');
            await row(page, name).getByText('The tags robot:r7 site:main hall were not added.').waitFor();
            await row(page, name)
                .getByText(/stays in the collection .*, not second/)
                .waitFor();
            await checkAxeInBothThemes(page);
            const link = await row(page, name).getByRole('link').getAttribute('href');
            await row(page, name).getByRole('button', { name: 'Add tags to the existing recording' }).click();
            await row(page, name).getByText('Tags added').waitFor();
            const { tags } = await server.json('/recordings/' + path.basename(link));
            assert.equal(tags.robot, 'r7');
            assert.equal(tags.site, 'main hall');
        });
        assert.ok(first.id);
    },
    async a_damaged_file_is_not_simply_done() {
        const half = path.join(folder, 'half.bag');
        const whole = fs.readFileSync(files.find((f) => f.endsWith('.bag')));
        fs.writeFileSync(half, whole.subarray(0, whole.length / 2));
        await withPage(server, '/upload', { allow: expected }, async (page) => {
            await picker(page).setInputFiles(half);
            await state(page, 'half.bag', 'Stored, damaged');
            await becomes(() => row(page, 'half.bag').locator('.badge').getAttribute('class'), /warn/);
            await checkAxeInBothThemes(page);
            await screenshot(page, 'upload-damaged');
            const { items } = await server.json('/recordings?q=half');
            const scan = await server.json(`/recordings/${items[0].id}/scan`);
            const said = await row(page, 'half.bag').getByRole('alert').textContent();
            assert.ok(said.replaceAll('\u202f', '').startsWith(`${items[0].messages} messages recovered`), said);
            assert.ok(said.includes((scan.findings.find((f) => f.severity === 'loss') ?? scan.findings[0]).text), said);
        });
    },
    async resumes_where_it_stopped() {
        const big = path.join(folder, 'big.bag');
        const bag = fs.readFileSync(files.find((f) => f.endsWith('.bag')));
        // the bytes after the bag are reported as damage, and kept
        fs.writeFileSync(big, Buffer.concat([bag, crypto.randomBytes(24 << 20)]));
        await withPage(server, '/upload', { allow: [...expected, /ERR_|Failed to load/], own: true }, async (page) => {
            await page.getByLabel('Collection').fill('resumed');
            const cdp = await page.context().newCDPSession(page);
            await cdp.send('Network.enable');
            await cdp.send('Network.emulateNetworkConditions', {
                offline: false,
                latency: 0,
                downloadThroughput: -1,
                uploadThroughput: 4 << 20,
            });
            await picker(page).setInputFiles(big);
            const sent = async () =>
                Number(/^([\d.]+) MB/.exec(await row(page, 'big.bag').locator('.upload-size').textContent())?.[1] ?? 0);
            await state(page, 'big.bag', 'Uploading');
            await eventually(async () => (await sent()) > 4, 'some of it');
            await page.getByRole('button', { name: 'Pause big.bag' }).click();
            await state(page, 'big.bag', 'Paused');
            assert.ok((await sent()) > 4, 'a paused upload keeps its progress');
            assert.ok(Number(await row(page, 'big.bag').getByRole('progressbar').getAttribute('value')) > 0.1);
            await server.stop(); // the server restarts in between
            await server.restart();
            await cdp.send('Network.emulateNetworkConditions', {
                offline: false,
                latency: 0,
                downloadThroughput: -1,
                uploadThroughput: -1,
            });
            const offsets = [];
            page.on('request', (r) => r.method() === 'PATCH' && offsets.push(Number(r.headers()['upload-offset'])));
            await page.getByRole('button', { name: 'Resume big.bag' }).click();
            await state(page, 'big.bag', 'Done');
            assert.ok(offsets.length > 0 && offsets[0] > 0, `resumed at ${offsets}`);
        });
        await isThere(big, 'resumed');
    },
    async waits_for_a_server_that_is_gone() {
        const big = path.join(folder, 'gone.mcap');
        fs.writeFileSync(big, crypto.randomBytes(24 << 20));
        const [played] = await server.upload(files.slice(0, 1));
        await withPage(server, '/upload', { allow: [...expected, /ERR_|Failed to load/], own: true }, async (page) => {
            const client = await page.context().newCDPSession(page);
            await client.send('Network.enable');
            const limit = (upload) =>
                client.send('Network.emulateNetworkConditions', {
                    offline: false,
                    latency: 0,
                    downloadThroughput: -1,
                    uploadThroughput: upload,
                });
            await limit(1 << 20);
            const unreachable = page.getByText('Server unreachable, retrying…');
            await page.getByLabel('Collection').fill('gone');
            await picker(page).setInputFiles(big);
            const row_ = row(page, 'gone.mcap');
            await row_.getByText(/ left$/).waitFor(); // the remaining time
            await page.getByRole('link', { name: 'Library' }).click();
            const progress = page.getByRole('link', { name: /^Uploading 1 file, \d+ %$/ }); // in every view
            await progress.waitFor();
            const asked = page.waitForEvent('dialog');
            void page.close({ runBeforeUnload: true });
            const dialog = await asked;
            assert.equal(dialog.type(), 'beforeunload');
            await dialog.dismiss();
            await page.evaluate((to) => {
                history.pushState(null, '', to);
                dispatchEvent(new PopStateEvent('popstate'));
            }, `/recordings/${played.id}?panels=topics`);
            await page.getByRole('button', { name: 'Play', exact: true }).click();
            const gone = new Promise((done) => server.child.once('close', done));
            server.child.kill('SIGKILL');
            await gone;
            await unreachable.waitFor();
            await page.getByRole('button', { name: 'Play', exact: true }).waitFor(); // the playhead does not run on
            await checkAxeInBothThemes(page);
            await progress.click();
            await state(page, 'gone.mcap', 'Waiting');
            await becomes(() => row_.getByText('/s').count(), 0);
            await limit(-1);
            await server.restart();
            await unreachable.waitFor({ state: 'detached' });
            await state(page, 'gone.mcap', 'Failed'); // random bytes are no recording
            await progress.waitFor({ state: 'detached' });
        });
        fs.rmSync(big);
    },
    async rejects_empty_files_duplicates_and_invalid_tags() {
        const empty = path.join(folder, 'empty.bag');
        fs.writeFileSync(empty, '');
        await withPage(server, '/upload', { allow: expected }, async (page) => {
            await picker(page).setInputFiles(empty);
            await state(page, 'empty.bag', 'Failed');
            await becomes(() => row(page, 'empty.bag').getByRole('alert').textContent(), /The file is empty/);
            await picker(page).setInputFiles(empty); // already in the list
            await page.getByText('1 file is already in the list.').waitFor();
            await becomes(() => page.locator('.upload-item').count(), 1);
            await page.getByLabel('Tags').fill('robot');
            await picker(page).setInputFiles(files); // not without the intended tags
            await page.getByText(`${files.length} files are waiting`).waitFor();
            await becomes(() => page.locator('.upload-item').count(), 1);
            await checkAxeInBothThemes(page);
            await page.getByLabel('Collection').fill('corrected');
            await page.getByLabel('Tags').fill('robot:r9');
            await page.getByRole('button', { name: `Upload ${files.length} files` }).click();
            await eventually(
                async () => (await page.locator('.upload-item').count()) === 1 + files.length,
                'the files that were kept',
            );
        });
    },
    async shows_why_an_upload_failed() {
        const junk = path.join(folder, 'junk.bag');
        fs.writeFileSync(junk, crypto.randomBytes(5000));
        await withPage(server, '/upload', { allow: [...expected, /415|507/] }, async (page) => {
            await picker(page).setInputFiles(junk);
            await state(page, 'junk.bag', 'Failed');
            await becomes(() => row(page, 'junk.bag').getByRole('alert').textContent(), /^No known recording format/);
            await page.getByRole('button', { name: 'Remove junk.bag' }).click();
            await becomes(() => page.locator('.upload-item').count(), 0);
            await server.json('/admin/retention', {
                method: 'PUT',
                body: '{"rules":[],"quotas":[{"collection":"full","size":1}]}',
            });
            let tries = 0;
            page.on(
                'request',
                (request) => request.method() === 'POST' && request.url().endsWith('/uploads') && tries++,
            );
            await page.getByLabel('Collection').fill('full');
            await picker(page).setInputFiles(junk);
            await state(page, 'junk.bag', 'Failed');
            await becomes(() => row(page, 'junk.bag').getByRole('alert').textContent(), /^The collection full is full/);
            assert.equal(tries, 1, 'it is not tried again by itself');
        });
    },
};
