// The texts of the dialog that makes a training set of a search.
import { count } from '../format';
import { plural } from './common';

export const trainingText = {
    open: 'Make a training set…',
    title: 'Training set',
    about: 'Each recording of the search becomes an episode, as LeRobot reads it. Nothing is copied: the files are made when they are read.',
    features: 'Features',
    none: 'No topic is of a type that features are proposed for. Add them below.',
    feature: 'Feature',
    source: 'Topic and field',
    add: 'Add',
    remove: (source: string) => `Without ${source}`,
    fps: 'Frames a second',
    age: 'Largest age, seconds',
    ageHelp: 'Frames with an older value are dropped; empty: none.',
    preview: 'Preview',
    planning: 'Reading the first recordings…',
    summary: (episodes: number, frames: number, seconds: number) =>
        `${plural(episodes, 'episode', 'episodes')}, ${plural(frames, 'frame', 'frames')}, ${seconds.toFixed(1)} s`,
    first: 'Of the first 20 recordings.',
    columns: { name: 'Recording', frames: 'Frames', dropped: 'Dropped', age: 'Largest age' },
    left: (problem: string) => `Left out: ${problem}`,
    reasons: {
        too_old: 'too old',
        unreadable: 'unreadable',
        other_size: 'of another size',
        off_grid: 'without their key frame',
        other_run: 'outside of the longest run',
    } as Record<string, string>,
    dropped: (n: number, reason: string) => `${count(n)} ${reason}`,
    name: 'Name',
    nameHelp: 'ROBOT/TASK, as programs will load it.',
    save: 'Save',
    saved: (name: string) => `“${name}” is saved. To load it:`,
    copy: 'Copy',
    taken: (name: string) => `There is a training set “${name}” already.`,
    seconds: (s: number) => `${s.toFixed(3)} s`,
    load: 'How to load it',
};
