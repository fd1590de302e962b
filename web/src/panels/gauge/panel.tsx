// One field at the playhead: a number within its range, or a state.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { get } from '../../api';
import { usePlaybackPart, type Playback } from '../../playback';
import { gaugeText } from '../../text/signals';
import { boundsOf } from '../../recording_time';
import type { Message, Recording } from '../../types';
import { Button, Dialog, EmptyState, Failed, Field } from '../../ui';
import { useRequest } from '../../use_request';
import type { PanelProps } from '../index';
import { dropTarget } from '../plot/curves';
import { load } from '../plot/data';
import { defaultFields, fieldsOf } from '../plot/fields';
import { Picker } from '../plot/picker';
import { namesOf, placeOf, stateText } from '../states/runs';
import { useAtPlayhead } from '../use_at_playhead';

type Span = [least: number, most: number];
const RANGE_POINTS = 400; // of which the smallest and the largest value are taken
const DIGITS = 5;

const shown = (value: number): string =>
    Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(DIGITS)));

/** The smallest and the largest value up to `end`; null: there is none. */
async function rangeOf(recording: Recording, field: string, end: bigint, signal: AbortSignal): Promise<Span | null> {
    const { start } = boundsOf(recording);
    const points = await load(
        { recording, topics: [], shift_ns: 0n, name: '' },
        { field, start: String(start), end: String(end + 1n), agg: 'minmax', max_points: RANGE_POINTS },
        start,
        signal,
    );
    const values = [...points.v].filter(Number.isFinite);
    return values.length > 0 ? [Math.min(...values), Math.max(...values)] : null;
}

/** Three quarters of a circle, filled up to the value. */
function Dial({ part }: { part: number }) {
    const arc = (to: number) => {
        const angle = (0.75 + 1.5 * to) * Math.PI;
        const [x, y] = [50 + 42 * Math.cos(angle), 50 + 42 * Math.sin(angle)];
        return `M20.3 79.7A42 42 0 ${to > 2 / 3 ? 1 : 0} 1 ${x.toFixed(2)} ${y.toFixed(2)}`;
    };
    return (
        <svg class="gauge-dial" viewBox="0 0 100 86" aria-hidden="true">
            <path class="gauge-track" d={arc(1)} />
            {part > 0 && <path class="gauge-fill" d={arc(part)} />}
        </svg>
    );
}

function RangeDialog({ settings, onSettings, onClose }: PanelProps & { onClose: () => void }) {
    const field = (key: 'min' | 'max', label: string) => {
        const value = settings[key] ?? '';
        return (
            <Field
                label={label}
                value={value}
                inputMode="decimal"
                error={value === '' || Number.isFinite(Number(value)) ? null : gaugeText.wrong}
                onInput={(event) => onSettings({ [key]: event.currentTarget.value.trim() || null })}
            />
        );
    };
    return (
        <Dialog
            title={gaugeText.rangeTitle}
            onClose={onClose}
            actions={
                <Button kind="main" onClick={onClose}>
                    {gaugeText.done}
                </Button>
            }
        >
            <p class="muted">{gaugeText.rangeHelp}</p>
            {field('min', gaugeText.least)}
            {field('max', gaugeText.most)}
        </Dialog>
    );
}

const numberOf = (setting: string | undefined): number | null =>
    setting !== undefined && setting !== '' && Number.isFinite(Number(setting)) ? Number(setting) : null;

/** The range of a field; of a live recording again when it has grown and the answer before has come. */
function useRange(recording: Recording, playback: Playback, field: string | null) {
    const newest = usePlaybackPart(playback, (state) => state.bounds.end);
    const [end, setEnd] = useState(newest);
    const range = useRequest<Span | null>(
        (signal) => (field === null ? Promise.resolve(null) : rangeOf(recording, field, end, signal)),
        [recording.id, field, end],
    );
    useEffect(() => {
        if (!range.loading) {
            setEnd(newest);
        }
    }, [newest, range.loading]);
    return range;
}

function useGauge({ recording, topics, playback, settings }: PanelProps, field: string | null) {
    const place = useMemo(() => (field === null ? null : placeOf(field, topics)), [field, topics]);
    const about = useRequest(
        async (signal) => {
            if (field === null || !place) {
                return null;
            }
            const [names, fields] = await Promise.all([
                namesOf(recording, topics, [field], signal),
                fieldsOf(recording.id, place.topic, playback.get().time_ns, signal),
            ]);
            const known = fields.find((one) => one.path === field);
            return { numeric: known?.numeric ?? false, names: names.get(field), unit: known?.unit ?? '' };
        },
        [recording.id, field, place?.topic.name],
    );
    const ranged = useRange(recording, playback, !about.loading && about.value?.numeric ? field : null);
    const at = useAtPlayhead<{ value: unknown }>(
        playback,
        place &&
            (async (time, signal) => {
                const { topic, path } = place;
                const params = { topic: topic.name, at: time, ...(path === '' ? {} : { fields: path }) };
                const { data } = await get<Message<unknown>>(`/recordings/${recording.id}/message`, params, signal);
                return { value: path === '' ? data : (data as Record<string, unknown> | null)?.[path] };
            }),
        [recording.id, field, place?.topic.name],
    );
    const range = ranged.value;
    const [least, most] = [numberOf(settings.min) ?? range?.[0] ?? 0, numberOf(settings.max) ?? range?.[1] ?? 1];
    return { about, ranged, at, range: range && ([least, most] as Span) };
}

export default function Gauge(props: PanelProps) {
    const { topics, settings, onSettings } = props;
    const field = settings.field ?? defaultFields(topics)[0] ?? null;
    const [dialog, setDialog] = useState<'field' | 'range' | null>(null);
    const { about, ranged, at, range } = useGauge(props, field);
    const failed = [about, ranged].find(({ error }) => error !== null);
    const value = at.value?.value;
    const number = typeof value === 'number' ? value : typeof value === 'boolean' ? Number(value) : null;
    const named = about.value?.names?.get(String(value));
    const text = typeof value === 'number' && !named ? shown(value) : stateText(value, about.value?.names);
    const dial = number !== null && typeof value === 'number' && !named && range !== null && range[1] > range[0];
    const part = dial ? Math.min(Math.max((number! - range[0]) / (range[1] - range[0]), 0), 1) : 0;
    const setField = (next: string) => onSettings({ field: next, min: null, max: null });
    return (
        <div class="gauge" {...dropTarget(([dropped]) => setField(dropped!))}>
            <div class="gauge-tools row">
                <Button icon="settings" onClick={() => setDialog('field')}>
                    {gaugeText.field}
                </Button>
                {dial && <Button onClick={() => setDialog('range')}>{gaugeText.range}</Button>}
            </div>
            {at.error !== null && <Failed error={at.error} retry={at.reload} />}
            {at.error === null && failed && <Failed error={failed.error} retry={failed.reload} />}
            {field === null && (
                <EmptyState title={gaugeText.empty} help={gaugeText.emptyHelp}>
                    <Button kind="main" onClick={() => setDialog('field')}>
                        {gaugeText.choose}
                    </Button>
                </EmptyState>
            )}
            {field !== null && at.error === null && (
                <div class="gauge-body" role="img" aria-label={gaugeText.label(field, text)}>
                    {dial && <Dial part={part} />}
                    <span class={`gauge-value ${dial ? 'gauge-on-dial' : ''}`}>
                        <span class="gauge-number">{text}</span>
                        {about.value?.unit && <span class="gauge-unit muted">{about.value.unit}</span>}
                    </span>
                    {dial && (
                        <span class="gauge-ends small muted">
                            <span>{shown(range[0])}</span>
                            <span>{shown(range[1])}</span>
                        </span>
                    )}
                    <span class="gauge-field mono small" title={field}>
                        <bdi>{field}</bdi>
                    </span>
                    {at.time !== null && at.value === null && <span class="small muted">{gaugeText.none}</span>}
                </div>
            )}
            {dialog === 'field' && (
                <Picker
                    {...props}
                    texts
                    chosen={field === null ? [] : [field]}
                    onChange={(fields) => {
                        const next = fields.find((one) => one !== field);
                        if (next !== undefined) {
                            setField(next);
                            setDialog(null);
                        }
                    }}
                    onClose={() => setDialog(null)}
                />
            )}
            {dialog === 'range' && <RangeDialog {...props} onClose={() => setDialog(null)} />}
        </div>
    );
}
