/* See list_terms.h. */
#include "catalog/list_terms.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/suggest.h"
#include "catalog/list_names.h"
#include "index/format.h"
#include "json_whole.h"
#include "stream/stream.h"

static bool is_glob(const struct search_value *v) {
    return !v->exact && strpbrk(v->text, "*?");
}

/* ---- sets of names */

static void add_once(json_t *names, const char *name) {
    size_t i;
    json_t *there;
    json_array_foreach(names, i, there) {
        if (strcmp(json_string_value(there), name) == 0) {
            return;
        }
    }
    json_array_append_new(names, json_string(name));
}

/* ": did you mean a, b?" of the names nearest to `text`, or "". Written to `out` and returned. */
static const char *suggestion(const char *text, const json_t *names, char *out, size_t size) {
    struct suggestions suggestions = {0};
    json_t *name;
    size_t i;
    json_array_foreach((json_t *)names, i, name) {
        suggest_add(&suggestions, text, json_string_value(name));
    }
    suggest_text(&suggestions, ": did you mean ", out, size);
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s", suggestions.n > 0 ? "?" : "");
    return out;
}

/* All that this program reads, and all that the catalog has. */
static bool all_formats(struct db_handle *h, json_t *names, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "formats_list", err);
    for (size_t i = 0; reel_formats[i]; i++) {
        json_array_append_new(names, json_string(reel_formats[i]->name));
    }
    enum db_step step = s ? db_next(s, err) : DB_FAILED;
    for (; step == DB_ROW; step = db_next(s, err)) {
        add_once(names, db_text(s, 0));
    }
    return step == DB_END;
}

bool list_find_formats(struct db_handle *h, const char *name, bool glob, json_t *names, struct reel_error *err) {
    json_auto_t *all = json_array();
    json_t *one;
    size_t i, n = strlen(name), found = json_array_size(names);
    if (!all_formats(h, all, err)) {
        return false;
    }
    json_array_foreach(all, i, one) {
        const char *format = json_string_value(one);
        bool family = strncmp(format, name, n) == 0 && (format[n] == '\0' || format[n] == '-');
        if (glob ? reel_glob_match(name, format) : family) {
            add_once(names, format);
        }
    }
    if (*name == '\0') { /* not known yet */
        add_once(names, "");
    }
    char meant[200];
    return json_array_size(names) > found || reel_fail(err, REEL_ARGUMENT, "there is no format \"%.60s\"%s", name,
                                                       suggestion(name, all, meant, sizeof meant));
}

static bool find_collections(struct db_handle *h, const char *glob, json_t *names, struct reel_error *err) {
    const char *const globs[] = {glob, NULL};
    AUTO_MEM char *text = NULL;
    if (!catalog_allowed(h, globs, &text, err)) {
        return false;
    }
    json_auto_t *found = json_loads(text, 0, NULL);
    json_array_extend(names, found);
    return true;
}

static void add_states(const char *text, json_t *states) {
    enum recording_state state;
    for (int i = STATE_SCANNING; i <= STATE_ANNOUNCED && strcmp(text, "*") == 0; i++) {
        json_array_append_new(states, json_integer(i));
    }
    if (recording_state_parse(text, &state)) {
        json_array_append_new(states, json_integer(state));
    }
}

static bool find_values(struct db_handle *h, const struct search_node *t, const struct search_value *v, json_t *values,
                        struct reel_error *err) {
    switch (t->kind) {
    case SEARCH_STATE:
        add_states(v->text, values);
        return true;
    case SEARCH_FORMAT:
        return list_find_formats(h, v->text, is_glob(v), values, err);
    case SEARCH_DAMAGED:
        json_array_append_new(values, json_integer(strcmp(v->text, "true") == 0));
        return true;
    default:
        return is_glob(v) && t->kind == SEARCH_COLLECTION
                   ? find_collections(h, v->text, values, err)
                   : json_array_append_new(values, json_string(v->text)) == 0 ||
                         reel_fail(err, REEL_ARGUMENT, "a name that is not UTF-8");
    }
}

static bool has_trash(const json_t *states) {
    size_t i;
    json_t *state;
    json_array_foreach((json_t *)states, i, state) {
        if (json_integer_value(state) == STATE_TRASHED) {
            return true;
        }
    }
    return false;
}

static bool add_set(struct db_handle *h, struct list_query *query, uint32_t parent, const struct search_node *t,
                    struct reel_error *err) {
    static const char *const columns[] = {[SEARCH_FORMAT] = "format",
                                          [SEARCH_COLLECTION] = "collection",
                                          [SEARCH_STATE] = "state",
                                          [SEARCH_GROUP] = "group_name",
                                          [SEARCH_DAMAGED] = "damaged"};
    json_auto_t *values = json_array();
    for (uint32_t i = 0; i < t->n_values; i++) {
        struct reel_error why = {0};
        if (!find_values(h, t, &t->values[i], values, &why)) {
            return why.code == REEL_ARGUMENT ? search_fail(query->q, t->at, err, "%s", why.text)
                                             : reel_error_pass(err, &why);
        }
    }
    struct condition *c = list_add(query, parent, CONDITION_SET, err);
    if (!c) {
        return false;
    }
    c->column = columns[t->kind];
    c->negated = t->negated;
    c->has_trash = t->kind == SEARCH_STATE && has_trash(values);
    c->text = json_whole_text(values, JSON_COMPACT);
    return c->text || reel_fail_memory(err);
}

/* ---- labels and tags */

static bool add_labels(struct db_handle *h, struct list_query *query, uint32_t parent, const struct search_node *t,
                       struct reel_error *err) {
    enum label_kind kind = t->kind == SEARCH_TOPIC ? KIND_TOPIC : t->kind == SEARCH_TYPE ? KIND_TYPE : KIND_META;
    struct list_ids ids;
    bool good = list_ids_open(&ids, err);
    for (uint32_t i = 0; i < t->n_values && good; i++) {
        good = list_add_labels(
            h, query, kind, (struct list_matcher){.text = t->values[i].text, .exact = t->values[i].exact}, &ids, err);
    }
    return list_ids_close(&ids, good, query, parent, CONDITION_LABELS,
                          kind == KIND_META ? "metadata_labels" : "channel_labels", t->negated, err);
}

bool list_add_tag_values(struct db_handle *h, struct list_query *query, uint32_t parent, const struct search_value *key,
                         const struct search_value *values, uint32_t n, bool negated, struct reel_error *err) {
    const struct list_matcher by_key = {.text = key->text, .exact = key->exact};
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        any = any || (!values[i].exact && strcmp(values[i].text, "*") == 0);
    }
    struct list_ids ids;
    bool good = list_ids_open(&ids, err);
    if (any) {
        good = good && list_add_tags(h, query, &by_key, NULL, &ids, err);
    }
    for (uint32_t i = 0; i < n && good && !any; i++) {
        good = list_add_tags(h, query, &by_key,
                             &(struct list_matcher){.text = values[i].text, .exact = values[i].exact}, &ids, err);
    }
    return list_ids_close(&ids, good, query, parent, CONDITION_TAGS, any ? "key" : "value", negated, err);
}

/* Names of keys of terms, and of tags. A caller who is limited to some collections is not told about tags, which others
 * may have. */
static bool all_keys(struct db_handle *h, const struct list_query *query, json_t *names, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "tag_keys_between", err);
    for (size_t i = 0; search_keys[i]; i++) {
        json_array_append_new(names, json_string(search_keys[i]));
    }
    if (!s || query->limited) {
        return s;
    }
    db_set_text(s, ":from", "");
    db_set_text(s, ":end", "\xf4\x8f\xbf\xbf");
    enum db_step step = DB_END;
    for (uint32_t n = 0; n < 1000 && (step = db_next(s, err)) == DB_ROW; n++) {
        json_array_append_new(names, json_string(db_text(s, 1)));
    }
    return step != DB_FAILED;
}

static bool is_time(const char *key) {
    static const char *const times[] = {"start", "end", "date", "day", "time"};
    bool is = false;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        is = is || strcmp(key, times[i]) == 0;
    }
    return is;
}

/* A key that is no tag's is a mistake, unless it is quoted. */
static bool check_key(struct db_handle *h, const struct list_query *query, const struct search_node *t,
                      struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "tag_keys_between", err);
    if (!s || t->key.exact || strpbrk(t->key.text, "*?") || query->limited) {
        return s;
    }
    db_set_text(s, ":from", t->key.text);
    db_set_text(s, ":end", t->key.text);
    enum db_step step = db_next(s, err);
    if (step != DB_END) {
        return step == DB_ROW;
    }
    db_done(TAKE(s));
    if (is_time(t->key.text)) {
        return search_fail(query->q, t->at, err,
                           "there is no key and no tag \"%.60s\": a day or month is written alone, as 2026-05-01, and "
                           "other times are the parameters start and end",
                           t->key.text);
    }
    json_auto_t *names = json_array();
    char meant[200];
    return all_keys(h, query, names, err) &&
           search_fail(query->q, t->at, err, "there is no key and no tag \"%.60s\"%s", t->key.text,
                       suggestion(t->key.text, names, meant, sizeof meant));
}

/* ---- text */

static char *needle(struct db_handle *h, const char *word, bool phrase, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "search_needle", err);
    if (!s) {
        return NULL;
    }
    db_set_text(s, ":word", word);
    db_set_int(s, ":phrase", phrase);
    char *text = db_next(s, err) == DB_ROW ? strdup(db_text(s, 0)) : NULL;
    if (!text) {
        reel_fail_memory(err);
    }
    return text;
}

/* The kinds of the labels that have a text; all, where there are many labels. */
static bool find_kinds(struct db_handle *h, const char *match, unsigned *kinds, struct reel_error *err) {
    enum { READ_MAX = 1000 };
    AUTO(db_done) struct db_statement *s = db_statement(h, "label_search_kinds", err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":match", match);
    db_set_int(s, ":limit", READ_MAX);
    enum db_step step;
    unsigned n = 0;
    for (*kinds = 0; (step = db_next(s, err)) == DB_ROW; n++) {
        *kinds |= 1u << db_int(s, 0);
    }
    *kinds = n < READ_MAX ? *kinds : KINDS_ALL;
    return step != DB_FAILED;
}

/* Every third of the trigrams, and the last one: the index compares the places of all trigrams of a text, which takes
 * most of its time. NULL: there is one trigram only, the text is very long,
 * or there is no memory. */
static char *write_maybe(const char *text) {
    enum { TERMS = 4, TERM = 20, CHARACTERS = 64 };
    const char *starts[CHARACTERS + 1];
    size_t n = 0, written = 0;
    for (const char *at = text; *at && n < CHARACTERS; at++) {
        if (((unsigned char)*at & 0xc0) != 0x80) {
            starts[n++] = at;
        }
    }
    starts[n] = text + strlen(text);
    char *out = n > 3 && n < CHARACTERS ? malloc(TERMS * TERM + 1) : NULL;
    for (size_t i = 0, k = 0; out && k < TERMS && i + 3 <= n; k++) {
        written +=
            (size_t)sprintf(out + written, "%s\"%.*s\"", k ? " " : "", (int)(starts[i + 3] - starts[i]), starts[i]);
        i = i + 3 == n ? n : i + 6 <= n && k + 2 < TERMS ? i + 3 : n - 3;
    }
    return out;
}

static bool list_terms_add_text(struct db_handle *h, struct list_query *query, uint32_t parent,
                                const struct search_value *v, struct reel_error *err) {
    AUTO_MEM char *text = needle(h, v->text, v->exact, err);
    if (!text || !*text) {
        return text; /* there is nothing to search for */
    }
    struct condition *c = list_add(query, parent, CONDITION_TEXT, err);
    if (!c) {
        return false;
    }
    c->text = TAKE(text);
    c->maybe = query->postgres ? NULL : write_maybe(c->text);
    return asprintf(&c->match, query->postgres ? "%%%s%%" : "\"%s\"", c->text) > 0 /* words are letters and digits */
               ? find_kinds(h, c->match, &c->kinds, err)
               : reel_fail_memory(err);
}

/* A date is also that of a recording. */
static bool add_word(struct db_handle *h, struct list_query *query, uint32_t parent, const struct search_node *t,
                     struct reel_error *err) {
    if (t->has_range) {
        uint32_t any = query->n;
        return list_add(query, parent, CONDITION_ANY, err) && list_terms_add_text(h, query, any, &t->values[0], err) &&
               list_add_span(query, any, t->min, t->max + 1, err) &&
               (query->conditions[any].negated = t->negated, true);
    }
    uint32_t before = query->n;
    bool good = list_terms_add_text(h, query, parent, &t->values[0], err);
    if (good && query->n > before) {
        query->conditions[before].negated = t->negated;
    }
    return good;
}

/* ---- the tree */

static bool list_terms_add_node(struct db_handle *h, struct list_query *query, uint32_t parent,
                                const struct search *search, uint32_t i, struct reel_error *err);

static bool add_group(struct db_handle *h, struct list_query *query, uint32_t parent, const struct search *search,
                      const struct search_node *t, struct reel_error *err) {
    bool own = t->negated || t->kind == SEARCH_ANY || query->conditions[parent].kind == CONDITION_ANY;
    uint32_t group = own ? query->n : parent;
    if (own) {
        struct condition *c = list_add(query, parent, t->kind == SEARCH_ANY ? CONDITION_ANY : CONDITION_ALL, err);
        if (!c) {
            return false;
        }
        c->negated = t->negated;
    }
    bool good = true;
    for (uint32_t k = t->first; k && good; k = search->nodes[k].next) {
        good = list_terms_add_node(h, query, group, search, k, err);
    }
    return good;
}

static bool list_terms_add_node(struct db_handle *h, struct list_query *query, uint32_t parent,
                                const struct search *search, uint32_t i, struct reel_error *err) {
    static const char *const columns[] = {[SEARCH_SIZE] = "size",
                                          [SEARCH_DURATION] = "duration_ns",
                                          [SEARCH_MESSAGES] = "messages",
                                          [SEARCH_CREATED] = "created_ns"};
    const struct search_node *t = &search->nodes[i];
    switch (t->kind) {
    case SEARCH_ALL:
    case SEARCH_ANY:
        return add_group(h, query, parent, search, t, err);
    case SEARCH_WORD:
        return add_word(h, query, parent, t, err);
    case SEARCH_TOPIC:
    case SEARCH_TYPE:
    case SEARCH_META:
        return add_labels(h, query, parent, t, err);
    case SEARCH_TAG:
        return check_key(h, query, t, err) &&
               list_add_tag_values(h, query, parent, &t->key, t->values, t->n_values, t->negated, err);
    case SEARCH_SIZE:
    case SEARCH_DURATION:
    case SEARCH_MESSAGES:
    case SEARCH_CREATED:
        return list_add_range(query, parent, columns[t->kind], t->negated, t->min, t->max, err);
    default:
        return add_set(h, query, parent, t, err);
    }
}

bool list_add_search(struct db_handle *h, struct list_query *query, const char *q, struct reel_error *err) {
    struct search search;
    query->q = q;
    bool good = search_parse(q, &search, err) && list_terms_add_node(h, query, 0, &search, 0, err);
    search_done(&search);
    return good;
}
