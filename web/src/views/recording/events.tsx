// Events: intervals that somebody has marked. Its one rule: the server's list is the truth; after each change it is asked for again.
import { useState } from 'preact/hooks';
import { getAll, send } from '../../api';
import type { Asked } from '../../ask';
import type { Clock } from '../../clock';
import { duration } from '../../format';
import { text } from '../../text';
import { since } from '../../times';
import { showError, showToast } from '../../toasts';
import type { Recording } from '../../types';
import { Button, Failed, Field } from '../../ui';

export interface Mark {
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

export async function marksOf(id: string, signal: AbortSignal): Promise<Mark[]> {
    const rows = await getAll<Row>('/events', { recording: id }, 2000, signal);
    return rows.map((r) => ({ id: r.id, title: r.title, start: BigInt(r.start_ns), end: BigInt(r.end_ns), tags: r.tags, author: r.author }));
}

export function Events({ recording, clock, events }: { recording: Recording; clock: Clock; events: Asked<Mark[]> }) {
    const [title, setTitle] = useState('');
    const add = async (event: Event) => {
        event.preventDefault();
        const { range, time_ns } = clock.get();
        const span = range ?? { start: time_ns, end: time_ns };
        try {
            await send('POST', '/events', { body: { recording: recording.id, title, start: String(span.start), end: String(span.end) } });
            setTitle('');
            events.again();
        } catch (error) {
            showError(error);
        }
    };
    const remove = async (mark: Mark) => {
        try {
            await send('DELETE', `/events/${mark.id}`);
            events.again();
            showToast(text.events.removed(mark.title), {
                label: text.undo,
                run: () =>
                    void send('POST', '/events', { body: { recording: recording.id, title: mark.title, start: String(mark.start), end: String(mark.end), tags: mark.tags } }).then(events.again, showError),
            });
        } catch (error) {
            showError(error);
        }
    };
    const show = (mark: Mark) => {
        clock.seek(mark.start);
        clock.setRange(mark.end > mark.start ? { start: mark.start, end: mark.end } : null);
    };
    return (
        <section class="about-part">
            <h3>{text.events.title}</h3>
            {events.error !== null && <Failed error={events.error} retry={events.again} />}
            <ul class="about-list">
                {(events.value ?? []).map((mark) => (
                    <li key={mark.id} class="row">
                        <button type="button" class="link grow" onClick={() => show(mark)}>
                            <span class="mono soft">{since(recording, mark.start, 1)}</span> {mark.title} {mark.end > mark.start && <span class="soft">({duration(mark.end - mark.start)})</span>}
                        </button>
                        <Button kind="quiet" icon="trash" label={text.events.remove(mark.title)} onClick={() => void remove(mark)} />
                    </li>
                ))}
            </ul>
            <form class="row about-add" onSubmit={(event) => void add(event)}>
                <Field label={text.events.add} hidden_label placeholder={text.events.add} value={title} onInput={(event) => setTitle(event.currentTarget.value)} class="grow" />
                <Button type="submit" disabled={!title.trim()}>
                    {text.events.mark}
                </Button>
            </form>
            <p class="small soft">{text.events.help}</p>
        </section>
    );
}
