// The panel "map": where things went, from above, on a plain grid.
import { text } from '../../text';
import type { Panel } from '../index';
import { MapPanel } from './panel';
import { placesOf } from './tracks';

export const map: Panel = {
    name: 'map',
    title: text.map.title,
    fits: (_recording, topics) => {
        const places = topics.map(placesOf).filter((place) => place !== null);
        return places.length === 0 ? 0 : places.some((place) => place.kind === 'globe') ? 2.4 : 1.4;
    },
    Panel: MapPanel,
};
