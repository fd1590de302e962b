// Times of a recording: calendar times, or offsets from its start. Whether it has calendar times depends on the
// recording's clock.
import type { Range } from './playback';
import { dateTime, offset, parseTime } from './format';
import { shownZone, zoneName } from './time_zone';
import type { Recording, Topic } from './types';

const SECOND = 1_000_000_000n;

/** An RFC 3339 time, or decimal seconds (recordings with a relative clock), in ns. */
export function timeNs(value: string): bigint {
    const wall = parseTime(value);
    if (wall !== null) {
        return wall;
    }
    const found = /^(-?)(\d+)(?:\.(\d{1,9}))?/.exec(value);
    if (!found) {
        return 0n;
    }
    const ns = BigInt(found[2]!) * SECOND + BigInt((found[3] ?? '').padEnd(9, '0') || '0');
    return found[1] ? -ns : ns;
}

export function boundsOf(recording: Recording): Range {
    return { start: BigInt(recording.start_ns ?? 0), end: BigInt(recording.end_ns ?? 0) };
}

/** The time of a topic's first message. */
export const firstTime = (topic: Topic | undefined): bigint | null => (topic?.start_ns ? BigInt(topic.start_ns) : null);

/** The offset from the start, as 0:12.345 */
export const relativeTime = (recording: Recording, ns: bigint, digits = 3): string =>
    offset(ns - boundsOf(recording).start, digits);

/** The time on the calendar, in ns; null if the recording has no calendar times. */
const calendarNs = (recording: Recording, ns: bigint): bigint | null => {
    const epoch = recording.clock === 'wall' ? boundsOf(recording).start : parseTime(recording.calendar_start);
    return epoch === null ? null : epoch + ns - boundsOf(recording).start;
};

/** Date, time and the name of the zone: 2024-05-01 12:00:00.000 CEST; null if the recording has no calendar times. */
export const calendarText = (recording: Recording, ns: bigint, digits = 3): string | null => {
    const at = calendarNs(recording, ns);
    const zone = shownZone(recording);
    return at === null ? null : `${dateTime(at, digits, zone)} ${zoneName(zone, Number(at / 1000000n))}`;
};
/** When the recording starts; null also if nothing has been recorded yet. */
export const startText = (recording: Recording, digits = 3): string | null =>
    recording.messages > 0 ? calendarText(recording, boundsOf(recording).start, digits) : null;

/** As the URL holds it: 1.5 */
export function secondsOf(ns: bigint): string {
    const abs = ns < 0n ? -ns : ns;
    return (ns < 0n ? '-' : '') + `${abs / SECOND}.${String(abs % SECOND).padStart(9, '0')}`.replace(/\.?0+$/, '');
}
/** A time as the URL holds it: seconds from the start. */
export const toSeconds = (recording: Recording, ns: bigint): string => secondsOf(ns - boundsOf(recording).start);
/** Also '@' and the time on the recording's clock in ns, in links made without knowing its start. */
export const fromSeconds = (recording: Recording, seconds: string): bigint =>
    /^@\d{1,19}$/.test(seconds) ? BigInt(seconds.slice(1)) : boundsOf(recording).start + timeNs(seconds);
