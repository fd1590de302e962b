// The panel "fields": the fields of all topics as a tree, to plot them.
import { fieldsText } from '../../text/signals';
import { lazy } from '../../ui';
import type { Panel, PanelProps } from '../index';
import { decoded } from '../plot/decoded';

export const fields: Panel = {
    name: 'fields',
    title: fieldsText.title,
    fits: (_recording, topics) => (topics.some(decoded) ? 0.5 : 0),
    Panel: lazy<PanelProps>(() => import('./panel')),
};
