// The tracks of the recording, and of the one beside it.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { mapText } from '../../text/panels';
import type { Recording, Topic } from '../../types';
import { useRequest } from '../../use_request';
import type { PanelProps } from '../index';
import { flatten, type Flat } from './geometry';
import { trackKind, tracksOf, type Track, type TrackKind } from './tracks';

interface Loaded {
    own: Track[];
    other: Track[]; // of the companion, on its own clock
    upto: string; // the ends of both
}

const isLive = (recording: Recording | undefined): boolean => recording?.state === 'recording';
const endsOf = (...recordings: (Recording | undefined)[]): string =>
    recordings.map((recording) => recording?.end_ns ?? '').join();

const sourcesOf = (topics: Topic[]): { topic: Topic; kind: TrackKind }[] =>
    topics.flatMap((topic) => {
        const kind = trackKind(topic);
        return kind ? [{ topic, kind }] : [];
    });

export function useTracks({ recording, topics, companion }: PanelProps) {
    const loaded = useRef(new Map<string, Track[]>()); // of live recordings, by recording and topic
    const upto = endsOf(recording, companion?.recording);
    const live = isLive(recording) || isLive(companion?.recording);
    const request = useRequest<Loaded>(
        async (signal) => {
            const tracks = async (of: Recording, { topic, kind }: ReturnType<typeof sourcesOf>[number]) => {
                const key = `${of.id} ${topic.name}`;
                const found = await tracksOf(
                    of,
                    topic,
                    kind,
                    isLive(of) ? (loaded.current.get(key) ?? []) : [],
                    signal,
                );
                void (isLive(of) && loaded.current.set(key, found));
                return found;
            };
            const own = sourcesOf(topics);
            // tracks in metres have no place on the globe
            const coordinates = own.some((s) => s.kind.coordinates === 'globe') ? 'globe' : 'plane';
            const load = async (of: Recording, from: typeof own) =>
                (
                    await Promise.all(from.filter((s) => s.kind.coordinates === coordinates).map((s) => tracks(of, s)))
                ).flat();
            return {
                own: await load(recording, own),
                other: companion ? await load(companion.recording, sourcesOf(companion.topics)) : [],
                upto,
            };
        },
        [recording.id, companion?.recording.id, live],
    );
    const grown = live && !request.loading && request.error === null && request.value?.upto !== upto;
    useEffect(() => void (grown && request.reload()), [grown]); // once the last answer is there, however long it took
    const { own, other } = request.value ?? { own: [], other: [] };
    const name = companion?.recording.name ?? '';
    const shift = companion?.shift_ns ?? 0n;
    const flat = useMemo<Flat[]>(() => {
        const shifted = other.map((track) => ({
            ...track,
            key: `2:${track.key}`,
            name: mapText.ofOther(track.name, name),
            points: track.points.map((p) => ({ ...p, time: p.time + shift })),
        }));
        return flatten([...own, ...shifted]);
    }, [own, other, name, shift]);
    return { request, live, own, flat, globe: own[0]?.coordinates === 'globe' };
}
