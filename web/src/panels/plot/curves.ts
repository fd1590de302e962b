// The curves of a plot as its setting `fields` has them: FIELD;OPTION;OPTION|FIELD … A field is
// '/topic.path.to[0].number'.
import type { Topic } from '../../types';

/** Applied to the values in the order given. */
export type Step =
    | { kind: 'derivative' } // d
    | { kind: 'integral' } // i
    | { kind: 'average'; seconds: number } // ~0.5
    | { kind: 'scale'; by: number } // *57.3
    | { kind: 'add'; value: number } // +1, -1
    | { kind: 'with'; operation: Operation; field: string }; // @-/topic.field
/** With a second field: difference, sum, product, quotient; h: the root of the sum of the squares. */
export type Operation = '-' | '+' | '*' | '/' | 'h';
export const OPERATIONS: Operation[] = ['-', '+', '*', '/', 'h'];
export interface Curve {
    field: string;
    steps: Step[];
    colour: number | null; // c3: --c3; null: by its place in the list
    right: boolean; // r: drawn on the axis at the right
    hidden: boolean; // h
}

const escaped = (part: string): string =>
    part.replace(/[%|;]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
const unescaped = (part: string): string =>
    part.replace(/%(25|7C|3B)/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
export const COLOURS = 8;

function readOption(curve: Curve, option: string): void {
    const value = Number(option.slice(1) || NaN);
    if (option === 'd' || option === 'i') {
        curve.steps.push({ kind: option === 'd' ? 'derivative' : 'integral' });
    } else if (option === 'r') {
        curve.right = true;
    } else if (option === 'h') {
        curve.hidden = true;
    } else if (option[0] === '@') {
        const [operation, field] = [option[1] as Operation, option.slice(2)];
        void (OPERATIONS.includes(operation) && field && curve.steps.push({ kind: 'with', operation, field }));
    } else if (!Number.isFinite(value)) {
        return; // the URL may contain anything
    } else if (option[0] === 'c' && Number.isInteger(value) && value >= 1 && value <= COLOURS) {
        curve.colour = value;
    } else if (option[0] === '~' && value > 0) {
        curve.steps.push({ kind: 'average', seconds: value });
    } else if (option[0] === '*') {
        curve.steps.push({ kind: 'scale', by: value });
    } else if (option[0] === '+' || option[0] === '-') {
        curve.steps.push({ kind: 'add', value: option[0] === '-' ? -value : value });
    }
}

export const curveOf = (field: string): Curve => ({ field, steps: [], colour: null, right: false, hidden: false });

export function readCurves(setting: string): Curve[] {
    return setting
        .split('|')
        .filter(Boolean)
        .map((text) => {
            const [field = '', ...options] = text.split(';').map(unescaped);
            const curve = curveOf(field);
            options.forEach((option) => readOption(curve, option));
            return curve;
        })
        .filter((curve) => curve.field !== '');
}

export function stepText(step: Step): string {
    switch (step.kind) {
        case 'derivative':
            return 'd';
        case 'integral':
            return 'i';
        case 'average':
            return `~${step.seconds}`;
        case 'scale':
            return `*${step.by}`;
        case 'add':
            return step.value < 0 ? String(step.value) : `+${step.value}`;
        case 'with':
            return `@${step.operation}${step.field}`;
    }
}

/** The fields that a curve is made of. */
export const fieldsOfCurve = ({ field, steps }: Curve): string[] => [
    field,
    ...steps.flatMap((step) => (step.kind === 'with' ? [step.field] : [])),
];

const SIGNS: Record<Operation, string> = { '-': '−', '+': '+', '*': '×', '/': '÷', h: '' };

/** How a curve is called: the field, and what is done to it. */
export function curveName({ field, steps }: Curve): string {
    let [name, compound] = [field, false];
    for (const step of steps) {
        if (step.kind !== 'with') {
            name = `${compound ? `(${name})` : name} ${stepText(step)}`;
            compound = false;
        } else if (step.operation === 'h') {
            name = name.startsWith('norm(') && name.endsWith(')') ? name.slice(5, -1) : name;
            name = `norm(${name}, ${step.field})`;
        } else {
            name = `${compound ? `(${name})` : name} ${SIGNS[step.operation]} ${step.field}`;
            compound = true;
        }
    }
    return name;
}

/** No curve is '|' alone: without the setting the default fields are shown. */
export function writeCurves(curves: Curve[]): string {
    const text = ({ field, steps, colour, right, hidden }: Curve) =>
        [
            escaped(field),
            ...steps.map(stepText).map(escaped),
            colour === null ? '' : `c${colour}`,
            right ? 'r' : '',
            hidden ? 'h' : '',
        ]
            .filter(Boolean)
            .join(';');
    return curves.map(text).join('|') || '|';
}

/** The setting with more fields; none is added twice. */
export function withFields(setting: string | undefined, fields: string[]): string {
    const curves = readCurves(setting ?? '');
    const plain = new Set(curves.filter((c) => c.steps.length === 0).map((c) => c.field));
    return writeCurves([...curves, ...fields.filter((field) => !plain.has(field)).map(curveOf)]);
}

/** A field of a topic; the path is empty where a message is a number itself. */
export const fieldOf = (topic: Pick<Topic, 'name'>, path: string): string =>
    path === '' ? topic.name : `${topic.name}.${path}`;
/** The type of what is dragged onto a plot: fields, one in a line. */
export const DRAGGED_FIELD = 'application/x-reel-field';
const MAX_DROPPED = 32;

const DROP_CLASS = 'plot-drop';

/** What a panel that takes fields needs: `take` is called with those that are dropped onto it. */
export const dropTarget = (take: (fields: string[]) => void) => ({
    onDragOver: (event: DragEvent) => {
        if (event.dataTransfer?.types.includes(DRAGGED_FIELD)) {
            event.preventDefault();
            (event.currentTarget as Element).classList.add(DROP_CLASS);
        }
    },
    onDragLeave: (event: DragEvent) => (event.currentTarget as Element).classList.remove(DROP_CLASS),
    onDrop: (event: DragEvent) => {
        (event.currentTarget as Element).classList.remove(DROP_CLASS);
        const fields = event.dataTransfer?.getData(DRAGGED_FIELD).split('\n').filter(Boolean) ?? [];
        if (fields.length > 0) {
            event.preventDefault();
            take(fields.slice(0, MAX_DROPPED));
        }
    },
});
