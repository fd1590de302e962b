// The bar between two parts of the layout: drags, or arrow keys, resize them; a double click makes all parts of the
// split equal.
import { useRef } from 'preact/hooks';
import { layoutText } from '../../../text/layout';
import { moveSeparator, type Separator } from './places';
import { withShares, type Tree } from './tree';

const STEP_PX = 24; // of an arrow key

export function SeparatorBar({
    separator,
    tree,
    label,
    onDraft,
    onDone,
}: {
    separator: Separator;
    tree: Tree;
    label: string;
    onDraft: (tree: Tree | null) => void;
    onDone: (tree: Tree) => void;
}) {
    const { kind, box, sizes, index, least } = separator;
    const held = useRef<{ from: number; tree: Tree; separator: Separator; now: Tree } | null>(null);
    const [size, both] = [sizes[index]!, sizes[index]! + sizes[index + 1]!];
    const place = (event: PointerEvent) => (kind === 'row' ? event.clientX : event.clientY);
    const down = (event: PointerEvent) => {
        if (event.button === 0) {
            held.current = { from: place(event) - size, tree, separator, now: tree };
            (event.currentTarget as Element).setPointerCapture(event.pointerId);
        }
    };
    const move = (event: PointerEvent) => {
        if (held.current) {
            held.current.now = moveSeparator(
                held.current.tree,
                held.current.separator,
                place(event) - held.current.from,
            );
            onDraft(held.current.now);
        }
    };
    const end = (keep: boolean) => {
        if (held.current && keep) {
            onDone(held.current.now);
        }
        held.current = null;
        onDraft(null);
    };
    const key = (event: KeyboardEvent) => {
        const [less, more] = kind === 'row' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
        const to = { [less!]: size - STEP_PX, [more!]: size + STEP_PX, Home: 0, End: both }[event.key];
        if (to !== undefined) {
            onDone(moveSeparator(tree, separator, to));
            event.preventDefault();
        } else if (event.key === 'Escape') {
            end(false);
        }
    };
    const percent = (px: number) => Math.round((px / both) * 100);
    return (
        <div
            class={`layout-separator layout-${kind}`}
            role="separator"
            tabIndex={0}
            title={layoutText.resizeHelp}
            aria-label={label}
            aria-orientation={kind === 'row' ? 'vertical' : 'horizontal'}
            aria-valuenow={percent(size)}
            aria-valuemin={percent(least[0])}
            aria-valuemax={percent(both - least[1])}
            style={{ left: `${box.x}px`, top: `${box.y}px`, width: `${box.width}px`, height: `${box.height}px` }}
            onPointerDown={down}
            onPointerMove={move}
            onPointerUp={() => end(true)}
            onPointerCancel={() => end(false)}
            onDblClick={() =>
                onDone(
                    withShares(
                        tree,
                        separator.path,
                        sizes.map(() => 1 / sizes.length),
                    ),
                )
            }
            onKeyDown={key}
        />
    );
}
