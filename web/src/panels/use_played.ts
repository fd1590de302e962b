// usePlayed: the newest message of a topic while the page plays, as the server sends it when it is due. For topics with
// more messages than requests could ask for.
import { useEffect, useState } from 'preact/hooks';
import { getRows } from '../api';
import { usePlaybackPart, type Playback } from '../playback';
import type { Message, Recording, Topic } from '../types';

const MANY_HZ = 30;
const SHOWN_HZ = 60; // of the page's time, whatever the speed
const OFF_S = 1; // of the page's time: the playhead was moved

interface Played {
    active: boolean;
    message: Message | null; // null: none yet
}

/** One playback from the playhead on; returns when it ended or no longer fits the playhead. */
async function playOnce(
    recording: Recording,
    topic: Topic,
    playback: Playback,
    show: (message: Message) => void,
    signal: AbortSignal,
): Promise<void> {
    const { time_ns, speed } = playback.get();
    const off_ns = BigInt(Math.round(OFF_S * 1e9 * Math.max(1, speed)));
    const moved = new AbortController();
    const stop = () => moved.abort();
    let before = time_ns;
    const unsubscribe = playback.subscribe(({ time_ns: now }) => {
        if (now < before || now - before > 2n * off_ns) {
            stop();
        }
        before = now;
    });
    signal.addEventListener('abort', stop);
    const params = {
        topic: topic.name,
        start: time_ns,
        latch: true,
        speed,
        every: `${Math.round((1e9 * speed) / SHOWN_HZ)}ns`,
        time_format: 'nanoseconds',
    };
    try {
        for await (const row of getRows<Partial<Message>>(`/recordings/${recording.id}/play`, params, moved.signal)) {
            if (row.topic !== undefined && row.log_time !== undefined) {
                show(row as Message);
                if (BigInt(row.log_time) - playback.get().time_ns > off_ns) {
                    return; // a page that was hidden resumes where it stopped
                }
            }
        }
    } catch (error) {
        if (!moved.signal.aborted) {
            throw error;
        }
    } finally {
        unsubscribe();
        signal.removeEventListener('abort', stop);
        stop();
    }
}

const PAUSE_MS = 200; // between two playbacks
const RETRY_MS = 2000; // after a failure

export function usePlayed(
    recording: Recording,
    topic: Topic | undefined,
    playback: Playback,
    enabled: boolean,
): Played {
    const playing = usePlaybackPart(playback, (state) => state.playing);
    const speed = usePlaybackPart(playback, (state) => state.speed);
    const seconds = topic ? Number(BigInt(topic.end_ns ?? 0) - BigInt(topic.start_ns ?? 0)) / 1e9 : 0;
    const active =
        enabled && playing && speed > 0 && topic !== undefined && seconds > 0 && topic.messages / seconds > MANY_HZ;
    const [message, setMessage] = useState<Message | null>(null);
    useEffect(() => {
        if (!active) {
            return;
        }
        const abort = new AbortController();
        let newest: Message | null = null;
        let frame = 0;
        const show = (to: Message) => {
            newest = to;
            frame ||= requestAnimationFrame(() => {
                frame = 0;
                setMessage(newest);
            });
        };
        const run = async () => {
            while (!abort.signal.aborted) {
                let wait = PAUSE_MS;
                if (playback.get().time_ns <= BigInt(topic.end_ns ?? 0)) {
                    await playOnce(recording, topic, playback, show, abort.signal).catch(() => (wait = RETRY_MS));
                }
                await new Promise((done) => setTimeout(done, wait));
            }
        };
        void run();
        return () => {
            abort.abort();
            cancelAnimationFrame(frame);
            setMessage(null);
        };
    }, [active, recording.id, topic?.name, playback, speed]);
    return { active, message };
}
