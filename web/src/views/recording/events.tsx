// Events: marked points and time ranges. The list is reloaded after each change.
import { useState } from 'preact/hooks';
import { getAll, send } from '../../api';
import type { RequestState } from '../../use_request';
import type { Playback } from '../../playback';
import { duration } from '../../format';
import { useRole } from '../../service';
import { text } from '../../text';
import { relativeTime } from '../../recording_time';
import { showError, showToast } from '../../toasts';
import type { Recording } from '../../types';
import { Button, Failed, Field } from '../../ui';

export interface EventMark {
    id: string;
    title: string;
    start: bigint;
    end: bigint;
    tags: Record<string, string>;
    author: string;
}
interface Row {
    id: string;
    title: string;
    start_ns: string;
    end_ns: string;
    tags: Record<string, string>;
    author: string;
}

export async function loadEvents(id: string, signal: AbortSignal): Promise<EventMark[]> {
    const rows = await getAll<Row>('/events', { recording: id }, 2000, signal);
    return rows.map((r) => ({ id: r.id, title: r.title, start: BigInt(r.start_ns), end: BigInt(r.end_ns), tags: r.tags, author: r.author }));
}

export function Events({ recording, playback, events }: { recording: Recording; playback: Playback; events: RequestState<EventMark[]> }) {
    const mayEdit = useRole('edit');
    const [title, setTitle] = useState('');
    const add = async (event: Event) => {
        event.preventDefault();
        const { range, time_ns } = playback.get();
        const span = range ?? { start: time_ns, end: time_ns };
        try {
            await send('POST', '/events', { body: { recording: recording.id, title, start: String(span.start), end: String(span.end) } });
            setTitle('');
            events.reload();
        } catch (error) {
            showError(error);
        }
    };
    const remove = async (mark: EventMark) => {
        try {
            await send('DELETE', `/events/${mark.id}`);
            events.reload();
            showToast(text.events.removed(mark.title), {
                label: text.undo,
                run: () =>
                    void send('POST', '/events', { body: { recording: recording.id, title: mark.title, start: String(mark.start), end: String(mark.end), tags: mark.tags } }).then(events.reload, showError),
            });
        } catch (error) {
            showError(error);
        }
    };
    const show = (mark: EventMark) => {
        playback.seek(mark.start);
        playback.setRange(mark.end > mark.start ? { start: mark.start, end: mark.end } : null);
    };
    return (
        <section class="details-part">
            <h3>{text.events.title}</h3>
            {events.error !== null && <Failed error={events.error} retry={events.reload} />}
            <ul class="details-list">
                {(events.value ?? []).map((mark) => (
                    <li key={mark.id} class="row">
                        <button type="button" class="link grow" onClick={() => show(mark)}>
                            <span class="mono muted">{relativeTime(recording, mark.start, 1)}</span> {mark.title} {mark.end > mark.start && <span class="muted">({duration(mark.end - mark.start)})</span>}
                        </button>
                        {mayEdit && <Button kind="quiet" icon="trash" label={text.events.remove(mark.title)} onClick={() => void remove(mark)} />}
                    </li>
                ))}
            </ul>
            {mayEdit && (
                <>
                    <form class="row details-add" onSubmit={(event) => void add(event)}>
                        <Field label={text.events.name} hidden_label placeholder={text.events.name} value={title} onInput={(event) => setTitle(event.currentTarget.value)} class="grow" />
                        <Button type="submit" disabled={!title.trim()}>
                            {text.events.add}
                        </Button>
                    </form>
                    <p class="small muted">{text.events.help}</p>
                </>
            )}
        </section>
    );
}
