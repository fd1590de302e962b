// A search for values is written behind the words of a search: "format:mcap /battery.voltage<11 for 2s". The address
// holds the words as q and the rest as where.
import { termsOf } from './query';

const CONDITION = /(?:^|\s)(\(*(?!meta\.)[^\s:"()<>=!]*\.[^\s:"()<>=!]+\s*[<>=!].*)$/s;
const FOR = /^(.*?)\s+for\s+(\S*)$/s;

export function splitSearch(text: string): { q: string; where: string | null } {
    const found = CONDITION.exec(text);
    return { q: (found ? text.slice(0, found.index) : text).trim(), where: found ? found[1]!.trim() : null };
}
export const joinSearch = (q: string | null, where: string | null): string => [q, where].filter(Boolean).join(' ');

/** The parameters where= and for=. */
export function conditionOf(where: string): { where: string; for: string | null } {
    const found = FOR.exec(where);
    return { where: found ? found[1]! : where, for: found ? found[2]! : null };
}

/** Whether more must be typed: an operator without a value, or a duration without its unit. */
export function isHalfCondition(where: string): boolean {
    const found = FOR.exec(where);
    return /([<>=!]|\s(and|or|for))$/.test(where) || (!!found && !/^\d+(\.\d+)?(ns|us|ms|s|m|h|d)$/.test(found[2]!));
}

/** How it is written, of words such as duration>1m and robot=r1. */
export function meantBy(q: string): string | null {
    const meant = termsOf(q).map(({ text, key }) => {
        const found = key === null ? /^(-?[\w-]+)(<=|>=|<|>|=)(.+)$/.exec(text) : null;
        return found ? `${found[1]}:${found[2] === '=' ? '' : found[2]}${found[3]}` : text;
    });
    return meant.join(' ') === q ? null : meant.join(' ');
}
