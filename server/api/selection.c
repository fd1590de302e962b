/* See selection.h. */
#include "api/selection.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum { RENAME_MAX = 1000 };

static uint32_t read_globs(struct http_request *r, const char *name, const char **out) {
    return (uint32_t)http_params(r, name, out, API_GLOBS_MAX);
}

uint32_t api_read_channels(struct http_request *r, uint32_t out[API_GLOBS_MAX]) {
    const char *texts[API_GLOBS_MAX];
    uint32_t n = read_globs(r, "channel", texts);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t id;
        out[i] = number_u64(texts[i], &id) && id < UINT32_MAX ? (uint32_t)id : UINT32_MAX; /* which no channel has */
    }
    return n;
}

static bool read_renames(struct http_request *r, const char **out, uint32_t *n) {
    *n = read_globs(r, "rename", out);
    for (uint32_t i = 0; i < *n; i++) {
        const char *colon = strrchr(out[i], ':');
        if (!colon || colon == out[i] || !colon[1] || strlen(colon + 1) > RENAME_MAX) {
            http_reply_bad_param(r, "rename", "is written FROM:TO, for example /scan:/laser");
            return false;
        }
    }
    return true;
}

/* One end of the time range, by either of its names. Sets *given when it was sent. */
static bool read_time(struct http_request *r, const int64_t span[2], const char *name, const char *alias, int64_t *ns,
                      bool *given) {
    struct reel_time t, u;
    bool has = http_param_time(r, name, &t), has_alias = http_param_time(r, alias, &u);
    if (has && has_alias) {
        http_reply_bad_param(r, alias, "%s and %s mean the same; send only one", name, alias);
        return false;
    }
    *given = has || has_alias;
    if (has_alias) { /* of a dashboard, which may show any time */
        *ns = reel_time_resolve(&u, span[0], span[1], reel_now_ns());
    }
    struct reel_error err = {0};
    if (has && !reel_time_within(&t, span[0], span[1], ns, &err)) {
        http_reply_bad_param(r, name, "%s", err.text);
        return false;
    }
    return true;
}

static bool read_every(struct http_request *r, struct reel_selection *s) {
    const char *text = http_param(r, "every");
    if (!text) {
        return true;
    }
    if (number_u64(text, &s->every_n) && s->every_n > 0) {
        return true;
    }
    struct reel_error err = {0};
    if (!reel_duration_parse(text, &s->every_ns, &err)) {
        http_reply_bad_param(r, "every", "a count such as 10, or an interval such as 100ms: %s", err.text);
        return false;
    }
    return true;
}

bool api_select(struct http_request *r, int64_t first_ns, int64_t last_ns, struct api_selection *out) {
    const int64_t span[2] = {first_ns, last_ns};
    *out = (struct api_selection){.selection = selection_all};
    struct reel_selection *s = &out->selection;
    bool has_end;
    s->n_topics = read_globs(r, "topic", out->topics);
    s->n_exclude = read_globs(r, "exclude_topic", out->exclude);
    s->n_channels = api_read_channels(r, out->channels);
    s->n_where = read_globs(r, "where", out->where);
    if (!read_renames(r, out->renames, &s->n_renames) ||
        !read_time(r, span, "start", "from", &s->start_ns, &out->has_start) ||
        !read_time(r, span, "end", "to", &s->end_ns, &has_end) || !read_every(r, s)) {
        return false;
    }
    s->topics = out->topics;
    s->exclude = out->exclude;
    s->channels = out->channels;
    s->renames = out->renames;
    s->where = out->where;
    s->last_per_topic = http_param(r, "last") != NULL;
    http_param_duration(r, "lookback", &s->lookback_ns);
    if (http_param(r, "lookback") && !s->last_per_topic && !http_param(r, "latch")) {
        http_reply_bad_param(r, "lookback", "goes with last=per_topic");
        return false;
    }
    if (s->last_per_topic && !out->has_start) {
        http_reply_bad_param(r, "last", "it needs start");
        return false;
    }
    if (out->has_start && has_end && s->end_ns < s->start_ns) {
        http_reply_bad_param(r, "end", "must not be before start");
        return false;
    }
    return true;
}

static bool selects_all(const struct reel_selection *q) {
    return q->n_topics == 0 && q->n_exclude == 0 && q->n_channels == 0 && q->start_ns == REEL_TIME_MIN &&
           q->end_ns == REEL_TIME_MAX;
}

/* `good`: `any` and `why` were found out. False: replied with `err`. */
static bool note_matches(struct http_request *r, bool good, bool any, const char *why, const struct reel_error *err) {
    if (!good) {
        http_reply_error(r, err);
    } else if (!any) {
        http_add_header(r, "X-Matched", "0");
        http_add_header(r, "X-Warning", why);
    }
    return good;
}

bool api_note_matches(struct http_request *r, struct reel_recording *const *recordings, uint32_t n,
                      const struct reel_selection *selection) {
    struct reel_error err = {0};
    char why[REEL_MATCHES_TEXT];
    bool any = true, good = selects_all(selection) || reel_selection_matches(recordings, n, selection, &any, why, &err);
    return note_matches(r, good, any, why, &err);
}

bool api_note_conversion(struct http_request *r, struct reel_conversion *c) {
    struct reel_error err = {0};
    char why[REEL_MATCHES_TEXT];
    bool any = true, good = selects_all(&c->selection) || reel_conversion_matches(c, false, &any, why, &err);
    return note_matches(r, good, any, why, &err);
}

static enum reel_time_format time_format(const struct http_request *r) {
    static const char *const names[] = {"rfc3339", "seconds", "milliseconds", "nanoseconds", "relative"};
    const char *text = http_param(r, "time_format");
    for (unsigned i = 0; text && i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], text) == 0) {
            return (enum reel_time_format)i;
        }
    }
    return REEL_TIME_RFC3339;
}

/* fields=a,b&fields=c */
static bool read_fields(struct http_request *r, struct api_text *text, uint32_t *n) {
    const char *values[API_GLOBS_MAX];
    size_t n_values = http_params(r, "fields", values, API_GLOBS_MAX), size = 1;
    for (size_t i = 0; i < n_values; i++) {
        size += strlen(values[i]) + 1;
    }
    if (!(text->memory = calloc(1, size))) {
        http_reply_no_memory(r);
        return false;
    }
    char *at = text->memory;
    for (size_t i = 0; i < n_values; i++) {
        at = stpcpy(stpcpy(at, at == text->memory ? "" : ","), values[i]);
    }
    for (char *rest = text->memory, *field; (field = strsep(&rest, ","));) {
        if (*field && *n == API_FIELDS_MAX) {
            http_reply_bad_param(r, "fields", "at most %d of them", API_FIELDS_MAX);
            return false;
        }
        if (*field) {
            text->fields[(*n)++] = field;
        }
    }
    return true;
}

static bool takes_params(struct http_request *r, const struct reel_writer *writer) {
    static const struct {
        const char *name;
        unsigned flag;
    } params[] = {{"decode", REEL_TAKES_VALUES},
                  {"fields", REEL_TAKES_VALUES},
                  {"time_format", REEL_TAKES_VALUES},
                  {"channels", REEL_TAKES_CHANNELS},
                  {"end_record", REEL_TAKES_END}};
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        if (http_param(r, params[i].name) && !(writer->takes & params[i].flag)) {
            http_reply_bad_param(r, params[i].name, "means nothing for %s files", writer->name);
            return false;
        }
    }
    return true;
}

bool api_read_text(struct http_request *r, const struct reel_writer *writer, struct api_text *text,
                   struct reel_write_options *out) {
    const char *decode = http_param(r, "decode");
    text->memory = NULL;
    if (!takes_params(r, writer)) {
        return false;
    }
    out->time_format = time_format(r);
    out->raw = decode && strcmp(decode, "none") == 0;
    out->fields = text->fields;
    http_param_bool(r, "end_record", &out->separated);
    http_param_bool(r, "channels", &out->channels);
    if (!read_fields(r, text, &out->n_fields)) {
        return false;
    }
    if (out->raw && out->n_fields > 0) {
        http_reply_bad_param(r, "fields", "there are none without decoding");
        return false;
    }
    return true;
}

void api_text_done(struct api_text *text) {
    free(text->memory);
}
