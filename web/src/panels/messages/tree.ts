// A decoded value as tree nodes. Children are built when a node is expanded.
import { messagesText } from '../../text/panels';
import type { TreeNode } from '../../ui';

export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

const isBytes = (value: Value): value is { $base64: string } =>
    value !== null && typeof value === 'object' && '$base64' in value && Object.keys(value).length === 1;
export const bytesOf = (value: Value | undefined): Uint8Array | null =>
    value !== undefined && isBytes(value) ? Uint8Array.from(atob(value.$base64), (c) => c.charCodeAt(0)) : null;

export function summary(value: Value): string {
    if (Array.isArray(value)) {
        const plain = value.length <= 4 && value.every((one) => typeof one === 'number');
        return plain ? `[${value.join(', ')}]` : messagesText.items(value.length);
    }
    if (isBytes(value)) {
        return messagesText.bytes(Math.floor((value.$base64.length * 3) / 4));
    }
    if (value !== null && typeof value === 'object') {
        const keys = Object.keys(value);
        return keys.length <= 4 && keys.every((k) => typeof value[k] === 'number')
            ? keys.map((k) => `${k} ${String(value[k])}`).join('  ')
            : '';
    }
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** Numbers that JSON cannot hold are strings. */
export const isNumber = (value: Value): boolean =>
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    (typeof value === 'string' && /^(-?\d{16,20}|NaN|-?Infinity)$/.test(value));
export const isLeaf = (value: Value): boolean => value === null || typeof value !== 'object';

const entriesOf = (value: Value): [key: string, path: string, Value][] =>
    Array.isArray(value)
        ? value.map((one, i) => [String(i), `[${i}]`, one])
        : !isLeaf(value) && !isBytes(value)
          ? Object.entries(value as { [key: string]: Value }).map(([key, one]) => [key, `.${key}`, one])
          : [['', '', value]];
const inner = (path: string, step: string): string => (path === '' ? step.replace(/^\./, '') : path + step);

/** `more`: what a leaf offers, by its path as /series and `fields` take it: pose.position.x, ranges[0]. */
export function nodesOf(value: Value, more: (path: string, leaf: Value) => Partial<TreeNode>, path = ''): TreeNode[] {
    return entriesOf(value).map(([key, step, one]) => ({
        key,
        label: key,
        value: summary(one),
        children:
            !isLeaf(one) && !isBytes(one) && Object.keys(one as object).length > 0
                ? () => nodesOf(one, more, inner(path, step))
                : undefined,
        ...(isLeaf(one) ? more(inner(path, step), one) : {}),
    }));
}

const MAX_ITEMS = 64; // of each list
const MAX_LEAVES = 2000;

/** The paths of the leaves of a message, in order. */
export function leavesOf(value: Value, path = '', out: string[] = []): string[] {
    for (const [, step, one] of entriesOf(value).slice(0, Array.isArray(value) ? MAX_ITEMS : undefined)) {
        if (out.length >= MAX_LEAVES) {
            break;
        }
        if (isLeaf(one)) {
            out.push(inner(path, step));
        } else if (!isBytes(one)) {
            leavesOf(one, inner(path, step), out);
        }
    }
    return out;
}
