// Sets of points with fields, from point clouds and scans, and how they are coloured.
import * as THREE from 'three';
import { mapColour, type MapName } from '../colour_maps';

/** How the points of a topic are drawn. */
export interface Look {
    field: string | null; // null: the default; '' : the topic's colour
    map: MapName;
    low: number | null; // null: the least value
    high: number | null;
    size: number; // px
}
export const DEFAULT_LOOK: Look = { field: null, map: 'rainbow', low: null, high: null, size: 2 };
export const RGB = 'rgb'; // the field of packed colours

export interface PointSet {
    positions: Float32Array; // of those with finite coordinates
    fields: string[]; // numeric ones, and RGB
    preferred: string | null; // that is used if none was chosen
    value: (field: string, point: number) => number;
    rgb: ((point: number) => number) | null; // 0xrrggbb
}
/** What the panel tells about the points of a topic. */
export interface PointFacts {
    fields: string[];
    field: string | null; // that colours them
    range: [number, number] | null; // of its colours
}

const POINTS_MAX = 400_000; // more are thinned

// ---- sensor_msgs/PointCloud2

export interface Cloud2 {
    width: number;
    height: number;
    point_step: number;
    row_step?: number;
    is_bigendian: boolean;
    fields: { name: string; offset: number; datatype: number; count?: number }[];
    data: { $base64: string } | number[];
}
type Reader = (view: DataView, at: number, little: boolean) => number;
const READERS: Record<number, [size: number, read: Reader]> = {
    1: [1, (view, at) => view.getInt8(at)],
    2: [1, (view, at) => view.getUint8(at)],
    3: [2, (view, at, little) => view.getInt16(at, little)],
    4: [2, (view, at, little) => view.getUint16(at, little)],
    5: [4, (view, at, little) => view.getInt32(at, little)],
    6: [4, (view, at, little) => view.getUint32(at, little)],
    7: [4, (view, at, little) => view.getFloat32(at, little)],
    8: [8, (view, at, little) => view.getFloat64(at, little)],
};

export function bytesOf(data: { $base64: string } | number[]): Uint8Array {
    if (Array.isArray(data)) {
        return Uint8Array.from(data);
    }
    const text = atob(data.$base64);
    const out = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) {
        out[i] = text.charCodeAt(i);
    }
    return out;
}

/** The offsets of at most POINTS_MAX points; rows may be padded. */
function offsetsOf(data: Cloud2, length: number): Uint32Array {
    const { point_step: step } = data;
    const width = Math.max(1, data.width);
    const row = data.row_step && data.row_step >= width * step ? data.row_step : width * step;
    const rows = data.height > 1 ? Math.min(data.height, Math.ceil(length / row)) : 1;
    const columns = data.height > 1 ? width : Math.floor(length / step);
    const every = Math.max(1, Math.ceil((rows * columns) / POINTS_MAX));
    const out = new Uint32Array(Math.ceil((rows * columns) / every));
    let n = 0;
    for (let i = 0; i < rows * columns; i += every) {
        const at = Math.floor(i / columns) * row + (i % columns) * step;
        if (at + step <= length) {
            out[n++] = at;
        }
    }
    return out.subarray(0, n);
}

export function pointsOfCloud2(data: Cloud2): PointSet | null {
    const bytes = bytesOf(data.data);
    const view = new DataView(bytes.buffer);
    const little = !data.is_bigendian;
    const known = data.fields.filter(
        (f) => READERS[f.datatype] && f.offset >= 0 && f.offset + READERS[f.datatype]![0] <= data.point_step,
    );
    const readerOf = (name: string) => {
        const field = known.find((f) => f.name === name);
        return field && ((at: number) => READERS[field.datatype]![1](view, at + field.offset, little));
    };
    const [x, y, z] = [readerOf('x'), readerOf('y'), readerOf('z')];
    if (!x || !y || !(data.point_step > 0)) {
        return null;
    }
    const offsets = offsetsOf(data, bytes.length);
    const positions = new Float32Array(offsets.length * 3);
    let n = 0;
    for (const at of offsets) {
        const [px, py, pz] = [x(at), y(at), z ? z(at) : 0];
        if (Number.isFinite(px) && Number.isFinite(py) && Number.isFinite(pz)) {
            positions.set([px, py, pz], n * 3);
            offsets[n++] = at; // n is never ahead of the loop
        }
    }
    const packed = known.find((f) => (f.name === 'rgb' || f.name === 'rgba') && READERS[f.datatype]![0] === 4);
    const readers = new Map(known.map((f) => [f.name, readerOf(f.name)!]));
    const names = known.map((f) => f.name).filter((name) => name !== packed?.name);
    return {
        positions: positions.subarray(0, n * 3),
        fields: [...names, ...(packed ? [RGB] : [])],
        preferred: packed ? RGB : (names.find((name) => /^intensit(y|ies)$/i.test(name)) ?? null),
        value: (field, point) => readers.get(field)?.(offsets[point]!) ?? NaN,
        rgb: packed ? (point) => view.getUint32(offsets[point]! + packed.offset, little) & 0xffffff : null,
    };
}

// ---- others

/** Points and columns of values, one for each point. */
export function pointsOf(positions: number[], columns: Record<string, ArrayLike<number>>): PointSet {
    const count = positions.length / 3;
    const axis: Record<string, number> = { x: 0, y: 1, z: 2 };
    return {
        positions: new Float32Array(positions),
        fields: ['x', 'y', 'z', ...Object.keys(columns).filter((name) => columns[name]!.length === count)],
        preferred: null,
        value: (field, point) =>
            field in axis ? positions[point * 3 + axis[field]!]! : (columns[field]?.[point] ?? NaN),
        rgb: null,
    };
}

/** Packed colours are a number of three bytes. */
export const pointValue = (set: PointSet, field: string, point: number): number =>
    field === RGB && set.rgb ? set.rgb(point) : set.value(field, point);

// ---- drawing

const STEPS = 256;
const tables = new Map<MapName, Float32Array>();

/** The colours of a map, three numbers each, in three.js's working space. */
function tableOf(name: MapName): Float32Array {
    let table = tables.get(name);
    if (!table) {
        table = new Float32Array(STEPS * 3);
        for (let i = 0; i < STEPS; i++) {
            const [r, g, b] = mapColour(name, i / (STEPS - 1));
            new THREE.Color().setRGB(r / 255, g / 255, b / 255, THREE.SRGBColorSpace).toArray(table, i * 3);
        }
        tables.set(name, table);
    }
    return table;
}

function rangeOf(set: PointSet, field: string, look: Look, count: number): [number, number] {
    let [low, high] = [Infinity, -Infinity];
    if (look.low === null || look.high === null) {
        for (let i = 0; i < count; i++) {
            const value = set.value(field, i);
            if (Number.isFinite(value)) {
                low = Math.min(low, value);
                high = Math.max(high, value);
            }
        }
    }
    return [look.low ?? (low > high ? 0 : low), look.high ?? (low > high ? 1 : high)];
}

function coloursOf(
    set: PointSet,
    field: string,
    look: Look,
    count: number,
): { colours: Float32Array; range: [number, number] | null } {
    const colours = new Float32Array(count * 3);
    if (field === RGB && set.rgb) {
        const colour = new THREE.Color();
        for (let i = 0; i < count; i++) {
            colour.setHex(set.rgb(i)).toArray(colours, i * 3);
        }
        return { colours, range: null };
    }
    const [low, high] = rangeOf(set, field, look, count);
    const table = tableOf(look.map);
    const scale = high > low ? (STEPS - 1) / (high - low) : 0;
    for (let i = 0; i < count; i++) {
        const step = Math.round((set.value(field, i) - low) * scale);
        const at = Math.min(Math.max(step || 0, 0), STEPS - 1) * 3; // not a number: the least
        colours[i * 3] = table[at]!;
        colours[i * 3 + 1] = table[at + 1]!;
        colours[i * 3 + 2] = table[at + 2]!;
    }
    return { colours, range: [low, high] };
}

export function drawPoints(
    set: PointSet,
    colour: THREE.Color,
    look: Look,
): { object: THREE.Points; facts: PointFacts } {
    const geometry = new THREE.BufferGeometry().setAttribute('position', new THREE.BufferAttribute(set.positions, 3));
    const wanted =
        look.field === null || (look.field !== '' && !set.fields.includes(look.field)) ? set.preferred : look.field;
    const field = wanted || null;
    const coloured = field ? coloursOf(set, field, look, set.positions.length / 3) : null;
    if (coloured) {
        geometry.setAttribute('color', new THREE.BufferAttribute(coloured.colours, 3));
    }
    const object = new THREE.Points(
        geometry,
        new THREE.PointsMaterial({
            color: coloured ? 0xffffff : colour,
            vertexColors: coloured !== null,
            size: look.size,
            sizeAttenuation: false,
        }),
    );
    object.frustumCulled = false;
    return { object, facts: { fields: set.fields, field, range: coloured?.range ?? null } };
}
