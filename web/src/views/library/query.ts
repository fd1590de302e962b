// The search text as a list of terms; clicks add or remove terms. Text that is not understood is left unchanged.
export interface Term {
    text: string; // as written
    start: number;
    end: number;
    not: boolean;
    key: string | null; // 'format' of format:rosbag-1.2,mcap
    values: string[]; // without their quotes
}

/** Splits at spaces outside quotes. */
export function termsOf(query: string): Term[] {
    const terms: Term[] = [];
    for (const found of query.matchAll(/(?:"[^"]*"?|[^\s"])+/g)) {
        terms.push(termOf(found[0], found.index));
    }
    return terms;
}

function termOf(text: string, start: number): Term {
    const not = text.startsWith('-') && text.length > 1;
    const rest = not ? text.slice(1) : text;
    const named = /^((?:meta\.)?(?:"[^"]*"|[^":]+)):(.*)$/s.exec(rest);
    const values = [...(named ? named[2]! : rest).matchAll(/"([^"]*)"?|[^,"]+/g)].map((one) => one[1] ?? one[0]);
    return { text, start, end: start + text.length, not, key: named ? named[1]! : null, values };
}

/** A value as written in a query: in quotes if necessary. */
export function quoted(value: string): string {
    return /^[^\s",:-][^\s",:]*$/.test(value) ? value : `"${value.replace(/"/g, '')}"`;
}

export function hasTerm(query: string, key: string, value: string): boolean {
    return termsOf(query).some((term) => !term.not && term.key === key && term.values.includes(value));
}

/** Adds key:value, or removes it if present. */
export function toggleTerm(query: string, key: string, value: string): string {
    const terms = termsOf(query);
    const same = terms.find((term) => !term.not && term.key === key);
    const kept = terms.filter((term) => term !== same).map((term) => term.text);
    if (!same) {
        return [...kept, `${key}:${quoted(value)}`].join(' ');
    }
    const values = same.values.includes(value) ? same.values.filter((one) => one !== value) : [...same.values, value];
    const index = terms.indexOf(same);
    if (values.length > 0) {
        kept.splice(index, 0, `${key}:${values.map(quoted).join(',')}`);
    }
    return kept.join(' ');
}

/** The collection, if the search selects exactly one. */
export function selectedCollection(q: string): string | null {
    const terms = termsOf(q).filter(
        (term) => term.key === 'collection' && !term.not && term.values.length === 1 && !/[*?]/.test(term.values[0]!),
    );
    return terms.length === 1 ? terms[0]!.values[0]! : null;
}

/** Removes all terms with this key. */
export function dropKey(query: string, key: string): string {
    return termsOf(query)
        .filter((term) => term.key !== key)
        .map((term) => term.text)
        .join(' ');
}

/** The text being typed at the caret, which a suggestion would replace. */
export interface Typing {
    start: number;
    end: number;
    not: boolean;
    key: string | null; // null: a key or a word is being typed
    prefix: string;
}
export function typingAt(query: string, caret: number): Typing {
    const term = termsOf(query).find((one) => one.start < caret && caret <= one.end);
    if (!term) {
        return { start: caret, end: caret, not: false, key: null, prefix: '' };
    }
    const from = term.start + (term.not ? 1 : 0);
    if (term.key === null) {
        return {
            start: from,
            end: term.end,
            not: term.not,
            key: null,
            prefix: query.slice(from, caret).replace(/"/g, ''),
        };
    }
    const values = from + term.key.length + 1;
    if (caret < values) {
        return { start: from, end: term.end, not: term.not, key: null, prefix: query.slice(from, caret) };
    }
    const start = Math.max(values, query.lastIndexOf(',', caret - 1) + 1);
    const comma = query.slice(caret, term.end).indexOf(',');
    return {
        start,
        end: comma < 0 ? term.end : caret + comma,
        not: term.not,
        key: term.key,
        prefix: query.slice(start, caret).replace(/"/g, ''),
    };
}

/** Replaces all terms with this key by key:value, or removes them if `value` is null. The value is written as it is. */
export function setTerm(query: string, key: string, value: string | null): string {
    const rest = dropKey(query, key);
    return value === null ? rest : `${rest} ${key}:${value}`.trim();
}
