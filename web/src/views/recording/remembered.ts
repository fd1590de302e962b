// What of the recording view is shown, and how high, as the user chose it; kept in this browser.
import { Store } from '../../store';

const OPEN_KEY = 'reel.timeline';
const HEIGHT_KEY = 'reel.timeline.height';
const DETAILS_KEY = 'reel.details';
const WIDE_PX = 1600; // of a window that has room for the details beside the panels

/** Yes or no; `initial` until the user has chosen. */
class Choice extends Store<boolean> {
    constructor(
        private key: string,
        initial: boolean,
    ) {
        super((localStorage.getItem(key) ?? (initial ? 'yes' : 'no')) === 'yes');
    }
    choose(value: boolean): void {
        this.set(value);
        localStorage.setItem(this.key, value ? 'yes' : 'no');
    }
}

/** Whether the timeline has a row for each topic, or one for all. */
export const timelineOpen = new Choice(OPEN_KEY, false);
export const detailsShown = new Choice(DETAILS_KEY, innerWidth >= WIDE_PX);

/** px: the most that the open timeline takes. */
export const timelineHeight = new Store(Number(localStorage.getItem(HEIGHT_KEY)) || 260);
export function setTimelineHeight(px: number): void {
    timelineHeight.set(px);
    localStorage.setItem(HEIGHT_KEY, String(px));
}
