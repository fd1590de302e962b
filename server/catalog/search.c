/* See search.h. One pass over the line, left to right; each error names the character at which it was noticed. */
#include "catalog/search.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "catalog/catalog.h"

struct reader {
    const char *q, *at;
    struct search *out;
    char *free; /* of out->memory */
    unsigned depth;
    struct reel_error *err;
};

const char *const search_keys[] = {"topic",   "type", "format",  "collection", "state",    "group",
                                   "damaged", "size", "created", "duration",   "messages", NULL};
static const enum search_kind key_kinds[] = {SEARCH_TOPIC,   SEARCH_TYPE,     SEARCH_FORMAT,  SEARCH_COLLECTION,
                                             SEARCH_STATE,   SEARCH_GROUP,    SEARCH_DAMAGED, SEARCH_SIZE,
                                             SEARCH_CREATED, SEARCH_DURATION, SEARCH_MESSAGES};

bool search_fail(const char *q, uint32_t at, struct reel_error *err, const char *format, ...) {
    char what[sizeof err->text];
    unsigned long n = 1; /* in characters, as users count */
    for (uint32_t i = 0; i < at; i++) {
        n += ((unsigned char)q[i] & 0xc0) != 0x80;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return reel_fail(err, REEL_ARGUMENT, "q, character %lu: %s", n, what);
}

static bool search_fail_at(struct reader *r, const char *at, const char *what) {
    return search_fail(r->q, (uint32_t)(at - r->q), r->err, "%s", what);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Inside parentheses ")" ends a term, unless the term has opened it: (run(1) or x). */
static bool is_end(const struct reader *r, char c) {
    return c == '\0' || is_blank(c) || (c == ')' && r->depth > 0);
}

static size_t term_size(const struct reader *r, const char *at, const char *stops) {
    unsigned open = 0;
    size_t size = 0;
    for (; at[size] && !is_blank(at[size]) && !strchr(stops, at[size]); size++) {
        if (at[size] == ')' && open == 0 && r->depth > 0) {
            break;
        }
        open += at[size] == '(';
        open -= at[size] == ')' && open > 0;
    }
    return size;
}

/* Without one there is nothing to search for. */
static bool has_letters(const char *word) {
    for (; *word; word++) {
        unsigned char c = (unsigned char)*word;
        if (c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z')) {
            return true;
        }
    }
    return false;
}

static char *search_keep(struct reader *r, const char *text, size_t size) {
    char *kept = r->free;
    memcpy(kept, text, size);
    kept[size] = '\0';
    r->free += size + 1;
    return kept;
}

/* What stands in quotes, from the first on; `at` goes behind the last. */
static bool read_quoted(struct reader *r, const char **text) {
    const char *start = r->at++;
    char *out = r->free;
    *text = out;
    for (; *r->at && *r->at != '"'; r->at++) {
        if (*r->at == '\\' && (r->at[1] == '"' || r->at[1] == '\\')) {
            r->at++;
        }
        *out++ = *r->at;
    }
    if (!*r->at) {
        return search_fail_at(r, start, "this quote is not closed");
    }
    r->at++;
    *out++ = '\0';
    r->free = out;
    return true;
}

/* A new last child. NULL: reported. */
static struct search_node *search_add_node(struct reader *r, struct search_node *parent, enum search_kind kind,
                                           const char *at) {
    struct search *s = r->out;
    if (s->n_nodes == SEARCH_NODES_MAX) {
        search_fail_at(r, at, "too many terms");
        return NULL;
    }
    uint32_t *link = &parent->first;
    while (*link) {
        link = &s->nodes[*link].next;
    }
    *link = s->n_nodes;
    struct search_node *node = &s->nodes[s->n_nodes++];
    *node = (struct search_node){.kind = kind, .at = (uint32_t)(at - r->q)};
    return node;
}

static bool add_value(struct reader *r, struct search_node *t, struct search_value value, const char *at) {
    if (r->out->n_values == SEARCH_VALUES_MAX) {
        return search_fail_at(r, at, "too many values");
    }
    t->values = t->n_values == 0 ? &r->out->values[r->out->n_values] : t->values;
    r->out->values[r->out->n_values++] = value;
    t->n_values++;
    return true;
}

static bool add_word(struct reader *r, struct search_node *parent, const char *at, const char *text, bool negated,
                     bool phrase) {
    if (!has_letters(text)) {
        return true;
    }
    struct search_node *t = search_add_node(r, parent, SEARCH_WORD, at);
    if (!t || !add_value(r, t, (struct search_value){.text = text, .exact = phrase}, at)) {
        return false;
    }
    t->negated = negated;
    t->has_range = !phrase && search_date(text, &t->min, &t->max);
    return true;
}

/* ---- key:values */

static bool check_value(struct reader *r, const struct search_node *t, const char *at, const char *text) {
    enum recording_state state;
    if (t->kind == SEARCH_STATE && strcmp(text, "*") != 0 && !recording_state_parse(text, &state)) {
        return search_fail_at(r, at, "a state is scanning, ready, failed, missing, changed or trashed");
    }
    if (t->kind == SEARCH_DAMAGED && strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
        return search_fail_at(r, at, "damaged is true or false");
    }
    if (t->kind == SEARCH_GROUP && t->n_values > 0 && !t->values[t->n_values - 1].exact && strpbrk(text, "*?")) {
        return search_fail_at(r, at,
                              "a group is named whole, without * and ?; in quotes they are characters of its name");
    }
    return true;
}

/* One value, `prefix` put before it. */
static bool search_read_value(struct reader *r, struct search_node *t, const char *prefix, size_t prefix_size) {
    const char *start = r->at, *text;
    char *begin = r->free;
    memcpy(begin, prefix, prefix_size);
    r->free += prefix_size;
    bool exact = *r->at == '"';
    if (exact) {
        if (!read_quoted(r, &text)) {
            return false;
        }
        if (!is_end(r, *r->at) && *r->at != ',') {
            return search_fail_at(r, r->at, "a quoted value must be followed by a space or a comma");
        }
    } else {
        size_t size = term_size(r, r->at, ",");
        if (size == 0) {
            return search_fail_at(r, r->at, "a value is missing; an empty one is \"\"");
        }
        text = search_keep(r, r->at, size);
        r->at += size;
    }
    return add_value(r, t, (struct search_value){.text = begin, .exact = exact}, start) &&
           check_value(r, t, start, text);
}

static bool read_values(struct reader *r, struct search_node *t, const char *prefix, size_t prefix_size) {
    for (;;) {
        if (!search_read_value(r, t, prefix, prefix_size)) {
            return false;
        }
        if (*r->at != ',') {
            return true;
        }
        r->at++;
    }
}

static bool read_range(struct reader *r, struct search_node *t) {
    const char *start = r->at;
    size_t size = term_size(r, r->at, "");
    struct reel_error why = {0};
    const char *text = search_keep(r, r->at, size);
    r->at += size;
    t->has_range = search_range(t->kind, text, &t->min, &t->max, &why);
    return t->has_range || search_fail_at(r, start, why.text);
}

/* meta."KEY":value */
static bool read_quoted_meta(struct reader *r, struct search_node *t) {
    const char *key;
    if (!read_quoted(r, &key)) {
        return false;
    }
    if (*r->at++ != ':') {
        return search_fail_at(r, r->at - 1, "this is written meta.\"KEY\":value");
    }
    r->free[-1] = ':'; /* instead of the end of the key, which goes on with the value */
    return read_values(r, t, key, (size_t)(r->free - key));
}

/* meta.KEY:value, where KEY may have colons of its own: the last one before the value ends it, or the one before a
 * quote. */
static bool read_meta(struct reader *r, struct search_node *parent, bool negated) {
    struct search_node *t = search_add_node(r, parent, SEARCH_META, r->at);
    if (!t) {
        return false;
    }
    t->negated = negated;
    r->at += strlen("meta.");
    if (*r->at == '"') {
        return read_quoted_meta(r, t);
    }
    size_t size = term_size(r, r->at, ",\"");
    while (size > 0 && r->at[size - 1] != ':') {
        size--;
    }
    if (size <= 1) {
        return search_fail_at(r, r->at, "this is written meta.KEY:value");
    }
    const char *prefix = search_keep(r, r->at, size);
    r->at += size;
    return read_values(r, t, prefix, size);
}

static bool search_read_pair(struct reader *r, struct search_node *parent, const char *at, struct search_value key,
                             bool negated) {
    struct search_node *t = search_add_node(r, parent, SEARCH_TAG, at);
    if (!t) {
        return false;
    }
    t->negated = negated;
    t->key = key;
    for (size_t i = 0; search_keys[i] && !key.exact; i++) {
        if (strcmp(search_keys[i], key.text) == 0) {
            t->kind = key_kinds[i];
        }
    }
    return t->kind >= SEARCH_SIZE ? read_range(r, t) : read_values(r, t, "", 0);
}

/* ---- the line */

static bool read_phrase(struct reader *r, struct search_node *parent, bool negated) {
    const char *start = r->at, *text;
    if (!read_quoted(r, &text)) {
        return false;
    }
    if (*r->at == ':') {
        r->at++;
        return search_read_pair(r, parent, start, (struct search_value){.text = text, .exact = true}, negated);
    }
    if (!is_end(r, *r->at)) {
        return search_fail_at(r, r->at, "a quoted phrase must be followed by a space");
    }
    return add_word(r, parent, start, text, negated, true);
}

static bool read_any(struct reader *r, struct search_node *parent);

static bool read_group(struct reader *r, struct search_node *parent, bool negated) {
    const char *start = r->at++;
    if (r->depth == SEARCH_DEPTH_MAX) {
        return search_fail_at(r, start, "too many parentheses within each other");
    }
    struct search_node *group = search_add_node(r, parent, SEARCH_ALL, start);
    if (!group) {
        return false;
    }
    group->negated = negated;
    r->depth++;
    if (!read_any(r, group)) {
        return false;
    }
    r->depth--;
    return *r->at++ == ')' ||
           (r->at--, search_fail_at(r, start, "this parenthesis is not closed; in quotes it is a character"));
}

static bool read_term(struct reader *r, struct search_node *parent) {
    bool negated = *r->at == '-' && !is_end(r, r->at[1]);
    r->at += negated;
    if (*r->at == '"') {
        return read_phrase(r, parent, negated);
    }
    if (*r->at == '(') {
        return read_group(r, parent, negated);
    }
    const char *start = r->at;
    size_t size = term_size(r, start, ""), key = term_size(r, start, ":\"");
    if (strncmp(start, "meta.\"", 6) == 0 || (start[key] == ':' && strncmp(start, "meta.", 5) == 0)) {
        return read_meta(r, parent, negated);
    }
    if (start[key] != ':') {
        r->at += size;
        return add_word(r, parent, start, search_keep(r, start, size), negated, false);
    }
    if (key == 0) {
        return search_fail_at(r, start, "a key is missing before the colon");
    }
    const char *name = search_keep(r, start, key);
    r->at += key + 1;
    return search_read_pair(r, parent, start, (struct search_value){.text = name}, negated);
}

static void search_skip_blanks(struct reader *r) {
    while (is_blank(*r->at)) {
        r->at++;
    }
}

/* "or", "OR" or "|": its size, 0 for anything else. */
static size_t or_size(const struct reader *r) {
    size_t size = *r->at == '|' ? 1 : ascii_ncasecmp(r->at, "or", 2) == 0 ? 2 : 0;
    return size > 0 && (is_end(r, r->at[size]) || r->at[size] == '(') ? size : 0;
}

/* Terms up to "or", ")" or the end. */
static bool read_all(struct reader *r, struct search_node *parent) {
    const char *start = r->at;
    for (search_skip_blanks(r); *r->at && !(*r->at == ')' && r->depth > 0) && !or_size(r); search_skip_blanks(r)) {
        if (*r->at == ')') {
            return search_fail_at(r, r->at, "this parenthesis closes nothing; in quotes it is a character");
        }
        if (!read_term(r, parent)) {
            return false;
        }
    }
    bool empty = !*r->at && r->at == r->q + strspn(r->q, " \t\r\n"); /* the whole line: it finds everything */
    return r->at > start + strspn(start, " \t\r\n") || empty ||
           search_fail_at(r, r->at, "a term is missing; in quotes, \"or\" and parentheses are text");
}

/* Alternatives become children of an own node, each a SEARCH_ALL; a single one stays in `parent`. */
static bool read_any(struct reader *r, struct search_node *parent) {
    struct search_node *all = search_add_node(r, parent, SEARCH_ALL, r->at), *any = all;
    if (!all || !read_all(r, all)) {
        return false;
    }
    if (or_size(r)) {
        parent->kind = SEARCH_ANY;
    }
    while (or_size(r)) {
        r->at += or_size(r);
        any = search_add_node(r, parent, SEARCH_ALL, r->at);
        if (!any || !read_all(r, any)) {
            return false;
        }
    }
    return true;
}

bool search_parse(const char *q, struct search *out, struct reel_error *err) {
    out->q = q;
    out->n_nodes = 1;
    out->n_values = 0;
    out->memory = NULL;
    out->nodes[0] = (struct search_node){.kind = SEARCH_ALL};
    size_t size = strlen(q), copies = 2;
    if (size > SEARCH_BYTES_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "q is longer than %d bytes", SEARCH_BYTES_MAX);
    }
    for (const char *c = q; *c && copies < SEARCH_VALUES_MAX + 2; c++) {
        copies += *c == ','; /* each may be a value that the key is put before */
    }
    struct reader r = {.q = q, .at = q, .out = out, .err = err};
    out->memory = r.free = malloc((size + 2) * 2 * copies);
    return out->memory ? read_any(&r, &out->nodes[0]) : reel_fail_memory(err);
}

void search_done(struct search *search) {
    free(search->memory);
    search->memory = NULL;
}
