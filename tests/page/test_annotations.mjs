// Annotations are drawn over the image, where they belong.
import { Server, assert, becomes, checkAxeInBothThemes, eventually, withPage } from './harness.mjs';
import { uploadBag } from './bags.mjs';
import { detectionBag } from './signal_bags.mjs';

let server, camera;
export async function setUp() {
    server = await Server.start();
    camera = await uploadBag(server, 'detections.bag', detectionBag());
}
export async function tearDown() {
    await server?.end();
}

export const tests = {
    async a_detection_lies_over_the_image() {
        await withPage(server, `/recordings/${camera.id}?panels=image&at=1`, {}, async (page) => {
            const box = page.locator('.image-overlay polygon');
            await box.waitFor();
            await becomes(() => page.locator('.image-overlay text').allTextContents(), ['cup 93 %']);
            /** Where it is in the picture, in parts of it. */
            const inPicture = async () => {
                const [picture, seen] = [
                    await page.locator('.image-area canvas').boundingBox(),
                    await box.boundingBox(),
                ];
                return [
                    (seen.x + seen.width / 2 - picture.x) / picture.width,
                    (seen.y + seen.height / 2 - picture.y) / picture.height,
                    seen.width / picture.width,
                ];
            };
            const lies = (wanted) =>
                eventually(
                    async () => (await inPicture()).every((part, i) => Math.abs(part - wanted[i]) < 0.02),
                    `the box at ${wanted}`,
                );
            await lies([160 / 640, 120 / 480, 80 / 640]);
            await checkAxeInBothThemes(page);
            await page.getByRole('button', { name: 'Rotate by 90°' }).click();
            await lies([1 - 120 / 480, 160 / 640, 60 / 480]); // turns with it
            await page.getByRole('button', { name: 'Annotations' }).click();
            await page.getByRole('menuitemcheckbox', { name: '/camera_objects' }).click();
            await becomes(() => box.count(), 0);
            assert.equal(new URL(page.url()).searchParams.get('image.marks'), ',');
            await page.reload();
            await page.locator('.image-area canvas').waitFor();
            await becomes(() => page.locator('.image-overlay').count(), 0);
        });
    },
};
