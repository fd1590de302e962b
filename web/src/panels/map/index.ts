// The panel "map": tracks from above, on a grid.
import { text } from '../../text';
import type { Panel } from '../index';
import { MapPanel } from './panel';
import { trackKind } from './tracks';

export const map: Panel = {
    name: 'map',
    title: text.map.title,
    fits: (_recording, topics) => {
        const places = topics.map(trackKind).filter((place) => place !== null);
        return places.length === 0 ? 0 : places.some((place) => place.kind === 'globe') ? 2.4 : 1.4;
    },
    Panel: MapPanel,
};
