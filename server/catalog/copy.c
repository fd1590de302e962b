/* A copy of the catalog while it is in use. It is written to another name and renamed when it is complete and durable.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/hex.h"
#include "catalog/catalog_internal.h"
#include "catalog/jobs.h"
#include "catalog/maintenance.h"
#include "reel/time.h"

enum { READ_BYTES = 1 << 20 };

/* Marks the copy as one: the first server that runs on it adds the newer recordings of its store. */
static bool mark_copy(const char *path, uint64_t *recordings, struct reel_error *err) {
    struct catalog *copy = catalog_open(path, err);
    struct catalog_statistics f;
    char when[24];
    snprintf(when, sizeof when, "%lld", (long long)reel_now_ns());
    bool good = copy && catalog_jobs_drop(copy, err) && catalog_set_maintenance(copy, "copied", when, err) &&
                catalog_set_maintenance(copy, CATALOG_STATISTICS, NULL, err) && /* files of them are not copied */
                catalog_statistics(copy, &f, err);
    for (unsigned i = 0; good && i < sizeof f.recordings / sizeof *f.recordings; i++) {
        *recordings += f.recordings[i];
    }
    good = good && db_single_file(copy->db, err);
    catalog_close(copy);
    return good;
}

static bool copy_hash_file(int fd, struct catalog_copy *out, struct reel_error *err) {
    AUTO_MEM uint8_t *buffer = malloc(READ_BYTES);
    struct digest hash;
    ssize_t got;
    if (!buffer) {
        return reel_fail_memory(err);
    }
    digest_start(&hash, DIGEST_SHA256);
    while ((got = read(fd, buffer, READ_BYTES)) > 0) {
        if (!cancel_check(err)) {
            return false;
        }
        out->bytes += (uint64_t)got;
        digest_add(&hash, buffer, (size_t)got);
    }
    if (got < 0) {
        return reel_fail_errno(err, "the copy of the catalog cannot be read back");
    }
    digest_end_hex(&hash, out->sha256);
    return true;
}

static bool copy_finish(const char *from, const char *to, struct catalog_copy *out, struct reel_error *err) {
    AUTO_FD int fd = open(from, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0) {
        return reel_fail_errno(err, "the copy of the catalog cannot be written to disk");
    }
    return copy_hash_file(fd, out, err) &&
           (rename(from, to) == 0 || reel_fail_errno(err, "the copy of the catalog cannot get its name"));
}

bool catalog_copy(struct catalog *c, const char *path, const struct reel_progress *progress, struct catalog_copy *out,
                  struct reel_error *err) {
    char from[PATH_MAX];
    *out = (struct catalog_copy){0};
    int n = snprintf(from, sizeof from, "%s.part", path);
    if (n < 0 || (size_t)n >= sizeof from) {
        return reel_fail(err, REEL_ARGUMENT, "the backup folder's path is too long");
    }
    unlink(from);
    bool good = db_copy(c->db, from, progress, err) && mark_copy(from, &out->recordings, err) &&
                copy_finish(from, path, out, err);
    if (!good) {
        unlink(from);
    }
    return good;
}
