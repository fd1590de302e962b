// The OpenAPI document: the server adds the paths to the source's components, redocly accepts it, and /docs shows all
// of it.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { LONG, ROOT, Server, assert, checkView, screenshot, withPage, becomes } from './harness.mjs';

const { lintContract, readComponents } = await import(pathToFileURL(path.join(ROOT, 'web/openapi.mjs')));

let server;
export async function setUp() {
    server = await Server.start();
}
export async function tearDown() {
    await server?.end();
}

const heading = (page, words) => page.getByRole('heading', { level: 1, name: words }).waitFor();

export const tests = {
    async redocly_finds_nothing() {
        const response = await fetch(server.base + '/openapi.json');
        assert.deepEqual(await lintContract(await response.text()), []);
    },
    async the_server_adds_the_paths_to_the_components_of_the_source() {
        const response = await fetch(server.base + '/openapi.json');
        assert.equal(response.headers.get('content-type'), 'application/json');
        const { paths, ...components } = await response.json();
        const { version, ...info } = components.info;
        assert.match(version, /^\d+\.\d+\.\d+$/);
        assert.deepEqual({ ...components, info }, readComponents());
        assert.ok(Object.keys(paths).length > 60);
    },
    async third_party_licences_are_included() {
        await withPage(server, '/docs', {}, async (page) => {
            const where = await page.getByRole('link', { name: 'Third-party licenses' }).getAttribute('href');
            const texts = await (await fetch(where)).text();
            for (const name of ['preact', 'three', 'uplot', 'tus-js-client', 'hash-wasm', 'eventsource-parser']) {
                assert.match(texts, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)$`, 'm'));
            }
            assert.match(texts, /Permission is hereby granted/);
        });
    },
    async lists_and_finds_every_operation() {
        const contract = await (await fetch(server.base + '/openapi.json')).json();
        const count = Object.values(contract.paths).flatMap((item) =>
            Object.keys(item).filter((key) => key !== 'parameters'),
        ).length;
        await withPage(server, '/docs', {}, async (page) => {
            await heading(page, /Reel API/);
            const list = page.getByRole('navigation', { name: 'Operations' }).getByRole('listitem');
            await becomes(() => list.count(), count);
            await page.getByRole('searchbox', { name: 'Search operations and schemas' }).fill('retention put');
            await list.filter({ hasText: 'Replaces the retention rules' }).getByRole('link').click();
            await page.waitForURL('**/docs?op=setRetention');
            await page.getByText('/api/v1/admin/retention', { exact: true }).waitFor();
            await becomes(
                () => page.locator('.docs-curl pre').textContent(),
                /^curl -X PUT .* -d '\{"rules":.*\}' "http.*\/api\/v1\/admin\/retention"$/,
            );
            await page.getByRole('link', { name: 'Retention', exact: true }).first().click();
            await heading(page, 'Retention');
            await page.goBack();
            await heading(page, /Replaces the retention rules/);
        });
    },
    async shows_every_operation_and_schema() {
        const contract = await (await fetch(server.base + '/openapi.json')).json();
        const names = Object.values(contract.paths).flatMap((item) =>
            Object.entries(item)
                .filter(([key]) => key !== 'parameters')
                .map(([, operation]) => operation),
        );
        await withPage(server, '/docs', {}, async (page) => {
            await heading(page, /Reel API/);
            const all = [
                ...names.map(({ operationId, summary, responses }) => [
                    'op=' + operationId,
                    summary,
                    Object.keys(responses).length,
                ]),
                ...Object.keys(contract.components.schemas).map((name) => ['schema=' + name, name, 0]),
            ];
            const shown = all.filter((_, i) => LONG || i % 6 === 0);
            const wrong = await page.evaluate(async (all) => {
                const out = [];
                for (const [query, words, responses] of all) {
                    history.pushState(null, '', 'docs?' + query);
                    dispatchEvent(new PopStateEvent('popstate'));
                    for (
                        let frames = 0;
                        frames < 600 && document.querySelector('.docs-shown h1')?.textContent !== words;
                        frames++
                    ) {
                        await new Promise((done) => requestAnimationFrame(done));
                    }
                    const found = [
                        document.querySelector('.docs-shown h1')?.textContent,
                        document.querySelectorAll('.docs-response').length,
                    ];
                    found[0] !== words || found[1] !== responses ? out.push([query, ...found]) : 0;
                }
                return out;
            }, shown);
            assert.deepEqual(wrong, []);
            assert.ok(all.length > 150, String(all.length));
        });
    },
    async looks_right() {
        await checkView(server, '/docs', 'docs', (page) => heading(page, /Reel API/));
        for (const [query, name, words] of [
            ['op=createUpload', 'docs-operation', /Creates a resumable upload session/],
            ['schema=Recording', 'docs-schema', 'Recording'],
        ]) {
            // the list was checked above
            await checkView(server, '/docs?' + query, name, (page) => heading(page, words), { within: '.docs-shown' });
        }
        await withPage(server, '/docs?op=convertRecording', { size: { width: 320, height: 700 } }, async (page) => {
            await heading(page, /Exports a recording/);
            await screenshot(page, 'docs-tiny');
            await becomes(() => page.evaluate(() => document.documentElement.scrollWidth), 320);
        });
    },
};
