// Writes the pictures of the page for the documents: the library and a recording with the demonstration recordings.
import fs from 'node:fs';
import path from 'node:path';
import { Server, closeBrowser, eventually, withPage } from './harness.mjs';

const PATCH = { method: 'PATCH', headers: { 'Content-Type': 'application/merge-patch+json' } };

/** Tags, a description and events, so that the pictures show them. */
async function annotate(server, recordings) {
    for (const { id, format } of recordings) {
        const tags =
            format === 'nanover' ? { molecule: 'ethanol', simulator: 'openmm' } : { robot: 'r1', site: 'hall' };
        await server.json('/recordings/' + id, {
            ...PATCH,
            body: JSON.stringify({
                tags,
                description: format === 'nanover' ? 'Ethanol in vacuum, 300 K' : 'Driving in a circle',
            }),
        });
        for (const [title, start, end] of [
            ['equilibration', '+2s', '+4s'],
            ['atom pulled', '+12s', '+13.5s'],
        ]) {
            await server.json('/events', {
                method: 'POST',
                body: JSON.stringify({ recording: id, title, start, end }),
            });
        }
    }
}

async function sceneIsDrawn(page) {
    const stats = page.locator('.scene-stats');
    await eventually(async () => /Atoms[1-9]/.test(await stats.textContent()), 'the atoms');
    await page.locator('.plot-area canvas').waitFor();
    await page.locator('.messages .tree').waitFor();
    await eventually(async () => (await page.locator('.spinner').count()) === 0, 'the data');
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

export async function writePictures(folder) {
    fs.mkdirSync(folder, { recursive: true });
    const server = await Server.start();
    try {
        const recordings = await server.uploadDemo();
        await annotate(server, recordings);
        const archive = recordings.find((r) => r.format === 'nanover');
        for (const [name, url, ready] of [
            ['library', '/', (page) => page.locator('.library-name').first().waitFor()],
            [
                'recording',
                `/recordings/${archive.id}?at=8.2&range=6~14&panels=scene,plot,messages,topics`,
                sceneIsDrawn,
            ],
        ]) {
            await withPage(server, url, {}, async (page) => {
                await ready(page);
                await page.screenshot({ path: path.join(folder, name + '.png') });
            });
        }
    } finally {
        await server.end();
        await closeBrowser();
    }
}
