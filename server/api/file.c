/* /file: the original bytes. */
#include <stdio.h>
#include <string.h>

#include "api/common.h"
#include "api/routes.h"

/* The part named in the path. For a recording of one file any name is accepted, so that links may end in a name of their own. */
static const struct catalog_part *find_part(const struct catalog_recording *row, const char *name) {
    for (uint32_t i = 0; i < row->n_parts; i++) {
        if (strcmp(row->parts[i].file_name, name) == 0) {
            return &row->parts[i];
        }
    }
    return row->n_parts == 1 ? &row->parts[0] : NULL;
}

static void reply_part(struct http_request *r, const struct catalog_recording *row, const struct catalog_part *part) {
    char etag[64], digest[72];
    struct reel_error err = {0};
    int fd = store_open_file_sized(http_app(r)->store, part->sha256, part->size, &err);
    if (fd < 0) {
        bool missing = err.code == REEL_NOT_FOUND || err.code == REEL_CHANGED;
        missing ? http_reply_problem(r, 410, "missing", "%s; upload it again", err.text) : http_reply_error(r, &err);
        return;
    }
    const char *name = strrchr(part->file_name, '/');
    api_digest_texts(part->sha256, etag, digest);
    http_reply_file(r, &(struct http_file){.length = part->size,
                                           .etag = etag,
                                           .media_type = "application/octet-stream",
                                           .file_name = name ? name + 1 : part->file_name,
                                           .repr_digest = digest,
                                           .modified_ns = row->created_ns,
                                           .fd = fd});
}

void api_file(struct http_request *r) {
    struct api_recording a;
    if (!api_find(r, &a)) {
        return;
    }
    const struct catalog_part *part = find_part(&a.row, http_segment(r, "name"));
    if (a.row.state == STATE_TRASHED) {
        http_reply_problem(r, 410, "trashed", "this recording is in the trash; POST …/restore brings it back");
    } else if (!part) {
        http_reply_problem(r, 404, "not-found", "this recording has no file %s", http_segment(r, "name"));
    } else {
        reply_part(r, &a.row, part);
    }
    api_recording_done(&a);
}
