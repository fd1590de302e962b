// Formats numbers, sizes and times for display.
import { offsetMs, shownZone } from './time_zone';

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

export function bytes(n: number | null | undefined): string {
    if (n === null || n === undefined) {
        return '–';
    }
    let unit = 0;
    let value = n;
    while (value >= 999.5 && unit < UNITS.length - 1) {
        value /= 1000;
        unit++;
    }
    return `${unit === 0 ? value : Number(value.toPrecision(3))} ${UNITS[unit]}`;
}

export function count(n: number | null | undefined): string {
    return n === null || n === undefined ? '–' : n.toLocaleString('en-US').replace(/,/g, '\u202f');
}

function toNs(value: bigint | number | string | null | undefined): bigint | null {
    if (value === null || value === undefined || value === '') {
        return null;
    }
    return typeof value === 'bigint' ? value : BigInt(typeof value === 'number' ? Math.round(value) : value);
}

/** RFC 3339 to ns; null if it is not one. */
export function parseTime(value: string | null | undefined): bigint | null {
    const found = /^(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d)$/.exec(value ?? '');
    const ms = found ? Date.parse(found[1]!.replace(' ', 'T') + found[3]!.toUpperCase()) : NaN;
    return Number.isNaN(ms) ? null : BigInt(ms) * 1000000n + BigInt((found![2] ?? '').padEnd(9, '0') || '0');
}

/** 1.25 s, 3:07, 1:02:03, 2 d 04:05 */
export function duration(value: bigint | number | string | null | undefined): string {
    const ns = toNs(value);
    if (ns === null) {
        return '–';
    }
    const s = Number(ns) / 1e9;
    if (s < 60) {
        return s === 0
            ? '0 s'
            : s < 0.001
              ? `${(s * 1e6).toFixed(0)} µs`
              : s < 1
                ? `${(s * 1e3).toFixed(0)} ms`
                : `${s.toFixed(s < 10 ? 2 : 1)} s`;
    }
    const seconds = Math.round(s);
    const two = (n: number) => String(n).padStart(2, '0');
    const [d, h, m] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
    if (d > 0) {
        return `${d} d ${two(h)}:${two(m)}`;
    }
    return h > 0 ? `${h}:${two(m)}:${two(seconds % 60)}` : `${m}:${two(seconds % 60)}`;
}

/** An RFC 3339 time or ns, in the zone that is shown: 2024-05-01 10:00:00[.123] */
export function dateTime(value: string | bigint | null | undefined, digits = 0, zone = shownZone()): string {
    const ns = typeof value === 'bigint' ? value : parseTime(value);
    if (ns === null) {
        return '–';
    }
    const ms = ns / 1000000n - (ns % 1000000n < 0n ? 1n : 0n);
    const date = new Date(Number(ms));
    date.setTime(date.getTime() + (Number.isNaN(date.getTime()) ? 0 : offsetMs(date.getTime(), zone)));
    if (Number.isNaN(date.getTime())) {
        return '–';
    }
    const iso = date.toISOString().replace('T', ' ').replace('Z', '');
    const nanos = iso.slice(20) + String(((ns % 1000000n) + 1000000n) % 1000000n).padStart(6, '0');
    return iso.slice(0, 19) + (digits > 0 ? '.' + nanos.slice(0, digits) : '');
}
export function date(value: string | bigint | null | undefined): string {
    return dateTime(value).slice(0, 10);
}

/** An offset from the start of a recording: 12.345 s is 0:12.345 */
export function offset(ns: bigint, digits = 3): string {
    const below = ns < 0n;
    const abs = below ? -ns : ns;
    const s = abs / 1000000000n;
    const nanos = String(abs % 1000000000n)
        .padStart(9, '0')
        .slice(0, digits);
    const two = (n: bigint) => String(n).padStart(2, '0');
    const clock = s >= 3600n ? `${s / 3600n}:${two((s / 60n) % 60n)}:${two(s % 60n)}` : `${s / 60n}:${two(s % 60n)}`;
    return (below ? '-' : '') + clock + (digits > 0 ? '.' + nanos : '');
}

export function rate(hz: number | null | undefined): string {
    return hz === null || hz === undefined ? '–' : `${hz >= 100 ? hz.toFixed(0) : hz.toPrecision(3)} Hz`;
}
export function percent(part: number, total: number): string {
    return total > 0 ? `${Math.floor((part / total) * 100)} %` : '–';
}
/** 3 s ago, 5 min ago, 2 h ago, or the date */
export function ago(value: string | null | undefined, now = Date.now()): string {
    const ns = parseTime(value);
    if (ns === null) {
        return '–';
    }
    const s = Math.max(0, now / 1000 - Number(ns / 1000000000n));
    return s < 60
        ? `${Math.floor(s)} s ago`
        : s < 3600
          ? `${Math.floor(s / 60)} min ago`
          : s < 86400
            ? `${Math.floor(s / 3600)} h ago`
            : date(ns);
}
