// The list of events in the sidebar.
import { useState } from 'preact/hooks';
import type { Playback } from '../../playback';
import { duration } from '../../format';
import { useRole } from '../../service';
import { useStore } from '../../store';
import { text } from '../../text/common';
import { eventsText } from '../../text/timeline';
import { relativeTime } from '../../recording_time';
import type { Recording } from '../../types';
import { Button, Failed, Field } from '../../ui';
import type { EventMark, RecordingEvents } from './event_store';

const STEP = 100; // listed at first, and added by "more"

export function Events({
    recording,
    playback,
    events,
}: {
    recording: Recording;
    playback: Playback;
    events: RecordingEvents;
}) {
    const mayEdit = useRole('edit');
    const { items, error } = useStore(events);
    const [title, setTitle] = useState('');
    const [shown, setShown] = useState(STEP);
    const add = async (event: Event) => {
        event.preventDefault();
        const { range, time_ns } = playback.get();
        if (await events.add({ title, ...(range ?? { start: time_ns, end: time_ns }) })) {
            setTitle('');
        }
    };
    const show = (mark: EventMark) => {
        playback.seek(mark.start);
        playback.setRange(mark.end > mark.start ? { start: mark.start, end: mark.end } : null);
    };
    return (
        <section class="details-part">
            <h3>{eventsText.title}</h3>
            {error !== null && <Failed error={error} retry={() => void events.reload()} />}
            <ul class="details-list">
                {items.slice(0, shown).map((mark) => (
                    <li key={mark.id} class="row">
                        <button type="button" class="link grow" onClick={() => show(mark)}>
                            <span class="mono muted">{relativeTime(recording, mark.start, 1)}</span> {mark.title}{' '}
                            {mark.end > mark.start && <span class="muted">({duration(mark.end - mark.start)})</span>}
                        </button>
                        {mayEdit && !mark.derived && (
                            <Button
                                kind="quiet"
                                icon="trash"
                                label={eventsText.remove(mark.title)}
                                onClick={() => void events.remove(mark)}
                            />
                        )}
                    </li>
                ))}
            </ul>
            {items.length > shown && (
                <Button kind="quiet" onClick={() => setShown(shown + STEP * 5)}>
                    {text.moreItems(items.length - shown)}
                </Button>
            )}
            {mayEdit && (
                <>
                    <form class="row details-add" onSubmit={(event) => void add(event)}>
                        <Field
                            label={eventsText.name}
                            hidden_label
                            placeholder={eventsText.name}
                            value={title}
                            onInput={(event) => setTitle(event.currentTarget.value)}
                            class="grow"
                        />
                        <Button type="submit" disabled={!title.trim()}>
                            {eventsText.add}
                        </Button>
                    </form>
                    <p class="small muted">{eventsText.help}</p>
                </>
            )}
        </section>
    );
}
