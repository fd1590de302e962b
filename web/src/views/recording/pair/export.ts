// What can be exported of two recordings side by side: each of them, and both as one, where the server aligns them as they are shown.
import type { Playback } from '../../../playback';
import { text } from '../../../text';
import type { Topic } from '../../../types';
import type { Offer } from '../export';
import { subjectOf } from '../export_plan';
import type { Source } from '../layout/frame';
import { recordedShift, unionOf, type Pair } from './pair';

/** A merge keeps the times of recordings with calendar times; one with relative times begins when the other begins. */
function merges({ first, second, shift }: Pair): boolean {
    return shift === (first.clock === 'wall' && second.clock === 'wall' ? recordedShift(first, second) : 0n);
}

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
    const offers = sources.map(({ recording, playback }, i): Offer => ({ subject: subjectOf(recording), title: pair ? text.pair.numbered(i + 1, recording.name) : recording.name, playback }));
    if (pair) {
        const subject = { recording: pair.first, merged: pair.second, topics: topicsOf(sources), span: unionOf(pair.first, pair) };
        offers.push({ subject, title: text.pair.merged, playback: shared, refused: merges(pair) ? undefined : text.pair.notMerged });
    }
    return offers;
}
