// The library: searching and filtering by mouse and keyboard, with few and with many recordings.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
    LONG,
    ROOT,
    Server,
    assert,
    checkAxeInBothThemes,
    eventually,
    checkView,
    runReel,
    screenshot,
    settled,
    withPage,
    becomes,
} from './harness.mjs';

let server;
let demo; // the two files of `reel demo`

export async function setUp() {
    server = await Server.start();
    demo = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-library-'));
    await runReel(['demo', demo]);
    const bag = fs.readFileSync(path.join(demo, 'demo.bag'));
    for (const [collection, name, tags] of [
        ['lab', 'walk-1.bag', 'robot=r1'],
        ['lab', 'walk-2.bag', 'robot=r2'],
        ['hall', 'door open.bag', 'robot=r1&tag=site=main%20hall'],
    ]) {
        await server.json(`/recordings/by-name/${collection}/${encodeURIComponent(name)}?tag=${tags}`, {
            method: 'PUT',
            body: bag,
        });
    }
    await server.upload([path.join(demo, 'demo.nanover.zip')], 'lab');
    await server.json('/collections/hall', {
        method: 'PATCH',
        body: '{"description":"the big hall"}',
        headers: { 'Content-Type': 'application/merge-patch+json' },
    });
}
export async function tearDown() {
    await server?.end();
    fs.rmSync(demo, { recursive: true, force: true });
}

const search = (page) => page.getByRole('combobox', { name: 'Search recordings' });
const body = (page) => page.locator('.library .table-body');
const status = (page) => page.locator('.library-count');
/** Names of the visible rows, from top to bottom. */
async function names(page) {
    return page.locator('.table-row').evaluateAll((rows) =>
        rows
            .sort((a, b) => a.ariaRowIndex - b.ariaRowIndex)
            .map((row) => row.querySelector('.library-name')?.textContent)
            .filter(Boolean),
    );
}
async function namesAre(page, wanted) {
    let last;
    await eventually(
        async () => JSON.stringify((last = await names(page))) === JSON.stringify(wanted),
        `the list ${wanted}`,
    ).catch((error) => {
        throw new Error(`${error.message}; there is ${JSON.stringify(last)}`);
    });
}
const queryOf = (page) => new URL(page.url()).searchParams;
const ALL = ['demo.nanover.zip', 'door open.bag', 'walk-2.bag', 'walk-1.bag']; // newest first

async function searches() {
    await withPage(server, '/', {}, async (page) => {
        await namesAre(page, ALL);
        await search(page).fill('walk');
        await namesAre(page, ['walk-2.bag', 'walk-1.bag']);
        await becomes(() => queryOf(page).get('q'), 'walk');
        await search(page).fill('robot:r1 -collection:hall');
        await namesAre(page, ['walk-1.bag']);
        await page.goBack(); // to the state before typing
        await namesAre(page, ALL);
        await becomes(() => search(page).inputValue(), '');
        await search(page).fill('site:"main hall"');
        await namesAre(page, ['door open.bag']);
        await search(page).fill('no-such-word');
        await page.getByRole('button', { name: 'Show all recordings' }).click();
        await namesAre(page, ALL);
        await becomes(() => search(page).inputValue(), '');
    });
}

async function reportsAnInvalidQuery() {
    await withPage(server, '/?q=' + encodeURIComponent('"walk'), { allow: [/status of 400/] }, async (page) => {
        await page.getByRole('alert').getByText('This quote is not closed').waitFor();
        await settled(page);
        await becomes(() => page.locator('.library-foot .spinner').count(), 0, 'nothing is being loaded');
        await page.getByRole('navigation', { name: 'Filters' }).getByRole('button', { name: /^lab/ }).waitFor();
        await search(page).fill('"walk"');
        await namesAre(page, ['walk-2.bag', 'walk-1.bag']);
        await becomes(() => page.locator('.library-mistake').count(), 0);
    });
}

async function keepsTheRowsWhileTyping() {
    await withPage(server, '/', {}, async (page) => {
        const refused = [];
        page.on('response', (response) => response.status() >= 400 && refused.push(response.url()));
        await namesAre(page, ALL);
        for (const half of [
            'robot:',
            '-format:',
            'format:mc',
            'site:"main',
            'walk or',
            '(walk',
            'size:>',
            'duration:5',
            'created:2024-',
            'state:re',
            'robot:r1,',
        ]) {
            await search(page).fill(half);
            await page.waitForTimeout(400); // longer than the pause after which it searches
            await settled(page);
            await becomes(() => names(page), ALL, half);
        }
        await search(page).fill('robot:r2');
        await namesAre(page, ['walk-2.bag']);
        assert.deepEqual(refused, []);
    });
}

async function offersWhatWasMeant() {
    await withPage(server, '/', { allow: [/status of 400/] }, async (page) => {
        const refused = [];
        page.on('response', (response) => response.status() >= 400 && refused.push(response.url()));
        await namesAre(page, ALL);
        await search(page).fill('walk robt:r1');
        await page.getByRole('alert').getByText('There is no key and no tag "robt"').waitFor();
        await settled(page);
        await becomes(() => names(page), [], 'no rows of another search');
        await becomes(() => page.locator('.search-mark span').textContent(), 'robt:r1');
        await becomes(() => search(page).getAttribute('aria-invalid'), 'true');
        assert.equal(refused.length, 1, 'asked once: ' + refused.join());
        await screenshot(page, 'mistake');
        await checkAxeInBothThemes(page);
        await page.getByRole('button', { name: 'robot', exact: true }).click();
        await namesAre(page, ['walk-1.bag']);
        await becomes(() => search(page).inputValue(), 'walk robot:r1');
        await search(page).fill('format:mcpa');
        await page.getByRole('button', { name: 'mcap', exact: true }).click();
        await page.getByText('0 recordings', { exact: true }).waitFor();
        await becomes(() => queryOf(page).get('q'), 'format:mcap');
    });
}

async function filtersByDateAndSize() {
    await withPage(server, '/', {}, async (page) => {
        const nav = page.getByRole('navigation', { name: 'Filters' });
        await nav.getByRole('button', { name: '10 to 100 MB' }).click();
        await page.getByText('0 recordings', { exact: true }).waitFor();
        await nav.getByRole('button', { name: 'Below 10 MB' }).click(); // instead of the other size
        await namesAre(page, ALL);
        await becomes(() => queryOf(page).get('q'), 'size:<10M');
        await nav.getByRole('button', { name: 'Last 24 hours' }).click();
        await namesAre(page, ALL);
        await becomes(() => queryOf(page).get('q'), 'size:<10M created:>now-1d');
        await nav.getByRole('button', { name: 'Below 10 MB' }).click();
        await nav.getByRole('button', { name: 'Last 24 hours' }).click();
        await nav.getByLabel('From').fill('2010-05-11T00:00');
        await namesAre(page, ALL.slice(1)); // the other has no date
        await nav.getByLabel('To', { exact: true }).fill('2010-05-12T06:30');
        await settled(page);
        await becomes(
            () => [queryOf(page).get('start'), queryOf(page).get('end')],
            ['2010-05-11T00:00:00Z', '2010-05-12T06:30:00Z'],
        );
        await namesAre(page, ALL.slice(1));
        await becomes(() => nav.getByLabel('To', { exact: true }).inputValue(), '2010-05-12T06:30');
        await nav.getByLabel('From').fill('');
        await nav.getByLabel('To', { exact: true }).fill('2010-05-11T00:00');
        await page.getByText('0 recordings', { exact: true }).waitFor();
    });
}

async function showsWhatPeopleKnow() {
    const [odd] = await server.upload([path.join(demo, 'demo.bag')], 'states');
    try {
        await withPage(server, '/', {}, async (page) => {
            const heads = () => page.locator('[role=columnheader]').allTextContents();
            await page.getByText('ROS 1 bag (1.2)').first().waitFor();
            await settled(page);
            assert.ok(
                (await heads()).includes('Start (UTC)') && (await heads()).includes('Added'),
                String(await heads()),
            );
            assert.ok(!(await heads()).includes('State'), 'all are ready');
            await page.getByRole('link', { name: 'walk-1.bag' }).click(); // the name opens, once clicked
            await page.waitForURL('**/recordings/*');
            await page.goBack();
            await server.json('/recordings/' + odd.id, { method: 'DELETE' });
            await page.goto('/?q=state:trashed');
            await page.getByText('In trash', { exact: true }).first().waitFor();
            assert.ok((await heads()).includes('State'));
        });
        await withPage(server, '/', { size: { width: 800, height: 600 } }, async (page) => {
            // offered where the column is not
            await page.getByLabel('Sort by').first().selectOption({ label: 'Added' });
        });
    } finally {
        await server.json(`/recordings/${odd.id}?purge=true`, { method: 'DELETE' });
    }
}

async function suggests() {
    await withPage(server, '/', {}, async (page) => {
        await search(page).pressSequentially('robo');
        const list = page.getByRole('listbox', { name: 'Suggestions' });
        await list.getByRole('option', { name: /^robot:/ }).waitFor();
        await search(page).press('ArrowDown');
        await search(page).press('Enter');
        await list.getByRole('option', { name: /^r2/ }).click();
        await namesAre(page, ['walk-2.bag']);
        await becomes(async () => (await search(page).inputValue()).trim(), 'robot:r2');
        await search(page).pressSequentially('-format:ro');
        await list.getByRole('option', { name: /rosbag-1.2/ }).click();
        await becomes(async () => (await search(page).inputValue()).trim(), 'robot:r2 -format:rosbag-1.2');
        await status(page).getByText('0 recordings').waitFor();
    });
}

async function filters() {
    await withPage(server, '/', {}, async (page) => {
        const nav = page.getByRole('navigation', { name: 'Filters' });
        await nav.getByRole('button', { name: /^hall/ }).click();
        await namesAre(page, ['door open.bag']);
        await becomes(() => search(page).inputValue(), 'collection:hall');
        await page.getByText('the big hall').waitFor();
        await nav.getByRole('button', { name: /^lab/ }).click(); // a second value: either matches
        await namesAre(page, ALL);
        await becomes(() => queryOf(page).get('q'), 'collection:hall,lab');
        await nav.getByRole('button', { name: /^robot/ }).click();
        await nav.getByRole('button', { name: /^r1/ }).click();
        await namesAre(page, ['door open.bag', 'walk-1.bag']);
        await page.goBack();
        await namesAre(page, ALL);
        await page.goBack();
        await namesAre(page, ['door open.bag']);
        await becomes(() => search(page).inputValue(), 'collection:hall');
    });
}

async function describesACollection() {
    await withPage(server, '/?q=collection:lab', {}, async (page) => {
        await page.getByRole('button', { name: 'Edit collection description' }).click();
        const dialog = page.getByRole('dialog', { name: 'Edit collection description' });
        await checkAxeInBothThemes(page);
        await dialog.getByRole('textbox').fill('walks of robots');
        await dialog.getByRole('button', { name: 'Save' }).click();
        await page.getByText('walks of robots').waitFor();
    });
    assert.equal((await server.json('/collections/lab')).description, 'walks of robots');
}

async function sorts() {
    await withPage(server, '/?q=format:rosbag-1.2', {}, async (page) => {
        const head = (name) => page.getByRole('columnheader', { name, exact: true });
        await head('Name').getByRole('button').click();
        await namesAre(page, ['door open.bag', 'walk-1.bag', 'walk-2.bag']);
        await becomes(() => head('Name').getAttribute('aria-sort'), 'ascending');
        await head('Name').getByRole('button').click();
        await namesAre(page, ['walk-2.bag', 'walk-1.bag', 'door open.bag']);
        await becomes(() => queryOf(page).get('sort'), '-name');
        await page.reload();
        await namesAre(page, ['walk-2.bag', 'walk-1.bag', 'door open.bag']);
    });
}

async function worksByKeyboard() {
    await withPage(server, '/', {}, async (page) => {
        await namesAre(page, ALL);
        await page.keyboard.press('/');
        await page.keyboard.type('robot:*');
        await namesAre(page, ALL.slice(1));
        await page.keyboard.press('Escape');
        await page.keyboard.press('Enter');
        await page.keyboard.press('ArrowDown'); // into the list, to its first row
        await page.keyboard.press('ArrowDown');
        await page.locator('.table-row.current').getByText('walk-2.bag').waitFor();
        await page.keyboard.press('Enter');
        await page.waitForURL('**/recordings/*');
        const { items } = await server.json('/recordings?q=walk-2');
        await becomes(() => new URL(page.url()).pathname, '/recordings/' + items[0].id);
        await page.goBack();
        await page.locator('.table-row.current').getByText('walk-2.bag').waitFor();
        await becomes(() => queryOf(page).get('q'), 'robot:*');
    });
}

async function trashAndUndo() {
    await withPage(server, '/', {}, async (page) => {
        await namesAre(page, ALL);
        await page
            .getByText('walk-2.bag')
            .locator('xpath=ancestor::*[@role="row"]')
            .click({ position: { x: 400, y: 14 } });
        await page.getByRole('button', { name: 'Move to trash' }).click();
        await namesAre(
            page,
            ALL.filter((name) => name !== 'walk-2.bag'),
        );
        await page.getByRole('button', { name: 'Undo' }).click();
        await namesAre(page, ALL);
        await body(page).focus(); // the same by keyboard
        await page.keyboard.press('Home');
        await page.keyboard.press('Delete');
        await namesAre(page, ALL.slice(1));
        await page
            .getByRole('navigation', { name: 'Filters' })
            .getByRole('button', { name: /^Trash/ })
            .click();
        await namesAre(page, ['demo.nanover.zip']);
        await body(page).focus();
        await page.keyboard.press('Home');
        await page.getByRole('button', { name: 'Restore' }).click();
        await page.getByText('Trash is empty').waitFor();
        assert.equal((await server.json('/recordings?count=true')).total, 4);
    });
}

async function confirmsPermanentDeletion() {
    const [made] = await server.upload([path.join(demo, 'demo.nanover.zip')], 'gone');
    await server.json('/recordings/' + made.id, { method: 'DELETE' });
    await withPage(server, '/?q=state:trashed', {}, async (page) => {
        await page
            .locator('.table-row')
            .first()
            .click({ position: { x: 400, y: 14 } });
        await page.getByRole('button', { name: 'Delete permanently' }).click();
        const dialog = page.getByRole('dialog', { name: 'Delete permanently?' });
        await checkAxeInBothThemes(page);
        await dialog.getByRole('button', { name: 'Cancel' }).click();
        await namesAre(page, ['demo.nanover.zip']);
        await page.getByRole('button', { name: 'Delete permanently' }).click();
        await dialog.getByRole('button', { name: 'Delete permanently' }).click();
        await page.getByText('Trash is empty').waitFor();
    });
    assert.equal((await fetch(`${server.api}/recordings/${made.id}`)).status, 404);
}

async function updatesAfterChanges() {
    const other = await Server.start();
    try {
        await withPage(other, '/', {}, async (page) => {
            await page.getByText('No recordings yet').waitFor();
            const [made] = await other.upload([path.join(demo, 'demo.bag')]);
            await namesAre(page, ['demo.bag']);
            await other.json('/recordings/' + made.id, {
                method: 'PATCH',
                body: '{"name":"renamed.bag"}',
                headers: { 'Content-Type': 'application/merge-patch+json' },
            });
            await namesAre(page, ['renamed.bag']);
            await other.json('/recordings/' + made.id, { method: 'DELETE' });
            await page.getByText('No recordings yet').waitFor();
        });
    } finally {
        await other.end();
    }
}

async function zoomsInTime() {
    await withPage(server, '/', {}, async (page) => {
        await namesAre(page, ALL);
        const bars = page.locator('.library-bars svg');
        await bars.locator('rect.found[height]:not([height="0"])').first().waitFor();
        const box = await bars.boundingBox();
        await page.mouse.move(box.x + box.width * 0.3, box.y + 20);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.8, box.y + 20, { steps: 4 });
        await page.mouse.up();
        await page.waitForURL(/start=/);
        const [start, end] = ['start', 'end'].map((name) => Date.parse(queryOf(page).get(name)));
        const day = Date.UTC(2010, 4, 11); // of the demonstration bag: the only day there is
        assert.ok(Math.abs((start - day) / 86400000 - 0.3) < 0.02, String(start));
        assert.ok(Math.abs((end - day) / 86400000 - 0.8) < 0.02, String(end));
        await namesAre(page, ALL.slice(1)); // NanoVer recordings have no date
        await page.getByRole('button', { name: 'Later' }).click();
        await status(page).getByText('0 recordings').waitFor();
        await page.goBack();
        await namesAre(page, ALL.slice(1));
        await page.getByRole('button', { name: 'Reset zoom' }).click();
        await namesAre(page, ALL);
    });
}

/** Many recordings, put straight into the catalog of a stopped server. */
const MANY = LONG ? 100000 : 20000;
async function scrollsMany() {
    const many = await Server.start();
    try {
        await many.upload([path.join(demo, 'demo.bag'), path.join(demo, 'demo.nanover.zip')]);
        await many.stop();
        const fill =
            'import sys; sys.path.insert(0, sys.argv[1]); import catalog; catalog.fill(sys.argv[2], int(sys.argv[3]))';
        execFileSync(
            '/usr/bin/python3',
            ['-B', '-c', fill, path.join(ROOT, 'tests/bench'), path.join(many.data, 'catalog.db'), String(MANY)],
            {
                stdio: 'inherit',
            },
        );
        await many.restart();
        await withPage(many, '/?sort=name', {}, async (page) => {
            await status(page)
                .getByText(`${MANY / 1000}\u202f002 recordings`)
                .waitFor();
            for (const place of [0.5, 0.25, 0.999, 0.1]) {
                const index = await body(page).evaluate((box, part) => {
                    box.scrollTop = part * (box.scrollHeight - box.clientHeight);
                    return Math.ceil(box.scrollTop / box.querySelector('.table-row').offsetHeight);
                }, place);
                const wanted = (await many.json(`/recordings?sort=name&limit=1&offset=${index}`)).items[0].name;
                await page
                    .locator(`.table-row[aria-rowindex="${index + 2}"]`)
                    .getByText(wanted, { exact: true })
                    .waitFor();
                assert.ok((await page.locator('.table-row').count()) < 80, 'only visible rows are rendered');
            }
            await body(page).focus();
            await page.keyboard.press('End');
            const last = (await many.json('/recordings?sort=-name&limit=1')).items[0].name;
            await page.locator('.table-row.current').getByText(last, { exact: true }).waitFor();
            await page.keyboard.press('Enter');
            await page.waitForURL('**/recordings/*');
            await page.goBack(); // to the same row
            await page.locator('.table-row.current').getByText(last, { exact: true }).waitFor();
            await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
            // in reverse order it is the first
            await page.locator('.table-row[aria-rowindex="2"]').getByText(last, { exact: true }).waitFor();
            await becomes(() => body(page).evaluate((box) => box.scrollTop), 0);
        });
        await checkView(many, '/', 'library-many', (page) => page.locator('.library-name').first().waitFor(), {
            within: '.table-head',
        }); // the rest is checked with few
    } finally {
        await many.end();
    }
}

async function looksRight() {
    const ready = (page) => namesAre(page, ALL);
    await checkView(server, '/', 'library', ready);
    for (const [width, height] of [
        [320, 640],
        [768, 1024],
        [3840, 2160],
    ]) {
        await withPage(server, '/', { size: { width, height } }, async (page) => {
            await ready(page);
            const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
            assert.ok(over <= 0, `${over} px too wide at ${width}`);
        });
    }
    await withPage(server, '/', {}, async (page) => {
        await search(page).fill('t');
        await page.getByRole('option').first().waitFor();
        await checkAxeInBothThemes(page);
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Search syntax' }).click();
        await page.getByRole('dialog').waitFor();
        await checkAxeInBothThemes(page);
    });
}

export const tests = {
    searches,
    reports_an_invalid_query: reportsAnInvalidQuery,
    keeps_the_rows_while_typing: keepsTheRowsWhileTyping,
    offers_what_was_meant: offersWhatWasMeant,
    filters_by_date_and_size: filtersByDateAndSize,
    shows_what_people_know: showsWhatPeopleKnow,
    suggests,
    filters,
    describes_a_collection: describesACollection,
    sorts,
    works_by_keyboard: worksByKeyboard,
    trash_and_undo: trashAndUndo,
    confirms_permanent_deletion: confirmsPermanentDeletion,
    updates_after_changes: updatesAfterChanges,
    zooms_in_time: zoomsInTime,
    looks_right: looksRight,
    scrolls_many: scrollsMany,
};
