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
    async points_are_limited_and_a_failure_is_said() {
        await withPage(server, '/', { allow: [/500/] }, async (page) => {
            const some = Array.from({ length: 30_000 }, (_, i) => ({ x: i % 640, y: i % 480 }));
            const row = {
                topic: '/camera_objects',
                log_time: String(BigInt(camera.start_ns) + 900_000_000n),
                data: { points: [{ type: 1, points: some, outline_color: { r: 1, g: 0, b: 0, a: 1 } }] },
            };
            let answers = 0;
            await page.route(/\/messages\?.*camera_objects/, (route) =>
                answers++ === 0
                    ? route.fulfill({ status: 500, json: { title: 'No annotations', status: 500 } })
                    : route.fulfill({ contentType: 'application/x-ndjson', body: JSON.stringify(row) + '\n' }),
            );
            await page.goto(`/recordings/${camera.id}?panels=image&at=1`);
            await page.getByRole('alert').getByText('No annotations').waitFor();
            await page.locator('.image-note').getByRole('button', { name: 'Try again' }).click();
            const dots = page.locator('.image-overlay .image-dots');
            await becomes(async () => (await dots.getAttribute('d'))?.split('M').length - 1, 20_000);
        });
    },
};
