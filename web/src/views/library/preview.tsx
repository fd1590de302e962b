// The first cell of a row: a thumbnail whose frames are seen by moving the pointer over it, or the message rate.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { apiUrl } from '../../api';
import { Store, useStore } from '../../store';
import { libraryText } from '../../text/library';
import type { Preview, Recording } from '../../types';
import { Icon } from '../../ui';

const t = libraryText;
const FRAMES = 10;
const PEEK_AFTER_MS = 120; // the pointer only passes
const WIDTH = 56;
const HEIGHT = 36;

/** The recording whose frames are shown next to its cell, and which of them. */
export const peeked = new Store<{ recording: Recording; frame: number; cell: Element } | null>(null);

export function movePeek(by: number): void {
    const now = peeked.get();
    now && peeked.set({ ...now, frame: Math.max(0, Math.min(FRAMES - 1, now.frame + by)) });
}

/** A line of the message rate on its baseline, at most two thirds of the height: an even rate is a level line. */
function Rate({ rate }: { rate: readonly number[] }) {
    const highest = Math.max(...rate, 1);
    const ground = HEIGHT - 4.5;
    const step = WIDTH / Math.max(1, rate.length - 1);
    const line = rate
        .map((n, i) => `${(i * step).toFixed(1)} ${(ground - (n / highest) * HEIGHT * 0.6).toFixed(1)}`)
        .join('L');
    return (
        <svg class="library-rate" width={WIDTH} height={HEIGHT} role="img" aria-label={t.rate}>
            <title>{t.rate}</title>
            <path class="area" d={`M0 ${ground}L${line}L${WIDTH} ${ground}Z`} />
            <path class="line" d={`M${line}`} />
            <line class="ground" x2={WIDTH} y1={ground} y2={ground} />
        </svg>
    );
}

function Thumbnail({ recording, onFail }: { recording: Recording; onFail: () => void }) {
    const timer = useRef<ReturnType<typeof setTimeout>>();
    const cell = useRef<HTMLSpanElement>(null);
    const frameAt = (event: PointerEvent) => {
        const box = cell.current!.getBoundingClientRect();
        return Math.max(0, Math.min(FRAMES - 1, Math.floor(((event.clientX - box.left) / box.width) * FRAMES)));
    };
    const show = (frame: number) => peeked.set({ recording, frame, cell: cell.current! });
    const hide = () => {
        clearTimeout(timer.current);
        peeked.get()?.cell === cell.current && peeked.set(null);
    };
    useEffect(() => hide, []);
    return (
        <span
            ref={cell}
            class="library-thumbnail"
            onPointerEnter={(event) => {
                const frame = frameAt(event);
                timer.current = setTimeout(() => show(frame), PEEK_AFTER_MS);
            }}
            onPointerMove={(event) => peeked.get()?.cell === cell.current && show(frameAt(event))}
            onPointerLeave={hide}
        >
            <img
                src={apiUrl(`/recordings/${recording.id}/thumbnail`)}
                width={WIDTH}
                height={HEIGHT}
                alt=""
                loading="lazy"
                decoding="async"
                draggable={false}
                onError={onFail}
            />
        </span>
    );
}

export function PreviewCell({ recording, preview }: { recording: Recording; preview: Preview | null }) {
    const [failed, setFailed] = useState('');
    if (preview?.picture && failed !== recording.id) {
        return <Thumbnail key={recording.id} recording={recording} onFail={() => setFailed(recording.id)} />;
    }
    return preview?.rate ? <Rate rate={preview.rate} /> : <span class="library-thumbnail none" />;
}

/** Shows the frames of the recording in question above everything. */
export function Peek() {
    const now = useStore(peeked);
    const box = useRef<HTMLDivElement>(null);
    const [loaded, setLoaded] = useState('');
    const [size, setSize] = useState({ width: 240, height: 180 });
    const id = now?.recording.id;
    useEffect(() => setLoaded(''), [id]);
    useLayoutEffect(() => {
        const shown = box.current;
        if (!shown || !now) {
            return;
        }
        shown.showPopover?.();
        const [cell, width, height] = [now.cell.getBoundingClientRect(), shown.offsetWidth, shown.offsetHeight];
        shown.style.left = `${Math.max(8, Math.min(cell.right + 8, innerWidth - width - 8))}px`;
        shown.style.top = `${Math.max(8, Math.min(cell.top - 8, innerHeight - height - 8))}px`;
    }, [id, size.height, loaded]);
    useEffect(() => {
        const hide = () => peeked.set(null);
        document.addEventListener('scroll', hide, true);
        return () => document.removeEventListener('scroll', hide, true);
    }, []);
    if (!now) {
        return null;
    }
    return (
        <div
            class="library-peek"
            popover="manual"
            ref={box}
            role="status"
            aria-label={t.frame(now.frame + 1, FRAMES, now.recording.name)}
        >
            <div class="library-peek-frame" style={{ width: `${size.width}px`, height: `${size.height}px` }}>
                <img
                    key={id}
                    src={apiUrl(`/recordings/${now.recording.id}/thumbnail`, { frames: FRAMES })}
                    alt=""
                    style={{ transform: `translateX(${-now.frame * size.width}px)` }}
                    onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
                        setSize({ width: Math.round(naturalWidth / FRAMES), height: naturalHeight });
                        setLoaded(now.recording.id);
                    }}
                />
                {loaded !== id && <Icon name="clock" />}
            </div>
            <div class="library-peek-line" style={{ width: `${((now.frame + 1) / FRAMES) * 100}%` }} />
        </div>
    );
}
