// How high the timeline is: a button for one row or all of them, and the bar at its lower edge, which is dragged.
import { useRef } from 'preact/hooks';
import { useStore } from '../../store';
import { timelineText } from '../../text/timeline';
import { Button } from '../../ui';
import { setTimelineHeight, timelineHeight, timelineOpen } from './remembered';

const ONE_ROW_PX = 70; // dragged to less than this, one row is left
const STEP_PX = 24; // of an arrow key
const WINDOW_PART = 0.6; // that the timeline takes at most

export function AllTopics() {
    const open = useStore(timelineOpen);
    return (
        <Button
            kind="quiet"
            icon={open ? 'down' : 'right'}
            label={timelineText.topics}
            aria-expanded={open}
            onClick={() => timelineOpen.choose(!open)}
        />
    );
}

export function SizeBar({ timeline }: { timeline: { current: HTMLElement | null } }) {
    const held = useRef<number | null>(null); // from the pointer to the height
    const open = useStore(timelineOpen);
    const height = useStore(timelineHeight);
    const now = () => timeline.current?.offsetHeight ?? 0;
    const most = () => Math.min(timeline.current?.scrollHeight ?? 0, Math.round(innerHeight * WINDOW_PART));
    const to = (px: number) => {
        timelineOpen.choose(px >= ONE_ROW_PX);
        if (px >= ONE_ROW_PX) {
            setTimelineHeight(Math.round(px));
        }
    };
    const key = (event: KeyboardEvent) => {
        const px = { ArrowUp: now() - STEP_PX, ArrowDown: now() + STEP_PX, Home: 0, End: innerHeight * WINDOW_PART }[
            event.key
        ];
        if (px !== undefined) {
            to(open ? Math.min(px, Math.max(most(), now())) : Math.max(px, event.key === 'Home' ? 0 : ONE_ROW_PX));
            event.preventDefault();
        }
    };
    const up = () => {
        if (held.current !== null && timelineOpen.get()) {
            setTimelineHeight(Math.min(timelineHeight.get(), Math.max(most(), ONE_ROW_PX))); // no more than there is
        }
        held.current = null;
    };
    return (
        <div
            class="timeline-size"
            role="separator"
            tabIndex={0}
            title={timelineText.resizeHelp}
            aria-label={timelineText.resize}
            aria-orientation="horizontal"
            aria-valuenow={open ? height : 0}
            aria-valuemin={0}
            aria-valuemax={Math.round(innerHeight * WINDOW_PART)}
            onPointerDown={(event) => {
                held.current = now() - event.clientY;
                event.currentTarget.setPointerCapture(event.pointerId);
            }}
            onPointerMove={(event) => held.current !== null && to(held.current + event.clientY)}
            onPointerUp={up}
            onPointerCancel={up}
            onDblClick={() => timelineOpen.choose(!timelineOpen.get())}
            onKeyDown={key}
        />
    );
}
