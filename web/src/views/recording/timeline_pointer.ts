// The pointer on the timeline. The ruler and the playhead scrub; on the lanes a click moves the playhead, a drag
// selects a time range, and a drag at an end of the selection moves that end.
import { useRef } from 'preact/hooks';
import type { Playback, Range } from '../../playback';
import { timeAt, xOf } from './timeline_lanes';

const DRAG_MIN_PX = 4; // less is a click
const GRAB_PX = { mouse: 6, touch: 14 }; // from a line that can be dragged

type Drag =
    | { kind: 'scrub'; before: bigint }
    // fixed: the end that does not move
    | { kind: 'select'; x: number; fixed: bigint; moved: boolean; before: Range | null };

export function usePointer(playback: Playback, view: Range, width: number) {
    const drag = useRef<Drag | null>(null);
    const xIn = (event: PointerEvent) =>
        event.clientX - (event.currentTarget as HTMLElement).getBoundingClientRect().left;
    const onRuler = (event: PointerEvent) =>
        event.clientY <=
        (event.currentTarget as HTMLElement).querySelector('.timeline-ruler')!.getBoundingClientRect().bottom;
    const near = (event: PointerEvent, time: bigint) =>
        Math.abs(xOf(time, view, width) - xIn(event)) < (event.pointerType === 'touch' ? GRAB_PX.touch : GRAB_PX.mouse);
    /** The fixed end of the selection whose other end is below the pointer. */
    const fixedEnd = (event: PointerEvent): bigint | null => {
        const { range } = playback.get();
        return range && !onRuler(event)
            ? near(event, range.end)
                ? range.start
                : near(event, range.start)
                  ? range.end
                  : null
            : null;
    };
    const scrubs = (event: PointerEvent) =>
        onRuler(event) || (fixedEnd(event) === null && near(event, playback.get().time_ns));
    const down = (event: PointerEvent) => {
        if (event.button !== 0 || !event.isPrimary || (event.target as HTMLElement).closest('.timeline-events')) {
            return;
        }
        const { range, time_ns } = playback.get();
        if (scrubs(event)) {
            drag.current = { kind: 'scrub', before: time_ns };
            if (onRuler(event)) {
                playback.seek(timeAt(xIn(event), view, width));
            }
        } else {
            drag.current = {
                kind: 'select',
                x: xIn(event),
                fixed: fixedEnd(event) ?? timeAt(xIn(event), view, width),
                moved: false,
                before: range,
            };
        }
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    };
    const move = (event: PointerEvent) => {
        const now = timeAt(xIn(event), view, width);
        const held = drag.current;
        if (!held) {
            (event.currentTarget as HTMLElement).style.cursor =
                fixedEnd(event) !== null ? 'ew-resize' : scrubs(event) ? 'grab' : '';
        } else if (held.kind === 'scrub') {
            playback.seek(now);
        } else if (held.moved || Math.abs(xIn(event) - held.x) >= DRAG_MIN_PX) {
            held.moved = true;
            playback.setRange(now < held.fixed ? { start: now, end: held.fixed } : { start: held.fixed, end: now });
        }
    };
    const up = (event: PointerEvent) => {
        if (drag.current && (drag.current.kind === 'scrub' || !drag.current.moved)) {
            playback.seek(timeAt(xIn(event), view, width));
        }
        drag.current = null;
    };
    /** The gesture was something else: the browser scrolls, or a second finger is down. */
    const cancel = () => {
        if (drag.current?.kind === 'scrub') {
            playback.seek(drag.current.before);
        } else if (drag.current?.moved) {
            playback.setRange(drag.current.before);
        }
        drag.current = null;
    };
    return { cancel, handlers: { onPointerDown: down, onPointerMove: move, onPointerUp: up, onPointerCancel: cancel } };
}
