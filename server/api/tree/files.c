/* The files of a recording: its originals, and what it is converted to. */
#include <string.h>

#include "api/digests.h"
#include "api/export/export.h"
#include "api/tree/tree.h"
#include "base/cleanup.h"
#include "convert/writer.h"

static const int64_t OPEN_WAIT_NS = 2000000000; /* for its index */

bool tree_is_shown(const struct catalog_recording *row) {
    return row->n_parts > 0 && row->state != STATE_TRASHED && row->state != STATE_MISSING;
}

static bool original_properties(struct http_request *r, const struct tree_node *node, int64_t wait_ns,
                                struct tree_properties *out, struct reel_error *err) {
    char digest[72];
    (void)r, (void)wait_ns, (void)err;
    *out = (struct tree_properties){.size = node->part->size, .media_type = "application/octet-stream"};
    api_digest_texts(node->part->sha256, out->etag, digest);
    return true;
}

static void original_reply(struct http_request *r, const struct tree_node *node) {
    api_reply_part(r, &node->row, node->part);
}

const struct tree_file tree_original = {original_properties, original_reply};

/* The memory of one open recording; it is given back after its file is listed. */
static bool hold(struct http_request *r, const struct api_recording *a, struct reel_error *err) {
    return http_hold(r, (16 << 10) + reel_recording_index(a->recording)->memory, err);
}

static bool conversion_properties(struct http_request *r, const struct tree_node *node, int64_t wait_ns,
                                  struct tree_properties *out, struct reel_error *err) {
    const struct reel_writer *writer = reel_writer_for_file(node->name, NULL, err);
    struct api_recording a = {.row = node->row}; /* lent */
    const struct api_export_file file = {.name = node->name, .channels = node->channels};
    uint64_t held = http_held(r);
    char job[33];
    bool costly = false, good;
    if (!writer) {
        return false;
    }
    if (node->row.state != STATE_READY) {
        return reel_fail(err, REEL_NOT_FOUND, "this recording is not ready");
    }
    *out = (struct tree_properties){.media_type = writer->media_type};
    a.recording = api_recording_open(http_app(r), &a.row, wait_ns > OPEN_WAIT_NS ? OPEN_WAIT_NS : wait_ns, job, err);
    if (!a.recording) {
        return job[0] && reel_fail(err, REEL_BUSY, "a recording is being indexed; try again");
    }
    good = hold(r, &a, err) && api_export_size(r, &a, &file, wait_ns, &out->size, out->etag, &costly, err);
    reel_recording_free(a.recording);
    http_give_back(r, http_held(r) - held);
    if (!good && costly && err->code == REEL_BUSY) {
        return reel_fail(err, REEL_NOT_FOUND, "a video is not made to be listed; it is once it was read");
    }
    return good;
}

static void conversion_reply(struct http_request *r, const struct tree_node *node) {
    api_export(r, node->row.id, &(struct api_export_file){.name = node->name, .channels = node->channels});
}

const struct tree_file tree_conversion = {conversion_properties, conversion_reply};
