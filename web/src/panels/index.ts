// The panels that can be put below a recording's timeline. Its one rule: a panel is its folder and one line here.
import type { ComponentType } from 'preact';
import type { Clock } from '../clock';
import type { Recording, Topic } from '../types';
import { image } from './image';
import { log } from './log';
import { map } from './map';
import { messages } from './messages';
import { plot } from './plot';
import { scene } from './scene';
import { table } from './table';

export interface PanelProps {
    recording: Recording;
    topics: Topic[];
    clock: Clock;
    /** What the panel was set to (topics, fields, camera …), as the address keeps it: short texts. */
    settings: Record<string, string>;
    /** Sets some of it; null takes a name away. The address changes in place. */
    onSettings: (changes: Record<string, string | null>) => void;
}
export interface Panel {
    name: string; // in the address: 'plot'
    title: string; // from text.panels
    /** How well it fits: 0 not at all (not offered), 1 possible, 2 useful, 3 what this recording is for. */
    fits: (recording: Recording, topics: Topic[]) => number;
    Panel: ComponentType<PanelProps>;
}

export const panels: Panel[] = [scene, image, plot, messages, log, map, table];
