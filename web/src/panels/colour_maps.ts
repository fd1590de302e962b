// Colour maps for values. Each is given by some colours at equal distances; between them it is interpolated.

const STOPS = {
    // visible on light and on dark
    rainbow: ['#4662d7', '#36aaf9', '#1ae4b6', '#72fe5e', '#c7ef34', '#faba39', '#f66b19', '#cb2a04'],
    viridis: [
        '#440154',
        '#482878',
        '#3e4a89',
        '#31688e',
        '#26828e',
        '#1f9e89',
        '#35b779',
        '#6dcd59',
        '#b4de2c',
        '#fde725',
    ],
    grey: ['#202020', '#f0f0f0'],
    coolwarm: ['#3b4cc0', '#8db0fe', '#dddddd', '#f49a7b', '#b40426'],
} as const;
export type MapName = keyof typeof STOPS;
export const MAP_NAMES = Object.keys(STOPS) as MapName[];
export const isMap = (name: string | undefined): name is MapName => name !== undefined && Object.hasOwn(STOPS, name);

/** `part`: from 0 to 1. Returns red, green and blue from 0 to 255. */
export function mapColour(name: MapName, part: number): [number, number, number] {
    const stops = STOPS[name];
    const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    const mix = (shift: number) => {
        const [a, b] = [stops[low]!, stops[low + 1]!].map((stop) => (parseInt(stop.slice(1), 16) >> shift) & 255) as [
            number,
            number,
        ];
        return Math.round(a + (b - a) * (at - low));
    };
    return [mix(16), mix(8), mix(0)];
}

export const gradientOf = (name: MapName): string => `linear-gradient(to right, ${STOPS[name].join(', ')})`;
