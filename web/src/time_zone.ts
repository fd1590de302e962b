// The time zone of every time that the page shows: UTC, the computer's, or the recording's own. The browser keeps the
// choice; the address can name one (zone=utc, local, recording, or Europe/Berlin), which takes precedence.
import { address, setQuery } from './address';
import { Store } from './store';
import type { Recording } from './types';

export const UTC = 'UTC';
export const CHOICES = ['utc', 'local', 'recording'] as const;
const KEY = 'reel.zone';
const DAY = 86400000;
const FIXED = /^([+-])(\d\d):?(\d\d)$/;

const formats = new Map<string, Intl.DateTimeFormat | null>();
function formatOf(zone: string): Intl.DateTimeFormat | null {
    if (!formats.has(zone)) {
        const options = {
            timeZone: zone,
            hourCycle: 'h23',
            year: 'numeric',
            month: '2-digit',
            day: '2-digit',
            hour: '2-digit',
            minute: '2-digit',
            second: '2-digit',
            timeZoneName: 'short',
        } as const;
        try {
            formats.set(zone, new Intl.DateTimeFormat('en-GB', options));
        } catch {
            formats.set(zone, null); // not known to the browser
        }
    }
    return formats.get(zone)!;
}
export const isZone = (zone: string): boolean => FIXED.test(zone) || formatOf(zone) !== null;

function stored(): string {
    const value = localStorage.getItem(KEY) ?? '';
    return (CHOICES as readonly string[]).includes(value) ? value : 'utc';
}
function chosen(): string {
    const named = address.get().query.get('zone');
    return named && ((CHOICES as readonly string[]).includes(named) || isZone(named)) ? named : stored();
}
/** One of CHOICES, or the zone that the address names. */
export const zoneChoice = new Store<string>(chosen());
address.subscribe(() => zoneChoice.set(chosen()));

export function chooseZone(choice: string): void {
    localStorage.setItem(KEY, choice);
    setQuery({ zone: null }, true);
    zoneChoice.set(chosen());
}

/** The zone that a recording names by its custom field or tag `timezone`: Europe/Berlin, +02:00. */
export function zoneOf(recording: Pick<Recording, 'tags' | 'custom'>): string | null {
    const named = recording.custom?.timezone ?? recording.tags?.timezone;
    return typeof named === 'string' && isZone(named) ? named : null;
}

/** The zone in which times are shown; those of a recording: in its own, if it has one and that is the choice. */
export function shownZone(recording?: Pick<Recording, 'tags' | 'custom'>): string {
    const choice = zoneChoice.get();
    if (choice === 'local') {
        return Intl.DateTimeFormat().resolvedOptions().timeZone;
    }
    return choice === 'recording' ? ((recording && zoneOf(recording)) ?? UTC) : choice === 'utc' ? UTC : choice;
}

const offsets = new Map<string, number>(); // by zone and quarter of an hour: they change at no other times
const OFFSETS_KEPT = 10000;

/** How far the clocks of the zone are ahead of UTC, in ms. */
export function offsetMs(ms: number, zone: string): number {
    const fixed = FIXED.exec(zone);
    if (zone === UTC || fixed) {
        return fixed ? (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3])) * 60000 : 0;
    }
    const quarter = Math.floor(ms / 900000);
    const key = zone + quarter;
    let offset = offsets.get(key);
    if (offset === undefined) {
        const at = quarter * 900000;
        const parts = Object.fromEntries(
            formatOf(zone)!
                .formatToParts(at)
                .map((part) => [part.type, Number(part.value)]),
        );
        offset = Date.UTC(parts.year!, parts.month! - 1, parts.day, parts.hour, parts.minute, parts.second) - at;
        offsets.size < OFFSETS_KEPT || offsets.clear();
        offsets.set(key, offset);
    }
    return offset;
}

/** What the zone is called: UTC, Berlin, +02:00; at a time also whether it is summer: CEST. */
export function zoneName(zone = shownZone(), ms?: number): string {
    if (zone === UTC || FIXED.test(zone) || ms === undefined) {
        return zone.replace(/^.*\//, '').replace(/_/g, ' ');
    }
    return (
        formatOf(zone)!
            .formatToParts(ms)
            .find((part) => part.type === 'timeZoneName')?.value ?? zone
    );
}

/** The instant at which the zone's clocks show what those of UTC show at `wall`. */
export function fromWall(wall: number, zone: string): number {
    return wall - offsetMs(wall - offsetMs(wall, zone), zone);
}

/** When the day began in the zone; `days` later. */
export function dayStart(ms: number, days = 0, zone = shownZone()): number {
    return fromWall((Math.floor((ms + offsetMs(ms, zone)) / DAY) + days) * DAY, zone);
}
