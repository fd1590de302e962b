// What can be exported of two recordings side by side: each of them, and both as one, aligned as they are shown.
import type { Playback } from '../../../playback';
import { pairText } from '../../../text/recording';
import type { Topic } from '../../../types';
import type { Offer } from '../export';
import { subjectOf } from '../export_plan';
import type { Source } from '../layout/frame';
import { unionOf, type Pair } from './pair';

/** The topics of both; those that both have are exported under two names, but chosen by one. */
function topicsOf(sources: Source[]): Topic[] {
    const all = new Map<string, Topic>();
    for (const topic of sources.flatMap(({ topics }) => topics)) {
        const same = all.get(topic.name);
        all.set(topic.name, same ? { ...same, messages: same.messages + topic.messages } : topic);
    }
    return [...all.values()];
}

export function exportOffers(sources: Source[], pair: Pair | null, shared: Playback): Offer[] {
    const offers = sources.map(({ recording, playback }, i): Offer => ({
        subject: subjectOf(recording),
        title: pair ? pairText.numbered(i + 1, recording.name) : recording.name,
        playback,
    }));
    if (pair) {
        const subject = {
            recording: pair.first,
            merged: pair.second,
            shift_ns: pair.kept_ns,
            topics: topicsOf(sources),
            span: unionOf(pair.first, pair),
        };
        offers.push({ subject, title: pairText.merged, playback: shared });
    }
    return offers;
}
