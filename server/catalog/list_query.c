/* A query's parameters as conditions. Globs and patterns become names and ids here, once, so that SQL only compares. */
#include <string.h>

#include "base/cleanup.h"
#include "catalog/list_names.h"
#include "catalog/list_terms.h"
#include "json_whole.h"
#include "reel/time.h"

enum { GLOBS_MAX = 64 };
static const int64_t LOOKUP_NS = 2000000000;

/* ---- conditions */

struct condition *list_add(struct list_query *query, uint32_t parent, enum condition_kind kind,
                           struct reel_error *err) {
    if (query->n == LIST_CONDITIONS_MAX) {
        reel_fail(err, REEL_ARGUMENT, "more than %d conditions", LIST_CONDITIONS_MAX);
        return NULL;
    }
    uint32_t *link = &query->conditions[parent].first;
    while (*link) {
        link = &query->conditions[*link].next;
    }
    *link = query->n;
    struct condition *c = &query->conditions[query->n++];
    *c = (struct condition){.kind = kind};
    return c;
}

bool list_add_span(struct list_query *query, uint32_t parent, int64_t start_ns, int64_t end_ns,
                   struct reel_error *err) {
    struct condition *c = list_add(query, parent, CONDITION_SPAN, err);
    if (c) {
        c->min = start_ns;
        c->max = end_ns;
    }
    return c;
}

bool list_add_range(struct list_query *query, uint32_t parent, const char *column, bool negated, int64_t min,
                    int64_t max, struct reel_error *err) {
    struct condition *c = list_add(query, parent, CONDITION_RANGE, err);
    if (c) {
        c->column = column;
        c->negated = negated;
        c->min = min;
        c->max = max;
    }
    return c;
}

static bool add_set(struct list_query *query, const char *column, json_t *values, struct reel_error *err) {
    struct condition *c = list_add(query, 0, CONDITION_SET, err);
    if (c) {
        c->column = column;
        c->text = json_whole_text(values, JSON_COMPACT);
    }
    json_decref(values);
    return c && (c->text || reel_fail_memory(err));
}

/* ---- parameters */

static bool check_text(const char *text, struct reel_error *err) {
    json_auto_t *utf8 = json_string(text);
    return utf8 || reel_fail(err, REEL_ARGUMENT, "a name that is not UTF-8");
}

static bool list_query_add_name(struct list_query *query, const char *column, const char *name,
                                struct reel_error *err) {
    return !name || (check_text(name, err) && add_set(query, column, json_pack("[s]", name), err));
}

static bool add_format(struct db_handle *h, struct list_query *query, const char *name, struct reel_error *err) {
    json_auto_t *names = name ? json_array() : NULL;
    return !name || (check_text(name, err) && list_find_formats(h, name, false, names, err) &&
                     add_set(query, "format", json_incref(names), err));
}

static bool add_allowed(struct db_handle *h, struct list_query *query, const char *const *globs,
                        struct reel_error *err) {
    struct condition *c = globs ? list_add(query, 0, CONDITION_SET, err) : NULL;
    if (c) {
        c->column = "collection";
    }
    return !globs || (c && catalog_allowed(h, globs, &c->text, err));
}

/* One condition for each glob or expression, or one for all. */
static bool add_labels(struct db_handle *h, struct list_query *query, enum label_kind kind, const char *const *texts,
                       uint32_t n, bool patterns, bool any, struct reel_error *err) {
    struct list_ids ids;
    bool good = n <= GLOBS_MAX || reel_fail(err, REEL_ARGUMENT, "more than %d topics or types", GLOBS_MAX);
    for (uint32_t i = 0; i < n && good; i++) {
        AUTO(pattern_free) struct pattern *pattern = NULL;
        good = i > 0 && any ? true : list_ids_open(&ids, err);
        good = good && check_text(texts[i], err) && (!patterns || (pattern = pattern_new(texts[i], err))) &&
               list_add_labels(h, query, kind, (struct list_matcher){.text = texts[i], .pattern = pattern}, &ids, err);
        if (!any || i + 1 == n || !good) {
            good = list_ids_close(&ids, good, query, 0, CONDITION_LABELS, "channel_labels", false, err);
        }
    }
    return good;
}

static bool add_tags(struct db_handle *h, struct list_query *query, const struct catalog_query *q,
                     struct reel_error *err) {
    for (uint32_t i = 0; i < q->n_tags; i++) {
        const char *equals = strchr(q->tags[i], '=');
        AUTO_MEM char *key = strndup(q->tags[i], equals ? (size_t)(equals - q->tags[i]) : strlen(q->tags[i]));
        const struct search_value value = {.text = equals ? equals + 1 : "*",
                                           .exact = equals && !strpbrk(equals, "*?")};
        if (!key) {
            return reel_fail_memory(err);
        }
        if (*key == '\0') {
            return reel_fail(err, REEL_ARGUMENT, "a tag filter is written key=value, or key");
        }
        if (!list_add_tag_values(h, query, 0, &(struct search_value){.text = key}, &value, 1, false, err)) {
            return false;
        }
    }
    return true;
}

static bool add_limits(struct list_query *query, const struct catalog_query *q, struct reel_error *err) {
    const struct {
        const char *column;
        const struct catalog_range *range;
    } all[] = {
        {"size", &q->size}, {"duration_ns", &q->duration}, {"messages", &q->messages}, {"created_ns", &q->created}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct catalog_range *r = all[i].range;
        if ((r->has_min || r->has_max) &&
            !list_add_range(query, 0, all[i].column, false, r->has_min ? r->min : INT64_MIN,
                            r->has_max ? r->max : INT64_MAX, err)) {
            return false;
        }
    }
    return (!q->has_start && !q->has_end) ||
           list_add_span(query, 0, q->has_start ? q->start_ns : INT64_MIN, q->has_end ? q->end_ns : INT64_MAX, err);
}

static bool add_state(struct list_query *query, const struct catalog_query *q, struct reel_error *err) {
    if (q->has_state) {
        if (!add_set(query, "state", json_pack("[i]", (int)q->state), err)) {
            return false;
        }
        query->conditions[query->n - 1].has_trash = q->state == STATE_TRASHED;
    }
    return !q->damaged_only || add_set(query, "damaged", json_pack("[i]", 1), err);
}

bool list_query(struct db_handle *h, const struct catalog_query *q, struct list_query *query, struct reel_error *err) {
    *query = (struct list_query){
        .deadline_ns = reel_now_ns() + LOOKUP_NS, .n = 1, .postgres = db_is_postgres(h), .limited = q->allowed};
    query->conditions = calloc(LIST_CONDITIONS_MAX, sizeof *query->conditions);
    if (!query->conditions) {
        return reel_fail_memory(err);
    }
    bool good = add_allowed(h, query, q->allowed, err) && (!q->words || list_add_search(h, query, q->words, err)) &&
                list_query_add_name(query, "collection", q->collection, err) && add_format(h, query, q->format, err) &&
                list_query_add_name(query, "group_name", q->group, err) &&
                add_labels(h, query, KIND_TOPIC, q->topics, q->n_topics, false, q->match_any, err) &&
                add_labels(h, query, KIND_TYPE, q->types, q->n_types, false, q->match_any, err) &&
                add_labels(h, query, KIND_TOPIC, q->topic_patterns, q->n_topic_patterns, true, q->match_any, err) &&
                add_labels(h, query, KIND_TYPE, q->type_patterns, q->n_type_patterns, true, q->match_any, err) &&
                add_tags(h, query, q, err) && add_limits(query, q, err) && add_state(query, q, err);
    for (uint32_t i = 0; i < query->n; i++) {
        query->has_trash = query->has_trash || (query->conditions[i].has_trash && !query->conditions[i].negated);
    }
    return good;
}

void list_query_done(struct list_query *query) {
    for (uint32_t i = 0; i < query->n && query->conditions; i++) {
        free(query->conditions[i].text);
        free(query->conditions[i].match);
        free(query->conditions[i].maybe);
    }
    free(query->conditions);
    *query = (struct list_query){0};
}
