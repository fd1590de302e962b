// Messages at the play head: decoded as a tree or as bytes, with steps to the next and the previous one.
import { useState } from 'preact/hooks';
import { get, getBytes, getRows } from '../../api';
import { copyText } from '../../copy';
import { text } from '../../text';
import { since } from '../../times';
import { showError, showToast } from '../../toasts';
import type { Message } from '../../types';
import { Button, Failed, Select, Tree } from '../../ui';
import { useAtHead } from '../at_head';
import type { PanelProps } from '../index';
import { Hex } from './hex';
import { nodesOf } from './tree';

type Seen = { message: Message; bytes: Uint8Array | null };

/** The time of the message behind or before `from`; null: there is none. */
async function neighbour(id: string, topic: string, from: bigint, forward: boolean): Promise<bigint | null> {
    const params = { topic, limit: 1, time_format: 'nanoseconds', decode: 'none' };
    if (forward) {
        for await (const row of getRows<Message>(`/recordings/${id}/messages`, { ...params, start: from + 1n })) {
            return BigInt(row.log_time);
        }
        return null;
    }
    const row = await get<Message>(`/recordings/${id}/message`, { topic, at: from - 1n, time_format: 'nanoseconds', decode: 'none' });
    return BigInt(row.log_time);
}

export function Messages({ recording, topics, clock, settings, onSettings }: PanelProps) {
    const filled = topics.filter((t) => t.count > 0);
    const chosen = filled.find((t) => t.name === settings.topic) ?? filled[0]; // an address of another recording may name another topic
    const topic = chosen?.name ?? '';
    const raw = settings.raw === '1';
    const [open, setOpen] = useState(new Set<string>());
    const at = useAtHead<Seen>(
        clock,
        async (time, signal) => {
            if (!chosen || time < BigInt(chosen.first_ns ?? 0)) {
                return null;
            }
            const params = { topic, at: time, time_format: 'nanoseconds' };
            const message = await get<Message>(`/recordings/${recording.id}/message`, params, signal);
            const bytes = raw ? new Uint8Array(await getBytes(`/recordings/${recording.id}/message`, { topic, at: time }, { signal, headers: { Accept: 'application/octet-stream' } })) : null;
            return { message, bytes };
        },
        [recording.id, topic, raw],
    );
    const seen = at.value;
    const time = seen ? BigInt(seen.message.log_time) : null;
    const step = async (forward: boolean) => {
        clock.pause();
        const from = forward ? clock.get().time_ns : (time ?? clock.get().time_ns);
        const over = !chosen || (forward ? from >= BigInt(chosen.last_ns ?? 0) : from <= BigInt(chosen.first_ns ?? 0));
        try {
            const to = over ? null : await neighbour(recording.id, topic, from, forward);
            if (to !== null) {
                clock.seek(to);
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
                <Select label={text.messages.topic} hidden_label value={topic} options={filled.map((t) => [t.name, t.name])} onChange={(to) => onSettings({ topic: to })} />
                <Button icon="left" label={text.messages.previous} onClick={() => void step(false)} />
                <Button icon="right" label={text.messages.next} onClick={() => void step(true)} />
                <Button pressed={raw} onClick={() => onSettings({ raw: raw ? null : '1' })}>
                    {text.messages.raw}
                </Button>
                <Button icon="copy" label={text.messages.copy} disabled={!seen} onClick={() => void copyText(JSON.stringify(seen?.message.data, null, 2))} />
            </div>
            {seen && time !== null && (
                <p class="messages-head small">
                    <span class="mono">{since(recording, time)}</span> <span class="soft">{chosen?.type}</span>
                    {seen.message.sequence ? <span class="soft"> #{seen.message.sequence}</span> : null}
                </p>
            )}
            {at.error !== null && <Failed error={at.error} retry={at.again} />}
            {!seen && at.error === null && at.time !== null && <p class="empty soft">{text.messages.none}</p>}
            {seen?.bytes && <Hex bytes={seen.bytes} />}
            {seen && !raw && <Tree label={topic} nodes={nodesOf(seen.message.data as Parameters<typeof nodesOf>[0])} open={open} onOpen={setOpen} />}
        </div>
    );
}
