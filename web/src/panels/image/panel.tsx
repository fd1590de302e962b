// The picture at the playhead, drawn on a canvas and requested in the size of the panel.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isImage } from '../../frames';
import { relativeTime } from '../../recording_time';
import { imageText } from '../../text/panels';
import type { Topic } from '../../types';
import { Button, Failed, Menu, Select } from '../../ui';
import { ZOOM_STEP } from '../../zoom';
import { hiddenOf, hiddenText } from '../hidden';
import type { PanelProps } from '../index';
import { annotationsOf, isAnnotation } from './annotations';
import { Late } from './late';
import { Overlay } from './overlay';
import { Pictures } from './pictures';
import type { Picture } from './run';
import { VideoElement } from './video_element';
import { place, useView } from './view';

/** Rounded up to steps, so that resizing the panel does not load an image per pixel. */
const requestWidth = (width: number) =>
    Math.min(4096, Math.max(160, Math.ceil((width * Math.min(devicePixelRatio, 2)) / 160) * 160));
const RESIZED_MS = 150; // after which larger pictures are requested

/** The selected topic of images, else the first; the URL may name one that does not exist. */
export const imageTopic = (topics: Topic[], settings: Record<string, string>): Topic | undefined =>
    topics.find((t) => isImage(t) && t.name === settings.topic) ?? topics.find(isImage);

interface Shown {
    kind: 'picture' | 'none' | 'waiting' | 'problem' | 'failed' | 'unplayable';
    text?: string;
    error?: unknown;
}
const same = (a: Shown, b: Shown) => a.kind === b.kind && a.text === b.text && a.error === b.error;

/** Draws the pictures of a topic; what is not a picture is returned as state. */
function usePictures(
    { recording, playback }: PanelProps,
    topic: Topic | undefined,
    width: () => number,
    draw: (picture: Picture) => void,
) {
    const [shown, setShown] = useState<Shown>({ kind: 'waiting' });
    const pictures = useRef<Pictures | null>(null);
    const latest = useRef(draw);
    latest.current = draw;
    useEffect(() => {
        const set = (to: Shown) => setShown((before) => (same(before, to) ? before : to));
        set({ kind: 'waiting' });
        if (!topic) {
            return;
        }
        const made = new Pictures(
            playback,
            { recording: recording.id, topic, width: width() },
            {
                show: (picture) => {
                    if (picture?.image) {
                        latest.current(picture);
                    }
                    set(
                        picture === null
                            ? { kind: 'none' }
                            : picture.image
                              ? { kind: 'picture' }
                              : { kind: 'problem', text: picture.problem ?? '' },
                    );
                },
                failed: (error) => set({ kind: 'failed', error }),
                unplayable: (codec) => set({ kind: 'unplayable', text: codec }),
            },
        );
        pictures.current = made;
        return () => made.stop();
    }, [recording.id, topic?.name, playback]);
    const now = width();
    useEffect(() => pictures.current?.setWidth(width()), [now]); // the width at the first render is not known yet
    useEffect(() => topic && pictures.current?.setTopic(topic), [topic]);
    return { shown, reload: () => pictures.current?.reload(), pictures };
}

/** Its width when it was last at rest; known before the first effect. */
function useAreaWidth(area: { current: HTMLElement | null }, resized: () => void): { current: number } {
    const width = useRef(0);
    const [, setWidth] = useState(0);
    const latest = useRef(resized);
    latest.current = resized;
    useLayoutEffect(() => {
        let timer: ReturnType<typeof setTimeout>;
        const measure = () => setWidth((width.current = area.current!.clientWidth));
        const sizes = new ResizeObserver(() => {
            latest.current();
            clearTimeout(timer);
            timer = setTimeout(measure, RESIZED_MS);
        });
        measure();
        sizes.observe(area.current!);
        return () => {
            sizes.disconnect();
            clearTimeout(timer);
        };
    }, []);
    return width;
}

export function ImagePanel(props: PanelProps) {
    const { recording, topics, playback, settings, onSettings } = props;
    const images = topics.filter(isImage);
    const topic = imageTopic(topics, settings);
    const name = topic?.name ?? '';
    const rotate = Number(settings.rotate) % 360 || 0;
    const area = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const facts = useRef<HTMLOutputElement>(null);
    const { view, zoomBy, fit, handlers } = useView(area, canvas, rotate, settings.view, (to) =>
        onSettings({ view: to }),
    );
    const lay = () =>
        canvas.current && area.current && place(canvas.current, area.current, canvas.current, rotate, view);
    const width = useAreaWidth(area, lay);
    const draw = ({ image, time, size }: Picture) => {
        const to = canvas.current;
        if (!to || !image) {
            return;
        }
        const [w, h] =
            'displayWidth' in image ? [image.displayWidth, image.displayHeight] : [image.width, image.height];
        if (to.width !== w || to.height !== h) {
            to.width = w;
            to.height = h;
            lay();
        }
        to.getContext('2d', { alpha: false })!.drawImage(image, 0, 0);
        to.dataset.size = (size ?? [w, h]).join(' ');
        const [shape, when] = facts.current!.children;
        shape!.textContent = imageText.size(size?.[0] ?? w, size?.[1] ?? h);
        when!.textContent = imageText.at(relativeTime(recording, time));
    };
    const { shown, reload, pictures } = usePictures(props, topic, () => requestWidth(width.current * view.zoom), draw);
    useLayoutEffect(() => void lay(), [rotate, view]);
    const hidden = shown.kind === 'picture' ? '' : 'image-hidden';
    const offered = topics.filter(isAnnotation).map((one) => one.name);
    const drawn = useMemo(() => {
        const names = images.map((one) => one.name);
        return settings.marks === undefined
            ? annotationsOf(name, names, topics.filter(isAnnotation))
            : offered.filter((one) => hiddenOf(settings.marks).has(one));
    }, [topics, name, settings.marks]);
    const toggle = (one: string) => {
        const next = drawn.includes(one) ? drawn.filter((other) => other !== one) : [...drawn, one];
        onSettings({ marks: hiddenText(new Set(next)) ?? ',' }); // ',': none
    };
    const key = (event: KeyboardEvent) => {
        const factor = { '+': ZOOM_STEP, '=': ZOOM_STEP, '-': 1 / ZOOM_STEP, 0: 0 }[event.key];
        if (factor !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
            void (factor ? zoomBy(factor) : fit());
            event.preventDefault();
        }
    };
    return (
        <div class="image">
            <div class="image-tools row">
                {images.length > 1 && (
                    <Select
                        label={imageText.topic}
                        hidden_label
                        value={name}
                        options={images.map((t) => [t.name, t.name])}
                        onChange={(to) => onSettings({ topic: to })}
                    />
                )}
                <output class={`image-facts mono small muted ${hidden}`} aria-live="off" ref={facts}>
                    <span />
                    <span />
                </output>
                {offered.length > 0 && (
                    <Menu
                        icon="box"
                        label={imageText.annotations}
                        items={offered.map((one) => ({
                            label: one,
                            checked: drawn.includes(one),
                            run: () => toggle(one),
                        }))}
                    />
                )}
                <Button
                    kind="quiet"
                    icon="rotate"
                    label={imageText.rotate}
                    onClick={() => onSettings({ rotate: rotate === 270 ? null : String(rotate + 90) })}
                />
                {view.zoom > 1 && <Button kind="quiet" icon="full" label={imageText.fit} onClick={fit} />}
            </div>
            <div
                class="image-area"
                ref={area}
                tabIndex={0}
                role="group"
                aria-label={imageText.alt(name)}
                onKeyDown={key}
                {...handlers}
            >
                <canvas ref={canvas} role="img" aria-label={imageText.alt(name)} class={hidden} />
                {drawn.length > 0 && (
                    <Overlay
                        recording={recording}
                        playback={playback}
                        topics={drawn}
                        canvas={canvas}
                        hidden={hidden !== ''}
                    />
                )}
                <Late playback={playback} behind={() => pictures.current?.behind() ?? 0} />
                {shown.kind === 'failed' && <Failed error={shown.error} retry={reload} />}
                {shown.kind === 'problem' && <p class="muted image-note">{shown.text}</p>}
                {shown.kind === 'none' && <p class="muted">{imageText.none}</p>}
                {shown.kind === 'unplayable' && topic && (
                    <VideoElement recording={recording.id} topic={topic} playback={playback} codec={shown.text!} />
                )}
            </div>
        </div>
    );
}
