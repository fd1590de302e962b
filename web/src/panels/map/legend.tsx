// The tracks by name and colour, to be shown or hidden, and the scale of the colours along them.
import { gradientOf } from '../colour_maps';
import { text } from '../../text/common';
import { mapText } from '../../text/panels';
import { Check } from '../../ui';
import type { ColourBy } from './draw';
import type { Flat } from './geometry';

const LISTED_MAX = 50; // of the actors of a simulation there may be hundreds

interface Props {
    tracks: Flat[];
    hidden: ReadonlySet<string>;
    colourOf: (track: Flat) => string;
    by: ColourBy;
    range: [number, number];
    onToggle: (key: string, shown: boolean) => void;
}

const shown = (value: number, by: ColourBy): string =>
    by === 'speed' ? `${Number(value.toPrecision(3))} m/s` : `${Math.round(value)} s`;

export function Legend({ tracks, hidden, colourOf, by, range, onToggle }: Props) {
    return (
        <div class="map-legend" role="group" aria-label={mapText.legend}>
            {tracks.slice(0, LISTED_MAX).map((track) => (
                <div key={track.key} class="map-track">
                    <span class="map-swatch" style={{ background: colourOf(track) }} aria-hidden="true" />
                    <Check
                        label={<span class="mono">{track.name}</span>}
                        checked={!hidden.has(track.key)}
                        onChange={(on) => onToggle(track.key, on)}
                    />
                </div>
            ))}
            {tracks.length > LISTED_MAX && <p class="small muted">{text.moreItems(tracks.length - LISTED_MAX)}</p>}
            {by !== 'track' && (
                <div class="map-range small">
                    <span>{shown(range[0], by)}</span>
                    <span class="map-gradient" style={{ background: gradientOf('rainbow') }} aria-hidden="true" />
                    <span>{shown(range[1], by)}</span>
                </div>
            )}
        </div>
    );
}
