// The messages of a topic as a table: a row for each, the fields selected as columns. It follows the playhead; a click
// moves it.
import { useEffect, useState } from 'preact/hooks';
import { ApiError, get, request } from '../../api';
import { messagesText } from '../../text/panels';
import { relativeTime } from '../../recording_time';
import type { Message, Topic } from '../../types';
import { Button, Failed, VirtualTable, type Column } from '../../ui';
import type { PanelProps } from '../index';
import { useAtPlayhead } from '../use_at_playhead';
import { Pages } from './pages';
import { summary, type Value } from './tree';

interface Row {
    time: bigint;
    data: Record<string, Value>; // by path
}
type Props = Pick<PanelProps, 'recording' | 'playback'> & {
    topic: Topic;
    columns: string[];
    onRemove: (path: string) => void;
};

function usePages({ recording, topic, columns }: Props) {
    const [, redraw] = useState(0);
    const [error, setError] = useState<unknown>(null);
    const [pages, setPages] = useState<Pages<Row> | null>(null);
    useEffect(() => {
        const load = async (offset: number, limit: number, signal: AbortSignal): Promise<Row[]> => {
            const whole = columns.includes(''); // a message that is a single value has no field
            const params = {
                topic: topic.name,
                offset,
                limit,
                output: 'json',
                time_format: 'nanoseconds',
                ...(columns.length === 0 ? { decode: 'none' } : whole ? {} : { fields: columns.join(',') }),
            };
            const rows = await get<Message<Value>[]>(`/recordings/${recording.id}/messages`, params, signal);
            return rows.map((row) => ({
                time: BigInt(row.log_time),
                data: columns.length === 0 ? {} : whole ? { '': row.data } : (row.data as Record<string, Value>),
            }));
        };
        const created = new Pages(load, topic.messages, (failure) => (setError(failure), redraw((n) => n + 1)));
        setPages(created);
        setError(null);
        return () => created.end();
    }, [recording.id, topic.name, topic.messages, columns.join('|')]);
    return { pages, error };
}

/** The index of the message at `time`, from the server; -1: none. */
async function indexAt(id: string, topic: Topic, time: bigint, signal: AbortSignal): Promise<number> {
    try {
        const answer = await request('GET', `/recordings/${id}/message`, {
            params: { topic: topic.name, at: time, decode: 'none' },
            signal,
            headers: { Accept: 'application/json' },
        });
        return Number(answer.headers.get('X-Index') ?? -1);
    } catch (error) {
        if (error instanceof ApiError && error.status === 404) {
            return -1;
        }
        throw error;
    }
}

/** A number as short as a column: whole numbers are not rounded. */
function Cell({ value }: { value: Value | undefined }) {
    const whole = value === undefined ? '–' : summary(value);
    const short = typeof value === 'number' && !Number.isInteger(value) ? String(Number(value.toPrecision(7))) : whole;
    return (
        <span class="mono" title={whole}>
            {short}
        </span>
    );
}

export function MessageTable(props: Props) {
    const { recording, playback, topic, columns, onRemove } = props;
    const { pages, error } = usePages(props);
    const [picked, setPicked] = useState(-1);
    const at = useAtPlayhead<number>(
        playback,
        pages &&
            (async (time, signal) =>
                pages.find(time, (row) => row.time) ?? (await indexAt(recording.id, topic, time, signal))),
        [pages],
    );
    const pickedTime = pages?.rowAt(picked)?.time;
    // several messages may have the same time
    const current = pickedTime !== undefined && pickedTime === playback.get().time_ns ? picked : (at.value ?? -1);
    const seek = (index: number) => {
        const row = pages?.rowAt(index);
        if (row) {
            setPicked(index);
            playback.pause();
            playback.seek(row.time);
        }
    };
    const shown: Column<Row>[] = [
        {
            key: 'time',
            title: messagesText.time,
            width: '11ch',
            cell: (row) => <span class="mono">{relativeTime(recording, row.time)}</span>,
        },
        ...columns.map((path, i): Column<Row> => ({
            key: `field-${i}`,
            title: path,
            width: 'minmax(14ch, 1fr)',
            head: (
                <span class="messages-column" title={path}>
                    <span class="messages-column-name mono">
                        <bdi>{path || messagesText.value}</bdi>
                    </span>
                    <Button
                        kind="quiet"
                        icon="close"
                        label={messagesText.removeColumn(path)}
                        onClick={() => onRemove(path)}
                    />
                </span>
            ),
            cell: (row) => <Cell value={row.data[path]} />,
        })),
    ];
    return (
        <div class="messages-table">
            {error !== null && <Failed error={error} retry={() => pages?.retry()} />}
            <div class="messages-wide" style={{ minWidth: `${columns.length * 15 + 14}ch` }}>
                <VirtualTable
                    label={messagesText.table(topic.name)}
                    columns={shown}
                    count={topic.messages}
                    rowAt={(i) => pages?.rowAt(i)}
                    rowHeight={24}
                    current={current}
                    reveal={current >= 0 ? current : undefined}
                    onCurrent={seek}
                    onSeen={(first, end) => pages?.want(first, end)}
                    source={pages}
                />
            </div>
        </div>
    );
}
