// The panel "plot": numeric fields of a recording over time.
import type { Recording, Topic } from '../../types';
import { plotText } from '../../text/panels';
import { lazy } from '../../ui';
import type { Panel, PanelProps } from '../index';
import { decoded } from './decoded';

/** Below the topics if none of the messages can be decoded. */
function fits(recording: Recording, topics: Topic[]): number {
    if (recording.messages === 0) {
        return 0;
    }
    const known = /Imu|Float|Pose|Twist|Odom|Joint|Battery|Range$|Wrench|Accel|Vector3|Velocity/;
    return topics.some((t) => t.type === 'nanover/frame' || (known.test(t.type) && decoded(t)))
        ? 2
        : topics.some(decoded)
          ? 1.2
          : 0.8;
}

export const plot: Panel = {
    name: 'plot',
    title: plotText.title,
    fits,
    drawsBoth: true,
    Panel: lazy<PanelProps>(() => import('./panel')),
};
