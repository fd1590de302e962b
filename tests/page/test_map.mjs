// The map panel: tiles from the address the server was started with, tracks, the time of a place.
import http from 'node:http';
import { Server, assert, checkAxe, eventually, settled, withPage, becomes } from './harness.mjs';
import { gpsBag, uploadBag } from './bags.mjs';

const TILE_MS = 20;
const PICTURE =
    '<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"><rect width="256" height="256" fill="#cdb"/></svg>';
const tiles = { asked: [], now: 0, most: 0, broken: false };
let server, recording, host;
export async function setUp() {
    host = http.createServer((request, response) => {
        tiles.asked.push(request.url);
        tiles.most = Math.max(tiles.most, ++tiles.now);
        setTimeout(() => {
            tiles.now--;
            response.writeHead(tiles.broken ? 404 : 200, { 'Content-Type': 'image/svg+xml' });
            response.end(tiles.broken ? '' : PICTURE);
        }, TILE_MS);
    });
    await new Promise((done) => host.listen(0, '127.0.0.1', done));
    server = await Server.start(
        '--map-tiles',
        `http://127.0.0.1:${host.address().port}/{z}/{x}/{y}.svg`,
        '--map-attribution',
        'Example contributors',
    );
    recording = await uploadBag(server, 'gps.bag', gpsBag());
}
export async function tearDown() {
    host?.closeAllConnections();
    host?.close();
    await server?.end();
}

/** The tile of a place, as tile servers count them. */
function tileOf(zoom, latitude, longitude) {
    const phi = (latitude * Math.PI) / 180;
    return `/${zoom}/${Math.floor(((longitude + 180) / 360) * 2 ** zoom)}/${Math.floor(((1 - Math.asinh(Math.tan(phi)) / Math.PI) / 2) * 2 ** zoom)}.svg`;
}

export const tests = {
    async an_address_with_an_absurd_view_is_drawn() {
        const allow = [new RegExp(`foreign request: http://127.0.0.1:${host.address().port}/`)];
        for (const scale of ['1e-300', '1e300']) {
            tiles.asked = [];
            await withPage(
                server,
                `/recordings/${recording.id}?panels=map&map.view=0,0,${scale}`,
                { size: { width: 1000, height: 700 }, allow },
                async (page) => {
                    await page.getByRole('checkbox', { name: '/fix' }).waitFor();
                    await eventually(() => tiles.asked.length > 0 && tiles.now === 0, 'tiles');
                    assert.ok(tiles.asked.length < 100, `${tiles.asked.length} tiles`);
                },
            );
        }
        tiles.asked = [];
    },
    async tracks_lie_on_tiles_and_lead_to_their_time() {
        const allow = [new RegExp(`foreign request: http://127.0.0.1:${host.address().port}/`), /status of 404/];
        await withPage(
            server,
            `/recordings/${recording.id}?panels=map`,
            { size: { width: 1000, height: 700 }, allow },
            async (page) => {
                await page.getByText('Example contributors').waitFor();
                await settled(page);
                await eventually(() => tiles.asked.length > 1 && tiles.now === 0, 'tiles');
                assert.ok(tiles.most <= 6, `${tiles.most} at once`);
                const zoom = tiles.asked[0].split('/')[1];
                // a place on the track
                assert.ok(tiles.asked.includes(tileOf(zoom, 52.5201, 13.4065)), tiles.asked.join());
                assert.equal(new Set(tiles.asked).size, tiles.asked.length); // each one once
                const box = await page.locator('.map-area').boundingBox();
                const scale = Math.min(box.width / 200, box.height / 100) * 0.85; // of 200 m by 100 m
                // after 10 of the 20 s to the east
                const middle = [box.x + box.width / 2, box.y + box.height / 2 + 50 * scale];
                await page.mouse.move(...middle);
                await becomes(
                    () => page.locator('.map-tip').innerText(),
                    /\/fix\s+0:10\.000\s+(9\.9|10\.0)\d m\/s\s+52\.520000°, 13\.4064/,
                );
                await page.mouse.click(...middle);
                await eventually(
                    async () =>
                        Number(await page.getByRole('slider', { name: 'Playhead' }).getAttribute('aria-valuenow')) ===
                        10,
                    'the playhead',
                );
                await page.getByLabel('Color by').selectOption('speed');
                await page.locator('.map-range', { hasText: '10 m/s' }).waitFor();
                await checkAxe(page, '.map');
                await page.getByRole('checkbox', { name: '/fix' }).uncheck();
                await page.waitForURL(/map\.hide=/);
                await page.getByRole('checkbox', { name: '/fix' }).check();
                tiles.broken = true;
                for (let i = 0; i < 3; i++) {
                    await page.getByRole('button', { name: 'Zoom out' }).click();
                }
                await page.locator('.toast', { hasText: 'background of the map' }).waitFor();
                await page.waitForURL(/map\.view=/);
                await eventually(() => tiles.now === 0, 'no more tiles');
                await becomes(() => page.locator('.toast').count(), 1); // said once
            },
        );
    },
};
