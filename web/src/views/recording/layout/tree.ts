// The arrangement of the panels: a tree of splits with panels' ids as leaves, and its short form in the URL.
// 'r600-400.scene.c500-500.plot.plot2': a row of 60 and 40 percent, at the right a column of two plots. 'scene,plot':
// arranged by default.

export interface Split {
    kind: 'row' | 'column';
    shares: number[]; // of the parts; their sum is 1
    parts: Tree[];
}
export type Tree = string | Split;
export type Side = 'left' | 'right' | 'top' | 'bottom';

const PANELS_MAX = 24; // in a URL; each one loads its data
const DEPTH_MAX = 12;

const isLeaf = (tree: Tree): tree is string => typeof tree === 'string';
export const idsOf = (tree: Tree | null): string[] =>
    tree === null ? [] : isLeaf(tree) ? [tree] : tree.parts.flatMap(idsOf);
/** 'plot' of 'plot2'. */
export const kindOf = (id: string): string => id.replace(/\d+$/, '');
export const numberOf = (id: string): number => Number(/\d+$/.exec(id)?.[0] ?? 1);

/** A free id for a panel of this kind: 'plot', else 'plot2' … */
export function freeId(kind: string, taken: string[]): string {
    for (let number = 1; ; number++) {
        const id = number === 1 ? kind : kind + number;
        if (!taken.includes(id)) {
            return id;
        }
    }
}

/** A split without parts that are none, single or of its own kind. */
function splitOf(kind: Split['kind'], shares: number[], parts: (Tree | null)[]): Tree | null {
    const flat: [number, Tree][] = parts.flatMap((part, i): [number, Tree][] =>
        part === null
            ? []
            : !isLeaf(part) && part.kind === kind
              ? part.parts.map((inner, k): [number, Tree] => [shares[i]! * part.shares[k]!, inner])
              : [[shares[i]!, part]],
    );
    const sum = flat.reduce((all, [share]) => all + share, 0);
    return flat.length < 2
        ? (flat[0]?.[1] ?? null)
        : { kind, shares: flat.map(([share]) => share / sum), parts: flat.map(([, part]) => part) };
}

/** The tree with each panel replaced. */
function mapPanels(tree: Tree, replace: (id: string) => Tree | null): Tree | null {
    return isLeaf(tree)
        ? replace(tree)
        : splitOf(
              tree.kind,
              tree.shares,
              tree.parts.map((part) => mapPanels(part, replace)),
          );
}

export const keepPanels = (tree: Tree | null, keep: (id: string) => boolean): Tree | null =>
    tree && mapPanels(tree, (id) => (keep(id) ? id : null));
export const renamePanel = (tree: Tree, from: string, to: string): Tree =>
    mapPanels(tree, (id) => (id === from ? to : id))!;

function beside(tree: Tree, side: Side, added: Tree): Tree {
    const kind = side === 'left' || side === 'right' ? 'row' : 'column';
    return splitOf(kind, [1, 1], side === 'left' || side === 'top' ? [added, tree] : [tree, added])!;
}

/** The tree with a panel at a side of another one, or of the whole tree. */
export function addPanel(tree: Tree | null, added: Tree, side: Side, at: string | null = null): Tree {
    return tree === null
        ? added
        : at === null
          ? beside(tree, side, added)
          : mapPanels(tree, (id) => (id === at ? beside(id, side, added) : id))!;
}

/** `side` 'centre': the two panels change places. */
export function movePanel(tree: Tree, id: string, side: Side | 'centre', at: string | null): Tree {
    if (id === at) {
        return tree;
    }
    if (side === 'centre') {
        return mapPanels(tree, (one) => (one === id ? at : one === at ? id : one))!;
    }
    return addPanel(
        keepPanels(tree, (one) => one !== id),
        id,
        side,
        at,
    );
}

/** `path`: the indexes of the parts that lead to a split. */
export function withShares(tree: Tree, path: number[], shares: number[]): Tree {
    if (isLeaf(tree)) {
        return tree;
    }
    const [first, ...rest] = path;
    return first === undefined
        ? { ...tree, shares }
        : { ...tree, parts: tree.parts.map((part, i) => (i === first ? withShares(part, rest, shares) : part)) };
}

const even = (kind: Split['kind'], parts: (Tree | null)[]): Tree | null =>
    splitOf(
        kind,
        parts.map(() => 1),
        parts,
    );

/** One below the other. */
export const stacked = (trees: Tree[]): Tree | null => even('column', trees);

/** One beside the other; of three, the first is large; of more, two in a row. */
export function arranged(ids: string[]): Tree | null {
    if (ids.length < 4) {
        return even('row', [ids[0] ?? null, even('column', ids.slice(1))]);
    }
    return even(
        'column',
        Array.from({ length: Math.ceil(ids.length / 2) }, (_, i) => even('row', ids.slice(2 * i, 2 * i + 2))),
    );
}

export function writeTree(tree: Tree | null): string {
    const write = (one: Tree): string[] =>
        isLeaf(one)
            ? [one]
            : [
                  one.kind[0] + one.shares.map((share) => Math.max(1, Math.round(share * 1000))).join('-'),
                  ...one.parts.flatMap(write),
              ];
    return tree === null ? 'none' : write(tree).join('.');
}

/** Null: no panels. Undefined: not the text of a tree. A panel that comes twice is left out the second time. */
export function readTree(text: string): Tree | null | undefined {
    const seen = new Set<string>();
    const once = (id: string) =>
        !/^[a-z]+\d{0,3}$/.test(id) || seen.has(id) || seen.size >= PANELS_MAX ? null : (seen.add(id), id);
    if (text === '' || text === 'none') {
        return null;
    }
    const words = text.split('.');
    if (text.includes(',') || words.length === 1) {
        return arranged(text.split(',').flatMap((id) => once(id) ?? []));
    }
    let at = 0;
    let complete = words.length < 4 * PANELS_MAX;
    const read = (depth: number): Tree | null => {
        const word = words[at++];
        const split = /^([rc])(\d{1,4}(?:-\d{1,4})+)$/.exec(word ?? '');
        if (word === undefined || depth > DEPTH_MAX) {
            complete = false;
            return null;
        }
        if (!split) {
            return once(word);
        }
        const shares = split[2]!.split('-').map((share) => Math.max(1, Number(share)));
        return splitOf(
            split[1] === 'r' ? 'row' : 'column',
            shares,
            shares.map(() => (complete ? read(depth + 1) : null)),
        );
    };
    const tree = read(0);
    return complete && at === words.length ? tree : undefined;
}
