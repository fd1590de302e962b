// The log, filtered by level and words; the line at the play head is marked, and a line that is opened moves the head.
import { useMemo, useState } from 'preact/hooks';
import { useAsk } from '../../ask';
import { useClock } from '../../clock';
import { text } from '../../text';
import { since } from '../../times';
import { Badge, Failed, Field, Select, Spinner, VirtualTable, type Column } from '../../ui';
import type { PanelProps } from '../index';
import { countUntil } from '../windows';
import { linesOf, MOST, type Line } from './rows';

const LEVELS: Line['level'][] = ['debug', 'info', 'warn', 'error', 'fatal'];

export function LogPanel({ recording, topics, clock, settings, onSettings }: PanelProps) {
    const [words, setWords] = useState('');
    const level = (settings.level ?? 'debug') as Line['level'];
    const asked = useAsk<Line[]>(
        async (signal) => {
            const all: Line[] = [];
            for await (const line of linesOf(recording, topics, signal)) {
                all.push(line);
            }
            return all;
        },
        [recording.id],
    );
    const lines = useMemo(() => {
        const wanted = words.toLowerCase();
        return (asked.value ?? []).filter((l) => LEVELS.indexOf(l.level) >= LEVELS.indexOf(level) && (l.words.toLowerCase().includes(wanted) || l.source.toLowerCase().includes(wanted)));
    }, [asked.value, words, level]);
    const { time_ns } = useClock(clock, 200);
    const last = countUntil(lines, time_ns, (l) => l.time) - 1;
    const [picked, setPicked] = useState<Line | null>(null);
    const current = picked && picked.time === lines[last]?.time && lines.includes(picked) ? lines.indexOf(picked) : last; // one of several at one time
    const columns: Column<Line>[] = [
        { key: 'time', title: text.log.time, width: '9ch', cell: (l) => <span class="mono">{since(recording, l.time)}</span> },
        { key: 'level', title: text.log.level, width: '6ch', cell: (l) => <Badge kind={l.level === 'warn' ? 'warn' : l.level === 'error' || l.level === 'fatal' ? 'bad' : ''}>{text.log.levels[l.level]}</Badge> },
        { key: 'words', title: text.log.message, width: 'minmax(12ch, 1fr)', cell: (l) => <span title={`${l.source}: ${l.words}`}>{l.words}</span> },
        { key: 'source', title: text.log.source, width: 'minmax(8ch, 18ch)', cell: (l) => <span class="soft">{l.source}</span> },
    ];
    if (asked.error !== null) {
        return <Failed error={asked.error} retry={asked.again} />;
    }
    if (!asked.value) {
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
            clock.seek(line.time);
        }
    };
    return (
        <div class="log">
            <div class="log-tools row">
                <Field label={text.log.filter} hidden_label placeholder={text.log.filter} value={words} onInput={(event) => setWords(event.currentTarget.value)} class="grow" />
                <Select label={text.log.least} hidden_label value={level} options={LEVELS.map((l) => [l, text.log.atLeast(text.log.levels[l])])} onChange={(to) => onSettings({ level: to === 'debug' ? null : to })} />
            </div>
            {asked.value.length >= MOST && <p class="small soft log-more">{text.log.first(MOST)}</p>}
            {lines.length === 0 ? <p class="empty soft">{text.log.none}</p> : <VirtualTable label={text.log.title} columns={columns} count={lines.length} rowAt={(i) => lines[i]} rowHeight={24} current={current} reveal={current >= 0 ? current : undefined} onCurrent={seek} onOpen={seek} />}
        </div>
    );
}
