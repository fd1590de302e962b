// Scrolling a long library: what a frame costs, measured in processor time, so that other programs do not count.
import { LONG, Server, assert, eventually, openBrowser, withPage } from './harness.mjs';

const N = LONG ? 600 : 160;
const STEP_PX = 120; // nearly three rows
const FRAME_MS = 1000 / 25;
let server;
export async function setUp() {
    server = await Server.start();
    const bag = await (await fetch(`${server.api}/demo/demo.bag`)).arrayBuffer();
    for (let first = 0; first < N; first += 40) {
        await Promise.all(
            Array.from({ length: 40 }, (_, i) =>
                server.json(`/recordings/by-name/lab/run-${first + i}.bag`, { method: 'PUT', body: bag }),
            ),
        );
    }
    const count = async () => (await server.json('/recordings?count=true&limit=1&q=state:ready')).total;
    await eventually(async () => (await count()) === N, 'the scans');
}
export async function tearDown() {
    await server?.end();
}

/** In the page: scrolls by a step in each frame, and back to the top. */
const scroll = ([steps, px]) =>
    new Promise((done) => {
        const body = document.querySelector('.table-body');
        let at = 0;
        const step = () => {
            body.scrollTop = ++at * px;
            requestAnimationFrame(at < steps ? step : () => ((body.scrollTop = 0), requestAnimationFrame(done)));
        };
        requestAnimationFrame(step);
    });

export const tests = {
    async a_frame_takes_less_than_a_25th_of_a_second() {
        await withPage(server, '/', { own: true }, async (page) => {
            await page.locator('.table-row .library-rate').first().waitFor();
            const steps = Math.floor((N * 42 - 900) / STEP_PX);
            await page.evaluate(scroll, [steps, STEP_PX]); // what is loaded only once
            const seen = page.locator('.table-row').last();
            await page.evaluate(() => (document.querySelector('.table-body').scrollTop = 1e6));
            await eventually(async () => (await seen.getAttribute('aria-rowindex')) === String(N + 1), 'the last row');
            await eventually(async () => (await page.locator('.table-row.waiting').count()) === 0, 'its page');
            const browser = await openBrowser();
            await browser.startTracing(page, { categories: ['toplevel', 'cc', 'devtools.timeline'] });
            await page.evaluate(scroll, [steps, STEP_PX]);
            const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
            const frames = traceEvents.filter(({ name, tdur }) => /ProxyMain::BeginMainFrame$/.test(name) && tdur);
            const mean = frames.reduce((sum, { tdur }) => sum + tdur, 0) / 1000 / frames.length;
            assert.ok(frames.length >= steps / 2, `${frames.length} frames of ${steps} steps`);
            assert.ok(mean < FRAME_MS, `${mean.toFixed(1)} ms`);
        });
    },
};
