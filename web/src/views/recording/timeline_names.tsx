// The rows of the timeline beside the lanes: names, groups that open, and a filter; and what is loaded for them.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Range } from '../../playback';
import { count } from '../../format';
import { timelineText } from '../../text/timeline';
import type { Recording } from '../../types';
import { Icon } from '../../ui';
import { useRequest } from '../../use_request';
import { LANE_HEIGHT, lanesOf, refined, type Lane } from './timeline_lanes';
import { FEW, joined, nameParts, rowsOf, type Row } from './timeline_rows';

const SETTLED_MS = 150; // a view that stays so long is refined
const INDENT_PX = 10;
const GROUP_HEIGHT = 24; // of rows that can be pressed

/** `range`, once it has stayed for a moment. */
function useSettled(range: Range | null): Range | null {
    const [settled, setSettled] = useState(range);
    useEffect(() => {
        const timer = setTimeout(() => setSettled(range), SETTLED_MS);
        return () => clearTimeout(timer);
    }, [range?.start, range?.end]);
    return settled;
}

/** `open`: a row for each topic or group; else one for all. */
export function useLaneRows(recording: Recording, view: Range, zoomed: boolean, open: boolean) {
    const { id, messages } = recording;
    const whole = useRequest((signal) => lanesOf(id, signal), [id, messages]);
    const part = useSettled(zoomed ? view : null);
    const fine = useRequest(
        async (signal) => part && { part, lanes: await lanesOf(id, signal, part) },
        [id, messages, part?.start, part?.end],
    );
    const [filter, setFilter] = useState('');
    const [groups, setGroups] = useState<ReadonlySet<string>>(new Set()); // that are open
    const all = useMemo(
        () => (fine.value ? refined(whole.value ?? [], fine.value.lanes, fine.value.part) : (whole.value ?? [])),
        [whole.value, fine.value],
    );
    const rows = useMemo(() => (open ? rowsOf(all, filter, groups) : []), [all, filter, groups, open]);
    const lanes = useMemo(
        () => (open ? rows.map((row) => row.lane) : all.length > 0 ? [joined('', all)] : []),
        [rows, all, open],
    );
    const toggle = (path: string) =>
        setGroups(
            (before) => new Set(before.has(path) ? [...before].filter((one) => one !== path) : [...before, path]),
        );
    return {
        rows,
        lanes,
        topics: all.length,
        open,
        height: rows.some(({ group }) => group) ? GROUP_HEIGHT : LANE_HEIGHT,
        filtered: open && (whole.value?.length ?? 0) > FEW,
        filter,
        setFilter,
        toggle,
        loading: whole.loading && !whole.value,
        error: whole.error,
        reload: whole.reload,
    };
}
export type LaneRows = ReturnType<typeof useLaneRows>;

function Name({ names, i }: { names: readonly string[]; i: number }) {
    const [head, own, tail] = nameParts(names, i);
    return (
        <>
            <span class="timeline-name-shared">{head}</span>
            <span class="timeline-name-own">{own}</span>
            <span class="timeline-name-shared">{tail}</span>
        </>
    );
}

/** The names of topics without groups. */
export function LaneNames({ lanes }: { lanes: readonly Lane[] }) {
    const names = lanes.map(({ topic }) => topic);
    return (
        <>
            {names.map((topic, i) => (
                <div key={topic} class="timeline-name mono" title={topic}>
                    <Name names={names} i={i} />
                </div>
            ))}
        </>
    );
}

function RowName({
    row,
    names,
    i,
    height,
    onToggle,
}: {
    row: Row;
    names: readonly string[];
    i: number;
    height: number;
    onToggle: () => void;
}) {
    const style = { height: `${height}px`, lineHeight: `${height}px`, paddingLeft: `${8 + row.depth * INDENT_PX}px` };
    const { lane, group } = row;
    return group ? (
        <button
            type="button"
            class="timeline-name timeline-group mono"
            style={style}
            title={timelineText.group(lane.topic, count(group.topics))}
            aria-expanded={group.open}
            onClick={onToggle}
        >
            <Icon name={group.open ? 'down' : 'right'} />
            <span class="ellipsis">{row.name}</span>
            <span class="muted">{count(group.topics)}</span>
        </button>
    ) : (
        <div class="timeline-name mono" style={style} title={`${lane.topic}: ${count(lane.count)}`}>
            <Name names={names} i={i} />
        </div>
    );
}

export function RowNames({ lanes }: { lanes: LaneRows }) {
    const names = lanes.rows.map((row) => row.name);
    if (!lanes.open) {
        return <div class="timeline-name">{timelineText.all(lanes.topics)}</div>;
    }
    return (
        <>
            {lanes.filtered && (
                <input
                    type="search"
                    class="timeline-filter"
                    aria-label={timelineText.filter}
                    placeholder={timelineText.filter}
                    value={lanes.filter}
                    onInput={(event) => lanes.setFilter(event.currentTarget.value)}
                />
            )}
            {lanes.rows.map((row, i) => (
                <RowName
                    key={(row.group ? 'group:' : '') + row.lane.topic}
                    row={row}
                    names={names}
                    i={i}
                    height={lanes.height}
                    onToggle={() => lanes.toggle(row.lane.topic)}
                />
            ))}
        </>
    );
}
