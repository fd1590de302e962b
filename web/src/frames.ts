// Steps from frame to frame. A frame is a message of the topic that the recording is about: its images, its simulation
// frames, else the topic with the most messages.
import { get, getRows } from './api';
import type { Playback } from './playback';
import { showError } from './toasts';
import type { Message, Recording, Topic } from './types';

/** The time of the message after or before `from`; null if there is none. */
export async function neighbour(id: string, topic: Topic, from: bigint, forward: boolean): Promise<bigint | null> {
    if (forward ? from >= BigInt(topic.end_ns ?? 0) : from <= BigInt(topic.start_ns ?? 0)) {
        return null;
    }
    const params = { topic: topic.name, time_format: 'nanoseconds', decode: 'none' };
    if (forward) {
        for await (const row of getRows<Message>(`/recordings/${id}/messages`, {
            ...params,
            start: from + 1n,
            limit: 1,
        })) {
            return BigInt(row.log_time);
        }
        return null;
    }
    const row = await get<Message>(`/recordings/${id}/message`, { ...params, at: from - 1n });
    return BigInt(row.log_time);
}

export const isVideoTopic = (topic: Topic): boolean => /(^|[/.])CompressedVideo$/.test(topic.type);
export const isImage = (topic: Topic): boolean =>
    (/(^|[/.])(Compressed|Raw)?Image$/.test(topic.type) || isVideoTopic(topic)) && topic.messages > 0;

export function frameTopic(topics: readonly Topic[]): Topic | null {
    const some = topics.filter((t) => t.messages > 0);
    const most = some.reduce<Topic | null>((best, t) => (best && best.messages >= t.messages ? best : t), null);
    return some.find(isImage) ?? some.find((t) => t.type === 'nanover/frame' || t.type === 'carla/FrameStart') ?? most;
}

/** The time of the frame after or before `from`; without one, of the message as far away as two are on average. */
export async function frameTime(
    recording: Recording,
    topic: Topic | null,
    from: bigint,
    forward: boolean,
): Promise<bigint> {
    const found = topic && (await neighbour(recording.id, topic, from, forward));
    const step = BigInt(recording.duration_ns ?? 0) / BigInt(Math.max(1, topic?.messages ?? 1));
    return found ?? from + (forward ? step : -step);
}

/**
 * Returns a function that moves the playhead to the next or the previous frame. Calls during a step are done after it,
 * in order.
 */
export function frameSteps(
    recording: Recording,
    topics: readonly Topic[],
    playback: Playback,
): (forward: boolean) => Promise<void> {
    const topic = frameTopic(topics);
    let last: Promise<void> = Promise.resolve();
    const step = async (forward: boolean) => {
        try {
            const to = topic && (await neighbour(recording.id, topic, playback.get().time_ns, forward));
            if (to !== null) {
                playback.seek(to);
            }
        } catch (error) {
            showError(error);
        }
    };
    return (forward) => {
        playback.pause();
        return (last = last.then(() => step(forward)));
    };
}
