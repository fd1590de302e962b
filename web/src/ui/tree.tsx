// A tree of values that opens step by step (WAI-ARIA tree: arrows, Home, End). Its one rule: only what is open is drawn, and of long lists
// only a part.
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { text } from '../text';
import { Icon } from './basic';

export interface TreeNode {
    key: string; // among its siblings
    label: ComponentChildren;
    value?: ComponentChildren;
    children?: () => TreeNode[]; // asked for when it is opened
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
    const is = node.children ? open.has(here) : undefined;
    const children = is ? node.children!() : [];
    return (
        <li role="treeitem" aria-expanded={is} aria-level={level} tabIndex={-1} data-path={here}>
            <div class="tree-line" onClick={() => node.children && toggle(here)}>
                <span class="tree-mark">{node.children && <Icon name={is ? 'down' : 'right'} size={12} />}</span>
                <span class="tree-label">{node.label}</span>
                {node.value !== undefined && <span class="tree-value">{node.value}</span>}
            </div>
            {is && (
                <ul role="group">
                    {children.slice(0, shown).map((child) => (
                        <Branch key={child.key} node={child} level={level + 1} path={here} open={open} toggle={toggle} />
                    ))}
                    {children.length > shown && (
                        <li role="none">
                            <button type="button" class="button quiet" onClick={() => setShown(shown + STEP * 5)}>
                                {text.moreOf(children.length - shown)}
                            </button>
                        </li>
                    )}
                </ul>
            )}
        </li>
    );
}

/** `open`: paths that are open, as '/key/key'; kept by whoever draws the tree when given, so that the next message opens alike. */
export function Tree({ label, nodes, open, onOpen }: { label: string; nodes: TreeNode[]; open?: Set<string>; onOpen?: (open: Set<string>) => void }) {
    const [own, setOwn] = useState(new Set<string>());
    const root = useRef<HTMLUListElement>(null);
    const now = open ?? own;
    const toggle = (path: string, to = !now.has(path)) => {
        const next = new Set(now);
        next[to ? 'add' : 'delete'](path);
        (onOpen ?? setOwn)(next);
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
            opened === 'true' ? toggle(path, false) : item?.parentElement?.closest<HTMLElement>('[role=treeitem]')?.focus();
        } else if ((event.key === 'Enter' || event.key === ' ') && opened && event.target === item) {
            toggle(path);
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
