// Where the panels are: boxes computed from the tree and the size of the area. A row that is too narrow for its panels
// becomes a column.
import { type Side, type Split, type Tree, withShares } from './tree';

export interface Box {
    x: number;
    y: number;
    width: number;
    height: number;
}
export interface Separator {
    key: string;
    path: number[]; // of the split
    index: number; // of the part before it
    kind: Split['kind'];
    sizes: number[]; // of all parts of the split, in px
    least: [number, number]; // px of the parts before and after it
    box: Box;
}

export const GAP = 8; // px between panels
const NARROWEST = 280; // px: the least width of a panel
const LOWEST = 120; // px: the least height that a panel can be given
const HEIGHT = 160; // px: of a panel below which the view scrolls
const STACKED = 340; // px: of a panel in a row that became a column

/** `total` divided by the shares, no part less than its least size. */
function divide(shares: number[], total: number, least: number[]): number[] {
    const sizes = [...least];
    let parts = shares.map((_, i) => i);
    let rest = Math.max(
        total,
        least.reduce((sum, one) => sum + one, 0),
    );
    for (;;) {
        const sum = parts.reduce((all, i) => all + shares[i]!, 0);
        const small = parts.filter((i) => (shares[i]! / sum) * rest < least[i]!);
        if (small.length === 0) {
            parts.forEach((i) => (sizes[i] = (shares[i]! / sum) * rest));
            return sizes;
        }
        rest -= small.reduce((all, i) => all + least[i]!, 0);
        parts = parts.filter((i) => !small.includes(i));
    }
}

const between = (split: Split) => GAP * (split.parts.length - 1);
const fits = (split: Split, width: number) =>
    split.kind === 'row' && width - between(split) >= NARROWEST * split.parts.length;
const widths = (split: Split, width: number) =>
    divide(
        split.shares,
        width - between(split),
        split.parts.map(() => NARROWEST),
    );

/** The least height of the area in which each panel can be used. */
export function leastHeight(tree: Tree, width: number, leaf = width < 2 * NARROWEST ? STACKED : HEIGHT): number {
    if (typeof tree === 'string') {
        return leaf;
    }
    if (fits(tree, width)) {
        const each = widths(tree, width);
        return Math.max(...tree.parts.map((part, i) => leastHeight(part, each[i]!, leaf)));
    }
    return tree.parts.reduce(
        (sum, part) => sum + leastHeight(part, width, tree.kind === 'row' ? STACKED : leaf),
        between(tree),
    );
}

export interface Places {
    boxes: Map<string, Box>;
    separators: Separator[];
}

function placeColumn(tree: Split, area: Box, path: number[], out: Places): void {
    const stacked = tree.kind === 'row';
    const lowest = tree.parts.map((part) => leastHeight(part, area.width, LOWEST));
    const wanted = stacked ? tree.parts.map((part) => leastHeight(part, area.width, STACKED)) : tree.shares;
    const heights = divide(wanted, area.height - between(tree), lowest);
    let y = area.y;
    tree.parts.forEach((part, i) => {
        place(part, { ...area, y, height: heights[i]! }, [...path, i], out);
        y += heights[i]!;
        if (!stacked && i + 1 < tree.parts.length) {
            out.separators.push({
                key: [...path, i].join(),
                path,
                index: i,
                kind: 'column',
                sizes: heights,
                least: [lowest[i]!, lowest[i + 1]!],
                box: { ...area, y, height: GAP },
            });
        }
        y += GAP;
    });
}

function place(tree: Tree, area: Box, path: number[], out: Places): void {
    if (typeof tree === 'string') {
        out.boxes.set(tree, area);
    } else if (!fits(tree, area.width)) {
        placeColumn(tree, area, path, out);
    } else {
        const each = widths(tree, area.width);
        let x = area.x;
        tree.parts.forEach((part, i) => {
            place(part, { ...area, x, width: each[i]! }, [...path, i], out);
            x += each[i]!;
            if (i + 1 < tree.parts.length) {
                out.separators.push({
                    key: [...path, i].join(),
                    path,
                    index: i,
                    kind: 'row',
                    sizes: each,
                    least: [NARROWEST, NARROWEST],
                    box: { ...area, x, width: GAP },
                });
            }
            x += GAP;
        });
    }
}

export function placesOf(tree: Tree | null, width: number, height: number): Places {
    const out: Places = { boxes: new Map(), separators: [] };
    if (tree !== null) {
        place(tree, { x: 0, y: 0, width, height }, [], out);
    }
    return out;
}

/** The tree after a separator was moved to `before` px after the start of its first part. */
export function moveSeparator(tree: Tree, { path, index, sizes, least }: Separator, before: number): Tree {
    const both = sizes[index]! + sizes[index + 1]!;
    const first = Math.max(least[0], Math.min(before, both - least[1]));
    const all = sizes.reduce((sum, size) => sum + size, 0);
    return withShares(
        tree,
        path,
        sizes.map((size, i) => (i === index ? first : i === index + 1 ? both - first : size) / all),
    );
}

export interface Drop {
    at: string | null; // a panel; null: the whole area
    side: Side | 'centre';
    box: Box; // that it would get
}

const EDGE = 14; // px along the edges of the area: beside all panels
const CENTRE = 0.28; // of a panel, from its edges: to change places

function half({ x, y, width, height }: Box, side: Side | 'centre'): Box {
    const [w, h] = [
        side === 'left' || side === 'right' ? width / 2 : width,
        side === 'top' || side === 'bottom' ? height / 2 : height,
    ];
    return { x: side === 'right' ? x + w : x, y: side === 'bottom' ? y + h : y, width: w, height: h };
}

function nearestSide(left: number, top: number, right: number, bottom: number): [number, Side] {
    const all: [number, Side][] = [
        [left, 'left'],
        [top, 'top'],
        [right, 'right'],
        [bottom, 'bottom'],
    ];
    return all.reduce((best, one) => (one[0] < best[0] ? one : best));
}

/** Where a panel that is dragged to (x, y) would go. */
export function dropAt(x: number, y: number, { boxes }: Places, area: Box, dragged: string): Drop | null {
    const [distance, edge] = nearestSide(x, y, area.width - x, area.height - y);
    if (distance < EDGE && distance > -EDGE && boxes.size > 1) {
        return { at: null, side: edge, box: half(area, edge) };
    }
    for (const [id, box] of boxes) {
        const [left, top] = [(x - box.x) / box.width, (y - box.y) / box.height];
        if (left >= 0 && left < 1 && top >= 0 && top < 1 && id !== dragged) {
            const [part, nearest] = nearestSide(left, top, 1 - left, 1 - top);
            const side = part > CENTRE ? 'centre' : nearest;
            return { at: id, side, box: half(box, side) };
        }
    }
    return null;
}

/** The panel next to another one in a direction, of several the one with the longest common edge. */
export function neighbourOf(id: string, side: Side, boxes: Map<string, Box>): string | null {
    const own = boxes.get(id)!;
    const across = side === 'left' || side === 'right';
    const [at, size, along, length] = across
        ? (['x', 'width', 'y', 'height'] as const)
        : (['y', 'height', 'x', 'width'] as const);
    let best: [number, string] | null = null;
    for (const [other, box] of boxes) {
        const apart = side === 'left' || side === 'top' ? own[at] - box[at] - box[size] : box[at] - own[at] - own[size];
        const common = Math.min(own[along] + own[length], box[along] + box[length]) - Math.max(own[along], box[along]);
        if (other !== id && Math.abs(apart - GAP) < 1 && common > 0 && (best === null || common > best[0])) {
            best = [common, other];
        }
    }
    return best?.[1] ?? null;
}
