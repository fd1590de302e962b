// How the points of topics are drawn, as the URL holds it.
import { isMap } from '../colour_maps';
import { decodeName, encodeName } from '../hidden';
import { DEFAULT_LOOK, type Look } from './points';

const numberOf = (text: string | undefined): number | null =>
    text && Number.isFinite(Number(text)) ? Number(text) : null;

/** How points are drawn, where that is not the default: /points:intensity:viridis:0:100:3 */
export function looksOf(text: string | undefined): Map<string, Look> {
    const looks = new Map<string, Look>();
    for (const entry of (text ?? '').split(',').filter(Boolean)) {
        const [topic = '', field, map, low, high, size] = entry.split(':');
        looks.set(decodeName(topic), {
            field: field === '*' || field === undefined ? null : decodeName(field),
            map: isMap(map) ? map : DEFAULT_LOOK.map,
            low: numberOf(low),
            high: numberOf(high),
            size: Math.min(Math.max(numberOf(size) ?? DEFAULT_LOOK.size, 1), 20),
        });
    }
    return looks;
}
export function looksText(looks: Map<string, Look>): string | null {
    const entries = [...looks].flatMap(([topic, look]) => {
        const parts = [
            encodeName(topic),
            look.field === null ? '*' : encodeName(look.field),
            look.map,
            look.low ?? '',
            look.high ?? '',
            look.size,
        ];
        const plain = [encodeName(topic), '*', DEFAULT_LOOK.map, '', '', DEFAULT_LOOK.size].join(':');
        return parts.join(':') === plain ? [] : [parts.join(':')];
    });
    return entries.join(',') || null;
}
