/* /recordings/{id}/as/{name} converts one recording, /merge/as/{name} those that the request names, /search/as/{name}
 * those that a search finds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/export/export.h"
#include "api/export/inputs.h"
#include "api/job_reply.h"
#include "api/recording.h"
#include "api/recordings/query.h"
#include "api/reserve.h"
#include "base/cleanup.h"
#include "scans/open_recordings.h"

enum {
    MERGE_MAX = 64,
    SEARCH_MAX = 1000, /* a page of catalog_list() */
    SHARED_MAX = 64    /* more recordings than these are not opened for other requests, too */
};

void inputs_free(struct inputs *in) {
    for (uint32_t i = 0; in && i < in->n; i++) {
        api_recording_done(&in->items[i]);
    }
    if (in) {
        free(in->items);
        free(in->recordings);
        free(in->sources);
        free(in->ids);
        free(in);
    }
}

/* With room for `room` recordings. NULL: replied. */
static struct inputs *inputs_new(struct http_request *r, const char *name, uint32_t room) {
    AUTO(inputs_free) struct inputs *in = calloc(1, sizeof *in);
    if (!in || !(in->items = calloc(room, sizeof *in->items)) ||
        !(in->recordings = calloc(room, sizeof(struct reel_recording *))) ||
        !(in->sources = calloc(room, sizeof *in->sources)) || !(in->ids = calloc(room, sizeof(const char *)))) {
        http_reply_no_memory(r);
        return NULL;
    }
    in->name = name;
    return TAKE(in);
}

/* items[n] is complete. */
static void take_in(struct inputs *in) {
    in->recordings[in->n] = in->items[in->n].recording;
    in->ids[in->n] = in->items[in->n].row.id;
    in->n++;
}

/* False: replied. */
static bool add_input(struct http_request *r, struct inputs *in, const char *key) {
    if (!api_open_key(r, key, &in->items[in->n])) {
        return false;
    }
    take_in(in);
    return true;
}

void api_export(struct http_request *r, const char *key, const struct api_export_file *file) {
    AUTO(inputs_free) struct inputs *in = inputs_new(r, file->name, 1);
    if (in && add_input(r, in, key)) {
        in->channels = file->channels;
        api_convert_inputs(r, in);
    }
}

void api_convert(struct http_request *r) {
    api_export(r, http_segment(r, "id"), &(struct api_export_file){.name = http_segment(r, "name")});
}

/* How the clocks of the recordings are aligned. False: replied. */
static bool merge_inputs(struct http_request *r, struct inputs *in, enum reel_align align) {
    AUTO_MEM const char **names = calloc(in->n, sizeof *names);
    struct reel_error err = {0};
    for (uint32_t i = 0; names && i < in->n; i++) {
        names[i] = in->items[i].row.name;
    }
    in->merged = true;
    if (!names || !reel_merge_options(in->recordings, in->n, names, align, in->sources, &err)) {
        names ? http_reply_error(r, &err) : http_reply_no_memory(r);
        return false;
    }
    return true;
}

static enum reel_align align_of(const struct http_request *r) {
    const char *align = http_param(r, "align");
    return align && strcmp(align, "none") == 0 ? REEL_ALIGN_NONE : REEL_ALIGN_START;
}

struct inputs *inputs_named(struct http_request *r, const char *name) {
    const char *keys[MERGE_MAX];
    size_t n = http_params(r, "recording", keys, MERGE_MAX);
    AUTO(inputs_free) struct inputs *in = inputs_new(r, name, MERGE_MAX);
    for (size_t i = 0; in && i < n; i++) {
        if (!add_input(r, in, keys[i])) {
            return NULL;
        }
    }
    return TAKE(in);
}

enum reel_prefixing inputs_prefixing(const struct http_request *r, const struct inputs *in) {
    const char *prefix = in->merged ? http_param(r, "prefix") : NULL;
    return !prefix                         ? in->prefixing
           : strcmp(prefix, "clash") == 0  ? REEL_PREFIX_CLASH
           : strcmp(prefix, "always") == 0 ? REEL_PREFIX_ALWAYS
                                           : REEL_PREFIX_NEVER;
}

struct inputs *inputs_merged(struct http_request *r, const char *name) {
    AUTO(inputs_free) struct inputs *in = inputs_named(r, name);
    const char *keys[MERGE_MAX], *shifts[MERGE_MAX];
    size_t n = http_params(r, "shift", shifts, MERGE_MAX);
    struct reel_error err = {0};
    if (!in || !merge_inputs(r, in, n > 0 ? REEL_ALIGN_NONE : align_of(r))) {
        return NULL;
    }
    http_params(r, "recording", keys, MERGE_MAX);
    if (n > 0 && !reel_merge_shift(in->recordings, in->n, keys, shifts, n, in->sources, &err)) {
        http_reply_bad_param(r, "shift", "%s", err.text);
        return NULL;
    }
    in->prefixing = REEL_PREFIX_CLASH;
    return TAKE(in);
}

void api_merge(struct http_request *r) {
    AUTO(inputs_free) struct inputs *in = inputs_merged(r, http_segment(r, "name"));
    if (in) {
        api_convert_inputs(r, in);
    }
}

/* ---- a search */

/* The recordings that the request's search finds. False: replied. */
static bool inputs_search(struct http_request *r, struct catalog_page *page) {
    struct recordings_query query;
    struct reel_error err = {0};
    if (!recordings_read_query(r, &query)) {
        return false;
    }
    query.q.sort = "created";
    query.q.limit = SEARCH_MAX;
    query.q.count = true;
    if (!catalog_list(http_app(r)->catalog, &query.q, page, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    if (page->next) {
        http_reply_problem(r, 413, "too-many",
                           "the search finds %s%llu recordings; at most %d are exported as one: narrow the search",
                           page->total_capped ? "more than " : "", (unsigned long long)page->total, SEARCH_MAX);
        return false;
    }
    return true;
}

/* Opens the recording of a row, and takes the row over. False: replied. */
static bool open_found(struct http_request *r, struct inputs *in, struct catalog_recording *row, bool resting) {
    struct api_recording *a = &in->items[in->n];
    struct recordings *all = http_app(r)->recordings;
    struct reel_error err = {0};
    char job[33] = "";
    a->recording = (resting ? recordings_get_resting : recordings_get)(all, row, api_wait_ns(r, 0), job, &err);
    if (!a->recording) {
        job[0] ? api_reply_busy(r, job, err.text) : http_reply_error(r, &err);
        return false;
    }
    a->row = *row;
    *row = (struct catalog_recording){0};
    take_in(in);
    return true;
}

/* Opens those that can be read; the others are counted in a header. False: replied. */
static bool open_page(struct http_request *r, struct inputs *in, struct catalog_page *page) {
    char left_out[24];
    uint32_t skipped = 0;
    for (uint32_t i = 0; i < page->n_items; i++) {
        struct catalog_recording *row = &page->items[i];
        if (row->state != STATE_READY) {
            skipped++;
        } else if (!open_found(r, in, row, page->n_items > SHARED_MAX)) {
            return false;
        }
    }
    if (in->n == 0) {
        http_reply_problem(r, 404, "not-found", "the search finds no recording that can be read%s",
                           skipped ? "; those that it finds are not ready" : "");
        return false;
    }
    if (skipped) {
        snprintf(left_out, sizeof left_out, "%u", skipped);
        http_add_header(r, "X-Left-Out", left_out);
    }
    return api_reserve_open(r, in->recordings, in->n);
}

struct inputs *inputs_found(struct http_request *r, const char *name) {
    struct catalog_page page = {0};
    AUTO(inputs_free) struct inputs *in = inputs_search(r, &page) ? inputs_new(r, name, page.n_items + 1) : NULL;
    bool good = in && open_page(r, in, &page);
    catalog_page_done(&page);
    return good ? TAKE(in) : NULL;
}

/* Recordings with a relative clock and an epoch are where the search finds them. */
static void apply_epochs(struct inputs *in) {
    for (uint32_t i = 0; i < in->n; i++) {
        const struct catalog_recording *row = &in->items[i].row;
        int64_t epoch_ns = row->annotations.epoch_ns, end;
        if (row->clock == REEL_CLOCK_RELATIVE && row->annotations.has_epoch &&
            !__builtin_add_overflow(row->start_ns, epoch_ns, &end) &&
            !__builtin_add_overflow(row->end_ns, epoch_ns, &end)) {
            in->sources[i].shift_ns = epoch_ns;
            in->sources[i].wall = true;
        }
    }
}

void api_search_export(struct http_request *r) {
    AUTO(inputs_free) struct inputs *in = inputs_found(r, http_segment(r, "name"));
    if (in && merge_inputs(r, in, align_of(r))) {
        if (align_of(r) == REEL_ALIGN_START) {
            apply_epochs(in);
        }
        in->prefixing = REEL_PREFIX_NEVER;
        api_convert_inputs(r, in);
    }
}
