// The names of a field's values: the constants beside it in a ROS message definition (uint8 RUNNING=2).

const INTEGER = /^(u?int\d+|byte|char)$/; // only their values are compared exactly

interface Line {
    type: string;
    name: string;
    value: string | null; // of a constant
}

function linesOf(section: string): Line[] {
    return section.split('\n').flatMap((text) => {
        const found = /^\s*([\w/]+)(?:\[[^\]]*\]|<=\d+)*\s+(\w+)\s*(?:=\s*(-?\w+))?/.exec(text.replace(/#.*/, ''));
        return found ? [{ type: found[1]!, name: found[2]!, value: found[3] ?? null }] : [];
    });
}

/** All constants of its type, if it is the only field of that type; else those right before it. */
function beside(lines: Line[], field: Line): Line[] {
    const alike = lines.filter(({ type }) => type === field.type);
    if (alike.filter(({ value }) => value === null).length === 1) {
        return alike.filter(({ value }) => value !== null);
    }
    const at = lines.indexOf(field);
    const before = lines.slice(0, at);
    const last = before.map(({ value }) => value === null).lastIndexOf(true);
    return before.slice(last + 1).filter(({ type }) => type === field.type);
}

const full = (type: string): string => type.replace('/msg/', '/');
const last = (type: string): string => type.slice(type.lastIndexOf('/') + 1);
const packageOf = (type: string): string => type.slice(0, type.indexOf('/') + 1);

/**
 * `type`: of the message; `path`: of a field within it. Names by value; none where the definition has none, or the field
 * is no integer.
 */
export function constantsOf(definition: string, type: string, path: string): Map<string, string> {
    const sections = definition.split(/^=+\s*$/m);
    const types = new Map(
        sections.slice(1).map((section): [string, Line[]] => {
            const [head = '', ...rest] = section.trim().split('\n');
            return [full(head.replace(/^MSG:\s*/, '').trim()), linesOf(rest.join('\n'))];
        }),
    );
    /** A name without a package is of the same package; Header of std_msgs. */
    const find = (name: string, within: string): string | undefined =>
        [name, packageOf(within) + name].find((one) => types.has(one)) ??
        [...types.keys()].find((one) => !name.includes('/') && last(one) === name);
    let lines: Line[] = linesOf(sections[0] ?? '');
    let within = full(type);
    const steps = path.replace(/\[\d+\]/g, '').split('.');
    for (const [i, step] of steps.entries()) {
        const field = lines.find(({ name, value }) => name === step && value === null);
        if (!field || (i === steps.length - 1 && !INTEGER.test(field.type))) {
            break;
        }
        if (i === steps.length - 1) {
            return new Map(
                beside(lines, field)
                    .reverse() // of two names of a value the first is used
                    .map(({ name, value }) => [String(Number(value)), name]),
            );
        }
        within = find(full(field.type), within) ?? '';
        lines = types.get(within) ?? [];
    }
    return new Map();
}
