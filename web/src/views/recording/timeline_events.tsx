// The lane of events: bars with titles. Editors drag and rename them, and add some by dragging on the lane.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Range } from '../../playback';
import { count, duration } from '../../format';
import { relativeTime } from '../../recording_time';
import { eventsText } from '../../text/timeline';
import type { Recording } from '../../types';
import type { EventMark } from './event_store';
import type { Placed } from './timeline_events_layout';
import type { EventLane } from './use_event_lane';

const ROW_PX = 20;
const GAP_PX = 3;
const INSIDE_PX = 26; // a bar this wide has its title inside, others have it beside them
const BESIDE_PX = 16; // less room beside a bar shows no title
const TITLE_APART_PX = 8; // from the next one
const FORM_PX = 180;

export const laneHeight = (rows: number): number => rows * ROW_PX + 2 * GAP_PX;
const topOf = (row: number): number => GAP_PX + row * ROW_PX;

const lengthOf = ({ start, end }: Range): string => (end > start ? duration(end - start) : '');
const labelOf = (recording: Recording, mark: Pick<EventMark, 'title' | 'start' | 'end'>): string =>
    eventsText.one(mark.title, relativeTime(recording, mark.start), lengthOf(mark));

const idOf = (mark: EventMark): string => `event-${mark.id}`;

function Bar({ lane, placed }: { lane: EventLane; placed: Placed }) {
    const mark = placed.marks[0]!;
    const wide = placed.width >= INSIDE_PX;
    const active = mark.id === lane.active;
    // from its left if the title begins inside, else beside the bar
    const free = Math.min(placed.clear, placed.width + placed.room, lane.width - placed.x) - TITLE_APART_PX;
    const room = wide ? free : free - placed.width;
    return (
        <div
            class={`timeline-event ${wide ? 'wide' : ''} ${active ? 'active' : ''} ${mark.derived ? 'derived' : ''}`}
            role="option"
            id={idOf(mark)}
            aria-selected={active}
            data-event={mark.id}
            aria-label={labelOf(lane.recording, mark)}
            title={[labelOf(lane.recording, mark), mark.derived ? eventsText.derived : mark.author]
                .filter(Boolean)
                .join('\n')}
            style={{ left: `${placed.x}px`, width: `${placed.width}px`, top: `${topOf(placed.row)}px` }}
        >
            {lane.mayEdit && !mark.derived && <span class="timeline-event-edge start" data-edge="start" />}
            {(wide || room >= BESIDE_PX) && (
                <span class="timeline-event-title" style={{ maxWidth: `${Math.max(room, 0)}px` }}>
                    {mark.title}
                </span>
            )}
            {lane.mayEdit && !mark.derived && <span class="timeline-event-edge end" data-edge="end" />}
        </div>
    );
}

function Cluster({ lane, placed }: { lane: EventLane; placed: Placed }) {
    const [first, last] = [placed.marks[0]!, placed.marks.at(-1)!];
    const label = eventsText.many(
        placed.marks.length,
        relativeTime(lane.recording, first.start),
        relativeTime(lane.recording, last.end),
    );
    return (
        <div
            class="timeline-event timeline-cluster"
            role="option"
            aria-selected={false}
            data-cluster={first.id}
            aria-label={label}
            title={label}
            style={{ left: `${placed.x}px`, width: `${placed.width}px`, top: `${topOf(placed.row)}px` }}
        >
            {count(placed.marks.length)}
        </div>
    );
}

function TitleForm({ lane }: { lane: EventLane }) {
    const { naming, width } = lane;
    const field = useRef<HTMLInputElement>(null);
    const done = useRef(false); // removing the form blurs the field
    useLayoutEffect(() => {
        field.current!.focus({ preventScroll: true });
        field.current!.select();
    }, []);
    const close = (title: string | null, left = false) => {
        if (!done.current) {
            done.current = true;
            lane.named(title, left);
        }
    };
    const value = () => field.current!.value.trim();
    const key = (event: KeyboardEvent) => {
        event.stopPropagation();
        if (event.key === 'Escape') {
            close(null);
        }
    };
    const left = Math.max(0, Math.min(naming!.x, width - FORM_PX));
    return (
        <form
            class="timeline-event-form"
            style={{ left: `${left}px`, width: `${Math.min(FORM_PX, width)}px` }}
            onSubmit={(event) => (event.preventDefault(), close(value() || naming!.title || eventsText.unnamed))}
        >
            <input
                ref={field}
                type="text"
                maxLength={1000}
                defaultValue={naming!.title}
                placeholder={eventsText.unnamed}
                aria-label={eventsText.name}
                onKeyDown={key}
                onBlur={() => close(value() || null, true)}
            />
        </form>
    );
}

export function EventLaneName({ lane }: { lane: EventLane }) {
    const { shown, recording } = lane;
    return (
        <div class="timeline-events-name" style={{ height: `${laneHeight(lane.rows)}px` }}>
            <span aria-hidden={shown !== null}>{shown ? '' : eventsText.title}</span>
            <output class="mono" aria-live="polite">
                {shown
                    ? `${relativeTime(recording, shown.start)}${shown.end > shown.start ? ` – ${relativeTime(recording, shown.end)}` : ''}`
                    : ''}
            </output>
        </div>
    );
}

export function EventLaneField({ lane }: { lane: EventLane }) {
    const { placed, naming, fresh } = lane;
    const active = placed.find((one) => one.marks[0]!.id === lane.active && one.marks.length === 1);
    return (
        <div class={`timeline-events ${lane.mayEdit ? 'edits' : ''}`} style={{ height: `${laneHeight(lane.rows)}px` }}>
            <div
                class="timeline-events-list"
                ref={lane.root}
                role="listbox"
                tabIndex={0}
                aria-label={eventsText.title}
                aria-activedescendant={active && idOf(active.marks[0]!)}
                aria-keyshortcuts={lane.mayEdit ? 'M F2 Delete' : undefined}
                {...lane.handlers}
            >
                {placed.map((one) =>
                    one.marks.length > 1 ? (
                        <Cluster key={`c${one.marks[0]!.id}`} lane={lane} placed={one} />
                    ) : (
                        <Bar key={one.marks[0]!.id} lane={lane} placed={one} />
                    ),
                )}
            </div>
            {placed.length === 0 && !fresh && !naming && lane.mayEdit && (
                <span class="timeline-events-hint small muted">{eventsText.hint}</span>
            )}
            {fresh && (
                <div
                    class="timeline-event wide new"
                    style={{ left: `${fresh.x}px`, width: `${fresh.width}px`, top: `${topOf(0)}px` }}
                />
            )}
            {naming && <TitleForm key={naming.id ?? ''} lane={lane} />}
        </div>
    );
}
