// How much of the window the panels of a recording have, and what of the view can be made smaller or hidden.
import { SIZES, Server, assert, becomes, checkAxeInBothThemes, checkView, eventually, withPage } from './harness.mjs';
import { driveBag, uploadBag } from './bags.mjs';

let server, drive, archive;
export async function setUp() {
    server = await Server.start();
    archive = (await server.uploadDemo()).find((r) => r.format === 'nanover');
    drive = await uploadBag(server, 'drive.bag', driveBag());
    await server.json('/events', {
        method: 'POST',
        body: JSON.stringify({
            recording: drive.id,
            title: 'lap',
            start: '+1s',
            end: '+2s',
        }),
    });
}
export async function tearDown() {
    await server?.end();
}

const FIRST = { first: true };
const ready = async (page) => {
    await page.locator('.panel').first().waitFor();
    await page.waitForFunction(() => document.querySelector('.timeline-canvas')?.width > 100);
};
/** The part of the window that is covered by panels, as they are seen. */
const share = (page) =>
    page.evaluate(() => {
        let seen = 0;
        for (const panel of document.querySelectorAll('.panel')) {
            const box = panel.getBoundingClientRect();
            const [width, height] = [
                Math.min(box.right, innerWidth) - Math.max(box.left, 0),
                Math.min(box.bottom, innerHeight) - Math.max(box.top, 0),
            ];
            seen += Math.max(width, 0) * Math.max(height, 0);
        }
        return seen / (innerWidth * innerHeight);
    });
const height = async (page, part) => (await page.locator(part).boundingBox()).height;
const topics = (page) => page.locator('.timeline').getByRole('button', { name: 'All topics' });
const names = (page) => page.locator('.timeline-name').allTextContents();

export const tests = {
    async panels_have_most_of_the_window() {
        for (const recording of [drive, archive]) {
            for (const [size, least] of [
                [SIZES.wide, 0.65],
                [SIZES.medium, 0.6],
            ]) {
                await withPage(server, `/recordings/${recording.id}`, { ...FIRST, size }, async (page) => {
                    await ready(page);
                    await eventually(async () => (await share(page)) >= least, `${least} of ${size.width}`);
                    await page.getByRole('button', { name: 'Details', exact: true }).click();
                    await page.locator('.details').getByText('Description').first().waitFor();
                    const with_details = await share(page);
                    assert.ok(with_details >= 0.5, `${with_details} of ${size.width} beside the details`);
                });
            }
        }
    },
    async the_timeline_is_one_row_that_opens_to_all() {
        await withPage(server, `/recordings/${drive.id}`, FIRST, async (page) => {
            await ready(page);
            assert.equal(await topics(page).getAttribute('aria-expanded'), 'false');
            await eventually(async () => /^[1-9]\d* topics$/.test((await names(page)).join()), 'the number of topics');
            await becomes(() => page.locator('.timeline-event').count(), 1); // events are always there
            const thin = await height(page, '.timeline');
            assert.ok(thin <= 80, `${thin} px`);
            await checkAxeInBothThemes(page);
            await topics(page).click();
            await eventually(async () => (await names(page)).includes('/pose'), 'a row for each topic');
            assert.ok((await height(page, '.timeline')) > thin);
            await page.reload();
            await ready(page);
            await eventually(async () => (await names(page)).includes('/pose'), 'it is remembered');
            await topics(page).click();
            await eventually(async () => (await names(page)).length === 1, 'one row again');
        });
    },
    async the_timeline_is_resized_by_its_edge() {
        await withPage(server, `/recordings/${drive.id}`, FIRST, async (page) => {
            await ready(page);
            const edge = page.getByRole('separator', {
                name: 'Height of the timeline',
            });
            await becomes(() => page.locator('.timeline-event').count(), 1); // it has a lane
            const thin = await height(page, '.timeline');
            const drag = async (by) => {
                const box = await edge.boundingBox();
                await page.mouse.move(box.x + 200, box.y + 3);
                await page.mouse.down();
                await page.mouse.move(box.x + 200, box.y + 3 + by / 2);
                await page.mouse.move(box.x + 200, box.y + 3 + by);
                await page.mouse.up();
            };
            await drag(60);
            await eventually(async () => (await names(page)).length > 1, 'open');
            const open = await height(page, '.timeline');
            assert.ok(open > thin && open <= thin + 61, `${thin} and ${open} px`);
            await page.reload();
            await ready(page);
            await becomes(() => height(page, '.timeline'), open, 'as high as before');
            await edge.focus();
            await page.keyboard.press('ArrowUp');
            await eventually(async () => (await height(page, '.timeline')) < open, 'lower by the keyboard');
            await drag(-200);
            await eventually(async () => (await height(page, '.timeline')) === thin, 'one row');
        });
    },
    async details_are_hidden_and_shown() {
        await withPage(server, `/recordings/${drive.id}`, FIRST, async (page) => {
            await ready(page);
            const details = page.locator('.details');
            const button = page.getByRole('button', { name: 'Details', exact: true });
            await becomes(() => details.isVisible(), false);
            await button.click();
            await becomes(() => details.isVisible(), true);
            await page.getByLabel('New tag').fill('site:hall');
            await button.click();
            await becomes(() => details.isVisible(), false);
            await button.click();
            await becomes(() => page.getByLabel('New tag').inputValue(), 'site:hall');
            await page.reload();
            await ready(page);
            await becomes(() => details.isVisible(), true, 'it is remembered');
        });
        await withPage(
            server,
            `/recordings/${drive.id}`,
            { ...FIRST, size: { width: 1920, height: 1080 } },
            async (page) => {
                await ready(page);
                await becomes(() => page.locator('.details').isVisible(), true, 'there is room');
                await eventually(async () => (await share(page)) >= 0.65, '0.65 of 1920');
            },
        );
    },
    async an_added_panel_scrolls_nothing_away() {
        await withPage(
            server,
            `/recordings/${drive.id}?panels=plot`,
            { ...FIRST, size: SIZES.medium },
            async (page) => {
                await ready(page);
                for (const [i, kind] of ['Messages', 'Log', 'Topics', '3D', 'Plot'].entries()) {
                    await page.getByRole('button', { name: 'Add panel' }).click();
                    await page.getByRole('menuitem', { name: kind, exact: true }).click();
                    await becomes(() => page.locator('.panel').count(), i + 2);
                    const outside = await page.evaluate(() =>
                        [
                            '.recording-header',
                            '.timeline',
                            '.player',
                            ...[...document.querySelectorAll('.panel')].map((p) => '#' + p.id),
                        ].filter((part) => {
                            const box = document.querySelector(part).getBoundingClientRect();
                            return box.top < 0 || box.bottom > innerHeight || box.height < 30;
                        }),
                    );
                    assert.deepEqual(outside, [], `outside of the window with ${i + 2} panels`);
                }
            },
        );
    },
    async looks() {
        await checkView(server, `/recordings/${drive.id}`, 'room', ready, FIRST);
    },
};
