// The timeline: a lane per topic, playhead, selection, events. Reads and changes the playback state; holds only the zoom itself.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useRequest } from '../../use_request';
import { usePlayback, type Playback, type Range } from '../../playback';
import { count, duration, offset } from '../../format';
import { useStore } from '../../store';
import { text } from '../../text';
import { colour, shownTheme } from '../../theme';
import { boundsOf, relativeTime } from '../../recording_time';
import type { Recording, Topic } from '../../types';
import { Button, Failed, Spinner } from '../../ui';
import type { EventMark } from './events';
import { drawLanes, LANE_HEIGHT, lanesOf, rulerTicks, RULER_HEIGHT, timeAt, xOf, type Lane } from './timeline_lanes';

const DRAG_MIN_PX = 4; // less is a click

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
    const theme = useStore(shownTheme);
    const height = lanes.length * LANE_HEIGHT;
    useEffect(() => {
        const scale = devicePixelRatio || 1;
        const element = canvas.current!;
        element.width = Math.max(1, Math.round(width * scale));
        element.height = Math.max(1, Math.round(height * scale));
        element.style.height = `${height}px`;
        const context = element.getContext('2d')!;
        context.scale(scale, scale);
        drawLanes(context, lanes, view, width, { lane: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => colour(`--c${n}`)), line: colour('--line'), ink: colour('--ink') });
    }, [lanes, view.start, view.end, width, theme]);
    return <canvas ref={canvas} class="timeline-canvas" aria-hidden="true" />;
}

function Ruler({ recording, view, width, events }: { recording: Recording; view: Range; width: number; events: EventMark[] }) {
    const { start } = boundsOf(recording);
    return (
        <>
            <div class="timeline-ruler" aria-hidden="true">
                {rulerTicks(view, start, width).map(({ seconds, time }) => (
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

function Playhead({ playback, view, width }: { playback: Playback; view: Range; width: number }) {
    const { time_ns, range } = usePlayback(playback);
    const position = (at: HTMLElement | null, from: number, to?: number) => {
        if (at) {
            at.style.transform = `translateX(${from}px)`;
            if (to !== undefined) {
                at.style.width = `${Math.max(0, to - from)}px`;
            }
        }
    };
    return (
        <>
            {range && <div class="timeline-range" ref={(at) => position(at, xOf(range.start, view, width), xOf(range.end, view, width))} />}
            <div class="timeline-playhead" ref={(at) => position(at, xOf(time_ns, view, width))} />
        </>
    );
}

/** A click moves the playhead, a drag selects a range, a drag at an end of the selection moves that end. */
function usePointer(playback: Playback, view: Range, width: number) {
    const from = useRef<{ x: number; fixed: bigint; moved: boolean } | null>(null); // fixed: the end that does not move
    const x = (event: PointerEvent) => event.clientX - (event.currentTarget as HTMLElement).getBoundingClientRect().left;
    const down = (event: PointerEvent) => {
        if (event.button !== 0) {
            return;
        }
        const { range } = playback.get();
        const near = (time: bigint) => Math.abs(xOf(time, view, width) - x(event)) < 6;
        const fixed = range && near(range.end) ? range.start : range && near(range.start) ? range.end : timeAt(x(event), view, width);
        from.current = { x: x(event), fixed, moved: false };
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    };
    const move = (event: PointerEvent) => {
        const drag = from.current;
        if (!drag || (!drag.moved && Math.abs(x(event) - drag.x) < DRAG_MIN_PX)) {
            return;
        }
        drag.moved = true;
        const now = timeAt(x(event), view, width);
        playback.setRange(now < drag.fixed ? { start: now, end: drag.fixed } : { start: drag.fixed, end: now });
    };
    const up = (event: PointerEvent) => {
        if (from.current && !from.current.moved) {
            playback.seek(timeAt(x(event), view, width));
        }
        from.current = null;
    };
    return { onPointerDown: down, onPointerMove: move, onPointerUp: up, onPointerCancel: () => (from.current = null) };
}

function Slider({ recording, playback }: { recording: Recording; playback: Playback }) {
    const { time_ns, bounds } = usePlayback(playback, 250);
    const length = Number(bounds.end - bounds.start);
    const key = (event: KeyboardEvent) => {
        const step = BigInt(Math.max(1, Math.round(length / (event.shiftKey ? 1000 : 100))));
        const now = playback.get().time_ns;
        const to = { ArrowRight: now + step, ArrowLeft: now - step, PageUp: now + step * 10n, PageDown: now - step * 10n, Home: bounds.start, End: bounds.end }[event.key];
        if (to !== undefined) {
            playback.seek(to);
            event.preventDefault();
        } else if (event.key === ' ') {
            playback.toggle();
            event.preventDefault();
        } else if (event.key === '[' || event.key === ']') {
            const { start, end } = playback.span();
            playback.setRange(event.key === '[' ? { start: now, end: end > now ? end : bounds.end } : { start: start < now ? start : bounds.start, end: now });
        }
    };
    return (
        <div
            class="timeline-slider"
            role="slider"
            tabIndex={0}
            aria-label={text.timeline.playhead}
            aria-valuemin={0}
            aria-valuemax={length / 1e9}
            aria-valuenow={Number(time_ns - bounds.start) / 1e9}
            aria-valuetext={relativeTime(recording, time_ns)}
            onKeyDown={key}
        />
    );
}

export function Timeline({ recording, topics, playback, events }: { recording: Recording; topics: Topic[]; playback: Playback; events: EventMark[] }) {
    const lanes = useRequest((signal) => lanesOf(recording.id, signal), [recording.id, recording.messages]);
    const field = useRef<HTMLDivElement>(null);
    const width = useWidth(field);
    const [zoom, setZoom] = useState<Range | null>(null);
    const { range, bounds } = usePlayback(playback, 100);
    const view = zoom ?? bounds;
    const pointer = usePointer(playback, view, width);
    const counts = useMemo(() => new Map(topics.map((t) => [t.name, t.messages])), [topics]);
    const shown = lanes.value ?? [];
    return (
        <section class="timeline" aria-label={text.timeline.title}>
            <div class="timeline-names">
                <div class="timeline-corner">
                    {range ? (
                        <>
                            <Button kind="quiet" icon="full" label={text.timeline.zoom} onClick={() => setZoom(range)} />
                            <Button kind="quiet" icon="close" label={text.timeline.clearSelection} onClick={() => playback.setRange(null)} />
                            <span class="small muted">{duration(range.end - range.start)}</span>
                        </>
                    ) : (
                        <span class="small muted">{text.timeline.hint}</span>
                    )}
                    {zoom && (
                        <Button kind="quiet" onClick={() => setZoom(null)}>
                            {text.timeline.resetZoom}
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
                <Slider recording={recording} playback={playback} />
                <Ruler recording={recording} view={view} width={width} events={events} />
                <Lanes lanes={shown} view={view} width={width} />
                <Playhead playback={playback} view={view} width={width} />
                {lanes.loading && !lanes.value && <Spinner />}
            </div>
            {lanes.error !== null && <Failed error={lanes.error} retry={lanes.reload} />}
        </section>
    );
}
