// Light or dark: as the system says, until somebody chooses. Its one rule: drawings that need a colour ask colour(), and listen to `theme`.
import { Store } from './store';

export type Theme = 'auto' | 'light' | 'dark';
const KEY = 'reel.theme';
const system = matchMedia('(prefers-color-scheme: dark)');

function kept(): Theme {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'auto';
}
export const theme = new Store<Theme>(kept());
/** What is shown: changes with the choice and with the system. */
export const shown = new Store<'light' | 'dark'>('light');

function show(): void {
    const chosen = theme.get();
    if (chosen === 'auto') {
        delete document.documentElement.dataset.theme;
    } else {
        document.documentElement.dataset.theme = chosen;
    }
    shown.set(chosen === 'auto' ? (system.matches ? 'dark' : 'light') : chosen);
}

export function startTheme(): void {
    show();
    system.addEventListener('change', show);
}
export function nextTheme(): void {
    const next: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
    theme.set(next[theme.get()]);
    localStorage.setItem(KEY, theme.get());
    show();
}
/** A colour of style/1-tokens.css as it is now: colour('--c1'). For canvases. */
export function colour(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
