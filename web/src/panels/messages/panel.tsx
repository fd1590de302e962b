// One topic: its message at the playhead as a tree or as hex, or all its messages as a table.
import { useEffect, useState } from 'preact/hooks';
import { download, get, getBytes } from '../../api';
import { copyText } from '../../clipboard';
import { neighbour } from '../../frames';
import { messagesText } from '../../text/panels';
import { relativeTime } from '../../recording_time';
import { showError, showToast } from '../../toasts';
import type { Message, Topic } from '../../types';
import { Button, Failed, Select, Tree, type TreeNode } from '../../ui';
import { DRAGGED_FIELD, fieldOf, withFields } from '../plot/curves';
import { useAtPlayhead } from '../use_at_playhead';
import { usePlayed } from '../use_played';
import type { PanelProps } from '../index';
import { ColumnDialog, firstColumns, joinColumns, splitColumns } from './columns';
import { Hex } from './hex';
import { MessageTable } from './table';
import { bytesOf, isNumber, nodesOf, type Value } from './tree';

type Loaded = { message: Message<Value>; bytes: Uint8Array | null };

/** The selected topic, else the first; the URL may name one that does not exist. */
export const messagesTopic = (topics: Topic[], settings: Record<string, string>): Topic | undefined =>
    topics.find((t) => t.messages > 0 && t.name === settings.topic) ?? topics.find((t) => t.messages > 0);

/** The message at the playhead; its bytes with `hex`. */
function useMessage({ recording, playback }: PanelProps, topic: Topic | undefined, hex: boolean, enabled: boolean) {
    const played = usePlayed(recording, topic, playback, enabled && !hex);
    const load = async (time: bigint, signal: AbortSignal): Promise<Loaded | null> => {
        if (!topic || time < BigInt(topic.start_ns ?? 0)) {
            return null;
        }
        const where = { topic: topic.name, at: time };
        const message = await get<Message<Value>>(
            `/recordings/${recording.id}/message`,
            { ...where, time_format: 'nanoseconds' },
            signal,
        );
        const bytes = hex
            ? new Uint8Array(
                  await getBytes(`/recordings/${recording.id}/message`, where, {
                      signal,
                      headers: { Accept: 'application/octet-stream' },
                  }),
              )
            : null;
        return { message, bytes };
    };
    const at = useAtPlayhead<Loaded>(playback, played.active || !enabled ? null : load, [
        recording.id,
        topic?.name,
        hex,
    ]);
    const shown = played.message ? { message: played.message as Message<Value>, bytes: null } : at.value;
    return { ...at, shown };
}

function Shown({
    message,
    bytes,
    why,
    hex,
    more,
}: Loaded & { why: string | undefined; hex: boolean; more: (path: string, leaf: Value) => Partial<TreeNode> }) {
    const [open, setOpen] = useState(new Set<string>());
    const opaque = message.encoding === undefined ? null : bytesOf(message.data);
    return (
        <>
            {opaque && <p class="messages-opaque small muted">{messagesText.opaque(message.encoding!, why)}</p>}
            {bytes ? (
                <Hex bytes={bytes} />
            ) : opaque ? (
                <Hex bytes={opaque} />
            ) : (
                !hex && <Tree label={message.topic} nodes={nodesOf(message.data, more)} open={open} onOpen={setOpen} />
            )}
        </>
    );
}

export function Messages(props: PanelProps) {
    const { recording, topics, playback, settings, onSettings, open } = props;
    const withMessages = topics.filter((t) => t.messages > 0);
    const topic = messagesTopic(topics, settings);
    const hex = settings.hex === '1';
    const table = settings.view === 'table';
    const columns = splitColumns(settings.columns);
    const [picking, setPicking] = useState(false);
    const unset = table && settings.columns === undefined;
    const at = useMessage(props, topic, hex, !table || picking || unset);
    const { shown } = at;
    const first =
        unset && shown?.message.topic === topic?.name && shown?.message.encoding === undefined
            ? firstColumns(shown!.message.data)
            : null;
    useEffect(() => void (first !== null && onSettings({ columns: first })), [first]);
    const time = shown ? BigInt(shown.message.log_time) : null;
    if (!topic) {
        return <p class="empty muted">{messagesText.none}</p>;
    }
    const step = async (forward: boolean) => {
        playback.pause();
        const now = playback.get().time_ns;
        try {
            const to = await neighbour(recording.id, topic, forward || table ? now : (time ?? now), forward);
            if (to !== null) {
                playback.seek(to);
            } else {
                showToast(forward ? messagesText.last : messagesText.first);
            }
        } catch (error) {
            showError(error);
        }
    };
    const setColumns = (paths: string[]) => onSettings({ view: 'table', hex: null, columns: joinColumns(paths) });
    const more = (path: string, leaf: Value): Partial<TreeNode> => {
        const field = fieldOf(topic, path);
        const plot = isNumber(leaf);
        return {
            drag: plot ? (data) => data.setData(DRAGGED_FIELD, field) : undefined,
            actions: (
                <>
                    {plot && (
                        <Button
                            kind="quiet"
                            title={messagesText.plotField(path)}
                            onClick={() => open('plot', (now) => ({ fields: withFields(now.fields, [field]) }))}
                        >
                            {messagesText.plot}
                        </Button>
                    )}
                    <Button
                        kind="quiet"
                        title={messagesText.columnField(path)}
                        onClick={() => setColumns([...new Set([...columns, path])])}
                    >
                        {messagesText.column}
                    </Button>
                </>
            ),
        };
    };
    const csv = () =>
        void download(`/recordings/${recording.id}/messages`, {
            topic: topic.name,
            output: 'csv',
            ...(columns.length > 0 ? { fields: columns.join(',') } : {}),
        }).catch(showError);
    return (
        <div class="messages">
            <div class="messages-tools row">
                <Select
                    label={messagesText.topic}
                    hidden_label
                    value={topic.name}
                    options={withMessages.map((t) => [t.name, t.name])}
                    onChange={(to) => onSettings({ topic: to, columns: null })}
                />
                <Button icon="left" label={messagesText.previous} onClick={() => void step(false)} />
                <Button icon="right" label={messagesText.next} onClick={() => void step(true)} />
                <Button pressed={table} onClick={() => onSettings({ view: table ? null : 'table', hex: null })}>
                    {messagesText.asTable}
                </Button>
                <Button pressed={hex} onClick={() => onSettings({ hex: hex ? null : '1', view: null })}>
                    {messagesText.hex}
                </Button>
                {table && <Button onClick={() => setPicking(true)}>{messagesText.columns}</Button>}
                {table ? (
                    <Button icon="download" label={messagesText.saveTable} onClick={csv} />
                ) : (
                    <Button
                        icon="copy"
                        label={messagesText.copy}
                        disabled={!shown}
                        onClick={() => void copyText(JSON.stringify(shown?.message.data, null, 2))}
                    />
                )}
            </div>
            {table ? (
                <MessageTable
                    recording={recording}
                    playback={playback}
                    topic={topic}
                    columns={columns}
                    onRemove={(path) => setColumns(columns.filter((c) => c !== path))}
                />
            ) : (
                <div class="messages-body">
                    {shown && time !== null && (
                        <p class="messages-head small">
                            <span class="mono">{relativeTime(recording, time)}</span>{' '}
                            <span class="muted">{topic.type}</span>
                            {shown.message.sequence ? <span class="muted"> #{shown.message.sequence}</span> : null}
                        </p>
                    )}
                    {at.error !== null && <Failed error={at.error} retry={at.reload} />}
                    {!shown && at.error === null && at.time !== null && <p class="empty muted">{messagesText.none}</p>}
                    {shown && <Shown key={topic.name} {...shown} why={topic.undecoded} hex={hex} more={more} />}
                </div>
            )}
            {picking && (
                <ColumnDialog
                    message={shown?.message.data}
                    loading={at.time === null}
                    error={at.error}
                    chosen={columns}
                    onChange={setColumns}
                    onClose={() => setPicking(false)}
                />
            )}
        </div>
    );
}
