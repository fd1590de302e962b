// A recording with its topics, which come in pages.
import { getPage, getTagged } from '../../api';
import type { Recording, Topic } from '../../types';

export const TOPICS_MAX = 5000; // shown

export async function loadRecording(
    id: string,
    signal: AbortSignal,
): Promise<{ value: Recording; tag: string | null }> {
    const loaded = await getTagged<Recording>(`/recordings/${id}`, {}, signal);
    const topics = loaded.value.topics ?? [];
    let cursor = loaded.value.topics_next;
    while (cursor && topics.length < TOPICS_MAX) {
        const page = await getPage<Topic>(`/recordings/${id}/topics`, {}, cursor, signal);
        topics.push(...page.items);
        cursor = page.next;
    }
    return loaded;
}
