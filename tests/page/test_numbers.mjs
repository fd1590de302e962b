// Every number of the library equals what the API answers for the same search: the overview, the filters and the total.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
    Server,
    assert,
    checkAxeInBothThemes,
    eventually,
    runReel,
    screenshot,
    settled,
    withPage,
} from './harness.mjs';

const MONTHS = [1, 12, 3, 0, 5, 1, 8, 2, 0, 0, 4, 12, 6]; // recordings, from January 2023 on
const PATCH = { method: 'PATCH', headers: { 'Content-Type': 'application/merge-patch+json' } };
let server;

/** Small recordings that begin on the given dates. */
async function fill() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-numbers-'));
    await runReel(['demo', folder]);
    const body = fs.readFileSync(path.join(folder, 'demo.nanover.zip'));
    fs.rmSync(folder, { recursive: true });
    const starts = MONTHS.flatMap((n, month) =>
        Array.from({ length: n }, (_, i) => new Date(Date.UTC(2023, month, 1 + 2 * i, 8 + i))),
    );
    starts.push(new Date(0), new Date(5000)); // a clock that was not set
    for (const [i, start] of starts.entries()) {
        const { id } = await server.json(
            `/recordings/by-name/${i % 3 ? 'lab' : 'hall'}/run-${i}.nanover.zip?tag=robot=r${i % 4}`,
            { method: 'PUT', body },
        );
        await eventually(async () => (await server.json('/recordings/' + id)).state === 'ready');
        await server.json('/recordings/' + id, { ...PATCH, body: JSON.stringify({ epoch: start.toISOString() }) });
    }
    return starts.length;
}
let made;
export async function setUp() {
    server = await Server.start();
    made = await fill();
}
export async function tearDown() {
    await server?.end();
}

const total = async (params) =>
    (await server.json('/recordings?' + new URLSearchParams({ count: 'true', limit: '1', ...params }))).total;
/** The bars, once they are those of the search: [{from, to, found, all, height, title}]. */
async function bars(page) {
    await eventually(async () => (await page.locator('.library-bars .bar').count()) > 0, 'bars');
    return page.locator('.library-bars .bar').evaluateAll((all) =>
        all.map((bar) => ({
            from: Number(bar.dataset.from),
            to: Number(bar.dataset.to),
            found: Number(bar.dataset.found),
            all: Number(bar.dataset.all),
            height: Number(bar.querySelector('.found').getAttribute('height')),
            title: bar.querySelector('title').textContent,
        })),
    );
}

/** Each bar against the list with the same search between the bar's times. */
async function checkBars(page, q) {
    const shown = await bars(page);
    const highest = Math.max(...shown.map((bar) => bar.all));
    for (const bar of shown) {
        const range = { start: new Date(bar.from).toISOString(), end: new Date(bar.to).toISOString() };
        assert.equal(bar.found, await total({ ...range, ...(q ? { q } : {}) }), bar.title);
        assert.equal(bar.all, await total(range), bar.title);
        assert.match(bar.title, new RegExp(`: ${bar.found} `));
        assert.ok(
            Math.abs(bar.height - (bar.found / highest) * 46) < 0.01 || bar.height === 2,
            `${bar.title}: ${bar.height}`,
        );
    }
    return shown;
}

async function overviewCountsTheSearch() {
    await withPage(server, '/', {}, async (page) => {
        await settled(page);
        const all = await checkBars(page, '');
        assert.equal(
            all.reduce((sum, bar) => sum + bar.found, 0),
            made - 2,
        ); // none overlaps two weeks
        assert.ok(new Set(all.map((bar) => bar.height)).size > 1, 'the bars differ');
        await screenshot(page, 'overview');
        await checkAxeInBothThemes(page);
        await page.getByRole('combobox', { name: 'Search recordings' }).fill('robot:r1');
        await page
            .getByRole('status')
            .getByText(`${await total({ q: 'robot:r1' })} recordings`, { exact: true })
            .waitFor();
        await settled(page);
        const found = await checkBars(page, 'robot:r1');
        assert.ok(
            found.some((bar) => bar.found === 0 && bar.all > 0),
            'bars of recordings that do not match',
        );
        assert.ok(
            found.filter((bar) => bar.found === 0).every((bar) => bar.height === 0 && bar.title.includes(': 0 of ')),
        );
    });
}

async function overviewMarksOutliers() {
    await withPage(server, '/', {}, async (page) => {
        await settled(page);
        assert.ok((await bars(page))[0].from >= Date.UTC(2022, 11, 1), 'the axis begins with the other recordings');
        await page.getByRole('button', { name: '2 recordings before 2023-01-01' }).click();
        await page.getByText('2 recordings', { exact: true }).waitFor();
        await settled(page);
        await checkBars(page, '');
        await page.goBack();
        await page.getByRole('combobox', { name: 'Search recordings' }).fill('no-such-word');
        await page.getByText('0 recordings', { exact: true }).waitFor();
        await page.getByRole('button', { name: /before 2023/ }).waitFor({ state: 'detached' }); // none of them matches
    });
}

async function filtersAndTotalsEqualTheApi() {
    for (const q of ['', 'robot:r1', 'collection:hall robot:r2', 'no-such-word']) {
        await withPage(server, '/' + (q ? '?q=' + encodeURIComponent(q) : ''), {}, async (page) => {
            await settled(page);
            const status = (await page.locator('.library-count').textContent()).replaceAll('\u202f', '');
            assert.equal(parseInt(status, 10), await total(q ? { q } : {}), q);
            const nav = page.getByRole('navigation', { name: 'Filters' });
            for (const [title, field, key] of [
                ['Collections', 'collection', 'collection'],
                ['Formats', 'format', 'format'],
            ]) {
                const rest = q
                    .split(' ')
                    .filter((term) => !term.startsWith(key + ':'))
                    .join(' ');
                const { items } = await server.json(
                    '/values?' + new URLSearchParams({ field, ...(rest ? { q: rest } : {}) }),
                );
                const shown = await nav
                    .locator('section', { hasText: title })
                    .first()
                    .locator('.library-value')
                    .evaluateAll((all) => all.map((one) => [one.dataset.value, one.lastElementChild.textContent]));
                assert.deepEqual(
                    new Map(shown),
                    new Map(items.map((item) => [item.value, String(item.recordings)])),
                    `${q} ${title}`,
                );
            }
            const states = await server.json('/values?' + new URLSearchParams({ field: 'state', ...(q ? { q } : {}) }));
            const ready = await nav
                .locator('section', { hasText: 'State' })
                .first()
                .locator('.library-value')
                .evaluateAll((all) => all.map((one) => [one.dataset.value, one.lastElementChild.textContent]));
            assert.deepEqual(
                new Map(ready),
                new Map(states.items.map((item) => [item.value, String(item.recordings)])),
                `${q} states`,
            );
            const tags = await server.json('/values?' + new URLSearchParams({ field: 'tag', ...(q ? { q } : {}) }));
            const keys = await nav
                .locator('.library-value[aria-expanded]')
                .evaluateAll((all) =>
                    all.map((one) => [one.querySelector('.grow').textContent, one.lastElementChild.textContent]),
                );
            assert.deepEqual(
                new Map(keys),
                new Map(tags.items.map((item) => [item.value, String(item.recordings)])),
                `${q} tags`,
            );
            const rows = await page.locator('.table-row .library-name').count();
            assert.ok(rows > 0 || q === 'no-such-word', 'rows');
        });
    }
}

export const tests = {
    overview_counts_the_search: overviewCountsTheSearch,
    overview_marks_outliers: overviewMarksOutliers,
    filters_and_totals_equal_the_api: filtersAndTotalsEqualTheApi,
};
