/* The list: filters, sorts, pages. Its one rule: a page costs about the same whatever the size of the catalog. A page walks the index of
 * its sort from where the last one ended; when a filter leaves few recordings it goes over those instead; words alone come in the order of
 * creation. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "catalog/own.h"
#include "catalog/sql.h"

enum { PAGE_MAX = 1000, GLOBS_MAX = 64, WORDS_MAX = 32, WORDS_BYTES_MAX = 2000, CURSOR_BYTES_MAX = 1024 };

static const struct sort {
    const char *name, *column;
} sorts[] = {
    {"created", "row"}, {"name", "name"},         {"start", "start_ns"},       {"end", "end_ns"},
    {"size", "size"},   {"messages", "messages"}, {"duration", "duration_ns"}, {0},
};

struct list { /* one question being answered */
    const struct catalog_query *q;
    struct list_form form;
    const char *sort;     /* as written in the cursor */
    char *words;          /* as FTS5 wants them; NULL = none */
    char *topics, *types; /* as JSON arrays; NULL = none */
    int few_kind;         /* LIST_LABEL: which label leads in */
    const char *few_glob;
    char *cursor; /* decoded; the key points into it */
    int64_t after_row;
    const char *after_key; /* NULL on the first page */
};

static void list_done(struct list *l) {
    free(l->words);
    free(l->topics);
    free(l->types);
    free(l->cursor);
}

static bool has_words(const struct catalog_query *q) {
    return q->words && q->words[0];
}

/* ---- the statement */

static bool is_wanted(const char *mark, size_t size, const struct catalog_query *q, const struct list_form *f) {
    bool gathered = f->way == LIST_WORDS || f->way == LIST_LABEL, stream = f->way == LIST_STREAM;
    const struct {
        const char *mark;
        bool wanted;
    } marks[] = {
        {"page", !f->counting},
        {"count", f->counting},
        {"indexed", !gathered && !stream},
        {"gather", gathered},
        {"stream", stream},
        {"shown", !q->has_state || f->way == LIST_WALK},
        {"state", q->has_state},
        {"keyset", !f->counting && !stream},
        {"keyset_stream", !f->counting && stream},
        {"few_words", f->way == LIST_WORDS},
        {"words", has_words(q) && f->way != LIST_WORDS && !stream},
        {"few_label", f->way == LIST_LABEL},
        {"collection", q->collection},
        {"format", q->format},
        {"damaged", q->damaged_only},
        {"times", q->has_start || q->has_end},
        {"start", q->has_start},
        {"end", q->has_end},
        {"topics", q->n_topics > 0},
        {"types", q->n_types > 0},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (strlen(marks[i].mark) == size && strncmp(mark, marks[i].mark, size) == 0) {
            return marks[i].wanted;
        }
    }
    return false;
}

static void put_index(FILE *out, const struct list_form *f) {
    static const char *const few[] = {
        [LIST_COLLECTION] = "collection", [LIST_FORMAT] = "format", [LIST_STATE] = "state", [LIST_DAMAGED] = "damaged"};
    if (f->way == LIST_WALK) {
        fprintf(out, "recordings_by_%s", f->column);
    } else {
        fprintf(out, "recordings_few_%s", few[f->way]);
    }
}

/* Copies a piece of the template, words put in for what stands in braces. */
static void put_piece(FILE *out, const char *at, const char *end, const struct list_form *f) {
    while (at < end) {
        const char *brace = memchr(at, '{', (size_t)(end - at));
        fwrite(at, 1, (size_t)((brace ? brace : end) - at), out);
        if (!brace) {
            break;
        }
        if (strncmp(brace, "{column}", 8) == 0) {
            fputs(f->column, out);
        } else if (strncmp(brace, "{after}", 7) == 0) {
            fputs(f->descending ? "<" : ">", out);
        } else if (strncmp(brace, "{order}", 7) == 0) {
            fputs(f->descending ? "DESC" : "ASC", out);
        } else {
            put_index(out, f);
        }
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

char *list_sql(const struct catalog_query *q, const struct list_form *form) {
    char *sql = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&sql, &size);
    if (!out) {
        return NULL;
    }
    for (const char *line = template_text(), *end; *line; line = *end ? end + 1 : end) {
        end = strchrnul(line, '\n');
        const char *mark = memmem(line, (size_t)(end - line), " --: ", 5);
        bool is_comment = strncmp(line, "--", 2) == 0;
        if (!is_comment && (!mark || is_wanted(mark + 5, (size_t)(end - mark - 5), q, form))) {
            put_piece(out, line, mark ? mark : end, form);
        }
    }
    fclose(out);
    return sql;
}

/* ---- what is asked */

static bool parse_sort(struct list *l, struct reel_error *err) {
    l->sort = l->q->sort && l->q->sort[0] ? l->q->sort : "-created";
    l->form.descending = l->sort[0] == '-';
    for (const struct sort *s = sorts; s->name; s++) {
        if (strcmp(s->name, l->sort + l->form.descending) == 0) {
            l->form.column = s->column;
            return true;
        }
    }
    return reel_fail(err, REEL_ARGUMENT,
                     "sort is one of created, name, start, end, size, messages, duration; \"-\" in front turns it round");
}

static bool has_letters(const char *word, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)word[i];
        if (c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z')) {
            return true;
        }
    }
    return false;
}

/* Every word of the user becomes "word"*, so nothing of it is taken for FTS5's own syntax. */
static bool quote_words(struct list *l, struct reel_error *err) {
    if (!has_words(l->q)) {
        return true;
    }
    if (strlen(l->q->words) > WORDS_BYTES_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "q is longer than %d bytes", WORDS_BYTES_MAX);
    }
    size_t size = 0;
    FILE *out = open_memstream(&l->words, &size);
    if (!out) {
        return reel_fail_memory(err);
    }
    unsigned n = 0;
    for (const char *at = l->q->words; *at && n <= WORDS_MAX;) {
        size_t length = strcspn(at, " \t\r\n");
        if (has_letters(at, length)) {
            n++;
            fputs(" \"", out);
            for (size_t i = 0; i < length; i++) {
                fputs(at[i] == '"' ? "\"\"" : (char[]){at[i], '\0'}, out);
            }
            fputs("\"*", out);
        }
        at += length + strspn(at + length, " \t\r\n");
    }
    fclose(out);
    return n <= WORDS_MAX || reel_fail(err, REEL_ARGUMENT, "q has more than %d words", WORDS_MAX);
}

static bool write_globs(const char *const *globs, uint32_t n, char **out, struct reel_error *err) {
    if (n == 0) {
        return true;
    }
    if (n > GLOBS_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "more than %d topics or types", GLOBS_MAX);
    }
    json_t *array = json_array();
    for (uint32_t i = 0; i < n; i++) {
        if (json_array_append_new(array, json_string(globs[i])) != 0) { /* also what is no UTF-8 */
            json_decref(array);
            return reel_fail(err, REEL_ARGUMENT, "a topic or type that is not UTF-8");
        }
    }
    *out = json_dumps(array, JSON_COMPACT);
    json_decref(array);
    return *out || reel_fail_memory(err);
}

/* A cursor is sort, row and key of the last item, a line each, as hex. */
static char *write_cursor(const struct list *l, int64_t row, const char *key) {
    char text[CURSOR_BYTES_MAX];
    int size = snprintf(text, sizeof text, "%s\n%lld\n%s", l->sort, (long long)row, key);
    char *out = malloc(2 * sizeof text + 1);
    for (int i = 0; out && i < size && i < (int)sizeof text - 1; i++) {
        snprintf(out + 2 * i, 3, "%02x", (unsigned char)text[i]);
    }
    return out;
}

static bool read_cursor(struct list *l, struct reel_error *err) {
    const char *hex = l->q->cursor;
    if (!hex) {
        return true;
    }
    size_t size = strlen(hex) / 2;
    bool ok = size < CURSOR_BYTES_MAX && strlen(hex) % 2 == 0 && strspn(hex, "0123456789abcdef") == strlen(hex);
    if (ok && !(l->cursor = calloc(1, size + 1))) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; ok && i < size; i++) {
        l->cursor[i] = (char)strtoul((char[]){hex[2 * i], hex[2 * i + 1], '\0'}, NULL, 16);
    }
    char *row = ok ? strchr(l->cursor, '\n') : NULL, *key = row ? strchr(row + 1, '\n') : NULL;
    if (!key) {
        return reel_fail(err, REEL_ARGUMENT, "cursor is not one of ours; take it from the page before");
    }
    *row = *key = '\0';
    if (strcmp(l->cursor, l->sort) != 0) {
        return reel_fail(err, REEL_ARGUMENT, "cursor belongs to another sort");
    }
    l->after_row = strtoll(row + 1, NULL, 10);
    l->after_key = key + 1;
    return true;
}

/* ---- the way in */

static bool is_few(struct db_statement *s, bool *few, struct reel_error *err) {
    db_set_int(s, ":limit", LIST_FEW + 1);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    *few = db_int(s, 0) <= LIST_FEW;
    return true;
}

static bool try_label(struct db_handle *h, struct list *l, int kind, const char *const *globs, uint32_t n, struct reel_error *err) {
    for (uint32_t i = 0; i < n && l->form.way == LIST_WALK; i++) {
        AUTO(db_done) struct db_statement *s = db_statement(h, "few_label", err);
        bool few;
        if (!s) {
            return false;
        }
        db_set_int(s, ":kind", kind);
        db_set_text(s, ":glob", globs[i]);
        if (!is_few(s, &few, err)) {
            return false;
        }
        if (few) {
            l->form.way = LIST_LABEL;
            l->few_kind = kind;
            l->few_glob = globs[i];
        }
    }
    return true;
}

static bool try_filter(struct db_handle *h, struct list *l, enum list_way way, const char *statement, bool present,
                       struct reel_error *err) {
    if (!present || l->form.way != LIST_WALK) {
        return true;
    }
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    bool few;
    if (!s) {
        return false;
    }
    db_set_text(s, ":collection", l->q->collection);
    db_set_text(s, ":format", l->q->format);
    db_set_int(s, ":state", l->q->state);
    db_set_text(s, ":words", l->words);
    if (!is_few(s, &few, err)) {
        return false;
    }
    l->form.way = few ? way : LIST_WALK;
    return true;
}

static bool choose_way(struct db_handle *h, struct list *l, struct reel_error *err) {
    const struct catalog_query *q = l->q;
    bool in_order = strcmp(l->form.column, "row") == 0;
    if (!try_filter(h, l, LIST_COLLECTION, "few_collection", q->collection, err) || !try_label(h, l, 0, q->topics, q->n_topics, err) ||
        !try_label(h, l, 1, q->types, q->n_types, err) || !try_filter(h, l, LIST_STATE, "few_state", q->has_state, err) ||
        !try_filter(h, l, LIST_DAMAGED, "few_damaged", q->damaged_only, err) ||
        !try_filter(h, l, LIST_FORMAT, "few_format", q->format, err) ||
        !try_filter(h, l, LIST_WORDS, "few_words", l->words && !in_order, err)) {
        return false;
    }
    if (l->form.way == LIST_WALK && q->has_state && q->state == STATE_TRASHED) {
        l->form.way = LIST_STATE; /* what lies in the trash is in no index of a sort */
    } else if (l->form.way == LIST_WALK && l->words && in_order) {
        l->form.way = LIST_STREAM;
    }
    return true;
}

/* ---- answering */

static void bind_start(struct db_statement *s, const struct list *l) {
    bool is_name = strcmp(l->form.column, "name") == 0, down = l->form.descending;
    int64_t edge = down ? INT64_MAX : INT64_MIN;
    db_set_int(s, ":row", l->after_key ? l->after_row : edge);
    if (!is_name) {
        db_set_int(s, ":key", l->after_key ? strtoll(l->after_key, NULL, 10) : edge);
    } else if (l->after_key || !down) {
        db_set_text(s, ":key", l->after_key ? l->after_key : "");
    } else {
        db_set_blob(s, ":key", "", 0); /* SQLite sorts every blob behind every text */
    }
}

static struct db_statement *ask(struct db_handle *h, struct list *l, bool counting, struct reel_error *err) {
    l->form.counting = counting;
    struct catalog_query q = *l->q;
    q.words = l->words;
    AUTO_MEM char *sql = list_sql(&q, &l->form);
    AUTO(db_done) struct db_statement *s = sql ? db_compose(h, sql, err) : NULL;
    if (!s) {
        if (!sql) {
            reel_fail_memory(err);
        }
        return NULL;
    }
    bind_start(s, l);
    db_set_text(s, ":words", l->words);
    db_set_text(s, ":collection", q.collection);
    db_set_text(s, ":format", q.format);
    db_set_int(s, ":state", q.state);
    db_set_int(s, ":start", q.start_ns);
    db_set_int(s, ":end", q.end_ns);
    db_set_text(s, ":topics", l->topics);
    db_set_text(s, ":types", l->types);
    db_set_int(s, ":kind", l->few_kind);
    db_set_text(s, ":glob", l->few_glob);
    db_set_size(s, ":offset", q.offset);
    return TAKE(s);
}

static uint32_t page_size(const struct catalog_query *q) {
    return q->limit < 1 ? 1 : q->limit > PAGE_MAX ? PAGE_MAX : q->limit;
}

static bool read_page(struct db_handle *h, struct list *l, struct catalog_page *out, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = ask(h, l, false, err);
    uint32_t limit = page_size(l->q);
    out->items = calloc(limit, sizeof *out->items);
    if (!s || !out->items) {
        return s ? reel_fail_memory(err) : false;
    }
    db_set_int(s, ":limit", (int64_t)limit + 1);
    AUTO_MEM char *key = NULL; /* of the last item on the page */
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && out->n_items < limit) {
        int64_t row = db_int(s, 0);
        free(key);
        key = strdup(db_text(s, 1));
        if (!key || !catalog_load(h, row, &out->items[out->n_items], err)) {
            return key ? false : reel_fail_memory(err);
        }
        out->n_items++;
    }
    if (step == DB_ROW) { /* there is one more */
        out->next = write_cursor(l, out->items[out->n_items - 1].row, key);
        return out->next || reel_fail_memory(err);
    }
    return step == DB_END;
}

static bool read_total(struct db_handle *h, struct list *l, struct catalog_page *out, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = ask(h, l, true, err);
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    out->total = db_size(s, 0);
    return true;
}

static bool answer(struct catalog *c, struct list *l, struct catalog_page *out, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    return h && choose_way(h, l, err) && read_page(h, l, out, err) && (!l->q->count || read_total(h, l, out, err));
}

bool catalog_list(struct catalog *c, const struct catalog_query *q, struct catalog_page *out, struct reel_error *err) {
    *out = (struct catalog_page){0};
    struct list l = {.q = q};
    bool ok = parse_sort(&l, err) && read_cursor(&l, err) && quote_words(&l, err) && write_globs(q->topics, q->n_topics, &l.topics, err) &&
              write_globs(q->types, q->n_types, &l.types, err);
    if (ok && l.words && !l.words[0]) { /* nothing but punctuation */
        free(TAKE(l.words));
    }
    ok = ok && answer(c, &l, out, err);
    if (!ok) {
        catalog_page_done(out);
    }
    list_done(&l);
    return ok;
}

void catalog_page_done(struct catalog_page *page) {
    for (uint32_t i = 0; i < page->n_items; i++) {
        catalog_recording_done(&page->items[i]);
    }
    free(page->items);
    free(page->next);
    *page = (struct catalog_page){0};
}
