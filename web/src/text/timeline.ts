// The texts of the timeline, the player and the events.
import { count } from '../format';

export const timelineText = {
    title: 'Timeline',
    playhead: 'Playhead',
    hint: 'Drag to select',
    topics: 'All topics',
    all: (n: number) => (n === 1 ? '1 topic' : `${count(n)} topics`),
    resize: 'Height of the timeline',
    resizeHelp: 'Drag to resize. Double-click: one row, or all topics.',
    zoom: 'Zoom to selection',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    clearSelection: 'Clear selection',
    resetZoom: 'Reset zoom',
    filter: 'Filter topics',
    lost: (start: string, length: string, texts: string[]) =>
        `Lost at ${start}${length === '0 s' ? '' : `, ${length}`}: ${texts.slice(0, 3).join('; ')}${texts.length > 3 ? '; …' : ''}`,
    group: (path: string, topics: string) => `${path}: ${topics} topics`,
};

export const playerText = {
    title: 'Playback',
    play: 'Play',
    pause: 'Pause',
    start: 'Go to start',
    end: 'Go to end',
    previousFrame: 'Previous frame',
    nextFrame: 'Next frame',
    speed: 'Speed',
    loop: 'Loop',
    live: 'Live',
    liveHelp: 'Follow the end of the growing recording',
    keys: 'Keyboard shortcuts',
    keyList: [
        ['Space', 'Play or pause'],
        ['← →', 'Previous or next frame'],
        ['Shift ← →', 'One second back or forward'],
        ['J K L', 'Play backwards, pause, play; J or L again: faster'],
        ['P', 'Next panel; Shift P: previous panel'],
        ['[ ]', 'Start or end the selection at the playhead, with the timeline focused'],
        ['+ − 0', 'Zoom the timeline in or out, or reset it, with the timeline focused'],
        ['+ − 0', 'Zoom the image in or out, or fit it, with the image focused'],
        ['M', 'Add an event at the playhead or the selection'],
        ['Enter, F2, Delete', 'Go to, rename or delete the focused event; ↑ ↓: previous or next event'],
        [
            '← →',
            'Move the focused event by a frame; with Shift: by a second; with Alt: its end; with Alt Shift: its start',
        ],
    ] as [string, string][],
};

export const eventsText = {
    title: 'Events',
    name: 'Event title',
    add: 'Add event',
    help: 'Added at the selected time range, or at the playhead.',
    remove: (title: string) => `Delete event ${title}`,
    removed: (title: string) => `Event “${title}” deleted`,
    changed: (title: string) => `Event “${title}” changed`,
    conflict: (title: string) => `Someone else changed the event “${title}”. The current version is shown.`,
    gone: (title: string) => `Someone else deleted the event “${title}”.`,
    unnamed: 'Event',
    derived: 'From the recording',
    one: (title: string, start: string, length: string) => `${title}, ${start}${length ? `, ${length}` : ''}`,
    many: (n: number, start: string, end: string) => `${count(n)} events, ${start} to ${end}. Zoom in`,
    hint: 'Drag, or press M, to add an event',
};
