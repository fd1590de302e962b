// The panel "states": when each value of a field holds, as a strip.
import { statesText } from '../../text/signals';
import { lazy } from '../../ui';
import type { Panel, PanelProps } from '../index';
import { decoded } from '../plot/decoded';

export const states: Panel = {
    name: 'states',
    title: statesText.title,
    fits: (_recording, topics) => (topics.some(decoded) ? 0.4 : 0),
    Panel: lazy<PanelProps>(() => import('./panel')),
};
