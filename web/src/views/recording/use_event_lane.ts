// What the lane of events does: dragging, keys, naming. A change is shown while it is made, and sent when it is
// complete.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { frameTime, frameTopic } from '../../frames';
import type { Playback, Range } from '../../playback';
import { boundsOf } from '../../recording_time';
import { useRole } from '../../service';
import { useStore } from '../../store';
import { showError } from '../../toasts';
import type { Recording, Topic } from '../../types';
import type { EventMark, RecordingEvents } from './event_store';
import { busy, hasOtherUse, TYPES } from './keys';
import { movedBy, snapped, type Part } from './timeline_events_edit';
import { layOut, rowsOf, type Placed } from './timeline_events_layout';
import { timeAt, xOf } from './timeline_lanes';

const DRAG_MIN_PX = 4; // less is a click
const SNAP_PX = 7;
const BESIDE_NS = 1_000_000n; // at least, on both sides of a cluster that is zoomed into
const KEYS_MS = 700; // after the last key the change is sent
const SECOND = 1_000_000_000n;

interface Draft extends Range {
    id: string | null; // null: a new event
}
interface Naming extends Draft {
    title: string;
}
interface Held {
    mark: EventMark | null;
    cluster: string | undefined; // the id of its first event
    part: Part;
    x: number;
    time: bigint;
    moved: boolean;
}
interface Props {
    recording: Recording;
    topics: Topic[];
    playback: Playback;
    events: RecordingEvents;
    view: Range;
    width: number;
    open: boolean; // more than one row
    zoomTo: (range: Range) => void;
}

export function useEventLane({ recording, topics, playback, events, view, width, open, zoomTo }: Props) {
    const mayEdit = useRole('edit');
    const { items } = useStore(events);
    const [draft, setDraft] = useState<Draft | null>(null);
    const [naming, setNaming] = useState<Naming | null>(null);
    const [active, setActive] = useState<string | null>(null); // the event that keys act on
    const root = useRef<HTMLDivElement>(null);
    const rows = useMemo(() => (open ? rowsOf(items) : 1), [items, open]);
    const marks = useMemo(
        () =>
            draft?.id
                ? items.map((mark) => (mark.id === draft.id ? { ...mark, start: draft.start, end: draft.end } : mark))
                : items,
        [items, draft],
    );
    const apart = draft?.id ?? naming?.id ?? active;
    const placed = useMemo(
        () => (width > 0 ? layOut(marks, view, width, rows, apart) : []),
        [marks, view.start, view.end, width, rows, apart],
    );
    const bounds = boundsOf(recording);
    const name = (of: Draft, title: string) =>
        mayEdit &&
        !(of.id && events.find(of.id)?.derived) &&
        setNaming({ id: of.id, start: of.start, end: of.end, title });
    const keys = useNudging({ recording, topics, events, draft, setDraft });
    useMarkKey(mayEdit, () => {
        const { range, time_ns } = playback.get();
        name({ id: null, ...(range ?? { start: time_ns, end: time_ns }) }, '');
    });

    /** The title was entered; null: it is dropped. `left`: something else has the focus. */
    const named = (title: string | null, left: boolean) => {
        const mark = naming?.id ? events.find(naming.id) : null;
        setNaming(null);
        void (left || root.current?.focus({ preventScroll: true }));
        if (title && mark && title !== mark.title) {
            events.change(mark, { title });
        } else if (title && naming && naming.id === null) {
            void events.add({ title, start: naming.start, end: naming.end }).then(setActive);
        }
    };
    const goTo = (mark: EventMark | undefined) => {
        if (mark) {
            keys.commit();
            setActive(mark.id);
            playback.seek(mark.start);
        }
    };
    const key = (event: KeyboardEvent) => {
        const at = items.findIndex((one) => one.id === active);
        const mark = items[at];
        const mayChange = mayEdit && mark && !mark.derived;
        if (event.ctrlKey || event.metaKey) {
            return;
        }
        if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            const first = items.findIndex((one) => one.end >= playback.get().time_ns);
            goTo(items[mark ? at + (event.key === 'ArrowDown' ? 1 : -1) : first < 0 ? items.length - 1 : first]);
        } else if (mark && event.key === 'Enter') {
            playback.seek(mark.start);
        } else if (event.key === 'Escape') {
            pointer.cancel();
            setActive(null);
        } else if (mayChange && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
            keys.nudge(
                mark,
                event.altKey ? (event.shiftKey ? 'start' : 'end') : 'all',
                event.key === 'ArrowRight',
                event.shiftKey && !event.altKey,
            );
        } else if (mayChange && event.key === 'F2') {
            keys.commit();
            name(mark, mark.title);
        } else if (mayChange && (event.key === 'Delete' || event.key === 'Backspace')) {
            setDraft(null);
            setActive((items[at + 1] ?? items[at - 1])?.id ?? null);
            void events.remove(mark);
        } else {
            return;
        }
        event.preventDefault();
    };
    const zoomInto = (all: EventMark[]) => {
        const [first, end] = [
            all[0]!.start,
            all.reduce((last, mark) => (mark.end > last ? mark.end : last), all[0]!.end),
        ];
        const beside = (end - first) / 10n + BESIDE_NS;
        playback.seek(first);
        zoomTo({
            start: first - beside < bounds.start ? bounds.start : first - beside,
            end: end + beside > bounds.end ? bounds.end : end + beside,
        });
    };
    const pointer = useDragging({
        playback,
        events,
        bounds,
        view,
        width,
        mayEdit,
        placed,
        setDraft,
        setActive,
        zoomInto,
        name,
    });
    const fresh = draft && draft.id === null ? draft : naming && naming.id === null ? naming : null;
    return {
        root,
        recording,
        mayEdit,
        visible: items.length > 0 || fresh !== null || (mayEdit && open),
        rows,
        width,
        placed,
        active,
        naming: naming && { ...naming, x: xOf(naming.start, view, width) },
        fresh: fresh && {
            x: xOf(fresh.start, view, width),
            width: Math.max(2, xOf(fresh.end, view, width) - xOf(fresh.start, view, width)),
        },
        shown: draft as Range | null, // its times are shown
        named,
        cancel: pointer.cancel,
        handlers: { ...pointer.handlers, onKeyDown: key, onBlur: keys.commit },
    };
}
export type EventLane = ReturnType<typeof useEventLane>;

/** M, wherever the focus is, except where it types. */
function useMarkKey(enabled: boolean, mark: () => void): void {
    const latest = useRef(mark);
    latest.current = mark;
    useEffect(() => {
        const key = (event: KeyboardEvent) => {
            if (
                enabled &&
                event.key.toLowerCase() === 'm' &&
                !event.defaultPrevented &&
                !hasOtherUse(event) &&
                !busy(event, TYPES)
            ) {
                event.preventDefault(); // not typed into the form
                latest.current();
            }
        };
        document.addEventListener('keydown', key);
        return () => document.removeEventListener('keydown', key);
    }, [enabled]);
}

/** Arrow keys move an event frame by frame; the change is sent when they rest. */
function useNudging({
    recording,
    topics,
    events,
    draft,
    setDraft,
}: Pick<Props, 'recording' | 'topics' | 'events'> & { draft: Draft | null; setDraft: (draft: Draft | null) => void }) {
    const latest = useRef<Draft | null>(null);
    const timer = useRef<ReturnType<typeof setTimeout>>();
    const queue = useRef<Promise<void>>(Promise.resolve());
    latest.current = draft;
    const show = (to: Draft | null) => {
        latest.current = to; // further keys may arrive before the next render
        setDraft(to);
    };
    const commit = () => {
        clearTimeout(timer.current);
        const made = latest.current;
        const mark = made?.id ? events.find(made.id) : undefined;
        if (timer.current !== undefined && made && mark) {
            show(null);
            if (made.start !== mark.start || made.end !== mark.end) {
                events.change(mark, { start: made.start, end: made.end });
            }
        }
        timer.current = undefined;
    };
    const step = async (mark: EventMark, part: Part, forward: boolean, second: boolean) => {
        const now = latest.current?.id === mark.id ? latest.current : { id: mark.id, start: mark.start, end: mark.end };
        const from = part === 'end' ? now.end : now.start;
        const to = second
            ? from + (forward ? SECOND : -SECOND)
            : await frameTime(recording, frameTopic(topics), from, forward);
        clearTimeout(timer.current);
        timer.current = setTimeout(commit, KEYS_MS);
        show({ id: mark.id, ...movedBy(now, part, to - from, boundsOf(recording)) });
    };
    return {
        commit,
        nudge: (...key: Parameters<typeof step>) =>
            void (queue.current = queue.current.then(() => step(...key)).catch(showError)),
    };
}

interface DraggingProps extends Pick<Props, 'playback' | 'events' | 'view' | 'width'> {
    bounds: Range; // of the recording
    mayEdit: boolean;
    placed: readonly Placed[];
    setDraft: (draft: Draft | null) => void;
    setActive: (id: string | null) => void;
    zoomInto: (all: EventMark[]) => void;
    name: (of: Draft, title: string) => void;
}

function useDragging({
    playback,
    events,
    bounds,
    view,
    width,
    mayEdit,
    placed,
    setDraft,
    setActive,
    zoomInto,
    name,
}: DraggingProps) {
    const held = useRef<Held | null>(null);
    const made = useRef<Draft | null>(null);
    const pressed = useRef<string | undefined>(); // the bar of the last press, for double clicks
    const xIn = (event: PointerEvent) =>
        event.clientX - (event.currentTarget as HTMLElement).getBoundingClientRect().left;
    const show = (to: Draft | null) => {
        made.current = to;
        setDraft(to);
    };
    const down = (event: PointerEvent) => {
        const target = event.target as HTMLElement;
        if (event.button !== 0 || !event.isPrimary) {
            return;
        }
        const cluster = target.dataset.cluster;
        const id = (pressed.current = target.closest<HTMLElement>('[data-event]')?.dataset.event);
        held.current = {
            mark: (id && events.find(id)) || null,
            cluster,
            part: (target.dataset.edge as Part | undefined) ?? 'all',
            x: xIn(event),
            time: timeAt(xIn(event), view, width),
            moved: false,
        };
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    };
    const move = (event: PointerEvent) => {
        const drag = held.current;
        if (
            !drag ||
            !mayEdit ||
            drag.cluster ||
            drag.mark?.derived ||
            (!drag.moved && Math.abs(xIn(event) - drag.x) < DRAG_MIN_PX)
        ) {
            return;
        }
        drag.moved = true;
        const now = timeAt(xIn(event), view, width);
        const reach = event.altKey
            ? 0n
            : BigInt(Math.round((SNAP_PX / Math.max(width, 1)) * Number(view.end - view.start)));
        if (drag.mark) {
            const step = snapped(drag.mark, drag.part, now - drag.time, playback, reach);
            show({ id: drag.mark.id, ...movedBy(drag.mark, drag.part, step, bounds) });
        } else {
            const [from, to] = [drag.time, now].map(
                (time) => time + snapped({ start: time, end: time }, 'end', 0n, playback, reach),
            ) as [bigint, bigint];
            show({ id: null, start: from < to ? from : to, end: from < to ? to : from });
        }
    };
    const up = () => {
        const [drag, now] = [held.current, made.current];
        held.current = null;
        show(null);
        if (drag?.cluster) {
            const cluster = placed.find((one) => one.marks[0]!.id === drag.cluster);
            void (cluster && zoomInto(cluster.marks));
        } else if (drag && !drag.moved) {
            playback.seek(drag.mark?.start ?? drag.time);
            setActive(drag.mark?.id ?? null);
        } else if (drag?.mark && now && (now.start !== drag.mark.start || now.end !== drag.mark.end)) {
            events.change(drag.mark, { start: now.start, end: now.end });
        } else if (drag && !drag.mark && now) {
            name(now, '');
        }
    };
    const cancel = () => {
        if (held.current) {
            held.current = null;
            show(null);
        }
    };
    const twice = () => {
        const mark = pressed.current && events.find(pressed.current);
        if (mark) {
            name(mark, mark.title);
        }
    };
    return {
        cancel,
        handlers: {
            onPointerDown: down,
            onPointerMove: move,
            onPointerUp: up,
            onPointerCancel: cancel,
            onDblClick: twice,
        },
    };
}
