// Which panels are shown, where, and their settings: from the URL, else as last used for recordings with the same
// types of topics (localStorage), else the best fitting ones. No recording opens without panels.
import { address, ROOT, setQuery } from '../../address';
import { panels, type Panel } from '../../panels';
import type { Recording, Topic } from '../../types';
import { arranged, freeId, idsOf, keepPanels, kindOf, readTree, writeTree, type Tree } from './layout/tree';

const DEFAULT_LEAST = 2;
const DEFAULT_MOST = 3; // a robot: its camera, the 3D view, a plot
const USEFUL = 2; // of fits()
/** By the types of the topics: recordings of one format may have nothing in common. */
const key = ({ topics = [] }: Recording) => `reel.panels.${[...new Set(topics.map(({ type }) => type))].sort().join()}`;

/** A place without a panel yet; it offers all panels. */
export const CHOOSER = 'new';

export const panelOf = (id: string): Panel | undefined => panels.find((panel) => panel.name === kindOf(id));

export function availablePanels(recording: Recording, topics: Topic[]): Panel[] {
    return panels.filter((panel) => panel.fits(recording, topics) > 0);
}

export function defaultLayout(recording: Recording, topics: Topic[]): Tree | null {
    const fitting = availablePanels(recording, topics);
    const order = [...fitting].sort((a, b) => b.fits(recording, topics) - a.fits(recording, topics));
    const useful = order.filter((panel) => panel.fits(recording, topics) >= USEFUL).length;
    const shown = order.slice(0, Math.min(Math.max(useful, DEFAULT_LEAST), DEFAULT_MOST));
    return arranged(shown.map((panel) => panel.name));
}

/**
 * `panels` in the URL; panels that do not fit the recording they show (their setting `of`) are left out. Null if the user
 * has closed all: none that fits is the default.
 */
export function shownLayout(
    recordings: { recording: Recording; topics: Topic[] }[],
    query: URLSearchParams,
): Tree | null {
    const { recording, topics } = recordings[0]!;
    const stored = readTree(query.get('panels') ?? localStorage.getItem(key(recording)) ?? '.');
    const fits = (id: string) => {
        const shown = recordings[Number(query.get(`${id}.of`) ?? 1) - 1];
        return (
            shown !== undefined &&
            (kindOf(id) === CHOOSER || (panelOf(id)?.fits(shown.recording, shown.topics) ?? 0) > 0)
        );
    };
    return stored === null ? null : (keepPanels(stored ?? null, fits) ?? defaultLayout(recording, topics));
}

/** Parameters such as plot.fields=… for the settings of a panel. */
function settingsQuery(id: string, changes: Record<string, string | null>): Record<string, string | null> {
    return Object.fromEntries(Object.entries(changes).map(([name, value]) => [`${id}.${name}`, value]));
}

interface Change {
    settings?: Record<string, Record<string, string | null>>; // by panel
    undo?: boolean; // the browser's Back undoes it
    remember?: boolean; // for other recordings with these types of topics
}

/**
 * Shows the panels of the tree. The settings of those that are gone are removed, so that a new panel of that name has
 * none.
 */
export function setLayout(
    recording: Recording,
    tree: Tree | null,
    { settings = {}, undo = false, remember = true }: Change = {},
): void {
    const shown = idsOf(tree);
    const { query: now } = address.get();
    const query: Record<string, string | null> = { panels: writeTree(tree) };
    for (const name of now.keys()) {
        const id = /^([a-z]+\d*)\./.exec(name)?.[1];
        if (id && panelOf(id) && !shown.includes(id)) {
            query[name] = null;
        }
    }
    if (!shown.includes(now.get('max') ?? '')) {
        query.max = null;
    }
    Object.entries(settings).forEach(([id, changes]) => Object.assign(query, settingsQuery(id, changes)));
    const lasting = keepPanels(tree, (id) => kindOf(id) !== CHOOSER);
    if (remember && lasting && !now.has('with')) {
        localStorage.setItem(key(recording), writeTree(lasting));
    }
    setQuery(query, !undo);
}

export const forgetLayout = (recording: Recording): void => localStorage.removeItem(key(recording));

/** plot.fields=… in the URL is the setting `fields` of the panel plot. */
export function settingsOf(id: string, query: URLSearchParams): Record<string, string> {
    const settings: Record<string, string> = {};
    query.forEach((value, name) => {
        if (name.startsWith(id + '.')) {
            settings[name.slice(id.length + 1)] = value;
        }
    });
    return settings;
}
export function setSettings(id: string, changes: Record<string, string | null>): void {
    if (ROOT + address.get().path === location.pathname) {
        setQuery(settingsQuery(id, changes), true);
    }
}

const OVER_TIME = ['plot', 'states']; // panels/linked.ts
/** The settings a panel is added with: one over time shows what those that are linked show. `of`: its recording. */
export function firstSettings(kind: string, tree: Tree | null, of: string | null = null): Record<string, string> {
    const { query } = address.get();
    const others = OVER_TIME.includes(kind) ? idsOf(tree).filter((id) => OVER_TIME.includes(kindOf(id))) : [];
    const linked = others.map((id) => settingsOf(id, query)).find((one) => one.link !== '0' && (one.of ?? null) === of);
    return linked?.zoom ? { zoom: linked.zoom } : {};
}

export const nextId = (kind: string, tree: Tree | null): string => freeId(kind, idsOf(tree));
/** One more panel of each kind. */
export const nextIds = (kinds: string[], taken: string[]): string[] =>
    kinds.reduce<string[]>((added, id) => [...added, freeId(kindOf(id), [...taken, ...added])], []);
