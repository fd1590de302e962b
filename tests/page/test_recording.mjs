// The view of a recording: header, timeline, playback, panels, annotations, export.
import fs from 'node:fs';
import { cameraBag, uploadBag } from './bags.mjs';
import { Server, assert, checkAxe, eventually, checkView, sample, withPage, becomes } from './harness.mjs';

let server, bag, archive;
export async function setUp() {
    server = await Server.start();
    const made = await server.uploadDemo();
    bag = made.find((r) => r.format === 'rosbag-1.2');
    archive = made.find((r) => r.format === 'nanover');
}
export async function tearDown() {
    await server?.end();
}

const head = (page) => page.getByRole('slider', { name: 'Playhead' });
const at = async (page) => Number(await head(page).getAttribute('aria-valuenow'));
/** Drags over the timeline, as parts of its width. */
async function drag(page, from, to) {
    const box = await page.locator('.timeline-field').boundingBox();
    const y = box.y + box.height - 6;
    await page.mouse.move(box.x + box.width * from, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * ((from + to) / 2), y);
    await page.mouse.move(box.x + box.width * to, y);
    await page.mouse.up();
    return box;
}
const ready = (page) => page.locator('.timeline-name').first().waitFor();
const seconds = (recording) => Number(BigInt(recording.end_ns) - BigInt(recording.start_ns)) / 1e9;

/** An MCAP file of ROS 2 whose schema is empty. */
function points() {
    const le = (size, value) => {
        const bytes = Buffer.alloc(8);
        bytes.writeBigUInt64LE(BigInt(value));
        return bytes.subarray(0, size);
    };
    const text = (value) => Buffer.concat([le(4, value.length), Buffer.from(value)]);
    const record = (op, ...parts) => {
        const data = Buffer.concat(parts);
        return Buffer.concat([le(1, op), le(8, data.length), data]);
    };
    const magic = Buffer.from('\x89MCAP0\r\n', 'latin1');
    const time = le(8, 1700000000000000000n);
    return Buffer.concat([
        magic,
        record(1, text('ros2'), text('test')),
        record(3, le(2, 1), text('geometry_msgs/msg/Point'), text('ros2msg'), text('')),
        record(4, le(2, 1), le(2, 1), text('/point'), text('cdr'), le(4, 0)),
        record(5, le(2, 1), le(4, 0), time, time, Buffer.from([0, 1, 0, 0]), Buffer.alloc(24)),
        record(15, le(4, 0)),
        record(2, Buffer.alloc(20)),
        magic,
    ]);
}

export const tests = {
    async looks_right() {
        await checkView(server, `/recordings/${bag.id}`, 'recording-bag', ready);
        await checkView(
            server,
            `/recordings/${bag.id}?panels=plot,messages,map,topics`,
            'recording-panels',
            async (page) => {
                await ready(page);
                await page.locator('.plain-table tbody tr').first().waitFor();
            },
        );
        await checkView(server, `/recordings/${archive.id}`, 'recording-nanover', ready);
    },
    async shows_name_and_topics() {
        await withPage(server, `/recordings/${bag.id}`, {}, async (page) => {
            await page.getByRole('heading', { level: 1, name: bag.name }).waitFor();
            await ready(page);
            const lanes = await page.locator('.timeline-name').allTextContents();
            assert.deepEqual(lanes, bag.topics.map((t) => t.name).sort());
            await becomes(() => page.title(), new RegExp(bag.name.replace('.', '\\.')));
        });
    },
    async a_click_moves_the_playhead_and_a_drag_selects_a_range() {
        await withPage(server, `/recordings/${bag.id}`, {}, async (page) => {
            await ready(page);
            const box = await page.locator('.timeline-field').boundingBox();
            await page.mouse.click(box.x + box.width / 2, box.y + box.height - 6);
            await eventually(
                async () => Math.abs((await at(page)) - seconds(bag) / 2) < seconds(bag) / 50,
                'the playhead',
            );
            await drag(page, 0.25, 0.75);
            await page.waitForURL(/range=/);
            const [from, to] = new URL(page.url()).searchParams.get('range').split('~').map(Number);
            assert.ok(
                Math.abs(from - seconds(bag) / 4) < seconds(bag) / 50 &&
                    Math.abs(to - (seconds(bag) * 3) / 4) < seconds(bag) / 50,
                `${from} to ${to}`,
            );
            await page.reload();
            await page.locator('.timeline-range').waitFor(); // restored from the URL
            await page.getByRole('button', { name: 'Clear selection' }).click();
            await becomes(() => page.locator('.timeline-range').count(), 0);
        });
    },
    async works_by_keyboard() {
        await withPage(server, `/recordings/${bag.id}`, {}, async (page) => {
            await ready(page);
            await head(page).focus();
            await page.keyboard.press('PageUp');
            await page.keyboard.press('PageUp');
            await eventually(async () => Math.abs((await at(page)) - seconds(bag) / 5) < 1e-3, 'two steps');
            await page.keyboard.press('End');
            await eventually(async () => Math.abs((await at(page)) - seconds(bag)) < 1e-6, 'the end');
            await page.keyboard.press(']');
            await page.keyboard.press('Home');
            await page.keyboard.press('[');
            await page.locator('.timeline-range').waitFor();
            await page.keyboard.press(' ');
            await page.getByRole('button', { name: 'Pause' }).waitFor();
            await page.keyboard.press(' ');
            await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
        });
    },
    async one_end_of_the_selection_can_be_dragged() {
        await withPage(server, `/recordings/${bag.id}`, {}, async (page) => {
            await ready(page);
            await drag(page, 0.5, 0.75);
            await page.locator('.timeline-range').waitFor();
            await drag(page, 0.75, 0.25); // across the fixed end
            const range = () => (new URL(page.url()).searchParams.get('range') ?? '~').split('~').map(Number);
            const near = (value, part) => Math.abs(value - seconds(bag) * part) < seconds(bag) / 50;
            await eventually(async () => near(range()[0], 0.25) && near(range()[1], 0.5), 'the range');
        });
    },
    async accepts_any_url() {
        const query =
            'panels=plot,messages&range=9~2&at=never&messages.topic=/no%20such%7Ctopic&plot.zoom=a~b&plot.fields=%7C';
        await withPage(server, `/recordings/${bag.id}?${query}`, {}, async (page) => {
            await page.getByText('No fields selected').waitFor(); // an empty list does not mean the default fields
            await becomes(() => page.locator('.timeline-range').count(), 0);
            await head(page).focus();
            await page.keyboard.press('End');
            await page.locator('.messages .tree').waitFor(); // an existing topic is shown instead
            await page.keyboard.press('Home');
            await page.getByRole('button', { name: 'Play', exact: true }).click(); // an inverted range would not play
            await eventually(async () => (await at(page)) > 0, 'playback');
        });
    },
    async the_last_field_can_be_removed() {
        const field = 'frame.frame.energy.kinetic';
        await withPage(server, `/recordings/${archive.id}?panels=plot&plot.fields=${field}`, {}, async (page) => {
            await page.getByRole('button', { name: 'Fields' }).click();
            await page.getByRole('dialog').getByRole('checkbox', { checked: true }).uncheck();
            await page.getByRole('button', { name: 'Done' }).click();
            await page.getByText('No fields selected').waitFor();
        });
    },
    async navigates_to_a_missing_recording_and_back() {
        await withPage(server, `/recordings/${bag.id}?panels=none`, { allow: [/404/] }, async (page) => {
            await ready(page);
            await page.evaluate((target) => {
                const link = document.createElement('a');
                link.href = target;
                document.body.append(link);
                link.click();
            }, '/recordings/00000000000000000000000000000000');
            await page.getByRole('heading', { name: 'Recording not found' }).waitFor();
            await page.goBack();
            await page.getByRole('link', { name: bag.collection }).click();
            await page.waitForURL(new RegExp(`q=collection%3A${bag.collection}`));
        });
    },
    async a_selection_to_the_end_includes_the_last_message() {
        await withPage(server, `/recordings/${bag.id}?panels=none`, {}, async (page) => {
            await ready(page);
            await head(page).focus();
            await page.keyboard.press('PageUp'); // away from the start
            await page.keyboard.press('['); // from here to the end
            await page.locator('.timeline-range').waitFor();
            await page.getByRole('button', { name: 'Export' }).click();
            const asked = page.waitForRequest(
                (r) => r.url().includes('/as/') && r.url().includes('report=') && r.url().includes('start='),
            );
            await page.getByLabel('Format').selectOption({
                label: await page.getByLabel('Format').locator('option', { hasText: 'NDJSON' }).textContent(),
            });
            const params = new URL((await asked).url()).searchParams;
            assert.ok(params.get('start') !== null && params.get('end') === null, String(params)); // `end` is exclusive
        });
    },
    async plays() {
        await withPage(server, `/recordings/${bag.id}`, {}, async (page) => {
            await ready(page);
            await page.getByLabel('Speed').selectOption('100');
            await page.getByRole('button', { name: 'Play', exact: true }).click();
            await eventually(async () => Math.abs((await at(page)) - seconds(bag)) < 1e-6, 'the end');
            await page.getByRole('button', { name: 'Play', exact: true }).waitFor(); // it stops by itself
        });
    },
    async steps_through_messages() {
        const topic = bag.topics.find((t) => t.messages > 3).name;
        const rows = (
            await (
                await fetch(
                    `${server.api}/recordings/${bag.id}/messages?topic=${encodeURIComponent(topic)}&limit=3&time_format=nanoseconds`,
                )
            ).text()
        )
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line));
        await withPage(
            server,
            `/recordings/${bag.id}?panels=messages&messages.topic=${encodeURIComponent(topic)}`,
            {},
            async (page) => {
                await ready(page);
                const shown = () => page.locator('.messages-head .mono').textContent();
                const start = BigInt(bag.start_ns);
                const words = (row) => {
                    const ns = BigInt(row.log_time) - start;
                    return `0:${String(ns / 1000000000n).padStart(2, '0')}.${String(ns % 1000000000n)
                        .padStart(9, '0')
                        .slice(0, 3)}`;
                };
                await head(page).focus();
                await page.keyboard.press('Home');
                await page.getByRole('button', { name: 'Next message' }).click();
                const first = BigInt(rows[0].log_time) > start ? 0 : 1;
                await eventually(async () => (await shown()) === words(rows[first]), words(rows[first]));
                await page.getByRole('button', { name: 'Next message' }).click();
                await eventually(async () => (await shown()) === words(rows[first + 1]), words(rows[first + 1]));
                await page.getByRole('button', { name: 'Previous message' }).click();
                await eventually(async () => (await shown()) === words(rows[first]), 'back again');
                await page.getByRole('button', { name: 'Hex' }).click();
                await becomes(() => page.locator('.messages-hex').textContent(), /^000000 {2}([0-9a-f]{2} )/);
            },
        );
    },
    async plots_the_values_of_the_api() {
        const field = 'frame.frame.energy.kinetic';
        const series = await server.json(
            `/recordings/${archive.id}/series?field=${field}&time_format=nanoseconds&max_points=5000`,
        );
        await withPage(server, `/recordings/${archive.id}?panels=plot&plot.fields=${field}`, {}, async (page) => {
            const over = page.locator('.plot-area .u-over');
            await over.waitFor();
            const box = await over.boundingBox();
            const values = page.locator('.plot-legend .plot-value');
            for (const part of [0.2, 0.5, 0.8]) {
                await page.mouse.move(box.x + box.width * part, box.y + box.height / 2);
                await eventually(async () => /\d/.test(await values.first().textContent()), 'a value');
                const shown = Number((await values.first().textContent()).replace(/[^0-9.eE+-]/g, ''));
                assert.ok(
                    series.some(([, value]) => Math.abs(value - shown) <= Math.abs(value) * 1e-3 + 1e-3),
                    `${shown} is not one of the ${series.length} values`,
                );
            }
            const before = page.url();
            await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
            await page.mouse.down();
            await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2);
            await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
            const asked = page.waitForRequest(
                (r) => r.url().includes('/series') && new URL(r.url()).searchParams.get('start') !== null,
            );
            await page.mouse.up();
            await asked; // zooming loads the range anew
            await page.waitForURL(/plot\.zoom=/);
            assert.notEqual(page.url(), before);
        });
    },
    async carla_scene_has_the_expected_actors() {
        const truth = JSON.parse(fs.readFileSync(sample('carla/truth.json')))['tkortz_2762.rec'];
        const [drive] = await server.upload([sample('carla/tkortz_2762.rec')]);
        await checkView(server, `/recordings/${drive.id}?at=8&panels=scene,log`, 'recording-carla', (page) =>
            page.locator('.scene-stats', { hasText: 'Actors' }).waitFor(),
        );
        await withPage(server, `/recordings/${drive.id}?at=8&panels=scene`, {}, async (page) => {
            const facts = page.locator('.scene-stats');
            await eventually(
                async () => (await facts.textContent()) === `Actors${truth.max_positions_in_a_frame}`,
                'the number of actors',
            );
            await becomes(
                () => page.getByLabel('Follow').locator('option').count(),
                truth.max_positions_in_a_frame + 1,
            );
        });
    },
    async nanover_scene_has_the_atoms_of_the_frame() {
        const { frame } = await server.json(`/recordings/${archive.id}/nanover/frame?at=-0.1s`);
        await withPage(server, `/recordings/${archive.id}?panels=scene`, {}, async (page) => {
            await ready(page);
            await head(page).focus();
            await page.keyboard.press('End');
            await eventually(
                async () =>
                    (await page.locator('.scene-stats').textContent()).startsWith(
                        `Atoms${frame['particle.positions'].length}`,
                    ),
                'the atoms',
            );
        });
    },
    async exports_what_the_api_returns() {
        await withPage(server, `/recordings/${bag.id}`, {}, async (page) => {
            await ready(page);
            await drag(page, 0.25, 0.75);
            await page.waitForURL(/range=/);
            await page.getByRole('button', { name: 'Export' }).click();
            await page.getByLabel('Format').selectOption('.mcap');
            const outcome = page.locator('.export-preview');
            await eventually(async () => /bytes\)/.test(await outcome.textContent()), 'the size');
            const size = Number(/\(([\d\u202f]+) bytes\)/.exec(await outcome.textContent())[1].replace(/\u202f/g, ''));
            const coming = page.waitForEvent('download');
            await page.getByRole('button', { name: 'Download' }).click();
            const download = await coming;
            const got = fs.readFileSync(await download.path());
            const same = Buffer.from(await (await fetch(download.url())).arrayBuffer());
            assert.equal(got.length, size);
            assert.ok(got.equals(same));
            assert.match(new URL(download.url()).search, /start=/);
        });
    },
    async formats_of_some_topics_ask_which() {
        const rear = cameraBag().filter(({ topic }) => topic === '/camera');
        const cameras = await uploadBag(server, 'cameras.bag', [
            ...cameraBag(),
            ...rear.map((one) => ({ ...one, topic: '/rear' })),
        ]);
        await withPage(server, `/recordings/${cameras.id}?range=0.7~1.9`, {}, async (page) => {
            await ready(page);
            await page.getByRole('button', { name: 'Export' }).click();
            const format = page.getByLabel('Format');
            const has = (name, text) => eventually(async () => (await format.textContent()).includes(text), name);
            const ticks = () =>
                page
                    .locator('.export-list label')
                    .evaluateAll((all) =>
                        all
                            .filter((one) => one.querySelector('input').checked)
                            .map((one) => one.textContent.split(' ')[0]),
                    );
            const download = page.getByRole('button', { name: 'Download' });
            await has('a video', '(.mp4) – of some topics');
            await has('a point cloud', '(.ply) – not possible');
            await format.selectOption('.ply');
            await page.getByText('no point clouds').first().waitFor(); // why
            assert.ok(await download.isDisabled());
            await format.selectOption('.images.zip');
            await becomes(() => ticks(), ['/camera', '/rear']);
            await format.selectOption('.mp4');
            await page.getByText('This format holds one topic: choose which.').waitFor();
            assert.ok(await download.isDisabled());
            await page.locator('.dialog').getByLabel('Topic', { exact: true }).selectOption('/rear');
            await becomes(() => ticks(), ['/rear']);
            await checkAxe(page, '.dialog');
            await format.selectOption('.mcap'); // holds all again
            await becomes(() => ticks(), ['/a_status', '/camera', '/rear']);
            await page.getByRole('checkbox', { name: /a_status/ }).uncheck();
            await format
                .locator('option[value=".images.zip"]', { hasText: /\.images\.zip\)$/ })
                .waitFor({ state: 'attached' });
            await page.getByRole('checkbox', { name: /rear/ }).uncheck();
            await format.selectOption('.mp4');
            await becomes(() => ticks(), ['/camera']);
            const coming = page.waitForEvent('download');
            await download.click();
            const file = await coming;
            assert.equal(file.suggestedFilename(), 'cameras_0.7-1.9s.mp4');
            assert.equal(fs.readFileSync(await file.path()).toString('latin1', 4, 8), 'ftyp');
        });
    },
    async exports_each_of_several_files() {
        const [traj, state] = ['one.traj', 'one.state'].map((name) => ({
            name,
            bytes: fs.readFileSync(sample('nanover_legacy/sim-switching.' + name.split('.')[1])),
        }));
        const { id } = await server.json(`/recordings/by-name/pair/${traj.name}`, { method: 'PUT', body: traj.bytes });
        await server.json(`/recordings/by-name/pair/${state.name}?part_of=${traj.name}`, {
            method: 'PUT',
            body: state.bytes,
        });
        await withPage(server, `/recordings/${id}`, {}, async (page) => {
            await ready(page);
            await page.getByRole('button', { name: 'Export' }).click();
            const second = page.getByLabel('File').locator('option').nth(1);
            const name = (await second.textContent()).split(' ')[0];
            await page.getByLabel('File').selectOption('1');
            const coming = page.waitForEvent('download');
            await page.getByRole('button', { name: 'Download' }).click();
            const got = fs.readFileSync(await (await coming).path());
            assert.ok(got.equals([traj, state].find((one) => one.name === name).bytes));
        });
    },
    async sets_the_clock() {
        const clock = async () => (await server.json(`/recordings/${archive.id}`)).clock;
        assert.equal(await clock(), 'relative');
        await withPage(server, `/recordings/${archive.id}`, {}, async (page) => {
            await ready(page);
            const select = page.getByLabel('Clock');
            await becomes(() => select.locator('option').first().textContent(), /From the file: relative time/);
            await select.selectOption('wall');
            await eventually(async () => (await clock()) === 'wall', 'dates');
            await eventually(async () => (await select.inputValue()) === 'wall', 'what is set');
            await select.selectOption('');
            await eventually(async () => (await clock()) === 'relative', 'what the file has');
            await eventually(async () => (await select.inputValue()) === '', 'what the file has');
        });
    },
    async shows_where_a_definition_comes_from() {
        const { id } = await server.json('/recordings/by-name/lab/points.mcap', { method: 'PUT', body: points() });
        const robot = await eventually(async () => {
            const recording = await server.json(`/recordings/${id}`);
            return recording.state === 'ready' ? recording : null;
        });
        assert.match(robot.topics[0].schema_source, /^built-in/);
        await withPage(server, `/recordings/${robot.id}?panels=topics`, {}, async (page) => {
            await page.getByText(`definition: ${robot.topics[0].schema_source}`).waitFor();
        });
    },
    async saves_annotations() {
        await withPage(server, `/recordings/${bag.id}`, { allow: [/412/] }, async (page) => {
            await ready(page);
            await page.getByPlaceholder('key:value').fill('robot=r7');
            await page.keyboard.press('Enter');
            await page.getByRole('link', { name: 'robot r7' }).waitFor();
            await page.getByRole('button', { name: 'Edit description' }).click();
            await page.getByLabel('Description').fill('the door is stuck');
            await server.json(`/recordings/${bag.id}`, {
                method: 'PATCH',
                body: '{"custom":{"by":"somebody else"}}',
                headers: { 'Content-Type': 'application/json' },
            });
            await page.locator('.details').getByRole('button', { name: 'Save' }).click();
            await eventually(async () => {
                const alert = page.getByText('Someone else edited this');
                return (await alert.count()) > 0 || (await server.json('/recordings/' + bag.id)).description !== '';
            }, 'a response');
            if ((await server.json('/recordings/' + bag.id)).description === '') {
                // the typed text is not lost
                await becomes(() => page.getByLabel('Description').inputValue(), 'the door is stuck');
                await page.locator('.details').getByRole('button', { name: 'Save' }).click();
            }
            await eventually(
                async () => (await server.json('/recordings/' + bag.id)).description === 'the door is stuck',
                'the description',
            );
            await page.getByLabel('New note').fill('seen again');
            await page.locator('.details-part', { hasText: 'Notes' }).getByRole('button', { name: 'Add' }).click();
            await page.getByText('seen again').waitFor();
            await page.getByLabel('Event title').fill('fall');
            await page.getByRole('button', { name: 'Add event' }).click();
            await page.locator('.timeline-event').waitFor({ state: 'attached' });
            const now = await server.json('/recordings/' + bag.id);
            assert.deepEqual([now.tags.robot, now.notes, now.events, now.custom.by], ['r7', 1, 1, 'somebody else']);
        });
    },
    async trash_and_undo() {
        await withPage(server, `/recordings/${bag.id}`, { allow: [/410/] }, async (page) => {
            await ready(page);
            await page.getByRole('button', { name: 'More actions' }).click();
            await page.getByRole('menuitem', { name: 'Move to trash' }).click();
            await page.getByRole('button', { name: 'Undo' }).waitFor();
            assert.equal((await server.json('/recordings/' + bag.id)).state, 'trashed');
            await page.getByRole('button', { name: 'Undo' }).click();
            await eventually(
                async () => (await server.json('/recordings/' + bag.id)).state === 'ready',
                'the recording',
            );
        });
    },
    async offers_the_configured_viewer() {
        const other = await Server.start('--viewer', 'https://viewer.example/');
        try {
            const [demo] = await other.uploadDemo();
            await withPage(
                other,
                `/recordings/${demo.id}?panels=none`,
                { permissions: ['clipboard-read', 'clipboard-write'] },
                async (page) => {
                    await page.getByRole('button', { name: 'More actions' }).click();
                    await page.getByRole('menuitem', { name: 'Copy viewer link' }).click();
                    await page.getByText('Copied').waitFor();
                    await becomes(
                        () => page.evaluate(() => navigator.clipboard.readText()),
                        /^https:\/\/viewer\.example\/\?ds=remote-file&ds\.url=/,
                    );
                },
            );
        } finally {
            await other.end();
        }
    },
    async offers_viewers_of_live_recordings_and_molecules() {
        const other = await Server.start(
            '--viewer',
            'https://viewer.example/',
            '--viewer-mol',
            'https://mol.example/v/',
        );
        const menu = async (page, item) => {
            await page.getByRole('button', { name: 'More actions' }).click();
            await page.getByRole('menuitem', { name: item }).click();
        };
        try {
            const made = await other.uploadDemo();
            const live = await other.json('/recordings?live=true&name=live&collection=lab', { method: 'POST' });
            await withPage(
                other,
                `/recordings/${live.id}?panels=none`,
                { permissions: ['clipboard-read', 'clipboard-write'] },
                async (page) => {
                    await menu(page, 'Copy viewer link');
                    await page.getByText('Copied').waitFor();
                    const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
                    assert.equal(link.searchParams.get('ds'), 'foxglove-websocket');
                    assert.match(
                        link.searchParams.get('ds.url'),
                        new RegExp(`^ws://.*/ws/recordings/${live.id}\\?follow=true`),
                    );
                },
            );
            const molecule = made.find((r) => r.format === 'nanover');
            await withPage(other, `/recordings/${molecule.id}?panels=none`, {}, async (page) => {
                await page.context().route('https://mol.example/**', (route) => route.fulfill({ body: 'Mol*' }));
                const opened = page.context().waitForEvent('page');
                await menu(page, 'Open in Mol*');
                const tab = await opened;
                await tab.waitForURL('https://mol.example/**');
                const link = new URL(tab.url());
                assert.match(link.searchParams.get('structure-url'), /\/as\/.*\.pdb/);
                assert.equal(link.searchParams.get('structure-url-format'), 'pdb');
            });
        } finally {
            await other.end();
        }
    },
    async reports_a_missing_recording() {
        await withPage(server, '/recordings/00000000000000000000000000000000', { allow: [/404/] }, async (page) => {
            await page.getByRole('heading', { name: 'Recording not found' }).waitFor();
            await page.getByRole('link', { name: 'Back to library' }).waitFor();
        });
    },
};
