// The pointer and the keys on the map: drag to move, wheel or pinch to zoom, click on a track to go to that time.
import { useRef } from 'preact/hooks';
import type { Playback } from '../../playback';
import { useGestures, ZOOM_STEP } from '../../zoom';
import { nearest, type Scene } from './draw';
import { fromPx, usableScale, type Flat, type Spot, type View } from './geometry';

export interface Hovered {
    track: Flat;
    spot: Spot;
    x: number; // px
    y: number;
}

const KEY_PX = 40; // that an arrow key moves the map
const CLICK_PX = 4; // more is a drag
const REACH_PX = { mouse: 12, touch: 24 };

interface Props {
    area: { current: HTMLElement | null };
    scene: Scene;
    playback: Playback;
    setView: (view: View) => void;
    setHovered: (hovered: Hovered | null) => void;
}

export function usePointer({ area, scene, playback, setView, setHovered }: Props) {
    const latest = useRef(scene);
    latest.current = scene;
    const held = useRef<{ x: number; y: number; view: View; moved: boolean } | null>(null);
    const show = (view: View) => {
        latest.current = { ...latest.current, view }; // further events may arrive before the next render
        setView(view);
    };
    const pan = (dx: number, dy: number) => {
        const { view } = latest.current;
        show({ ...view, x: view.x - dx / view.scale, y: view.y + dy / view.scale });
        return true;
    };
    const zoom = (by: number, x = latest.current.size.width / 2, y = latest.current.size.height / 2) => {
        const { view, size } = latest.current;
        const scale = usableScale(view.scale * by);
        const [atX, atY] = fromPx(view, size, x, y); // keeps its place
        show({ x: atX - (x - size.width / 2) / scale, y: atY + (y - size.height / 2) / scale, scale });
        return scale !== view.scale;
    };
    useGestures(area, { zoom, pan, pinchStart: () => (held.current = null) });
    const place = (event: PointerEvent): [number, number] => {
        const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
    };
    const spotBelow = (event: PointerEvent) =>
        nearest(latest.current, ...place(event), event.pointerType === 'touch' ? REACH_PX.touch : REACH_PX.mouse);
    const down = (event: PointerEvent) => {
        if (event.button === 0 && event.isPrimary) {
            held.current = { x: event.clientX, y: event.clientY, view: latest.current.view, moved: false };
            (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        }
    };
    const move = (event: PointerEvent) => {
        const from = held.current;
        if (!from) {
            const found = spotBelow(event);
            const [x, y] = place(event);
            setHovered(found && { ...found, x, y });
            return;
        }
        const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
        from.moved ||= Math.hypot(dx, dy) > CLICK_PX;
        if (from.moved) {
            setHovered(null);
            show({ ...from.view, x: from.view.x - dx / from.view.scale, y: from.view.y + dy / from.view.scale });
        }
    };
    const up = (event: PointerEvent) => {
        const found = held.current && !held.current.moved ? spotBelow(event) : null;
        held.current = null;
        if (found) {
            playback.seek(found.spot.time);
        }
    };
    const key = (event: KeyboardEvent) => {
        const step = {
            ArrowLeft: [KEY_PX, 0],
            ArrowRight: [-KEY_PX, 0],
            ArrowUp: [0, KEY_PX],
            ArrowDown: [0, -KEY_PX],
        }[event.key];
        if (step) {
            pan(step[0]!, step[1]!);
        } else if (event.key === '+' || event.key === '-') {
            zoom(event.key === '+' ? ZOOM_STEP : 1 / ZOOM_STEP);
        } else {
            return;
        }
        event.preventDefault();
    };
    return {
        zoom,
        handlers: {
            onPointerDown: down,
            onPointerMove: move,
            onPointerUp: up,
            onPointerCancel: () => (held.current = null),
            onPointerLeave: () => setHovered(null),
            onKeyDown: key,
        },
    };
}
