// A tree of values (WAI-ARIA tree; keys: arrows, Home, End; Enter expands a node, or does the first action of a leaf).
// Only expanded nodes are rendered, and long lists in steps.
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { text } from '../text/common';
import { Icon } from './basic';

export interface TreeNode {
    key: string; // among its siblings
    label: ComponentChildren;
    value?: ComponentChildren;
    children?: () => TreeNode[]; // called when the node is expanded
    actions?: ComponentChildren; // buttons, shown under the pointer and where the focus is
    drag?: (data: DataTransfer) => void; // the line can be dragged; sets what is dropped
}

const STEP = 200;

function Branch({
    node,
    level,
    path,
    open,
    toggle,
}: {
    node: TreeNode;
    level: number;
    path: string;
    open: Set<string>;
    toggle: (path: string, to?: boolean) => void;
}) {
    const [shown, setShown] = useState(STEP);
    const here = `${path}/${node.key}`;
    const expanded = node.children ? open.has(here) : undefined;
    const children = expanded ? node.children!() : [];
    return (
        <li role="treeitem" aria-expanded={expanded} aria-level={level} tabIndex={-1} data-path={here}>
            <div
                class="tree-line"
                onClick={() => node.children && toggle(here)}
                draggable={node.drag !== undefined}
                onDragStart={(event) => node.drag?.(event.dataTransfer!)}
            >
                <span class="tree-mark">{node.children && <Icon name={expanded ? 'down' : 'right'} size={12} />}</span>
                <span class="tree-label">{node.label}</span>
                {node.value !== undefined && <span class="tree-value">{node.value}</span>}
                {node.actions && <span class="tree-actions">{node.actions}</span>}
            </div>
            {expanded && (
                <ul role="group">
                    {children.slice(0, shown).map((child) => (
                        <Branch
                            key={child.key}
                            node={child}
                            level={level + 1}
                            path={here}
                            open={open}
                            toggle={toggle}
                        />
                    ))}
                    {children.length > shown && (
                        <li role="none">
                            <button type="button" class="button quiet" onClick={() => setShown(shown + STEP * 5)}>
                                {text.moreItems(children.length - shown)}
                            </button>
                        </li>
                    )}
                </ul>
            )}
        </li>
    );
}

/** `open`: the expanded paths, as '/key/key'. Optional: a caller that holds them keeps them for the next message. */
export function Tree({
    label,
    nodes,
    open,
    onOpen,
}: {
    label: string;
    nodes: TreeNode[];
    open?: Set<string>;
    onOpen?: (open: Set<string>) => void;
}) {
    const [local, setLocal] = useState(new Set<string>());
    const root = useRef<HTMLUListElement>(null);
    const now = open ?? local;
    const toggle = (path: string, to = !now.has(path)) => {
        const next = new Set(now);
        next[to ? 'add' : 'delete'](path);
        (onOpen ?? setLocal)(next);
    };
    const move = (event: KeyboardEvent) => {
        const all = [...root.current!.querySelectorAll<HTMLElement>('[role=treeitem]')];
        const item = (event.target as HTMLElement).closest<HTMLElement>('[role=treeitem]');
        const at = item ? all.indexOf(item) : -1;
        const path = item?.dataset.path ?? '';
        const opened = item?.getAttribute('aria-expanded');
        const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
        if (to !== undefined) {
            all[Math.max(0, Math.min(to, all.length - 1))]?.focus();
        } else if (event.key === 'ArrowRight' && opened) {
            opened === 'false' ? toggle(path, true) : all[at + 1]?.focus();
        } else if (event.key === 'ArrowLeft') {
            opened === 'true'
                ? toggle(path, false)
                : item?.parentElement?.closest<HTMLElement>('[role=treeitem]')?.focus();
        } else if ((event.key === 'Enter' || event.key === ' ') && event.target === item) {
            opened ? toggle(path) : item?.querySelector<HTMLElement>('.tree-actions button')?.click();
        } else {
            return;
        }
        event.preventDefault();
    };
    return (
        <ul class="tree" role="tree" aria-label={label} ref={root} tabIndex={0} onKeyDown={move}>
            {nodes.map((node) => (
                <Branch key={node.key} node={node} level={1} path="" open={now} toggle={toggle} />
            ))}
        </ul>
    );
}
