// Searches that are not finished yet, and what is wrong with those that the server refuses.
import { ApiError } from '../../api';
import { Store } from '../../store';
import { termsOf, type Term } from './query';
import { isHalfCondition, splitSearch } from './value_query';

export interface Mistake {
    query: string;
    start: number; // the part of the query that is wrong
    end: number;
    message: string;
    suggestions: string[]; // the query with a correction, see corrected()
    word: string; // that the suggestions replace
}
/** Of the search that the URL holds; null: there is none. The library sets it, the search box shows it. */
export const mistake = new Store<Mistake | null>(null);

/**
 * "q, character 4: there is no key and no tag \"formt\": did you mean format?": in characters as users count, from 1.
 */
export function mistakeOf(error: unknown, query: string): Mistake | null {
    const detail = error instanceof ApiError && error.status === 400 ? error.message : '';
    const found = /^q, character (\d+): (.*?)(?:: did you mean (.*)\?)?$/s.exec(detail);
    if (!found) {
        return null;
    }
    const start = [...query].slice(0, Number(found[1]) - 1).join('').length;
    const term = termsOf(query).find((one) => one.start <= start && start < one.end);
    const message = found[2]!.charAt(0).toUpperCase() + found[2]!.slice(1);
    return {
        query,
        start: Math.min(start, Math.max(0, query.length - 1)),
        end: term?.end ?? query.length,
        message: message + '.',
        suggestions: found[3]?.split(', ') ?? [],
        word: /"(.*?)"/.exec(found[2]!)?.[1] ?? '',
    };
}

/** The query with the wrong word replaced. */
export function corrected({ query, start, word }: Mistake, suggestion: string): string {
    const at = query.indexOf(word, start);
    return at < 0 ? query : query.slice(0, at) + suggestion + query.slice(at + word.length);
}

const STATES = ['recording', 'scanning', 'ready', 'failed', 'missing', 'changed', 'announced', 'trashed'];
const WHOLE: Record<string, RegExp> = {
    size: /^\d+(\.\d+)?([kMGT]i?)?B?$/,
    messages: /^\d+([kMGT]i?)?$/,
    duration: /^\d+(\.\d+)?(ns|us|ms|s|m|h|d)$/,
    created: /^(\d{4}-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?)?|now([-+]\d+(ns|us|ms|s|m|h|d))?)$/,
};

/** A value that more characters would complete: "mc" of format:mcap, ">" of size:>1G. */
function isHalfValue({ key, values, text }: Term, formats: readonly string[]): boolean {
    const last = values[values.length - 1] ?? '';
    if (/[:,]$/.test(text) || last === '') {
        return true;
    }
    const choices = key === 'format' ? formats : key === 'state' ? STATES : key === 'damaged' ? ['true', 'false'] : [];
    if (choices.length > 0) {
        return (
            choices.some((one) => one.startsWith(last)) &&
            !choices.some((one) => one === last || one.startsWith(last + '-'))
        );
    }
    const whole = WHOLE[key ?? ''];
    return (
        !!whole &&
        !whole.test(
            last
                .split('..')
                .pop()!
                .replace(/^(>=|<=|>|<|=)/, ''),
        )
    );
}

/** Whether the query is still being typed at the caret: the server would refuse it, and the user knows. */
export function isHalfTyped(query: string, caret: number, formats: readonly string[]): boolean {
    const quotes = query.replace(/\\./g, '').split('"').length - 1;
    const depth = [...query.replace(/"[^"]*"/g, '')].reduce((n, c) => n + (c === '(' ? 1 : c === ')' ? -1 : 0), 0);
    if (quotes % 2 === 1 || depth > 0 || /(^|\s)(or|\|)\s*$/.test(query)) {
        return true;
    }
    const { where } = splitSearch(query);
    if (where !== null) {
        return isHalfCondition(where);
    }
    const term = termsOf(query).find((one) => one.start < caret && caret <= one.end);
    return !!term && term.key !== null && isHalfValue(term, formats);
}
