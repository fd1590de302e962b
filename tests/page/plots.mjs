// What tests of plots read and press: the address, the legend, the menus.
import { eventually } from './harness.mjs';

/** A setting of the address. */
export const setting = (page, name) => new URL(page.url()).searchParams.get(name);
/** The values of the legend, by the names of the curves. */
export const legend = (page, panel = '.panel-plot') =>
    page
        .locator(`${panel} .plot-item`)
        .evaluateAll((items) =>
            Object.fromEntries(
                items.map((item) => [
                    item.querySelector('.plot-name').textContent,
                    item.querySelector('.plot-value').textContent,
                ]),
            ),
        );
export const near = (page, name, wanted) =>
    eventually(async () => Math.abs(Number((await legend(page))[name]) - wanted) < 0.02, `${name}: ${wanted}`);
export const menu = async (page, button, item, panel = '.panel-plot') => {
    await page.locator(panel).getByRole('button', { name: button, exact: true }).click();
    await page.locator('[role^=menuitem]', { hasText: item }).click();
};
