// The camera of the 3D view in the address; the grid; what is clicked at; the past; molecules.
import { Server, assert, becomes, checkAxeInBothThemes, eventually, sample, settled, withPage } from './harness.mjs';
import { sceneBag, uploadBag } from './bags.mjs';
import { difference, pixels } from './pixels.mjs';

let server, recording, molecule;
export async function setUp() {
    server = await Server.start();
    recording = await uploadBag(server, 'scene.bag', sceneBag());
    molecule = (await server.uploadDemo()).find(({ format }) => format.startsWith('nanover'));
}
export async function tearDown() {
    await server?.end();
}

const SIZE = { width: 1440, height: 900 };
const canvas = (page) => page.locator('.scene-area canvas');
const query = (page, name) => new URL(page.url()).searchParams.get(name);
async function ready(page) {
    await page
        .locator('.scene-stats')
        .getByText(/Frames|Atoms/)
        .waitFor();
    await settled(page);
}
/** Its picture, when it does not change any more and nothing waits to be drawn. */
async function still(page) {
    let last = await canvas(page).screenshot();
    return eventually(async () => {
        const drawn = (await canvas(page).getAttribute('data-pending')) === null;
        const next = await canvas(page).screenshot();
        const same = drawn && last.equals(next);
        last = next;
        return same && next;
    }, 'a scene at rest');
}
/** Its picture at rest, when it is another one than `before`: what was done is drawn a moment later. */
const changed = (page, before) =>
    eventually(async () => {
        const picture = await still(page);
        return (await difference(page, before, picture)) > 0.02 && picture;
    }, 'another view');
async function drag(page, dx, dy) {
    const box = await canvas(page).boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + dx / 2, y + dy / 2);
    await page.mouse.move(x + dx, y + dy);
    await page.mouse.up();
}
const at = (time, more) => `/recordings/${recording.id}?panels=scene&at=${time}${more}`;

export const tests = {
    async the_camera_is_in_the_link() {
        await withPage(server, at(1, ''), { size: SIZE }, async (page) => {
            await ready(page);
            await eventually(async () => (await pixels(canvas(page))).red.count > 20, 'the red marker');
            const first = await still(page);
            assert.equal(query(page, 'scene.view'), null);
            await drag(page, 150, -40);
            await becomes(() => query(page, 'scene.view'), /^-?[\d.]+(,-?[\d.]+){5}$/);
            const turned = await changed(page, first);
            await page.getByRole('button', { name: 'Share' }).click();
            const link = await page.getByLabel('Link to this view', { exact: true }).inputValue();
            await page.goto(link);
            await ready(page);
            await eventually(async () => (await difference(page, turned, await still(page))) < 0.004, 'the same view');
            await page.goto(at(3, `&scene.view=${query(page, 'scene.view')}`)); // the robot is elsewhere
            await ready(page);
            await becomes(() => page.getByLabel('Follow').inputValue(), 'frame:base_link');
            await changed(page, first);
            await page.getByRole('button', { name: 'Camera' }).click();
            await page.getByRole('menuitemcheckbox', { name: 'Reset view' }).click();
            await becomes(() => query(page, 'scene.view'), null);
        });
    },
    async the_view_from_above_is_in_the_link() {
        await withPage(server, at(1, '&scene.camera=top'), { size: SIZE }, async (page) => {
            await ready(page);
            await eventually(async () => (await pixels(canvas(page))).red.count > 20, 'the red marker');
            const first = await still(page);
            await canvas(page).hover();
            await page.mouse.wheel(0, -400);
            await becomes(() => query(page, 'scene.view'), /^-?[\d.]+(,-?[\d.]+){2}$/);
            const near = await changed(page, first);
            await page.reload();
            await ready(page);
            await eventually(async () => (await difference(page, near, await still(page))) < 0.004, 'the same view');
        });
    },
    async the_grid_has_no_end_and_fades() {
        const none = '&scene.hide=/lidar,/boxes,/map&scene.follow=none';
        const far = '&scene.camera=top&scene.view=50000,-50000,40';
        await withPage(server, at(1, none + far), { size: SIZE, theme: 'dark' }, async (page) => {
            await ready(page);
            for (const x of [0, 0.5]) {
                for (const y of [0, 0.5]) {
                    const part = { x, y, width: 0.5, height: 0.4 };
                    await eventually(async () => (await pixels(canvas(page), part)).other.count > 500, `${x} ${y}`);
                }
            }
            await page.goto(at(1, `${none}&scene.view=0,-20,4,0,0,0`));
            await ready(page);
            const lines = (y) => pixels(canvas(page), { x: 0.3, y, width: 0.4, height: 0.1 });
            await eventually(async () => (await lines(0.85)).other.count > 500, 'lines that are near');
            await eventually(async () => (await lines(0.05)).other.count === 0, 'none in the sky');
            await page.getByRole('button', { name: 'Layers' }).click();
            await page.getByRole('checkbox', { name: 'Grid' }).uncheck();
            await eventually(async () => (await lines(0.85)).other.count === 0, 'no grid');
        });
    },
    async what_is_clicked_at_says_what_it_is() {
        await withPage(server, at(1, '&scene.hide=/lidar'), { size: SIZE }, async (page) => {
            await ready(page);
            const { red } = await eventually(async () => {
                const seen = await pixels(canvas(page));
                return seen.red.count > 50 && seen;
            }, 'the red marker');
            const box = await canvas(page).boundingBox();
            await page.mouse.click(box.x + red.x * box.width, box.y + red.y * box.height);
            const picked = page.getByRole('region', { name: 'Selected object' });
            await picked.getByText('/boxes').waitFor();
            await picked.getByText('visualization_msgs/Marker').waitFor();
            await picked.getByText('test/1', { exact: true }).waitFor();
            await checkAxeInBothThemes(page);
            await picked.getByRole('button', { name: 'Follow' }).click();
            await becomes(() => query(page, 'scene.follow'), '/boxes');
            await picked.getByRole('button', { name: 'Messages' }).click();
            await becomes(() => query(page, 'messages.topic'), '/boxes');
            await page.locator('#panel-messages').waitFor();
            await picked.getByRole('button', { name: 'Close' }).click();
            await becomes(() => picked.count(), 0);
        });
    },
    async a_point_of_a_cloud_has_its_values() {
        const above =
            '&scene.hide=/map,/boxes&scene.camera=top&scene.view=0,0,10&scene.points=/lidar:level:rainbow:::12';
        await withPage(server, at(1, above), { size: SIZE }, async (page) => {
            await ready(page);
            const { red } = await eventually(async () => {
                const seen = await pixels(canvas(page));
                return seen.red.count > 50 && seen;
            }, 'points of high values');
            const box = await canvas(page).boundingBox();
            await page.mouse.click(box.x + red.first.x * box.width, box.y + red.first.y * box.height + 5);
            const picked = page.getByRole('region', { name: 'Selected object' });
            await picked.getByText('/lidar').waitFor();
            const values = await picked.locator('dd').allTextContents();
            const names = await picked.locator('dt').allTextContents();
            const value = (name) => Number(values[names.indexOf(name)]);
            assert.ok(Math.abs(Math.hypot(value('x'), value('y')) - 3) < 0.01, `${names} ${values}`); // the ring
            assert.ok(value('level') > 200, `a high value: ${names} ${values}`);
        });
    },
    async clouds_of_the_last_seconds_stay() {
        const points =
            '&scene.hide=/map,/boxes&scene.camera=top&scene.view=0,0,14&scene.points=/lidar:level:rainbow:-2000::4';
        await withPage(server, at(3.3, points), { size: SIZE }, async (page) => {
            await ready(page);
            const red = async () => (await pixels(canvas(page))).red;
            const one = await eventually(async () => {
                const seen = await red();
                return seen.count > 200 && seen;
            }, 'the latest cloud');
            await page.getByRole('button', { name: 'Layers' }).click();
            await page.getByLabel('Show the past').selectOption('Last 5 s');
            await page.getByRole('button', { name: 'Layers' }).click();
            const all = await eventually(async () => {
                const seen = await red(); // the robot has moved by 3 m, the ring with it
                const wide = seen.left < one.left - 0.05 && Math.abs(seen.right - one.right) < 0.02;
                return seen.count > 3 * one.count && wide && seen;
            }, 'those of the last seconds');
            await page.keyboard.press('Shift+ArrowLeft');
            await page.keyboard.press('Shift+ArrowLeft');
            await eventually(async () => (await red()).count < 0.7 * all.count, 'fewer of them, earlier');
        });
    },
    async molecules_are_drawn_in_the_style_that_is_chosen() {
        await withPage(server, `/recordings/${molecule.id}?panels=scene&scene.grid=0`, { size: SIZE }, async (page) => {
            await ready(page);
            const size = async () => (await pixels(canvas(page))).other.count;
            await eventually(async () => (await size()) > 5000, 'the molecule');
            await still(page);
            const balls = await size();
            const style = page.getByLabel('Style');
            assert.deepEqual(await style.locator('option').allTextContents(), [
                'Ball and stick',
                'Licorice',
                'Space-filling',
            ]); // it has no protein
            await style.selectOption('Space-filling');
            await eventually(async () => (await size()) > 1.3 * balls, 'larger atoms');
            await becomes(() => query(page, 'scene.style'), 'spheres');
            await style.selectOption('Licorice');
            await eventually(async () => (await size()) < 0.95 * balls, 'smaller atoms');
            await page.reload();
            await ready(page);
            await becomes(() => style.inputValue(), 'licorice');
            const box = await canvas(page).boundingBox();
            const thin = await eventually(
                async () => (await still(page)) && (await size()) > 1000 && size(),
                'it again',
            );
            await style.selectOption('Space-filling');
            await eventually(async () => (await size()) > 1.3 * thin, 'larger atoms again');
            await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
            const picked = page.getByRole('region', { name: 'Selected object' });
            await picked.getByText('Element').waitFor();
            await picked.getByText(/ nm$/).waitFor();
        });
    },
    async a_protein_is_drawn_as_a_ribbon() {
        const [protein] = await server.upload([sample('nanover/17-ala-multiple.nanover.zip')]);
        await withPage(server, `/recordings/${protein.id}?panels=scene&scene.grid=0`, { size: SIZE }, async (page) => {
            await ready(page);
            await eventually(async () => (await pixels(canvas(page))).blue.count > 20, 'nitrogen, which is blue');
            await page.getByLabel('Style').selectOption('Ribbon');
            await eventually(async () => {
                const { blue, red } = await pixels(canvas(page));
                return blue.count === 0 && red.count > 500;
            }, 'one band of one colour');
        });
    },
};
