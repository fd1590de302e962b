// Recordings whose file is still on a robot: in the library, on their page, asked for by a button.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server, assert, becomes, checkAxe, eventually, reelBinary, runReel, settled, withPage } from './harness.mjs';

let server, folder, robot, row;
const stateOf = async (id) => (await server.json(`/recordings/${id}`)).state;

export async function setUp() {
    server = await Server.start();
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reel-robot-'));
    fs.mkdirSync(path.join(folder, 'bags'));
    await runReel(['demo', path.join(folder, 'made')]);
    const made = fs.readdirSync(path.join(folder, 'made')).find((name) => name.endsWith('.bag'));
    fs.renameSync(path.join(folder, 'made', made), path.join(folder, 'bags/drive.bag'));
    robot = spawn(
        reelBinary(),
        // prettier-ignore
        ['push', '--watch', path.join(folder, 'bags'), '--state', path.join(folder, 'state'), '--still-time', '0',
            '--collection', 'yard', '--on-request', '--robot', 'rover 7', server.base],
        { stdio: 'ignore' },
    );
    const list = async () => (await server.json('/recordings?state=announced')).items;
    await eventually(async () => (await list()).length === 1, 'an announced recording');
    [row] = await list();
}
export async function tearDown() {
    robot?.kill('SIGKILL');
    await server?.end();
    fs.rmSync(folder, { recursive: true, force: true });
}

export const tests = {
    async 'the library says that it is announced'() {
        await withPage(server, '?q=state:announced', {}, async (page) => {
            await becomes(() => page.locator('.table-row .c-state').first().innerText(), 'Announced');
        });
    },

    async 'its page shows what is known, and gets the file'() {
        await withPage(server, `recordings/${row.id}`, {}, async (page) => {
            await settled(page);
            await page.getByRole('heading', { name: 'The file is still on rover 7' }).waitFor();
            assert.ok((await page.locator('.timeline').count()) > 0, 'the timeline');
            assert.equal(await page.getByRole('button', { name: 'Export' }).count(), 0);
            await checkAxe(page);
            robot.kill('SIGSTOP'); // else it may upload before the page says that it waits
            try {
                await page.getByRole('button', { name: 'Get it' }).click();
                await page.getByText('waiting for the robot').waitFor();
            } finally {
                robot.kill('SIGCONT');
            }
            await eventually(async () => (await stateOf(row.id)) === 'ready', 'the file');
            await page.getByRole('button', { name: 'Export' }).waitFor(); // without a reload
            assert.equal(await page.getByText('The file is still on').count(), 0);
        });
    },
};
