// The panel "scene": a 3D view. three.js is loaded only with this panel.
import { sceneText } from '../../text/panels';
import { getRows } from '../../api';
import { firstTime } from '../../recording_time';
import type { Recording, Topic } from '../../types';
import { lazy } from '../../ui';
import type { Panel, PanelProps } from '../index';
import { drawnAs, isTransforms } from './ros_types';

function fits(recording: Recording, topics: Topic[]): number {
    if (topics.some((t) => t.type === 'carla/Position' || t.type === 'nanover/frame')) {
        return recording.messages > 0 ? 3 : 0;
    }
    return topics.some((t) => (drawnAs(t.type) || isTransforms(t.type)) && t.messages > 0) ? 2 : 0;
}

const FIRST_FRAMES = 100; // that may come before the atoms

/** The time of the first frame with atoms: a simulation may begin with frames that have none. */
async function firstAtoms(recording: Recording, topic: Topic, signal: AbortSignal): Promise<bigint | null> {
    const rows = getRows<{ log_time: string; data: { frame?: object } }>(
        `/recordings/${recording.id}/messages`,
        { topic: topic.name, limit: FIRST_FRAMES, time_format: 'nanoseconds' },
        signal,
    );
    for await (const { log_time, data } of rows) {
        if (data.frame && 'particle.positions' in data.frame) {
            return BigInt(log_time);
        }
    }
    return null;
}

function begins(
    recording: Recording,
    topics: Topic[],
    _settings: Record<string, string>,
    signal: AbortSignal,
): bigint | null | Promise<bigint | null> {
    const shown = topics.filter((t) => t.messages > 0);
    const frames = shown.find((t) => t.type === 'nanover/frame');
    if (frames) {
        return firstAtoms(recording, frames, signal);
    }
    const actors = shown.find((t) => t.type === 'carla/Position');
    const times = (actors ? [actors] : shown.filter((t) => drawnAs(t.type))).flatMap((t) => firstTime(t) ?? []);
    return times.reduce<bigint | null>((first, time) => (first === null || time < first ? time : first), null);
}

export const scene: Panel = {
    name: 'scene',
    title: sceneText.title,
    fits,
    begins,
    Panel: lazy<PanelProps>(() => import('./panel')),
};
