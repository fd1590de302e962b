// The message at the playhead, as a tree or as hex, with buttons for the next and the previous one.
import { useState } from 'preact/hooks';
import { get, getBytes } from '../../api';
import { copyText } from '../../clipboard';
import { neighbour } from '../../frames';
import { text } from '../../text';
import { relativeTime } from '../../recording_time';
import { showError, showToast } from '../../toasts';
import type { Message, Topic } from '../../types';
import { Button, Failed, Select, Tree } from '../../ui';
import { useAtPlayhead } from '../use_at_playhead';
import { usePlayed } from '../use_played';
import type { PanelProps } from '../index';
import { Hex } from './hex';
import { nodesOf } from './tree';

type Loaded = { message: Message; bytes: Uint8Array | null };

/** The selected topic, else the first; the URL may name one that does not exist. */
export const messagesTopic = (topics: Topic[], settings: Record<string, string>): Topic | undefined => topics.find((t) => t.messages > 0 && t.name === settings.topic) ?? topics.find((t) => t.messages > 0);

export function Messages({ recording, topics, playback, settings, onSettings }: PanelProps) {
    const withMessages = topics.filter((t) => t.messages > 0);
    const chosen = messagesTopic(topics, settings);
    const topic = chosen?.name ?? '';
    const hex = settings.hex === '1';
    const [open, setOpen] = useState(new Set<string>());
    const played = usePlayed(recording, chosen, playback, !hex);
    const load = async (time: bigint, signal: AbortSignal): Promise<Loaded | null> => {
        if (!chosen || time < BigInt(chosen.start_ns ?? 0)) {
            return null;
        }
        const params = { topic, at: time, time_format: 'nanoseconds' };
        const message = await get<Message>(`/recordings/${recording.id}/message`, params, signal);
        const bytes = hex ? new Uint8Array(await getBytes(`/recordings/${recording.id}/message`, { topic, at: time }, { signal, headers: { Accept: 'application/octet-stream' } })) : null;
        return { message, bytes };
    };
    const at = useAtPlayhead<Loaded>(playback, played.active ? null : load, [recording.id, topic, hex]);
    const shown = played.message ? { message: played.message, bytes: null } : at.value;
    const time = shown ? BigInt(shown.message.log_time) : null;
    const step = async (forward: boolean) => {
        playback.pause();
        const from = forward ? playback.get().time_ns : (time ?? playback.get().time_ns);
        try {
            const to = chosen ? await neighbour(recording.id, chosen, from, forward) : null;
            if (to !== null) {
                playback.seek(to);
            } else {
                showToast(forward ? text.messages.last : text.messages.first);
            }
        } catch (error) {
            showError(error);
        }
    };
    return (
        <div class="messages">
            <div class="messages-tools row">
                <Select label={text.messages.topic} hidden_label value={topic} options={withMessages.map((t) => [t.name, t.name])} onChange={(to) => onSettings({ topic: to })} />
                <Button icon="left" label={text.messages.previous} onClick={() => void step(false)} />
                <Button icon="right" label={text.messages.next} onClick={() => void step(true)} />
                <Button pressed={hex} onClick={() => onSettings({ hex: hex ? null : '1' })}>
                    {text.messages.hex}
                </Button>
                <Button icon="copy" label={text.messages.copy} disabled={!shown} onClick={() => void copyText(JSON.stringify(shown?.message.data, null, 2))} />
            </div>
            {shown && time !== null && (
                <p class="messages-head small">
                    <span class="mono">{relativeTime(recording, time)}</span> <span class="muted">{chosen?.type}</span>
                    {shown.message.sequence ? <span class="muted"> #{shown.message.sequence}</span> : null}
                </p>
            )}
            {at.error !== null && <Failed error={at.error} retry={at.reload} />}
            {!shown && at.error === null && at.time !== null && <p class="empty muted">{text.messages.none}</p>}
            {shown?.bytes && <Hex bytes={shown.bytes} />}
            {shown && !hex && <Tree label={topic} nodes={nodesOf(shown.message.data as Parameters<typeof nodesOf>[0])} open={open} onOpen={setOpen} />}
        </div>
    );
}
