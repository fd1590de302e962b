// How dragging and keys change the time of an event.
import type { Playback, Range } from '../../playback';

export type Part = 'all' | 'start' | 'end';

const least = (a: bigint, b: bigint) => (a < b ? a : b);
const most = (a: bigint, b: bigint) => (a > b ? a : b);

/** The event, or one end of it, moved by `step`; it does not leave the recording, and its ends do not cross. */
export function movedBy(span: Range, part: Part, step: bigint, bounds: Range): Range {
    const low = least(0n, bounds.start - span.start);
    const high = most(0n, bounds.end - span.end);
    if (part === 'all') {
        const kept = most(low, least(step, high));
        return { start: span.start + kept, end: span.end + kept };
    }
    return part === 'start'
        ? { start: most(span.start + low, least(span.start + step, span.end)), end: span.end }
        : { start: span.start, end: most(span.start, least(span.end + step, span.end + high)) };
}

/** `step`, changed so that an end that comes within `reach` of the playhead or of an end of the selection is there. */
export function snapped(span: Range, part: Part, step: bigint, playback: Playback, reach: bigint): bigint {
    const { time_ns, range } = playback.get();
    const ends = part === 'all' ? [span.start, span.end] : [span[part]];
    const steps = [time_ns, ...(range ? [range.start, range.end] : [])].flatMap((time) =>
        ends.map((end) => time - end),
    );
    const away = (to: bigint) => (to > step ? to - step : step - to);
    const best = steps.reduce((a, b) => (away(b) < away(a) ? b : a));
    return away(best) <= reach ? best : step;
}
