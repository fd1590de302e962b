// What opens above the recording view (menus, dialogs) lies inside the window, and its fields keep what is typed.
import {
    LONG,
    SIZES,
    Server,
    assert,
    checkAxe,
    checkAxeInBothThemes,
    eventually,
    withPage,
    becomes,
} from './harness.mjs';
import { cameraBag, driveBag, uploadBag } from './bags.mjs';

let server, archive, camera, drive;
export async function setUp() {
    server = await Server.start();
    archive = (await server.uploadDemo()).find((r) => r.format === 'nanover');
    camera = await uploadBag(server, 'camera.bag', cameraBag());
    drive = await uploadBag(server, 'drive.bag', driveBag());
}
export async function tearDown() {
    await server?.end();
}

const WINDOWS = LONG ? Object.values(SIZES) : [SIZES.wide, SIZES.narrow]; // medium is laid out like wide
const ALL_PANELS = 'panels=plot,scene,log,messages,topics';
const ready = (page) => page.locator('.timeline-name').first().waitFor();
/** Runs in the browser: what keeps a person from using the element; '' if nothing does. */
function faultOf(element) {
    const box = element.getBoundingClientRect();
    if (
        box.left < 0 ||
        box.top < 0 ||
        box.right > innerWidth ||
        box.bottom > innerHeight ||
        box.width < 10 ||
        box.height < 10
    ) {
        return `at ${box.left},${box.top} to ${box.right},${box.bottom} in a window of ${innerWidth} by ${innerHeight}`;
    }
    const covered = [
        [box.left + 3, box.top + 3],
        [box.right - 3, box.top + 3],
        [box.left + 3, box.bottom - 3],
        [box.right - 3, box.bottom - 3],
    ].find(([x, y]) => !element.contains(document.elementFromPoint(x, y)));
    return covered ? `covered or clipped at ${covered}` : '';
}
const liesInside = async (surface, what) => assert.equal(await surface.evaluate(faultOf), '', what);
const play = (page) => page.getByRole('button', { name: 'Play', exact: true });

/** Opens every menu of the page in turn. */
async function checkMenus(page, what) {
    const buttons = page.locator('button[aria-haspopup=menu]');
    const number = await buttons.count();
    for (let i = 0; i < number; i++) {
        const name = await buttons.nth(i).evaluate((button) => button.getAttribute('aria-label') ?? button.textContent);
        await buttons.nth(i).click();
        await liesInside(page.getByRole('menu'), `${what}: the menu ${name}`);
        await page.keyboard.press('Escape');
        await page.getByRole('menu').waitFor({ state: 'detached' });
    }
    return number;
}

async function checkDialogs(page, what, hasKeys) {
    for (const name of ['Export', 'Fields', ...(hasKeys ? ['Keyboard shortcuts'] : [])]) {
        await page.getByRole('button', { name, exact: true }).click();
        await eventually(async () => (await page.locator('dialog[open] .spinner').count()) === 0, name);
        await liesInside(page.locator('dialog[open]'), `${what}: ${name}`);
        await checkAxe(page, 'dialog[open]');
        await page.keyboard.press('Escape');
        await page.locator('dialog[open]').waitFor({ state: 'detached' });
    }
}

export const tests = {
    async menus_and_dialogs_lie_inside_the_window() {
        for (const size of WINDOWS) {
            for (const recording of size === SIZES.narrow ? [drive, archive] : [drive]) {
                await withPage(server, `/recordings/${recording.id}?${ALL_PANELS}`, { size }, async (page) => {
                    await ready(page);
                    await page.locator('.plot-tools').waitFor();
                    const what = `${size.width} by ${size.height}`;
                    await (recording === drive && checkDialogs(page, what, size.width > 760));
                    assert.ok((await checkMenus(page, what)) >= 3, 'actions, panels, plot');
                    await page.getByRole('button', { name: 'Add panel' }).scrollIntoViewIfNeeded();
                    await page.getByRole('button', { name: 'Add panel' }).click();
                    await page.getByRole('menuitem', { name: 'Topics' }).click(); // it can be used where it is
                    await page.locator('.panel-topics').nth(1).waitFor();
                });
            }
        }
    },
    async a_toast_covers_no_action() {
        for (const size of WINDOWS) {
            await withPage(server, '/?q=collection:bags', { size }, async (page) => {
                const choose = async () => {
                    await page
                        .locator('.table-row')
                        .first()
                        .click({ position: { x: 2, y: 4 } });
                    await page.locator('.library-actions button').first().waitFor();
                };
                await choose();
                await page.getByRole('button', { name: 'Move to trash' }).click();
                const undo = page.locator('.toast').getByRole('button', { name: 'Undo' });
                await undo.waitFor();
                await page.locator('.table-row').nth(1).waitFor({ state: 'detached' });
                await choose();
                for (const action of await page.locator('.library-actions button').all()) {
                    await liesInside(action, `${size.width} by ${size.height}: ${await action.innerText()}`);
                }
                await undo.click();
                await page.locator('.table-row').nth(1).waitFor();
            });
        }
    },
    async every_panel_is_accessible_in_both_themes() {
        for (const [recording, panels] of [
            [drive, ALL_PANELS],
            [camera, 'panels=image,messages'],
            [archive, 'panels=scene,log'],
        ]) {
            for (const size of recording === drive ? [SIZES.wide, SIZES.narrow] : [SIZES.wide]) {
                await withPage(server, `/recordings/${recording.id}?${panels}&range=0.5~1`, { size }, async (page) => {
                    await ready(page);
                    await eventually(async () => (await page.locator('.spinner').count()) === 0, 'the panels');
                    await checkAxeInBothThemes(page);
                });
            }
        }
    },
    async rename_and_description_have_the_focus_and_keep_what_is_typed() {
        await withPage(server, `/recordings/${camera.id}`, {}, async (page) => {
            await ready(page);
            await page.getByRole('button', { name: 'Edit description' }).click();
            await page.keyboard.type('a red door');
            await becomes(() => page.getByLabel('Description').inputValue(), 'a red door');
            await play(page).waitFor(); // a space is a character here
            await page.locator('.details').getByRole('button', { name: 'Save' }).click();
            await page.getByText('a red door').waitFor();
            assert.equal((await server.json('/recordings/' + camera.id)).description, 'a red door');
            await becomes(
                () => page.evaluate(() => document.activeElement.getAttribute('aria-label')),
                'Edit description',
            );
            await page.keyboard.press('Enter');
            await page.keyboard.press('End');
            await page.keyboard.type(' opens');
            await page.keyboard.press('Escape');
            await page.getByText('a red door', { exact: true }).waitFor(); // given up: the old text stays
            await page.getByRole('button', { name: 'Rename' }).click();
            await page.keyboard.type('door camera.bag'); // replaces the name, which is selected
            await page.keyboard.press('Enter');
            await page.getByRole('heading', { level: 1, name: 'door camera.bag' }).waitFor();
            const now = await server.json('/recordings/' + camera.id);
            assert.deepEqual([now.name, now.description], ['door camera.bag', 'a red door']);
            await play(page).waitFor();
        });
    },
    async every_field_keeps_what_is_typed() {
        await withPage(server, `/recordings/${drive.id}?${ALL_PANELS}`, {}, async (page) => {
            await ready(page);
            await page.locator('.log-tools input').waitFor();
            await page.getByRole('button', { name: 'Rename' }).click();
            await page.getByRole('button', { name: 'Edit description' }).click();
            const fields = page.locator(
                'main :is(textarea, input:not([type=checkbox], [type=range], [type=radio])):visible',
            );
            const number = await fields.count();
            assert.ok(number >= 6, `name, description, tag, note, event, log filter: ${number}`);
            const before = await page.getByRole('slider', { name: 'Playhead' }).getAttribute('aria-valuenow');
            for (let i = 0; i < number; i++) {
                await fields.nth(i).click();
                await page.keyboard.press('ControlOrMeta+a');
                await page.keyboard.type('j k l [1] +0');
                await page.keyboard.press('ArrowLeft');
                await page.keyboard.type('9');
            }
            // The recording changes meanwhile; what is typed stays.
            await server.json('/recordings/' + drive.id, {
                method: 'PATCH',
                body: '{"tags":{"seen":"yes"}}',
                headers: { 'Content-Type': 'application/json' },
            });
            await page.getByRole('link', { name: 'seen yes' }).waitFor();
            assert.deepEqual(
                await fields.evaluateAll((all) => all.map((field) => field.value)),
                Array(number).fill('j k l [1] +90'),
            );
            await play(page).waitFor();
            await becomes(() => page.getByRole('slider', { name: 'Playhead' }).getAttribute('aria-valuenow'), before);
        });
    },
};
