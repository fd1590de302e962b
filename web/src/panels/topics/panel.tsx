// The contents of the file: topics with rates and gaps, schemas, metadata, attachments.
import { useState } from 'preact/hooks';
import { download, getAll, getText } from '../../api';
import { useRequest } from '../../use_request';
import { bytes, count, rate } from '../../format';
import { topicsText } from '../../text/panels';
import { relativeTime } from '../../recording_time';
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
    const schema = useRequest(
        (signal) =>
            getText(
                `/recordings/${recording.id}/schemas/${encodeURIComponent(topic.schema_id!)}`,
                {},
                { signal, headers: { Accept: 'text/plain' } },
            ),
        [topic.schema_id],
    );
    return (
        <Dialog wide title={topic.type} onClose={onClose}>
            {schema.error !== null ? (
                <Failed error={schema.error} retry={schema.reload} />
            ) : schema.value === null ? (
                <Spinner />
            ) : (
                <pre class="topics-schema" tabIndex={0}>
                    {schema.value}
                </pre>
            )}
        </Dialog>
    );
}

/**
 * The roles are explicit since a narrow panel lays the rows out in two lines, and other boxes than a table's lose them.
 */
function Topics({ recording, topics, open }: Pick<PanelProps, 'recording' | 'topics' | 'open'>) {
    const [schema, setSchema] = useState<Topic | null>(null);
    return (
        <>
            <table class="plain-table topics-list" role="table">
                <caption class="visually-hidden">{topicsText.title}</caption>
                <thead role="rowgroup">
                    <tr role="row">
                        <th role="columnheader" scope="col">
                            {topicsText.topic}
                        </th>
                        <th role="columnheader" scope="col">
                            {topicsText.type}
                        </th>
                        <th role="columnheader" scope="col" class="right">
                            {topicsText.messages}
                        </th>
                        <th role="columnheader" scope="col" class="right">
                            {topicsText.size}
                        </th>
                        <th role="columnheader" scope="col" class="right">
                            {topicsText.rate}
                        </th>
                        <th role="columnheader" scope="col" class="right">
                            {topicsText.gap}
                        </th>
                        <th role="columnheader" scope="col" class="right">
                            {topicsText.first}
                        </th>
                    </tr>
                </thead>
                <tbody role="rowgroup">
                    {topics.map((t) => (
                        <tr key={t.name} role="row">
                            <th role="rowheader" scope="row" class="mono">
                                {t.messages > 0 ? (
                                    <button
                                        type="button"
                                        class="link"
                                        title={topicsText.messagesOf(t.name)}
                                        onClick={() => open('messages', () => ({ topic: t.name, columns: null }))}
                                    >
                                        {t.name}
                                    </button>
                                ) : (
                                    t.name
                                )}
                            </th>
                            <td role="cell" class="mono topics-type">
                                {t.schema_id !== null ? (
                                    <button type="button" class="link" onClick={() => setSchema(t)}>
                                        {t.type}
                                    </button>
                                ) : (
                                    t.type
                                )}{' '}
                                <span class="muted small">{t.encoding}</span>
                                {t.schema_source && (
                                    <span class="muted small" title={topicsText.definitionHelp}>
                                        {' · '}
                                        {topicsText.definition(t.schema_source)}
                                    </span>
                                )}
                            </td>
                            <td role="cell" class="right">
                                {count(t.messages)}
                            </td>
                            <td role="cell" class="right">
                                {bytes(t.payload_bytes)}
                            </td>
                            <td role="cell" class="right">
                                {rate(t.rate)}
                            </td>
                            <td role="cell" class="right">
                                {t.max_gap === null ? '–' : `${t.max_gap.toPrecision(3)} s`}
                            </td>
                            <td role="cell" class="right mono">
                                {t.start_ns === null ? '–' : relativeTime(recording, BigInt(t.start_ns))}
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {topics.length === 0 && <p class="topics-part muted">{topicsText.none}</p>}
            {schema && <Schema recording={recording} topic={schema} onClose={() => setSchema(null)} />}
        </>
    );
}

function Metadata({ recording }: { recording: Recording }) {
    const result = useRequest(
        (signal) =>
            getAll<{ key: string; value: string; name?: string }>(
                `/recordings/${recording.id}/metadata`,
                {},
                5000,
                signal,
            ),
        [recording.id, recording.updated],
    );
    const rows = result.value ?? [];
    return result.error !== null ? (
        <Failed error={result.error} retry={result.reload} />
    ) : rows.length > 0 ? (
        <section class="topics-part">
            <h3>{topicsText.metadata}</h3>
            <dl>
                {rows.map((row, i) => (
                    <div key={i} class="topics-pair">
                        <dt>{row.name ? `${row.name} · ${row.key}` : row.key}</dt>
                        <dd class="mono">{row.value}</dd>
                    </div>
                ))}
            </dl>
        </section>
    ) : null;
}

function Attachments({ recording }: { recording: Recording }) {
    const result = useRequest(
        (signal) => getAll<Attachment>(`/recordings/${recording.id}/attachments`, {}, 5000, signal),
        [recording.id, recording.updated],
    );
    const rows = result.value ?? [];
    return rows.length > 0 ? (
        <section class="topics-part">
            <h3>{topicsText.attachments}</h3>
            <ul class="details-list">
                {rows.map((row, i) => (
                    <li key={i} class="row">
                        <span class="grow mono">{row.name}</span>
                        <span class="muted small">
                            {row.media_type} {bytes(row.size)}
                        </span>
                        <Button
                            icon="download"
                            label={topicsText.download(row.name)}
                            onClick={() =>
                                void download(`/recordings/${recording.id}/attachments/${row.number ?? i}`).catch(
                                    showError,
                                )
                            }
                        />
                    </li>
                ))}
            </ul>
        </section>
    ) : null;
}

export function TopicsPanel({ recording, topics, open }: PanelProps) {
    return (
        <div class="topics-panel">
            <Topics recording={recording} topics={topics} open={open} />
            <Metadata recording={recording} />
            <Attachments recording={recording} />
        </div>
    );
}
