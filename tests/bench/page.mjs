// What the page does in a real Chromium, timed inside it. Arguments: the server's address, the id of a recording with pictures, bytes to hash. Prints JSON.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { closeBrowser, closePage, openPage, ROOT } from '../page/harness.mjs';

const SEEKS = 60;
const [base, recording, size] = process.argv.slice(2);

/** Milliseconds from pressing the pointer on the timeline's ruler to the new picture, decoded. */
async function seeks(page) {
    await page.locator('.image-area img').waitFor();
    await page.evaluate(() => {
        window.arrivals = [];
        let pressed = 0;
        addEventListener('pointerdown', () => (pressed = performance.now()), true);
        new MutationObserver(() => {
            const image = document.querySelector('.image-area img');
            if (pressed && image?.src !== window.shown) {
                const since = pressed;
                pressed = 0;
                window.shown = image.src;
                void image.decode().then(() => window.arrivals.push(performance.now() - since));
            }
        }).observe(document.querySelector('.image-area'), { subtree: true, childList: true, attributes: true });
        window.shown = document.querySelector('.image-area img').src;
    });
    const field = await page.locator('.timeline-field').boundingBox();
    for (let i = 0; i < SEEKS; i++) {
        await page.mouse.click(field.x + field.width * (0.05 + 0.9 * ((i * 0.618) % 1)), field.y + 8);
        await page.waitForFunction((n) => window.arrivals.length > n, i, { polling: 10 });
    }
    return page.evaluate(() => window.arrivals);
}

/** MB/s of the upload view's worker, and whether its digest is right. */
async function hashing(page, bytes) {
    const folder = path.join(ROOT, 'build/web/assets');
    const script = '/assets/' + fs.readdirSync(folder).find((name) => /^hash_worker-.*\.js$/.test(name));
    const piece = Buffer.alloc(1 << 20, 'reel');
    const wanted = createHash('sha256');
    const pieces = Math.floor(bytes / piece.length);
    for (let i = 0; i < pieces; i++) {
        wanted.update(piece);
    }
    const { digest, seconds } = await page.evaluate(
        async ([url, n]) => {
            const part = new TextEncoder().encode('reel'.repeat(1 << 18));
            const file = new File([new Blob(Array(n).fill(part))], 'x');
            const worker = new Worker(url, { type: 'module' });
            const begun = performance.now();
            const answer = await new Promise((done) => {
                worker.onmessage = ({ data }) => (data.digest || data.error) && done(data);
                worker.postMessage(file);
            });
            worker.terminate();
            return { digest: answer.digest, seconds: (performance.now() - begun) / 1000 };
        },
        [script, pieces],
    );
    if (digest !== wanted.digest('hex')) {
        throw new Error('the worker made another digest: ' + digest);
    }
    return (pieces * piece.length) / seconds / 1e6;
}

/** Seconds of a fixed piece of JavaScript: how fast this Chromium is here and now. */
const yardstick = (page) =>
    page.evaluate(() => {
        const begun = performance.now();
        let x = 1;
        for (let i = 0; i < 2e8; i++) {
            x = (Math.imul(x, 1664525) + 1013904223) | 0;
        }
        return x === 0 ? 0 : (performance.now() - begun) / 1000;
    });

const page = await openPage({ base }, '/recordings/' + recording);
try {
    const figures = { yardstick_s: await yardstick(page), seek_ms: await seeks(page), hash_mb_s: await hashing(page, Number(size)) };
    await closePage(page);
    console.log(JSON.stringify(figures));
} finally {
    await closeBrowser();
}
