// Where a damaged recording has lost messages: spans over all lanes, between the messages stored before and after.
import { get } from '../../api';
import { duration } from '../../format';
import type { Range } from '../../playback';
import { relativeTime } from '../../recording_time';
import { timelineText } from '../../text/timeline';
import type { Finding, Recording } from '../../types';
import { useRequest } from '../../use_request';
import { lossesOf } from './losses';
import { xOf } from './timeline_lanes';

const LEAST_PX = 3;

export function Losses({ recording, view, width }: { recording: Recording; view: Range; width: number }) {
    const found = useRequest(
        (signal) =>
            recording.damaged
                ? get<{ findings: Finding[] }>(`/recordings/${recording.id}/scan`, { times: true }, signal)
                : Promise.resolve(null),
        [recording.id, recording.damaged, recording.messages],
    );
    return (
        <>
            {lossesOf(found.value?.findings ?? [])
                .filter(({ start, end }) => end >= view.start && start <= view.end)
                .map(({ start, end, findings }) => {
                    const from = Math.max(0, xOf(start, view, width));
                    const to = Math.min(width, xOf(end, view, width));
                    const wide = Math.max(to - from, LEAST_PX);
                    const label = timelineText.lost(
                        relativeTime(recording, start),
                        duration(end - start),
                        findings.map((one) => one.text),
                    );
                    return (
                        <div
                            key={String(start)}
                            class="timeline-loss"
                            role="img"
                            aria-label={label}
                            title={label}
                            style={{ left: `${Math.min(from, width - wide)}px`, width: `${wide}px` }}
                        />
                    );
                })}
        </>
    );
}
