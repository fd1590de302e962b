// The events of a recording: marked instants and time ranges. Changes are shown at once and sent one after the other;
// what the server refuses is taken back. Changes by others arrive through the feed.
import { useEffect, useMemo } from 'preact/hooks';
import { ApiError, get, getAll, onChange, patch, send } from '../../api';
import { Store, type Readable } from '../../store';
import { text } from '../../text/common';
import { eventsText } from '../../text/timeline';
import type { Topic } from '../../types';
import { dropToast, showError, showToast } from '../../toasts';

export interface EventMark {
    id: string;
    title: string;
    start: bigint;
    end: bigint; // start: an instant
    tags: Record<string, string>;
    author: string;
    updated: string; // in quotes its entity tag
    derived: boolean; // it follows from the recording, and cannot be changed
}
export type NewMark = Pick<EventMark, 'title' | 'start' | 'end'> & { tags?: EventMark['tags'] };
type Edit = Partial<Pick<EventMark, 'title' | 'start' | 'end'>>;
interface Row {
    id: string;
    title: string;
    start_ns: string;
    end_ns: string;
    tags: Record<string, string>;
    author: string;
    updated: string;
    derived?: true;
}
export interface EventsState {
    items: readonly EventMark[]; // by start
    error: unknown;
}

const EVENTS_MAX = 10_000; // the server's limit for a recording
const DERIVED_MAX = 2000; // shown
const SETTLE_MS = 200; // changes that arrive together are loaded together
const SINGLY_MAX = 10; // more are loaded with the whole list

const markOf = (r: Row): EventMark => ({
    id: r.id,
    title: r.title,
    start: BigInt(r.start_ns),
    end: BigInt(r.end_ns),
    tags: r.tags,
    author: r.author,
    updated: r.updated,
    derived: r.derived ?? false,
});
const inOrder = (marks: EventMark[]): EventMark[] =>
    marks.sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : a.id < b.id ? -1 : 1));
/** With its unit, since a bare number is seconds if the recording's clock is relative. */
const timeOf = (ns: bigint): string => `${ns}ns`;

export class RecordingEvents implements Readable<EventsState> {
    private store = new Store<EventsState>({ items: [], error: null });
    private known = new Map<string, EventMark>(); // as the server has them
    private sending = new Map<string, Promise<void>>();
    private touched = new Set<string>(); // by others, or by this page
    private timer: ReturnType<typeof setTimeout> | undefined;
    private undoToast = 0;

    /** `derives`: the server finds events in the recording itself. */
    constructor(
        private recording: string,
        private derives: boolean,
    ) {}
    get(): EventsState {
        return this.store.get();
    }
    subscribe(listener: (state: EventsState) => void): () => void {
        return this.store.subscribe(listener);
    }
    find(id: string): EventMark | undefined {
        return this.get().items.find((one) => one.id === id);
    }

    start(): () => void {
        void this.reload();
        void this.loadDerived();
        const stop = onChange((change) => {
            const id =
                change.kind.startsWith('event.') && change.recording === this.recording
                    ? change.detail?.event
                    : undefined;
            if (id !== undefined && change.kind === 'event.removed') {
                this.forget(id);
            } else if (id !== undefined) {
                this.touched.add(id);
                this.timer ??= setTimeout(() => void this.catchUp(), SETTLE_MS);
            } else if (change.kind === 'gap') {
                void this.reload();
            }
        });
        return () => {
            stop();
            clearTimeout(this.timer);
        };
    }

    async reload(): Promise<void> {
        try {
            const rows = await getAll<Row>(`/recordings/${this.recording}/events`, {}, EVENTS_MAX);
            const unsent = new Map([...this.sending.keys()].map((id) => [id, this.find(id)]));
            this.known = new Map(rows.map((row) => [row.id, markOf(row)]));
            this.store.set({
                items: inOrder([
                    ...this.get().items.filter((mark) => mark.derived),
                    ...[...this.known.values()].map((mark) => unsent.get(mark.id) ?? mark),
                ]),
                error: null,
            });
        } catch (error) {
            this.store.set({ ...this.get(), error });
        }
    }

    private async loadDerived(): Promise<void> {
        try {
            const rows = this.derives
                ? await getAll<Row>(`/recordings/${this.recording}/events`, { derived: true }, DERIVED_MAX)
                : [];
            const stored = this.get().items.filter((mark) => !mark.derived);
            this.store.set({ ...this.get(), items: inOrder([...stored, ...rows.map(markOf)]) });
        } catch (error) {
            this.store.set({ ...this.get(), error });
        }
    }

    /** Loads what the feed has reported. */
    private async catchUp(): Promise<void> {
        this.timer = undefined;
        const ids = [...this.touched].filter((id) => !this.sending.has(id)); // their answers are on the way
        this.touched.clear();
        await (ids.length > SINGLY_MAX ? this.reload() : Promise.all(ids.map((id) => this.refresh(id))));
    }
    private async refresh(id: string): Promise<void> {
        try {
            this.accept(markOf(await get<Row>(`/events/${id}`)));
        } catch (error) {
            if (error instanceof ApiError && error.status === 404) {
                this.forget(id);
            }
        }
    }
    private forget(id: string): void {
        this.touched.delete(id);
        this.known.delete(id);
        this.show(id, null);
    }
    private accept(mark: EventMark): void {
        this.known.set(mark.id, mark);
        this.show(mark.id, mark);
    }
    private show(id: string, mark: EventMark | null): void {
        const items = this.get().items.filter((one) => one.id !== id);
        this.store.set({ ...this.get(), items: mark ? inOrder([...items, mark]) : items });
    }

    /** The id of the new event; null after an error, which has been shown. */
    async add(mark: NewMark): Promise<string | null> {
        try {
            const row = await send<Row>('POST', '/events', {
                body: {
                    recording: this.recording,
                    title: mark.title,
                    start: timeOf(mark.start),
                    end: timeOf(mark.end),
                    tags: mark.tags,
                },
            });
            this.accept(markOf(row!));
            return row!.id;
        } catch (error) {
            showError(error);
            return null;
        }
    }

    /** Shown at once, and offered to be undone. */
    change(mark: EventMark, edit: Edit): void {
        const { title, start, end } = mark;
        this.put(mark, edit);
        this.offerUndo(eventsText.changed(edit.title ?? title), () => {
            const now = this.find(mark.id);
            if (now) {
                this.put(now, { title, start, end });
            }
        });
    }
    private put(mark: EventMark, edit: Edit): void {
        this.show(mark.id, { ...mark, ...edit });
        const sent: Promise<void> = (this.sending.get(mark.id) ?? Promise.resolve())
            .then(() => this.send(mark.id, edit))
            .catch((error: unknown) => this.takeBack(mark, error))
            .then(() => {
                if (this.sending.get(mark.id) === sent) {
                    this.sending.delete(mark.id);
                    this.show(mark.id, this.known.get(mark.id) ?? null);
                }
            });
        this.sending.set(mark.id, sent);
    }
    private tagOf(id: string): string {
        return `"${this.known.get(id)?.updated}"`;
    }
    private async send(id: string, { title, start, end }: Edit): Promise<void> {
        const body = {
            title,
            start: start === undefined ? undefined : timeOf(start),
            end: end === undefined ? undefined : timeOf(end),
        };
        const row = await patch<Row>(`/events/${id}`, body, this.tagOf(id));
        this.known.set(id, markOf(row.value));
    }
    private async takeBack(mark: EventMark, error: unknown): Promise<void> {
        const status = error instanceof ApiError ? error.status : 0;
        if (status === 412 || status === 404) {
            await this.refresh(mark.id);
            showError(new Error(status === 412 ? eventsText.conflict(mark.title) : eventsText.gone(mark.title)));
        } else {
            showError(error);
        }
    }

    async remove(mark: EventMark): Promise<void> {
        this.show(mark.id, null);
        this.touched.delete(mark.id);
        try {
            await this.sending.get(mark.id);
            await send('DELETE', `/events/${mark.id}`, { ifMatch: this.tagOf(mark.id) });
            this.forget(mark.id);
            this.offerUndo(eventsText.removed(mark.title), () => void this.add(mark));
        } catch (error) {
            await this.takeBack(mark, error);
            this.show(mark.id, this.known.get(mark.id) ?? null);
        }
    }

    private offerUndo(message: string, run: () => void): void {
        dropToast(this.undoToast); // only the last change
        this.undoToast = showToast(message, { label: text.undo, run });
    }
}

/** Whether the server finds events in a recording of these topics. */
export const derives = (topics: readonly Topic[]): boolean => topics.some((topic) => topic.encoding === 'carla');

export function useEvents(recording: string, derives: boolean): RecordingEvents {
    const events = useMemo(() => new RecordingEvents(recording, derives), [recording, derives]);
    useEffect(() => events.start(), [events]);
    return events;
}
