// Colour maps for values of points. Each is given by some colours at equal distances; between them it is interpolated.
import * as THREE from 'three';

const STOPS = {
    turbo: ['#30123b', '#4662d7', '#36aaf9', '#1ae4b6', '#72fe5e', '#c7ef34', '#faba39', '#f66b19', '#cb2a04', '#7a0403'],
    viridis: ['#440154', '#482878', '#3e4a89', '#31688e', '#26828e', '#1f9e89', '#35b779', '#6dcd59', '#b4de2c', '#fde725'],
    grey: ['#202020', '#f0f0f0'],
    coolwarm: ['#3b4cc0', '#8db0fe', '#dddddd', '#f49a7b', '#b40426'],
} as const;
export type MapName = keyof typeof STOPS;
export const MAP_NAMES = Object.keys(STOPS) as MapName[];
export const isMap = (name: string | undefined): name is MapName => name !== undefined && name in STOPS;

const SIZE = 256;
const tables = new Map<MapName, Float32Array>();

/** 256 colours, three numbers each, in three.js's working space. */
export function tableOf(name: MapName): Float32Array {
    let table = tables.get(name);
    if (!table) {
        table = new Float32Array(SIZE * 3);
        const stops = STOPS[name].map((stop) => new THREE.Color(stop));
        for (let i = 0; i < SIZE; i++) {
            const at = (i / (SIZE - 1)) * (stops.length - 1);
            const low = Math.min(Math.floor(at), stops.length - 2);
            new THREE.Color().lerpColors(stops[low]!, stops[low + 1]!, at - low).toArray(table, i * 3);
        }
        tables.set(name, table);
    }
    return table;
}

export const gradientOf = (name: MapName): string => `linear-gradient(to right, ${STOPS[name].join(', ')})`;
