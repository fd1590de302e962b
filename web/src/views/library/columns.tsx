// The columns of the list, and which of them fit. In a narrow list, the most important ones move to a line below the
// name.
import { href } from '../../address';
import { bytes, count, dateTime, duration } from '../../format';
import { formatTitle, service } from '../../service';
import { Store, useStore } from '../../store';
import { text } from '../../text/common';
import { libraryText } from '../../text/library';
import { shownZone, zoneChoice, zoneName } from '../../time_zone';
import type { Recording } from '../../types';
import { Badge, type Column } from '../../ui';
import { PreviewCell } from './preview';
import type { Previews } from './previews';

const titles = libraryText.columns;
const KINDS: Record<string, 'warn' | 'bad' | 'accent'> = {
    recording: 'accent',
    scanning: 'accent',
    failed: 'bad',
    missing: 'bad',
    changed: 'warn',
    announced: 'accent',
    trashed: 'warn',
};

export function recordingPath(recording: Recording): string {
    return href(`recordings/${recording.id}`);
}

/** When it began by the calendar; null: not known. */
const calendarStart = (recording: Recording) =>
    recording.calendar_start ?? (recording.clock === 'wall' ? recording.start : null);

const isRelative = (recording: Recording) =>
    recording.state === 'ready' && recording.clock === 'relative' && !recording.calendar_start;

function startOf(recording: Recording) {
    const start = calendarStart(recording);
    return isRelative(recording) ? (
        <span class="muted" title={libraryText.noDateHelp}>
            {libraryText.noDate}
        </span>
    ) : (
        dateTime(start, 0, shownZone(recording))
    );
}

function Tags({ tags }: { tags: Record<string, string> }) {
    const all = Object.entries(tags).map(([key, value]) => (value ? `${key}:${value}` : key));
    return (
        <span title={all.join('\n')}>
            {all.map((tag) => (
                <span key={tag} class="library-tag">
                    {tag}
                </span>
            ))}
        </span>
    );
}

function State({ recording }: { recording: Recording }) {
    return (
        <>
            {recording.state !== 'ready' && (
                <Badge kind={KINDS[recording.state]} title={recording.problem ?? text.stateHelp[recording.state]}>
                    {text.state[recording.state]}
                </Badge>
            )}
            {recording.damaged && <Badge kind="warn">{text.damaged}</Badge>}
        </>
    );
}

function Format({ name }: { name: string }) {
    const title = formatTitle(useStore(service), name);
    return <span title={title}>{title}</span>;
}

function Name({ recording, more }: { recording: Recording; more: boolean }) {
    const start = calendarStart(recording);
    return (
        <>
            <a class="library-name" href={recordingPath(recording)} tabIndex={-1} title={recording.name}>
                {recording.name}
            </a>
            {more && (
                <span class="library-more muted small">
                    <State recording={recording} />
                    {(start || isRelative(recording)) && (
                        <span>
                            {startOf(recording)}
                            {start && ` ${zoneName(shownZone(recording), Date.parse(start))}`}
                        </span>
                    )}
                    {recording.duration_ns !== null && <span>{duration(recording.duration_ns)}</span>}
                    <span>{bytes(recording.size)}</span>
                    <Format name={recording.format} />
                </span>
            )}
        </>
    );
}

const all: (Column<Recording> & { from: number })[] = [
    {
        key: 'name',
        title: titles.name!,
        width: 'minmax(22ch, 5fr)',
        sort: true,
        from: 0,
        cell: (r) => <Name recording={r} more={false} />,
    },
    {
        key: 'collection',
        title: titles.collection!,
        width: 'minmax(11ch, 0.8fr)',
        from: 950,
        cell: (r) => <span class="muted">{r.collection}</span>,
    },
    {
        key: 'format',
        title: titles.format!,
        width: 'minmax(9ch, 15ch)',
        from: 750,
        cell: (r) => <Format name={r.format} />,
    },
    { key: 'start', title: titles.start!, width: 'max(19ch, 150px)', sort: true, from: 0, cell: startOf },
    {
        key: 'duration',
        title: titles.duration!,
        width: '9ch',
        right: true,
        sort: true,
        from: 0,
        cell: (r) => duration(r.duration_ns),
    },
    { key: 'size', title: titles.size!, width: '8ch', right: true, sort: true, from: 0, cell: (r) => bytes(r.size) },
    {
        key: 'messages',
        title: titles.messages!,
        width: '10ch',
        right: true,
        sort: true,
        from: 1300,
        cell: (r) => count(r.messages),
    },
    { key: 'channels', title: titles.channels!, width: '9ch', right: true, from: 1400, cell: (r) => count(r.channels) },
    { key: 'tags', title: titles.tags!, width: 'minmax(8ch, 2fr)', from: 1030, cell: (r) => <Tags tags={r.tags} /> },
    {
        key: 'created',
        title: titles.created!,
        width: '10ch',
        sort: true,
        from: 850,
        cell: (r) => <span class="muted">{dateTime(r.created).slice(0, 10)}</span>,
    },
    { key: 'state', title: titles.state!, width: '10ch', from: 0, cell: (r) => <State recording={r} /> },
];
const NARROW = 660; // px: below it, the columns that are always shown do not fit
const STATE_WIDTH = 95; // px: of the column and its gap
const narrow: Column<Recording> = { ...all[0]!, width: '1fr', cell: (r) => <Name recording={r} more /> };

// ---- columns that are not shown, by the browser's memory

const KEY = 'reel.hidden_columns';
export const hiddenColumns = new Store<readonly string[]>((localStorage.getItem(KEY) ?? '').split(' ').filter(Boolean));
export function toggleColumn(key: string): void {
    const before = hiddenColumns.get();
    hiddenColumns.set(before.includes(key) ? before.filter((one) => one !== key) : [...before, key]);
    localStorage.setItem(KEY, hiddenColumns.get().join(' '));
}
/** Those that the list has no room for, by its width. */
export const columnsWithoutRoom = new Store<readonly string[]>([]);
/** Those that can be hidden. */
export const OPTIONAL = ['preview', ...all.slice(1).map((column) => column.key)];

export const SORTS: [string, string][] = ['created', 'start', 'name', 'duration', 'size', 'messages'].map((key) => [
    key,
    titles[key]!,
]);

function previewColumn(previews: Previews): Column<Recording> {
    return {
        key: 'preview',
        title: titles.preview!,
        head: <span class="visually-hidden">{titles.preview}</span>,
        width: '58px',
        cell: (r) => <PreviewCell recording={r} preview={previews.of(r)} />,
    };
}

/**
 * The columns that fit and are not hidden, and which do not fit. `states`: some rows are not simply ready; otherwise
 * that column would be empty.
 */
export function columnsFor(
    width: number,
    states: boolean,
    hidden: readonly string[],
    previews: Previews,
): { columns: Column<Recording>[]; rowHeight: number; noRoom: string[] } {
    const pictures = hidden.includes('preview') ? [] : [previewColumn(previews)];
    const room = states ? width - STATE_WIDTH : width;
    if (room < NARROW) {
        return { columns: [...pictures, narrow], rowHeight: 48, noRoom: all.map((column) => column.key) };
    }
    const zone = zoneChoice.get() === 'recording' ? text.zone.own : zoneName();
    const shown = all.filter(
        (column) => column.from <= room && (states || column.key !== 'state') && !hidden.includes(column.key),
    );
    return {
        columns: [
            ...pictures,
            ...shown.map((column) =>
                column.key === 'start' ? { ...column, title: text.zone.in(column.title, zone) } : column,
            ),
        ],
        rowHeight: pictures.length > 0 ? 42 : 28,
        noRoom: all.filter((column) => column.from > room).map((column) => column.key),
    };
}
