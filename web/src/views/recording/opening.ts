// The time at which a recording opens: the first at which each of its panels has something to show. Null if the URL names a time.
import type { Recording } from '../../types';
import { boundsOf } from '../../recording_time';
import { settingsOf, shownPanels } from './panel_layout';

export async function openingTime(recording: Recording, query: URLSearchParams, signal: AbortSignal): Promise<bigint | null> {
    if (query.get('at')) {
        return null;
    }
    const topics = recording.topics ?? [];
    const { start, end } = boundsOf(recording);
    const times = await Promise.all(
        shownPanels(recording, topics, query).map(async (panel) => {
            try {
                return (await panel.begins?.(recording, topics, settingsOf(panel.name, query), signal)) ?? start;
            } catch {
                return start; // the panel itself shows what is wrong
            }
        }),
    );
    return times.reduce((last, time) => (time > last && time <= end ? time : last), start);
}
