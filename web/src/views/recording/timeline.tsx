// The timeline: events, a lane per topic, playhead, selection. Reads and changes the playback state; holds only the
// zoom itself.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useWidth } from '../../use_size';
import { usePlayback, usePlaybackPart, type Playback, type Range } from '../../playback';
import { duration, offset } from '../../format';
import { useStore } from '../../store';
import { timelineText } from '../../text/timeline';
import { colour, shownTheme } from '../../theme';
import { boundsOf, relativeTime } from '../../recording_time';
import type { Recording, Topic } from '../../types';
import { Button, Failed, Spinner } from '../../ui';
import type { RecordingEvents } from './event_store';
import { panSpan, useGestures, ZOOM_STEP, zoomSpan } from '../../zoom';
import { drawLanes, LANE_HEIGHT, rulerTicks, xOf, type Lane } from './timeline_lanes';
import { EventLaneField, EventLaneName } from './timeline_events';
import { Losses } from './timeline_losses';
import { RowNames, useLaneRows } from './timeline_names';
import { usePointer } from './timeline_pointer';
import { timelineHeight, timelineOpen } from './remembered';
import { AllTopics, SizeBar } from './timeline_size';
import { useEventLane } from './use_event_lane';

const SHORTEST_NS = 10_000; // of a zoomed view

export function Lanes({
    lanes,
    view,
    width,
    row = LANE_HEIGHT,
}: {
    lanes: Lane[];
    view: Range;
    width: number;
    row?: number; // height of one
}) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const theme = useStore(shownTheme);
    const height = lanes.length * row;
    useEffect(() => {
        const scale = devicePixelRatio || 1;
        const element = canvas.current!;
        element.width = Math.max(1, Math.round(width * scale));
        element.height = Math.max(1, Math.round(height * scale));
        element.style.height = `${height}px`;
        const context = element.getContext('2d')!;
        context.scale(scale, scale);
        drawLanes(context, lanes, view, width, row, {
            lane: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => colour(`--c${n}`)),
            line: colour('--line'),
            ink: colour('--ink'),
        });
    }, [lanes, view.start, view.end, width, row, theme]);
    return <canvas ref={canvas} class="timeline-canvas" aria-hidden="true" />;
}

function Ruler({ recording, view, width }: { recording: Recording; view: Range; width: number }) {
    const { start } = boundsOf(recording);
    return (
        <div class="timeline-ruler" aria-hidden="true">
            {rulerTicks(view, start, width).map(({ seconds, time }) => (
                <span key={seconds} ref={(at) => void (at && (at.style.left = `${xOf(time, view, width)}px`))}>
                    {offset(BigInt(Math.round(seconds * 1e9)), seconds % 1 === 0 ? 0 : 3)}
                </span>
            ))}
        </div>
    );
}

function Playhead({ playback, view, width }: { playback: Playback; view: Range; width: number }) {
    const range = usePlaybackPart(playback, (state) => state.range);
    const line = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
        const place = () =>
            (line.current!.style.transform = `translateX(${xOf(playback.get().time_ns, view, width)}px)`);
        place();
        return playback.subscribe(place); // without rendering: it moves with every frame
    }, [playback, view.start, view.end, width]);
    const placeRange = (at: HTMLElement | null) => {
        if (at && range) {
            const from = xOf(range.start, view, width);
            at.style.transform = `translateX(${from}px)`;
            at.style.width = `${Math.max(0, xOf(range.end, view, width) - from)}px`;
        }
    };
    return (
        <>
            {range && <div class="timeline-range" ref={placeRange} />}
            <div class="timeline-playhead" ref={line} />
        </>
    );
}

/** The visible part of the recording. It follows the playhead when that leaves it. */
function useZoom(playback: Playback) {
    const [zoom, setZoom] = useState<Range | null>(null);
    const bounds = usePlaybackPart(playback, (state) => state.bounds);
    const view = zoom ?? bounds;
    const length = Number(bounds.end - bounds.start);
    const latest = useRef(view);
    latest.current = view;
    const inside = (): [number, number] => [
        Number(latest.current.start - bounds.start),
        Number(latest.current.end - bounds.start),
    ];
    const set = ([from, to]: [number, number]): boolean => {
        const next = { start: bounds.start + BigInt(Math.round(from)), end: bounds.start + BigInt(Math.round(to)) };
        const changed = next.start !== latest.current.start || next.end !== latest.current.end;
        latest.current = next; // further events may arrive before the next render
        setZoom(next.start <= bounds.start && next.end >= bounds.end ? null : next);
        return changed;
    };
    useEffect(
        () =>
            playback.subscribe(({ time_ns }) => {
                const { start, end } = latest.current;
                if (time_ns < start || time_ns > end) {
                    set(panSpan(inside(), Number(time_ns - (time_ns > end ? start : end)), [0, length]));
                }
            }),
        [playback, bounds],
    );
    return {
        view,
        zoomed: zoom !== null,
        zoomTo: (range: Range | null) => setZoom(range),
        /** `part`: of the view, from 0 to 1, which keeps its place. */
        zoomBy: (factor: number, part: number) =>
            set(
                zoomSpan(
                    inside(),
                    inside()[0] + part * (inside()[1] - inside()[0]),
                    factor,
                    [0, length],
                    Math.min(SHORTEST_NS, length),
                ),
            ),
        /** Around the playhead. */
        zoomAtPlayhead: (factor: number) =>
            set(
                zoomSpan(
                    inside(),
                    Number(playback.get().time_ns - bounds.start),
                    factor,
                    [0, length],
                    Math.min(SHORTEST_NS, length),
                ),
            ),
        panBy: (part: number) => set(panSpan(inside(), part * (inside()[1] - inside()[0]), [0, length])),
    };
}
type Zoom = ReturnType<typeof useZoom>;

function Slider({ recording, playback, zoom }: { recording: Recording; playback: Playback; zoom: Zoom }) {
    const { time_ns, bounds } = usePlayback(playback, 250);
    const length = Number(bounds.end - bounds.start);
    const key = (event: KeyboardEvent) => {
        const step = BigInt(Math.max(1, Math.round(length / 10)));
        const now = playback.get().time_ns;
        const to = { PageUp: now + step, PageDown: now - step, Home: bounds.start, End: bounds.end }[event.key];
        const factor = { '+': ZOOM_STEP, '=': ZOOM_STEP, '-': 1 / ZOOM_STEP, 0: 0 }[event.key];
        if (event.ctrlKey || event.metaKey || event.altKey) {
            return;
        }
        if (to !== undefined) {
            playback.seek(to);
            event.preventDefault();
        } else if (factor !== undefined) {
            void (factor ? zoom.zoomAtPlayhead(factor) : zoom.zoomTo(null));
        } else if (event.key === '[' || event.key === ']') {
            const { start, end } = playback.span();
            playback.setRange(
                event.key === '['
                    ? { start: now, end: end > now ? end : bounds.end }
                    : { start: start < now ? start : bounds.start, end: now },
            );
        }
    };
    return (
        <div
            class="timeline-slider"
            role="slider"
            tabIndex={0}
            aria-label={timelineText.playhead}
            aria-valuemin={0}
            aria-valuemax={length / 1e9}
            aria-valuenow={Number(time_ns - bounds.start) / 1e9}
            aria-valuetext={relativeTime(recording, time_ns)}
            onKeyDown={key}
        />
    );
}

function Corner({ playback, zoom }: { playback: Playback; zoom: Zoom }) {
    const range = usePlaybackPart(playback, (state) => state.range);
    return (
        <div class="timeline-corner">
            <AllTopics />
            {range && (
                <>
                    <Button kind="quiet" icon="full" label={timelineText.zoom} onClick={() => zoom.zoomTo(range)} />
                    <Button
                        kind="quiet"
                        icon="close"
                        label={timelineText.clearSelection}
                        onClick={() => playback.setRange(null)}
                    />
                    <span class="small muted">{duration(range.end - range.start)}</span>
                </>
            )}
            {!range && !zoom.zoomed && <span class="small muted">{timelineText.hint}</span>}
            {zoom.zoomed && (
                <Button kind="quiet" onClick={() => zoom.zoomTo(null)}>
                    {timelineText.resetZoom}
                </Button>
            )}
        </div>
    );
}

/** What comes below the lanes: those of a second recording. */
interface Below {
    names: (open: boolean) => ComponentChildren;
    lanes: (view: Range, width: number, open: boolean) => ComponentChildren;
}

export function Timeline({
    recording,
    topics,
    playback,
    events,
    below,
}: {
    recording: Recording;
    topics: Topic[];
    playback: Playback;
    events: RecordingEvents;
    below: Below | null;
}) {
    const root = useRef<HTMLElement>(null);
    const field = useRef<HTMLDivElement>(null);
    const open = useStore(timelineOpen);
    const height = useStore(timelineHeight);
    const width = useWidth(field);
    const zoom = useZoom(playback);
    const { view } = zoom;
    const lanes = useLaneRows(recording, view, zoom.zoomed, open);
    const pointer = usePointer(playback, view, width);
    const lane = useEventLane({ recording, topics, playback, events, view, width, open, zoomTo: zoom.zoomTo });
    useGestures(field, {
        zoom: (factor, x) => zoom.zoomBy(factor, x / Math.max(width, 1)),
        pan: (dx) => zoom.panBy(-dx / Math.max(width, 1)),
        pinchStart: () => (pointer.cancel(), lane.cancel()),
    });
    return (
        <>
            <section
                class="timeline"
                ref={root}
                aria-label={timelineText.title}
                style={{ maxHeight: open ? `${height}px` : undefined }}
            >
                <div class="timeline-names">
                    <Corner playback={playback} zoom={zoom} />
                    {lane.visible && <EventLaneName lane={lane} />}
                    <RowNames lanes={lanes} />
                    {below?.names(open)}
                </div>
                <div class="timeline-field" ref={field} {...pointer.handlers}>
                    <Slider recording={recording} playback={playback} zoom={zoom} />
                    <Ruler recording={recording} view={view} width={width} />
                    {lane.visible && <EventLaneField lane={lane} />}
                    {lanes.filtered && <div class="timeline-filter-room" />}
                    <Lanes lanes={lanes.lanes} view={view} width={width} row={lanes.height} />
                    <Losses recording={recording} view={view} width={width} />
                    {below?.lanes(view, width, open)}
                    <Playhead playback={playback} view={view} width={width} />
                    {lanes.loading && <Spinner />}
                </div>
                {lanes.error !== null && <Failed error={lanes.error} retry={lanes.reload} />}
            </section>
            <SizeBar timeline={root} />
        </>
    );
}
