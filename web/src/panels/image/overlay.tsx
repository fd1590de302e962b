// The annotations at the playhead, drawn over the image: an SVG image that lies where the canvas lies.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Playback } from '../../playback';
import { imageText } from '../../text/panels';
import type { Recording } from '../../types';
import { Failed } from '../../ui';
import { useAtPlayhead } from '../use_at_playhead';
import { shapesAt, type Shape } from './annotations';

const TEXT_PX = 14; // of the image, where no size is given
const DOT_PX = 3;

function One({ shape }: { shape: Shape }) {
    switch (shape.kind) {
        case 'line': {
            const points = shape.points.map(([x, y]) => `${x},${y}`).join(' ');
            const style = { stroke: shape.stroke, fill: shape.fill };
            return shape.closed ? (
                <polygon points={points} style={style} />
            ) : (
                <polyline points={points} style={style} />
            );
        }
        case 'dots':
            return (
                <path
                    class="image-dots"
                    d={shape.points.map(([x, y]) => `M${x} ${y}h0`).join('')}
                    style={{ stroke: shape.fill, strokeWidth: 2 * DOT_PX }}
                />
            );
        case 'circle':
            return (
                <circle
                    cx={shape.at[0]}
                    cy={shape.at[1]}
                    r={shape.radius}
                    style={{ stroke: shape.stroke, fill: shape.fill }}
                />
            );
        case 'text':
            return (
                <text
                    x={shape.at[0]}
                    y={shape.at[1] - 3}
                    style={{ fill: shape.fill, fontSize: `${shape.size ?? TEXT_PX}px` }}
                >
                    {shape.text}
                </text>
            );
    }
}

interface Props {
    recording: Recording;
    playback: Playback;
    topics: string[]; // of annotations, at least one
    canvas: { current: HTMLCanvasElement | null };
    hidden: boolean;
}

/** Places it as the panel places the canvas; `data-size` is the size of the image before the server scaled it. */
function useSamePlace(canvas: Props['canvas']) {
    const svg = useRef<SVGSVGElement>(null);
    useLayoutEffect(() => {
        const { current: picture } = canvas;
        const lay = () => {
            svg.current!.style.cssText = picture!.style.cssText;
            svg.current!.setAttribute('viewBox', `0 0 ${picture!.dataset.size ?? '1 1'}`);
        };
        lay();
        const watch = new MutationObserver(lay);
        watch.observe(picture!, { attributeFilter: ['style', 'data-size'] });
        return () => watch.disconnect();
    }, []);
    return svg;
}

export function Overlay({ recording, playback, topics, canvas, hidden }: Props) {
    const svg = useSamePlace(canvas);
    const at = useAtPlayhead<Shape[]>(playback, (time, signal) => shapesAt(recording, topics, time, signal), [
        recording.id,
        topics.join('|'),
    ]);
    const shapes = at.value ?? [];
    const texts = shapes.flatMap((shape) => (shape.kind === 'text' ? [shape.text] : []));
    return (
        <>
            {at.error !== null && !hidden && (
                <div class="image-note">
                    <Failed error={at.error} retry={at.reload} />
                </div>
            )}
            <svg
                class={`image-overlay ${hidden ? 'image-hidden' : ''}`}
                ref={svg}
                role="img"
                aria-label={imageText.annotationsOf(shapes.length, texts)}
            >
                {shapes.map((shape, i) => (
                    <One key={i} shape={shape} />
                ))}
            </svg>
        </>
    );
}
