// What is in the file: topics with their rates and gaps, their definitions, metadata, attachments.
import { useState } from 'preact/hooks';
import { download, get, getText } from '../../api';
import { useAsk } from '../../ask';
import { bytes, count, rate } from '../../format';
import { text } from '../../text';
import { since } from '../../times';
import { showError } from '../../toasts';
import type { Recording, Topic } from '../../types';
import { Button, Dialog, Failed, Spinner } from '../../ui';
import type { PanelProps } from '../index';

interface Attachment {
    number?: number;
    name: string;
    media_type: string;
    size: number;
}

function Schema({ recording, topic, onClose }: { recording: Recording; topic: Topic; onClose: () => void }) {
    const schema = useAsk((signal) => getText(`/recordings/${recording.id}/schemas/${encodeURIComponent(topic.schema_id!)}`, {}, { signal, headers: { Accept: 'text/plain' } }), [topic.schema_id]);
    return (
        <Dialog wide title={topic.type} onClose={onClose}>
            {schema.error !== null ? <Failed error={schema.error} retry={schema.again} /> : schema.value === null ? <Spinner /> : <pre class="table-schema" tabIndex={0}>{schema.value}</pre>}
        </Dialog>
    );
}

function Topics({ recording, topics }: { recording: Recording; topics: Topic[] }) {
    const [schema, setSchema] = useState<Topic | null>(null);
    return (
        <>
            <table class="table-plain">
                <caption class="unseen">{text.table.topics}</caption>
                <thead>
                    <tr>
                        <th scope="col">{text.table.topic}</th>
                        <th scope="col">{text.table.type}</th>
                        <th scope="col" class="right">
                            {text.table.count}
                        </th>
                        <th scope="col" class="right">
                            {text.table.size}
                        </th>
                        <th scope="col" class="right">
                            {text.table.rate}
                        </th>
                        <th scope="col" class="right">
                            {text.table.gap}
                        </th>
                        <th scope="col" class="right">
                            {text.table.first}
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {topics.map((t) => (
                        <tr key={t.name}>
                            <th scope="row" class="mono">
                                {t.name}
                            </th>
                            <td class="mono">
                                {t.schema_id !== null ? (
                                    <button type="button" class="link" onClick={() => setSchema(t)}>
                                        {t.type}
                                    </button>
                                ) : (
                                    t.type
                                )}{' '}
                                <span class="soft small">{t.encoding}</span>
                            </td>
                            <td class="right">{count(t.count)}</td>
                            <td class="right">{bytes(t.bytes)}</td>
                            <td class="right">{rate(t.rate)}</td>
                            <td class="right">{t.max_gap === null ? '–' : `${t.max_gap.toPrecision(3)} s`}</td>
                            <td class="right mono">{t.first_ns === null ? '–' : since(recording, BigInt(t.first_ns))}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {schema && <Schema recording={recording} topic={schema} onClose={() => setSchema(null)} />}
        </>
    );
}

function Metadata({ recording }: { recording: Recording }) {
    const asked = useAsk((signal) => get<{ metadata: { key: string; value: string; name?: string }[] }>(`/recordings/${recording.id}/metadata`, {}, signal), [recording.id, recording.updated]);
    const rows = asked.value?.metadata ?? [];
    return asked.error !== null ? (
        <Failed error={asked.error} retry={asked.again} />
    ) : rows.length > 0 ? (
        <section class="table-part">
            <h3>{text.table.metadata}</h3>
            <dl>
                {rows.map((row, i) => (
                    <div key={i} class="table-pair">
                        <dt>{row.name ? `${row.name} · ${row.key}` : row.key}</dt>
                        <dd class="mono">{row.value}</dd>
                    </div>
                ))}
            </dl>
        </section>
    ) : null;
}

function Attachments({ recording }: { recording: Recording }) {
    const asked = useAsk((signal) => get<{ attachments: Attachment[] }>(`/recordings/${recording.id}/attachments`, {}, signal), [recording.id, recording.updated]);
    const rows = asked.value?.attachments ?? [];
    return rows.length > 0 ? (
        <section class="table-part">
            <h3>{text.table.attachments}</h3>
            <ul class="about-list">
                {rows.map((row, i) => (
                    <li key={i} class="row">
                        <span class="grow mono">{row.name}</span>
                        <span class="soft small">
                            {row.media_type} {bytes(row.size)}
                        </span>
                        <Button icon="download" label={text.table.get(row.name)} onClick={() => void download(`/recordings/${recording.id}/attachments/${row.number ?? i}`).catch(showError)} />
                    </li>
                ))}
            </ul>
        </section>
    ) : null;
}

export function Contents({ recording, topics }: PanelProps) {
    return (
        <div class="table-panel">
            <Topics recording={recording} topics={topics} />
            <Metadata recording={recording} />
            <Attachments recording={recording} />
        </div>
    );
}
