/* Local files, copied as if they had been uploaded, or referenced: one, or all parts of one recording. Nothing is kept
 * unless every file was read and none was written to meanwhile; a file that is moved is deleted only when its recording
 * is stored durably. */
#include "imports/local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "recordings/names.h"
#include "reel/cleanup.h"
#include "scans/file_read.h"
#include "store/roots.h"

static bool copy_file(struct app *app, struct file_read *in, bool move, struct ingest_file *file,
                      struct reel_error *err) {
    uint64_t size;
    if (!(in->upload = file->upload = store_upload_begin(app->store, err))) {
        return false;
    }
    bool shared = store_upload_share(in->upload, in->fd, move);
    return (shared ? store_upload_hash(in->upload, in->progress, err) : file_read_all(in, err)) &&
           store_upload_finish(in->upload, file->sha256, &size, err) &&
           (size == in->is->size || reel_fail(err, REEL_CHANGED, "the file is still being written"));
}

/* Copies the file into file->upload, which the caller frees, or makes it a reference. */
static bool read_file(struct app *app, const char *path, const struct ingest_request *q,
                      const struct local_options *options, struct store_reference *is,
                      const struct reel_progress *progress, struct ingest_file *file, struct reel_error *err) {
    AUTO_FD int fd = roots_open_file(store_roots(app->store), path, O_RDONLY, err);
    struct store_reference seen = *is;
    struct file_read in = {.fd = fd, .is = is, .progress = progress};
    if (fd < 0 || !store_inspect(fd, path, is, err)) {
        return false;
    }
    if (options->seen && (seen.size != is->size || seen.mtime_ns != is->mtime_ns)) {
        return reel_fail(err, REEL_CHANGED, "the file is still being written");
    }
    if (!ingest_check(app, q, options->reference ? 0 : is->size, err) ||
        !store_fingerprint(fd, is->size, is->fingerprint, err)) {
        return false;
    }
    file->size = is->size;
    file->reference = options->reference ? is : NULL;
    return (options->reference ? file_read_hash(&in, file->sha256, err)
                               : copy_file(app, &in, options->move, file, err)) &&
           file_read_unchanged(&in, err);
}

/* Deletes the source unless it was modified since. If the store has taken over the file itself, only its owner may read
 * it from now on. */
static void remove_source(struct app *app, const struct store_upload *upload, const struct store_reference *was) {
    struct store_reference now;
    struct reel_error ignored;
    AUTO_FD int fd = roots_open_file(store_roots(app->store), was->path, O_RDONLY, &ignored);
    if (fd >= 0 && store_inspect(fd, was->path, &now, &ignored) && now.device == was->device &&
        now.inode == was->inode && now.size == was->size && now.mtime_ns == was->mtime_ns &&
        roots_unlink(store_roots(app->store), was->path, &ignored) && store_upload_is_whole(upload)) {
        (void)fchmod(fd, 0600);
    }
}

void ingest_files(struct app *app, const char *const *paths, uint32_t n, const struct ingest_request *q,
                  const struct local_options *options, struct ingest_file *files, struct ingest_result *out,
                  struct reel_error *err) {
    static const struct local_options defaults = {.wait_ns = INT64_MAX};
    *out = (struct ingest_result){.outcome = INGEST_REFUSED};
    options = options ? options : &defaults;
    AUTO_MEM struct store_reference *own = options->are ? NULL : calloc(n, sizeof *own);
    AUTO_MEM struct ingest_file *own_files = files ? NULL : calloc(n, sizeof *own_files);
    struct store_reference *are = options->are ? options->are : own;
    files = files ? files : own_files;
    bool good = (are && files) || reel_fail_memory(err);
    for (uint32_t i = 0; i < n && good; i++) {
        files[i].name = n == 1 ? ingest_file_name(q) : names_file(paths[i]);
        good = read_file(app, paths[i], q, options, &are[i], options->progress, &files[i], err) ||
               (n > 1 && reel_error_at(err, "%.120s", names_file(paths[i])));
    }
    if (good) {
        ingest_uploads(app, files, n, q, options->wait_ns, out, err);
    }
    bool kept = out->outcome != INGEST_REFUSED && out->outcome != INGEST_KEPT;
    for (uint32_t i = 0; i < n && files; i++) {
        if (kept && options->move) {
            remove_source(app, files[i].upload, &are[i]);
        }
        store_upload_free(TAKE(files[i].upload));
    }
}
