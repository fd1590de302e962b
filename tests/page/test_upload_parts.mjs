// Uploads in parts, which the server verifies one by one; a whole file is hashed only if one of its size is stored.
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server, assert, eventually, runReel, withPage, becomes } from './harness.mjs';

const MB = 1 << 20;
let server, folder, bag;
export async function setUp() {
    server = await Server.start();
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-page-parts-'));
    await runReel(['demo', folder]);
    bag = fs.readFileSync(path.join(folder, 'demo.bag'));
}
export async function tearDown() {
    await server?.end();
    fs.rmSync(folder, { recursive: true, force: true });
}

/** A bag that is followed by `size` other bytes, as a file. */
function fileOf(name, size) {
    const file = path.join(folder, name);
    fs.writeFileSync(file, Buffer.concat([bag, crypto.randomBytes(size)]));
    return file;
}
const row = (page, name) => page.locator('.upload-item', { hasText: name });
const state = (page, name, words) =>
    eventually(async () => (await row(page, name).locator('.badge').textContent()) === words, `${name}: ${words}`);
const choose = (page, file) => page.locator('input[type=file]').first().setInputFiles(file);
/** The SHA-256 that the server has of the recording of that name. */
async function storedDigest(name) {
    const { items } = await server.json(`/recordings?q=${name}`);
    const file = await fetch(`${server.api}/recordings/${items[0].id}/file/${name}`);
    return crypto
        .createHash('sha256')
        .update(Buffer.from(await file.arrayBuffer()))
        .digest('hex');
}
const digestOf = (file) => crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex');

export const tests = {
    async parts_have_checksums_and_no_file_is_hashed_before() {
        const file = fileOf('parts.bag', 5 * MB);
        await withPage(server, '/upload', { own: true }, async (page) => {
            const sent = [];
            const workers = [];
            page.on('request', (request) => {
                void (request.method() === 'PATCH' && sent.push(request.headers()));
                void (/hash_worker/.test(request.url()) && workers.push(request.url()));
            });
            await choose(page, file);
            await state(page, 'parts.bag', 'Done');
            assert.ok(sent.length > 1, `${sent.length} parts`);
            assert.ok(sent.every((headers) => /^sha256 [\w+/]{43}=$/.test(headers['upload-checksum'])));
            assert.deepEqual(workers, []);
        });
        assert.equal(await storedDigest('parts.bag'), digestOf(file));
    },
    async a_part_that_was_changed_on_its_way_is_sent_again() {
        const file = fileOf('changed.bag', 3 * MB);
        await withPage(server, '/upload', { allow: [/460/], own: true }, async (page) => {
            const offsets = [];
            await page.route('**/api/v1/uploads/*', async (route) => {
                const request = route.request();
                const offset = Number(request.headers()['upload-offset']);
                const data = request.method() === 'PATCH' ? request.postDataBuffer() : null;
                if (data && offset > 0 && !offsets.includes(offset)) {
                    data[data.length - 1] ^= 1;
                }
                void (data && offsets.push(offset));
                await route.continue(data ? { postData: data } : {});
            });
            await choose(page, file);
            await state(page, 'changed.bag', 'Done');
            assert.ok(
                offsets.some((offset, i) => offset > 0 && offsets.indexOf(offset) !== i),
                String(offsets),
            );
        });
        assert.equal(await storedDigest('changed.bag'), digestOf(file));
    },
    async a_file_that_is_stored_is_not_sent() {
        const file = fileOf('again.bag', MB);
        const [stored] = await server.upload([file], 'before');
        await withPage(server, '/upload', { own: true }, async (page) => {
            const sent = [];
            page.on('request', (request) => request.method() === 'PATCH' && sent.push(request.url()));
            await choose(page, file);
            await state(page, 'again.bag', 'Already stored');
            await becomes(
                () => row(page, 'again.bag').getByRole('link').getAttribute('href'),
                'recordings/' + stored.id,
            );
            const other = Buffer.from(fs.readFileSync(file));
            other[other.length - 1] ^= 1; // of the same size
            fs.writeFileSync(path.join(folder, 'other.bag'), other);
        });
        await withPage(server, '/upload', { allow: [/404/], own: true }, async (page) => {
            await choose(page, path.join(folder, 'other.bag'));
            await state(page, 'other.bag', 'Done');
        });
    },
};
