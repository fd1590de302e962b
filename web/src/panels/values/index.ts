// The panel "values": fields of several topics at the playhead, as a table.
import { valuesText } from '../../text/signals';
import { lazy } from '../../ui';
import type { Panel, PanelProps } from '../index';
import { decoded } from '../plot/decoded';

export const values: Panel = {
    name: 'values',
    title: valuesText.title,
    fits: (_recording, topics) => (topics.some(decoded) ? 0.35 : 0),
    Panel: lazy<PanelProps>(() => import('./panel')),
};
