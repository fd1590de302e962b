// The statuses of components at a time: the newest of each name, of the messages of the last seconds. One that was not
// reported for a while is stale, as in rqt_robot_monitor.
import { getRows } from '../../api';
import { boundsOf } from '../../recording_time';
import type { Message, Recording, Topic } from '../../types';

export const LEVELS = 4; // OK, warning, error, stale
const STALE = 3;
const STALE_NS = 5_000_000_000n; // rqt_robot_monitor's
const LOOKBACK_S = 30; // a component is forgotten after it
const MAX_MESSAGES = 2000; // about; where there are more in that time, it is shorter

export interface Status {
    name: string;
    level: number; // 0 to 3
    message: string;
    hardware: string;
    values: { key: string; value: string }[];
    age_ns: bigint; // at the time asked for
}
interface Row {
    status?: {
        level?: number;
        name?: string;
        message?: string;
        hardware_id?: string;
        values?: { key?: string; value?: string }[];
    }[];
}

export async function statusesAt(
    recording: Recording,
    topics: readonly Topic[],
    time_ns: bigint,
    signal: AbortSignal,
): Promise<Status[]> {
    const { start, end } = boundsOf(recording);
    const rate = topics.reduce((sum, { messages }) => sum + messages, 0) / (Number(end - start) / 1e9 || 1);
    const since = time_ns - BigInt(Math.round(Math.min(LOOKBACK_S, MAX_MESSAGES / rate) * 1e9));
    const params = {
        topic: topics.map(({ name }) => name),
        start: since > start ? since : start,
        end: time_ns + 1n,
        last: 'per_topic',
        time_format: 'nanoseconds',
    };
    const newest = new Map<string, Status>();
    for await (const row of getRows<Message<Row | null>>(`/recordings/${recording.id}/messages`, params, signal)) {
        const age_ns = time_ns - BigInt(row.log_time);
        for (const { level = 0, name = '', message = '', hardware_id = '', values = [] } of row.data?.status ?? []) {
            const pairs = values.map(({ key = '', value = '' }) => ({ key, value: String(value) }));
            newest.set(name, { name, level: Number(level), message, hardware: hardware_id, values: pairs, age_ns });
        }
    }
    const statuses = [...newest.values()].map((status) => ({
        ...status,
        level: status.age_ns > STALE_NS ? STALE : Math.min(Math.max(status.level || 0, 0), STALE),
    }));
    const rank = ({ level }: Status) => (level === STALE ? 1.5 : level); // stale is worse than a warning
    return statuses.sort((a, b) => rank(b) - rank(a) || a.name.localeCompare(b.name));
}
