// The settings of the 3D panel as the URL holds them: short texts.
import { isMap } from './colour_maps';
import { DEFAULT_LOOK, type Look } from './points';

const encode = (name: string) => encodeURIComponent(name).replace(/%2F/g, '/');
const numberOf = (text: string | undefined): number | null => (text && Number.isFinite(Number(text)) ? Number(text) : null);

/** Topics that are hidden: /scan,/points */
export function hiddenOf(text: string | undefined): Set<string> {
    return new Set((text ?? '').split(',').filter(Boolean).map(decoded));
}
export const hiddenText = (hidden: Set<string>): string | null => [...hidden].map(encode).join(',') || null;

function decoded(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return text; // written by hand
    }
}

/** How points are drawn, where that is not the default: /points:intensity:viridis:0:100:3 */
export function looksOf(text: string | undefined): Map<string, Look> {
    const looks = new Map<string, Look>();
    for (const entry of (text ?? '').split(',').filter(Boolean)) {
        const [topic = '', field, map, low, high, size] = entry.split(':');
        looks.set(decoded(topic), {
            field: field === '*' || field === undefined ? null : decoded(field),
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
        const parts = [encode(topic), look.field === null ? '*' : encode(look.field), look.map, look.low ?? '', look.high ?? '', look.size];
        const plain = [encode(topic), '*', DEFAULT_LOOK.map, '', '', DEFAULT_LOOK.size].join(':');
        return parts.join(':') === plain ? [] : [parts.join(':')];
    });
    return entries.join(',') || null;
}
