/* /recordings/{id}/thumbnail: a small picture of a recording, or a strip of ten, made when it is first asked for and
 * kept among the derived files. /previews: for many recordings at once whether they have one, and how many messages
 * they have over time. */
#include <stdio.h>
#include <string.h>

#include "api/contents/contents.h"
#include "api/contents/frame.h"
#include "api/digests.h"
#include "api/paging.h"
#include "api/recording.h"
#include "base/cleanup.h"
#include "scans/scanning.h"
#include "work/locks.h"

enum { THUMBNAIL_VERSION = 1, BARS = 40, BUSIEST = 64, PREVIEWS_MAX = 100 };
static const struct reel_thumbnail single = {.frames = 1, .width = 320, .height = 320},
                                   strip = {.frames = 10, .width = 240, .height = 240};

/* A finished recording keeps its content under its id. */
static void add_cache_header(struct http_request *r, const struct catalog_recording *row) {
    http_add_header(r, "Cache-Control", row->state == STATE_READY ? "private, max-age=604800, immutable" : "no-store");
}

/* False: it was not kept. */
static bool reply_kept(struct http_request *r, const struct catalog_recording *row, const char *name,
                       const char *etag) {
    uint64_t size;
    int fd = store_open_picture(http_app(r)->store, row->content, name, &size);
    if (fd < 0) {
        return false;
    }
    add_cache_header(r, row);
    http_reply_file(r, &(struct http_file){.length = size, .etag = etag, .media_type = "image/jpeg", .fd = fd});
    return true;
}

struct image_memory {
    struct http_request *r;
    uint64_t open; /* bytes that the request held before */
};

/* Of one image at a time. */
static bool reserve_image(void *context, uint64_t bytes, struct reel_error *err) {
    const struct image_memory *m = context;
    http_give_back(m->r, http_held(m->r) - m->open);
    return frame_hold_bytes(m->r, bytes, err);
}

static void thumbnail_make(struct http_request *r, const struct api_recording *a, const struct reel_thumbnail *options,
                           const char *name, const char *etag) {
    struct app *app = http_app(r);
    struct reel_picture picture = {0};
    struct reel_error err = {0}, ignored = {0};
    AUTO_STRUCT(lock_release) struct key_lock lock = {0};
    lock_take(app->locks, &lock, "thumbnail", a->row.content); /* made once */
    if (a->row.state == STATE_READY && reply_kept(r, &a->row, name, etag)) {
        return;
    }
    struct image_memory memory = {.r = r, .open = http_held(r)};
    struct reel_thumbnail counted = *options;
    counted.reserve = reserve_image;
    counted.context = &memory;
    bool good = reel_thumbnail_make(a->recording, &counted, &picture, &err);
    http_give_back(r, http_held(r) - memory.open);
    if (!good) {
        frame_reply_not_drawn(r, &err);
        return;
    }
    if (a->row.state == STATE_READY) {
        store_keep_picture(app->store, a->row.content, name, picture.data, picture.size, &ignored); /* else it is made
                                                                                                       again */
    }
    add_cache_header(r, &a->row);
    frame_reply(r, &picture, "image/jpeg", etag);
}

void api_thumbnail(struct http_request *r) {
    const char *frames = http_param(r, "frames");
    const struct reel_thumbnail *options = frames && strcmp(frames, "10") == 0 ? &strip : &single;
    struct api_recording a;
    char name[64], text[200], etag[64];
    if (!api_find(r, &a)) {
        return;
    }
    snprintf(name, sizeof name, "%u-%u-%u-%u", THUMBNAIL_VERSION, REEL_PICTURE_VERSION, reel_encodings_version(),
             options->frames);
    snprintf(text, sizeof text, "thumbnail %s %s %llu", name, a.row.content, (unsigned long long)a.row.size);
    api_etag(text, etag);
    bool done = a.row.state == STATE_READY && reply_kept(r, &a.row, name, etag);
    api_recording_done(&a);
    if (!done && api_open_messages(r, &a)) {
        thumbnail_make(r, &a, options, name, etag);
        api_recording_done(&a);
    }
}

/* ---- previews */

/* The messages of its busiest channels, in equal spans of its duration. NULL: no memory, or the index is damaged. */
static json_t *view_rate(const struct reel_index *index) {
    const struct reel_index_info *info = reel_index_info(index);
    const uint64_t width_ns = ((uint64_t)info->end_ns - (uint64_t)info->start_ns) / BARS + 1;
    uint64_t least = 0;
    struct reel_span spans[BARS] = {{0}};
    uint32_t counted = 0;
    for (uint32_t id = 0; id < info->n_channels; id++) {
        uint64_t count = reel_index_stats(index, id)->count;
        least = count > least ? count : least;
    }
    least /= 1000; /* what has so few does not show */
    for (uint32_t id = 0; id < info->n_channels && counted < BUSIEST; id++) {
        if (reel_index_stats(index, id)->count > least) {
            counted++;
            if (!reel_index_coverage(index, id, info->start_ns, width_ns, spans, BARS, NULL)) {
                return NULL;
            }
        }
    }
    json_t *bars = json_array();
    for (uint32_t i = 0; i < BARS; i++) {
        json_array_append_new(bars, view_u64(spans[i].count));
    }
    return bars;
}

static json_t *preview(struct app *app, const struct catalog_recording *row) {
    AUTO(reel_index_free)
    struct reel_index *index = row->state == STATE_READY ? scan_open_pack(app, row->content, NULL) : NULL;
    json_t *rate = index && row->messages > 0 ? view_rate(index) : NULL;
    return json_pack("{s:s, s:b, s:o}", "recording", row->id, "picture", index && reel_thumbnail_fits(index), "rate",
                     rate ? rate : json_null());
}

/* False: replied, as there was no memory for the index. */
static bool add_preview(struct http_request *r, const struct catalog_recording *row, json_t *items) {
    const uint64_t held = http_held(r);
    if (row->state == STATE_READY && !http_reserve(r, scan_pack_memory(http_app(r), row->content))) {
        return false;
    }
    json_array_append_new(items, preview(http_app(r), row));
    http_give_back(r, http_held(r) - held);
    return true;
}

void api_previews(struct http_request *r) {
    static const char *const columns[] = {"recording", "picture", "rate", NULL};
    const char *ids[PREVIEWS_MAX];
    size_t n = http_params(r, "recording", ids, PREVIEWS_MAX);
    json_t *items = json_array();
    bool good = true;
    for (size_t i = 0; good && i < n; i++) {
        struct catalog_recording row;
        if (!catalog_get(http_app(r)->catalog, ids[i], &row, NULL)) {
            continue; /* deleted meanwhile */
        }
        good = !http_caller_sees(http_caller(r), row.collection) || add_preview(r, &row, items);
        catalog_recording_done(&row);
    }
    if (good) {
        paging_reply(r, items, NULL, columns);
    } else {
        json_decref(items);
    }
}
