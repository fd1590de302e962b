// The texts of the panels of signals: fields, states, gauge, diagnostics.
import { plural } from './common';

export const fieldsText = {
    title: 'Fields',
    filter: 'Filter fields',
    label: 'Fields of the topics',
    none: 'No fields match',
    noneHere: 'No numbers or texts',
    loading: 'Loading…',
    failed: 'The fields cannot be listed.',
    plot: 'Plot',
    plotField: (path: string) => `Plot ${path}`,
    plotAll: (path: string, n: number) => `Plot the ${n} fields of ${path}`,
    states: 'States',
    statesField: (path: string) => `Show the states of ${path}`,
    values: 'Value',
    valuesField: (path: string) => `Show the value of ${path}`,
    help: 'Drag a field onto a plot, or press Enter on it.',
    more: (n: number) => `${plural(n, 'more field', 'more fields')}: filter for them`,
    text: 'text',
};

export const statesText = {
    title: 'States',
    choose: 'Select fields',
    fields: 'Fields',
    resetZoom: 'Reset zoom',
    view: 'View',
    link: 'Link zoom and pointer with other panels',
    empty: 'No fields selected',
    emptyHelp:
        'Select texts, booleans or small numbers, or drag them from the panel Fields: a strip shows when each value holds.',
    none: 'No messages here',
    thinned: 'Some messages are left out: zoom in for all.',
    previous: (field: string) => `Previous change of ${field}`,
    next: (field: string) => `Next change of ${field}`,
    remove: (field: string) => `Remove ${field}`,
    run: (value: string, from: string, length: string) => `${value} from ${from} for ${length}`,
    several: (n: number, from: string, length: string) => `${n} states from ${from} in ${length}`,
    label: (field: string, n: number) => `States of ${field}: ${plural(n, 'change', 'changes')}`,
};

export const gaugeText = {
    title: 'Gauge',
    choose: 'Select a field',
    field: 'Field',
    range: 'Range',
    rangeTitle: 'Range of the gauge',
    least: 'Minimum',
    most: 'Maximum',
    rangeHelp: 'Empty: as in the recording.',
    wrong: 'Not a number',
    done: 'Done',
    empty: 'No field selected',
    emptyHelp: 'Select a field, or drag one from the panel Fields: its value at the playhead is shown large.',
    label: (field: string, value: string) => `${field}: ${value}`,
    none: 'No message at or before the playhead',
};

export const diagnosticsText = {
    title: 'Diagnostics',
    filter: 'Filter',
    minimumLevel: 'Minimum level',
    levels: ['OK', 'Warning', 'Error', 'Stale'],
    summary: (n: number[]) =>
        [plural(n[2]!, 'error', 'errors'), plural(n[1]!, 'warning', 'warnings'), `${n[3]!} stale`, `${n[0]!} OK`].join(
            ', ',
        ),
    level: 'Level',
    name: 'Name',
    message: 'Message',
    none: 'No status at or before the playhead',
    noneMatch: 'No status matches',
    staleSince: (time: string) => `not reported for ${time}`,
    values: (name: string) => `Values of ${name}`,
    hardware: 'Hardware',
    noValues: 'No values',
};

export const valuesText = {
    title: 'Values',
    choose: 'Select fields',
    fields: 'Fields',
    field: 'Field',
    value: 'Value',
    age: 'Age',
    ageHelp: 'How long before the playhead the message was recorded',
    tools: 'Remove',
    remove: (field: string) => `Remove ${field}`,
    empty: 'No fields selected',
    emptyHelp:
        'Select fields of any topics, or drag them from the panel Fields: their values at the playhead are listed.',
};
