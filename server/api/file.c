/* /file: the original bytes. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "api/common.h"
#include "api/routes.h"
#include "wire/cleanup.h"

/* The part named in the path. For a recording of one file any name is accepted, so that links may end in a name of their own. */
static const struct catalog_part *find_part(const struct catalog_recording *row, const char *name) {
    for (uint32_t i = 0; i < row->n_parts; i++) {
        if (strcmp(row->parts[i].file_name, name) == 0) {
            return &row->parts[i];
        }
    }
    return row->n_parts == 1 ? &row->parts[0] : NULL;
}

static bool read_source(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    return reel_source_read(context, offset, buffer, size, err);
}
static void free_source(void *context) {
    reel_source_free(context);
}

static struct reel_source *open_part(struct store *store, const struct catalog_part *part, struct reel_error *err) {
    AUTO(reel_source_free) struct reel_source *source = store_open_blob(store, part->sha256, part->file_name, err);
    if (source && source->size != part->size) {
        reel_fail(err, REEL_CHANGED, "the stored file has not the size that it had");
        return NULL;
    }
    return TAKE(source);
}

static void reply_part(struct http_request *r, const struct catalog_recording *row, const struct catalog_part *part) {
    char etag[64], digest[72];
    struct reel_error err = {0};
    struct reel_source *source = open_part(http_app(r)->store, part, &err);
    if (!source) {
        bool missing = err.code == REEL_NOT_FOUND || err.code == REEL_CHANGED;
        missing ? http_reply_problem(r, 410, "missing", "%s; upload it again", err.text) : http_reply_error(r, &err);
        return;
    }
    const char *name = strrchr(part->file_name, '/');
    int fd = reel_source_fd(source) >= 0 ? fcntl(reel_source_fd(source), F_DUPFD_CLOEXEC, 0) : -1;
    api_digest_texts(part->sha256, etag, digest);
    http_reply_file(r, &(struct http_file){.length = part->size,
                                           .etag = etag,
                                           .media_type = "application/octet-stream",
                                           .file_name = name ? name + 1 : part->file_name,
                                           .repr_digest = digest,
                                           .modified_ns = row->created_ns,
                                           .fd = fd,
                                           .read = read_source,
                                           .free = free_source,
                                           .context = source});
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
