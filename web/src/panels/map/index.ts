// The panel "map": tracks from above.
import { mapText } from '../../text/panels';
import { lazy } from '../../ui';
import type { Panel, PanelProps } from '../index';
import { trackKind } from './tracks';

export const map: Panel = {
    name: 'map',
    title: mapText.title,
    fits: (_recording, topics) => {
        const kinds = topics.map(trackKind).filter((kind) => kind !== null);
        return kinds.length === 0 ? 0 : kinds.some((kind) => kind.coordinates === 'globe') ? 2.4 : 1.4;
    },
    drawsBoth: true,
    Panel: lazy<PanelProps>(() => import('./panel')),
};
