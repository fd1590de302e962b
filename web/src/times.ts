// A recording's own times: on the calendar, or counted from its beginning. Its one rule: which of both is asked of the recording, never guessed.
import type { Range } from './clock';
import { dateTime, offset, parseTime } from './format';
import type { Recording } from './types';

const SECOND = 1_000_000_000n;

/** ns of an RFC 3339 text, or of seconds as a decimal text (recordings with a clock of their own). */
export function timeNs(words: string): bigint {
    const wall = parseTime(words);
    if (wall !== null) {
        return wall;
    }
    const found = /^(-?)(\d+)(?:\.(\d{1,9}))?/.exec(words);
    if (!found) {
        return 0n;
    }
    const ns = BigInt(found[2]!) * SECOND + BigInt((found[3] ?? '').padEnd(9, '0') || '0');
    return found[1] ? -ns : ns;
}

export function boundsOf(recording: Recording): Range {
    return { start: BigInt(recording.start_ns ?? 0), end: BigInt(recording.end_ns ?? 0) };
}

/** 0:12.345 from the beginning. */
export const since = (recording: Recording, ns: bigint, digits = 3): string => offset(ns - boundsOf(recording).start, digits);

/** The date and time of a moment; null where the recording has no calendar. */
export const calendar = (recording: Recording, ns: bigint, digits = 3): string | null => {
    if (recording.clock === 'wall') {
        return dateTime(ns, digits);
    }
    const epoch = parseTime(recording.calendar_start);
    return epoch === null ? null : dateTime(epoch + ns - boundsOf(recording).start, digits);
};

/** A moment as the address keeps it: seconds from the beginning. */
export const toSeconds = (recording: Recording, ns: bigint): string => {
    const d = ns - boundsOf(recording).start;
    return `${d / SECOND}.${String(d % SECOND).padStart(9, '0')}`.replace(/\.?0+$/, '');
};
export const fromSeconds = (recording: Recording, words: string): bigint => boundsOf(recording).start + timeNs(words);
