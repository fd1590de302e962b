// What a picture shows: pixels by their colour, counted in the browser.

/** Runs in the browser: count, box, middle and first one of the pixels of each kind, in parts of the picture. */
async function count(base64) {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const { data, width, height } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    const kinds = {
        red: (r, g, b) => r > 90 && r > 2 * g && r > 2 * b,
        green: (r, g, b) => g > 60 && g > 2 * r && g > 2 * b,
        blue: (r, g, b) => b > 90 && b > 2 * r && b > 1.5 * g,
        yellow: (r, g, b) => r > 90 && g > 90 && r > 3 * b && g > 3 * b,
        white: (r, g, b) => Math.min(r, g, b) > 180,
        other: (r, g, b) => Math.abs(r - data[0]) + Math.abs(g - data[1]) + Math.abs(b - data[2]) > 12, // than the corner
    };
    const found = {};
    for (const [kind, is] of Object.entries(kinds)) {
        const one = {
            count: 0,
            x: 0,
            y: 0,
            first: null,
            left: 1,
            right: 0,
            top: 1,
            bottom: 0,
        };
        for (let i = 0; i < width * height; i++) {
            if (is(data[4 * i], data[4 * i + 1], data[4 * i + 2])) {
                const [x, y] = [(i % width) / width, Math.floor(i / width) / height];
                one.count++;
                one.first ??= { x, y };
                one.x += x;
                one.y += y;
                one.left = Math.min(one.left, x);
                one.right = Math.max(one.right, x);
                one.top = Math.min(one.top, y);
                one.bottom = Math.max(one.bottom, y);
            }
        }
        found[kind] = { ...one, x: one.x / one.count, y: one.y / one.count };
    }
    return found;
}
/** The coloured pixels of an element, as it is drawn; `clip`: a part of it, from 0 to 1. */
export async function pixels(locator, clip = { x: 0, y: 0, width: 1, height: 1 }) {
    const page = locator.page();
    const box = await locator.boundingBox();
    const picture = await page.screenshot({
        clip: {
            x: box.x + clip.x * box.width,
            y: box.y + clip.y * box.height,
            width: clip.width * box.width,
            height: clip.height * box.height,
        },
    });
    return page.evaluate(count, picture.toString('base64'));
}

/** Runs in the browser: the part of the pixels that differ. */
async function differing([one, other]) {
    const [a, b] = await Promise.all(
        [one, other].map(async (base64) => {
            const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]));
            const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
            context.drawImage(bitmap, 0, 0);
            return context.getImageData(0, 0, bitmap.width, bitmap.height).data;
        }),
    );
    let count = 0;
    for (let i = 0; i < a.length; i += 4) {
        count += Math.abs(a[i] - b[i]) + Math.abs(a[i + 1] - b[i + 1]) + Math.abs(a[i + 2] - b[i + 2]) > 48;
    }
    return a.length === b.length ? count / (a.length / 4) : 1;
}
/** The part of the pixels in which two pictures differ. */
export const difference = (page, one, other) =>
    page.evaluate(differing, [one.toString('base64'), other.toString('base64')]);
