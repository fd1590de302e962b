/* Files of this machine, copied in as if they had been uploaded: one, or the parts of one recording. Its one rule: nothing is kept before all of
 * them are there. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "ingest/ingest.h"
#include "ingest/names.h"
#include "reel/cleanup.h"

enum { COPY_BYTES = 1 << 20 };

static bool copy_in(int fd, uint64_t size, struct store_upload *upload, const struct reel_progress *progress, struct reel_error *err) {
    AUTO_MEM uint8_t *buffer = malloc(COPY_BYTES);
    if (!buffer) {
        return reel_fail_memory(err);
    }
    for (uint64_t done = 0;;) {
        ssize_t n = read(fd, buffer, COPY_BYTES);
        if (n == 0) {
            return true;
        }
        if (n < 0 && errno != EINTR) {
            return reel_fail_errno(err, "the file cannot be read");
        }
        if (n > 0 && !store_upload_write(upload, buffer, (size_t)n, err)) {
            return false;
        }
        done += n > 0 ? (uint64_t)n : 0;
        if (progress && progress->report && !progress->report(progress->context, done, size)) {
            return reel_fail(err, REEL_CANCELLED, "cancelled");
        }
    }
}

/* Fills file->upload, which its owner frees. */
static bool take_in(struct app *app, const char *path, const struct ingest_request *q, const struct reel_progress *progress,
                    struct ingest_file *file, struct reel_error *err) {
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        return reel_fail_errno(err, "%.200s cannot be opened", file->name);
    }
    if (!S_ISREG(st.st_mode)) {
        return reel_fail(err, REEL_ARGUMENT, "%.200s is no plain file", file->name);
    }
    return ingest_check(app, q, (uint64_t)st.st_size, err) && (file->upload = store_upload_begin(app->store, err)) &&
           copy_in(fd, (uint64_t)st.st_size, file->upload, progress, err) && store_upload_finish(file->upload, file->sha256, &file->size, err);
}

void ingest_files(struct app *app, const char *const *paths, uint32_t n, const struct ingest_request *q, const struct reel_progress *progress,
                  struct ingest_result *out, struct reel_error *err) {
    *out = (struct ingest_result){.outcome = INGEST_REFUSED};
    AUTO_MEM struct ingest_file *files = calloc(n, sizeof *files);
    bool good = files || reel_fail_memory(err);
    for (uint32_t i = 0; i < n && good; i++) {
        files[i].name = names_file(n == 1 ? q->name : paths[i]);
        good = take_in(app, paths[i], q, progress, &files[i], err);
    }
    if (good) {
        ingest_uploads(app, files, n, q, INT64_MAX, out, err);
    }
    for (uint32_t i = 0; i < n && files; i++) {
        store_upload_free(files[i].upload);
    }
}
