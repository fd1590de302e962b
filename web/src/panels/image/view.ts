// How the picture lies in the panel: rotated, zoomed, moved. At zoom 1 the whole picture is visible. The link holds it:
// image.view=zoom,x,y.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useGestures } from '../../zoom';

export interface View {
    zoom: number;
    x: number; // of the picture's middle from the middle of the panel, in parts of the picture's width at zoom 1
    y: number; // … of its height
}
interface Size {
    width: number;
    height: number;
}
const WHOLE: View = { zoom: 1, x: 0, y: 0 };
const MOST = 64;
const PIXELS_FROM = 3; // px of the screen for one of the picture: shown as a square
const MOVED_MS = 300; // after which the link holds the view

const viewText = ({ zoom, x, y }: View): string | null =>
    zoom <= 1 ? null : [zoom.toFixed(2), x.toFixed(3), y.toFixed(3)].map(Number).join(',');
function viewOf(text: string | undefined): View {
    const [zoom, x, y] = (text ?? '').split(',').map(Number);
    const parts = [zoom, x, y].map((one) => (Number.isFinite(one) ? one! : 0));
    const most = parts[0]! / 2;
    const within = (part: number) => Math.min(Math.max(part, -most), most);
    return parts[0]! > 1 ? { zoom: Math.min(parts[0]!, MOST), x: within(parts[1]!), y: within(parts[2]!) } : WHOLE;
}

/** CSS px for one px of the picture. */
function scaleOf(area: Size, picture: Size, rotate: number, zoom: number): number {
    const [width, height] = rotate % 180 ? [picture.height, picture.width] : [picture.width, picture.height];
    return Math.min(area.width / Math.max(width, 1), area.height / Math.max(height, 1)) * zoom;
}

/** The size of the whole picture in the panel, as it is rotated. */
function wholeSize(area: HTMLElement, size: Size, rotate: number): Size {
    const scale = scaleOf({ width: area.clientWidth, height: area.clientHeight }, size, rotate, 1);
    const [width, height] = [Math.max(size.width, 1) * scale, Math.max(size.height, 1) * scale];
    return rotate % 180 ? { width: height, height: width } : { width, height };
}

export function place(element: HTMLElement, area: HTMLElement, size: Size, rotate: number, view: View): void {
    const scale = scaleOf({ width: area.clientWidth, height: area.clientHeight }, size, rotate, view.zoom);
    const whole = wholeSize(area, size, rotate);
    element.style.width = `${size.width}px`;
    element.style.height = `${size.height}px`;
    element.style.transform = `translate(-50%, -50%) translate(${view.x * whole.width}px, ${view.y * whole.height}px) rotate(${rotate}deg) scale(${scale})`;
    element.style.imageRendering = scale >= PIXELS_FROM ? 'pixelated' : '';
}

/** The view, changed by wheel, pinch, dragging, double click and keys on `area`, which shows `picture`. */
export function useView(
    area: { current: HTMLDivElement | null },
    picture: { current: HTMLCanvasElement | null },
    rotate: number,
    text: string | undefined,
    onMoved: (text: string | null) => void,
) {
    const [view, setView] = useState(() => viewOf(text));
    const latest = useRef(view);
    const drag = useRef<{ x: number; y: number } | null>(null);
    const written = useRef(text ?? null); // by this panel, not by the address
    useEffect(() => {
        if ((text ?? null) !== written.current) {
            written.current = text ?? null;
            latest.current = viewOf(text);
            setView(latest.current);
        }
    }, [text]);
    const timer = useRef<ReturnType<typeof setTimeout>>();
    const moved = useRef(onMoved);
    moved.current = onMoved;
    const save = () => {
        const to = viewText(latest.current);
        if (to !== written.current) {
            written.current = to;
            moved.current(to);
        }
    };
    useEffect(() => () => clearTimeout(timer.current), []);
    const whole = () => wholeSize(area.current!, picture.current!, rotate);
    /** x, y in px. */
    const set = (zoom: number, x: number, y: number): boolean => {
        const [element, { width, height }] = [area.current!, whole()];
        // the panel stays covered
        const [mostX, mostY] = [((zoom - 1) * element.clientWidth) / 2, ((zoom - 1) * element.clientHeight) / 2];
        const within = (value: number, most: number) => Math.min(Math.max(value, -most), most);
        const to = zoom <= 1 ? WHOLE : { zoom, x: within(x, mostX) / width, y: within(y, mostY) / height };
        const before = latest.current;
        latest.current = to;
        setView(to);
        clearTimeout(timer.current);
        timer.current = setTimeout(save, MOVED_MS);
        return to.zoom !== before.zoom || to.x !== before.x || to.y !== before.y;
    };
    const inPx = () => {
        const { width, height } = whole();
        return { zoom: latest.current.zoom, x: latest.current.x * width, y: latest.current.y * height };
    };
    /** x, y: from the middle of the panel; this point keeps its place. */
    const zoomAt = (factor: number, x: number, y: number): boolean => {
        const { zoom, x: oldX, y: oldY } = inPx();
        const to = Math.min(Math.max(zoom * factor, 1), MOST);
        return set(to, x - ((x - oldX) * to) / zoom, y - ((y - oldY) * to) / zoom);
    };
    const panBy = (dx: number, dy: number): boolean => {
        const { zoom, x, y } = inPx();
        return set(zoom, x + dx, y + dy);
    };
    const fit = () => set(1, 0, 0);
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
        onDblClick: fit,
    };
    return { view, zoomBy: (factor: number) => zoomAt(factor, 0, 0), fit, handlers };
}
