// A second recording beside the first: `with` and `shift` in the URL. `shift`: seconds from the start of the first to
// that of the second.
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { setQuery, useAddress } from '../../../address';
import { onChange } from '../../../api';
import { parseTime } from '../../../format';
import type { Playback, Range } from '../../../playback';
import { boundsOf, secondsOf, timeNs } from '../../../recording_time';
import type { Recording, Topic } from '../../../types';
import { useRequest } from '../../../use_request';
import type { Source } from '../layout/frame';
import { loadRecording } from '../load';
import { PlaybackView } from './playback_view';

const SHIFT_MAX = 10n * 366n * 86_400_000_000_000n; // ns; the URL may say anything

export interface Second {
    recording: Recording | null; // null: none, not loaded yet, or it could not be loaded
    error: unknown;
    waiting: boolean;
}

export function useSecond(): Second {
    const { query } = useAddress();
    const id = query.get('with');
    const loaded = useRequest(
        async (signal) => (id ? { id, recording: (await loadRecording(encodeURIComponent(id), signal)).value } : null),
        [id],
    );
    useEffect(() => (id ? onChange((change) => change.recording === id && loaded.reload()) : undefined), [id]);
    const found = loaded.value?.id === id ? loaded.value.recording : null;
    return {
        recording: found,
        error: found || loaded.loading ? null : loaded.error,
        waiting: id !== null && loaded.loading && !found,
    };
}

const calendarStart = (recording: Recording): bigint | null =>
    recording.clock === 'wall' ? boundsOf(recording).start : parseTime(recording.calendar_start);

/** The shift at which both are shown at the times when they were recorded; null if one has no calendar times. */
export function recordedShift(first: Recording, second: Recording): bigint | null {
    const [a, b] = [calendarStart(first), calendarStart(second)];
    return a === null || b === null ? null : b - a;
}

/** As in the URL; else as recorded if they were recorded at the same time, else both start together. */
function shiftOf(first: Recording, second: Recording, query: URLSearchParams): bigint {
    const given = query.get('shift');
    if (given !== null && /^-?\d/.test(given)) {
        const ns = timeNs(given);
        return ns > SHIFT_MAX ? SHIFT_MAX : ns < -SHIFT_MAX ? -SHIFT_MAX : ns;
    }
    const recorded = recordedShift(first, second);
    const length = (recording: Recording) => boundsOf(recording).end - boundsOf(recording).start;
    return recorded !== null && recorded < length(first) && recorded > -length(second) ? recorded : 0n;
}

export interface Pair {
    first: Recording;
    second: Recording;
    shift: bigint; // as in the URL, in ns
    shift_ns: bigint; // is added to the second's times
    kept_ns: bigint; // the same before it was dragged
    /** While it is dragged; null: no longer. */
    setDraft: (shift: bigint | null) => void;
    setShift: (shift: bigint) => void;
}

/** Call before the playback is created, which runs over the union of both. */
export function usePair(first: Recording, second: Recording | null): Pair | null {
    const { query } = useAddress();
    const [draft, setDraft] = useState<bigint | null>(null);
    if (!second) {
        return null;
    }
    const kept = shiftOf(first, second, query);
    const shift = draft ?? kept;
    const between = boundsOf(first).start - boundsOf(second).start;
    return {
        first,
        second,
        shift,
        shift_ns: between + shift,
        kept_ns: between + kept,
        setDraft,
        setShift: (to) => setQuery({ shift: secondsOf(to) }, true),
    };
}

export function unionOf(first: Recording, pair: Pair | null): Range {
    const own = boundsOf(first);
    if (!pair) {
        return own;
    }
    const other = boundsOf(pair.second);
    const [start, end] = [other.start + pair.kept_ns, other.end + pair.kept_ns];
    return { start: start < own.start ? start : own.start, end: end > own.end ? end : own.end };
}

/**
 * What the panels show: one recording, or two on one clock. The first has its own view of the playback even alone, so
 * that its panels stay when a second one comes.
 */
export function useSources(recording: Recording, playback: Playback, pair: Pair | null): Source[] {
    const second = pair?.second ?? null;
    const own = useMemo(() => new PlaybackView(playback, boundsOf(recording), 0n), [playback]);
    const other = useMemo(
        () => second && new PlaybackView(playback, boundsOf(second), pair!.shift_ns),
        [playback, second?.id],
    );
    useLayoutEffect(() => {
        own.place(boundsOf(recording), 0n);
        other?.place(boundsOf(second!), pair!.shift_ns);
    });
    return useMemo(() => {
        const topics: Topic[] = recording.topics ?? [];
        if (!other || !second) {
            return [{ recording, topics, playback: own, companion: null }];
        }
        const others: Topic[] = second.topics ?? [];
        return [
            {
                recording,
                topics,
                playback: own,
                companion: { recording: second, topics: others, shift_ns: pair!.kept_ns },
            },
            {
                recording: second,
                topics: others,
                playback: other,
                companion: { recording, topics, shift_ns: -pair!.kept_ns },
            },
        ];
    }, [recording, second, own, other, pair?.kept_ns]);
}
