// The timeline: a lane for each topic, the play head, the range, marks of events. Its one rule: it moves the clock and shows it, and keeps no time of its own.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAsk } from '../../ask';
import { useClock, type Clock, type Range } from '../../clock';
import { count, duration, offset } from '../../format';
import { useStore } from '../../store';
import { text } from '../../text';
import { colour, shown as themeShown } from '../../theme';
import { boundsOf, since } from '../../times';
import type { Recording, Topic } from '../../types';
import { Button, Failed, Spinner } from '../../ui';
import type { Mark } from './events';
import { drawLanes, LANE_HEIGHT, lanesOf, marks, RULER_HEIGHT, timeAt, xOf, type Lane } from './timeline_lanes';

const DRAG_FROM = 4; // px: less is a click

function useWidth(ref: { current: HTMLElement | null }): number {
    const [width, setWidth] = useState(0);
    useLayoutEffect(() => {
        const watch = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
        watch.observe(ref.current!);
        return () => watch.disconnect();
    }, []);
    return width;
}

function Lanes({ lanes, view, width }: { lanes: Lane[]; view: Range; width: number }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const theme = useStore(themeShown);
    const height = lanes.length * LANE_HEIGHT;
    useEffect(() => {
        const scale = devicePixelRatio || 1;
        const made = canvas.current!;
        made.width = Math.max(1, Math.round(width * scale));
        made.height = Math.max(1, Math.round(height * scale));
        made.style.height = `${height}px`;
        const context = made.getContext('2d')!;
        context.scale(scale, scale);
        drawLanes(context, lanes, view, width, { lane: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => colour(`--c${n}`)), line: colour('--line'), ink: colour('--ink') });
    }, [lanes, view.start, view.end, width, theme]);
    return <canvas ref={canvas} class="timeline-canvas" aria-hidden="true" />;
}

function Ruler({ recording, view, width, events }: { recording: Recording; view: Range; width: number; events: Mark[] }) {
    const { start } = boundsOf(recording);
    return (
        <>
            <div class="timeline-ruler" aria-hidden="true">
                {marks(view, start, width).map(({ seconds, time }) => (
                    <span key={seconds} ref={(at) => void (at && (at.style.left = `${xOf(time, view, width)}px`))}>
                        {offset(BigInt(Math.round(seconds * 1e9)), seconds % 1 === 0 ? 0 : 3)}
                    </span>
                ))}
            </div>
            {events.map((event) => (
                <div
                    key={event.id}
                    class="timeline-event"
                    title={event.title}
                    ref={(at) => {
                        if (at) {
                            at.style.left = `${xOf(event.start, view, width)}px`;
                            at.style.width = `${Math.max(3, xOf(event.end, view, width) - xOf(event.start, view, width))}px`;
                        }
                    }}
                />
            ))}
        </>
    );
}

function Head({ clock, view, width }: { clock: Clock; view: Range; width: number }) {
    const { time_ns, range } = useClock(clock);
    const place = (at: HTMLElement | null, from: number, to?: number) => {
        if (at) {
            at.style.transform = `translateX(${from}px)`;
            if (to !== undefined) {
                at.style.width = `${Math.max(0, to - from)}px`;
            }
        }
    };
    return (
        <>
            {range && <div class="timeline-range" ref={(at) => place(at, xOf(range.start, view, width), xOf(range.end, view, width))} />}
            <div class="timeline-head" ref={(at) => place(at, xOf(time_ns, view, width))} />
        </>
    );
}

/** Pointer: a click moves the head, a drag makes a range, a drag at one of its ends moves that end. */
function usePointer(clock: Clock, view: Range, width: number) {
    const from = useRef<{ x: number; still: bigint; moved: boolean } | null>(null); // still: the end that stays
    const x = (event: PointerEvent) => event.clientX - (event.currentTarget as HTMLElement).getBoundingClientRect().left;
    const down = (event: PointerEvent) => {
        if (event.button !== 0) {
            return;
        }
        const { range } = clock.get();
        const near = (time: bigint) => Math.abs(xOf(time, view, width) - x(event)) < 6;
        const still = range && near(range.end) ? range.start : range && near(range.start) ? range.end : timeAt(x(event), view, width);
        from.current = { x: x(event), still, moved: false };
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    };
    const move = (event: PointerEvent) => {
        const drag = from.current;
        if (!drag || (!drag.moved && Math.abs(x(event) - drag.x) < DRAG_FROM)) {
            return;
        }
        drag.moved = true;
        const now = timeAt(x(event), view, width);
        clock.setRange(now < drag.still ? { start: now, end: drag.still } : { start: drag.still, end: now });
    };
    const up = (event: PointerEvent) => {
        if (from.current && !from.current.moved) {
            clock.seek(timeAt(x(event), view, width));
        }
        from.current = null;
    };
    return { onPointerDown: down, onPointerMove: move, onPointerUp: up, onPointerCancel: () => (from.current = null) };
}

function Slider({ recording, clock }: { recording: Recording; clock: Clock }) {
    const { time_ns, bounds } = useClock(clock, 250);
    const whole = Number(bounds.end - bounds.start);
    const key = (event: KeyboardEvent) => {
        const step = BigInt(Math.max(1, Math.round(whole / (event.shiftKey ? 1000 : 100))));
        const now = clock.get().time_ns;
        const to = { ArrowRight: now + step, ArrowLeft: now - step, PageUp: now + step * 10n, PageDown: now - step * 10n, Home: bounds.start, End: bounds.end }[event.key];
        if (to !== undefined) {
            clock.seek(to);
            event.preventDefault();
        } else if (event.key === ' ') {
            clock.toggle();
            event.preventDefault();
        } else if (event.key === '[' || event.key === ']') {
            const { start, end } = clock.span();
            clock.setRange(event.key === '[' ? { start: now, end: end > now ? end : bounds.end } : { start: start < now ? start : bounds.start, end: now });
        }
    };
    return (
        <div
            class="timeline-slider"
            role="slider"
            tabIndex={0}
            aria-label={text.timeline.head}
            aria-valuemin={0}
            aria-valuemax={whole / 1e9}
            aria-valuenow={Number(time_ns - bounds.start) / 1e9}
            aria-valuetext={since(recording, time_ns)}
            onKeyDown={key}
        />
    );
}

export function Timeline({ recording, topics, clock, events }: { recording: Recording; topics: Topic[]; clock: Clock; events: Mark[] }) {
    const lanes = useAsk((signal) => lanesOf(recording.id, signal), [recording.id, recording.messages]);
    const field = useRef<HTMLDivElement>(null);
    const width = useWidth(field);
    const [zoom, setZoom] = useState<Range | null>(null);
    const { range, bounds } = useClock(clock, 100);
    const view = zoom ?? bounds;
    const pointer = usePointer(clock, view, width);
    const counts = useMemo(() => new Map(topics.map((t) => [t.name, t.count])), [topics]);
    const shown = lanes.value ?? [];
    return (
        <section class="timeline" aria-label={text.timeline.title}>
            <div class="timeline-names">
                <div class="timeline-corner">
                    {range ? (
                        <>
                            <Button kind="quiet" icon="full" label={text.timeline.zoom} onClick={() => setZoom(range)} />
                            <Button kind="quiet" icon="close" label={text.timeline.noRange} onClick={() => clock.setRange(null)} />
                            <span class="small soft">{duration(range.end - range.start)}</span>
                        </>
                    ) : (
                        <span class="small soft">{text.timeline.hint}</span>
                    )}
                    {zoom && (
                        <Button kind="quiet" onClick={() => setZoom(null)}>
                            {text.timeline.all}
                        </Button>
                    )}
                </div>
                {shown.map((lane) => (
                    <div key={lane.topic} class="timeline-name mono" title={`${lane.topic}: ${count(counts.get(lane.topic))}`}>
                        {lane.topic}
                    </div>
                ))}
            </div>
            <div class="timeline-field" ref={field} {...pointer} data-ruler={RULER_HEIGHT}>
                <Slider recording={recording} clock={clock} />
                <Ruler recording={recording} view={view} width={width} events={events} />
                <Lanes lanes={shown} view={view} width={width} />
                <Head clock={clock} view={view} width={width} />
                {lanes.waiting && !lanes.value && <Spinner />}
            </div>
            {lanes.error !== null && <Failed error={lanes.error} retry={lanes.again} />}
        </section>
    );
}
