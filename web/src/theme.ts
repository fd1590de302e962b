// Light or dark theme: follows the system until chosen. Canvases get colours from colour() and redraw when `shownTheme`
// changes.
import { Store } from './store';

export type Theme = 'auto' | 'light' | 'dark';
const KEY = 'reel.theme';
const system = matchMedia('(prefers-color-scheme: dark)');

function stored(): Theme {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'auto';
}
export const theme = new Store<Theme>(stored());
/** The theme in effect: changes with the choice and with the system. */
export const shownTheme = new Store<'light' | 'dark'>('light');

function apply(): void {
    const chosen = theme.get();
    if (chosen === 'auto') {
        delete document.documentElement.dataset.theme;
    } else {
        document.documentElement.dataset.theme = chosen;
    }
    document
        .querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')
        .forEach((meta) => (meta.content = colour('--raised')));
    shownTheme.set(chosen === 'auto' ? (system.matches ? 'dark' : 'light') : chosen);
}

export function startTheme(): void {
    apply();
    system.addEventListener('change', apply);
}
export function nextTheme(): void {
    const next: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
    theme.set(next[theme.get()]);
    localStorage.setItem(KEY, theme.get());
    apply();
}
/** The current value of a colour in style/1-tokens.css, for canvases: colour('--c1'). */
export function colour(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
