// A training set of a search: what is proposed, the preview, saving, and what the page says of loading it.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { image, uploadBag } from './bags.mjs';
import { Server, assert, checkAxe, eventually, runReel, screenshot, withPage, becomes } from './harness.mjs';

let server;

export async function setUp() {
    server = await Server.start();
    const demo = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-training-'));
    await runReel(['demo', demo]);
    const [bag] = await server.upload([path.join(demo, 'demo.bag')]);
    assert.equal(bag.state, 'ready');
    await server.json('/recordings/by-name/lab/rows.ndjson', {
        method: 'PUT',
        body: [1, 2].map((x) => JSON.stringify({ topic: '/other', log_time: x * 1e9, data: { x } }) + '\n').join(''),
    });
    await eventually(async () => (await server.json('/recordings?count=true&q=state:ready')).total === 2, 'the scans');
    fs.rmSync(demo, { recursive: true });
}
export async function tearDown() {
    await server?.end();
}

const button = (page, name) => page.getByRole('button', { name, exact: true });
const open = async (page) => {
    await button(page, 'Make a training set…').click();
    await page.getByRole('dialog', { name: 'Training set' }).waitFor();
};
const source = (page, name) => page.getByRole('checkbox', { name });

async function proposesPreviewsAndSaves() {
    await withPage(server, '/?q=demo', {}, async (page) => {
        await open(page);
        await source(page, '/odom.pose.pose.position').waitFor();
        await becomes(() => source(page, '/odom.twist.twist.linear').isChecked(), true);
        await page.getByText(/^1 episode, /).waitFor();
        await source(page, '/odom.pose.pose.orientation').uncheck();
        await page.getByLabel('Frames a second').fill('0');
        await becomes(() => button(page, 'Preview').isDisabled(), true);
        await page.getByLabel('Frames a second').fill('5');
        await page.getByLabel('Topic and field').fill('/scan.range_max');
        await page.getByLabel('Feature', { exact: true }).fill('action');
        await button(page, 'Add').click();
        await page.getByLabel('Largest age, seconds').fill('0.5');
        const answer = page.waitForResponse((r) => r.url().endsWith('/datasets:preview') && r.status() === 200);
        await button(page, 'Preview').click();
        const report = await (await answer).json();
        assert.deepEqual(Object.keys(report.features).slice(0, 2), ['observation.state', 'action']);
        assert.equal(report.fps, 5);
        await page
            .getByText(`1 episode, ${report.total_frames} frames, ${(report.total_frames / 5).toFixed(1)} s`)
            .waitFor();
        for (const colorScheme of ['dark', 'light']) {
            await page.emulateMedia({ colorScheme });
            await checkAxe(page, 'dialog');
        }
        await screenshot(page, 'library-training');
        await page.getByLabel('Name', { exact: true }).fill('lab/walk');
        await button(page, 'Save').click();
        await page.getByText('“lab/walk” is saved. To load it:').waitFor();
        await page.getByText(`HF_ENDPOINT=${server.base}/hf`).waitFor();
        await checkAxe(page, 'dialog');
        await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
    });
    const { value } = await server.json('/datasets/lab/walk');
    assert.deepEqual(value, {
        search: { q: 'demo', start: null, end: null },
        fps: 5,
        features: {
            'observation.state': ['/odom.pose.pose.position', '/odom.twist.twist.linear', '/odom.twist.twist.angular'],
            action: '/scan.range_max',
        },
        max_age_s: 0.5,
    });
    const info = await (await fetch(`${server.base}/hf/api/datasets/lab/walk`)).json();
    assert.equal(
        info.siblings.some((one) => one.rfilename === 'meta/info.json'),
        true,
    );
}

async function saysWhatIsLeftOut() {
    await withPage(server, '/?q=collection:lab&sort=name', { allow: [/status of 412/] }, async (page) => {
        await open(page);
        await page.getByText(/^Left out: /).waitFor();
        await server.json('/datasets/lab/taken', {
            method: 'PUT',
            body: JSON.stringify({
                value: {
                    search: { q: 'demo' },
                    fps: 5,
                    features: { action: '/scan.range_max' },
                },
            }),
        });
        await page.getByLabel('Name', { exact: true }).fill('lab/taken');
        await button(page, 'Save').click();
        await page.getByText('There is a training set “lab/taken” already.').waitFor();
    });
}

async function nothingIsProposed() {
    await withPage(server, '/?q=rows', { allow: [/status of 422/] }, async (page) => {
        await open(page);
        await page.getByText('No topic is of a type that features are proposed for. Add them below.').waitFor();
        await becomes(() => button(page, 'Preview').isDisabled(), true);
        await page.getByLabel('Topic and field').fill('/other.x');
        await button(page, 'Add').click();
        await page.getByLabel('Frames a second').fill('2');
        await button(page, 'Preview').click();
        await page.getByText(/^1 episode, /).waitFor();
    });
}

async function framesOfACamera() {
    const images = Array.from({ length: 12 }, (_, i) => ({
        at: i * 0.25,
        topic: '/front/color',
        type: 'sensor_msgs/Image',
        data: image(64, 48, i),
    }));
    await uploadBag(server, 'seen.bag', images);
    await withPage(server, '/?q=seen', {}, async (page) => {
        await open(page);
        await page.getByText('/front/color → observation.images.front.color').waitFor();
        await becomes(() => page.getByLabel('Frames a second').inputValue(), '4');
        await page.getByLabel('Frames', { exact: true }).selectOption('each message of /front/color');
        await page.getByLabel('Frames a second').waitFor({ state: 'detached' });
        await button(page, 'Preview').click();
        await page.getByText('1 episode, 12 frames, 3.0 s').waitFor();
        await page.getByRole('group', { name: /^Ages/ }).getByText('0.000 s').first().waitFor();
        await source(page, '/front/color').uncheck();
        await page.getByLabel('Frames a second').waitFor();
        await becomes(() => button(page, 'Preview').isDisabled(), true);
    });
}

export const tests = {
    framesOfACamera,
    proposesPreviewsAndSaves,
    saysWhatIsLeftOut,
    nothingIsProposed,
};
