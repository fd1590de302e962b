// The panel "gauge": one field at the playhead, large.
import { gaugeText } from '../../text/signals';
import { lazy } from '../../ui';
import type { Panel, PanelProps } from '../index';
import { decoded } from '../plot/decoded';

export const gauge: Panel = {
    name: 'gauge',
    title: gaugeText.title,
    fits: (_recording, topics) => (topics.some(decoded) ? 0.3 : 0),
    Panel: lazy<PanelProps>(() => import('./panel')),
};
