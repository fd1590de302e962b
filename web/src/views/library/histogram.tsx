// The histogram of recordings over time, for the whole archive and for the search. It always shows the time range of
// the list.
import { useRef, useState } from 'preact/hooks';
import { useWidth } from '../../use_size';
import { setQuery } from '../../address';
import { count, date, dateTime } from '../../format';
import { libraryText } from '../../text/library';
import { zoneName } from '../../time_zone';
import { Button } from '../../ui';
import { barName, clockOf, ticksOf, useHistogram, type Bar, type Outside, type Span } from './histogram_data';

const t = libraryText;
const HEIGHT = 46;
const MIN_SPAN_MS = 1000;
const LETTER_WIDTH = 8; // px, at most: labels that do not fit before the end are left out

function show(span: Span | null, replace = false) {
    const iso = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');
    setQuery({ start: span && iso(span.from), end: span && iso(span.to), row: null }, replace);
}

function scaled(span: Span, by: number, around = (span.from + span.to) / 2): Span {
    const from = around - (around - span.from) * by;
    const to = around + (span.to - around) * by;
    return to - from < MIN_SPAN_MS
        ? { from: around - MIN_SPAN_MS / 2, to: around + MIN_SPAN_MS / 2 }
        : { from: Math.round(from), to: Math.round(to) };
}

const ns = (ms: number) => BigInt(Math.round(ms)) * 1000000n;

/** Recordings far from all others: they would squeeze the rest into a few pixels, so the axis is broken there. */
function End({ outside, archive, before }: { outside: Outside; archive: Span; before: boolean }) {
    const n = before ? outside.before : outside.after;
    const at = before ? archive.from : archive.to;
    const range = {
        start: before ? null : new Date(at).toISOString(),
        end: before ? new Date(at).toISOString() : null,
    };
    return n > 0 ? (
        <button
            type="button"
            class={`library-outside ${before ? 'before' : 'after'}`}
            onClick={() => setQuery({ ...range, row: null })}
        >
            {(before ? t.before : t.after)(count(n) + (outside.more ? '+' : ''), n, date(ns(before ? at : at - 1)))}
        </button>
    ) : null;
}

function Tools({
    span,
    archive,
    outside,
    zoomed,
    truncated,
}: {
    span: Span;
    archive: Span;
    outside: Outside;
    zoomed: boolean;
    truncated: number;
}) {
    const move = (by: number) => {
        const step = Math.round((span.to - span.from) * by);
        show({ from: span.from + step, to: span.to + step });
    };
    const out = () => {
        const wider = scaled(span, 4);
        show(wider.from <= archive.from && wider.to >= archive.to ? null : wider);
    };
    return (
        <div class="library-tools">
            <End outside={outside} archive={archive} before />
            <span class="small muted ellipsis library-range">
                {t.between(dateTime(ns(span.from)).slice(0, 16), dateTime(ns(span.to)).slice(0, 16))} {zoneName()}
            </span>
            <End outside={outside} archive={archive} before={false} />
            {truncated > 0 && <span class="small muted library-truncated">{t.truncated(truncated)}</span>}
            <Button kind="quiet" icon="left" label={t.earlier} onClick={() => move(-0.5)} />
            <Button kind="quiet" icon="right" label={t.later} onClick={() => move(0.5)} />
            <Button kind="quiet" icon="plus" label={t.zoomIn} onClick={() => show(scaled(span, 0.25))} />
            <Button kind="quiet" icon="minus" label={t.zoomOut} disabled={!zoomed} onClick={out} />
            {zoomed && <Button onClick={() => show(null)}>{t.resetZoom}</Button>}
        </div>
    );
}

/** Dragging selects a time range; the wheel zooms around the pointer. */
function useDrag(span: Span, width: number) {
    const [drag, setDrag] = useState<[number, number] | null>(null);
    const timer = useRef<ReturnType<typeof setTimeout>>();
    const wheeled = useRef<Span | null>(null);
    const timeAt = (x: number, of: Span) => of.from + (Math.max(0, Math.min(x, width)) / width) * (of.to - of.from);
    const xOf = (event: PointerEvent | WheelEvent) =>
        event.clientX - (event.currentTarget as Element).getBoundingClientRect().left;
    const events = {
        onPointerDown: (event: PointerEvent) => {
            if (event.button === 0) {
                (event.currentTarget as Element).setPointerCapture(event.pointerId);
                setDrag([xOf(event), xOf(event)]);
            }
        },
        onPointerMove: (event: PointerEvent) => drag && setDrag([drag[0], xOf(event)]),
        onPointerCancel: () => setDrag(null),
        onPointerUp: () => {
            if (drag && Math.abs(drag[1] - drag[0]) > 3) {
                const [a, b] = drag.map((x) => timeAt(x, span)).sort((p, q) => p - q) as [number, number];
                show({ from: Math.floor(a), to: Math.max(Math.ceil(b), Math.floor(a) + MIN_SPAN_MS) });
            }
            setDrag(null);
        },
        onWheel: (event: WheelEvent) => {
            if (event.deltaY === 0 || width === 0) {
                return;
            }
            event.preventDefault();
            const now = wheeled.current ?? span;
            wheeled.current = scaled(now, event.deltaY > 0 ? 1.4 : 1 / 1.4, timeAt(xOf(event), now));
            clearTimeout(timer.current);
            timer.current = setTimeout(() => (show(wheeled.current, true), (wheeled.current = null)), 150);
        },
    };
    return { drag, events };
}

function Bars({
    bars,
    bucket,
    clock,
    x,
    searched,
}: {
    bars: Bar[];
    bucket: string;
    clock: number;
    x: (time: number) => number;
    searched: boolean;
}) {
    const highest = bars.reduce((most, bar) => Math.max(most, bar.all, bar.found), 1);
    const rect = (bar: Bar, name: 'all' | 'found') => {
        const height = bar[name] > 0 ? Math.max(2, (bar[name] / highest) * HEIGHT) : 0;
        return (
            <rect
                class={name}
                x={x(bar.from)}
                width={Math.max(1, x(bar.to) - x(bar.from) - 1)}
                y={HEIGHT - height}
                height={height}
            />
        );
    };
    return (
        <>
            {bars.map((bar) => (
                <g
                    key={bar.from}
                    class="bar"
                    data-from={bar.from}
                    data-to={bar.to}
                    data-found={bar.found}
                    data-all={bar.all}
                >
                    <title>
                        {searched
                            ? t.barOf(barName(bar, bucket, clock), bar.found, bar.all)
                            : t.bar(barName(bar, bucket, clock), bar.found)}
                    </title>
                    <rect
                        class="hit"
                        x={x(bar.from)}
                        width={Math.max(1, x(bar.to) - x(bar.from))}
                        y={0}
                        height={HEIGHT}
                    />
                    {searched && rect(bar, 'all')}
                    {rect(bar, 'found')}
                </g>
            ))}
        </>
    );
}

export function Histogram({
    query,
    start,
    end,
    refreshCount,
}: {
    query: string | null;
    start: string | null;
    end: string | null;
    refreshCount: number;
}) {
    const ref = useRef<HTMLDivElement>(null);
    const width = useWidth(ref);
    const { span, archive, data, outside } = useHistogram(query, start, end, refreshCount, width);
    const { drag, events } = useDrag(span ?? { from: 0, to: 1 }, width);
    const x = (time: number) => (span ? ((time - span.from) / (span.to - span.from)) * width : 0);
    return (
        <section class="library-overview" aria-label={t.histogram}>
            <div class="library-bars" ref={ref} title={t.histogramHelp}>
                {span && width > 0 && (
                    <svg width={width} height={HEIGHT + 18} role="img" aria-label={t.histogram} {...events}>
                        {ticksOf(span, width).map((tick) => (
                            <g key={tick.time}>
                                <line class="tick" x1={x(tick.time)} x2={x(tick.time)} y1={0} y2={HEIGHT + 4} />
                                {x(tick.time) + tick.label.length * LETTER_WIDTH < width && (
                                    <text x={x(tick.time) + 3} y={HEIGHT + 14}>
                                        {tick.label}
                                    </text>
                                )}
                            </g>
                        ))}
                        {data && (
                            <Bars
                                bars={data.bars}
                                bucket={data.bucket}
                                clock={clockOf(span)}
                                x={x}
                                searched={!!query}
                            />
                        )}
                        <line class="ground" x1={0} x2={width} y1={HEIGHT + 0.5} y2={HEIGHT + 0.5} />
                        {drag && (
                            <rect
                                class="drag"
                                x={Math.min(...drag)}
                                width={Math.abs(drag[1] - drag[0])}
                                y={0}
                                height={HEIGHT}
                            />
                        )}
                    </svg>
                )}
                {!span && archive !== undefined && query !== null && (
                    <p class="muted small">{archive ? t.noneThen : t.noDates}</p>
                )}
            </div>
            {span && archive && (
                <Tools
                    span={span}
                    archive={archive}
                    outside={outside}
                    zoomed={start !== null || end !== null}
                    truncated={data?.truncated ?? 0}
                />
            )}
        </section>
    );
}
