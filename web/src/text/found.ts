// The texts of searches for values.
import { count } from '../format';
import { plural } from './common';

export const foundText = {
    title: 'When was',
    found: (n: number, more: boolean) => `${count(n)}${more ? '+' : ''} ${n === 1 ? 'recording' : 'recordings'}`,
    searched: (n: number) => `of ${count(n)} searched.`,
    waiting: (n: number) => `${plural(n, 'recording is', 'recordings are')} being prepared for this search.`,
    failed: (n: number) => `${plural(n, 'recording', 'recordings')} could not be searched`,
    none: 'This was in no recording',
    noneHelp: 'Check the topic and the field: the search box suggests those of the archive.',
    times: (n: number) => plural(n, 'time', 'times'),
    timesOf: (name: string) => `Times in ${name}`,
    held: (all: string) => `${all} in all`,
    between: (min: string, max: string) => `${min} to ${max}`,
    incomplete: 'not searched to its end',
    save: 'Save as events…',
    saveTitle: 'Save as events',
    saveButton: 'Save',
    eventTitle: 'Title',
    eventHelp: (where: string) => `Each time becomes an event of its recording. Without a title: ${where}`,
    saved: (events: number, recordings: number) =>
        `${plural(events, 'event', 'events')} in ${plural(recordings, 'recording', 'recordings')}`,
};
