// What taking away would give: the size, and what would be lost. Its one rule: both come from the server's plan, nothing is estimated here.
import { get, request, type Params } from '../../api';
import { boundsOf, toSeconds } from '../../times';
import type { Range } from '../../clock';
import type { Recording } from '../../types';

export interface Target {
    name: string;
    extension: string;
    media_type: string;
    ranges: boolean;
    version?: string;
    compressions?: string[];
}
export interface Format {
    name: string;
    title: string;
}
export interface Choice {
    target: string; // extension + version, '' for the original
    part: number; // of the original, which of its files
    compression: string;
    view: string;
    topics: string[] | null; // null: all
    range: Range | null;
}
export interface Loss {
    kind: string;
    channel?: string;
    text: string;
}
interface Report {
    accepted: boolean;
    report: Loss[];
}
export interface Plan {
    size: number | null; // null: known only when it has been made
    accepted: boolean;
    losses: { kind: string; text: string; channels: string[] }[];
}

export const keyOf = (target: Target): string => target.extension + (target.version ? '@' + target.version : '');

/** Targets under one name: the unnamed version is left out where the same one is there with its number. */
export function choicesOf(targets: Target[]): Target[] {
    return targets.filter((t) => t.version !== undefined || !targets.some((o) => o !== t && o.extension === t.extension && o.version !== undefined));
}

export function pathOf(recording: Recording, target: Target | null, part: number): string {
    if (!target) {
        return `/recordings/${recording.id}/file/${encodeURIComponent(recording.parts[part]?.name ?? recording.name)}`;
    }
    const stem = recording.name.replace(/(\.nanover\.zip|\.bag\.active|\.[^./]+)$/, '').replace(/\//g, '_') || 'recording';
    return `/recordings/${recording.id}/as/${encodeURIComponent(stem + target.extension)}`;
}

export function paramsOf(recording: Recording, target: Target | null, choice: Choice): Params {
    if (!target) {
        return {};
    }
    return {
        version: target.version,
        compression: choice.compression || null,
        view: choice.view || null,
        topic: choice.topics ?? [],
        start: choice.range && '+' + toSeconds(recording, choice.range.start) + 's',
        end: choice.range && choice.range.end < boundsOf(recording).end ? '+' + toSeconds(recording, choice.range.end) + 's' : null, // it is out: the last message must not be
    };
}

function together(report: Loss[]): Plan['losses'] {
    const byText = new Map<string, { kind: string; text: string; channels: string[] }>();
    for (const one of report) {
        const key = one.kind + one.text;
        const known = byText.get(key) ?? { kind: one.kind, text: one.text, channels: [] };
        if (one.channel) {
            known.channels.push(one.channel);
        }
        byText.set(key, known);
    }
    return [...byText.values()];
}

export async function planOf(recording: Recording, target: Target | null, choice: Choice, signal: AbortSignal): Promise<Plan> {
    if (!target) {
        return { size: recording.parts[choice.part]?.size ?? recording.size, accepted: true, losses: [] };
    }
    const [path, params] = [pathOf(recording, target, choice.part), paramsOf(recording, target, choice)];
    const report = await get<Report>(path, { ...params, report: true }, signal);
    let size: number | null = null;
    if (report.accepted && target.ranges) {
        const head = await request('HEAD', path, { params, signal, headers: { Prefer: 'wait=60' } }); // planning a large recording may take some seconds
        const length = head.headers.get('Content-Length');
        size = length === null ? null : Number(length);
    }
    return { size, accepted: report.accepted, losses: together(report.report) };
}
