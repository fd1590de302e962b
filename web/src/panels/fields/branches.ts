// Fields as a tree: '/odom.pose.position.x' is below '/odom', 'pose' and 'position'.
import type { FieldChoice } from '../plot/fields';

export interface Branch {
    key: string; // among its siblings
    label: string;
    path: string; // of the field, or what the paths below begin with
    field: FieldChoice | null; // a leaf
    below: Branch[];
}

/** The steps of a path within a message: pose.position.x, ranges[0]. */
const stepsOf = (path: string): string[] => path.split(/\.|(?=\[)/).filter(Boolean);

/** The fields of a topic, in their order. */
export function branchesOf(topic: string, fields: readonly FieldChoice[]): Branch {
    const root: Branch = { key: encodeURIComponent(topic), label: topic, path: topic, field: null, below: [] };
    for (const field of fields) {
        let at = root;
        for (const key of stepsOf(field.path.slice(topic.length))) {
            let next = at.below.find((one) => one.key === key);
            if (!next) {
                const path = key.startsWith('[') ? at.path + key : `${at.path}.${key}`;
                next = { key, label: key, path, field: null, below: [] };
                at.below.push(next);
            }
            at = next;
        }
        at.field = { ...field };
    }
    return root;
}

/** The numeric fields below a branch, itself included. */
export const numbersOf = (branch: Branch): string[] => [
    ...(branch.field?.numeric ? [branch.field.path] : []),
    ...branch.below.flatMap(numbersOf),
];

/** Where the branches of a tree are in it, as Tree names them. */
export const placesOf = (branch: Branch, above = ''): string[] =>
    branch.below.length > 0
        ? [`${above}/${branch.key}`, ...branch.below.flatMap((one) => placesOf(one, `${above}/${branch.key}`))]
        : [];
