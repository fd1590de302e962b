// The application shell: navigation, theme, jobs.
import { Server, assert, eventually, withPage, becomes } from './harness.mjs';

let server;
export async function setUp() {
    server = await Server.start();
}
export async function tearDown() {
    await server?.end();
}

export const tests = {
    async links_the_api_reference() {
        await withPage(server, '/', {}, async (page) => {
            await page.getByRole('link', { name: 'API', exact: true }).click();
            await page.getByRole('navigation', { name: 'Operations' }).waitFor();
        });
    },
    async navigates_without_reloading() {
        await withPage(server, '/', {}, async (page) => {
            await page.evaluate(() => (window.stillHere = true));
            for (const [link, path] of [
                ['Upload', '/upload'],
                ['Administration', '/admin'],
                ['Library', '/'],
            ]) {
                await page
                    .getByRole('navigation', { name: 'Main navigation' })
                    .getByRole('link', { name: link })
                    .click();
                await page.waitForURL('**' + path);
                await becomes(() => page.locator('.bar nav [aria-current=page]').textContent(), link);
            }
            await page.goBack();
            await page.waitForURL('**/admin');
            await becomes(() => page.evaluate(() => window.stillHere), true);
        });
    },
    async says_that_an_address_leads_nowhere() {
        await withPage(server, '/nothing/here', { allow: [/status of 404/] }, async (page) => {
            await page.getByText('Page not found').waitFor();
            await page.getByRole('link', { name: 'Back to library' }).click();
            await page.getByRole('heading', { name: 'No recordings yet' }).waitFor();
        });
    },
    async keeps_the_theme() {
        await withPage(server, '/', { theme: 'dark' }, async (page) => {
            const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
            const dark = await ground();
            await page.getByRole('button', { name: 'Theme: system' }).click();
            assert.notEqual(await ground(), dark);
            const light = await ground();
            await page.reload();
            await page.getByRole('button', { name: 'Theme: light' }).waitFor();
            assert.equal(await ground(), light);
        });
    },
    async shows_and_cancels_jobs() {
        const junk = Buffer.alloc(30_000_000, 'no format begins like this ');
        const put = async (name, body) => {
            const answer = await fetch(`${server.api}/recordings/by-name/lab/${name}?keep=true`, {
                method: 'PUT',
                body,
            });
            assert.equal(answer.status, 415); // kept as failed
        };
        await put('junk.bin', junk);
        await withPage(server, '/', {}, async (page) => {
            await page.getByText(/^[01] recordings?$/).waitFor();
            await server.json('/admin/scrub?rate=1', { method: 'POST' }); // would take half a minute
            await put('small.bin', 'x'); // the page polls for jobs after a change
            const jobs = page.locator('.jobs');
            await jobs.getByText('1 job').click();
            await jobs.getByRole('button', { name: /^Cancel/ }).click();
            await jobs.waitFor({ state: 'detached' });
        });
        const { items } = await server.json('/jobs');
        assert.equal(items.find((job) => job.kind === 'scrub').state, 'cancelled');
    },
    async unknown_urls_lead_back() {
        await withPage(server, '/recordings/', {}, async (page) => {
            await page.getByRole('link', { name: 'Back to library' }).click();
            await page.waitForURL(server.base + '/');
        });
    },
    async the_first_row_is_reached_from_the_search_box_and_ticked_rows_are_seen() {
        await server.uploadDemo();
        await withPage(server, '/', {}, async (page) => {
            await page.locator('.table-row').nth(1).waitFor();
            await page.keyboard.press('/');
            await page.keyboard.press('Escape');
            await page.keyboard.press('ArrowDown');
            const first = page.locator('.table-row[aria-rowindex="2"]');
            await eventually(async () => /current/.test(await first.getAttribute('class')), 'the first row');
            const line = (row) => row.evaluate((element) => getComputedStyle(element).boxShadow);
            assert.equal(await line(first), 'none');
            await page.keyboard.press('Space');
            await eventually(async () => (await line(first)) !== 'none', 'a line at the selected row');
        });
    },
};
