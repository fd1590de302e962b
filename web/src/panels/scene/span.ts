// How much of the past is shown: scene.span=5 (seconds), or all.
import type { Span } from './source';

const MOST_S = 60;

export const spanText = (span: Span): string => (span === 'all' ? span : String(Number(span) / 1e9));
/** Without the setting, or with one that the source does not have: the first one that it offers. */
export function spanOf(text: string | undefined, offered: readonly Span[]): Span {
    const seconds = Number(text || NaN);
    return text === 'all' && offered.includes(text)
        ? text
        : offered.length > 0 && seconds >= 0
          ? BigInt(Math.round(Math.min(seconds, MOST_S) * 1e9))
          : (offered[0] ?? 0n);
}
