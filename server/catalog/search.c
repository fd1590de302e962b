/* See search.h. One pass over the line, left to right; each error names the character at which it was noticed. */
#include "catalog/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog.h"

struct reader {
    const char *q, *at;
    struct search *out;
    char *free; /* of out->memory */
    uint32_t n_values, n_words;
    FILE *words, *without;
    struct reel_error *err;
};

static const struct {
    const char *name;
    enum search_kind kind;
} reserved[] = {{"topic", SEARCH_TOPIC}, {"type", SEARCH_TYPE},   {"format", SEARCH_FORMAT},  {"collection", SEARCH_COLLECTION},
                {"state", SEARCH_STATE}, {"group", SEARCH_GROUP}, {"damaged", SEARCH_DAMAGED}};

static bool fail_at(struct reader *r, const char *at, const char *what) {
    unsigned long n = 1; /* in characters, as users count */
    for (const char *c = r->q; c < at; c++) {
        n += ((unsigned char)*c & 0xc0) != 0x80;
    }
    return reel_fail(r->err, REEL_ARGUMENT, "q, character %lu: %s", n, what);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_end(char c) {
    return c == '\0' || is_blank(c);
}

/* Without one, FTS5 has no token to search for. */
static bool has_letters(const char *word, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)word[i];
        if (c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z')) {
            return true;
        }
    }
    return false;
}

static char *keep(struct reader *r, const char *text, size_t size) {
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
        return fail_at(r, start, "this quote is not closed");
    }
    r->at++;
    *out++ = '\0';
    r->free = out;
    return true;
}

/* One for FTS5, in its quotes, which nothing can leave; a word also finds what begins with it. */
static bool add_words(struct reader *r, const char *at, const char *text, size_t size, bool negated, bool prefix) {
    if (!has_letters(text, size)) {
        return true;
    }
    if (++r->n_words > SEARCH_TERMS_MAX) {
        return fail_at(r, at, "too many words");
    }
    FILE *out = negated ? r->without : r->words;
    fputs(ftell(out) == 0 ? "\"" : negated ? " OR \"" : " \"", out);
    for (size_t i = 0; i < size; i++) {
        fputs(text[i] == '"' ? "\"\"" : (char[]){text[i], '\0'}, out);
    }
    fputs(prefix ? "\"*" : "\"", out);
    return true;
}

/* ---- key:values */

static bool check_value(struct reader *r, const struct search_term *t, const char *at, const char *text) {
    enum recording_state state;
    if (t->kind == SEARCH_STATE && strcmp(text, "*") != 0 && !recording_state_parse(text, &state)) {
        return fail_at(r, at, "a state is scanning, ready, failed, missing, changed or trashed");
    }
    if (t->kind == SEARCH_DAMAGED && strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
        return fail_at(r, at, "damaged is true or false");
    }
    return true;
}

/* One value, `prefix` put before it. */
static bool read_value(struct reader *r, struct search_term *t, const char *prefix, size_t prefix_size) {
    const char *start = r->at, *text;
    if (r->n_values == SEARCH_VALUES_MAX) {
        return fail_at(r, start, "too many values");
    }
    char *begin = r->free;
    memcpy(begin, prefix, prefix_size);
    r->free += prefix_size;
    bool exact = *r->at == '"';
    if (exact) {
        if (!read_quoted(r, &text)) {
            return false;
        }
        if (!is_end(*r->at) && *r->at != ',') {
            return fail_at(r, r->at, "a quoted value must be followed by a space or a comma");
        }
    } else {
        size_t size = strcspn(r->at, ", \t\r\n");
        if (size == 0) {
            return fail_at(r, r->at, "a value is missing; an empty one is \"\"");
        }
        text = keep(r, r->at, size);
        r->at += size;
    }
    r->out->values[r->n_values++] = (struct search_value){.text = begin, .exact = exact};
    t->n_values++;
    return check_value(r, t, start, text);
}

static bool read_values(struct reader *r, struct search_term *t, const char *prefix, size_t prefix_size) {
    t->values = &r->out->values[r->n_values];
    for (;;) {
        if (!read_value(r, t, prefix, prefix_size)) {
            return false;
        }
        if (*r->at != ',') {
            return true;
        }
        r->at++;
    }
}

static struct search_term *new_term(struct reader *r, bool negated) {
    if (r->out->n_terms == SEARCH_TERMS_MAX) {
        fail_at(r, r->at, "too many terms");
        return NULL;
    }
    struct search_term *t = &r->out->terms[r->out->n_terms++];
    *t = (struct search_term){.kind = SEARCH_TAG, .negated = negated};
    return t;
}

/* meta."KEY":value */
static bool read_quoted_meta(struct reader *r, bool negated) {
    const char *key;
    struct search_term *t = new_term(r, negated);
    if (!t || !read_quoted(r, &key)) {
        return false;
    }
    if (*r->at++ != ':') {
        return fail_at(r, r->at - 1, "this is written meta.\"KEY\":value");
    }
    t->kind = SEARCH_META;
    r->free[-1] = ':'; /* instead of the end of the key, which goes on with the value */
    return read_values(r, t, key, (size_t)(r->free - key));
}

/* meta.KEY:value, where KEY may have colons of its own: the last one before the value ends it, or the one before a quote. */
static bool read_meta(struct reader *r, bool negated) {
    r->at += strlen("meta.");
    if (*r->at == '"') {
        return read_quoted_meta(r, negated);
    }
    size_t whole = strcspn(r->at, ", \t\r\n\""), size = whole;
    while (size > 0 && r->at[size - 1] != ':') {
        size--;
    }
    struct search_term *t = size > 1 ? new_term(r, negated) : NULL;
    if (!t) {
        return size > 1 ? false : fail_at(r, r->at, "this is written meta.KEY:value");
    }
    t->kind = SEARCH_META;
    const char *prefix = keep(r, r->at, size);
    r->at += size;
    return read_values(r, t, prefix, size);
}

static bool read_pair(struct reader *r, struct search_value key, bool negated) {
    struct search_term *t = new_term(r, negated);
    if (!t) {
        return false;
    }
    t->key = key;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved && !key.exact; i++) {
        if (strcmp(reserved[i].name, key.text) == 0) {
            t->kind = reserved[i].kind;
        }
    }
    return read_values(r, t, "", 0);
}

/* ---- the line */

static bool read_phrase(struct reader *r, bool negated) {
    const char *start = r->at, *text;
    if (!read_quoted(r, &text)) {
        return false;
    }
    if (*r->at == ':') {
        r->at++;
        return read_pair(r, (struct search_value){.text = text, .exact = true}, negated);
    }
    if (!is_end(*r->at)) {
        return fail_at(r, r->at, "a quoted phrase must be followed by a space");
    }
    return add_words(r, start, text, strlen(text), negated, false);
}

static bool read_term(struct reader *r) {
    bool negated = *r->at == '-' && !is_end(r->at[1]);
    r->at += negated;
    if (*r->at == '"') {
        return read_phrase(r, negated);
    }
    size_t size = strcspn(r->at, " \t\r\n"), key = strcspn(r->at, ": \t\r\n\"");
    if (strncmp(r->at, "meta.\"", 6) == 0) {
        return read_meta(r, negated);
    }
    if (r->at[key] != ':') {
        const char *word = r->at;
        r->at += size;
        return add_words(r, word, word, size, negated, true);
    }
    if (key == 0) {
        return fail_at(r, r->at, "a key is missing before the colon");
    }
    if (strncmp(r->at, "meta.", 5) == 0) {
        return read_meta(r, negated);
    }
    const char *name = keep(r, r->at, key);
    r->at += key + 1;
    return read_pair(r, (struct search_value){.text = name}, negated);
}

static bool read_line(struct reader *r) {
    while (*r->at) {
        if (is_blank(*r->at)) {
            r->at++;
        } else if (!read_term(r)) {
            return false;
        }
    }
    return true;
}

static void drop_empty(char **text) {
    if (*text && !**text) {
        free(*text);
        *text = NULL;
    }
}

bool search_parse(const char *q, struct search *out, struct reel_error *err) {
    *out = (struct search){0};
    size_t size = strlen(q), copies = 2, n_words, n_without;
    if (size > SEARCH_BYTES_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "q is longer than %d bytes", SEARCH_BYTES_MAX);
    }
    for (const char *c = q; *c && copies < SEARCH_VALUES_MAX + 2; c++) {
        copies += *c == ','; /* each may be a value that the key is put before */
    }
    struct reader r = {.q = q, .at = q, .out = out, .err = err};
    out->memory = r.free = malloc((size + 2) * 2 * copies);
    r.words = open_memstream(&out->words, &n_words);
    r.without = open_memstream(&out->without, &n_without);
    bool good = out->memory && r.words && r.without ? read_line(&r) : reel_fail_memory(err);
    if (r.words) {
        fclose(r.words);
    }
    if (r.without) {
        fclose(r.without);
    }
    drop_empty(&out->words);
    drop_empty(&out->without);
    return good;
}

void search_done(struct search *search) {
    free(search->words);
    free(search->without);
    free(search->memory);
    *search = (struct search){0};
}
