// The first values of a message, by their paths, as the scene shows them of what is clicked at.
export const VALUES_MAX = 10;
const DEPTH_MAX = 6;
const TEXT_MAX = 40;

export const numberText = (value: number): string =>
    Number.isFinite(value) ? String(Number(value.toPrecision(6))) : String(value);

/** Lists, bytes and stamps are left out: what is drawn is seen. */
export function valuesOf(message: unknown): [path: string, value: string][] {
    const values: [string, string][] = [];
    const walk = (value: unknown, path: string, depth: number) => {
        if (
            values.length >= VALUES_MAX ||
            depth > DEPTH_MAX ||
            value === null ||
            value === undefined ||
            value === '' ||
            Array.isArray(value)
        ) {
            return;
        }
        if (typeof value === 'object') {
            for (const [name, part] of Object.entries(value as object)) {
                void (
                    /^(\$|stamp$|seq$|covariance$)/.test(name) || walk(part, path ? `${path}.${name}` : name, depth + 1)
                );
            }
        } else {
            const text = typeof value === 'number' ? numberText(value) : String(value);
            values.push([path, text.length > TEXT_MAX ? text.slice(0, TEXT_MAX) + '…' : text]);
        }
    };
    walk(message, '', 0);
    return values;
}
