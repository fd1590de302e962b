// Zooming and panning, shared by the timeline, the plot and the image: the arithmetic, and the gestures wheel and
// pinch.
import { useEffect, useRef } from 'preact/hooks';

export const ZOOM_STEP = 1.5; // of a button or a key

/**
 * [from, to] zoomed by `factor` (above 1: in) so that `at` keeps its place, inside [least, most] and not shorter than
 * `shortest`.
 */
export function zoomSpan(
    [from, to]: [number, number],
    at: number,
    factor: number,
    [least, most]: [number, number],
    shortest: number,
): [number, number] {
    const length = Math.min(Math.max((to - from) / factor, shortest), most - least);
    const part = to > from ? (at - from) / (to - from) : 0.5;
    return panSpan([at - part * length, at + (1 - part) * length], 0, [least, most]);
}

/** [from, to] moved by `step`, inside [least, most]. */
export function panSpan([from, to]: [number, number], step: number, [least, most]: [number, number]): [number, number] {
    const length = Math.min(to - from, most - least);
    const start = Math.min(Math.max(from + step, least), most - length);
    return [start, start + length];
}

interface Gestures {
    /** x, y: px inside the element. False if nothing changed: a wheel event then scrolls the page. */
    zoom: (factor: number, x: number, y: number) => boolean;
    /** In px; positive: the contents move to the right and down. */
    pan: (dx: number, dy: number) => boolean;
    /** A second finger is down: what the first one began is to be undone. */
    pinchStart?: () => void;
}

const LINE_PX = 16; // of wheel events that count in lines

function onWheel(event: WheelEvent, element: HTMLElement, on: Gestures): void {
    const unit =
        event.deltaMode === WheelEvent.DOM_DELTA_LINE
            ? LINE_PX
            : event.deltaMode === WheelEvent.DOM_DELTA_PAGE
              ? element.clientHeight
              : 1;
    const box = element.getBoundingClientRect();
    const sideways = event.shiftKey
        ? event.deltaX || event.deltaY
        : Math.abs(event.deltaX) > Math.abs(event.deltaY)
          ? event.deltaX
          : 0;
    const speed = event.ctrlKey ? 0.01 : 0.002; // a pinch on a touchpad arrives as small steps with ctrlKey
    const changed = sideways
        ? on.pan(-sideways * unit, 0)
        : on.zoom(Math.exp(-event.deltaY * unit * speed), event.clientX - box.left, event.clientY - box.top);
    if (changed || event.ctrlKey) {
        event.preventDefault(); // with ctrlKey the browser would zoom the page
    }
}

/** Calls `on` for the wheel, touchpad pinches and two fingers on `element`. Returns a function that stops it. */
export function watchGestures(element: HTMLElement, on: () => Gestures): () => void {
    const fingers = new Map<number, PointerEvent>();
    let last: { x: number; y: number; apart: number } | null = null;
    const state = () => {
        const [a, b] = [...fingers.values()] as [PointerEvent, PointerEvent];
        const box = element.getBoundingClientRect();
        return {
            x: (a.clientX + b.clientX) / 2 - box.left,
            y: (a.clientY + b.clientY) / 2 - box.top,
            apart: Math.max(10, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)),
        };
    };
    const down = (event: PointerEvent) => {
        if (event.pointerType === 'touch') {
            fingers.set(event.pointerId, event);
            last = fingers.size === 2 ? state() : null;
            if (last) {
                on().pinchStart?.();
            }
        }
    };
    const move = (event: PointerEvent) => {
        if (fingers.has(event.pointerId)) {
            fingers.set(event.pointerId, event);
            if (last) {
                const now = state();
                on().zoom(now.apart / last.apart, last.x, last.y);
                on().pan(now.x - last.x, now.y - last.y);
                last = now;
                event.stopImmediatePropagation();
            }
        }
    };
    const up = (event: PointerEvent) => {
        fingers.delete(event.pointerId);
        last = null;
    };
    // the browser would scroll
    const twoFingers = (event: TouchEvent) => event.touches.length > 1 && event.cancelable && event.preventDefault();
    const wheel = (event: WheelEvent) => onWheel(event, element, on());
    const stop = new AbortController();
    const { signal } = stop;
    element.addEventListener('wheel', wheel, { passive: false, signal });
    element.addEventListener('touchstart', twoFingers, { passive: false, signal });
    element.addEventListener('touchmove', twoFingers, { passive: false, signal });
    element.addEventListener('pointerdown', down, { signal });
    element.addEventListener('pointermove', move, { capture: true, signal });
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'] as const) {
        element.addEventListener(end, up, { signal });
    }
    return () => stop.abort();
}

export function useGestures(element: { current: HTMLElement | null }, on: Gestures): void {
    const latest = useRef(on);
    latest.current = on;
    useEffect(() => watchGestures(element.current!, () => latest.current), []);
}
