// When was recorded what: bars over the calendar, of the whole archive and of what is searched for. Its one rule: what it shows is the
// interval that the
// list shows, so that zooming and filtering are the same.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { setQuery } from '../../address';
import { dateTime } from '../../format';
import { text } from '../../text';
import { Button } from '../../ui';
import { barsOf, ticksOf, useOverview, type Span } from './overview_data';

const words = text.library;
const HEIGHT = 46;
const SHORTEST = 1000; // ms

function useWidth() {
    const ref = useRef<HTMLDivElement>(null);
    const [width, setWidth] = useState(0);
    useLayoutEffect(() => {
        const watch = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
        watch.observe(ref.current!);
        return () => watch.disconnect();
    }, []);
    return { ref, width };
}

function show(span: Span | null, replace = false) {
    const iso = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');
    setQuery({ start: span && iso(span.from), end: span && iso(span.to), at: null }, replace);
}

function scaled(span: Span, by: number, around = (span.from + span.to) / 2): Span {
    const from = around - (around - span.from) * by;
    const to = around + (span.to - around) * by;
    return to - from < SHORTEST ? { from: around - SHORTEST / 2, to: around + SHORTEST / 2 } : { from: Math.round(from), to: Math.round(to) };
}

function Tools({ span, whole, zoomed, cut }: { span: Span; whole: Span; zoomed: boolean; cut: number }) {
    const move = (by: number) => {
        const step = Math.round((span.to - span.from) * by);
        show({ from: span.from + step, to: span.to + step });
    };
    const out = () => {
        const wider = scaled(span, 4);
        show(wider.from <= whole.from && wider.to >= whole.to ? null : wider);
    };
    return (
        <div class="library-tools">
            <span class="small soft ellipsis">
                {words.between(dateTime(BigInt(span.from) * 1000000n).slice(0, 16), dateTime(BigInt(span.to) * 1000000n).slice(0, 16))}
            </span>
            {cut > 0 && <span class="small soft library-cut">{words.capped(cut)}</span>}
            <Button kind="quiet" icon="left" label={words.earlier} onClick={() => move(-0.5)} />
            <Button kind="quiet" icon="right" label={words.later} onClick={() => move(0.5)} />
            <Button kind="quiet" icon="plus" label={words.zoomIn} onClick={() => show(scaled(span, 0.25))} />
            <Button kind="quiet" icon="minus" label={words.zoomOut} disabled={!zoomed} onClick={out} />
            {zoomed && <Button onClick={() => show(null)}>{words.allTimes}</Button>}
        </div>
    );
}

/** Dragging over it chooses an interval; the wheel zooms around the pointer. */
function useDrag(span: Span, width: number) {
    const [drag, setDrag] = useState<[number, number] | null>(null);
    const timer = useRef<ReturnType<typeof setTimeout>>();
    const wheeled = useRef<Span | null>(null);
    const timeAt = (x: number, of: Span) => of.from + (Math.max(0, Math.min(x, width)) / width) * (of.to - of.from);
    const xOf = (event: PointerEvent | WheelEvent) => event.clientX - (event.currentTarget as Element).getBoundingClientRect().left;
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
                show({ from: Math.floor(a), to: Math.max(Math.ceil(b), Math.floor(a) + SHORTEST) });
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

export function Overview({ query, start, end, round }: { query: string; start: string | null; end: string | null; round: number }) {
    const { ref, width } = useWidth();
    const { span, whole, byDays, data } = useOverview(query, start, end, round);
    const { drag, events } = useDrag(span ?? { from: 0, to: 1 }, width);
    const bars = useMemo(() => (span && data ? barsOf(data, span, width, byDays) : []), [data, span?.from, span?.to, width, byDays]);
    const highest = bars.reduce((most, bar) => Math.max(most, bar.all, bar.found), 1);
    const heightOf = (n: number) => (n > 0 ? Math.max(2, (n / highest) * HEIGHT) : 0);
    const x = (time: number) => (span ? ((time - span.from) / (span.to - span.from)) * width : 0);
    return (
        <section class="library-overview" aria-label={words.overview}>
            <div class="library-bars" ref={ref} title={words.overviewHelp}>
                {span && width > 0 && (
                    <svg class={byDays ? 'plain' : ''} width={width} height={HEIGHT + 18} role="img" aria-label={words.overview} {...events}>
                        {ticksOf(span, width).map((tick) => (
                            <g key={tick.time}>
                                <line class="tick" x1={x(tick.time)} x2={x(tick.time)} y1={0} y2={HEIGHT + 4} />
                                <text x={x(tick.time) + 3} y={HEIGHT + 14}>
                                    {tick.label}
                                </text>
                            </g>
                        ))}
                        {bars.map((bar) => (
                            <g key={bar.from}>
                                <title>{words.bar(dateTime(BigInt(bar.from) * 1000000n).slice(0, 16), Math.round(bar.found || bar.all))}</title>
                                <rect
                                    class="all"
                                    x={x(bar.from)}
                                    width={Math.max(1, x(bar.to) - x(bar.from) - 1)}
                                    y={HEIGHT - heightOf(bar.all)}
                                    height={heightOf(bar.all)}
                                />
                                <rect
                                    class="found"
                                    x={x(bar.from)}
                                    width={Math.max(1, x(bar.to) - x(bar.from) - 1)}
                                    y={HEIGHT - heightOf(bar.found)}
                                    height={heightOf(bar.found)}
                                />
                            </g>
                        ))}
                        <line class="ground" x1={0} x2={width} y1={HEIGHT + 0.5} y2={HEIGHT + 0.5} />
                        {drag && <rect class="drag" x={Math.min(...drag)} width={Math.abs(drag[1] - drag[0])} y={0} height={HEIGHT} />}
                    </svg>
                )}
                {!span && whole === null && <p class="soft small">{words.overviewNone}</p>}
            </div>
            {span && whole && <Tools span={span} whole={whole} zoomed={start !== null || end !== null} cut={data?.cut ?? 0} />}
        </section>
    );
}
