// The zoom of an image in the address.
import { Server, becomes, eventually, withPage } from './harness.mjs';
import { cameraBag, uploadBag } from './bags.mjs';

let server, camera;
export async function setUp() {
    server = await Server.start();
    camera = await uploadBag(server, 'camera.bag', cameraBag());
}
export async function tearDown() {
    await server?.end();
}

const query = (page, name) => new URL(page.url()).searchParams.get(name);

export const tests = {
    async the_zoom_of_an_image_is_in_the_link() {
        await withPage(server, `/recordings/${camera.id}?panels=image&at=1`, {}, async (page) => {
            const area = page.locator('.image-area');
            const place = () => page.locator('.image-area canvas').getAttribute('style');
            await page.locator('.image-facts', { hasText: '640 × 480' }).waitFor();
            const box = await area.boundingBox();
            await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.4);
            await page.mouse.wheel(0, -500);
            await becomes(() => query(page, 'image.view'), /^[\d.]+,-?[\d.]+,-?[\d.]+$/);
            const scaleOf = (style) => style.match(/-?[\d.]+(?=px|\))/g).map(Number);
            const before = scaleOf(await place());
            await page.reload();
            await page.locator('.image-facts', { hasText: '640 × 480' }).waitFor();
            await eventually(async () => {
                const now = scaleOf(await place());
                return now.length === before.length && now.every((one, i) => Math.abs(one - before[i]) < 2);
            }, 'the same part of the picture');
            await area.focus();
            await page.keyboard.press('0');
            await becomes(() => query(page, 'image.view'), null);
        });
    },
};
