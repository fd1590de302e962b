// The page below a path of its host: behind a proxy that removes the path from requests, and behind one that leaves it
// there.
import http from 'node:http';
import { Server, assert, eventually, withPage, becomes } from './harness.mjs';

const PREFIX = '/lab/reel';
let server, recordings;
const proxies = {};

/**
 * Everything outside of the prefix is answered 404 by the proxy, and a failed request of the page is an error of the
 * test.
 */
function startProxy(strips) {
    const proxy = http.createServer((request, response) => {
        if (!request.url.startsWith(PREFIX + '/')) {
            response.writeHead(404).end();
            return;
        }
        const path = strips ? request.url.slice(PREFIX.length) : request.url;
        const forwarded = http.request(
            server.base + path,
            { method: request.method, headers: request.headers },
            (answer) => {
                response.writeHead(answer.statusCode, answer.rawHeaders);
                answer.pipe(response);
            },
        );
        response.on('close', () => forwarded.destroy());
        forwarded.on('error', () => response.destroy());
        request.pipe(forwarded);
    });
    return new Promise((done) => proxy.listen(0, '127.0.0.1', () => done(proxy)));
}
const base = (proxy) => `http://127.0.0.1:${proxy.address().port}${PREFIX}`;

export async function setUp() {
    proxies.stripping = await startProxy(true);
    proxies.passing = await startProxy(false);
    server = await Server.start('--insecure-open', '--public-url', base(proxies.stripping) + '/');
    recordings = await server.uploadDemo();
}
export async function tearDown() {
    for (const proxy of Object.values(proxies)) {
        proxy.close();
        proxy.closeAllConnections();
    }
    await server?.end();
}

async function walk(proxy) {
    const root = base(proxy);
    const bag = recordings.find((r) => r.format.startsWith('rosbag'));
    const at = (page, path) => eventually(() => page.url().split('?')[0] === root + path, path);
    // `base`: a request to another address is an error
    await withPage({ base: root }, root + '/', { allow: [/sha256:|415/] }, async (page) => {
        await page.getByRole('link', { name: bag.name }).first().click();
        await at(page, '/recordings/' + bag.id);
        await page.locator('.recording-content canvas').first().waitFor();
        await page.reload();
        await page.getByRole('heading', { level: 1, name: bag.name }).waitFor();
        await page.getByRole('link', { name: 'demo', exact: true }).click();
        await at(page, '/');
        await page.getByRole('link', { name: 'Upload' }).first().click();
        await at(page, '/upload');
        const refused = page.waitForResponse((answer) => answer.status() === 415);
        await page
            .locator('input[type=file]')
            .first()
            .setInputFiles({
                name: `${proxy.address().port}.bag`,
                mimeType: 'application/octet-stream',
                buffer: Buffer.from('no bag'),
            });
        await refused;
        await page.getByRole('link', { name: 'Administration' }).click();
        await at(page, '/admin');
        await page.goBack();
        await at(page, '/upload');
        await page.goto(root + '/docs');
        await page
            .getByRole('link', { name: /listRecordings|Lists recordings/ })
            .first()
            .waitFor();
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter'); // the link to the content
        await becomes(() => page.evaluate(() => location.pathname + location.hash), '/lab/reel/docs#content');
    });
}

export const tests = {
    async can_be_installed() {
        const root = base(proxies.stripping);
        await withPage({ base: root }, root + '/docs', {}, async (page) => {
            const cdp = await page.context().newCDPSession(page);
            const { data, errors, url, manifest } = await cdp.send('Page.getAppManifest');
            assert.deepEqual(errors, []);
            assert.match(url, /\/lab\/reel\/assets\/reel-\w+\.webmanifest$/);
            assert.deepEqual([manifest.startUrl, manifest.scope], [root + '/', root + '/']);
            for (const { src, sizes } of JSON.parse(data).icons) {
                const drawn = await page.evaluate(async (from) => {
                    const image = Object.assign(new Image(), { src: from });
                    await image.decode();
                    return `${image.naturalWidth}x${image.naturalHeight}`;
                }, new URL(src, url).href);
                assert.ok(sizes === 'any' || sizes === drawn, `${src}: ${drawn}`);
            }
            const { installabilityErrors } = await cdp.send('Page.getInstallabilityErrors');
            assert.deepEqual(
                installabilityErrors.filter((one) => one.errorId !== 'in-incognito'),
                [],
            ); // each test has a context of its own
        });
    },
    async the_window_has_the_colour_of_the_header() {
        const root = base(proxies.stripping);
        const colours = (page) =>
            page.evaluate(() => [...document.querySelectorAll('meta[name="theme-color"]')].map((meta) => meta.content));
        const raised = (page) =>
            page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--raised').trim());
        await withPage({ base: root }, root + '/docs', {}, async (page) => {
            const written = [
                ...(await (await fetch(root + '/docs', { headers: { Accept: 'text/html' } })).text()).matchAll(
                    /theme-color".*content="(.*)"/g,
                ),
            ].map((m) => m[1]);
            for (const [i, colorScheme] of ['light', 'dark'].entries()) {
                await page.emulateMedia({ colorScheme });
                await eventually(async () => (await colours(page)).every((one) => one === written[i]), colorScheme);
                assert.equal(written[i], await raised(page));
            }
        });
    },
    behind_a_proxy_that_removes_it: () => walk(proxies.stripping),
    behind_a_proxy_that_leaves_it: () => walk(proxies.passing),
};
