// What the page's tests stand on: a real `reel serve` on a free port over a folder of its own, and a real Chromium. Its one rule: a console error,
// a CSP violation or a request to another host fails the test in which it happens, whatever else it looks at.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createRequire } from 'node:module';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const need = createRequire(path.join(ROOT, 'web/package.json'));
const { chromium } = need('playwright-core');
const AXE = fs.readFileSync(need.resolve('axe-core/axe.min.js'), 'utf8');

export const SAMPLES = path.join(ROOT, '../shared/samples');
export const SHOTS = path.join(ROOT, 'build/screenshots');
const PATIENCE = 60000; // longer than anything here takes on a loaded machine
export { assert };

export class Skip extends Error {}
/** A real sample, or the test is skipped. */
export function sample(name) {
    const file = path.join(SAMPLES, name);
    if (!fs.existsSync(file)) {
        throw new Skip('the sample ' + name + ' is not there');
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
        let said = '';
        child.stdout.on('data', (data) => (out += data));
        child.stderr.on('data', (data) => (said += data));
        child.on('error', fail);
        child.on('close', (code) => (code === 0 ? done(out) : fail(new Error(`reel ${args[0]} ended with ${code}: ${said}`))));
    });
}

export class Server {
    static async start(...args) {
        const server = new Server();
        server.data = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-page-'));
        await server.again(...args);
        return server;
    }
    /** The same data once more, after stop(). */
    async again(...args) {
        this.child = spawn(reelBinary(), ['serve', '--data', this.data, '--listen', '127.0.0.1:' + (this.port ?? 0), ...args], {
            stdio: ['ignore', 'pipe', 'pipe'],
        });
        this.said = '';
        this.child.stderr.on('data', (data) => (this.said = (this.said + data).slice(-20000)));
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
            this.child.on('close', (code) => fail(new Error(`the server ended before it listened: ${code}\n${this.said}`)));
        });
        this.api = this.base + '/api/v1';
    }
    async stop() {
        if (this.child && this.child.exitCode === null && this.child.signalCode === null) {
            const ended = new Promise((done) => this.child.on('close', done));
            this.child.kill('SIGTERM');
            const guard = setTimeout(() => this.child.kill('SIGKILL'), PATIENCE);
            await ended;
            clearTimeout(guard);
        }
    }
    async end() {
        await this.stop();
        fs.rmSync(this.data, { recursive: true, force: true });
    }
    /** JSON of the API; `token` when the server wants one. */
    async json(where, { token, ...options } = {}) {
        const response = await fetch(this.api + where, {
            ...options,
            headers: { ...options.headers, ...(token ? { Authorization: 'Bearer ' + token } : {}) },
        });
        const body = await response.text();
        assert.ok(response.ok, `${options.method ?? 'GET'} ${where}: ${response.status} ${body}`);
        return body ? JSON.parse(body) : null;
    }
    /** Puts files in and waits until they have been read; gives the recordings in that order. */
    async feed(files, collection = 'lab', token = undefined) {
        const made = [];
        for (const file of files) {
            const where = `/recordings/by-name/${encodeURIComponent(collection)}/${encodeURIComponent(path.basename(file))}`;
            const { id } = await this.json(where, { method: 'PUT', body: fs.readFileSync(file), token });
            made.push(
                await eventually(async () => {
                    const recording = await this.json('/recordings/' + id, { token });
                    return recording.state === 'scanning' ? null : recording;
                }),
            );
        }
        return made;
    }
    /** The demonstration recordings: a bag and a NanoVer archive. */
    async feedDemo(collection = 'demo') {
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-demo-'));
        await runReel(['demo', folder]);
        const made = await this.feed(
            fs
                .readdirSync(folder)
                .sort()
                .map((name) => path.join(folder, name)),
            collection,
        );
        fs.rmSync(folder, { recursive: true });
        return made;
    }
}

/** Asks until the answer is something: never waits for a time. */
export async function eventually(ask, what = 'it') {
    const until = Date.now() + PATIENCE;
    for (;;) {
        const answer = await ask();
        if (answer) {
            return answer;
        }
        if (Date.now() > until) {
            throw new Error(`${what} has not come`);
        }
        await new Promise((done) => setTimeout(done, 50));
    }
}

// ---- the browser

let browser = null;
export async function openBrowser() {
    browser ??= await chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-dev-shm-usage', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-gpu-compositing', '--disable-gpu-rasterization'],
    });
    return browser;
}
export async function closeBrowser() {
    await browser?.close();
    browser = null;
}

export const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } };

/** A page of a browser of its own (no cookies, no storage of others) that keeps what must not happen in `page.troubles`.
 * `allow`: console errors that are meant. */
export async function openPage(server, where = '/', { size = SIZES.wide, theme = 'light', allow = [], ...options } = {}) {
    const context = await (await openBrowser()).newContext({ viewport: size, colorScheme: theme, baseURL: server.base, ...options });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    page.troubles = [];
    const note = (words) => allow.some((pattern) => pattern.test(words)) || page.troubles.push(words);
    page.on('console', (message) => message.type() === 'error' && note(`console: ${message.text()} (${message.location().url})`));
    page.on('pageerror', (error) => note('script: ' + (error.stack ?? error)));
    page.on(
        'request',
        (request) => /^(blob|data):/.test(request.url()) || request.url().startsWith(server.base + '/') || note('foreign request: ' + request.url()),
    );
    await page.addInitScript(() =>
        document.addEventListener('securitypolicyviolation', (event) =>
            console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`),
        ),
    );
    await page.goto(where);
    return page;
}

/** Closes it, and fails when something happened that must not. */
export async function closePage(page) {
    const { troubles } = page;
    await page.context().close();
    assert.deepEqual(troubles, [], 'what must not happen on a page');
}

/** openPage, use, closePage. */
export async function withPage(server, where, options, use) {
    const page = await openPage(server, where, options);
    try {
        await use(page);
    } catch (error) {
        error.message += page.troubles.length > 0 ? '\nand on the page: ' + page.troubles.join('\n') : '';
        await page.context().close();
        throw error;
    }
    await closePage(page);
}

/** Runs in the browser: what axe objects to, as JSON. */
async function askAxe(within) {
    const found = await globalThis.axe.run(within ?? document, { resultTypes: ['violations'] });
    const where = (node) => `${node.html.slice(0, 200)} ${node.any[0]?.message ?? ''}`;
    return JSON.stringify(found.violations.map((one) => `${one.id}: ${one.help} ${one.nodes.slice(0, 3).map(where).join(' | ')}`));
}

/** axe-core finds nothing to object to. `within`: only there. It runs in a world of its own, where the page's CSP does not bind it. */
export async function checkAxe(page, within = undefined) {
    const session = await page.context().newCDPSession(page);
    const { frameTree } = await session.send('Page.getFrameTree');
    const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'axe' });
    await session.send('Runtime.evaluate', { expression: AXE, contextId: executionContextId });
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
        expression: `(${askAxe})(${JSON.stringify(within ?? null)})`,
        contextId: executionContextId,
        awaitPromise: true,
        returnByValue: true,
    });
    await session.detach();
    assert.equal(exceptionDetails, undefined, 'axe ran');
    assert.deepEqual(JSON.parse(result.value), [], 'accessibility');
}

/** A picture into build/screenshots, to be looked at. */
export async function shoot(page, name) {
    fs.mkdirSync(SHOTS, { recursive: true });
    await page.screenshot({ path: path.join(SHOTS, name + '.png') });
}

/** The view at both sizes, light and dark: pictures, and axe. `ready(page)` waits until there is something to see. */
export async function look(server, where, name, ready, options = {}) {
    for (const [size, viewport] of Object.entries(SIZES)) {
        await withPage(server, where, { ...options, size: viewport }, async (page) => {
            await ready(page);
            for (const theme of ['light', 'dark']) {
                await page.emulateMedia({ colorScheme: theme });
                await shoot(page, `${name}-${size}-${theme}`);
                await checkAxe(page);
            }
            const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
            assert.ok(over <= 0, `${name} is ${over} px too wide at ${viewport.width}`);
        });
    }
}
