// The dates of a search: ranges that move with the time, or from one time to another. The address keeps them as they
// were chosen: start=now-7d, start=today-1d&end=today, start=2024-05-01T00:00:00Z.
import { useMemo } from 'preact/hooks';
import { setQuery } from '../../address';
import { dateTime } from '../../format';
import { useStore } from '../../store';
import { libraryText } from '../../text/library';
import { dayStart, fromWall, shownZone, zoneChoice, zoneName } from '../../time_zone';
import { Field } from '../../ui';

const t = libraryText;
const FURTHEST = 8e15; // ms from 1970, about what a Date can hold
const UNITS: Record<string, number> = { s: 1000, m: 60000, h: 3600000, d: 86400000, w: 604800000 };

/** An end of the range in ms; null: it is not understood. Days begin in the zone that is shown. */
export function resolveTime(written: string, now = Date.now()): number | null {
    const found = /^(now|today)(?:([+-])(\d+)([smhdw]))?$/.exec(written);
    if (!found) {
        const time = Date.parse(written);
        return Number.isNaN(time) ? null : time;
    }
    const by = found[3] ? (found[2] === '-' ? -1 : 1) * Number(found[3]) * UNITS[found[4]!]! : 0;
    if (Math.abs(now + by) > FURTHEST) {
        return null;
    }
    return found[1] === 'now' ? now + by : by % UNITS.d! === 0 ? dayStart(now, by / UNITS.d!) : dayStart(now) + by;
}

/** A range of the address as the server takes it; what is not understood stays, for the server to say so. */
export function useDates(start: string | null, end: string | null) {
    const zone = useStore(zoneChoice);
    return useMemo(() => {
        const iso = (written: string | null) => {
            const time = written === null ? null : resolveTime(written);
            return time === null ? written : new Date(time).toISOString().replace('.000Z', 'Z');
        };
        return { start: iso(start), end: iso(end) };
    }, [start, end, zone]);
}

const RANGES: [keyof typeof t.ranges, string, string | null][] = [
    ['hour', 'now-1h', null],
    ['today', 'today', null],
    ['yesterday', 'today-1d', 'today'],
    ['week', 'now-7d', null],
    ['month', 'now-30d', null],
    ['year', 'now-365d', null],
];

/** Date and time in the zone that is shown, as fields of this type write it. */
const written = (iso: string | null) => (iso === null ? '' : dateTime(new Date(iso).toISOString()).replace(' ', 'T'));

function End({ name, label, value }: { name: 'start' | 'end'; label: string; value: string | null }) {
    const set = (wall: number) =>
        setQuery({
            [name]: Number.isNaN(wall)
                ? null
                : new Date(fromWall(wall, shownZone())).toISOString().replace('.000Z', 'Z'),
            row: null,
        });
    const known = value !== null && !Number.isNaN(Date.parse(value));
    return (
        <Field
            label={label}
            type="datetime-local"
            step={1}
            value={known ? written(value) : ''}
            onChange={(event) => set(Date.parse(event.currentTarget.value + 'Z'))}
        />
    );
}

/** `chosen`: as the address has it; `resolved`: what it means now. */
export function Dates({
    chosen,
    resolved,
}: {
    chosen: { start: string | null; end: string | null };
    resolved: { start: string | null; end: string | null };
}) {
    return (
        <section>
            <h2>
                {t.dates} <span class="muted small">{zoneName()}</span>
            </h2>
            <ul>
                {RANGES.map(([name, start, end]) => {
                    const on = chosen.start === start && chosen.end === end;
                    return (
                        <li key={name}>
                            <button
                                type="button"
                                class="library-value"
                                aria-pressed={on}
                                onClick={() => setQuery({ start: on ? null : start, end: on ? null : end, row: null })}
                            >
                                {t.ranges[name]}
                            </button>
                        </li>
                    );
                })}
            </ul>
            <div class="library-dates">
                <End name="start" label={t.dateFrom} value={resolved.start} />
                <End name="end" label={t.dateTo} value={resolved.end} />
            </div>
        </section>
    );
}
