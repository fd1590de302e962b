// Fields of several topics at the playhead: the value of each, and how old it is. One request for all of them.
import { useMemo, useState } from 'preact/hooks';
import { getRows } from '../../api';
import { duration } from '../../format';
import { valuesText } from '../../text/signals';
import type { Message } from '../../types';
import { Button, EmptyState, Failed, VirtualTable, type Column } from '../../ui';
import { useRequest } from '../../use_request';
import type { PanelProps } from '../index';
import { curveOf, dropTarget, readCurves, withFields, writeCurves } from '../plot/curves';
import { defaultFields } from '../plot/fields';
import { Picker } from '../plot/picker';
import { namesOf, placeOf, placesKey, stateText } from '../states/runs';
import { useAtPlayhead } from '../use_at_playhead';

interface Value {
    value: unknown;
    age_ns: bigint;
}
interface Row extends Partial<Value> {
    field: string;
}

/** The newest value of each field; one without a message yet is left out. */
async function valuesAt(
    { recording, topics }: PanelProps,
    fields: string[],
    time_ns: bigint,
    signal: AbortSignal,
): Promise<Map<string, Value>> {
    const places = fields.flatMap((field) => {
        const place = placeOf(field, topics);
        return place ? [{ field, ...place }] : [];
    });
    if (places.length === 0) {
        return new Map(); // without a topic the server sends all
    }
    const whole = places.some(({ path }) => path === ''); // a message that is a single value has no field
    const params = {
        topic: [...new Set(places.map(({ topic }) => topic.name))],
        start: time_ns + 1n,
        end: time_ns + 2n,
        last: 'per_topic',
        time_format: 'nanoseconds',
        ...(whole ? {} : { fields: [...new Set(places.map(({ path }) => path))].join(',') }),
    };
    const found = new Map<string, Value>();
    for await (const row of getRows<Message>(`/recordings/${recording.id}/messages`, params, signal)) {
        const age_ns = time_ns - BigInt(row.log_time);
        for (const { field, topic, path } of places) {
            if (topic.name === row.topic && age_ns >= 0n) {
                found.set(field, { value: whole ? valueOf(row.data, path) : at(row.data, path), age_ns });
            }
        }
    }
    return found;
}

const at = (data: unknown, key: string): unknown => (data as Record<string, unknown> | null)?.[key];
/** Of a whole message. */
const valueOf = (data: unknown, path: string): unknown =>
    path
        .split(/\.|\[(\d+)\]/)
        .filter(Boolean)
        .reduce(at, data);

export default function Values(props: PanelProps) {
    const { recording, topics, playback, settings, onSettings } = props;
    const [picking, setPicking] = useState(false);
    const fields = useMemo(
        () =>
            settings.fields === undefined
                ? defaultFields(topics)
                : readCurves(settings.fields).map(({ field }) => field),
        [settings.fields, topics],
    );
    const key = useMemo(() => placesKey(fields, topics), [fields, topics]);
    const names = useRequest((signal) => namesOf(recording, topics, fields, signal), [recording.id, key]);
    const loaded = useAtPlayhead<Map<string, Value>>(
        playback,
        fields.length > 0 ? (time, signal) => valuesAt(props, fields, time, signal) : null,
        [recording.id, key],
    );
    const rows = fields.map((field): Row => ({ field, ...loaded.value?.get(field) }));
    const setFields = (next: string[]) => onSettings({ fields: writeCurves(next.map(curveOf)) });
    const columns: Column<Row>[] = [
        {
            key: 'field',
            title: valuesText.field,
            width: 'minmax(14ch, 3fr)',
            cell: ({ field }) => (
                <span class="mono values-field" title={field}>
                    <bdi>{field}</bdi>
                </span>
            ),
        },
        {
            key: 'value',
            title: valuesText.value,
            width: 'minmax(10ch, 2fr)',
            cell: ({ field, value }) => {
                const shown = stateText(value, names.value?.get(field));
                return (
                    <span class="mono" title={shown}>
                        {shown}
                    </span>
                );
            },
        },
        {
            key: 'age',
            title: valuesText.age,
            width: '9ch',
            help: valuesText.ageHelp,
            cell: ({ age_ns }) => <span class="muted">{age_ns === undefined ? '–' : duration(age_ns)}</span>,
        },
        {
            key: 'tools',
            title: '',
            width: '32px',
            head: <span class="visually-hidden">{valuesText.tools}</span>,
            cell: ({ field }) => (
                <Button
                    kind="quiet"
                    icon="close"
                    label={valuesText.remove(field)}
                    onClick={() => setFields(fields.filter((one) => one !== field))}
                />
            ),
        },
    ];
    const drop = dropTarget((dropped) =>
        onSettings({ fields: withFields(settings.fields ?? writeCurves(fields.map(curveOf)), dropped) }),
    );
    return (
        <div class="values" {...drop}>
            <div class="values-tools row">
                <Button icon="settings" onClick={() => setPicking(true)}>
                    {valuesText.fields}
                </Button>
            </div>
            {loaded.error !== null && <Failed error={loaded.error} retry={loaded.reload} />}
            {fields.length === 0 ? (
                <EmptyState title={valuesText.empty} help={valuesText.emptyHelp}>
                    <Button kind="main" onClick={() => setPicking(true)}>
                        {valuesText.choose}
                    </Button>
                </EmptyState>
            ) : (
                <VirtualTable
                    label={valuesText.title}
                    columns={columns}
                    count={rows.length}
                    rowAt={(i) => rows[i]}
                    rowHeight={28}
                />
            )}
            {picking && (
                <Picker {...props} texts chosen={fields} onChange={setFields} onClose={() => setPicking(false)} />
            )}
        </div>
    );
}
