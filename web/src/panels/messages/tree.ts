// A decoded value as tree nodes. Children are built when a node is expanded.
import { text } from '../../text';
import type { TreeNode } from '../../ui';

type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

function summary(value: Value): string {
    if (Array.isArray(value)) {
        const plain = value.length <= 4 && value.every((one) => typeof one === 'number');
        return plain ? `[${value.join(', ')}]` : text.messages.items(value.length);
    }
    if (value !== null && typeof value === 'object') {
        const keys = Object.keys(value);
        if (keys.length === 1 && keys[0] === '$base64') {
            return text.messages.bytes(Math.floor(((value.$base64 as string).length * 3) / 4));
        }
        return keys.length <= 4 && keys.every((k) => typeof value[k] === 'number') ? keys.map((k) => `${k} ${String(value[k])}`).join('  ') : '';
    }
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

export function nodesOf(value: Value): TreeNode[] {
    const entries: [string, Value][] = Array.isArray(value) ? value.map((one, i) => [String(i), one]) : value !== null && typeof value === 'object' ? Object.entries(value) : [['', value]];
    return entries.map(([key, one]) => ({
        key,
        label: key,
        value: summary(one),
        children: one !== null && typeof one === 'object' && Object.keys(one).length > 0 ? () => nodesOf(one) : undefined,
    }));
}
