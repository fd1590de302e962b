// The timeline and playback: scrubbing, selecting, zooming and stepping, by mouse, by keyboard and by touch.
import { Server, eventually, withPage, becomes } from './harness.mjs';
import { driveBag, uploadBag } from './bags.mjs';

let server, bag, drive;
export async function setUp() {
    server = await Server.start();
    bag = (await server.uploadDemo()).find((r) => r.format === 'rosbag-1.2');
    drive = await uploadBag(server, 'drive.bag', driveBag());
}
export async function tearDown() {
    await server?.end();
}

const RULER_Y = 8; // px below the top of the timeline
const seconds = (recording) => Number(BigInt(recording.end_ns) - BigInt(recording.start_ns)) / 1e9;
const at = async (page) => Number(await page.getByRole('slider', { name: 'Playhead' }).getAttribute('aria-valuenow'));
const near = (page, wanted, tolerance) =>
    eventually(async () => Math.abs((await at(page)) - wanted) <= tolerance, `the playhead at ${wanted}`);
const resetZoom = (page) => page.locator('.timeline').getByRole('button', { name: 'Reset zoom' });
const selected = (page) => page.locator('.timeline-range').count();
async function ready(page) {
    await page.locator('.timeline-name').first().waitFor();
    await page.waitForFunction(() => document.querySelector('.timeline-canvas').width > 100);
}
/** The place of a part of the timeline's width, on the ruler or on the lanes. */
async function place(page, part, ruler = false) {
    const box = await page.locator('.timeline-field').boundingBox();
    return { x: box.x + box.width * part, y: ruler ? box.y + RULER_Y : box.y + box.height - 6 };
}
async function drag(page, from, to) {
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move((from.x + to.x) / 2, to.y);
    await page.mouse.move(to.x, to.y);
}
const TOUCH = { size: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
/** Moves one finger or several; each is a list of places. */
async function touch(page, fingers) {
    const session = await page.context().newCDPSession(page);
    const send = (type, touchPoints) => session.send('Input.dispatchTouchEvent', { type, touchPoints });
    for (let i = 0; i < fingers[0].length; i++) {
        await send(
            i === 0 ? 'touchStart' : 'touchMove',
            fingers.map((places, id) => ({ ...places[i], id })),
        );
    }
    await send('touchEnd', []);
    await session.detach();
}
const line = (from, to, steps = 6) =>
    Array.from({ length: steps + 1 }, (_, i) => ({
        x: from.x + ((to.x - from.x) * i) / steps,
        y: from.y + ((to.y - from.y) * i) / steps,
    }));
const messageTimes = async (recording, topic) => {
    const text = await (
        await fetch(
            `${server.api}/recordings/${recording.id}/messages?topic=${encodeURIComponent(topic)}&time_format=nanoseconds`,
        )
    ).text();
    return text
        .trim()
        .split('\n')
        .map((row) => Number(BigInt(JSON.parse(row).log_time) - BigInt(recording.start_ns)) / 1e9);
};

export const tests = {
    async the_ruler_scrubs_and_the_lanes_select() {
        await withPage(server, `/recordings/${bag.id}`, {}, async (page) => {
            await ready(page);
            await drag(page, await place(page, 0.2, true), await place(page, 0.6, true));
            await near(page, seconds(bag) * 0.6, 0.1); // while the button is down
            await page.mouse.up();
            await becomes(() => selected(page), 0);
            await drag(page, await place(page, 0.2), await place(page, 0.4));
            await page.mouse.up();
            await page.locator('.timeline-range').waitFor();
            await near(page, seconds(bag) * 0.6, 0.1); // selecting leaves the playhead
        });
    },
    async the_playhead_can_be_dragged() {
        await withPage(server, `/recordings/${bag.id}?at=${seconds(bag) / 2}`, {}, async (page) => {
            await ready(page);
            await drag(page, await place(page, 0.5), await place(page, 0.75)); // on the lanes
            await page.mouse.up();
            await near(page, seconds(bag) * 0.75, 0.1);
            await drag(page, await place(page, 0.75, true), await place(page, 0.25, true));
            await page.mouse.up();
            await near(page, seconds(bag) * 0.25, 0.1);
            await becomes(() => selected(page), 0);
        });
    },
    async touch_scrubs_selects_and_zooms() {
        await withPage(server, `/recordings/${bag.id}`, TOUCH, async (page) => {
            await ready(page);
            await touch(page, [line(await place(page, 0.2, true), await place(page, 0.6, true))]);
            await near(page, seconds(bag) * 0.6, 0.3);
            await becomes(() => selected(page), 0);
            await touch(page, [line(await place(page, 0.1), await place(page, 0.4))]);
            await page.locator('.timeline-range').waitFor();
            // a tap would only stop the fling of the last touch
            await page.getByRole('button', { name: 'Clear selection' }).click();
            await page.locator('.timeline-range').waitFor({ state: 'detached' });
            await touch(page, [
                line(await place(page, 0.4), await place(page, 0.1)),
                line(await place(page, 0.6), await place(page, 0.9)),
            ]);
            await resetZoom(page).waitFor();
            await becomes(() => selected(page), 0); // two fingers do not select
            const left = await place(page, 0.02);
            await page.touchscreen.tap(left.x, left.y);
            await eventually(
                async () => (await at(page)) > seconds(bag) * 0.2 && (await at(page)) < seconds(bag) * 0.45,
                'a time inside the zoomed view',
            );
        });
    },
    async the_wheel_zooms_around_the_pointer() {
        await withPage(server, `/recordings/${bag.id}`, {}, async (page) => {
            await ready(page);
            const [here, there] = [await place(page, 0.7, true), await place(page, 0.9, true)];
            await page.mouse.move(here.x, here.y);
            await page.mouse.wheel(0, -500);
            await resetZoom(page).waitFor();
            await page.mouse.click(here.x, here.y);
            await near(page, seconds(bag) * 0.7, 0.1); // what was below the pointer stays there
            await page.mouse.click(there.x, there.y);
            await eventually(
                async () => (await at(page)) > seconds(bag) * 0.71 && (await at(page)) < seconds(bag) * 0.82,
                'a magnified time',
            );
            const before = await at(page);
            await page.keyboard.down('Shift');
            await page.mouse.wheel(0, 200); // sideways
            await page.keyboard.up('Shift');
            await page.mouse.click(there.x, there.y);
            await eventually(async () => (await at(page)) > before + 0.2, 'a later time at the same place');
            await page.mouse.wheel(0, 3000);
            await resetZoom(page).waitFor({ state: 'detached' });
        });
    },
    async keys_zoom_and_the_view_follows_the_playhead() {
        await withPage(server, `/recordings/${bag.id}`, {}, async (page) => {
            await ready(page);
            await page.getByRole('slider', { name: 'Playhead' }).focus();
            for (let i = 0; i < 6; i++) {
                await page.keyboard.press('+');
            }
            await resetZoom(page).waitFor();
            await page.keyboard.press('End');
            await near(page, seconds(bag), 1e-6);
            await page.waitForFunction(() => {
                const [head, field] = ['.timeline-playhead', '.timeline-field'].map((name) =>
                    document.querySelector(name).getBoundingClientRect(),
                );
                return head.left >= field.left - 2 && head.left <= field.right;
            });
            await page.keyboard.press('0');
            await resetZoom(page).waitFor({ state: 'detached' });
        });
    },
    async arrows_step_by_frame_and_with_shift_by_second() {
        const times = await messageTimes(drive, '/pose'); // the topic with the most messages
        await withPage(server, `/recordings/${drive.id}?at=2&panels=topics`, {}, async (page) => {
            await ready(page);
            await page.keyboard.press('ArrowRight');
            await page.keyboard.press('ArrowRight');
            const next = times.filter((t) => t > 2);
            await near(page, next[1], 1e-6); // without any click before
            await page.keyboard.press('ArrowLeft');
            await near(page, next[0], 1e-6);
            await page.keyboard.press('Shift+ArrowRight');
            await near(page, next[0] + 1, 1e-6);
            await page.keyboard.press('Shift+ArrowLeft');
            await near(page, next[0], 1e-6);
            await page.getByRole('button', { name: 'Next frame' }).click();
            await near(page, next[1], 1e-6);
            await page.keyboard.press('ArrowRight'); // the focus is on the button
            await near(page, next[2], 1e-6);
            await page.getByLabel('Event title').fill('ab');
            await page.keyboard.press('ArrowLeft');
            await page.keyboard.type('j k l');
            await becomes(() => page.getByLabel('Event title').inputValue(), 'aj k lb'); // fields keep their keys
            await near(page, next[2], 1e-6);
            await becomes(() => page.getByRole('button', { name: 'Pause' }).count(), 0);
        });
    },
    async j_k_and_l_play() {
        await withPage(server, `/recordings/${bag.id}?at=10`, {}, async (page) => {
            await ready(page);
            await page.keyboard.press('l');
            await eventually(async () => (await at(page)) > 10.05, 'playing');
            await page.keyboard.press('k');
            await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
            const stopped = await at(page);
            await page.keyboard.press('j');
            await eventually(async () => (await at(page)) < stopped - 0.05, 'playing backwards');
            await page.keyboard.press('j');
            await eventually(async () => (await page.getByLabel('Speed').inputValue()) === '-2', 'faster');
            await page.keyboard.press('j');
            await page.keyboard.press('j');
            await near(page, 0, 1e-6); // until the start, where it stops
            await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
            await page.keyboard.press('l');
            await eventually(async () => (await page.getByLabel('Speed').inputValue()) === '1', 'forwards');
        });
    },
    async lists_the_keys() {
        await withPage(server, `/recordings/${bag.id}?panels=none`, {}, async (page) => {
            await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
            await page.getByRole('dialog').getByText('Previous or next frame').waitFor();
            await page.keyboard.press('Escape');
            await becomes(() => page.getByRole('dialog').count(), 0);
        });
    },
};
