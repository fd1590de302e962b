// Logging in by a token, for all tabs of a browser; logging out; a revoked token.
import fs from 'node:fs';
import path from 'node:path';
import { Server, checkAxeInBothThemes, checkView, runReel, withPage, becomes } from './harness.mjs';

let server;

export async function setUp() {
    server = await Server.start();
    await server.uploadDemo();
}
export async function tearDown() {
    await server?.end();
}

const sees = (page) => page.locator('.library-name').getByText('demo.bag', { exact: true }).waitFor();

async function requiresAToken() {
    const { token } = await server.json('/tokens', { method: 'POST', body: '{"name":"ann","role":"admin"}' });
    const allow = [/status of 401/];
    await withPage(server, '/?q=demo', { allow }, async (page) => {
        const field = page.getByLabel('Token');
        await field.fill('reel_wrong');
        await field.press('Enter');
        await page.getByText('Invalid token').waitFor();
        await checkAxeInBothThemes(page);
        await field.fill(token);
        await page.getByRole('button', { name: 'Log in' }).click();
        await sees(page); // the view that was requested
        await page.reload();
        await sees(page);
        await becomes(
            () =>
                page
                    .evaluate(() => document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage))
                    .then((kept) => kept.includes('reel_')),
            false,
            'no script can read it',
        );
        const tab = await page.context().newPage();
        await tab.goto(server.base + '/?q=demo');
        await sees(tab); // without asking again
        await tab.getByRole('button', { name: 'Log out' }).click();
        await tab.getByLabel('Token').waitFor();
        await page.reload();
        await page.getByLabel('Token').waitFor(); // the login has ended for all tabs
        await page.getByLabel('Token').fill(token);
        await page.getByRole('button', { name: 'Log in' }).click();
        await sees(page);
        await server.json('/tokens/ann', { method: 'DELETE', token });
        await page.reload();
        await page.getByText('Your session has ended').waitFor(); // by revocation
    });
    await checkView(server, '/', 'login', (page) => page.getByLabel('Token').waitFor(), { allow });
}

/** Instead of asking for a token that nobody can have. */
async function saysThatTheTokensWereLost() {
    await server.stop();
    for (const file of ['catalog.db', 'catalog.db-wal', 'catalog.db-shm']) {
        fs.rmSync(path.join(server.data, file), { force: true });
    }
    await server.restart();
    await withPage(server, '/?q=demo', { allow: [/status of 401/] }, async (page) => {
        await page.getByText('reel token create --role admin').waitFor();
        const token = (
            await runReel(['token', 'create', '--role', 'admin', '--name', 'eve', '--data', server.data])
        ).trim();
        await page.getByLabel('Token').fill(token);
        await page.getByRole('button', { name: 'Log in' }).click();
        await sees(page);
    });
}

export const tests = { requires_a_token: requiresAToken, says_that_the_tokens_were_lost: saysThatTheTokensWereLost };
