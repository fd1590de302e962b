// The size and losses of an export, both from the server.
import { get, request, type Params } from '../../api';
import { boundsOf, secondsOf } from '../../recording_time';
import type { Range } from '../../playback';
import { exportText } from '../../text/export';
import type { Recording, Topic } from '../../types';

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
    part: number; // index of the file, for the original
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
    size: number | null; // null: unknown until the download
    accepted: boolean;
    losses: { kind: string; text: string; channels: string[] }[];
}

export const targetKey = (target: Target): string => target.extension + (target.version ? '@' + target.version : '');

export function titleOf(target: Target, formats: Format[]): string {
    const title = exportText.names[target.name] ?? formats.find((f) => f.name === target.name)?.title ?? target.name;
    return `${title}${target.version && !title.includes(target.version) ? ' ' + target.version : ''} (${target.extension})`;
}

/** The targets without those that repeat a versioned target under no version. */
export function listChoices(targets: Target[]): Target[] {
    return targets.filter(
        (t) =>
            t.version !== undefined ||
            !targets.some((o) => o !== t && o.extension === t.extension && o.version !== undefined),
    );
}

/** What is exported: a recording, or two of them merged by time. */
export interface Subject {
    recording: Recording;
    merged: Recording | null;
    shift_ns: bigint; // is added to the times of `merged`
    topics: Topic[];
    span: Range; // of the result
}
export const subjectOf = (recording: Recording): Subject => ({
    recording,
    merged: null,
    shift_ns: 0n,
    topics: recording.topics ?? [],
    span: boundsOf(recording),
});

export function exportPath(
    { recording, merged }: Pick<Subject, 'recording' | 'merged'>,
    target: Target | null,
    part: number,
    cut = '',
): string {
    if (!target) {
        return `/recordings/${recording.id}/file/${encodeURIComponent(recording.parts[part]?.name ?? recording.name)}`;
    }
    const stem =
        recording.name.replace(/(\.nanover\.zip|\.bag\.active|\.[^./]+)$/, '').replace(/\//g, '_') || 'recording';
    return `${merged ? '/merge' : `/recordings/${recording.id}`}/as/${encodeURIComponent(stem + cut + target.extension)}`;
}

/** '_19.6-28.3s' in the name of a file that holds these seconds. */
export const cutName = ({ span }: Subject, { range }: Choice): string => {
    const after = (time: bigint) => (Math.round(Number(time - span.start) / 1e8) / 10).toString();
    return range ? `_${after(range.start)}-${after(range.end)}s` : '';
};

/** The recordings of a merge, at the times at which they are shown. */
const merges = ({ recording, merged, shift_ns }: Subject): Params =>
    merged ? { recording: [recording.id, merged.id], shift: `${merged.id}:${secondsOf(shift_ns)}s` } : {};

export function exportParams(subject: Subject, target: Target | null, choice: Choice): Params {
    if (!target) {
        return {};
    }
    const { span } = subject;
    const after = (time: bigint) => `+${secondsOf(time - span.start)}s`;
    return {
        ...merges(subject),
        version: target.version,
        compression: choice.compression || null,
        view: choice.view || null,
        topic: choice.topics ?? [],
        start: choice.range && after(choice.range.start),
        // `end` is exclusive: omitted, so that the last message is included
        end: choice.range && choice.range.end < span.end ? after(choice.range.end) : null,
    };
}

/** The target for a part of the recording: its own format, else MCAP. */
export const cutTarget = (recording: Recording, targets: Target[]): string => {
    const target = targets.find((t) => t.name === recording.format) ?? targets.find((t) => t.name === 'mcap');
    return target ? targetKey(target) : '';
};

/** What a target that cannot hold all topics can hold. */
export interface Limit {
    fits: string[]; // each of these topics
    single: boolean; // one of them, or several only if they are alike
}

/** Whether the target can hold the chosen topics, none of them, or some. */
export function outcome(limit: Limit | undefined, chosen: string[]): 'all' | 'some' | 'none' {
    const fits = chosen.filter((name) => !limit || limit.fits.includes(name)).length;
    return fits === 0 && chosen.length > 0
        ? 'none'
        : fits < chosen.length || (limit?.single && fits > 1)
          ? 'some'
          : 'all';
}

const AT_A_TIME = 4;
const NAMED_MAX = 64; // topics in an address
/** The limits of the targets that cannot hold all topics of the recording, by their keys. */
export async function findLimits(
    subject: Subject,
    targets: Target[],
    signal: AbortSignal,
): Promise<Map<string, Limit>> {
    const limits = new Map<string, Limit>();
    const all = subject.topics.map(({ name }) => name);
    const waiting = [...targets];
    const worker = async () => {
        for (let target = waiting.shift(); target; target = waiting.shift()) {
            const ask = (topic: string[]) =>
                get<Report>(
                    exportPath(subject, target, 0),
                    { ...merges(subject), version: target.version, topic, report: true },
                    signal,
                );
            const report = await ask([]);
            if (!report.accepted) {
                const refused = new Set(report.report.map(({ kind, channel }) => kind === 'refuses' && channel));
                const fits = all.filter((name) => !refused.has(name));
                const some = fits.length > 0 && fits.length < all.length && fits.length <= NAMED_MAX;
                const single = !(some && (await ask(fits)).accepted);
                limits.set(targetKey(target), { fits, single });
            }
        }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
    return limits;
}

function groupLosses(report: Loss[]): Plan['losses'] {
    const byText = new Map<string, { kind: string; text: string; channels: string[] }>();
    for (const one of report) {
        const key = one.kind + one.text;
        const group = byText.get(key) ?? { kind: one.kind, text: one.text, channels: [] };
        if (one.channel) {
            group.channels.push(one.channel);
        }
        byText.set(key, group);
    }
    return [...byText.values()];
}

export async function fetchPlan(
    subject: Subject,
    target: Target | null,
    choice: Choice,
    signal: AbortSignal,
): Promise<Plan> {
    const { recording } = subject;
    if (!target) {
        return { size: recording.parts[choice.part]?.size ?? recording.size, accepted: true, losses: [] };
    }
    const [path, params] = [exportPath(subject, target, choice.part), exportParams(subject, target, choice)];
    const report = await get<Report>(path, { ...params, report: true }, signal);
    let size: number | null = null;
    if (report.accepted && target.ranges) {
        // planning may take some seconds for large recordings
        const head = await request('HEAD', path, { params, signal, headers: { Prefer: 'wait=60' } });
        const length = head.headers.get('Content-Length');
        size = length === null ? null : Number(length);
    }
    return { size, accepted: report.accepted, losses: groupLosses(report.report) };
}
