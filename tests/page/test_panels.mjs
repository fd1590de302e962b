// The panels show what is in the recording: whole pictures, data from the start, each field and line.
import fs from 'node:fs';
import { Server, Skip, assert, eventually, sample, settled, withPage, becomes } from './harness.mjs';
import { LONG_LINE, cameraBag, driveBag, fastBag, uploadBag } from './bags.mjs';

let server, camera, drive, fast;
export async function setUp() {
    server = await Server.start();
    camera = await uploadBag(server, 'camera.bag', cameraBag());
    drive = await uploadBag(server, 'drive.bag', driveBag());
    fast = await uploadBag(server, 'fast.bag', fastBag());
}
export async function tearDown() {
    await server?.end();
}

const ready = (page) => page.locator('.timeline-name').first().waitFor();
const at = async (page) => Number(await page.getByRole('slider', { name: 'Playhead' }).getAttribute('aria-valuenow'));
const near = (page, wanted, tolerance = 1e-6) =>
    eventually(async () => Math.abs((await at(page)) - wanted) <= tolerance, `the playhead at ${wanted}`);
const offsetOf = (recording, ns) => Number(BigInt(ns) - BigInt(recording.start_ns)) / 1e9;

/** Runs in the browser: where the white frame of the picture is seen, on the lines through its centre. */
async function whiteEdges(base64) {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const [w, h] = [bitmap.width, bitmap.height];
    const dark = (x, y) => context.getImageData(Math.round(x), Math.round(y), 1, 1).data[0] < 80;
    const white = (x, y) => context.getImageData(Math.round(x), Math.round(y), 1, 1).data[0] > 250;
    /** From the picture's dark centre towards an edge there must be something white. */
    const seen = (dx, dy) => {
        for (
            let i = 0, [x, y] = [w / 2, h / 2];
            i < Math.max(w, h) && x >= 0 && y >= 0 && x < w && y < h;
            i++, x += dx, y += dy
        ) {
            if (white(x, y)) {
                return true;
            }
        }
        return false;
    };
    return { centre: dark(w / 2, h / 2), left: seen(-1, 0), right: seen(1, 0), top: seen(0, -1), bottom: seen(0, 1) };
}

/** Runs in the browser: whether the middle of the picture has something red, as the x axis of a pose is drawn. */
async function redInTheMiddle(base64) {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]));
    const [w, h] = [bitmap.width, bitmap.height];
    const context = new OffscreenCanvas(w, h).getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(w / 4, h / 4, w / 2, h / 2);
    let red = 0;
    for (let i = 0; i < data.length; i += 4) {
        red += data[i] > 1.5 * data[i + 1] && data[i] > 1.5 * data[i + 2] ? 1 : 0;
    }
    return red > 10;
}

export const tests = {
    async a_picture_is_shown_whole() {
        for (const [size, height] of [
            [{ width: 1440, height: 900 }, 0],
            [{ width: 390, height: 844 }, 0],
            [{ width: 1440, height: 900 }, 220],
        ]) {
            await withPage(
                server,
                `/recordings/${camera.id}?at=1&panels=image,messages`,
                { size, theme: 'dark' },
                async (page) => {
                    // dark: only the picture is white
                    await page.locator('.image-area canvas').waitFor();
                    if (height > 0) {
                        await page
                            .locator('.panel-image')
                            // as dragging its corner does
                            .evaluate((panel, px) => (panel.style.height = `${px}px`), height);
                    }
                    await settled(page);
                    const picture = await page.locator('.image-area').screenshot();
                    assert.deepEqual(
                        await page.evaluate(whiteEdges, picture.toString('base64')),
                        { centre: true, left: true, right: true, top: true, bottom: true },
                        `${size.width}, ${height}`,
                    );
                },
            );
        }
    },
    async opens_where_its_panels_have_data() {
        const first = Math.max(...camera.topics.map((t) => offsetOf(camera, t.start_ns)));
        await withPage(server, `/recordings/${camera.id}`, {}, async (page) => {
            await ready(page);
            await near(page, first);
            await page.locator('.image-area canvas').waitFor();
            await page.getByRole('button', { name: 'Go to start' }).click();
            await page.waitForURL(/at=0(&|$)/); // a time like any other
            await page.reload();
            await ready(page);
            await near(page, 0);
            await page.getByText('No image at or before the playhead').waitFor();
        });
        await withPage(server, `/recordings/${camera.id}?panels=topics`, {}, async (page) => {
            await ready(page);
            await near(page, 0); // nothing to wait for
        });
    },
    async a_long_log_line_is_read_whole_and_levels_are_not_clipped() {
        for (const size of [
            { width: 1440, height: 900 },
            { width: 390, height: 844 },
        ]) {
            await withPage(server, `/recordings/${drive.id}?panels=log&at=4.5`, { size }, async (page) => {
                await page.locator('.log-line').getByText('that is the end of the line.').waitFor();
                assert.ok((await page.locator('.log-line').innerText()).endsWith(LONG_LINE));
                const clipped = await page
                    .locator('.c-level')
                    .evaluateAll((cells) =>
                        cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
                    );
                assert.deepEqual(clipped, []);
            });
        }
    },
    async the_scene_follows_the_robot() {
        const robotIsShown = async (page) =>
            page.evaluate(redInTheMiddle, (await page.locator('.scene-area canvas').screenshot()).toString('base64'));
        for (const [follow, shown] of [
            ['', true],
            ['&scene.follow=none', false],
        ]) {
            await withPage(server, `/recordings/${drive.id}?panels=scene${follow}`, {}, async (page) => {
                await page.locator('.scene-stats').getByText('Frames').waitFor();
                await settled(page);
                await becomes(() => page.getByLabel('Follow').inputValue(), follow ? 'none' : 'frame:base_link');
                await page.getByRole('button', { name: 'Go to end' }).click();
                await near(page, Number(BigInt(drive.end_ns) - BigInt(drive.start_ns)) / 1e9);
                await settled(page);
                await eventually(async () => (await robotIsShown(page)) === shown, `the robot after 200 m: ${shown}`);
            });
        }
    },
    async an_export_has_the_selected_range_and_offers_what_is_possible() {
        await withPage(server, `/recordings/${drive.id}?range=2~4`, {}, async (page) => {
            await ready(page);
            await page.getByRole('button', { name: 'Export', exact: true }).click();
            await page.getByRole('dialog').getByText('Nothing is lost or changed.').waitFor();
            await becomes(() => page.getByLabel('Time range').inputValue(), 'range');
            await becomes(() => page.getByLabel('Format').locator('option:checked').innerText(), /bag/);
            const refused = await server.json(`/recordings/${drive.id}/as/x.log?report=true`);
            assert.equal(refused.accepted, false);
            await eventually(
                async () =>
                    (await page.getByLabel('Format').locator('option').allInnerTexts()).some((option) =>
                        /\.log\) – not possible/.test(option),
                    ),
                'no CARLA log of a bag',
            );
        });
    },
    async real_recordings_open_where_their_panels_have_data() {
        const names = [
            'mira/mira_basic.tape',
            'tide/tide2_plain.tide',
            'tide/rsbagcl_multichunk.tide',
            'rosbag2/cdr_test/cdr_test_0.db3',
            'nanover/core-nanotube-example.nanover.zip',
            'rosbag1/ccny_ortho_scan_v1.2.bag',
        ];
        const files = names.flatMap((name) => {
            try {
                return [sample(name)];
            } catch (error) {
                if (error instanceof Skip) {
                    return [];
                }
                throw error;
            }
        });
        for (const recording of await server.upload(
            files.filter((file) => fs.existsSync(file)),
            'real',
        )) {
            await withPage(server, `/recordings/${recording.id}`, {}, async (page) => {
                await ready(page);
                await settled(page);
                const shown = await page.locator('.panels').innerText();
                assert.ok(
                    !/No (message|image) at or before|No fields selected/.test(shown),
                    `${recording.name}: ${shown}`,
                );
                assert.ok(!/Atoms\s+0\b|Topics\s+0\b|Actors\s+0\b/.test(shown), `${recording.name}: ${shown}`);
            });
        }
        if (files.length < names.length) {
            throw new Skip(`${names.length - files.length} real samples`);
        }
    },
    async many_messages_come_when_they_are_due() {
        await withPage(server, `/recordings/${fast.id}?panels=messages`, {}, async (page) => {
            const asked = [];
            page.on('request', (request) => asked.push(new URL(request.url()).pathname.split('/').pop()));
            const count = (name) => asked.filter((each) => each === name).length;
            const value = async () =>
                Number((await page.locator('.messages .tree').innerText()).match(/data\s+([\d.]+)/)?.[1]);
            await page.locator('.messages .tree').waitFor();
            await page.getByRole('button', { name: 'Play', exact: true }).click();
            await eventually(async () => count('play') > 0 && (await value()) > 20, 'values while it plays');
            const before = count('message');
            await eventually(async () => (await value()) > 150, 'later values');
            assert.equal(count('message'), before);
            const plays = count('play');
            await page.getByRole('slider', { name: 'Playhead' }).focus();
            await page.keyboard.press('Home'); // the playback goes on from there
            await eventually(async () => count('play') > plays && (await value()) > 20, 'values after a jump');
            await page.getByRole('button', { name: 'Pause', exact: true }).click();
            await eventually(
                async () => count('message') > before && Math.abs((await value()) - (await at(page)) * 100) <= 1.001,
                'the message at the playhead',
            );
            // begins with the fields of the topic
            await page.getByRole('button', { name: 'Table', exact: true }).click();
            await page.getByRole('columnheader', { name: 'data' }).waitFor();
        });
    },
};
