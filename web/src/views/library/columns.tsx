// The columns of the list, and which of them fit. Its one rule: what is left out of a narrow list is in the line below the name.
import { href } from '../../address';
import { bytes, count, dateTime, duration } from '../../format';
import { text } from '../../text';
import type { Recording } from '../../types';
import { Badge, type Column } from '../../ui';

const words = text.library.columns;
const KINDS: Record<string, 'warn' | 'bad' | 'accent'> = { scanning: 'accent', failed: 'bad', missing: 'bad', changed: 'warn', trashed: 'warn' };

export function pathOf(recording: Recording): string {
    return href(`/recordings/${recording.id}`);
}

function when(recording: Recording) {
    const start = recording.calendar_start ?? recording.start;
    return recording.calendar_start || recording.clock === 'wall' ? (
        dateTime(start)
    ) : (
        <span class="soft" title={text.library.ownClockHelp}>
            {recording.state === 'ready' ? text.library.ownClock : '–'}
        </span>
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

function Name({ recording, more }: { recording: Recording; more: boolean }) {
    return (
        <>
            <a class="library-name" href={pathOf(recording)} tabIndex={-1} title={recording.name}>
                {recording.name}
            </a>
            {more && (
                <span class="library-more soft small">
                    <State recording={recording} />
                    <span>{when(recording)}</span>
                    <span>{duration(recording.duration_ns)}</span>
                    <span>{bytes(recording.size)}</span>
                    <span>{recording.format}</span>
                </span>
            )}
        </>
    );
}

const all: (Column<Recording> & { from: number })[] = [
    { key: 'name', title: words.name!, width: 'minmax(22ch, 2.4fr)', sort: true, from: 0, cell: (r) => <Name recording={r} more={false} /> },
    { key: 'collection', title: words.collection!, width: 'minmax(7ch, 0.8fr)', from: 900, cell: (r) => <span class="soft">{r.collection}</span> },
    { key: 'format', title: words.format!, width: '9ch', from: 620, cell: (r) => r.format },
    { key: 'start', title: words.start!, width: '19ch', sort: true, from: 620, cell: when },
    { key: 'duration', title: words.duration!, width: '9ch', right: true, sort: true, from: 620, cell: (r) => duration(r.duration_ns) },
    { key: 'size', title: words.size!, width: '8ch', right: true, sort: true, from: 620, cell: (r) => bytes(r.size) },
    { key: 'messages', title: words.messages!, width: '10ch', right: true, sort: true, from: 1080, cell: (r) => count(r.messages) },
    { key: 'channels', title: words.channels!, width: '9ch', right: true, from: 1250, cell: (r) => count(r.channels) },
    { key: 'tags', title: words.tags!, width: 'minmax(8ch, 2.4fr)', from: 860, cell: (r) => <Tags tags={r.tags} /> },
    {
        key: 'created',
        title: words.created!,
        width: '10ch',
        sort: true,
        from: 1400,
        cell: (r) => <span class="soft">{dateTime(r.created).slice(0, 10)}</span>,
    },
    { key: 'state', title: words.state!, width: '10ch', from: 620, cell: (r) => <State recording={r} /> },
];
const NARROW = 620;
const narrow: Column<Recording>[] = [{ ...all[0]!, width: '1fr', cell: (r) => <Name recording={r} more /> }];

export const SORTS: [string, string][] = ['created', 'start', 'name', 'duration', 'size', 'messages'].map((key) => [key, words[key]!]);

export function columnsFor(width: number): { columns: Column<Recording>[]; rowHeight: number; narrow: boolean } {
    if (width < NARROW) {
        return { columns: narrow, rowHeight: 48, narrow: true };
    }
    return { columns: all.filter((column) => column.from <= width), rowHeight: 28, narrow: false };
}
