// The panel "map": tracks from above, on a grid.
import { text } from '../../text';
import type { Panel } from '../index';
import { MapPanel } from './panel';
import { trackKind } from './tracks';

export const map: Panel = {
    name: 'map',
    title: text.map.title,
    fits: (_recording, topics) => {
        const kinds = topics.map(trackKind).filter((kind) => kind !== null);
        return kinds.length === 0 ? 0 : kinds.some((kind) => kind.coordinates === 'globe') ? 2.4 : 1.4;
    },
    Panel: MapPanel,
};
