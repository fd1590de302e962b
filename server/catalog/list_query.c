/* A query as names and ids: globs and patterns are looked up once, among the distinct names, so that SQL only compares. The lookup is
 * bounded in names and time. */
#include <stdio.h>
#include <string.h>

#include "catalog/list_names.h"
#include "catalog/search.h"
#include "reel/format.h"
#include "reel/iterate.h"
#include "reel/time.h"
#include "wire/cleanup.h"

enum { GLOBS_MAX = 64 };
static const int64_t LOOKUP_NS = 2000000000;

/* ---- sets of names */

static bool is_glob(const struct search_value *v) {
    return !v->exact && strpbrk(v->text, "*?");
}

/* As a key of an object. */
static const char *key_of(const json_t *value) {
    static const char *const numbers[] = {"0", "1", "2", "3", "4", "5"};
    return json_is_string(value) ? json_string_value(value) : numbers[json_integer_value(value) % 6];
}

/* Those of `in` that are in `other` too. Takes both. */
static json_t *intersect(json_t *in, json_t *other) {
    json_t *both = json_array(), *value;
    json_auto_t *there = json_object();
    size_t i;
    json_array_foreach(other, i, value) {
        json_object_set_new(there, key_of(value), json_true());
    }
    json_array_foreach(in, i, value) {
        if (json_object_get(there, key_of(value))) {
            json_array_append(both, value);
        }
    }
    json_decref(in);
    json_decref(other);
    return both;
}

/* Takes the values. */
static void add_set(struct list_set *set, json_t *values, bool negated) {
    if (negated) {
        set->out = set->out ? set->out : json_array();
        json_array_extend(set->out, values);
        json_decref(values);
    } else {
        set->in = set->in ? intersect(set->in, values) : values;
    }
}

/* A name, and the formats of its family: "rosbag" finds "rosbag-1.2" and "rosbag-2.0". */
static bool add_format(const char *name, json_t *names, struct reel_error *err) {
    size_t n = strlen(name);
    for (size_t i = 0; reel_formats[i]; i++) {
        const char *format = reel_formats[i]->name;
        if (strncmp(format, name, n) == 0 && format[n] == '-') {
            json_array_append_new(names, json_string(format));
        }
    }
    return json_array_append_new(names, json_string(name)) == 0 || reel_fail(err, REEL_ARGUMENT, "a name that is not UTF-8");
}

static bool add_formats(struct db_handle *h, const char *glob, json_t *names, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "formats_list", err);
    enum db_step step = s ? db_next(s, err) : DB_FAILED;
    for (; step == DB_ROW; step = db_next(s, err)) {
        if (reel_glob_match(glob, db_text(s, 0))) {
            json_array_append_new(names, json_string(db_text(s, 0)));
        }
    }
    return step == DB_END;
}

static bool add_collections(struct db_handle *h, const char *glob, json_t *names, struct reel_error *err) {
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
    for (int i = STATE_SCANNING; i <= STATE_CHANGED && strcmp(text, "*") == 0; i++) {
        json_array_append_new(states, json_integer(i));
    }
    if (recording_state_parse(text, &state)) {
        json_array_append_new(states, json_integer(state));
    }
}

static bool add_names(struct db_handle *h, struct list_query *query, const struct search_term *t, struct reel_error *err) {
    json_auto_t *names = json_array();
    for (uint32_t i = 0; i < t->n_values; i++) {
        const struct search_value *v = &t->values[i];
        bool glob = is_glob(v), good = true;
        if (t->kind == SEARCH_STATE) {
            add_states(v->text, names);
        } else if (t->kind == SEARCH_FORMAT) {
            good = glob ? add_formats(h, v->text, names, err) : add_format(v->text, names, err);
        } else if (glob && t->kind == SEARCH_COLLECTION) {
            good = add_collections(h, v->text, names, err);
        } else if (glob) {
            good = reel_fail(err, REEL_ARGUMENT, "a group is named whole, without * and ?");
        } else if (json_array_append_new(names, json_string(v->text)) != 0) {
            good = reel_fail(err, REEL_ARGUMENT, "a name that is not UTF-8");
        }
        if (!good) {
            return false;
        }
    }
    struct list_set *set = t->kind == SEARCH_STATE        ? &query->states
                           : t->kind == SEARCH_FORMAT     ? &query->formats
                           : t->kind == SEARCH_COLLECTION ? &query->collections
                                                          : &query->groups;
    add_set(set, json_incref(names), t->negated);
    return true;
}

/* ---- terms */

static bool add_label_term(struct db_handle *h, struct list_query *query, const struct search_term *t, struct reel_error *err) {
    enum label_kind kind = t->kind == SEARCH_TOPIC ? KIND_TOPIC : t->kind == SEARCH_TYPE ? KIND_TYPE : KIND_META;
    struct list_ids ids;
    bool good = list_ids_open(&ids, err);
    for (uint32_t i = 0; i < t->n_values && good; i++) {
        good = list_add_labels(h, query, kind, (struct list_matcher){.text = t->values[i].text, .exact = t->values[i].exact}, &ids, err);
    }
    return list_ids_close(&ids, good, BY_LABEL, t->negated, query, err);
}

static bool add_tag_term(struct db_handle *h, struct list_query *query, const struct search_term *t, struct reel_error *err) {
    const struct list_matcher key = {.text = t->key.text, .exact = t->key.exact};
    bool any = false;
    for (uint32_t i = 0; i < t->n_values; i++) {
        any = any || (!t->values[i].exact && strcmp(t->values[i].text, "*") == 0);
    }
    struct list_ids ids;
    bool good = list_ids_open(&ids, err);
    if (any) {
        good = good && list_add_tags(h, query, &key, NULL, &ids, err);
    }
    for (uint32_t i = 0; i < t->n_values && good && !any; i++) {
        good = list_add_tags(h, query, &key, &(struct list_matcher){.text = t->values[i].text, .exact = t->values[i].exact}, &ids, err);
    }
    return list_ids_close(&ids, good, any ? BY_TAG_KEY : BY_TAG_VALUE, t->negated, query, err);
}

static void add_damaged(struct list_query *query, const struct search_term *t) {
    for (uint32_t i = 0; i < t->n_values; i++) {
        bool damaged = (strcmp(t->values[i].text, "true") == 0) != t->negated;
        if (t->n_values == 1) {
            query->plan.filters |= damaged ? LIST_BIT(FILTER_DAMAGED) : LIST_BIT(FILTER_INTACT);
        }
    }
}

static bool add_term(struct db_handle *h, struct list_query *query, const struct search_term *t, struct reel_error *err) {
    switch (t->kind) {
    case SEARCH_TOPIC:
    case SEARCH_TYPE:
    case SEARCH_META:
        return add_label_term(h, query, t, err);
    case SEARCH_TAG:
        return add_tag_term(h, query, t, err);
    case SEARCH_DAMAGED:
        add_damaged(query, t);
        return true;
    default:
        return add_names(h, query, t, err);
    }
}

static bool add_search(struct db_handle *h, struct list_query *query, const char *q, struct reel_error *err) {
    struct search search;
    bool good = search_parse(q, &search, err);
    for (uint32_t i = 0; i < search.n_terms && good; i++) {
        good = add_term(h, query, &search.terms[i], err);
    }
    query->words = TAKE(search.words);
    query->without = TAKE(search.without);
    search_done(&search);
    return good;
}

/* ---- parameters */

static bool add_globs(struct db_handle *h, struct list_query *query, enum search_kind kind, const char *const *globs, uint32_t n, bool any,
                      struct reel_error *err) {
    struct search_value values[GLOBS_MAX];
    if (n > GLOBS_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "more than %d topics or types", GLOBS_MAX);
    }
    for (uint32_t i = 0; i < n; i++) {
        json_auto_t *utf8 = json_string(globs[i]);
        if (!utf8) {
            return reel_fail(err, REEL_ARGUMENT, "a topic or type that is not UTF-8");
        }
        values[i] = (struct search_value){.text = globs[i]};
    }
    for (uint32_t i = 0; i < n; i += any ? n : 1) {
        if (!add_label_term(h, query, &(struct search_term){.kind = kind, .values = &values[i], .n_values = any ? n : 1}, err)) {
            return false;
        }
    }
    return true;
}

/* One condition for each expression, or one for all. */
static bool add_patterns(struct db_handle *h, struct list_query *query, enum label_kind kind, const char *const *texts, uint32_t n,
                         bool any, struct reel_error *err) {
    struct list_ids ids;
    bool good = true;
    for (uint32_t i = 0; i < n && good; i++) {
        AUTO(pattern_free) struct pattern *pattern = NULL;
        good = i > 0 && any ? true : list_ids_open(&ids, err);
        good = good && (pattern = pattern_new(texts[i], err)) &&
               list_add_labels(h, query, kind, (struct list_matcher){.pattern = pattern}, &ids, err);
        if (!any || i + 1 == n || !good) {
            good = list_ids_close(&ids, good, BY_LABEL, false, query, err);
        }
    }
    return good;
}

static bool add_tag_params(struct db_handle *h, struct list_query *query, const struct catalog_query *q, struct reel_error *err) {
    for (uint32_t i = 0; i < q->n_tags; i++) {
        const char *equals = strchr(q->tags[i], '=');
        AUTO_MEM char *key = strndup(q->tags[i], equals ? (size_t)(equals - q->tags[i]) : strlen(q->tags[i]));
        const struct search_value value = {.text = equals ? equals + 1 : "*", .exact = equals && !strpbrk(equals, "*?")};
        if (!key) {
            return reel_fail_memory(err);
        }
        if (*key == '\0') {
            return reel_fail(err, REEL_ARGUMENT, "a tag filter is written key=value, or key");
        }
        if (!add_tag_term(h, query, &(struct search_term){.kind = SEARCH_TAG, .key = {.text = key}, .values = &value, .n_values = 1},
                          err)) {
            return false;
        }
    }
    return true;
}

static bool add_name_params(struct db_handle *h, struct list_query *query, const struct catalog_query *q, struct reel_error *err) {
    const struct {
        enum search_kind kind;
        const char *text;
    } all[] = {{SEARCH_COLLECTION, q->collection}, {SEARCH_FORMAT, q->format}, {SEARCH_GROUP, q->group}};
    for (size_t i = 0; i < 3; i++) {
        const struct search_value value = {.text = all[i].text, .exact = true};
        if (all[i].text && !add_names(h, query, &(struct search_term){.kind = all[i].kind, .values = &value, .n_values = 1}, err)) {
            return false;
        }
    }
    if (q->has_state) {
        add_set(&query->states, json_pack("[i]", (int)q->state), false);
    }
    return true;
}

static void add_range_param(struct list_query *query, const struct catalog_range *range, enum list_filter filter, int64_t out[2]) {
    out[0] = range->has_min ? range->min : INT64_MIN;
    out[1] = range->has_max ? range->max : INT64_MAX;
    query->plan.filters |= range->has_min || range->has_max ? LIST_BIT(filter) : 0;
}

/* ---- all of it */

static bool put_set(struct list_query *query, const json_t *set, size_t text, enum list_filter filter, struct reel_error *err) {
    if (!set) {
        return true;
    }
    query->plan.filters |= LIST_BIT(filter);
    query->texts[text] = json_dumps(set, JSON_COMPACT);
    return query->texts[text] || reel_fail_memory(err);
}

static bool has_state(const json_t *states, int state) {
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)states, i, one) {
        if (json_integer_value(one) == state) {
            return true;
        }
    }
    return false;
}

static bool finish(struct list_query *query, const struct catalog_query *q, struct reel_error *err) {
    const struct list_set *const sets[] = {&query->collections, &query->groups, &query->formats, &query->states};
    static const enum list_filter filters[] = {FILTER_COLLECTIONS, FILTER_NO_COLLECTIONS, FILTER_GROUPS, FILTER_NO_GROUPS,
                                               FILTER_FORMATS,     FILTER_NO_FORMATS,     FILTER_STATES, FILTER_NO_STATES};
    for (size_t i = 0; i < 4; i++) {
        if (!put_set(query, sets[i]->in, 2 * i, filters[2 * i], err) || !put_set(query, sets[i]->out, 2 * i + 1, filters[2 * i + 1], err)) {
            return false;
        }
    }
    uint32_t *f = &query->plan.filters;
    *f |= has_state(query->states.in, STATE_TRASHED) ? LIST_BIT(FILTER_TRASH) : 0;
    *f |= query->words ? LIST_BIT(FILTER_WORDS) : 0;
    *f |= query->without ? LIST_BIT(FILTER_WITHOUT) : 0;
    *f |= q->damaged_only ? LIST_BIT(FILTER_DAMAGED) : 0;
    *f |= q->allowed ? LIST_BIT(FILTER_ALLOWED) : 0;
    *f |= q->has_start ? LIST_BIT(FILTER_START) : 0;
    *f |= q->has_end ? LIST_BIT(FILTER_END) : 0;
    query->start_ns = q->has_start ? q->start_ns : INT64_MIN;
    query->end_ns = q->has_end ? q->end_ns : INT64_MAX;
    add_range_param(query, &q->size, FILTER_SIZE, query->size);
    add_range_param(query, &q->duration, FILTER_DURATION, query->duration);
    add_range_param(query, &q->messages, FILTER_MESSAGES, query->messages);
    query->plan.links = query->links;
    return true;
}

bool list_query(struct db_handle *h, const struct catalog_query *q, struct list_query *query, struct reel_error *err) {
    *query = (struct list_query){.deadline_ns = reel_now_ns() + LOOKUP_NS};
    return (!q->allowed || catalog_allowed(h, q->allowed, &query->allowed, err)) && (!q->words || add_search(h, query, q->words, err)) &&
           add_name_params(h, query, q, err) && add_globs(h, query, SEARCH_TOPIC, q->topics, q->n_topics, q->match_any, err) &&
           add_globs(h, query, SEARCH_TYPE, q->types, q->n_types, q->match_any, err) &&
           add_patterns(h, query, KIND_TOPIC, q->topic_patterns, q->n_topic_patterns, q->match_any, err) &&
           add_patterns(h, query, KIND_TYPE, q->type_patterns, q->n_type_patterns, q->match_any, err) && add_tag_params(h, query, q, err) &&
           finish(query, q, err);
}

void list_query_done(struct list_query *query) {
    struct list_set *const sets[] = {&query->collections, &query->groups, &query->formats, &query->states};
    for (size_t i = 0; i < 4; i++) {
        json_decref(sets[i]->in);
        json_decref(sets[i]->out);
    }
    for (uint32_t i = 0; i < query->plan.n_links; i++) {
        free(query->links[i].ids);
    }
    for (size_t i = 0; i < sizeof query->texts / sizeof *query->texts; i++) {
        free(query->texts[i]);
    }
    free(query->words);
    free(query->without);
    free(query->allowed);
    query->plan.n_links = 0;
}

void list_bind(struct db_statement *s, const struct list_query *query) {
    static const char *const names[] = {":collections", ":no_collections", ":groups", ":no_groups",
                                        ":formats",     ":no_formats",     ":states", ":no_states"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        db_set_text(s, names[i], query->texts[i]);
    }
    for (uint32_t i = 0; i < query->plan.n_links; i++) {
        char name[24];
        snprintf(name, sizeof name, ":ids%u", i);
        db_set_text(s, name, query->links[i].ids);
    }
    if (query->plan.n_links > 0) {
        db_set_text(s, ":driving_ids", query->links[query->plan.driving_link].ids);
        db_set_int(s, ":driving_id", query->links[query->plan.driving_link].first);
    }
    db_set_text(s, ":words", query->words);
    db_set_text(s, ":without", query->without);
    db_set_text(s, ":allowed", query->allowed);
    db_set_int(s, ":start", query->start_ns);
    db_set_int(s, ":end", query->end_ns);
    db_set_int(s, ":floor", query->floor_ns);
    db_set_int(s, ":ceiling", query->ceiling_ns);
    db_set_int(s, ":min_size", query->size[0]);
    db_set_int(s, ":max_size", query->size[1]);
    db_set_int(s, ":min_duration", query->duration[0]);
    db_set_int(s, ":max_duration", query->duration[1]);
    db_set_int(s, ":min_messages", query->messages[0]);
    db_set_int(s, ":max_messages", query->messages[1]);
}
