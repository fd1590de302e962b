// CARLA logs written for the tests of the page, without any code of the project.
const number = (bytes, value) => {
    const out = Buffer.alloc(bytes);
    out.writeUIntLE(value, 0, bytes);
    return out;
};
const real = (value) => {
    const out = Buffer.alloc(8);
    out.writeDoubleLE(value);
    return out;
};
const vector = (x, y, z) => Buffer.from(new Float32Array([x, y, z]).buffer);
const string = (text) => Buffer.concat([number(2, text.length), Buffer.from(text)]);
const packet = (id, ...data) => {
    const body = Buffer.concat(data);
    return Buffer.concat([number(1, id), number(4, body.length), body]);
};
const list = (id, ...records) => packet(id, number(2, records.length), ...records);

const eight = (value) => Buffer.concat([number(4, value), number(4, 0)]);
/** `attributes`: texts by name. */
const added = ({ id, type = 1, name, attributes = {} }) =>
    Buffer.concat([
        number(4, id),
        number(1, type),
        vector(0, 0, 0),
        vector(0, 0, 0),
        number(4, id),
        string(name),
        number(2, Object.keys(attributes).length),
        ...Object.entries(attributes).map(([key, value]) => Buffer.concat([number(1, 3), string(key), string(value)])),
    ]);
const position = ({ id, at: [x, y, z] }) =>
    Buffer.concat([number(4, id), vector(100 * x, -100 * y, 100 * z), vector(0, 0, 0)]);

/**
 * A log of `count` frames, `step` seconds apart. `actors`: {id, name, attributes, at: (seconds) => [x, y, z]}, in metres
 * and right-handed, as the page shows them; they look along x. `padding`: bytes of a packet that is not known.
 */
export function carlaDrive({ count, step, actors, padding = 0 }) {
    const frames = Array.from({ length: count }, (_, k) => [
        packet(0, eight(k + 1), real(k < count - 1 ? step : -1), real(k * step)),
        list(2, ...(k === 0 ? actors.map(added) : [])),
        list(3),
        list(4),
        list(5),
        list(6, ...actors.map(({ id, at }) => position({ id, at: at(k * step) }))),
        list(7),
        ...(padding > 0 ? [packet(200, Buffer.alloc(padding))] : []),
        packet(1),
    ]);
    return Buffer.concat([
        number(2, 1),
        string('CARLA_RECORDER'),
        eight(1600000000),
        string('Town05'),
        ...frames.flat(),
    ]);
}
