// What the page does in a real Chromium, timed inside it, in milliseconds unless a name says otherwise. Argument: what page.py has made, as JSON. Prints JSON.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import process from 'node:process';
import { closeBrowser, closePage, openBrowser, openPage } from '../page/harness.mjs';

const SEEKS = 60;
const PLAYED_MS = 5000;
const SCROLLED_MS = 4000;
const SIZE = { width: 1440, height: 900 };
const given = JSON.parse(process.argv[2]);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Runs in the page before its own scripts: notes when pictures and plots are drawn, frames, and when what `selector` finds is there. */
function watch(selector) {
    const seen = { at: null, pictures: 0, picture_at: null, frames: [], series_at: null, plotted_at: null };
    window.seen = seen;
    const { drawImage, stroke } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.stroke = function (...args) {
        stroke.apply(this, args);
        if (seen.series_at !== null && this.canvas.closest('.plot-area')) {
            seen.plotted_at ??= performance.now();
        }
    };
    CanvasRenderingContext2D.prototype.drawImage = function (...args) {
        drawImage.apply(this, args);
        if (this.canvas.closest('.image-area')) {
            seen.pictures++;
            seen.picture_at = performance.now();
        }
    };
    const { fetch } = window;
    window.fetch = function (to, ...rest) {
        if (/\/series\?/.test(String(to))) {
            seen.series_at ??= performance.now();
        }
        return fetch.call(window, to, ...rest);
    };
    const frame = (now) => {
        seen.frames.push(now);
        seen.at ??= document.querySelector(selector) ? performance.now() : null;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
}

/** Opens `where` in a context of its own, with nothing in its cache, and calls `use`. */
async function withPage(base, where, selector, use, options = {}) {
    const page = await openPage({ base }, 'about:blank', { size: SIZE, own: true, ...options });
    await page.addInitScript(`(${watch})(${JSON.stringify(selector)})`);
    const result = await use(page, () => page.goto(base + where));
    await closePage(page);
    return result;
}
const until = (page, condition) => page.waitForFunction(condition, undefined, { polling: 20 });

async function repeated(times, measure) {
    const all = [];
    for (let i = 0; i < times; i++) {
        all.push(await measure());
    }
    return all;
}

/** Seconds of a fixed piece of JavaScript: how fast this Chromium is here and now. */
const yardstick = () =>
    withPage(given.lists, '/', 'body', async (page, go) => {
        await go();
        return page.evaluate(() => {
            const begun = performance.now();
            let x = 1;
            for (let i = 0; i < 2e8; i++) {
                x = (Math.imul(x, 1664525) + 1013904223) | 0;
            }
            return x === 0 ? 0 : (performance.now() - begun) / 1000;
        });
    });

/** Bytes on the wire of the first view's own files, and when its list is visible. */
const firstView = () =>
    withPage(given.lists, '/', '.table-row', async (page, go) => {
        const session = await page.context().newCDPSession(page);
        await session.send('Network.enable');
        const files = new Set();
        let bytes = 0;
        session.on('Network.responseReceived', ({ requestId, response }) => new URL(response.url).pathname.startsWith('/api/') || files.add(requestId));
        session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => (bytes += files.has(requestId) ? encodedDataLength : 0));
        await go();
        await until(page, () => window.seen.at !== null);
        await pause(300);
        return { bytes, ms: await page.evaluate(() => window.seen.at) };
    });

const opened = () =>
    withPage(given.base, `/recordings/${given.drive}`, 'body', async (page, go) => {
        await go();
        await until(page, () => window.seen.picture_at !== null);
        return page.evaluate(() => window.seen.picture_at);
    });

/** From pressing the pointer on the timeline's ruler to the new picture, drawn. */
const seeks = (recording) =>
    withPage(given.base, `/recordings/${recording}?panels=image`, 'body', async (page, go) => {
        await go();
        await until(page, () => window.seen.pictures > 0);
        await page.evaluate(() => addEventListener('pointerdown', () => (window.seen.pressed_at = performance.now()), true));
        const field = await page.locator('.timeline-field').boundingBox();
        const all = [];
        for (let i = 0; i < SEEKS; i++) {
            const before = await page.evaluate(() => window.seen.pictures);
            await page.mouse.click(field.x + field.width * (0.05 + (0.9 * (i * 0.618)) % 0.9), field.y + 8);
            await page.waitForFunction((n) => window.seen.pictures > n, before, { polling: 10 });
            all.push(await page.evaluate(() => window.seen.picture_at - window.seen.pressed_at));
        }
        return all;
    });

/** From the request for the series to the plot. */
const plotted = () =>
    withPage(given.base, `/recordings/${given.states}?panels=plot&plot.fields=%2Fstate.x`, 'body', async (page, go) => {
        await go();
        await until(page, () => window.seen.plotted_at !== null);
        return page.evaluate(() => window.seen.plotted_at - window.seen.series_at);
    });

/** Frames a second, the longest in ms and how many were longer than two of 60 a second, of those that `from` on are in window.seen.frames. */
const framesSince = (page, from) =>
    page.evaluate((start) => {
        const times = window.seen.frames.filter((t) => t >= start);
        const steps = times.slice(1).map((t, i) => t - times[i]);
        return { fps: (1000 * steps.length) / (times.at(-1) - times[0]), worst: Math.max(...steps), late: steps.filter((s) => s > 34).length };
    }, from);

const scrolled = () =>
    withPage(given.base, `/recordings/${given.states}?panels=messages&messages.view=table&messages.topic=%2Fstate`, '.panel-messages .table-row', async (page, go) => {
        await go();
        await until(page, () => window.seen.at !== null);
        await pause(1000);
        const from = await page.evaluate(async (ms) => {
            const body = [...document.querySelectorAll('.panel-messages *')].find((e) => e.scrollHeight > 10 * e.clientHeight && e.clientHeight > 100);
            const begun = performance.now();
            await new Promise((done) => {
                const step = () => {
                    body.scrollTop += 120;
                    performance.now() - begun < ms ? requestAnimationFrame(step) : done();
                };
                step();
            });
            return begun;
        }, SCROLLED_MS);
        return framesSince(page, from);
    });

const press = (page, name) => page.getByRole('button', { name, exact: true }).click();

/** Pictures and frames a second while it plays. */
const played = (recording, query) =>
    withPage(given.base, `/recordings/${recording}?${query}`, 'body', async (page, go) => {
        await go();
        await until(page, () => window.seen.pictures > 0);
        await pause(1500);
        await press(page, 'Play');
        await pause(1500);
        const before = await page.evaluate(() => ({ at: performance.now(), pictures: window.seen.pictures }));
        await pause(PLAYED_MS);
        const after = await page.evaluate(() => ({ at: performance.now(), pictures: window.seen.pictures }));
        return { pictures: (1000 * (after.pictures - before.pictures)) / (after.at - before.at), ...(await framesSince(page, before.at)) };
    });

/** MB of a process, shared pages in parts. */
const memoryOf = (pid) => Number(/^Pss:\s+(\d+) kB/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))[1]) / 1024;

/** A page that Playwright does not watch: its copies of all answers would count as the tab's memory. Returns a function that evaluates there, and one that closes it. */
async function openUnwatched(url) {
    const root = await (await openBrowser()).newBrowserCDPSession();
    const { browserContextId } = await root.send('Target.createBrowserContext');
    const { targetId } = await root.send('Target.createTarget', { url, browserContextId, ...SIZE });
    const { sessionId } = await root.send('Target.attachToTarget', { targetId, flatten: false });
    const asked = new Map();
    root.on('Target.receivedMessageFromTarget', ({ message }) => {
        const { id, result } = JSON.parse(message);
        asked.get(id)?.(result);
        asked.delete(id);
    });
    let id = 0;
    const evaluate = async (expression) => {
        const answer = new Promise((done) => asked.set(++id, done));
        await root.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method: 'Runtime.evaluate', params: { expression, returnByValue: true } }) });
        return (await answer)?.result.value; // nothing while the page is not there yet
    };
    return { root, evaluate, close: () => root.send('Target.disposeBrowserContext', { browserContextId }) };
}

/** MB of the tab's process while four panels play in a loop, every few seconds: [minutes, process, heap]. */
async function memory() {
    const { root, evaluate, close } = await openUnwatched(`${given.base}/recordings/${given.drive}?panels=image,plot,messages,log`);
    const click = (label) => `!![...document.querySelectorAll('.player button')].find((b) => (b.textContent || b.ariaLabel) === '${label}')?.click() || true`;
    while (!(await evaluate(`!!document.querySelector('.player') && !!document.querySelector('.image-area canvas:not(.image-hidden)')`))) {
        await pause(100);
    }
    await evaluate(click('Loop'));
    await evaluate(click('Play'));
    const begun = Date.now();
    const samples = [];
    do {
        await pause(Math.min(5000, given.minutes * 15000));
        const { processInfo } = await root.send('SystemInfo.getProcessInfo');
        const tabs = processInfo.filter((p) => p.type === 'renderer').map((p) => memoryOf(p.id));
        samples.push([(Date.now() - begun) / 60000, Math.max(...tabs), (await evaluate('performance.memory.usedJSHeapSize')) / 1e6]);
    } while (Date.now() - begun < given.minutes * 60000);
    if (!(await evaluate(`!!document.querySelector('.player button[aria-label="Pause"]')`))) {
        throw new Error('it did not play to the end');
    }
    await close();
    await root.detach();
    return samples;
}

/** MB/s of hashing what an upload sends: parts of a file, as upload/parts.ts reads them. */
async function hashing(bytes) {
    const PART = 16 << 20;
    const parts = Math.floor(bytes / PART);
    const wanted = createHash('sha256').update(Buffer.alloc(PART, 'reel')).digest('hex');
    const { digests, seconds } = await withPage(given.lists, '/', 'body', async (page, go) => {
        await go();
        return page.evaluate(
            async ([size, n]) => {
                const part = new TextEncoder().encode('reel'.repeat(size / 4));
                const file = new File([new Blob(Array(n).fill(part))], 'x');
                const digests = [];
                const begun = performance.now();
                for (let i = 0; i < n; i++) {
                    digests.push(await crypto.subtle.digest('SHA-256', await file.slice(i * size, (i + 1) * size).arrayBuffer()));
                }
                const seconds = (performance.now() - begun) / 1000;
                const hex = (digest) => [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
                return { digests: digests.map(hex), seconds };
            },
            [PART, parts],
        );
    });
    if (digests.some((digest) => digest !== wanted)) {
        throw new Error('the browser made another digest');
    }
    return (parts * PART) / seconds / 1e6;
}

const FOUR = 'panels=image,plot,messages,log';
try {
    const figures = {
        load: [fs.readFileSync('/proc/loadavg', 'latin1').split(' ')[0]],
        yardstick_s: [await yardstick()],
        first: await repeated(given.rounds, firstView),
        opened: await repeated(given.rounds, opened),
        seek_jpeg: await seeks(given.drive),
        seek_raw: await seeks(given.pictures),
        plot: await repeated(1 + given.rounds, plotted), // the first one is cold
        scroll: await scrolled(),
        play: await played(given.drive, FOUR),
        play_slow: await played(given.drive, `${FOUR}&image.topic=%2Fslow_camera`),
        play_scene: await played(given.drive, 'panels=image,plot,scene,log'),
        play_video: given.video ? await played(given.video, 'panels=image,plot,messages') : null,
        memory: await memory(),
        hash_mb_s: await hashing(given.hash_bytes),
    };
    figures.yardstick_s.push(await yardstick());
    figures.load.push(fs.readFileSync('/proc/loadavg', 'latin1').split(' ')[0]);
    console.log(JSON.stringify(figures));
} finally {
    await closeBrowser();
}
