// How the picture lies in the panel: rotated, zoomed, moved. At zoom 1 the whole picture is visible.
import { useRef, useState } from 'preact/hooks';
import { useGestures } from '../../zoom';

export interface View {
    zoom: number;
    x: number; // px from the middle of the panel
    y: number;
}
const WHOLE: View = { zoom: 1, x: 0, y: 0 };
const MOST = 64;
const PIXELS_FROM = 3; // px of the screen for one of the picture: shown as a square

/** CSS px for one px of the picture. */
export function scaleOf(
    area: { width: number; height: number },
    picture: { width: number; height: number },
    rotate: number,
    zoom: number,
): number {
    const [width, height] = rotate % 180 ? [picture.height, picture.width] : [picture.width, picture.height];
    return Math.min(area.width / Math.max(width, 1), area.height / Math.max(height, 1)) * zoom;
}

export function place(
    element: HTMLElement,
    area: HTMLElement,
    size: { width: number; height: number },
    rotate: number,
    view: View,
): void {
    const scale = scaleOf({ width: area.clientWidth, height: area.clientHeight }, size, rotate, view.zoom);
    element.style.width = `${size.width}px`;
    element.style.height = `${size.height}px`;
    element.style.transform = `translate(-50%, -50%) translate(${view.x}px, ${view.y}px) rotate(${rotate}deg) scale(${scale})`;
    element.style.imageRendering = scale >= PIXELS_FROM ? 'pixelated' : '';
}

/** The view, changed by wheel, pinch, dragging, double click and keys on `area`. */
export function useView(area: { current: HTMLDivElement | null }) {
    const [view, setView] = useState(WHOLE);
    const latest = useRef(view);
    const drag = useRef<{ x: number; y: number } | null>(null);
    const set = (next: View): boolean => {
        const element = area.current!;
        // the panel stays covered
        const [x, y] = [((next.zoom - 1) * element.clientWidth) / 2, ((next.zoom - 1) * element.clientHeight) / 2];
        const to =
            next.zoom <= 1
                ? WHOLE
                : { zoom: next.zoom, x: Math.min(Math.max(next.x, -x), x), y: Math.min(Math.max(next.y, -y), y) };
        const { zoom, x: oldX, y: oldY } = latest.current;
        const changed = to.zoom !== zoom || to.x !== oldX || to.y !== oldY;
        latest.current = to;
        setView(to);
        return changed;
    };
    /** x, y: from the middle of the panel; this point keeps its place. */
    const zoomAt = (factor: number, x: number, y: number): boolean => {
        const { zoom, x: oldX, y: oldY } = latest.current;
        const to = Math.min(Math.max(zoom * factor, 1), MOST);
        return set({ zoom: to, x: x - ((x - oldX) * to) / zoom, y: y - ((y - oldY) * to) / zoom });
    };
    const panBy = (dx: number, dy: number): boolean =>
        set({ ...latest.current, x: latest.current.x + dx, y: latest.current.y + dy });
    useGestures(area, {
        zoom: (factor, x, y) => zoomAt(factor, x - area.current!.clientWidth / 2, y - area.current!.clientHeight / 2),
        pan: panBy,
        pinchStart: () => (drag.current = null),
    });
    const handlers = {
        onPointerDown: (event: PointerEvent) => {
            if (event.button === 0 && latest.current.zoom > 1) {
                area.current!.setPointerCapture(event.pointerId);
                drag.current = { x: event.clientX, y: event.clientY };
            }
        },
        onPointerMove: (event: PointerEvent) => {
            if (drag.current) {
                panBy(event.clientX - drag.current.x, event.clientY - drag.current.y);
                drag.current = { x: event.clientX, y: event.clientY };
            }
        },
        onPointerUp: () => (drag.current = null),
        onPointerCancel: () => (drag.current = null),
        onDblClick: () => set(WHOLE),
    };
    return { view, zoomBy: (factor: number) => zoomAt(factor, 0, 0), fit: () => set(WHOLE), handlers };
}
