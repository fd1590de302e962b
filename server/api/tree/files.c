/* The files of a recording: its originals, and what it is converted to. */
#include <stdlib.h>
#include <string.h>

#include "api/digests.h"
#include "api/export/export.h"
#include "api/reserve.h"
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
    *out =
        (struct tree_properties){.size = node->part->size, .is_digest = true, .media_type = "application/octet-stream"};
    api_digest_texts(node->part->sha256, out->etag, digest);
    return true;
}

static void original_reply(struct http_request *r, const struct tree_node *node) {
    api_reply_part(r, &node->row, node->part);
}

static bool original_open(struct http_request *r, const struct tree_node *node, struct tar_content *out, char etag[64],
                          struct reel_error *err) {
    char digest[72];
    const struct catalog_part *part = node->part;
    api_digest_texts(part->sha256, etag, digest);
    return tar_content_of_blob(http_app(r)->store, part->sha256, part->file_name, part->size, out, err);
}

const struct tree_file tree_original = {original_properties, original_open, original_reply};

/* The memory of one open recording; it is given back after its file is listed. */
static bool hold(struct http_request *r, const struct api_recording *a, struct reel_error *err) {
    return http_hold(r, (16 << 10) + reel_recording_index(a->recording)->memory, err);
}

/* Opens the node's recording, and holds its memory. `node` keeps what is lent. */
static bool open_recording(struct http_request *r, const struct tree_node *node, int64_t wait_ns,
                           struct api_recording *out, struct reel_error *err) {
    char job[33];
    *out = (struct api_recording){.row = node->row}; /* lent */
    if (node->row.state != STATE_READY) {
        return reel_fail(err, REEL_NOT_FOUND, "this recording is not ready");
    }
    out->recording = api_recording_open(http_app(r), &out->row, wait_ns, job, err);
    if (!out->recording) {
        return job[0] && reel_fail(err, REEL_BUSY, "a recording is being indexed; try again");
    }
    if (!hold(r, out, err)) {
        reel_recording_free(TAKE(out->recording));
    }
    return out->recording;
}

static bool conversion_properties(struct http_request *r, const struct tree_node *node, int64_t wait_ns,
                                  struct tree_properties *out, struct reel_error *err) {
    const struct reel_writer *writer = reel_writer_for_file(node->name, NULL, err);
    const struct api_export_file file = {.name = node->name, .channels = node->channels};
    struct api_recording a;
    uint64_t held = http_held(r);
    bool costly = false;
    if (!writer || !open_recording(r, node, wait_ns > OPEN_WAIT_NS ? OPEN_WAIT_NS : wait_ns, &a, err)) {
        return false;
    }
    *out = (struct tree_properties){.media_type = writer->media_type};
    bool good = api_export_size(r, &a, &file, wait_ns, &out->size, out->etag, &costly, err);
    reel_recording_free(a.recording);
    http_give_back(r, http_held(r) - held);
    if (!good && costly && err->code == REEL_BUSY) {
        return reel_fail(err, REEL_NOT_FOUND, "a video is not made to be listed; it is once it was read");
    }
    return good;
}

struct open_conversion {
    struct http_request *r;
    struct reel_planned_output *output;
    uint64_t held; /* bytes */
};

static bool read_conversion(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    const struct open_conversion *c = context;
    return reel_planned_output_read(c->output, offset, buffer, size, err);
}

static void free_conversion(void *context) {
    struct open_conversion *c = context;
    reel_planned_output_free(c->output);
    http_give_back(c->r, c->held);
    free(c);
}

static bool conversion_open(struct http_request *r, const struct tree_node *node, struct tar_content *out,
                            char etag[64], struct reel_error *err) {
    const struct api_export_file file = {.name = node->name, .channels = node->channels};
    struct api_recording a;
    uint64_t held = http_held(r);
    struct open_conversion *c = calloc(1, sizeof *c);
    if (!c) {
        return reel_fail_memory(err);
    }
    *c = (struct open_conversion){.r = r};
    if (open_recording(r, node, OPEN_WAIT_NS, &a, err)) {
        bool room = http_hold(r, api_stream_memory(a.recording), err);
        c->output = room ? api_export_open(r, &a, &file, etag, err) : NULL;
        reel_recording_free(a.recording);
    }
    c->held = http_held(r) - held;
    if (!c->output) {
        http_give_back(r, c->held);
        free(c);
        return false;
    }
    *out = (struct tar_content){read_conversion, free_conversion, c};
    return true;
}

static void conversion_reply(struct http_request *r, const struct tree_node *node) {
    api_export(r, node->row.id, &(struct api_export_file){.name = node->name, .channels = node->channels});
}

const struct tree_file tree_conversion = {conversion_properties, conversion_open, conversion_reply};
