/* /recordings/{id}/coverage: when each topic has messages. */
#include <stdlib.h>
#include <string.h>

#include "api/contents/contents.h"
#include "api/paging.h"
#include "api/recording.h"
#include "api/rows.h"
#include "api/selection.h"
#include "base/glob.h"
#include "decode/encoding.h"
#include "index/index.h"
#include "stream/stream.h"
#include "tables/table.h"
#include "views/views.h"

enum { BINS_DEFAULT = 100, SPANS_MAX = 20000 /* of a page, and those of its last topic */ };

struct coverage {
    const struct reel_index *index;
    struct reel_span *spans; /* of one topic, n_bins */
    uint32_t n_bins;
    uint32_t outside; /* 1: the first bin and the last have what is before and after the range, and are left out */
    int64_t start_ns; /* of the first bin */
    uint64_t width_ns, tolerance_ns;
    bool empty; /* also messages that are lists without items */
    const char *globs[API_GLOBS_MAX];
    size_t n_globs;
    const struct reel_channel **channels; /* by name */
};

static json_t *view_span(const struct coverage *c, const struct reel_span *s) {
    enum reel_clock clock = reel_index_info(c->index)->clock;
    return json_pack("[o, o, o]", view_time(s->first_ns, clock), view_time(s->last_ns, clock), view_u64(s->count));
}

/* Joins spans that are at most the tolerance apart. */
static json_t *view_spans(const struct coverage *c) {
    json_t *out = json_array();
    struct reel_span now = {0};
    for (uint32_t i = c->outside; i < c->n_bins - c->outside; i++) {
        const struct reel_span *s = &c->spans[i];
        if (s->count == 0) {
            continue;
        }
        bool joins = now.count > 0 &&
                     (s->first_ns <= now.last_ns || (uint64_t)s->first_ns - (uint64_t)now.last_ns <= c->tolerance_ns);
        if (now.count > 0 && !joins) {
            json_array_append_new(out, view_span(c, &now));
        }
        now = joins ? (struct reel_span){now.first_ns, s->last_ns > now.last_ns ? s->last_ns : now.last_ns,
                                         now.count + s->count}
                    : *s;
    }
    if (now.count > 0) {
        json_array_append_new(out, view_span(c, &now));
    }
    return out;
}

static bool is_wanted(const struct coverage *c, const char *topic) {
    for (size_t i = 0; i < c->n_globs; i++) {
        if (reel_topic_match(c->globs[i], topic)) {
            return true;
        }
    }
    return c->n_globs == 0;
}

static int coverage_by_name(const void *a, const void *b) {
    const struct reel_channel *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* The row of all channels that share a name with the first; moves *at past them. NULL: error. */
static json_t *view_topic(const struct coverage *c, uint32_t *at, struct reel_error *err) {
    const struct reel_index_info *info = reel_index_info(c->index);
    const char *name = c->channels[*at]->name;
    bool wanted = is_wanted(c, name);
    memset(c->spans, 0, c->n_bins * sizeof *c->spans);
    for (; *at < info->n_channels && strcmp(c->channels[*at]->name, name) == 0; ++*at) {
        uint32_t least = c->empty ? 0 : reel_channel_least_filled(c->channels[*at]);
        if (wanted && !index_coverage_from(c->index, c->channels[*at]->id, least, c->start_ns, c->width_ns, c->spans,
                                           c->n_bins, err)) {
            return NULL;
        }
    }
    return wanted ? json_pack("{s:s, s:o}", "topic", name, "spans", view_spans(c)) : json_null();
}

static json_t *view_topics_covered(const struct coverage *c, struct view_slice *slice, struct reel_error *err) {
    json_t *topics = json_array();
    uint32_t n = reel_index_info(c->index)->n_channels, at = slice->from < n ? (uint32_t)slice->from : n;
    size_t spans = 0, text = 0;
    while (at < n && json_array_size(topics) < slice->limit && spans < SPANS_MAX && text < VIEW_TEXT_MAX) {
        text += strlen(c->channels[at]->name);
        json_t *topic = view_topic(c, &at, err);
        if (!topic) {
            json_decref(topics);
            return NULL;
        }
        if (!json_is_null(topic)) {
            spans += json_array_size(json_object_get(topic, "spans"));
            json_array_append_new(topics, topic);
        }
    }
    slice->next = at < n ? at : 0;
    return topics;
}

/* One row per span, for CSV and NDJSON. */
static json_t *rows_of(const json_t *topics) {
    json_t *rows = json_array(), *topic, *span;
    size_t i, k;
    json_array_foreach((json_t *)topics, i, topic) {
        json_array_foreach(json_object_get(topic, "spans"), k, span) {
            json_array_append_new(rows, json_pack("{s:O, s:O, s:O, s:O}", "topic", json_object_get(topic, "topic"),
                                                  "start", json_array_get(span, 0), "end", json_array_get(span, 1),
                                                  "messages", json_array_get(span, 2)));
        }
    }
    return rows;
}

static void coverage_reply(struct http_request *r, const struct rows_form *form, const struct coverage *c,
                           struct view_slice *slice) {
    static const char *const columns[] = {"topic", "start", "end", "messages", NULL};
    struct reel_error err = {0};
    json_t *topics = view_topics_covered(c, slice, &err);
    if (!topics) {
        http_reply_error(r, &err);
        return;
    }
    json_t *rows = form->form == REEL_TABLE_JSON ? json_array() : rows_of(topics);
    rows_reply(r, form,
               json_pack("{s:s, s:f, s:f, s:o, s:o}", "interval", "[]", "bin_s", (double)c->width_ns / 1e9,
                         "tolerance_s", (double)c->tolerance_ns / 1e9, "topics", topics, "next",
                         paging_next_link(r, slice)),
               rows, columns);
}

/* The bins of the recording, or those that end at `end` and begin at `start`, or as many ns before as there are bins.
 * False: replied. */
static bool read_range(struct http_request *r, struct coverage *c, const struct reel_index_info *info, uint32_t bins) {
    struct api_selection s;
    if (!api_select(r, info->start_ns, info->end_ns, &s)) {
        return false;
    }
    int64_t start_ns = s.selection.start_ns, end_ns = s.selection.end_ns;
    c->outside = start_ns > info->start_ns || end_ns <= info->end_ns;
    c->n_bins = bins + 2 * c->outside;
    c->start_ns = info->start_ns;
    c->width_ns = ((uint64_t)info->end_ns - (uint64_t)info->start_ns) / bins + 1;
    if (c->outside) {
        int64_t first = start_ns > info->start_ns ? start_ns : info->start_ns;
        int64_t last = end_ns <= info->end_ns ? end_ns - 1 : info->end_ns;
        c->width_ns = (last > first ? (uint64_t)last - (uint64_t)first : 0) / bins + 1;
        c->start_ns = (int64_t)((uint64_t)last + 1 - (bins + UINT64_C(1)) * c->width_ns);
    }
    return true;
}

/* False: replied. */
static bool read_params(struct http_request *r, struct coverage *c, const struct reel_index_info *info) {
    uint64_t bins = BINS_DEFAULT;
    int64_t tolerance;
    c->empty = true;
    http_param_bool(r, "empty", &c->empty);
    http_param_u64(r, "bins", &bins);
    c->n_globs = http_params(r, "topic", c->globs, API_GLOBS_MAX);
    if (!read_range(r, c, info, (uint32_t)bins)) {
        return false;
    }
    c->tolerance_ns = c->width_ns;
    if (http_param_duration(r, "tolerance", &tolerance)) {
        if (tolerance < 0) {
            http_reply_bad_param(r, "tolerance", "is not negative");
            return false;
        }
        c->tolerance_ns = (uint64_t)tolerance;
    }
    return true;
}

void api_coverage(struct http_request *r) {
    struct coverage c = {0};
    struct rows_form form;
    struct view_slice slice;
    struct api_recording a;
    if (!rows_form(r, &form) || !paging_slice(r, &slice) || !api_open_index(r, &a)) {
        return;
    }
    c.index = reel_recording_index(a.recording);
    const struct reel_index_info *info = reel_index_info(c.index);
    if (read_params(r, &c, info)) {
        c.spans = calloc(c.n_bins, sizeof *c.spans);
        c.channels = calloc(info->n_channels + 1, sizeof *c.channels);
        for (uint32_t i = 0; i < info->n_channels && c.channels; i++) {
            c.channels[i] = reel_index_channel(c.index, i);
        }
        if (c.spans && c.channels) {
            qsort(c.channels, info->n_channels, sizeof *c.channels, coverage_by_name);
            coverage_reply(r, &form, &c, &slice);
        } else {
            http_reply_no_memory(r);
        }
    }
    free(c.spans);
    free(c.channels);
    api_recording_done(&a);
}
