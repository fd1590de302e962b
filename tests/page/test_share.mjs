// Sharing a recording: the address of exactly this view, and a signed link that opens the page for one recording,
// read-only, without a login.
import { Server, assert, checkAxeInBothThemes, eventually, settled, withPage, becomes } from './harness.mjs';

let server, recording, other, token;
export async function setUp() {
    server = await Server.start();
    const demo = await server.uploadDemo('lab');
    recording = demo.find((r) => r.format.startsWith('rosbag'));
    other = demo.find((r) => r !== recording);
    await server.json(`/recordings/${recording.id}/tags/robot`, { method: 'PUT', body: 'r7' });
}
export async function tearDown() {
    await server?.end();
}

const heading = (page, name = recording.name) => page.getByRole('heading', { level: 1, name }).waitFor();
const value = (page, label) => page.getByLabel(label, { exact: true }).inputValue();
async function openShare(page) {
    await page.getByRole('button', { name: 'Share' }).click();
    return page.getByRole('dialog', { name: 'Share this recording' });
}
/** From the first token on the archive requires a login. */
async function requireLogin() {
    const ann = JSON.stringify({ name: 'ann', role: 'admin' });
    token ??= (await server.json('/tokens', { method: 'POST', body: ann })).token;
}
async function logIn(page) {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await heading(page);
}

export const tests = {
    async the_link_has_what_only_this_browser_knows() {
        let link;
        await withPage(server, `/recordings/${recording.id}?at=1.5&range=1~3`, {}, async (page) => {
            await heading(page);
            await page.evaluate(
                (types) => localStorage.setItem(`reel.panels.${types}`, 'topics,messages'),
                [...new Set(recording.topics.map(({ type }) => type))].sort().join(),
            );
            await page.reload();
            await page.locator('#panel-topics').waitFor();
            const dialog = await openShare(page);
            link = new URL(await value(page, 'Link to this view'));
            assert.match(link.searchParams.get('panels'), /topics.*messages|messages.*topics/);
            assert.deepEqual([link.searchParams.get('at'), link.searchParams.get('range')], ['1.5', '1~3']);
            await dialog.getByText('This archive needs no login').waitFor();
            await becomes(() => dialog.getByRole('button', { name: 'Create link' }).count(), 0);
            await checkAxeInBothThemes(page);
        });
        await withPage(server, link.pathname + link.search, {}, async (page) => {
            await page.locator('#panel-topics').waitFor();
            await page.locator('#panel-messages').waitFor();
        });
    },
    async somebody_outside_sees_this_recording_only() {
        await requireLogin();
        let link;
        await withPage(
            server,
            `/recordings/${recording.id}?panels=plot,messages&with=${other.id}`,
            { allow: [/401/] },
            async (page) => {
                await logIn(page);
                const dialog = await openShare(page);
                await dialog.getByText('The second recording is not included.').waitFor();
                await dialog.getByLabel('Works for').selectOption('1d');
                await dialog.getByRole('button', { name: 'Create link' }).click();
                await dialog.getByText(/^Works until/).waitFor();
                link = await value(page, 'Link for someone without access');
                await checkAxeInBothThemes(page);
            },
        );
        assert.equal(new URL(link).searchParams.get('with'), null);
        await withPage(server, link, {}, async (page) => {
            const failed = [];
            page.on('response', (answer) => answer.status() >= 400 && failed.push(answer.url()));
            await heading(page);
            await page.getByText(/^Read-only link until/).waitFor();
            await page.locator('#panel-plot').waitFor();
            await becomes(() => new URL(page.url()).hash, '', 'the key is not in the address bar');
            await settled(page);
            const offered = await page.locator('a[href]:not(.skip), .details form, .recording-name button').count();
            assert.equal(offered, 0, 'nothing leads elsewhere, nothing can be edited');
            for (const name of ['Share', 'Compare…', 'Log out', 'Layouts', 'Add event']) {
                await becomes(() => page.getByRole('button', { name, exact: true }).count(), 0, name);
            }
            await becomes(() => page.getByRole('searchbox').count(), 0);
            await checkAxeInBothThemes(page);
            await page.getByRole('button', { name: 'Export', exact: true }).click();
            const arrived = page.waitForEvent('download');
            await page.getByRole('dialog').getByRole('button', { name: 'Download' }).click();
            assert.equal((await arrived).suggestedFilename(), recording.name);
            await page.keyboard.press('Escape');
            await page.reload(); // the key stays in this tab
            await heading(page);
            await settled(page);
            assert.deepEqual(failed, []);
        });
        for (const [kind, wrong] of [
            ['another recording', link.replaceAll(recording.id, other.id)],
            ['a shortened key', link.slice(0, -1)],
        ]) {
            await withPage(server, wrong, { allow: [/401/] }, async (page) => {
                await page.getByText('This link no longer works').waitFor({}, kind);
            });
        }
    },
    async it_ends_while_it_is_shown() {
        await requireLogin();
        const made = await server.json('/tokens', {
            method: 'POST',
            body: JSON.stringify({ name: 'bob', role: 'read' }),
            token,
        });
        const { url } = await server.json(`/recordings/${recording.id}/links`, {
            method: 'POST',
            body: '{}',
            token: made.token,
        });
        await withPage(server, url, { allow: [/401/] }, async (page) => {
            await heading(page);
            await settled(page);
            await server.json('/tokens/bob', { method: 'DELETE', token });
            await page.reload();
            await page.getByText('It has expired, was revoked or is incomplete.').waitFor();
            await checkAxeInBothThemes(page);
            await page.getByRole('button', { name: 'Log in to the archive instead' }).click();
            await logIn(page);
            await page.getByRole('navigation').getByRole('link', { name: 'Library' }).waitFor();
            await eventually(() => page.evaluate(() => sessionStorage.length === 0), 'the key is forgotten');
        });
    },
};
