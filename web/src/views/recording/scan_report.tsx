// What the scan found. Of a loss: the topics and the times first, the bytes on demand.
import { get } from '../../api';
import { bytes, count, duration } from '../../format';
import type { Playback } from '../../playback';
import { relativeTime } from '../../recording_time';
import { labelOf, text } from '../../text/common';
import { detailsText } from '../../text/recording';
import type { Finding, Recording } from '../../types';
import { Badge, Button, Failed } from '../../ui';
import { useRequest } from '../../use_request';
import { lossesOf, topicsOf, type Loss } from './losses';

interface Scan {
    damaged: boolean;
    lost_bytes: number;
    findings_total: number;
    findings: Finding[];
}
const NAMED_TOPICS = 3;

function Severity({ severity }: Pick<Finding, 'severity'>) {
    return (
        <Badge kind={severity === 'loss' ? 'bad' : severity === 'note' ? '' : 'warn'}>
            {labelOf(detailsText.severities, severity)}
        </Badge>
    );
}

function LossItem({ loss, recording, playback }: { loss: Loss; recording: Recording; playback: Playback }) {
    const { start, end, findings } = loss;
    const topics = topicsOf(loss, recording.topics ?? []);
    const all = topics.length > NAMED_TOPICS && topics.length === recording.topics?.length;
    const named = all ? detailsText.allTopics : topics.slice(0, NAMED_TOPICS).join(', ');
    const more = all ? 0 : topics.length - NAMED_TOPICS;
    return (
        <li class="details-finding">
            <Severity severity="loss" />{' '}
            <span title={topics.join(', ')}>
                {named || detailsText.lossOfFew}
                {more > 0 && ` ${detailsText.moreTopics(more)}`}
            </span>
            <br />
            <Button kind="quiet" title={detailsText.toLoss} onClick={() => playback.seek(start)}>
                {detailsText.fromTo(
                    relativeTime(recording, start),
                    relativeTime(recording, end),
                    duration(end - start),
                )}
            </Button>
            <details>
                <summary>{detailsText.inFile}</summary>
                {findings.map((one, i) => (
                    <p key={i} class="small">
                        {one.text}
                    </p>
                ))}
            </details>
        </li>
    );
}

export function ScanReport({ recording, playback }: { recording: Recording; playback: Playback }) {
    const scan = useRequest(
        (signal) => get<Scan>(`/recordings/${recording.id}/scan`, recording.damaged ? { times: true } : {}, signal),
        [recording.id, recording.updated],
    );
    if (scan.error !== null) {
        return <Failed error={scan.error} retry={scan.reload} />;
    }
    if (!scan.value || recording.state === 'scanning') {
        return null;
    }
    const { findings, findings_total: total, lost_bytes: lost } = scan.value;
    const losses = lossesOf(findings);
    const others = findings.filter((one) => !losses.some((loss) => loss.findings.includes(one)));
    return (
        <section class="details-part">
            <h3>{detailsText.scan}</h3>
            <p>
                {total === 0 && recording.messages === 0
                    ? detailsText.noMessages
                    : total === 0
                      ? detailsText.allReadable(count(recording.messages))
                      : detailsText.recovered(count(recording.messages), bytes(lost))}
            </p>
            <ul class="details-list">
                {losses.map((loss) => (
                    <LossItem key={String(loss.start)} loss={loss} recording={recording} playback={playback} />
                ))}
                {others.map((f, i) => (
                    <li key={i} class="details-finding">
                        <Severity {...f} /> {f.text}
                    </li>
                ))}
            </ul>
            {total > findings.length && <p class="small muted">{text.moreItems(total - findings.length)}</p>}
        </section>
    );
}
