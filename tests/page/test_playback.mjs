// Playing: pictures are fetched in ranges and drawn in order, videos are decoded in the page or played as a file, a
// live recording is followed.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
    ROOT,
    Server,
    Skip,
    assert,
    checkAxeInBothThemes,
    eventually,
    settled,
    withPage,
    becomes,
} from './harness.mjs';
import { float64, image, uploadBag } from './bags.mjs';

const HZ = 30;
const SECONDS = 6;
let server, camera;
export async function setUp() {
    server = await Server.start();
    const messages = Array.from({ length: HZ * SECONDS }, (_, i) => [
        { at: i / HZ, topic: '/camera', type: 'sensor_msgs/Image', data: image(64, 48, 1 + (i % 20)) },
        { at: i / HZ + 0.001, topic: '/speed', type: 'std_msgs/Float64', data: float64(i) },
    ]).flat();
    camera = await uploadBag(server, 'camera.bag', messages);
}
export async function tearDown() {
    await server?.end();
}

/** Runs in the page before its scripts: the times of the pictures as they are drawn, and how often lines are drawn. */
function noteDrawing() {
    window.drawn = { pictures: 0, lines: 0 };
    const { drawImage, stroke } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.drawImage = function (...args) {
        window.drawn.pictures += this.canvas.closest('.image-area') ? 1 : 0;
        return drawImage.apply(this, args);
    };
    CanvasRenderingContext2D.prototype.stroke = function (...args) {
        window.drawn.lines += this.canvas.closest('.panel-plot') ? 1 : 0;
        return stroke.apply(this, args);
    };
}

const press = (page, name) => page.getByRole('button', { name, exact: true }).click();
const seconds = (text) => Number(/(\d+):(\d+\.\d+)/.exec(text)[2]);
const shownAt = async (page) => seconds(await page.locator('.image-facts').textContent());
const playhead = async (page) => seconds(await page.locator('.player-time').textContent());

/** A recording with H.264 of 20 Hz on /video, 40 frames, a key frame every 10. */
async function uploadVideo() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-video-'));
    const file = path.join(folder, 'video.mcap');
    try {
        const script = `import sys; sys.path.insert(0, 'tests/e2e'); import test_video; open(sys.argv[1], 'wb').write(test_video.example())`;
        execFileSync('/usr/bin/python3', ['-c', script, file], {
            cwd: ROOT,
            env: { ...process.env, REEL: process.env.REEL ?? 'build/release/reel' },
            stdio: 'pipe',
        });
        return (await server.upload([file]))[0];
    } catch (error) {
        throw /ffmpeg/.test(String(error.stderr)) ? new Skip('ffmpeg is missing') : error;
    } finally {
        fs.rmSync(folder, { recursive: true });
    }
}

export const tests = {
    async pictures_play_from_ranges() {
        await withPage(server, 'about:blank', { own: true }, async (page) => {
            await page.addInitScript(noteDrawing);
            await page.goto(`${server.base}/recordings/${camera.id}?at=1&panels=image,plot&plot.fields=%2Fspeed.data`);
            await page.locator('.image-area canvas:not(.image-hidden)').waitFor();
            await page.locator('.plot-playhead').waitFor();
            await settled(page);
            assert.ok(Math.abs((await shownAt(page)) - 1) < 1 / HZ);
            const asked = [];
            page.on('request', (request) => asked.push(new URL(request.url()).pathname.split('/').pop()));
            const before = await page.evaluate(() => ({ ...window.drawn }));
            await press(page, 'Play');
            await eventually(async () => (await playhead(page)) > 3, 'two seconds played');
            await press(page, 'Pause');
            const after = await page.evaluate(() => ({ ...window.drawn }));
            assert.ok(
                after.pictures - before.pictures > 10,
                `${after.pictures - before.pictures} pictures in two seconds`,
            ); // even on a busy machine
            assert.equal(after.lines, before.lines, 'the plot was drawn again');
            const ranges = asked.filter((name) => name === 'frames').length;
            assert.ok(ranges >= 2 && ranges <= 8, `${ranges} requests for pictures, not one for each`);
            // the picture at rest is the last one at or before the playhead
            await eventually(async () => {
                const apart = (await playhead(page)) - (await shownAt(page));
                return apart >= -0.001 && apart <= 1 / HZ + 0.001;
            }, 'the picture at the playhead');
            await page.getByLabel('Speed', { exact: true }).selectOption('-2');
            await press(page, 'Play');
            await eventually(async () => (await shownAt(page)) < 0.5, 'pictures backwards');
        });
    },
    async a_picture_is_zoomed_and_rotated() {
        await withPage(server, `/recordings/${camera.id}?at=2&panels=image`, {}, async (page) => {
            const canvas = page.locator('.image-area canvas:not(.image-hidden)');
            await canvas.waitFor();
            await page.locator('.image-facts', { hasText: '64 × 48' }).waitFor();
            const width = async () => (await canvas.boundingBox()).width;
            const area = await page.locator('.image-area').boundingBox();
            const whole = await width();
            assert.ok(
                Math.abs(Math.max(whole / area.width, ((whole / 64) * 48) / area.height) - 1) < 0.02,
                'it fits the panel',
            );
            await page.locator('.image-area').focus();
            await page.keyboard.press('+');
            await eventually(async () => (await width()) > 1.4 * whole, 'larger');
            await page.keyboard.press('0');
            await eventually(async () => Math.abs((await width()) - whole) < 1, 'whole again');
            await press(page, 'Rotate by 90°');
            await page.waitForURL(/image\.rotate=90/);
            await eventually(async () => {
                const box = await canvas.boundingBox();
                return box.height > box.width && box.height <= area.height + 1;
            }, 'upright');
        });
    },
    async a_video_is_decoded_in_the_page_or_played_as_a_file() {
        const video = await uploadVideo();
        await withPage(server, `/recordings/${video.id}?at=1.02&panels=image`, {}, async (page) => {
            // a frame that needs ten before it
            await page.locator('.image-facts', { hasText: '160 × 120 · 0:01.000' }).waitFor();
            await press(page, 'Play');
            await page.locator('.image-facts', { hasText: '0:01.950' }).waitFor();
        });
        await withPage(server, 'about:blank', { own: true }, async (page) => {
            await page.addInitScript(() => delete window.VideoDecoder); // as over http
            await page.goto(`${server.base}/recordings/${video.id}?at=1.02&panels=image`);
            const time = () => page.evaluate(() => document.querySelector('.image-area video')?.currentTime);
            await eventually(async () => Math.abs((await time()) - 1.02) < 0.001, 'the time of the file');
            await press(page, 'Play');
            await eventually(async () => (await time()) > 1.5, 'it plays');
        });
    },
    async late_pictures_are_said_and_can_be_waited_for() {
        await withPage(server, `/recordings/${camera.id}?panels=image`, { own: true }, async (page) => {
            await page.locator('.image-facts').filter({ hasText: '64' }).waitFor();
            await settled(page);
            let release;
            const held = new Promise((done) => (release = done));
            await page.route('**/frames?*', async (route) => (await held, route.continue()));
            await page.getByLabel('Speed', { exact: true }).selectOption('0.25'); // the end is far on a busy machine, too
            await press(page, 'Play');
            const sign = page.locator('.image-late');
            await sign.getByText(/^Pictures are .* s behind the playhead/).waitFor();
            await checkAxeInBothThemes(page);
            await sign.getByRole('button', { name: 'Wait for them' }).click();
            await sign.getByText('Waiting for pictures…').waitFor();
            const frames = (n) =>
                page.evaluate(async (n) => {
                    for (let i = 0; i < n; i++) {
                        await new Promise(requestAnimationFrame);
                    }
                }, n);
            await frames(10); // what was shown before the click
            const stopped = await playhead(page);
            await frames(30);
            await becomes(() => playhead(page), stopped);
            await becomes(() => page.getByRole('button', { name: 'Pause' }).count(), 1); // it is not paused
            release();
            await sign.waitFor({ state: 'detached' });
            await eventually(async () => (await playhead(page)) > stopped, 'it plays on');
        });
    },
};
