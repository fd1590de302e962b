// The log, filtered by level and text. The line at the playhead is highlighted; opening a line moves the playhead.
import { useMemo, useRef, useState } from 'preact/hooks';
import { useRequest } from '../../use_request';
import { usePlayback } from '../../playback';
import { logText } from '../../text/panels';
import { relativeTime } from '../../recording_time';
import { Badge, Failed, Field, Select, Spinner, VirtualTable, type Column } from '../../ui';
import type { PanelProps } from '../index';
import { countUntil } from '../time_windows';
import { MAX_LINES, readLog, type Line } from './rows';

const LEVELS: Line['level'][] = ['debug', 'info', 'warn', 'error', 'fatal'];

export function LogPanel({ recording, topics, playback, settings, onSettings }: PanelProps) {
    const [filter, setFilter] = useState('');
    const level = (settings.level ?? 'debug') as Line['level'];
    const loaded = useRef<{ of: string; lines: Line[] }>({ of: '', lines: [] });
    const result = useRequest<Line[]>(
        async (signal) => {
            const before = loaded.current.of === recording.id ? loaded.current.lines : []; // a live recording gets more
            const lines = [...before];
            loaded.current = { of: recording.id, lines }; // kept as far as it came if it gets more meanwhile
            if (before.length < MAX_LINES) {
                for await (const line of readLog(recording, topics, before.at(-1)?.time ?? null, signal)) {
                    lines.push(line);
                }
            }
            return lines;
        },
        [recording.id, recording.end_ns],
    );
    const lines = useMemo(() => {
        const wanted = filter.toLowerCase();
        return (result.value ?? []).filter(
            (l) =>
                LEVELS.indexOf(l.level) >= LEVELS.indexOf(level) &&
                (l.message.toLowerCase().includes(wanted) || l.source.toLowerCase().includes(wanted)),
        );
    }, [result.value, filter, level]);
    const { time_ns } = usePlayback(playback, 200);
    const last = countUntil(lines, time_ns, (l) => l.time) - 1;
    const [picked, setPicked] = useState<Line | null>(null);
    const current =
        // several lines may have the same time
        picked && picked.time === lines[last]?.time && lines.includes(picked) ? lines.indexOf(picked) : last;
    const columns: Column<Line>[] = [
        {
            key: 'time',
            title: logText.time,
            width: '9ch',
            cell: (l) => <span class="mono">{relativeTime(recording, l.time)}</span>,
        },
        {
            key: 'level',
            title: logText.level,
            width: '8ch',
            cell: (l) => (
                <Badge kind={l.level === 'warn' ? 'warn' : l.level === 'error' || l.level === 'fatal' ? 'bad' : ''}>
                    {logText.levels[l.level]}
                </Badge>
            ),
        },
        {
            key: 'message',
            title: logText.message,
            width: 'minmax(12ch, 4fr)',
            cell: (l) => <span title={`${l.source}: ${l.message}`}>{l.message}</span>,
        },
        {
            key: 'source',
            title: logText.source,
            width: 'minmax(6ch, 1fr)',
            cell: (l) => <span class="muted">{l.source}</span>,
        },
    ];
    if (result.error !== null) {
        return <Failed error={result.error} retry={result.reload} />;
    }
    if (!result.value) {
        return (
            <div class="empty">
                <Spinner />
            </div>
        );
    }
    const seek = (index: number) => {
        const line = lines[index];
        if (line) {
            setPicked(line);
            playback.seek(line.time);
        }
    };
    return (
        <div class="log">
            <div class="log-tools row">
                <Field
                    label={logText.filter}
                    hidden_label
                    placeholder={logText.filter}
                    value={filter}
                    onInput={(event) => setFilter(event.currentTarget.value)}
                    class="grow"
                />
                <Select
                    label={logText.minimumLevel}
                    hidden_label
                    value={level}
                    options={LEVELS.map((l) => [l, logText.levels[l]])}
                    onChange={(to) => onSettings({ level: to === 'debug' ? null : to })}
                />
            </div>
            {result.value.length >= MAX_LINES && <p class="small muted log-more">{logText.truncated(MAX_LINES)}</p>}
            {lines.length === 0 ? (
                <p class="empty muted">{logText.none}</p>
            ) : (
                <VirtualTable
                    label={logText.title}
                    columns={columns}
                    count={lines.length}
                    rowAt={(i) => lines[i]}
                    rowHeight={24}
                    current={current}
                    reveal={current >= 0 ? current : undefined}
                    onCurrent={seek}
                    onOpen={seek}
                />
            )}
            {lines[current] && (
                <p class="log-line">
                    <span class="muted">{lines[current]!.source}</span> {lines[current]!.message}
                </p>
            )}
        </div>
    );
}
