/* /file: the original bytes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/digests.h"
#include "api/export/export.h"
#include "api/recording.h"
#include "base/cleanup.h"
#include "recordings/names.h"
#include "scans/references.h"

/* The part named in the path. For a recording of one file any name is accepted, so that links may end in a name of
 * their own. */
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

/* With --redirect-originals, but not to clients of S3, which would sign the other address as if it were here. A
 * condition names the entity tag of this server, which S3 does not know. */
static bool is_redirected(const struct http_request *r) {
    static const char *const conditions[] = {"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
                                             "If-Range"};
    bool plain = http_app(r)->config.redirect_originals && !http_is_head(r) && !http_is_of_protocol(r);
    for (unsigned i = 0; plain && i < sizeof conditions / sizeof *conditions; i++) {
        plain = !http_header(r, conditions[i]);
    }
    return plain;
}

/* False: it cannot be read from the bucket directly. */
static bool redirect(struct http_request *r, const struct catalog_part *part, const char *file_name) {
    struct reel_error ignored;
    AUTO_MEM char *address = malloc(STORE_ADDRESS_MAX);
    if (!address ||
        !store_sign_address(http_app(r)->store, part->sha256, file_name, address, STORE_ADDRESS_MAX, &ignored)) {
        return false;
    }
    http_add_header(r, "Location", address);
    http_add_header(r, "Cache-Control", "no-store");
    http_reply_empty(r, 307);
    return true;
}

void api_reply_part(struct http_request *r, const struct catalog_recording *row, const struct catalog_part *part) {
    char etag[64], digest[72];
    struct reel_error err = {0};
    const char *name = names_file(part->file_name);
    if (is_redirected(r) && redirect(r, part, name)) {
        return;
    }
    struct reel_source *source = open_part(http_app(r)->store, part, &err);
    if (!source) {
        bool missing = err.code == REEL_NOT_FOUND || err.code == REEL_CHANGED;
        if (missing) {
            references_check_files(http_app(r), row);
        }
        missing ? http_reply_problem(r, 410, "missing", "%s; upload it again", err.text) : http_reply_error(r, &err);
        return;
    }
    int whole = reel_source_fd(source), fd = whole >= 0 ? fcntl(whole, F_DUPFD_CLOEXEC, 0) : -1;
    api_digest_texts(part->sha256, etag, digest);
    http_reply_file(r, &(struct http_file){.length = part->size,
                                           .etag = etag,
                                           .media_type = "application/octet-stream",
                                           .file_name = name,
                                           .repr_digest = digest,
                                           .modified_ns = row->created_ns,
                                           .fd = fd,
                                           .read = read_source,
                                           .free = free_source,
                                           .context = source});
}

static void reply_no_file(struct http_request *r, const struct catalog_recording *row) {
    char names[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < row->n_parts && used < sizeof names; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", row->parts[i].file_name);
    }
    http_reply_problem(r, 404, "not-found", "this recording has no file \"%s\": its files are %s%s",
                       http_segment(r, "name"), names, used < sizeof names ? "" : "…");
}

void api_file(struct http_request *r) {
    struct api_recording a;
    if (!api_find(r, &a)) {
        return;
    }
    const struct catalog_part *part = find_part(&a.row, http_segment(r, "name"));
    if (a.row.state == STATE_TRASHED) {
        http_reply_problem(r, 410, "trashed", "this recording is in the trash; POST …/restore brings it back");
    } else if (a.row.state == STATE_ANNOUNCED) {
        api_reply_announced(r, &a.row);
    } else if (!part) {
        reply_no_file(r, &a.row);
    } else {
        api_reply_part(r, &a.row, part);
    }
    api_recording_done(&a);
}
