// The statuses at the playhead, the worst first; the values of the selected one below.
import { useState } from 'preact/hooks';
import { duration } from '../../format';
import { diagnosticsText } from '../../text/signals';
import { Badge, Failed, Field, Select, Spinner, VirtualTable, type Column } from '../../ui';
import type { PanelProps } from '../index';
import { useAtPlayhead } from '../use_at_playhead';
import { isDiagnostics } from './index';
import { LEVELS, statusesAt, type Status } from './status';

const KINDS = ['good', 'warn', 'bad', ''] as const; // by level
const OK = 0;
const STALE = 3;

const columns: Column<Status>[] = [
    {
        key: 'level',
        title: diagnosticsText.level,
        width: '9ch',
        cell: ({ level }) => <Badge kind={KINDS[level]}>{diagnosticsText.levels[level]}</Badge>,
    },
    {
        key: 'name',
        title: diagnosticsText.name,
        width: 'minmax(12ch, 2fr)',
        cell: ({ name }) => <span title={name}>{name}</span>,
    },
    {
        key: 'message',
        title: diagnosticsText.message,
        width: 'minmax(10ch, 3fr)',
        cell: ({ message, level, age_ns }) => {
            const stale = level === STALE && age_ns > 0n ? diagnosticsText.staleSince(duration(age_ns)) : '';
            const shown = [message, stale].filter(Boolean).join(', ');
            return <span title={shown}>{shown}</span>;
        },
    },
];

function Values({ status }: { status: Status }) {
    return (
        <div class="diagnostics-values" role="group" aria-label={diagnosticsText.values(status.name)} tabIndex={0}>
            <p class="diagnostics-name">
                <strong>{status.name}</strong>
                {status.message && <>: {status.message}</>}
            </p>
            <dl>
                {status.hardware && (
                    <>
                        <dt>{diagnosticsText.hardware}</dt>
                        <dd>{status.hardware}</dd>
                    </>
                )}
                {status.values.map(({ key, value }) => (
                    <>
                        <dt>{key}</dt>
                        <dd class="mono">{value}</dd>
                    </>
                ))}
            </dl>
            {status.values.length === 0 && <p class="muted">{diagnosticsText.noValues}</p>}
        </div>
    );
}

export default function Diagnostics({ recording, topics, playback, settings, onSettings }: PanelProps) {
    const [filter, setFilter] = useState('');
    const wanted = topics.filter(isDiagnostics);
    const at = useAtPlayhead<Status[]>(playback, (time, signal) => statusesAt(recording, wanted, time, signal), [
        recording.id,
        wanted.map(({ name }) => name).join('|'),
    ]);
    const least = Math.min(Number(settings.level ?? 0) || 0, LEVELS - 1);
    const all = at.value ?? [];
    const words = filter.toLowerCase();
    const shown = all.filter(
        ({ level, name, message }) => level >= least && `${name} ${message}`.toLowerCase().includes(words),
    );
    const current = shown.findIndex(({ name }) => name === settings.name);
    const counts = Array.from({ length: LEVELS }, (_, level) => all.filter((one) => one.level === level).length);
    const select = (index: number) => onSettings({ name: shown[index]?.name ?? null });
    return (
        <div class="diagnostics">
            <div class="diagnostics-tools row">
                <Field
                    label={diagnosticsText.filter}
                    hidden_label
                    placeholder={diagnosticsText.filter}
                    value={filter}
                    onInput={(event) => setFilter(event.currentTarget.value)}
                    class="grow"
                />
                <Select
                    label={diagnosticsText.minimumLevel}
                    hidden_label
                    value={String(least)}
                    options={diagnosticsText.levels.map((name, level): [string, string] => [String(level), name])}
                    onChange={(to) => onSettings({ level: to === String(OK) ? null : to })}
                />
            </div>
            {at.error !== null && <Failed error={at.error} retry={at.reload} />}
            {at.time === null && at.error === null && (
                <div class="empty">
                    <Spinner />
                </div>
            )}
            {all.length > 0 && <p class="diagnostics-summary small muted">{diagnosticsText.summary(counts)}</p>}
            {at.time !== null && shown.length === 0 && at.error === null && (
                <p class="empty muted">{all.length === 0 ? diagnosticsText.none : diagnosticsText.noneMatch}</p>
            )}
            {shown.length > 0 && (
                <VirtualTable
                    label={diagnosticsText.title}
                    columns={columns}
                    count={shown.length}
                    rowAt={(i) => shown[i]}
                    rowHeight={24}
                    current={current}
                    onCurrent={select}
                />
            )}
            {shown[current] && <Values status={shown[current]!} />}
        </div>
    );
}
