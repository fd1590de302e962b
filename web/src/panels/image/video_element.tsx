// A video without WebCodecs: the virtual MP4 file of the topic in a <video>, kept in step with the playhead.
import { useEffect, useRef, useState } from 'preact/hooks';
import { getParts, linkTo } from '../../api';
import { useRequest } from '../../use_request';
import type { Playback } from '../../playback';
import { timeNs } from '../../recording_time';
import { imageText } from '../../text/panels';
import type { Topic } from '../../types';
import { Failed, Spinner } from '../../ui';
import { isKeyFrame } from './video_units';

const OFF_S = 0.15; // that it may be off while it plays
const RATES = [0.0625, 16]; // that browsers play

/** The time at which the file begins: that of the first key frame. */
async function fileStart(recording: string, topic: Topic, signal: AbortSignal): Promise<bigint> {
    for await (const part of getParts(`/recordings/${recording}/frames`, { topic: topic.name }, signal)) {
        if (isKeyFrame(part)) {
            return timeNs(part.headers.get('X-Log-Time')!);
        }
    }
    return BigInt(topic.start_ns ?? 0);
}

function keepInStep(video: HTMLVideoElement, playback: Playback, start: bigint): void {
    const { time_ns, playing, speed } = playback.get();
    const at = Math.max(0, Number(time_ns - start) / 1e9);
    const plays = playing && speed >= RATES[0]! && speed <= RATES[1]!;
    if (plays) {
        video.playbackRate = speed;
        if (video.paused) {
            void video.play().catch(() => undefined); // it was paused meanwhile
        }
    } else if (!video.paused) {
        video.pause();
    }
    if (!video.seeking && Math.abs(video.currentTime - at) > (plays ? OFF_S * Math.max(1, speed) : 0.001)) {
        video.currentTime = at;
    }
}

export function VideoElement({
    recording,
    topic,
    playback,
    codec,
}: {
    recording: string;
    topic: Topic;
    playback: Playback;
    codec: string;
}) {
    const element = useRef<HTMLVideoElement>(null);
    const [broken, setBroken] = useState(false);
    const file = useRequest(
        async (signal) => ({
            start: await fileStart(recording, topic, signal),
            url: await linkTo(`/recordings/${recording}/as/video.mp4`, { topic: topic.name }),
        }),
        [recording, topic.name],
    );
    useEffect(() => {
        const video = element.current;
        const start = file.value?.start;
        if (!video || start === undefined) {
            return;
        }
        const step = () => keepInStep(video, playback, start);
        step();
        video.addEventListener('seeked', step);
        const stop = playback.subscribe(step);
        return () => {
            stop();
            video.removeEventListener('seeked', step);
            video.removeAttribute('src'); // ends the transfer
            video.load();
        };
    }, [playback, file.value, broken]);
    if (broken) {
        return <p class="muted image-note">{imageText.noCodec(codec)}</p>;
    }
    if (file.error !== null) {
        return <Failed error={file.error} retry={file.reload} />;
    }
    return file.value ? (
        <video
            ref={element}
            src={file.value.url}
            class="image-video"
            muted
            playsInline
            preload="auto"
            aria-label={imageText.videoAlt(topic.name)}
            onError={() => setBroken(true)}
        />
    ) : (
        <Spinner />
    );
}
