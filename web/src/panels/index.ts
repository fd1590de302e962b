// The panels of the recording view. A panel is a folder and one entry in `panels`.
import type { ComponentType } from 'preact';
import type { Playback } from '../playback';
import type { Recording, Topic } from '../types';
import { diagnostics } from './diagnostics';
import { fields } from './fields';
import { gauge } from './gauge';
import { image } from './image';
import { log } from './log';
import { map } from './map';
import { messages } from './messages';
import { plot } from './plot';
import { scene } from './scene';
import { states } from './states';
import { topics } from './topics';
import { values } from './values';

/** A second recording on the clock of the first: its time `t` is shown at `t + shift_ns`. */
export interface Companion {
    recording: Recording;
    topics: Topic[];
    shift_ns: bigint;
}
export interface PanelProps {
    recording: Recording;
    topics: Topic[];
    playback: Playback;
    /** The panel's settings (topics, fields, camera …) as short strings; the URL holds them. */
    settings: Record<string, string>;
    /** Changes some settings; null removes one. Replaces the URL in place. */
    onSettings: (changes: Record<string, string | null>) => void;
    /** The recording shown beside this one, if there is one. */
    companion: Companion | null;
    /** Opens a panel, or finds the open one of this kind, and changes its settings; `settings` gets those it has. */
    open: (panel: string, settings: (now: Record<string, string>) => Record<string, string | null>) => void;
}
export interface Panel {
    name: string; // in the URL: 'plot'
    title: string;
    /** How well the panel fits: 0 not at all (not offered), 1 possible, 2 useful, 3 made for this recording. */
    fits: (recording: Recording, topics: Topic[]) => number;
    /** The first time at which the panel has something to show; null, or without this function: at any time. */
    begins?: (
        recording: Recording,
        topics: Topic[],
        settings: Record<string, string>,
        signal: AbortSignal,
    ) => bigint | null | Promise<bigint | null>;
    /** Draws the companion's topics of the same names, too: one such panel is enough for both recordings. */
    drawsBoth?: boolean;
    Panel: ComponentType<PanelProps>;
}

export const panels: Panel[] = [
    scene,
    image,
    plot,
    messages,
    log,
    map,
    topics,
    fields,
    states,
    values,
    gauge,
    diagnostics,
];
