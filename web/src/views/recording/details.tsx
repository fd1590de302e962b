// The sidebar of a recording: facts, annotations, scan report.
import type { Playback } from '../../playback';
import { bytes, count, dateTime, duration } from '../../format';
import { startText } from '../../recording_time';
import { zoneName } from '../../time_zone';
import { formatTitle, service, useRole } from '../../service';
import { useStore } from '../../store';
import { labelOf } from '../../text/common';
import { detailsText } from '../../text/recording';
import { Select } from '../../ui';
import type { RecordingEvents } from './event_store';
import { Events } from './events';
import { change, Description, Notes, Tags, type Loaded } from './annotations';
import { ScanReport } from './scan_report';

const CLOCK_SET = 'set by a user'; // as the API says of a clock that is not the file's

/** Whether its times are dates: as the scan found, or as a user says. */
function Clock(loaded: Loaded) {
    const { recording } = loaded;
    const found = recording.clock_note !== CLOCK_SET;
    const clock = labelOf(detailsText.clocks, recording.clock);
    return (
        <Select
            label={detailsText.clock}
            hidden_label
            value={found ? '' : recording.clock}
            options={[
                ['', found ? detailsText.clockFound(clock) : detailsText.clockOfFile],
                ...Object.entries(detailsText.clocks),
            ]}
            onChange={(value) => void change(loaded, { clock: value || null })}
        />
    );
}

function Facts(loaded: Loaded) {
    const { recording } = loaded;
    const mayEdit = useRole('edit') && recording.state === 'ready';
    const known = useStore(service);
    const facts: [string, string][] = [
        [detailsText.format, formatTitle(known, recording.format)],
        [detailsText.start, recording.messages > 0 ? (startText(recording) ?? detailsText.noDate) : '–'],
        [detailsText.duration, duration(recording.duration_ns)],
        [detailsText.messages, count(recording.messages)],
        [detailsText.size, bytes(recording.size)],
        [detailsText.collection, recording.collection],
        [detailsText.added, `${dateTime(recording.created)} ${zoneName(undefined, Date.parse(recording.created))}`],
        [detailsText.revision, String(recording.revision)],
    ];
    return (
        <dl class="details-facts">
            {facts.map(([name, value]) => (
                <>
                    <dt>{name}</dt>
                    <dd>{value}</dd>
                </>
            ))}
            {(mayEdit || recording.clock_note) && (
                <>
                    <dt>{detailsText.clock}</dt>
                    <dd>
                        {mayEdit && <Clock {...loaded} />}
                        {recording.clock_note !== CLOCK_SET && recording.clock_note}
                    </dd>
                </>
            )}
        </dl>
    );
}

export function Details({ loaded, playback, events }: { loaded: Loaded; playback: Playback; events: RecordingEvents }) {
    return (
        <aside class="details" aria-label={detailsText.title} tabIndex={0}>
            <Description {...loaded} />
            <Tags {...loaded} />
            <Facts {...loaded} />
            <Events recording={loaded.recording} playback={playback} events={events} />
            <Notes {...loaded} />
            <ScanReport recording={loaded.recording} playback={playback} />
        </aside>
    );
}
