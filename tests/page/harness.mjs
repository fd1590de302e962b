// The harness of the page's tests: a real `reel serve` on a free port with a data folder of its own, and a real
// Chromium. A console error, a CSP violation or a request to another host fails the test in which it happens.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { isDeepStrictEqual } from 'node:util';
import { fileURLToPath } from 'node:url';
import { createRequire } from 'node:module';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const need = createRequire(path.join(ROOT, 'web/package.json'));
const { chromium } = need('playwright-core');
const AXE = fs.readFileSync(need.resolve('axe-core/axe.min.js'), 'utf8');

export const SAMPLES = path.join(ROOT, '../shared/samples');
export const SCREENSHOTS = path.join(ROOT, 'build/screenshots');
const TIMEOUT_MS = Number(process.env.PAGE_TIMEOUT_MS ?? 120000); // generous, for loaded machines
export { assert };

export class Skip extends Error {}
/** The path of a real sample; skips the test if it does not exist. */
export function sample(name) {
    const file = path.join(SAMPLES, name);
    if (!fs.existsSync(file)) {
        throw new Skip('missing sample ' + name);
    }
    return file;
}

// ---- the server

export function reelBinary() {
    return path.resolve(process.env.REEL ?? path.join(ROOT, 'build/release/reel'));
}

export function runReel(args, options = {}) {
    return new Promise((done, fail) => {
        const child = spawn(reelBinary(), args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
        let out = '';
        let stderr = '';
        child.stdout.on('data', (data) => (out += data));
        child.stderr.on('data', (data) => (stderr += data));
        child.on('error', fail);
        child.on('close', (code) =>
            code === 0 ? done(out) : fail(new Error(`reel ${args[0]} exited with ${code}: ${stderr}`)),
        );
    });
}

export class Server {
    static async start(...args) {
        const server = new Server();
        server.data = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-page-'));
        await server.restart(...args);
        return server;
    }
    /** Starts again on the same data, after stop(). */
    async restart(...args) {
        this.child = spawn(
            reelBinary(),
            ['serve', '--data', this.data, '--listen', '127.0.0.1:' + (this.port ?? 0), ...args],
            {
                stdio: ['ignore', 'pipe', 'pipe'],
            },
        );
        this.stderr = '';
        this.child.stderr.on('data', (data) => (this.stderr = (this.stderr + data).slice(-20000)));
        this.base = await new Promise((done, fail) => {
            let out = '';
            this.child.stdout.on('data', (data) => {
                out += data;
                const found = /listening on (http:\/\/\S+:(\d+))/.exec(out);
                if (found) {
                    this.port = Number(found[2]);
                    done(found[1]);
                }
            });
            this.child.on('close', (code) =>
                fail(new Error(`the server exited before it listened: ${code}\n${this.stderr}`)),
            );
        });
        this.api = this.base + '/api/v1';
    }
    async stop() {
        if (this.child && this.child.exitCode === null && this.child.signalCode === null) {
            const ended = new Promise((done) => this.child.on('close', done));
            this.child.kill('SIGTERM');
            const guard = setTimeout(() => this.child.kill('SIGKILL'), TIMEOUT_MS);
            await ended;
            clearTimeout(guard);
        }
    }
    async end() {
        await this.stop();
        fs.rmSync(this.data, { recursive: true, force: true });
    }
    /** Sends a request to the API and returns its JSON. */
    async json(where, { token, ...options } = {}) {
        const response = await fetch(this.api + where, {
            ...options,
            headers: { ...options.headers, ...(token ? { Authorization: 'Bearer ' + token } : {}) },
        });
        const body = await response.text();
        assert.ok(response.ok, `${options.method ?? 'GET'} ${where}: ${response.status} ${body}`);
        return body ? JSON.parse(body) : null;
    }
    /** Uploads files, waits for their scans and returns the recordings in the same order. */
    async upload(files, collection = 'lab', token = undefined) {
        const recordings = [];
        for (const file of files) {
            const where = `/recordings/by-name/${encodeURIComponent(collection)}/${encodeURIComponent(path.basename(file))}`;
            const { id } = await this.json(where, { method: 'PUT', body: fs.readFileSync(file), token });
            recordings.push(
                await eventually(async () => {
                    const recording = await this.json('/recordings/' + id, { token });
                    return recording.state === 'scanning' ? null : recording;
                }),
            );
        }
        return recordings;
    }
    /** Uploads the demonstration recordings: a bag and a NanoVer archive. */
    async uploadDemo(collection = 'demo') {
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-demo-'));
        await runReel(['demo', folder]);
        const recordings = await this.upload(
            fs
                .readdirSync(folder)
                .sort()
                .map((name) => path.join(folder, name)),
            collection,
        );
        fs.rmSync(folder, { recursive: true });
        return recordings;
    }
}

/** Polls until `probe` returns something truthy. */
export async function eventually(probe, what = 'the condition') {
    const until = Date.now() + TIMEOUT_MS;
    for (;;) {
        const answer = await probe();
        if (answer) {
            return answer;
        }
        if (Date.now() > until) {
            throw new Error(`timeout: ${what}`);
        }
        await new Promise((done) => setTimeout(done, 50));
    }
}

/** Waits until `read` gives what is wanted (a pattern: a text that matches): a page follows what was done a moment later. */
export async function becomes(read, wanted, what = undefined) {
    const fits = (value) => (wanted instanceof RegExp ? wanted.test(value) : isDeepStrictEqual(value, wanted));
    let last;
    await eventually(async () => fits((last = await read()))).catch((error) => {
        (wanted instanceof RegExp ? assert.match : assert.deepEqual)(last, wanted, what);
        throw error;
    });
}

// ---- the browser

let browser = null;
export async function openBrowser() {
    browser ??= await chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        args: [
            '--no-sandbox',
            '--disable-dev-shm-usage',
            '--use-gl=angle',
            '--use-angle=swiftshader',
            '--enable-unsafe-swiftshader',
            '--disable-gpu-compositing',
            '--disable-gpu-rasterization',
        ],
    });
    return browser;
}
export async function closeBrowser() {
    await browser?.close();
    browser = null;
    spare.length = 0;
}

export const SIZES = {
    wide: { width: 1440, height: 900 },
    medium: { width: 1280, height: 720 },
    narrow: { width: 390, height: 844 },
};

// closed pages: to load Reel once more in one takes a fifth of the processor time that a new page takes
const spare = [];

/** A page in a browser context of its own, new or as good as new. */
async function takePage(server, size, theme, { own, first, ...options }) {
    const again = !own && !first && Object.keys(options).length === 0;
    const at = again ? spare.findIndex((page) => page.base === server.base) : -1;
    if (at >= 0) {
        const [page] = spare.splice(at, 1);
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme: theme });
        return page;
    }
    const context = await (
        await openBrowser()
    ).newContext({ viewport: size, colorScheme: theme, baseURL: server.base, ...options });
    context.setDefaultTimeout(TIMEOUT_MS);
    const page = await context.newPage();
    Object.assign(page, { base: server.base, again });
    if (!first) {
        // as for somebody who has opened all lanes of the timeline, and the details
        await page.addInitScript(() => {
            if (location.protocol === 'http:') {
                ['reel.timeline', 'reel.details'].forEach((key) => (localStorage[key] ??= 'yes'));
            }
        });
    }
    await page.addInitScript(() =>
        document.addEventListener('securitypolicyviolation', (event) =>
            console.error(
                `CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`,
            ),
        ),
    );
    return page;
}

/** Empties a page that was closed, for the next test. */
async function putBack(page) {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.route('**/nothing', (route) => route.fulfill({ contentType: 'text/html', body: '' }));
    await page.goto('/nothing'); // of the same origin, without scripts
    await page.unrouteAll();
    await page.evaluate(() => [localStorage, sessionStorage].forEach((storage) => storage.clear()));
    await page.context().clearCookies();
    await page.mouse.move(0, 0);
    spare.push(page);
}

/**
 * Opens a page. Unexpected errors are collected in `page.errors`; `allow`: expected console errors. With other options
 * the page is new: `own` is one without a further meaning, for a test that changes what closing does not undo; `first`:
 * the browser has not been here before.
 */
export async function openPage(
    server,
    where = '/',
    { size = SIZES.wide, theme = 'light', allow = [], ...options } = {},
) {
    const page = await takePage(server, size, theme, options);
    page.errors = [];
    const note = (message_) => allow.some((pattern) => pattern.test(message_)) || page.errors.push(message_);
    page.on(
        'console',
        (message) => message.type() === 'error' && note(`console: ${message.text()} (${message.location().url})`),
    );
    page.on('pageerror', (error) => note('script: ' + (error.stack ?? error)));
    page.on(
        'request',
        (request) =>
            /^(blob|data):/.test(request.url()) ||
            request.url().startsWith(server.base + '/') ||
            note('foreign request: ' + request.url()),
    );
    page.pending = new Set(); // requests without an answer, except for the stream of changes
    page.on('request', (request) => request.url().includes('/changes') || page.pending.add(request));
    for (const end of ['requestfinished', 'requestfailed']) {
        page.on(end, (request) => page.pending.delete(request));
    }
    await page.goto(where);
    return page;
}

/** Waits until the page has had all its answers, and sends no further requests for a while. */
export async function settled(page) {
    let quiet = 0;
    await eventually(async () => (quiet = page.pending.size === 0 ? quiet + 1 : 0) > 9, 'the answers');
}

/** Closes the page; fails if there were unexpected errors. */
export async function closePage(page) {
    const { errors } = page;
    page.removeAllListeners();
    await (page.again ? putBack(page) : page.context().close());
    assert.deepEqual(errors, [], 'errors on the page');
}

/** Opens a page, calls `use` and closes the page. */
export async function withPage(server, where, options, use) {
    const page = await openPage(server, where, options);
    try {
        await use(page);
    } catch (error) {
        error.message += page.errors.length > 0 ? '\nerrors on the page: ' + page.errors.join('\n') : '';
        await page.context().close();
        throw error;
    }
    await closePage(page);
}

/** Runs in the browser: the violations found by axe, as JSON. */
async function runAxe(within) {
    const found = await globalThis.axe.run(within ?? document, {
        resultTypes: ['violations'],
        // not all versions check these by default
        rules: { 'target-size': { enabled: true }, 'link-in-text-block': { enabled: true } },
    });
    const where = (node) => `${node.html.slice(0, 200)} ${node.any[0]?.message ?? ''}`;
    return JSON.stringify(
        found.violations.map((one) => `${one.id}: ${one.help} ${one.nodes.slice(0, 3).map(where).join(' | ')}`),
    );
}

/**
 * Checks accessibility with axe-core, of the page or the element `within`. Runs in an isolated world, where the page's
 * CSP does not apply.
 */
export async function checkAxe(page, within = undefined) {
    const session = await page.context().newCDPSession(page);
    const { frameTree } = await session.send('Page.getFrameTree');
    const { executionContextId } = await session.send('Page.createIsolatedWorld', {
        frameId: frameTree.frame.id,
        worldName: 'axe',
    });
    await session.send('Runtime.evaluate', { expression: AXE, contextId: executionContextId });
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
        expression: `(${runAxe})(${JSON.stringify(within ?? null)})`,
        contextId: executionContextId,
        awaitPromise: true,
        returnByValue: true,
    });
    await session.detach();
    assert.equal(exceptionDetails, undefined, 'axe ran');
    assert.deepEqual(JSON.parse(result.value), [], 'accessibility');
}

/** Checks accessibility in both themes. */
export async function checkAxeInBothThemes(page) {
    for (const colorScheme of ['dark', 'light']) {
        await page.emulateMedia({ colorScheme });
        await checkAxe(page);
    }
}

/** Writes a screenshot to build/screenshots. */
export async function screenshot(page, name) {
    fs.mkdirSync(SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: path.join(SCREENSHOTS, name + '.png') });
}

/** More pictures and checks of the same kind, and more data. */
export const LONG = !!process.env.REEL_TESTS_LONG;
const PICTURES = ['wide-light', 'narrow-dark']; // each layout and each theme once

/** Waits until the view has loaded, and canvases are drawn in the current size and theme. */
async function drawn(page) {
    await eventually(async () => page.pending.size === 0 && (await page.locator('.spinner').count()) === 0, 'the view');
    // ms; a scene without a graphics card is drawn slowly
    const pause = (await page.locator('.scene-area canvas').count()) > 0 ? 400 : 100;
    await page.waitForTimeout(pause);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/**
 * Checks a view: pictures, axe (of the element `within`), no horizontal overflow at any size. Two pictures, or with
 * REEL_TESTS_LONG all sizes, light and dark. `ready(page)` waits for the view's content.
 */
export async function checkView(server, where, name, ready, { within, ...options } = {}) {
    await withPage(server, where, options, async (page) => {
        for (const [size, viewport] of Object.entries(SIZES)) {
            await page.setViewportSize(viewport);
            await ready(page);
            for (const theme of ['light', 'dark'].filter((one) => LONG || PICTURES.includes(`${size}-${one}`))) {
                await page.emulateMedia({ colorScheme: theme });
                await drawn(page);
                await screenshot(page, `${name}-${size}-${theme}`);
                if (size !== 'medium') {
                    // laid out like wide
                    await checkAxe(page, within);
                }
            }
            const over = await page.evaluate(
                () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
            );
            assert.ok(over <= 0, `${name} is ${over} px too wide at ${viewport.width}`);
        }
    });
}
