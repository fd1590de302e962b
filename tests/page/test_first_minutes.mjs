// The first five minutes of a new user, in one piece: drop a folder, tag it, find a recording, play, scrub, plot, mark
// an event, export a cut, share a link.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server, assert, eventually, runReel, withPage, becomes } from './harness.mjs';

let server, folder, files;
export async function setUp() {
    server = await Server.start();
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-page-minutes-'));
    await runReel(['demo', folder]);
    await runReel(['convert', path.join(folder, 'demo.bag'), path.join(folder, 'evening.mcap'), '--start', '+5s']);
    files = fs.readdirSync(folder).sort();
}
export async function tearDown() {
    await server?.end();
    fs.rmSync(folder, { recursive: true, force: true });
}

/** Drops the folder: the page reads it entry by entry, as of a real one. */
const drop = (page, names) =>
    page.evaluate(
        (dropped) => {
            const entries = dropped.map(({ name, data }) => ({
                isFile: true,
                isDirectory: false,
                name,
                fullPath: '/bags/' + name,
                file: (done) => done(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name)),
            }));
            const root = {
                isFile: false,
                isDirectory: true,
                name: 'bags',
                fullPath: '/bags',
                // in pieces, as browsers do
                createReader: () => ({ readEntries: (done) => done(entries.splice(0, 2)) }),
            };
            DataTransferItem.prototype.webkitGetAsEntry = () => root;
            const transfer = new DataTransfer();
            transfer.items.add(new File([], 'bags'));
            for (const kind of ['dragover', 'drop']) {
                document.body.dispatchEvent(
                    new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }),
                );
            }
        },
        names.map((name) => ({ name, data: fs.readFileSync(path.join(folder, name)).toString('base64') })),
    );

async function uploads(page) {
    await drop(page, files);
    const sheet = page.getByRole('dialog', { name: `Upload ${files.length} files` });
    await sheet.getByLabel('Collection').fill('hall');
    await sheet.getByLabel('Tags').fill('robot:r9');
    await sheet.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.waitForURL('**/upload');
    await eventually(
        async () =>
            (await page.locator('.upload-item .badge').allTextContents()).filter((words) => words === 'Done').length ===
            files.length,
        'the uploads',
    );
}

async function finds(page) {
    await page.getByRole('link', { name: 'Library' }).click();
    await page.getByRole('combobox').or(page.getByRole('searchbox')).first().fill('robot:r9 evening');
    await eventually(
        async () => (await page.locator('.library-name').allTextContents()).join() === 'evening.mcap',
        'the recording that was searched for',
    );
    await page.getByRole('link', { name: 'evening.mcap' }).click();
    await page.getByRole('heading', { level: 1, name: 'evening.mcap' }).waitFor();
}

const playhead = async (page) =>
    Number(await page.getByRole('slider', { name: 'Playhead' }).getAttribute('aria-valuenow'));

async function plays(page) {
    const begin = await playhead(page);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await eventually(async () => (await playhead(page)) > begin + 0.2, 'playback');
    await page.getByRole('button', { name: 'Pause' }).click();
}

/** Drags over the timeline at a height of its own, as parts of its width. */
async function drag(page, from, to, y) {
    const box = await page.locator('.timeline-field').boundingBox();
    await page.mouse.move(box.x + box.width * from, box.y + (y < 0 ? box.height + y : y));
    await page.mouse.down();
    for (const part of [0.3, 0.7, 1]) {
        await page.mouse.move(box.x + box.width * (from + (to - from) * part), box.y + (y < 0 ? box.height + y : y));
    }
    await page.mouse.up();
}

async function scrubs(page, seconds) {
    await drag(page, 0.2, 0.5, 8); // the ruler
    await eventually(async () => Math.abs((await playhead(page)) - seconds / 2) < seconds / 50, 'the middle');
    await becomes(() => new URL(page.url()).searchParams.get('range'), null, 'scrubbing selects nothing');
}

async function plots(page) {
    await page.getByRole('button', { name: 'Fields' }).click();
    const dialog = page.getByRole('dialog');
    const field = dialog.getByRole('checkbox', { name: /position\.x/ }).first();
    await dialog.getByRole('textbox').or(dialog.getByRole('searchbox')).first().fill('position.x');
    await field.check();
    await dialog.getByRole('button', { name: 'Done' }).click();
    const over = await page.locator('.plot-area .u-over').boundingBox();
    await page.mouse.move(over.x + over.width / 2, over.y + over.height / 2);
    await eventually(
        async () => /\d/.test(await page.locator('.plot-legend .plot-value').first().textContent()),
        'a value in the legend',
    );
}

async function marks(page) {
    await page.getByLabel('Event title').fill('bump');
    await page.getByRole('button', { name: 'Add event' }).click();
    await page.locator('.timeline-event').waitFor({ state: 'attached' });
}

async function exports(page, id) {
    await drag(page, 0.25, 0.75, -6); // the lanes
    await page.waitForURL(/range=/);
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByLabel('Format').selectOption('.mcap');
    const coming = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const cut = path.join(folder, 'cut.mcap');
    await (await coming).saveAs(cut);
    const [got, whole] = [JSON.parse(await runReel(['info', '--json', cut])), await server.json('/recordings/' + id)];
    assert.ok(
        got.messages > whole.messages / 3 && got.messages < (whole.messages * 2) / 3,
        `${got.messages} of ${whole.messages}`,
    );
}

/** The link shows a colleague the same: time, range, panels and fields. */
async function shares(page) {
    await page.getByRole('button', { name: 'Share' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share this recording' });
    const link = await dialog.getByRole('textbox').first().inputValue();
    const [at, legend] = [await playhead(page), await page.locator('.plot-name').allTextContents()];
    await dialog.getByRole('button', { name: 'Close' }).click();
    await withPage(server, link, {}, async (theirs) => {
        await theirs.locator('.timeline-event').waitFor({ state: 'attached' });
        await eventually(
            async () =>
                (await theirs.locator('.plot-name').allTextContents()).join() === legend.join() && legend.length > 0,
            'the plot',
        );
        await becomes(() => playhead(theirs), at);
        await becomes(
            () => new URL(theirs.url()).searchParams.get('range'),
            new URL(page.url()).searchParams.get('range'),
        );
    });
}

export const tests = {
    async from_a_drop_to_a_link() {
        await withPage(server, '/', { allow: [/404/] }, async (page) => {
            await uploads(page);
            await finds(page);
            const id = new URL(page.url()).pathname.split('/').pop();
            const recording = await server.json('/recordings/' + id);
            assert.deepEqual([recording.collection, recording.tags], ['hall', { robot: 'r9' }]);
            await plays(page);
            await scrubs(page, recording.duration_ns / 1e9);
            await plots(page);
            await marks(page);
            assert.equal((await server.json('/recordings/' + id)).events, 1);
            await exports(page, id);
            await shares(page);
        });
    },
};
