// The list of the events of all recordings, and searches that find recordings by tags and events.
import { Server, checkAxeInBothThemes, eventually, withPage, becomes } from './harness.mjs';
import { driveBag, uploadBag } from './bags.mjs';

let server, drive;
export async function setUp() {
    server = await Server.start();
    drive = await uploadBag(server, 'drive.bag', driveBag());
    await server.json(`/recordings/${drive.id}`, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/merge-patch+json' },
        body: JSON.stringify({ tags: { season: 'autumn' } }),
    });
    const start = BigInt(drive.start_ns);
    for (const [at, title, tags] of [
        [2, 'wheel slips', { floor: 'wet' }],
        [6, 'door opens', {}],
    ]) {
        const [from, to] = [at, at + 1].map((s) => String(start + BigInt(s) * 1000000000n));
        await server.json('/events', {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify({ recording: drive.id, start: from, end: to, title, tags }),
        });
    }
}
export async function tearDown() {
    await server?.end();
}

const titles = (page) => page.locator('.events tbody td:nth-child(2)').allTextContents();

export const tests = {
    async lists_and_filters_events() {
        await withPage(server, '/', {}, async (page) => {
            await page.getByRole('navigation').getByRole('link', { name: 'Events' }).click();
            await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
            await page.locator('.events tbody').waitFor();
            await becomes(() => titles(page), ['wheel slips', 'door opens']);
            await checkAxeInBothThemes(page);
            await page.getByRole('searchbox', { name: 'Words in title or tags' }).fill('WET wheel');
            await eventually(async () => (await titles(page)).length === 1, 'the event with both words');
            await becomes(() => new URL(page.url()).searchParams.get('q'), 'WET wheel');
            await page.getByRole('link', { name: 'wheel slips' }).click();
            await page.locator('.timeline-range').waitFor();
            const at = page.getByRole('slider', { name: 'Playhead' });
            await eventually(async () => Number(await at.getAttribute('aria-valuenow')) === 2, 'the moment');
            await page.goBack();
            await page.getByLabel('Since').selectOption('7 days');
            await page.getByText('No events match').waitFor(); // it was in 2010
        });
    },
    async words_of_tags_and_events_are_found() {
        for (const q of ['autumn', '"wheel slips"', 'opens']) {
            await withPage(server, '/?q=' + encodeURIComponent(q), {}, async (page) => {
                await page.locator('.library-count').filter({ hasText: '1 recording' }).waitFor();
            });
        }
        await withPage(server, '/?q=start%3A2010-05-01', { allow: [/status of 400/] }, async (page) => {
            await page.getByRole('alert').filter({ hasText: 'a day or month is written alone' }).waitFor();
        });
        await withPage(server, '/?q=wet', {}, async (page) => {
            await page.getByRole('link', { name: 'Events with these words' }).click();
            await page.getByRole('link', { name: 'wheel slips' }).waitFor();
        });
        await withPage(server, '/', {}, async (page) => {
            await page.getByRole('combobox', { name: 'Search recordings' }).pressSequentially('autu');
            await page.getByRole('option', { name: 'season:autumn' }).click();
            await page.waitForURL(/q=season/);
        });
    },
};
