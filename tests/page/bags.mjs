// ROS bags (1.2, without an index) written for the tests of the panels, without any code of the project.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const STAMP = '='.repeat(80) + '\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n';
const POINT = '='.repeat(80) + '\nMSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z\n';
const VECTOR = '='.repeat(80) + '\nMSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n';
const QUATERNION = '='.repeat(80) + '\nMSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n';
export const TYPES = {
    // [md5, definition]
    'lab_msgs/Unknown': ['f'.repeat(32), ''],
    'std_msgs/String': ['992ce8a1687cec8c8bd883ec73ca41d1', 'string data\n'],
    'std_msgs/Float64': ['fdb28210bfa9d7c91146260178d9a584', 'float64 data\n'],
    'sensor_msgs/Image': [
        '060021388200f6f0f447d0fcd9c64743',
        `Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\nuint8[] data\n${STAMP}`,
    ],
    'roslib/Log': [
        'acffd30cd6b6de30f120938c17c593fb',
        `Header header\nbyte level\nstring name\nstring msg\nstring file\nstring function\nuint32 line\nstring[] topics\n${STAMP}`,
    ],
    'geometry_msgs/PoseStamped': [
        'd3812c3cbc69362b77dc0b19b345f8f5',
        `Header header\nPose pose\n${STAMP}${'='.repeat(80)}\nMSG: geometry_msgs/Pose\nPoint position\nQuaternion orientation\n${POINT}${QUATERNION}`,
    ],
    'sensor_msgs/PointCloud2': [
        '1158d486dd51d683ce2f1be655c3c181',
        `Header header\nuint32 height\nuint32 width\nPointField[] fields\nbool is_bigendian\nuint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n${STAMP}${'='.repeat(80)}\nMSG: sensor_msgs/PointField\nstring name\nuint32 offset\nuint8 datatype\nuint32 count\n`,
    ],
    'nav_msgs/OccupancyGrid': [
        '3381f2d731d4076ec5c71b0759edbe4e',
        `Header header\nMapMetaData info\nint8[] data\n${STAMP}${'='.repeat(80)}\nMSG: nav_msgs/MapMetaData\ntime map_load_time\nfloat32 resolution\nuint32 width\nuint32 height\ngeometry_msgs/Pose origin\n${'='.repeat(80)}\nMSG: geometry_msgs/Pose\nPoint position\nQuaternion orientation\n${POINT}${QUATERNION}`,
    ],
    'visualization_msgs/Marker': [
        '4048c9de2a16f4ae8e0538085ebf1b97',
        `Header header\nstring ns\nint32 id\nint32 type\nint32 action\ngeometry_msgs/Pose pose\ngeometry_msgs/Vector3 scale\nstd_msgs/ColorRGBA color\nduration lifetime\nbool frame_locked\ngeometry_msgs/Point[] points\nstd_msgs/ColorRGBA[] colors\nstring text\nstring mesh_resource\nbool mesh_use_embedded_materials\n${STAMP}${'='.repeat(80)}\nMSG: geometry_msgs/Pose\nPoint position\nQuaternion orientation\n${POINT}${QUATERNION}${VECTOR}${'='.repeat(80)}\nMSG: std_msgs/ColorRGBA\nfloat32 r\nfloat32 g\nfloat32 b\nfloat32 a\n`,
    ],
    'sensor_msgs/NavSatFix': [
        '2d3a8cd499b9b4a0249fb98fd05cfa48',
        `Header header\nNavSatStatus status\nfloat64 latitude\nfloat64 longitude\nfloat64 altitude\nfloat64[9] position_covariance\nuint8 position_covariance_type\n${STAMP}${'='.repeat(80)}\nMSG: sensor_msgs/NavSatStatus\nint8 status\nuint16 service\n`,
    ],
    'tf/tfMessage': [
        '94810edda583a504dfda3829e70d7eec',
        `geometry_msgs/TransformStamped[] transforms\n${'='.repeat(80)}\nMSG: geometry_msgs/TransformStamped\nHeader header\nstring child_frame_id\nTransform transform\n${STAMP}${'='.repeat(80)}\nMSG: geometry_msgs/Transform\nVector3 translation\nQuaternion rotation\n${VECTOR}${QUATERNION}`,
    ],
};

export const u32 = (value) => {
    const out = Buffer.alloc(4);
    out.writeUInt32LE(value);
    return out;
};
export const f64 = (...values) =>
    Buffer.concat(
        values.map((value) => {
            const out = Buffer.alloc(8);
            out.writeDoubleLE(value);
            return out;
        }),
    );
const f32 = (...values) => Buffer.from(new Float32Array(values).buffer);
export const text = (value) => Buffer.concat([u32(Buffer.byteLength(value)), Buffer.from(value)]);
export const header = (frame) => Buffer.concat([u32(0), u32(0), u32(0), text(frame)]);

export const string = (data) => text(data);
export const float64 = (data) => f64(data);
export const log = (level, name, message) =>
    Buffer.concat([
        header(''),
        Buffer.from([level]),
        text(name),
        text(message),
        text('file.cpp'),
        text('run'),
        u32(1),
        u32(0),
    ]);
export const pose = (frame, x, y) => Buffer.concat([header(frame), f64(x, y, 0, 0, 0, 0, 1)]);
export const transform = (parent, child, x, y) =>
    Buffer.concat([u32(1), header(parent), text(child), f64(x, y, 0, 0, 0, 0, 1)]);
/** Points of x, y, z as float32 and level as uint16, each given as [x, y, z, level]. */
export function cloud(frame, points) {
    const fields = [
        ['x', 0, 7],
        ['y', 4, 7],
        ['z', 8, 7],
        ['level', 12, 4],
    ].map(([name, offset, type]) => Buffer.concat([text(name), u32(offset), Buffer.from([type]), u32(1)]));
    const data = points.map(([x, y, z, level]) =>
        Buffer.concat([f32(x, y, z), Buffer.from([level & 255, level >> 8])]),
    );
    return Buffer.concat([
        header(frame),
        u32(1),
        u32(points.length),
        u32(fields.length),
        ...fields,
        Buffer.from([0]),
        u32(14),
        u32(14 * points.length),
        u32(14 * points.length),
        ...data,
        Buffer.from([1]),
    ]);
}
/** A map of cells of 1 m around the origin: 0 free to 100 occupied, 255 unknown. */
export const grid = (frame, width, height, cells) =>
    Buffer.concat([
        header(frame),
        u32(0),
        u32(0),
        f32(1),
        u32(width),
        u32(height),
        f64(-width / 2, -height / 2, 0, 0, 0, 0, 1),
        u32(cells.length),
        Buffer.from(cells),
    ]);
/** A cube of 1 m; action 2 deletes it. */
export const marker = (frame, id, action, x, y, [r, g, b], seconds = 0) =>
    Buffer.concat([
        header(frame),
        text('test'),
        u32(id),
        u32(1),
        u32(action),
        f64(x, y, 0.5, 0, 0, 0, 1),
        f64(1, 1, 1),
        f32(r, g, b, 1),
        u32(seconds),
        u32(0),
        Buffer.from([0]),
        u32(0),
        u32(0),
        text(''),
        text(''),
        Buffer.from([0]),
    ]);
export const fix = (latitude, longitude) =>
    Buffer.concat([
        header('gps'),
        Buffer.from([0, 1, 0]),
        f64(latitude, longitude, 12),
        f64(0, 0, 0, 0, 0, 0, 0, 0, 0),
        Buffer.from([0]),
    ]);
/** A grey picture with a white frame at its edges, `edge` pixels wide. */
export function image(width, height, edge) {
    const pixels = Buffer.alloc(width * height, 40);
    for (let y = 0; y < height; y++) {
        for (let x = 0; x < width; x++) {
            if (x < edge || y < edge || x >= width - edge || y >= height - edge) {
                pixels[y * width + x] = 255;
            }
        }
    }
    return Buffer.concat([
        header('camera'),
        u32(height),
        u32(width),
        text('mono8'),
        Buffer.from([0]),
        u32(width),
        u32(pixels.length),
        pixels,
    ]);
}

const field = (name, value) => {
    const both = Buffer.concat([Buffer.from(name + '='), Buffer.from(value)]);
    return Buffer.concat([u32(both.length), both]);
};
const record = (fields, data = Buffer.alloc(0)) => {
    const head = Buffer.concat(Object.entries(fields).map(([name, value]) => field(name, value)));
    return Buffer.concat([u32(head.length), head, u32(data.length), data]);
};

/**
 * Writes a bag of `messages`, each {at (seconds), topic, type, data}, and returns its path in a new folder, which the
 * caller removes with cleanUp.
 */
export function writeBag(name, messages) {
    const known = new Set();
    const out = [Buffer.from('#ROSRECORD V1.2\n')];
    for (const { at, topic, type, data } of messages) {
        const [md5, definition] = TYPES[type];
        if (!known.has(topic)) {
            known.add(topic);
            out.push(record({ def: definition, md5, op: [1], topic, type }));
        }
        const sec = Math.floor(at);
        out.push(
            record(
                { md5, nsec: u32(Math.round((at - sec) * 1e9)), op: [2], sec: u32(1275520355 + sec), topic, type },
                data,
            ),
        );
    }
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'reel-bag-')), name);
    fs.writeFileSync(file, Buffer.concat(out));
    return file;
}
export const removeBag = (file) => fs.rmSync(path.dirname(file), { recursive: true, force: true });

/** Uploads a bag of `messages` and returns its recording. */
export async function uploadBag(server, name, messages) {
    const file = writeBag(name, messages);
    try {
        return (await server.upload([file], 'bags'))[0];
    } finally {
        removeBag(file);
    }
}

export const every = (seconds, step, one) =>
    Array.from({ length: Math.round(seconds / step) }, (_, i) => one(i * step, i));
export const inOrder = (messages) => messages.sort((a, b) => a.at - b.at);

/** A camera of 4:3 that starts after half a second, and a topic that is there from the start. */
export const cameraBag = () =>
    inOrder([
        ...every(3, 0.1, (at, i) => ({ at, topic: '/a_status', type: 'std_msgs/String', data: string(`status ${i}`) })),
        ...every(2, 0.25, (at) => ({
            at: at + 0.5,
            topic: '/camera',
            type: 'sensor_msgs/Image',
            data: image(640, 480, 16),
        })),
    ]);

/** A lidar, a map, markers and a robot that turns. */
export const sceneBag = () =>
    inOrder([
        {
            at: 0,
            topic: '/map',
            type: 'nav_msgs/OccupancyGrid',
            data: grid(
                'map',
                20,
                20,
                Array.from({ length: 400 }, (_, i) => (i % 20 < 2 ? 100 : i % 20 > 15 ? 255 : 0)),
            ),
        },
        ...every(4, 0.5, (at) => ({
            at,
            topic: '/tf',
            type: 'tf/tfMessage',
            data: transform('map', 'base_link', at, 0),
        })),
        ...every(4, 0.5, (at) => ({
            at: at + 0.01,
            topic: '/lidar',
            type: 'sensor_msgs/PointCloud2',
            data: cloud(
                'base_link',
                Array.from({ length: 400 }, (_, i) => [3 * Math.cos(i / 20), 3 * Math.sin(i / 20), i / 200, i]),
            ),
        })),
        { at: 0.1, topic: '/boxes', type: 'visualization_msgs/Marker', data: marker('map', 1, 0, -4, -4, [1, 0, 0]) },
        {
            at: 0.2,
            topic: '/boxes',
            type: 'visualization_msgs/Marker',
            data: marker('map', 2, 0, -4, 4, [0, 0.6, 0], 1),
        }, // for a second
        { at: 3, topic: '/boxes', type: 'visualization_msgs/Marker', data: marker('map', 1, 2, 0, 0, [1, 0, 0]) },
    ]);
/** A car with GPS that drives an L: 200 m to the east, then 100 m to the north. */
export const gpsBag = () =>
    every(30, 0.5, (at) => ({
        at,
        topic: '/fix',
        type: 'sensor_msgs/NavSatFix',
        data: fix(
            52.52 + (Math.max(0, at - 20) * 10) / 111320,
            13.405 + (Math.min(at, 20) * 10) / (111320 * Math.cos((52.52 * Math.PI) / 180)),
        ),
    }));

export const LONG_LINE =
    'The planner could not find a path to the goal: ' +
    'the corridor is blocked by an obstacle, '.repeat(12) +
    'and that is the end of the line.';
/** A robot that drives 200 m straight ahead in 10 s; its log holds a line that no panel can show in one row. */
export const driveBag = () =>
    inOrder([
        ...every(10, 0.1, (at) => ({
            at,
            topic: '/tf',
            type: 'tf/tfMessage',
            data: transform('map', 'base_link', at * 20, 0),
        })),
        ...every(10, 0.1, (at) => ({
            at: at + 0.001,
            topic: '/pose',
            type: 'geometry_msgs/PoseStamped',
            data: pose('base_link', 0, 0),
        })),
        ...every(10, 0.5, (at) => ({
            at: at + 0.002,
            topic: '/speed',
            type: 'std_msgs/Float64',
            data: float64(20 + at),
        })),
        ...every(10, 1, (at, i) => ({
            at: at + 0.003,
            topic: '/rosout',
            type: 'roslib/Log',
            data: log([1, 2, 4, 8, 16][i % 5], '/planner', i === 4 ? LONG_LINE : `line ${i}`),
        })),
    ]);

/** A sensor with 100 values a second for 10 s: its number is its value. */
export const fastBag = () =>
    every(10, 0.01, (at, i) => ({ at, topic: '/fast', type: 'std_msgs/Float64', data: float64(i) }));
