// The panel "plot": any numbers of a recording over time.
import { text } from '../../text';
import { later } from '../../ui';
import type { Panel, PanelProps } from '../index';

export const plot: Panel = {
    name: 'plot',
    title: text.plot.title,
    fits: (recording, topics) => (recording.messages === 0 ? 0 : topics.some((t) => t.type === 'nanover/frame' || /Imu|Float|Pose|Twist|Odom|Joint/.test(t.type)) ? 2 : 1.2),
    Panel: later<PanelProps>(() => import('./panel')),
};
