// Which panels are shown, and their settings: from the URL, else as last used for this format (localStorage), else the best fitting ones.
import { address, ROOT, setQuery } from '../../address';
import { panels, type Panel } from '../../panels';
import type { Recording, Topic } from '../../types';

const DEFAULT_COUNT = 2;
const key = (recording: Recording) => `reel.panels.${recording.format}`;

export function availablePanels(recording: Recording, topics: Topic[]): Panel[] {
    return panels.filter((panel) => panel.fits(recording, topics) > 0);
}

function defaultPanels(recording: Recording, topics: Topic[]): string[] {
    const fitting = availablePanels(recording, topics);
    const order = [...fitting].sort((a, b) => b.fits(recording, topics) - a.fits(recording, topics));
    return order.slice(0, DEFAULT_COUNT).map((panel) => panel.name);
}

export function shownPanels(recording: Recording, topics: Topic[], query: URLSearchParams): Panel[] {
    const stored = query.get('panels') ?? localStorage.getItem(key(recording));
    const names = stored === null ? defaultPanels(recording, topics) : stored.split(',');
    const available = availablePanels(recording, topics);
    return names.flatMap((name) => available.find((panel) => panel.name === name) ?? []);
}

export function setPanels(recording: Recording, names: string[]): void {
    localStorage.setItem(key(recording), names.join(','));
    setQuery({ panels: names.join(',') || 'none' }, true);
}

/** plot.fields=… in the URL is the setting `fields` of the panel plot. */
export function settingsOf(panel: string, query: URLSearchParams): Record<string, string> {
    const settings: Record<string, string> = {};
    query.forEach((value, name) => {
        if (name.startsWith(panel + '.')) {
            settings[name.slice(panel.length + 1)] = value;
        }
    });
    return settings;
}
export function setSettings(panel: string, changes: Record<string, string | null>): void {
    const here = address.get().path;
    const query: Record<string, string | null> = {};
    Object.entries(changes).forEach(([name, value]) => (query[`${panel}.${name}`] = value));
    if (ROOT + here === location.pathname) {
        setQuery(query, true);
    }
}
