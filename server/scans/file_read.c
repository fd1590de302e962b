/* See file_read.h. */
#include "scans/file_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/hex.h"
#include "store/store.h"

enum { READ_BYTES = 1 << 20 };

bool file_read_all(struct file_read *in, struct reel_error *err) {
    AUTO_MEM uint8_t *buffer = malloc(READ_BYTES);
    if (!buffer) {
        return reel_fail_memory(err);
    }
    for (uint64_t done = 0;;) {
        ssize_t n = read(in->fd, buffer, READ_BYTES);
        if (n == 0) {
            return done == in->is->size || reel_fail(err, REEL_CHANGED, "the file is still being written");
        }
        if (n < 0 && errno != EINTR) {
            return reel_fail_errno(err, "the file cannot be read");
        }
        if (n > 0 && in->upload && !store_upload_write(in->upload, buffer, (size_t)n, err)) {
            return false;
        }
        if (n > 0 && in->hash) {
            digest_add(in->hash, buffer, (size_t)n);
        }
        done += n > 0 ? (uint64_t)n : 0;
        if (!cancel_check(err)) {
            return false;
        }
        if (in->progress && in->progress->report && !in->progress->report(in->progress->context, done, in->is->size)) {
            return reel_fail(err, REEL_CANCELLED, "cancelled");
        }
    }
}

bool file_read_unchanged(const struct file_read *in, struct reel_error *err) {
    struct store_reference now;
    return store_inspect(in->fd, in->is->path, &now, err) &&
           ((now.size == in->is->size && now.mtime_ns == in->is->mtime_ns) ||
            reel_fail(err, REEL_CHANGED, "the file has changed while it was read"));
}

bool file_read_hash(struct file_read *in, char sha256[SHA256_HEX], struct reel_error *err) {
    struct digest hash;
    digest_start(&hash, DIGEST_SHA256);
    in->hash = &hash;
    bool good = file_read_all(in, err);
    in->hash = NULL;
    digest_end_hex(&hash, sha256);
    return good;
}
