// A panel is dragged by its head to a side of another panel or of the whole area, or onto a panel to change places with
// it. By touch the head scrolls the view; there the menu of the panel moves it.
import { useState } from 'preact/hooks';
import { dropAt, type Drop, type Places } from './places';

const DRAG_MIN_PX = 6; // less is a click

interface Drag {
    id: string;
    drop: Drop | null;
}

export function usePanelDrag(
    area: { current: HTMLElement | null },
    places: Places,
    onDrop: (id: string, drop: Drop) => void,
) {
    const [drag, setDrag] = useState<Drag | null>(null);
    const start = (id: string) => (event: PointerEvent) => {
        const head = event.currentTarget as HTMLElement;
        if (
            event.button !== 0 ||
            event.pointerType === 'touch' ||
            (event.target as Element).closest('button, select, .menu') ||
            places.boxes.size < 2
        ) {
            return;
        }
        const stop = new AbortController();
        const from = { x: event.clientX, y: event.clientY };
        let now: Drag | null = null;
        const move = ({ clientX, clientY }: PointerEvent) => {
            if (now || Math.hypot(clientX - from.x, clientY - from.y) >= DRAG_MIN_PX) {
                const box = area.current!.getBoundingClientRect();
                now = {
                    id,
                    drop: dropAt(
                        clientX - box.left,
                        clientY - box.top,
                        places,
                        { x: 0, y: 0, width: box.width, height: box.height },
                        id,
                    ),
                };
                setDrag(now);
            }
        };
        const end = (keep: boolean) => {
            stop.abort();
            setDrag(null);
            if (keep && now?.drop) {
                onDrop(id, now.drop);
            }
        };
        const { signal } = stop;
        head.setPointerCapture(event.pointerId);
        head.addEventListener('pointermove', move, { signal });
        head.addEventListener('pointerup', () => end(true), { signal });
        head.addEventListener('pointercancel', () => end(false), { signal });
        document.addEventListener('keydown', (key) => key.key === 'Escape' && end(false), { signal });
    };
    return { dragged: drag?.id ?? null, drop: drag?.drop ?? null, start };
}
