// The picture at the play head, as large as the panel, asked for in the size that is shown.
import { useEffect, useRef, useState } from 'preact/hooks';
import { getBlob } from '../../api';
import { text } from '../../text';
import { Failed, Select } from '../../ui';
import { useAtHead } from '../at_head';
import type { PanelProps } from '../index';
import { isImage } from './index';

/** Whole steps, so that a panel that is dragged larger does not ask for each pixel. */
const stepped = (width: number) => Math.min(4096, Math.max(160, Math.ceil((width * Math.min(devicePixelRatio, 2)) / 160) * 160));

export function ImagePanel({ recording, topics, clock, settings, onSettings }: PanelProps) {
    const images = topics.filter(isImage);
    const chosen = images.find((t) => t.name === settings.topic) ?? images[0];
    const topic = chosen?.name ?? '';
    const room = useRef<HTMLDivElement>(null);
    const [width, setWidth] = useState(640);
    const [address, setAddress] = useState<string | null>(null);
    useEffect(() => {
        const sizes = new ResizeObserver(([entry]) => setWidth(stepped(entry!.contentRect.width)));
        sizes.observe(room.current!);
        return () => sizes.disconnect();
    }, []);
    const picture = useAtHead<Blob>(clock, async (time, signal) => (time < BigInt(chosen?.first_ns ?? 0) ? null : getBlob(`/recordings/${recording.id}/frame`, { topic, at: time, width }, { signal })), [recording.id, topic, width]);
    useEffect(() => {
        if (!picture.value) {
            return;
        }
        const made = URL.createObjectURL(picture.value);
        setAddress(made);
        return () => URL.revokeObjectURL(made);
    }, [picture.value]);
    return (
        <div class="image">
            {images.length > 1 && (
                <div class="image-tools row">
                    <Select label={text.image.topic} hidden_label value={topic} options={images.map((t) => [t.name, t.name])} onChange={(to) => onSettings({ topic: to })} />
                </div>
            )}
            <div class="image-room" ref={room}>
                {picture.error !== null ? <Failed error={picture.error} retry={picture.again} /> : picture.value && address ? <img src={address} alt={text.image.alt(topic)} /> : picture.time !== null && <p class="soft">{text.image.none}</p>}
            </div>
        </div>
    );
}
