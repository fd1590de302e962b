// The tracks of the recording, and of the one beside it.
import { useMemo } from 'preact/hooks';
import { text } from '../../text';
import type { Recording, Topic } from '../../types';
import { useRequest } from '../../use_request';
import type { PanelProps } from '../index';
import { flatten, type Flat } from './geometry';
import { trackKind, tracksOf, type Track, type TrackKind } from './tracks';

interface Loaded {
    own: Track[];
    other: Track[]; // of the companion, on its own clock
}

const sourcesOf = (topics: Topic[]): { topic: Topic; kind: TrackKind }[] =>
    topics.flatMap((topic) => {
        const kind = trackKind(topic);
        return kind ? [{ topic, kind }] : [];
    });

export function useTracks({ recording, topics, companion }: PanelProps) {
    const request = useRequest<Loaded>(
        async (signal) => {
            const own = sourcesOf(topics);
            const coordinates = own.some((s) => s.kind.coordinates === 'globe') ? 'globe' : 'plane'; // tracks in metres have no place on the globe
            const load = async (of: Recording, from: typeof own) => (await Promise.all(from.filter((s) => s.kind.coordinates === coordinates).map((s) => tracksOf(of, s.topic, s.kind, signal)))).flat();
            return { own: await load(recording, own), other: companion ? await load(companion.recording, sourcesOf(companion.topics)) : [] };
        },
        [recording.id, companion?.recording.id],
    );
    const { own, other } = request.value ?? { own: [], other: [] };
    const name = companion?.recording.name ?? '';
    const shift = companion?.shift_ns ?? 0n;
    const flat = useMemo<Flat[]>(() => {
        const shifted = other.map((track) => ({ ...track, key: `2:${track.key}`, name: text.map.ofOther(track.name, name), points: track.points.map((p) => ({ ...p, time: p.time + shift })) }));
        return flatten([...own, ...shifted]);
    }, [own, other, name, shift]);
    return { request, own, flat, globe: own[0]?.coordinates === 'globe' };
}
