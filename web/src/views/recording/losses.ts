// What a damaged recording has lost, by time: between the messages stored before and after.
import type { Range } from '../../playback';
import { timeNs } from '../../recording_time';
import type { Finding, Topic } from '../../types';

export interface Loss extends Range {
    findings: Finding[];
}

/** Those that touch are one. */
export function lossesOf(findings: readonly Finding[]): Loss[] {
    const losses: Loss[] = [];
    for (const finding of findings) {
        if (finding.start && finding.end) {
            losses.push({ start: timeNs(finding.start), end: timeNs(finding.end), findings: [finding] });
        }
    }
    losses.sort((a, b) => (a.start < b.start ? -1 : 1));
    return losses.reduce<Loss[]>((joined, loss) => {
        const last = joined.at(-1);
        if (last && loss.start <= last.end) {
            last.end = loss.end > last.end ? loss.end : last.end;
            last.findings.push(...loss.findings);
        } else {
            joined.push(loss);
        }
        return joined;
    }, []);
}

/** The topics of which messages are missing: at their rate there would be some within the loss. */
export function topicsOf({ start, end }: Range, topics: readonly Topic[]): string[] {
    return topics
        .filter(({ messages, start_ns, end_ns }) => {
            const [first, last] = [BigInt(start_ns ?? 0), BigInt(end_ns ?? 0)];
            return messages > 1 && first < end && last > start && (last - first) / BigInt(messages) < end - start;
        })
        .map(({ name }) => name);
}
