// What a damaged recording says: which topics, from when to when; the bytes on demand.
import fs from 'node:fs';
import { Server, becomes, checkAxeInBothThemes, withPage } from './harness.mjs';
import { every, float64, inOrder, removeBag, writeBag } from './bags.mjs';

let server, torn;
const value = (at, topic) => ({ at, topic, type: 'std_msgs/Float64', data: float64(at) });
export async function setUp() {
    server = await Server.start();
    const file = writeBag(
        'torn.bag',
        inOrder([...every(20, 0.1, (at) => value(at, '/fast')), value(0.01, '/rare'), value(19.01, '/rare')]),
    );
    const bytes = fs.readFileSync(file);
    bytes.fill(255, bytes.indexOf(float64(5)), bytes.indexOf(float64(10))); // the messages of these seconds
    fs.writeFileSync(file, bytes);
    [torn] = await server.upload([file], 'bags');
    removeBag(file);
}
export async function tearDown() {
    await server?.end();
}

/** The details, which may be hidden. */
async function details(page) {
    const button = page.getByRole('button', { name: 'Details', exact: true });
    await page.locator('.panels').waitFor();
    if ((await button.count()) > 0 && (await button.getAttribute('aria-pressed')) !== 'true') {
        await button.click();
    }
    return page.locator('.details');
}

export const tests = {
    async a_loss_has_topics_and_times_first_and_bytes_on_demand() {
        await withPage(server, `/recordings/${torn.id}?panels=topics`, {}, async (page) => {
            const finding = (await details(page)).locator('.details-finding', { hasText: '/fast' });
            await becomes(
                async () => (await finding.innerText()).replace(/\s+/g, ' '),
                /^Lost \/fast 0:0[45]\.\d+ to 0:/,
            );
            const bytes = finding.locator('details p').first();
            await bytes.waitFor({ state: 'hidden' });
            await finding.locator('summary').click();
            await bytes.waitFor();
            await becomes(() => bytes.innerText(), /\d/);
            await checkAxeInBothThemes(page);
            await finding.getByRole('button').click();
            await page.waitForURL(/at=(4\.9|5)/); // the last message before it
        });
    },
};
