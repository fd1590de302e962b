// What is seen whole: titles of events, tracks beside their legend, the size of an image; why messages are bytes; and
// what a finger does on the lanes.
import { SIZES, Server, assert, becomes, checkAxe, eventually, withPage } from './harness.mjs';
import { cameraBag, driveBag, float64, gpsBag, uploadBag } from './bags.mjs';

let server, drive, gps, camera, unknown;
export async function setUp() {
    server = await Server.start();
    drive = await uploadBag(server, 'drive.bag', driveBag());
    gps = await uploadBag(server, 'gps.bag', gpsBag());
    camera = await uploadBag(server, 'camera.bag', cameraBag());
    unknown = await uploadBag(
        server,
        'unknown.bag',
        [0, 1, 2].map((at) => ({ at, topic: '/thing', type: 'lab_msgs/Unknown', data: float64(at) })),
    );
    for (const [title, start, end] of [
        ['the wheel slips on the wet floor of the hall', '+1s', '+1.3s'],
        ['a door that is in the way of the robot', '+5s', '+5s'],
        ['next', '+8s', '+8.2s'],
        ['a long title that has no room here', '+8.6s', '+8.7s'],
        ['last', '+9s', '+9.5s'],
    ]) {
        await server.json('/events', {
            method: 'POST',
            body: JSON.stringify({ recording: drive.id, title, start, end }),
        });
    }
}
export async function tearDown() {
    await server?.end();
}

const ready = async (page) => {
    await page.locator('.timeline-name').first().waitFor();
    await page.waitForFunction(() => document.querySelector('.timeline-canvas')?.width > 100);
};

export const tests = {
    async titles_of_events_are_whole_where_there_is_room() {
        await withPage(server, `/recordings/${drive.id}?panels=topics`, { first: true }, async (page) => {
            await ready(page);
            await becomes(() => page.locator('.timeline-event').count(), 5);
            const shown = await page.locator('.timeline-event').evaluateAll((all) =>
                all.map((event) => {
                    const title = event.querySelector('.timeline-event-title');
                    const next = [...all]
                        .map((one) => one.getBoundingClientRect().left)
                        .filter((left) => left > event.getBoundingClientRect().left)
                        .sort((a, b) => a - b)[0];
                    return {
                        text: title?.textContent ?? '',
                        cut: title ? title.scrollWidth > title.clientWidth + 1 : true,
                        apart: (next ?? Infinity) - (title?.getBoundingClientRect().right ?? 0),
                    };
                }),
            );
            const of = (text) => shown.find((one) => one.text.startsWith(text));
            assert.equal(of('the wheel').cut, false, 'longer than its bar');
            assert.equal(of('a door').cut, false);
            assert.equal(of('last').cut, false);
            assert.equal(of('a long title').cut, true, 'the next event is in the way');
            assert.ok(
                shown.every(({ apart }) => apart > 0),
                'no title lies over the next event',
            );
        });
    },
    async the_legend_of_a_map_covers_no_track() {
        for (const size of [SIZES.medium, SIZES.narrow]) {
            await withPage(server, `/recordings/${gps.id}?panels=map`, { size }, async (page) => {
                await page.getByRole('checkbox', { name: '/fix' }).waitFor();
                const [legend, area] = await Promise.all(
                    ['.map-legend', '.map-area'].map((part) => page.locator(part).boundingBox()),
                );
                assert.ok(legend.y + legend.height <= area.y + 1, `${JSON.stringify([legend, area])}`);
                assert.ok(area.height > 120, `${area.height} px are left for the map`);
                await page.getByLabel('Color by').selectOption('speed');
                await page.locator('.map-gradient').waitFor();
                await checkAxe(page, '.map');
            });
        }
    },
    async the_size_of_an_image_is_never_cut() {
        for (const width of [320, 390, 1280]) {
            await withPage(
                server,
                `/recordings/${camera.id}?at=2&panels=image,messages`,
                { size: { width, height: 800 } },
                async (page) => {
                    const facts = page.locator('.image-facts');
                    await becomes(() => facts.locator('span').first().textContent(), '640 × 480');
                    const fault = await facts.evaluate((all) => {
                        const [outer, size] = [all, all.children[0]].map((one) => one.getBoundingClientRect());
                        return size.right > outer.right + 1 || size.bottom > outer.bottom + 1 || size.width < 20;
                    });
                    assert.equal(fault, false, `at ${width}`);
                },
            );
        }
    },
    async messages_without_a_definition_say_that_it_is_missing() {
        await withPage(server, `/recordings/${unknown.id}?at=1&panels=messages`, {}, async (page) => {
            const note = page.locator('.messages-opaque');
            await note.waitFor();
            await becomes(
                () => note.textContent(),
                /: \/thing: the recording holds no definition of lab_msgs\/Unknown\.$/,
            );
            assert.doesNotMatch(await note.textContent(), /does not decode/);
        });
    },
    async a_swipe_on_the_lanes_scrolls_the_phone() {
        const phone = { size: SIZES.narrow, hasTouch: true, isMobile: true };
        await withPage(server, `/recordings/${drive.id}?panels=plot,messages,topics`, phone, async (page) => {
            await ready(page);
            const playhead = page.getByRole('slider', { name: 'Playhead' });
            const before = await playhead.getAttribute('aria-valuenow');
            const top = () => page.evaluate(() => document.querySelector('.timeline').getBoundingClientRect().top);
            const from = await top();
            const box = await page.locator('.timeline-canvas').first().boundingBox();
            const session = await page.context().newCDPSession(page);
            const touch = (type, y) =>
                session.send('Input.dispatchTouchEvent', {
                    type,
                    touchPoints: y === null ? [] : [{ x: box.x + 90, y }],
                });
            await touch('touchStart', box.y + 30);
            for (let i = 1; i <= 10; i++) {
                await touch('touchMove', box.y + 30 - i * 14);
            }
            await touch('touchEnd', null);
            await session.detach();
            await eventually(async () => (await top()) < from - 60, 'the page has scrolled');
            assert.equal(await page.locator('.timeline-range').count(), 0);
            assert.equal(await playhead.getAttribute('aria-valuenow'), before);
            assert.ok((await page.locator('.details').boundingBox()).height > 300, 'the details are not a slit');
        });
    },
};
