// The image at the playhead, requested in the size of the panel.
import { useEffect, useRef, useState } from 'preact/hooks';
import { getBlob } from '../../api';
import { isImage } from '../../frames';
import { text } from '../../text';
import type { Topic } from '../../types';
import { Failed, Select } from '../../ui';
import { useAtPlayhead } from '../use_at_playhead';
import type { PanelProps } from '../index';

/** Rounded up to steps, so that resizing the panel does not load an image per pixel. */
const requestWidth = (width: number) => Math.min(4096, Math.max(160, Math.ceil((width * Math.min(devicePixelRatio, 2)) / 160) * 160));

/** The selected topic of images, else the first; the URL may name one that does not exist. */
export const imageTopic = (topics: Topic[], settings: Record<string, string>): Topic | undefined => topics.find((t) => isImage(t) && t.name === settings.topic) ?? topics.find(isImage);

export function ImagePanel({ recording, topics, playback, settings, onSettings }: PanelProps) {
    const images = topics.filter(isImage);
    const chosen = imageTopic(topics, settings);
    const topic = chosen?.name ?? '';
    const area = useRef<HTMLDivElement>(null);
    const [width, setWidth] = useState(640);
    const [imageUrl, setUrl] = useState<string | null>(null);
    useEffect(() => {
        const sizes = new ResizeObserver(([entry]) => setWidth(requestWidth(entry!.contentRect.width)));
        sizes.observe(area.current!);
        return () => sizes.disconnect();
    }, []);
    const picture = useAtPlayhead<Blob>(playback, async (time, signal) => (time < BigInt(chosen?.start_ns ?? 0) ? null : getBlob(`/recordings/${recording.id}/frame`, { topic, at: time, width }, { signal })), [recording.id, topic, width]);
    useEffect(() => {
        if (!picture.value) {
            return;
        }
        const url = URL.createObjectURL(picture.value);
        setUrl(url);
        return () => URL.revokeObjectURL(url);
    }, [picture.value]);
    return (
        <div class="image">
            {images.length > 1 && (
                <div class="image-tools row">
                    <Select label={text.image.topic} hidden_label value={topic} options={images.map((t) => [t.name, t.name])} onChange={(to) => onSettings({ topic: to })} />
                </div>
            )}
            <div class="image-area" ref={area}>
                {picture.error !== null ? <Failed error={picture.error} retry={picture.reload} /> : picture.value && imageUrl ? <img src={imageUrl} alt={text.image.alt(topic)} /> : picture.time !== null && <p class="muted">{text.image.none}</p>}
            </div>
        </div>
    );
}
