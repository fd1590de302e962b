// Lines of the log: rosout messages, or the log topic of the server's view of a simulation.
import { getRows } from '../../api';
import type { Recording, Topic } from '../../types';

export interface Line {
    time: bigint;
    level: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
    source: string;
    message: string;
}

export const MAX_LINES = 20000; // held in memory; the panel says so if there are more
export const isLog = (type: string): boolean => /^(rosgraph_msgs|roslib|rcl_interfaces)\/(msg\/)?Log$/.test(type);

interface Row {
    log_time: string;
    data: { level?: number; name?: string; msg?: string; message?: string } | null; // null: could not be decoded
}

/** ROS 1 uses 1, 2, 4, 8, 16, ROS 2 10, 20, 30, 40, 50, the view 1 to 5. */
function levelOf(level: number, kind: 'ros1' | 'ros2' | 'view'): Line['level'] {
    const order = { ros1: [1, 2, 4, 8, 16], ros2: [10, 20, 30, 40, 50], view: [1, 2, 3, 4, 5] }[kind];
    const names: Line['level'][] = ['debug', 'info', 'warn', 'error', 'fatal'];
    return names[order.indexOf(level)] ?? 'info';
}

/** The lines after a time; null: all. */
export async function* readLog(
    recording: Recording,
    topics: readonly Topic[],
    after: bigint | null,
    signal: AbortSignal,
): AsyncGenerator<Line> {
    const start = after === null ? null : after + 1n;
    const logs = topics.filter((t) => isLog(t.type));
    const ros = logs.length > 0;
    const kind = !ros ? 'view' : logs.some((t) => t.type.startsWith('rcl_')) ? 'ros2' : 'ros1';
    const rows = ros
        ? getRows<Row>(
              `/recordings/${recording.id}/messages`,
              { topic: logs.map((t) => t.name), start, time_format: 'nanoseconds', limit: MAX_LINES },
              signal,
          )
        : getRows<Row>(
              `/recordings/${recording.id}/as/log.ndjson`,
              { view: 'foxglove', topic: '/view/log', start, time_format: 'nanoseconds' },
              signal,
          );
    let n = 0;
    for await (const row of rows) {
        const { level = 0, name = '', msg, message } = row.data ?? {};
        yield { time: BigInt(row.log_time), level: levelOf(level, kind), source: name, message: msg ?? message ?? '' };
        if (++n >= MAX_LINES) {
            return;
        }
    }
}
