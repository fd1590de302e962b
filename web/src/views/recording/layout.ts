// Which panels are shown, and how they are set. Its one rule: the address says it; where it says nothing what was kept for this format is taken,
// and where nothing was kept what fits the recording best.
import { address, setQuery } from '../../address';
import { panels, type Panel } from '../../panels';
import type { Recording, Topic } from '../../types';

const SHOWN_AT_FIRST = 2;
const key = (recording: Recording) => `reel.panels.${recording.format}`;

export function offered(recording: Recording, topics: Topic[]): Panel[] {
    return panels.filter((panel) => panel.fits(recording, topics) > 0);
}

function sensible(recording: Recording, topics: Topic[]): string[] {
    const fitting = offered(recording, topics);
    const order = [...fitting].sort((a, b) => b.fits(recording, topics) - a.fits(recording, topics));
    return order.slice(0, SHOWN_AT_FIRST).map((panel) => panel.name);
}

export function shownPanels(recording: Recording, topics: Topic[], query: URLSearchParams): Panel[] {
    const said = query.get('panels') ?? localStorage.getItem(key(recording));
    const names = said === null ? sensible(recording, topics) : said.split(',');
    const there = offered(recording, topics);
    return names.flatMap((name) => there.find((panel) => panel.name === name) ?? []);
}

export function showPanels(recording: Recording, names: string[]): void {
    localStorage.setItem(key(recording), names.join(','));
    setQuery({ panels: names.join(',') || 'none' }, true);
}

/** plot.field=… in the address is field of the plot's settings. */
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
    if (here === location.pathname) {
        setQuery(query, true);
    }
}
