// Tags as people write them: key:value, as the page shows them, or key=value; separated by spaces or commas; values
// with spaces in quotes.

/** null: some part is no tag. */
export function parseTags(line: string): Record<string, string> | null {
    const tags: Record<string, string> = {};
    for (const [part] of line.matchAll(/(?:"[^"]*"?|[^\s,"])+/g)) {
        const found = /^([^:=]+)[:=](.+)$/s.exec(part.replace(/"/g, ''));
        if (!found) {
            return null;
        }
        tags[found[1]!.trim()] = found[2]!.trim();
    }
    return tags;
}

export function showTags(tags: Record<string, string>): string {
    return Object.entries(tags)
        .map(([key, value]) => `${key}:${value}`)
        .join(' ');
}
