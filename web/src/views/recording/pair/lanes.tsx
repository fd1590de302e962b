// The second recording on the timeline: a bar that is dragged to align it, and its lanes.
import { useRef } from 'preact/hooks';
import type { Range } from '../../../playback';
import { boundsOf, secondsOf } from '../../../recording_time';
import { pairText } from '../../../text/recording';
import type { Recording } from '../../../types';
import { useRequest } from '../../../use_request';
import { Failed } from '../../../ui';
import { Lanes } from '../timeline';
import { LaneNames as Names } from '../timeline_names';
import { lanesOf, xOf, type Lane } from '../timeline_lanes';
import { recordedShift, type Pair } from './pair';

const SNAP_PX = 6; // to aligned starts and to the recorded times
const MS = 1_000_000n;
const STEP_NS = 100n * MS;

export function useLanes(second: Recording | null): { lanes: Lane[]; error: unknown; reload: () => void } {
    const loaded = useRequest(
        (signal) => (second ? lanesOf(second.id, signal) : Promise.resolve([])),
        [second?.id, second?.messages],
    );
    return { lanes: loaded.value ?? [], error: loaded.error, reload: loaded.reload };
}
export type SecondLanes = ReturnType<typeof useLanes>;

export function LaneNames({ pair, lanes }: { pair: Pair; lanes: Lane[] }) {
    return (
        <>
            <div class="timeline-name pair-name" title={pair.second.name}>
                {pairText.numbered(2, pair.second.name)}
            </div>
            <Names lanes={lanes} />
        </>
    );
}

function Strip({ pair, view, width }: { pair: Pair; view: Range; width: number }) {
    const held = useRef<{ x: number; shift: bigint; now: bigint } | null>(null);
    const { start, end } = boundsOf(pair.second);
    const [from, to] = [xOf(start + pair.shift_ns, view, width), xOf(end + pair.shift_ns, view, width)];
    const perPx = Number(view.end - view.start) / Math.max(width, 1);
    const snapped = (shift: bigint): bigint =>
        [0n, recordedShift(pair.first, pair.second)].find(
            (to) => to !== null && Math.abs(Number(shift - to)) < SNAP_PX * perPx,
        ) ?? (shift / MS) * MS;
    const down = (event: PointerEvent) => {
        event.stopPropagation(); // the timeline would select
        if (event.button === 0) {
            held.current = { x: event.clientX, shift: pair.shift, now: pair.shift };
            (event.currentTarget as Element).setPointerCapture(event.pointerId);
        }
    };
    const move = (event: PointerEvent) => {
        event.stopPropagation();
        if (held.current) {
            held.current.now = snapped(
                held.current.shift + BigInt(Math.round((event.clientX - held.current.x) * perPx)),
            );
            pair.setDraft(held.current.now);
        }
    };
    const done = (keep: boolean) => (event: PointerEvent) => {
        event.stopPropagation();
        if (held.current && keep) {
            pair.setShift(held.current.now);
        }
        held.current = null;
        pair.setDraft(null);
    };
    const key = (event: KeyboardEvent) => {
        const sign = { ArrowRight: 1n, ArrowUp: 1n, PageUp: 100n, ArrowLeft: -1n, ArrowDown: -1n, PageDown: -100n }[
            event.key
        ];
        if (sign !== undefined) {
            pair.setShift(pair.shift + sign * STEP_NS * (event.shiftKey ? 10n : 1n));
            event.preventDefault();
        }
    };
    return (
        <div
            class="pair-strip"
            onPointerDown={down}
            onPointerMove={move}
            onPointerUp={done(true)}
            onPointerCancel={done(false)}
        >
            <div
                class="pair-extent"
                role="slider"
                tabIndex={0}
                aria-label={pairText.shift}
                aria-valuenow={Number(pair.shift) / 1e9}
                aria-valuetext={pairText.seconds(secondsOf(pair.shift))}
                title={pairText.dragHelp}
                style={{ left: `${from}px`, width: `${to - from}px` }}
                onKeyDown={key}
            />
        </div>
    );
}

export function PairLanes({
    pair,
    lanes: { lanes, error, reload },
    view,
    width,
}: {
    pair: Pair;
    lanes: SecondLanes;
    view: Range;
    width: number;
}) {
    return (
        <>
            <Strip pair={pair} view={view} width={width} />
            <Lanes
                lanes={lanes}
                view={{ start: view.start - pair.shift_ns, end: view.end - pair.shift_ns }}
                width={width}
            />
            {error !== null && <Failed error={error} retry={reload} />}
        </>
    );
}
