// The side of a recording: what is known of it, what people say of it, what its scan found.
import { get } from '../../api';
import { useAsk, type Asked } from '../../ask';
import type { Clock } from '../../clock';
import { bytes, count, dateTime, duration } from '../../format';
import { text } from '../../text';
import type { Recording } from '../../types';
import { Badge, Failed } from '../../ui';
import { Events, type Mark } from './events';
import { Description, Notes, Tags, type Loaded } from './notes';

interface Scan {
    damaged: boolean;
    lost_bytes: number;
    findings_total: number;
    findings: { severity: string; part: number; offset: number; length: number; text: string }[];
}

function Facts({ recording }: { recording: Recording }) {
    const facts: [string, string][] = [
        [text.about.format, recording.container || recording.format],
        [text.about.begins, recording.calendar_start ? dateTime(recording.calendar_start, 3) : text.about.ownClock],
        [text.about.duration, duration(recording.duration_ns)],
        [text.about.messages, count(recording.messages)],
        [text.about.size, bytes(recording.size)],
        [text.about.collection, recording.collection],
        [text.about.added, dateTime(recording.created)],
        [text.about.revision, String(recording.revision)],
    ];
    return (
        <dl class="about-facts">
            {facts.map(([name, value]) => (
                <>
                    <dt>{name}</dt>
                    <dd>{value}</dd>
                </>
            ))}
            {recording.clock_note && (
                <>
                    <dt>{text.about.clock}</dt>
                    <dd>{recording.clock_note}</dd>
                </>
            )}
        </dl>
    );
}

function ScanReport({ recording }: { recording: Recording }) {
    const scan = useAsk((signal) => get<Scan>(`/recordings/${recording.id}/scan`, {}, signal), [recording.id, recording.updated]);
    if (scan.error !== null) {
        return <Failed error={scan.error} retry={scan.again} />;
    }
    if (!scan.value) {
        return null;
    }
    const { findings, findings_total: total, lost_bytes: lost } = scan.value;
    return (
        <section class="about-part">
            <h3>{text.about.scan}</h3>
            <p>{total === 0 ? text.about.whole : text.about.found(count(recording.messages), bytes(lost))}</p>
            <ul class="about-list">
                {findings.map((f, i) => (
                    <li key={i} class="about-finding">
                        <Badge kind={f.severity === 'loss' ? 'bad' : f.severity === 'note' ? '' : 'warn'}>{f.severity}</Badge> {f.text}
                    </li>
                ))}
            </ul>
            {total > findings.length && <p class="small soft">{text.moreOf(total - findings.length)}</p>}
        </section>
    );
}

export function About({ loaded, clock, events }: { loaded: Loaded; clock: Clock; events: Asked<Mark[]> }) {
    return (
        <aside class="about" aria-label={text.about.title} tabIndex={0}>
            <Description {...loaded} />
            <Tags {...loaded} />
            <Facts recording={loaded.recording} />
            <Events recording={loaded.recording} clock={clock} events={events} />
            <Notes {...loaded} />
            <ScanReport recording={loaded.recording} />
        </aside>
    );
}
