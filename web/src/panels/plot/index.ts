// The panel "plot": numeric fields of a recording over time.
import { text } from '../../text';
import { lazy } from '../../ui';
import type { Panel, PanelProps } from '../index';

export const plot: Panel = {
    name: 'plot',
    title: text.plot.title,
    fits: (recording, topics) => (recording.messages === 0 ? 0 : topics.some((t) => t.type === 'nanover/frame' || /Imu|Float|Pose|Twist|Odom|Joint/.test(t.type)) ? 2 : 1.2),
    Panel: lazy<PanelProps>(() => import('./panel')),
};
