// The time at which a recording opens: the first at which each of its panels has something to show. Null if the URL
// names a time.
import type { Recording } from '../../types';
import { boundsOf } from '../../recording_time';
import { idsOf } from './layout/tree';
import { panelOf, settingsOf, shownLayout } from './panel_layout';

export async function openingTime(
    recording: Recording,
    query: URLSearchParams,
    signal: AbortSignal,
): Promise<bigint | null> {
    if (query.get('at') || recording.state === 'announced') {
        return null;
    }
    const topics = recording.topics ?? [];
    const { start, end } = boundsOf(recording);
    const times = await Promise.all(
        idsOf(shownLayout([{ recording, topics }], query)).map(async (id) => {
            try {
                return (await panelOf(id)?.begins?.(recording, topics, settingsOf(id, query), signal)) ?? start;
            } catch {
                return start; // the panel itself shows what is wrong
            }
        }),
    );
    return times.reduce((last, time) => (time > last && time <= end ? time : last), start);
}
