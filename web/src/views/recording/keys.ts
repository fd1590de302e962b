// The keys of the recording view: space, arrows, J, K, L, P. They work wherever the focus is, except where it uses the
// same keys itself.
import { useEffect } from 'preact/hooks';
import { nextSpeed, type Playback } from '../../playback';

const SECOND = 1_000_000_000n;
export const TYPES = 'input:not([type="checkbox"]), textarea, select, [contenteditable]';
const MOVES = `${TYPES}, canvas, [role="grid"], [role="tree"], [role="menu"]`;

/** True if the focused element uses keys of this kind. */
export const busy = (event: KeyboardEvent, elements: string) =>
    event.target instanceof Element && event.target.closest(elements) !== null;
/** True if the space bar has no other meaning: it presses buttons and checks boxes. */
const free = ({ target }: KeyboardEvent) =>
    !(target instanceof HTMLElement) ||
    target === document.body ||
    target.id === 'content' ||
    target.classList.contains('panel') ||
    target.getAttribute('role') === 'slider';

function play(playback: Playback, direction: 1 | -1): void {
    const { playing, speed } = playback.get();
    const same = Math.sign(speed) === direction;
    playback.setSpeed(same ? (playing ? nextSpeed(speed) : speed) : direction);
    playback.play();
}

/** Moves the focus to the next or the previous panel. */
function focusPanel(forward: boolean): void {
    const all = [...document.querySelectorAll<HTMLElement>('.panel')].filter(
        (panel) => panel.style.visibility !== 'hidden',
    );
    const at = all.findIndex((panel) => panel.contains(document.activeElement));
    const to = at < 0 ? (forward ? 0 : -1) : (at + (forward ? 1 : -1)) % all.length;
    all.at(to)?.focus();
}

/** True for the browser's and dialogs' keys. */
export const hasOtherUse = (event: KeyboardEvent): boolean =>
    event.ctrlKey || event.altKey || event.metaKey || document.querySelector('dialog[open]') !== null;

export function useKeys(playback: Playback, step: (forward: boolean) => Promise<void>): void {
    useEffect(() => {
        let stepping = false;
        const arrow = (forward: boolean, event: KeyboardEvent) => {
            if (event.shiftKey) {
                playback.seek(playback.get().time_ns + (forward ? SECOND : -SECOND));
            } else if (!event.repeat || !stepping) {
                // a held key steps as fast as the server answers
                stepping = true;
                void step(forward).then(() => (stepping = false));
            }
        };
        const key = (event: KeyboardEvent) => {
            const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
            if (event.defaultPrevented || hasOtherUse(event)) {
                return;
            }
            if (name === ' ' && free(event)) {
                playback.toggle();
            } else if ((name === 'ArrowLeft' || name === 'ArrowRight') && !busy(event, MOVES)) {
                arrow(name === 'ArrowRight', event);
            } else if ((name === 'j' || name === 'l') && !busy(event, TYPES)) {
                play(playback, name === 'l' ? 1 : -1);
            } else if (name === 'p' && !busy(event, TYPES)) {
                focusPanel(!event.shiftKey);
            } else if (name === 'k' && !busy(event, TYPES)) {
                playback.pause();
            } else {
                return;
            }
            event.preventDefault();
        };
        document.addEventListener('keydown', key);
        return () => document.removeEventListener('keydown', key);
    }, [playback, step]);
}
