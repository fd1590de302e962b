// nav_msgs/OccupancyGrid: a picture on the ground. Free cells are light, occupied ones dark, unknown ones transparent.
import * as THREE from 'three';
import { matrixOf, type Quaternion, type Vector } from './frames';
import { bytesOf } from './points';

export interface OccupancyGrid {
    info: { resolution: number; width: number; height: number; origin: { position: Vector; orientation: Quaternion } };
    data: { $base64: string } | number[];
}

const CELLS_MAX = 4_000_000; // more are thinned
const UNKNOWN_ALPHA = 50;
const KNOWN_ALPHA = 215;

export function map({ info, data }: OccupancyGrid): THREE.Object3D | null {
    const { width, height, resolution } = info;
    const cells = bytesOf(data); // -1 is 255
    if (!(width > 0 && height > 0 && resolution > 0) || cells.length < width * height) {
        return null;
    }
    const every = Math.ceil(Math.sqrt((width * height) / CELLS_MAX));
    const [columns, rows] = [Math.ceil(width / every), Math.ceil(height / every)];
    const pixels = new Uint8Array(columns * rows * 4);
    for (let i = 0; i < columns * rows; i++) {
        const cell = cells[Math.floor(i / columns) * every * width + (i % columns) * every]!;
        const known = cell <= 100;
        pixels.fill(known ? 235 - Math.round(cell * 2.1) : 128, i * 4, i * 4 + 3);
        pixels[i * 4 + 3] = known ? KNOWN_ALPHA : UNKNOWN_ALPHA;
    }
    const texture = new THREE.DataTexture(pixels, columns, rows);
    texture.colorSpace = THREE.SRGBColorSpace;
    texture.needsUpdate = true;
    const plane = new THREE.PlaneGeometry(columns * every * resolution, rows * every * resolution).translate(
        (columns * every * resolution) / 2,
        (rows * every * resolution) / 2,
        0,
    );
    const mesh = new THREE.Mesh(
        plane,
        new THREE.MeshBasicMaterial({
            map: texture,
            transparent: true,
            depthWrite: false,
            side: THREE.DoubleSide,
            polygonOffset: true,
            polygonOffsetFactor: 1,
            polygonOffsetUnits: 4,
        }),
    );
    mesh.renderOrder = -1; // below all that lies on it, as by the offset
    mesh.applyMatrix4(matrixOf(info.origin.position, info.origin.orientation));
    return mesh;
}
