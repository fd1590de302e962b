/* The statement of a list, from the template sql/queries/list.sql. Only words of this file and numbers are inserted, never a user's text. */
#include <stdio.h>
#include <string.h>

#include "catalog/list.h"
#include "catalog/sql.h"

static bool has(const struct list_plan *f, enum list_filter filter) {
    return (f->filters & LIST_BIT(filter)) != 0;
}

static bool is_included(const char *mark, size_t size, const struct list_plan *f) {
    bool next_links = f->driver == LIST_STREAM_LINKS && !f->counting, count_links = f->driver == LIST_STREAM_LINKS && f->counting;
    bool gathered = f->driver == LIST_WORDS || f->driver == LIST_LINK || next_links, stream = f->driver >= LIST_STREAM_WORDS && !next_links,
         filters_words = has(f, FILTER_WORDS) && f->driver != LIST_WORDS && f->driver != LIST_STREAM_WORDS;
    const struct {
        const char *mark;
        bool included;
    } marks[] = {
        {"page", !f->counting},
        {"count", f->counting && !count_links},
        {"count_links", count_links},
        {"counting", f->counting},
        {"indexed", !gathered && !stream && f->driver != LIST_INTERVAL && f->driver != LIST_FOUND},
        {"found", f->driver == LIST_FOUND},
        {"interval", f->driver == LIST_INTERVAL},
        {"collect", gathered},
        {"stream_words", f->driver == LIST_STREAM_WORDS},
        {"stream_link", f->driver == LIST_STREAM_LINK},
        {"stream_spans", f->driver == LIST_STREAM_SPANS},
        {"shown", !has(f, FILTER_TRASH)},
        {"keyset", !f->counting && !stream && f->driver != LIST_INTERVAL},
        {"keyset_interval", !f->counting && f->driver == LIST_INTERVAL},
        {"next_links", next_links},
        {"keyset_words", !f->counting && f->driver == LIST_STREAM_WORDS},
        {"keyset_link", !f->counting && f->driver == LIST_STREAM_LINK},
        {"keyset_spans", !f->counting && f->driver == LIST_STREAM_SPANS},
        {"selective_words", f->driver == LIST_WORDS},
        {"words_each", filters_words && f->very_selective},
        {"words_all", filters_words && !f->very_selective},
        {"without", has(f, FILTER_WITHOUT)},
        {"selective_link", f->driver == LIST_LINK},
        {"collections", has(f, FILTER_COLLECTIONS)},
        {"no_collections", has(f, FILTER_NO_COLLECTIONS)},
        {"allowed", has(f, FILTER_ALLOWED)},
        {"groups", has(f, FILTER_GROUPS)},
        {"no_groups", has(f, FILTER_NO_GROUPS)},
        {"formats", has(f, FILTER_FORMATS)},
        {"no_formats", has(f, FILTER_NO_FORMATS)},
        {"states", has(f, FILTER_STATES)},
        {"no_states", has(f, FILTER_NO_STATES)},
        {"damaged", has(f, FILTER_DAMAGED)},
        {"intact", has(f, FILTER_INTACT)},
        {"size", has(f, FILTER_SIZE)},
        {"duration", has(f, FILTER_DURATION)},
        {"messages", has(f, FILTER_MESSAGES)},
        {"times", has(f, FILTER_START) || has(f, FILTER_END)},
        {"start", has(f, FILTER_START) && !has(f, FILTER_CEILING)},
        {"start_walked", has(f, FILTER_START) && has(f, FILTER_CEILING)},
        {"end", has(f, FILTER_END) && !has(f, FILTER_FLOOR)},
        {"end_walked", has(f, FILTER_END) && has(f, FILTER_FLOOR)},
        {"floor", has(f, FILTER_FLOOR)},
        {"ceiling", has(f, FILTER_CEILING)},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (strlen(marks[i].mark) == size && strncmp(mark, marks[i].mark, size) == 0) {
            return marks[i].included;
        }
    }
    return false;
}

static const char *index_name(const struct list_plan *f) {
    static const char *const indexes[LIST_DRIVERS] = {
        [LIST_COLLECTION] = "collection", [LIST_GROUP] = "group",     [LIST_ALLOWED] = "collection", [LIST_FORMAT] = "format",
        [LIST_STATE] = "state",           [LIST_DAMAGED] = "damaged", [LIST_SIZE] = "size",          [LIST_DURATION] = "duration_ns",
        [LIST_MESSAGES] = "messages"};
    return indexes[f->driver] ? indexes[f->driver] : f->column;
}

/* What stands for the words in braces; `link` is the one that the line is about. */
static void put_word(FILE *out, const char *brace, const struct list_plan *f, uint32_t link) {
    static const char *const tables[] = {"recording_labels", "recording_tags", "recording_tags"}, *const bys[] = {"label", "key", "value"};
    const struct list_link *l = link < f->n_links ? &f->links[link] : NULL;
    if (strncmp(brace, "{column}", 8) == 0) {
        fputs(f->column, out);
    } else if (strncmp(brace, "{after}", 7) == 0) {
        fputs(f->descending ? "<" : ">", out);
    } else if (strncmp(brace, "{order}", 7) == 0) {
        fputs(f->descending ? "DESC" : "ASC", out);
    } else if (strncmp(brace, "{index}", 7) == 0) {
        fprintf(out, "recordings_by_%s", index_name(f));
    } else if (strncmp(brace, "{n}", 3) == 0) {
        fprintf(out, "%u", link);
    } else if (l && strncmp(brace, "{table}", 7) == 0) {
        fputs(tables[l->by], out);
    } else if (l && strncmp(brace, "{by}", 4) == 0) {
        fputs(bys[l->by], out);
    } else if (l && l->negated) {
        fputs("NOT ", out);
    }
}

static void put_line(FILE *out, const char *at, const char *end, const struct list_plan *f, uint32_t link) {
    while (at < end) {
        const char *brace = memchr(at, '{', (size_t)(end - at));
        fwrite(at, 1, (size_t)((brace ? brace : end) - at), out);
        if (!brace) {
            break;
        }
        put_word(out, brace, f, link);
        at = strchr(brace, '}') + 1;
    }
    fputc('\n', out);
}

static const char *template_text(void) {
    for (size_t i = 0; i < sql_queries_count; i++) {
        if (strcmp(sql_queries[i].name, "list") == 0) {
            return sql_queries[i].text;
        }
    }
    return "";
}

char *list_sql(const struct list_plan *plan) {
    char *sql = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&sql, &size);
    if (!out) {
        return NULL;
    }
    for (const char *line = template_text(), *end; *line; line = *end ? end + 1 : end) {
        end = strchrnul(line, '\n');
        const char *mark = memmem(line, (size_t)(end - line), " --: ", 5), *text = mark ? mark : end;
        size_t mark_size = mark ? (size_t)(end - mark - 5) : 0;
        if (strncmp(line, "--", 2) == 0) {
            continue;
        }
        if (mark_size == 4 && strncmp(mark + 5, "each", 4) == 0) {
            bool leads = plan->driver == LIST_LINK || plan->driver == LIST_STREAM_LINK || plan->driver == LIST_STREAM_LINKS;
            for (uint32_t i = 0; i < plan->n_links; i++) {
                if (!leads || i != plan->driving_link) {
                    put_line(out, line, text, plan, i);
                }
            }
        } else if (!mark || is_included(mark + 5, mark_size, plan)) {
            put_line(out, line, text, plan, plan->driving_link);
        }
    }
    fclose(out);
    return sql;
}
