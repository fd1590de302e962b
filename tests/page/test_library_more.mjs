// The library's thumbnails, saved searches, recently opened recordings, relative dates, time zones, and the comparison
// of two recordings.
import { cameraBag, uploadBag, fastBag } from './bags.mjs';
import {
    Server,
    assert,
    checkAxeInBothThemes,
    eventually,
    screenshot,
    settled,
    withPage,
    becomes,
} from './harness.mjs';

let server;
let camera;
let plain;

export async function setUp() {
    server = await Server.start();
    plain = await uploadBag(server, 'plain.bag', fastBag());
    camera = await uploadBag(server, 'camera.bag', cameraBag());
    await server.json(`/recordings/${plain.id}/tags/timezone?value=Asia/Tokyo`, { method: 'PUT' });
}
export async function tearDown() {
    await server?.end();
}

const SMALL = { size: { width: 360, height: 740 } };
const queryOf = (page) => new URL(page.url()).searchParams;
const row = (page, name) => page.locator('.table-row').filter({ hasText: name });
const filters = (page) => page.getByRole('navigation', { name: 'Filters' });
const choose = async (page, menu, item) => {
    await page.getByRole('button', { name: menu }).click();
    await page.getByRole('menu').getByText(item, { exact: true }).click();
};

async function showsPictures() {
    await withPage(server, '/', {}, async (page) => {
        const picture = row(page, 'camera.bag').locator('.library-thumbnail img');
        await picture.waitFor();
        await eventually(() => picture.evaluate((image) => image.naturalWidth === 320), 'the thumbnail');
        await row(page, 'plain.bag').getByRole('img', { name: 'Messages over time' }).waitFor();
        const box = await picture.boundingBox();
        await page.mouse.move(box.x + 1, box.y + 10);
        const peek = page.locator('.library-peek');
        await peek.locator('img').waitFor();
        await eventually(() => peek.locator('img').evaluate((image) => image.naturalWidth === 2400), 'the strip');
        await page.mouse.move(box.x + box.width - 2, box.y + 10);
        await becomes(() => peek.getAttribute('aria-label'), 'Frame 10 of 10 of camera.bag');
        const [frame, strip] = [
            await peek.locator('.library-peek-frame').boundingBox(),
            await peek.locator('img').boundingBox(),
        ];
        assert.equal(
            Math.round(strip.x + strip.width),
            Math.round(frame.x + frame.width),
            'the last frame of the strip is in the box',
        );
        await page.mouse.move(box.x + 300, box.y + 10);
        await peek.waitFor({ state: 'detached' });
        await page.locator('.library .table-body').focus(); // by the keyboard
        await page.keyboard.press('Home');
        for (const key of ['p', 'ArrowRight', 'ArrowRight']) {
            await page.keyboard.press(key);
        }
        await page.getByRole('status', { name: 'Frame 3 of 10 of camera.bag' }).waitFor();
        await checkAxeInBothThemes(page);
        await page.keyboard.press('Escape');
        await peek.waitFor({ state: 'detached' });
        await choose(page, 'Columns', 'Preview');
        await picture.waitFor({ state: 'detached' });
        await becomes(() => row(page, 'camera.bag').evaluate((one) => one.offsetHeight), 28);
        await page.reload(); // the browser remembers it
        await row(page, 'camera.bag').waitFor();
        await settled(page);
        await becomes(() => picture.count(), 0);
    });
    await withPage(server, '/', SMALL, async (page) => {
        await row(page, 'camera.bag').locator('.library-thumbnail img').waitFor();
        await screenshot(page, 'library-thumbnails-narrow');
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it fits');
    });
}

async function savesSearches() {
    await withPage(server, '/?q=camera&start=now-7d', {}, async (page) => {
        await page.getByRole('button', { name: 'Save this search…' }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Name').fill('cameras');
        await checkAxeInBothThemes(page);
        await dialog.getByRole('button', { name: 'Save' }).click();
        await dialog.waitFor({ state: 'detached' });
        await becomes(() => queryOf(page).get('saved'), 'cameras');
        assert.deepEqual((await server.json('/searches/cameras')).value, {
            q: 'camera',
            where: null,
            start: 'now-7d',
            end: null,
            sort: null,
        });
        await filters(page).getByRole('button', { name: 'Last 7 days' }).first().click(); // without the dates
        await filters(page).getByText('changed').waitFor();
        await choose(page, 'Actions for cameras', 'Save changes');
        await filters(page).getByText('changed').waitFor({ state: 'detached' });
        await choose(page, 'Actions for cameras', 'Rename…');
        await dialog.getByLabel('Name').fill('all cameras');
        await dialog.getByLabel('Name').press('Enter');
        await filters(page).getByRole('link', { name: 'all cameras' }).waitFor();
    });
    await withPage(server, '/?saved=all+cameras', {}, async (page) => {
        // a link with the name alone
        await page.waitForURL(/q=camera/);
        await page.locator('.library-count').getByText('1 recording', { exact: true }).waitFor();
        const box = page.getByRole('combobox', { name: 'Search recordings' });
        await box.fill('');
        await page.locator('.library-count').getByText('2 recordings').waitFor();
        await eventually(() => !queryOf(page).has('saved'), 'another search');
        await box.fill('all ca');
        await page.getByRole('option', { name: /all cameras/ }).click();
        await page.locator('.library-count').getByText('1 recording', { exact: true }).waitFor();
        await becomes(() => queryOf(page).get('saved'), 'all cameras');
        await choose(page, 'Actions for all cameras', 'Delete');
        await page.getByRole('button', { name: 'Undo' }).click();
        await filters(page).getByRole('link', { name: 'all cameras' }).waitFor();
        assert.equal((await server.json('/searches')).items.length, 1);
    });
}

async function knowsWhatWasOpened() {
    await withPage(server, '/', {}, async (page) => {
        await page.getByRole('link', { name: 'plain.bag' }).click();
        await page.locator('.recording').first().waitFor();
        await eventually(
            () => page.evaluate(() => localStorage.getItem('reel.recent')?.includes('plain.bag')),
            'the note of it',
        );
        await page.goBack();
        await filters(page).getByRole('link', { name: 'plain.bag' }).click();
        await page.waitForURL('**/recordings/' + plain.id);
    });
}

async function showsTimesInAZone() {
    const zone = { timezoneId: 'America/New_York', allow: [/status of 400/] };
    await withPage(server, '/', zone, async (page) => {
        const start = () => row(page, 'plain.bag').locator('.c-start').textContent();
        await row(page, 'plain.bag').waitFor();
        const hours = Number((await start()).slice(11, 13));
        const isAhead = async (by) =>
            eventually(
                async () => (Number((await start()).slice(11, 13)) - hours - by) % 24 === 0,
                `times that are ${by} hours ahead`,
            );
        await choose(page, /^Time zone/, 'Local time of this computer');
        await isAhead(-4);
        await page.getByRole('columnheader', { name: 'Start (New York)' }).waitFor();
        await choose(page, /^Time zone/, 'Each recording’s own (its tag timezone), otherwise UTC');
        await isAhead(9);
        await page.goto('/?zone=Asia/Kolkata&start=today-1d&end=today');
        await page.locator('.library-range').getByText('Kolkata').waitFor();
        await becomes(
            () => page.locator('.library-range').textContent(),
            / 00:00 – .* 00:00 /,
            'days begin at midnight there',
        );
        await becomes(
            () => filters(page).getByRole('button', { name: 'Yesterday' }).getAttribute('aria-pressed'),
            'true',
        );
        await page.goto('/?start=now-99999999999999d'); // no date that a browser knows
        await page.getByText('is not understood').waitFor();
    });
}

async function comparesTwo() {
    await withPage(server, '/?sort=name', {}, async (page) => {
        for (const name of ['camera.bag', 'plain.bag']) {
            await page.getByRole('checkbox', { name: `Select ${name}` }).click();
        }
        await page.getByRole('button', { name: 'Merge…' }).click();
        await page.getByRole('dialog', { name: 'Merge 2 recordings by time' }).waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Tag…' }).click();
        await page.getByLabel('Tags to set').fill('timezone:UTC');
        await page.getByRole('button', { name: 'Preview', exact: true }).click();
        await page.getByRole('button', { name: 'Tag 2 recordings' }).click();
        await page.getByRole('button', { name: 'Undo' }).click();
        await page.getByText('Changes to 2 recordings undone').waitFor();
        const tags = await Promise.all(
            [camera, plain].map(async ({ id }) => (await server.json('/recordings/' + id)).tags),
        );
        assert.deepEqual(tags, [{}, { timezone: 'Asia/Tokyo' }]);
        await page.getByRole('button', { name: 'Compare' }).click();
        await page.waitForURL(
            (url) => url.pathname.endsWith(`/recordings/${camera.id}`) && url.searchParams.get('with') === plain.id,
        );
    });
}

export const tests = { showsPictures, savesSearches, knowsWhatWasOpened, showsTimesInAZone, comparesTwo };
