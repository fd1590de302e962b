// How the plot uses its panel: the legend lies in it, and the labels of its axis do not touch.
import { SIZES, Server, assert, becomes, checkAxeInBothThemes, eventually, withPage } from './harness.mjs';
import { fastBag, uploadBag } from './bags.mjs';

const FIELDS = [
    'pose.pose.position.x',
    'pose.pose.position.y',
    'twist.twist.linear.x',
    'twist.twist.angular.z',
    'pose.pose.orientation.z',
];
let server, bag, fast;
export async function setUp() {
    server = await Server.start();
    [bag] = await server.uploadDemo();
    fast = await uploadBag(server, 'fast.bag', fastBag());
}
export async function tearDown() {
    await server?.end();
}

/** Notes the texts that are drawn on each canvas since it was cleared: in the page as `texts`. */
function noteTexts() {
    globalThis.texts = new Map();
    const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...box) {
        globalThis.texts.set(this.canvas, []);
        return clearRect.apply(this, box);
    };
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
        globalThis.texts.get(this.canvas)?.push({ text, x, y, width: this.measureText(text).width });
        return fillText.call(this, text, x, y, ...more);
    };
}
/** The labels of the time axis, from the left: those that are drawn lowest. */
const timeLabels = (page) =>
    page.evaluate(() => {
        const all = globalThis.texts.get(document.querySelector('.plot-area canvas')) ?? [];
        const lowest = Math.max(...all.map(({ y }) => y));
        return all.filter(({ y }) => y === lowest).sort((a, b) => a.x - b.x);
    });

export const tests = {
    async the_legend_lies_in_the_plot() {
        const fields = FIELDS.map((field) => `/odom.${field}`);
        const where = `/recordings/${bag.id}?panels=plot,messages&plot.fields=${fields.join('|')}`;
        await withPage(server, where, { first: true, size: SIZES.medium }, async (page) => {
            const items = page.locator('.plot-legend .plot-item');
            await becomes(() => items.count(), FIELDS.length);
            const over = page.locator('.plot-area .u-over');
            await eventually(async () => (await over.boundingBox()).height > 300, 'a high plot');
            const [plot, area, ...rows] = await Promise.all(
                [over, page.locator('.plot-body'), ...(await items.all())].map((one) => one.boundingBox()),
            );
            assert.ok(plot.height > 0.75 * area.height, `${plot.height} of ${area.height}`);
            for (const row of rows) {
                assert.ok(
                    row.x >= plot.x && row.y >= plot.y && row.y + row.height < plot.y + plot.height,
                    JSON.stringify(row),
                );
            }
            await page.locator('.plot-item').first().getByRole('button', { name: 'Curve' }).click();
            await page.getByRole('menuitem', { name: 'Remove' }).click();
            await becomes(() => items.count(), FIELDS.length - 1);
            await checkAxeInBothThemes(page);
            const menu = () => page.locator('.plot-tools').getByRole('button', { name: 'View' }).click();
            await menu();
            await page.getByRole('menuitemcheckbox', { name: 'Legend' }).click();
            await becomes(() => page.locator('.plot-legend').count(), 0);
        });
    },
    async labels_of_times_never_touch() {
        await withPage(server, '/', { own: true }, async (page) => {
            await page.addInitScript(noteTexts);
            for (const [span, size, digits] of [
                ['0~9.99', SIZES.wide, 0],
                ['0~9.99', { width: 460, height: 700 }, 0],
                ['1~3', SIZES.wide, 3],
                ['2.1~2.13', SIZES.narrow, 3],
                ['2.1~2.1004', SIZES.medium, 6],
                ['2.1~2.1004', SIZES.narrow, 6],
            ]) {
                await page.setViewportSize(size);
                await page.goto(`/recordings/${fast.id}?panels=plot,messages&plot.fields=/fast.data&plot.zoom=${span}`);
                await page.locator(`.plot-area[data-drawn="${span}"]`).waitFor();
                await eventually(async () => (await timeLabels(page)).length > 1, `labels of ${span}`);
                const labels = await timeLabels(page);
                const apart = labels
                    .slice(1)
                    .map(({ x, width }, i) => x - width / 2 - labels[i].x - labels[i].width / 2);
                const what = `${span}: ${labels.map(({ text }) => text).join(' ')}`;
                assert.ok(Math.min(...apart) >= 5, `${Math.min(...apart)} px in ${what}`);
                assert.equal(new Set(labels.map(({ text }) => text)).size, labels.length, what);
                assert.ok(
                    labels.every(({ text }) => (text.split('.')[1] ?? '').length === digits),
                    what,
                );
            }
        });
    },
};
