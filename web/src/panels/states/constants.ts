// The names of a field's values: the constants beside it in a ROS message definition (uint8 RUNNING=2).

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

const last = (type: string): string => type.slice(type.lastIndexOf('/') + 1);

/** `path`: of a field within the message. Names by value; none where the definition has none. */
export function constantsOf(definition: string, path: string): Map<string, string> {
    const sections = definition.split(/^=+\s*$/m);
    const types = new Map(
        sections.slice(1).map((section): [string, Line[]] => {
            const [head = '', ...rest] = section.trim().split('\n');
            return [last(head.replace(/^MSG:\s*/, '').trim()), linesOf(rest.join('\n'))];
        }),
    );
    let lines: Line[] = linesOf(sections[0] ?? '');
    const steps = path.replace(/\[\d+\]/g, '').split('.');
    for (const [i, step] of steps.entries()) {
        const field = lines.find(({ name, value }) => name === step && value === null);
        if (!field) {
            break;
        }
        if (i === steps.length - 1) {
            return new Map(
                beside(lines, field)
                    .reverse() // of two names of a value the first is used
                    .map(({ name, value }) => [String(Number(value)), name]),
            );
        }
        lines = types.get(last(field.type)) ?? [];
    }
    return new Map();
}
