/* See query.h. */
#include "api/recordings/query.h"
#include "api/selection.h"

/* False: replied. */
static bool query_read_time(struct http_request *r, const char *name, bool *has, int64_t *ns) {
    struct reel_time t;
    *has = http_param_time(r, name, &t);
    if (*has && (t.kind == REEL_TIME_FROM_START || t.kind == REEL_TIME_FROM_END)) {
        http_reply_bad_param(r, name, "a time across recordings cannot be relative to one of them");
        return false;
    }
    *ns = *has ? reel_time_resolve(&t, 0, 0, reel_now_ns()) : 0;
    return true;
}

static bool read_times(struct http_request *r, struct catalog_query *q) {
    bool good = query_read_time(r, "start", &q->has_start, &q->start_ns) &&
                query_read_time(r, "end", &q->has_end, &q->end_ns) &&
                query_read_time(r, "created_after", &q->created.has_min, &q->created.min) &&
                query_read_time(r, "created_before", &q->created.has_max, &q->created.max);
    if (good && q->has_start && q->has_end && q->end_ns < q->start_ns) {
        http_reply_bad_param(r, "end", "must not be before start");
        return false;
    }
    q->created.max -= q->created.has_max && q->created.max > INT64_MIN; /* that time is excluded */
    return good;
}

static void read_range(struct http_request *r, const char *min, const char *max, struct catalog_range *out) {
    uint64_t value;
    out->has_min = http_param_u64(r, min, &value);
    out->min = out->has_min && value < INT64_MAX ? (int64_t)value : INT64_MAX;
    out->has_max = http_param_u64(r, max, &value);
    out->max = out->has_max && value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

bool recordings_read_query(struct http_request *r, struct recordings_query *out) {
    uint64_t limit = 100;
    struct catalog_query *q = &out->q;
    http_param_u64(r, "limit", &limit);
    *q = (struct catalog_query){.words = http_param(r, "q"),
                                .format = http_param(r, "format"),
                                .collection = http_param(r, "collection"),
                                .group = http_param(r, "group"),
                                .allowed = http_caller(r)->collections,
                                .topics = out->topics,
                                .types = out->types,
                                .topic_patterns = out->topic_patterns,
                                .type_patterns = out->type_patterns,
                                .tags = out->tags,
                                .match_any = http_param(r, "match") && strcmp(http_param(r, "match"), "any") == 0,
                                .sort = http_param(r, "sort"),
                                .limit = (uint32_t)limit,
                                .cursor = http_param(r, "cursor")};
    q->n_topics = (uint32_t)http_params(r, "topic", out->topics, API_GLOBS_MAX);
    q->n_types = (uint32_t)http_params(r, "type", out->types, API_GLOBS_MAX);
    q->n_topic_patterns = (uint32_t)http_params(r, "topic_re", out->topic_patterns, API_GLOBS_MAX);
    q->n_type_patterns = (uint32_t)http_params(r, "type_re", out->type_patterns, API_GLOBS_MAX);
    q->n_tags = (uint32_t)http_params(r, "tag", out->tags, API_GLOBS_MAX);
    read_range(r, "min_size", "max_size", &q->size);
    read_range(r, "min_messages", "max_messages", &q->messages);
    q->duration.has_min = http_param_duration(r, "min_duration", &q->duration.min);
    q->duration.has_max = http_param_duration(r, "max_duration", &q->duration.max);
    q->has_state = http_param(r, "state") && recording_state_parse(http_param(r, "state"), &q->state);
    http_param_u64(r, "offset", &q->offset);
    http_param_bool(r, "count", &q->count);
    http_param_bool(r, "damaged", &q->damaged_only);
    return read_times(r, q);
}
