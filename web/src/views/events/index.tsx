// The events of all recordings, those that people added or those that follow from recordings. The URL holds the filter.
import { href, setQuery, useAddress } from '../../address';
import { dateTime, duration } from '../../format';
import { allEventsText as t } from '../../text/events';
import type { EventRow } from '../../types';
import { Field, Select } from '../../ui';
import { inZone, ListTable, useList } from '../admin/parts';
import { useDates } from '../library/dates';

const lasts = ({ start_ns, end_ns }: EventRow) => BigInt(end_ns) - BigInt(start_ns);

function Title({ of }: { of: EventRow }) {
    const range = lasts(of) > 0n ? `@${of.start_ns}~@${of.end_ns}` : null;
    return <a href={href(`recordings/${of.recording}`, { at: '@' + of.start_ns, range })}>{of.title}</a>;
}

function Tags({ of }: { of: EventRow }) {
    return (
        <span class="muted small">
            {Object.entries(of.tags)
                .map(([key, value]) => `${key}:${value}`)
                .join(' ')}
        </span>
    );
}

export default function Events() {
    const { query } = useAddress();
    const [q, kind, since] = ['q', 'kind', 'start'].map((name) => query.get(name) ?? '') as [string, string, string];
    const { start } = useDates(since || null, null);
    const list = useList<EventRow>('/events', {
        limit: 100,
        q: q || null,
        start,
        derived: kind ? true : null,
        kind: kind === 'any' ? null : kind || null,
    });
    return (
        <div class="events">
            <h1>{t.title}</h1>
            <div class="row events-filter">
                <Field
                    type="search"
                    label={t.words}
                    value={q}
                    onInput={(event) => setQuery({ q: event.currentTarget.value || null }, true)}
                />
                <Select
                    label={t.kind}
                    value={kind}
                    options={Object.entries(t.kinds)}
                    onChange={(value) => setQuery({ kind: value || null })}
                />
                <Select
                    label={t.since}
                    value={since}
                    options={Object.entries(t.spans)}
                    onChange={(value) => setQuery({ start: value || null })}
                />
            </div>
            <ListTable
                caption={t.title}
                empty={q || kind || since ? t.noMatch : t.none}
                of={list}
                columns={[
                    {
                        title: inZone(t.time),
                        cell: (e) => <span class="mono">{e.calendar_start ? dateTime(e.calendar_start) : '–'}</span>,
                    },
                    { title: t.event, cell: (e) => <Title of={e} /> },
                    { title: t.lasts, right: true, cell: (e) => duration(lasts(e)) },
                    {
                        title: t.recording,
                        cell: (e) => (
                            <>
                                {e.name} <span class="muted small">{e.collection}</span>
                            </>
                        ),
                    },
                    { title: t.tags, cell: (e) => <Tags of={e} /> },
                    { title: t.author, cell: (e) => e.author },
                ]}
            />
        </div>
    );
}
