// The rows of the timeline: topics, and groups of topics that share a path; and how their names are shortened.
import type { Lane } from './timeline_lanes';

export interface Row {
    name: string; // below its group
    depth: number;
    lane: Lane; // of a group: of all its topics
    group: { path: string; topics: number; open: boolean } | null;
}

export const FEW = 12; // topics that need neither groups nor a filter

/** The path of a topic to the end of the part that follows `prefix`. */
function partAfter(topic: string, prefix: string): string {
    const end = topic.indexOf('/', prefix.length + 1);
    return end < 0 ? topic : topic.slice(0, end);
}

function byPart(lanes: readonly Lane[], prefix: string): Map<string, Lane[]> {
    const groups = new Map<string, Lane[]>();
    for (const lane of lanes) {
        const path = partAfter(lane.topic, prefix);
        groups.set(path, [...(groups.get(path) ?? []), lane]);
    }
    return groups;
}

/** When any of them has messages. */
export function joined(path: string, lanes: readonly Lane[]): Lane {
    const spans: Lane['spans'] = [];
    for (const span of lanes.flatMap((lane) => lane.spans).sort((a, b) => (a.start < b.start ? -1 : 1))) {
        const last = spans.at(-1);
        if (last && span.start <= last.end) {
            last.end = span.end > last.end ? span.end : last.end;
            last.share = Math.max(last.share, span.share);
        } else {
            spans.push({ ...span });
        }
    }
    const sum = lanes.reduce((all, lane) => all + lane.count, 0);
    return { topic: path, spans, count: sum, period: Math.min(...lanes.map((lane) => lane.period)) };
}

function rowsBelow(lanes: readonly Lane[], prefix: string, depth: number, open: ReadonlySet<string>): Row[] {
    const single = (lane: Lane): Row => ({ name: lane.topic.slice(prefix.length), depth, lane, group: null });
    if (lanes.length <= FEW) {
        return lanes.map(single);
    }
    const groups = byPart(lanes, prefix);
    const [only] = groups.keys();
    if (groups.size === 1 && lanes.every(({ topic }) => topic !== only)) {
        return rowsBelow(lanes, only!, depth, open).map((row) => ({
            ...row,
            name: only!.slice(prefix.length) + row.name,
        }));
    }
    return [...groups].flatMap(([path, members]): Row[] => {
        if (members.length === 1) {
            return [single(members[0]!)];
        }
        const group = { path, topics: members.length, open: open.has(path) };
        const row = { name: path.slice(prefix.length), depth, lane: joined(path, members), group };
        return [row, ...(group.open ? rowsBelow(members, path, depth + 1, open) : [])];
    });
}

/** `filter`: words, each of which the topic has. What it finds is not grouped unless it is much. */
export function rowsOf(lanes: readonly Lane[], filter: string, open: ReadonlySet<string>): Row[] {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    return rowsBelow(
        lanes.filter(({ topic }) => words.every((word) => topic.toLowerCase().includes(word))),
        '',
        0,
        open,
    );
}

function shared(a: string, b: string | undefined, at: (i: number) => [number, number]): number {
    const most = b === undefined ? 0 : Math.min(a.length, b.length);
    let n = 0;
    while (n < most && a[at(n)[0]] === b![at(n)[1]]) {
        n++;
    }
    return n;
}

/**
 * A name in three parts: what it shares with its neighbours at its start, what it alone has, and what it shares at its
 * end. The first and the last are shortened where there is no room.
 */
export function nameParts(names: readonly string[], i: number): [string, string, string] {
    const name = names[i]!;
    const near = [names[i - 1], names[i + 1]];
    const head = Math.max(...near.map((other) => shared(name, other, (n) => [n, n])));
    const tail = Math.max(
        ...near.map((other) => shared(name, other, (n) => [name.length - 1 - n, (other?.length ?? 0) - 1 - n])),
    );
    const end = Math.max(head, name.length - tail);
    return [name.slice(0, head), name.slice(head, end), name.slice(end)];
}
