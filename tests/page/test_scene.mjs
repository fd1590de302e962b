// The 3D panel: its layers, colours of points, markers, camera and measuring.
import { Server, assert, checkAxe, eventually, settled, withPage, becomes } from './harness.mjs';
import { sceneBag, uploadBag } from './bags.mjs';

let server, recording;
export async function setUp() {
    server = await Server.start();
    recording = await uploadBag(server, 'scene.bag', sceneBag());
}
export async function tearDown() {
    await server?.end();
}

const SIZE = { width: 1440, height: 900 };
const canvas = (page) => page.locator('.scene-area canvas');
const stat = (page, name) => page.locator('.scene-stats .row', { hasText: name }).locator('dd').textContent();
/**
 * Runs in the browser: how many pixels of a picture are much redder, greener and bluer than the rest of their colour.
 */
async function strongColours(base64) {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    const found = { red: 0, green: 0, blue: 0 };
    for (let i = 0; i < data.length; i += 4) {
        const [r, g, b] = data.slice(i, i + 3);
        found.red += r > 90 && r > 2 * g && r > 2 * b;
        found.green += g > 60 && g > 2 * r && g > 2 * b;
        found.blue += b > 90 && b > 2 * r && b > 1.5 * g;
    }
    return found;
}
/** Runs in the browser: of a pixel in the picture's corner, 0 to 255. */
async function brightness(base64) {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    context.drawImage(bitmap, 0, 0);
    return context.getImageData(bitmap.width - 4, bitmap.height - 4, 1, 1).data[0];
}
const colours = async (page) => page.evaluate(strongColours, (await canvas(page).screenshot()).toString('base64'));
async function ready(page) {
    await page.locator('.scene-stats').getByText('Frames').waitFor();
    await settled(page);
}

export const tests = {
    async topics_are_hidden_and_coloured_by_a_field() {
        await withPage(
            server,
            `/recordings/${recording.id}?panels=scene&at=1`,
            { size: SIZE, theme: 'dark' },
            async (page) => {
                await ready(page);
                await becomes(() => stat(page, 'Topics'), '3');
                await page.getByRole('button', { name: 'Layers' }).click();
                await page.getByRole('button', { name: 'Colors of /lidar' }).click();
                await page.getByLabel('Color by').selectOption('level');
                await eventually(
                    async () => (await page.getByLabel('Maximum').getAttribute('placeholder')) === '399',
                    'the range of the values',
                );
                const before = await eventually(
                    async () => (await colours(page)).red > 20 && colours(page),
                    'high values in the map’s colours',
                );
                await page.getByLabel('Minimum').fill('-2000'); // all values are now high ones
                await page.getByLabel('Minimum').press('Enter');
                await eventually(async () => (await colours(page)).red > 1.5 * before.red, 'more high values');
                await becomes(
                    () => new URL(page.url()).searchParams.get('scene.points'),
                    /^\/lidar:level:rainbow:-2000:/,
                );
                await checkAxe(page, '.scene');
                const asked = [];
                page.on(
                    'request',
                    (request) =>
                        request.url().includes('/messages') &&
                        asked.push(new URL(request.url()).searchParams.getAll('topic')),
                );
                await page.getByLabel('Point clouds').uncheck();
                await eventually(async () => (await stat(page, 'Topics')) === '2', 'two topics');
                assert.ok(
                    asked.length > 0 && asked.every((topics) => !topics.includes('/lidar')),
                    JSON.stringify(asked),
                ); // what is hidden is not loaded
                assert.ok(!(await page.getByRole('checkbox', { name: '/lidar' }).isChecked()));
                await page.reload();
                await ready(page);
                await becomes(() => stat(page, 'Topics'), '2');
            },
        );
    },
    async markers_end_and_distances_are_measured() {
        await withPage(
            server,
            `/recordings/${recording.id}?panels=scene&at=1&scene.hide=/lidar`,
            { size: SIZE },
            async (page) => {
                await ready(page);
                await eventually(async () => {
                    const { red, green } = await colours(page);
                    return red > 20 && green > 20;
                }, 'both markers');
                await page.keyboard.press('Shift+ArrowRight');
                await eventually(async () => (await colours(page)).green === 0, 'one whose lifetime has ended');
                assert.ok((await colours(page)).red > 20);
                await page.keyboard.press('Shift+ArrowRight');
                await eventually(async () => (await colours(page)).red === 0, 'one that was deleted');
                await page.getByRole('button', { name: 'Camera' }).click();
                await page.getByRole('menuitemcheckbox', { name: 'Top view' }).click();
                await page.getByRole('button', { name: 'Measure' }).click();
                await page.locator('.scene-measure').waitFor();
                const box = await canvas(page).boundingBox();
                for (const part of [0.45, 0.55]) {
                    await page.mouse.click(box.x + box.width * part, box.y + box.height / 2);
                }
                const text = await page.locator('.scene-measure', { hasText: 'Distance' }).textContent();
                const [distance, dx, dy, dz] = text.match(/-?[\d.]+/g).map(Number);
                assert.ok(
                    distance > 0.5 && Math.abs(distance - dx) < 0.01 && Math.abs(dy) < 0.01 && Math.abs(dz) < 0.01,
                    text,
                ); // from west to east, on the map
                await page.keyboard.press('Escape');
                await page.locator('.scene-measure').waitFor({ state: 'detached' });
            },
        );
    },
    async it_is_drawn_at_once_after_a_long_rest() {
        await withPage(server, 'about:blank', { size: SIZE, own: true }, async (page) => {
            await page.clock.install();
            await page.goto(`${server.base}/recordings/${recording.id}?panels=scene&at=1`);
            await ready(page);
            const shown = async () => page.evaluate(brightness, (await canvas(page).screenshot()).toString('base64'));
            await eventually(async () => (await shown()) > 200, 'the background of the light theme');
            await page.clock.fastForward(600_000);
            await page.emulateMedia({ colorScheme: 'dark' });
            await eventually(async () => (await shown()) < 60, 'the background of the dark theme');
        });
    },
};
