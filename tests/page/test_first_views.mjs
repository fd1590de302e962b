// What a recording shows when it is opened: the panels that fit its topics, and a CARLA drive from behind the hero.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server, assert, becomes, checkAxeInBothThemes, eventually, settled, withPage } from './harness.mjs';
import { cameraBag, driveBag, sceneBag, uploadBag } from './bags.mjs';
import { carlaDrive } from './carla_log.mjs';
import { pixels } from './pixels.mjs';

let server, robot, drive, long;
const HEIGHT = 50; // m: the road lies above the map's zero
const SPEED = 10;
const SECONDS = 20;
const car = (id, name, colour, at, more = {}) => ({
    id,
    name,
    attributes: { color: colour, ...more },
    at,
});
const drivers = [
    car(7, 'vehicle.test.leader', '255,255,0', (t) => [SPEED * t + 15, 6, HEIGHT]),
    car(8, 'vehicle.test.ego', '0,255,0', (t) => [SPEED * t, 0, HEIGHT], {
        role_name: 'hero',
    }),
];

async function uploadLog(name, bytes) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-carla-'));
    const file = path.join(folder, name);
    fs.writeFileSync(file, bytes);
    const [recording] = await server.upload([file]);
    fs.rmSync(folder, { recursive: true });
    return recording;
}
export async function setUp() {
    server = await Server.start();
    const bags = [...sceneBag(), ...cameraBag(), ...driveBag().filter(({ topic }) => topic === '/pose')];
    robot = await uploadBag(
        server,
        'robot.bag',
        bags.sort((a, b) => a.at - b.at),
    );
    drive = await uploadLog('drive.log', carlaDrive({ count: 10 * SECONDS + 1, step: 0.1, actors: drivers }));
    // so many bytes that the page loads a few seconds of it at a time
    long = await uploadLog(
        'long.log',
        carlaDrive({
            count: 10 * SECONDS + 1,
            step: 0.1,
            actors: drivers,
            padding: 20000,
        }),
    );
}
export async function tearDown() {
    await server?.end();
}

const SIZE = { width: 1440, height: 900 };
const canvas = (page) => page.locator('.scene-area canvas');
const shownPanels = (page) => page.locator('.panel').evaluateAll((all) => all.map(({ id }) => id));
async function actors(page) {
    await becomes(() => page.locator('.scene-stats').textContent(), 'Actors2');
    await settled(page);
}
/** The length of what is red, in metres, on a dark background; the view from above is 100 m high. */
const redLength = async (page) => {
    const { red } = await pixels(canvas(page));
    const box = await canvas(page).boundingBox();
    return red.count === 0 ? 0 : ((red.right - red.left) * box.width * 100) / box.height;
};
const above = (more) => `?panels=scene&at=15&scene.camera=top&scene.view=0,0,100&scene.hide=names${more}`;

export const tests = {
    async a_robot_opens_with_its_camera_the_3d_view_and_a_plot() {
        await withPage(server, `/recordings/${robot.id}`, {}, async (page) => {
            await page.locator('.panel').first().waitFor();
            await becomes(() => shownPanels(page), ['panel-image', 'panel-scene', 'panel-plot']);
            await page.locator('.image-facts', { hasText: '640 × 480' }).waitFor();
            await page.locator('.scene-stats').getByText('Frames').waitFor();
            await page.locator('.plot canvas').first().waitFor();
            await settled(page);
            assert.equal(new URL(page.url()).searchParams.get('panels'), null);
            await checkAxeInBothThemes(page);
        });
        await withPage(server, `/recordings/${drive.id}`, {}, async (page) => {
            await page.locator('.panel').first().waitFor();
            await becomes(() => shownPanels(page), ['panel-scene', 'panel-log']);
        });
    },
    async a_drive_is_seen_from_behind_the_hero() {
        await withPage(
            server,
            `/recordings/${drive.id}?panels=scene&at=15`,
            { size: SIZE, theme: 'dark' },
            async (page) => {
                await actors(page);
                await becomes(() => page.getByLabel('Follow').inputValue(), 'actor/8');
                const seen = await eventually(async () => {
                    const all = await pixels(canvas(page));
                    return all.green.count > 500 && all.red.count > 100 && all;
                }, 'the hero and its trail');
                assert.ok(Math.abs(seen.green.x - 0.5) < 0.05, `the hero is in the middle: ${seen.green.x}`);
                assert.ok(seen.green.bottom - seen.green.top < 0.5, 'and ahead there is a road');
                assert.ok(seen.yellow.count > 20 && seen.yellow.y < seen.green.y, 'the car ahead is further up');
                assert.ok(seen.yellow.x < seen.green.x, 'and on the left, where its y is');
                assert.ok(seen.red.y > seen.green.y, 'the trail is behind the hero');
                const { left, right, top, bottom } = seen.green;
                const around = {
                    x: left,
                    y: Math.max(top - 0.1, 0),
                    width: right - left,
                    height: bottom - top,
                };
                const written = async () => (await pixels(canvas(page), around)).white;
                await eventually(async () => (await written()).count > 20, 'the name of the hero');
                await page.getByRole('button', { name: 'Layers' }).click();
                await page.getByRole('checkbox', { name: 'Names', exact: true }).uncheck();
                await page.getByRole('button', { name: 'Layers' }).click();
                await eventually(async () => (await written()).count === 0, 'no names');
                const box = await canvas(page).boundingBox();
                const clickHero = () =>
                    page.mouse.click(box.x + seen.green.x * box.width, box.y + seen.green.y * box.height);
                await clickHero();
                const picked = page.getByRole('region', { name: 'Selected object' });
                await picked.getByText('hero test ego 8').waitFor();
                await picked.getByText('10.0 m/s').waitFor();
                await picked.getByText('150.00, 0.00, 50.00 m').waitFor();
                await page.getByRole('button', { name: 'Measure' }).click();
                await clickHero();
                await page.mouse.click(box.x + 0.1 * box.width, box.y + 0.8 * box.height);
                const text = await page.locator('.scene-measure', { hasText: 'Distance' }).textContent();
                const [, , , dz] = text.match(/-?[\d.]+/g).map(Number);
                assert.ok(dz <= 0 && dz > -2, `the ground is below the car: ${text}`);
            },
        );
    },
    async the_camera_stays_behind_the_hero_while_it_drives() {
        await withPage(
            server,
            `/recordings/${drive.id}?panels=scene&at=5`,
            { size: SIZE, theme: 'dark' },
            async (page) => {
                await actors(page);
                const middle = async () => (await pixels(canvas(page))).green;
                const before = await eventually(async () => {
                    const green = await middle();
                    return green.count > 500 && green;
                }, 'the hero');
                await page.keyboard.press('Shift+ArrowRight');
                await eventually(async () => {
                    const now = await middle();
                    return Math.abs(now.x - before.x) < 0.02 && Math.abs(now.y - before.y) < 0.02;
                }, 'the hero where it was');
            },
        );
    },
    async a_camera_that_is_moved_during_playback_is_in_the_link() {
        await withPage(server, `/recordings/${drive.id}?panels=scene&at=0`, { size: SIZE }, async (page) => {
            await actors(page);
            await page.getByLabel('Speed').selectOption('0.1'); // for 200 s
            await page.getByRole('button', { name: 'Play', exact: true }).click();
            const box = await canvas(page).boundingBox();
            await page.mouse.move(box.x + 300, box.y + 300);
            await page.mouse.down();
            await page.mouse.move(box.x + 380, box.y + 320, { steps: 4 });
            await page.mouse.up();
            await becomes(() => new URL(page.url()).searchParams.get('scene.view'), /^-?[\d.]+(,-?[\d.]+){5}$/);
            await page.getByRole('button', { name: 'Pause', exact: true }).click();
        });
    },
    async trails_are_as_long_as_was_chosen() {
        await withPage(server, `/recordings/${drive.id}${above('')}`, { size: SIZE, theme: 'dark' }, async (page) => {
            await actors(page);
            await eventually(async () => (await redLength(page)) > 18, '5 s of the trail, its end is faint');
            assert.ok((await redLength(page)) <= 51, 'no more than 5 s');
            await page.getByRole('button', { name: 'Layers' }).click();
            await page.getByLabel('Show the past').selectOption('Last 1 s');
            await eventually(async () => {
                const length = await redLength(page);
                return length >= 3 && length <= 11;
            }, '1 s of it');
            await becomes(() => new URL(page.url()).searchParams.get('scene.span'), '1');
            const asked = page.waitForRequest((request) => request.url().includes('trajectories'));
            await page.getByLabel('Show the past').selectOption('Whole paths');
            await asked; // they cost a pass over the recording
            await page.getByRole('button', { name: 'Layers' }).click();
            await eventually(async () => {
                const { green } = await pixels(canvas(page));
                return green.count > 100 && green.right - green.left > 0.6;
            }, 'the whole paths');
        });
    },
    async after_a_seek_back_the_trail_is_whole() {
        const at = above('').replace('at=15', 'at=18');
        await withPage(server, `/recordings/${drive.id}${at}`, { size: SIZE, theme: 'dark' }, async (page) => {
            await actors(page);
            await eventually(async () => (await redLength(page)) > 18, 'the trail');
            await page.keyboard.press('Shift+ArrowRight'); // what is older than three times its length is dropped
            for (let second = 19; second > 5; second--) {
                await page.keyboard.press('Shift+ArrowLeft');
            }
            await page.locator('.player-time', { hasText: '0:05.000' }).waitFor();
            await settled(page);
            const drawn = async () => (await canvas(page).getAttribute('data-pending')) === null;
            await eventually(async () => (await drawn()) && (await redLength(page)) > 18, 'what was dropped');
        });
    },
    async after_a_seek_the_trail_is_loaded() {
        await withPage(server, `/recordings/${long.id}${above('')}`, { size: SIZE, theme: 'dark' }, async (page) => {
            await actors(page);
            const length = (from) => eventually(async () => (await redLength(page)) > from, `${from} m of the trail`);
            await length(18);
            await page.getByRole('slider', { name: 'Playhead' }).focus();
            await page.keyboard.press('Home');
            await eventually(async () => (await redLength(page)) < 1, 'no trail at the start');
            await page.goto(`/recordings/${long.id}${above('').replace('at=15', 'at=8')}`);
            await actors(page);
            await length(18);
            assert.ok((await redLength(page)) <= 51);
        });
    },
};
