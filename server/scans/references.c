/* See references.h. A state follows from size and time; only reading the whole file can show that its bytes are
 * unchanged. */
#include "scans/references.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "catalog/imports.h"
#include "scans/file_read.h"
#include "scans/open_recordings.h"
#include "scans/scan_job.h"
#include "scans/scanning.h"
#include "store/reference.h"
#include "store/roots.h"

enum { PAGE = 256, RECORDINGS_MAX = 256 };

bool references_has(struct app *app, const struct catalog_recording *r) {
    bool any = false;
    for (uint32_t i = 0; i < r->n_parts && !any; i++) {
        any = store_is_reference(app->store, r->parts[i].sha256);
    }
    return any;
}

bool references_verify(struct app *app, const struct catalog_recording *r, struct reel_error *err) {
    bool good = true;
    for (uint32_t i = 0; i < r->n_parts && good; i++) {
        uint64_t size;
        good = (store_is_bucket(app->store) && !store_is_reference(app->store, r->parts[i].sha256)) ||
               store_examine(app->store, r->parts[i].sha256, &size, err);
    }
    return good;
}

static bool set_state(struct app *app, struct catalog_recording *r, enum recording_state state, const char *why) {
    struct reel_error ignored;
    char *problem = strdup(why);
    if (!problem || !catalog_set_state(app->catalog, r->id, state, why, &ignored)) {
        free(problem);
        return false;
    }
    free(r->problem);
    r->problem = problem;
    r->state = state;
    recordings_forget(app->recordings, r->content);
    return true;
}

/* The files are unchanged again: ready, if the index still exists. */
static bool set_ready(struct app *app, struct catalog_recording *r) {
    struct reel_error ignored;
    AUTO(reel_index_free) struct reel_index *index = scan_open_pack(app, r->content, &ignored);
    if (!index) {
        scan_again(app, r, NULL, &ignored);
        return false;
    }
    return set_state(app, r, STATE_READY, "");
}

/* The state that the referenced files of r show; that of r when there are none. */
static enum recording_state state_of_files(struct app *app, const struct catalog_recording *r, struct reel_error *why) {
    bool may_differ = r->state == STATE_READY || r->state == STATE_MISSING || r->state == STATE_CHANGED;
    if (!may_differ || (!references_has(app, r) && r->state != STATE_CHANGED)) { /* changed: an upload may have added a
                                                                                    copy since */
        return r->state;
    }
    if (references_verify(app, r, why)) {
        return STATE_READY;
    }
    return why->code == REEL_NOT_FOUND                               ? STATE_MISSING
           : why->code == REEL_CHANGED || why->code == REEL_ARGUMENT ? STATE_CHANGED
                                                                     : r->state;
}

bool references_update_state(struct app *app, struct catalog_recording *r) {
    struct reel_error why = {0};
    enum recording_state state = state_of_files(app, r, &why);
    return state != r->state && (state == STATE_READY ? set_ready(app, r) : set_state(app, r, state, why.text));
}

void references_observe(struct app *app, struct catalog_recording *r) {
    struct reel_error why = {0};
    if (store_is_bucket(app->store)) {
        return; /* each look would be a request to S3; opening the file tells */
    }
    enum recording_state state = state_of_files(app, r, &why);
    char *problem = state != r->state ? strdup(why.text) : NULL;
    if (problem) {
        free(r->problem);
        r->problem = problem;
        r->state = state;
        references_check_files(app, r);
    }
}

/* ---- the files of one recording */

void references_check_files(struct app *app, const struct catalog_recording *r) {
    struct reel_error ignored;
    jobs_add(app->jobs,
             &(struct job_spec){.kind = "files", .key = r->id, .subject = r->id, .collection = r->collection}, NULL,
             &ignored);
}

static bool stored_files_are_there(struct app *app, const struct catalog_recording *r, struct reel_error *err) {
    for (uint32_t i = 0; i < r->n_parts; i++) {
        uint64_t size;
        if (!store_examine(app->store, r->parts[i].sha256, &size, err)) {
            return false;
        }
        if (size != r->parts[i].size) {
            return reel_fail(err, REEL_CHANGED, "the stored file has %llu bytes, not %llu", (unsigned long long)size,
                             (unsigned long long)r->parts[i].size);
        }
    }
    return true;
}

bool references_files_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    struct catalog_recording r;
    struct reel_error why = {0};
    if (!catalog_get(app->catalog, call->key, &r, &why)) {
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why); /* it was deleted */
    }
    if (r.state == STATE_CHANGED || references_has(app, &r)) {
        references_update_state(app, &r);
    } else if (r.state == STATE_READY && !stored_files_are_there(app, &r, &why) &&
               (why.code == REEL_NOT_FOUND || why.code == REEL_CHANGED)) {
        set_state(app, &r, STATE_MISSING, why.text);
    }
    catalog_recording_done(&r);
    return true;
}

void references_recheck(struct app *app, const char *sha256) {
    char ids[RECORDINGS_MAX][RECORDING_ID_TEXT];
    uint32_t n = 0;
    struct reel_error ignored;
    catalog_recordings_of_file(app->catalog, sha256, ids, RECORDINGS_MAX, &n, &ignored);
    for (uint32_t i = 0; i < n; i++) {
        struct catalog_recording r;
        if (catalog_get(app->catalog, ids[i], &r, &ignored)) {
            references_update_state(app, &r);
            catalog_recording_done(&r);
        }
    }
}

/* ---- other times, same content */

static bool replace_reference(struct app *app, const char *sha256, const struct store_reference *now) {
    struct reel_error ignored;
    AUTO_STRUCT(lock_release) struct key_lock lock = {0};
    if (!lock_try(app->locks, &lock, CONTENT_LOCK, sha256) || !store_is_reference(app->store, sha256) ||
        !store_keep_reference(app->store, sha256, now, &ignored)) {
        return false;
    }
    char folder[PATH_MAX];
    memcpy(folder, now->path, sizeof folder);
    char *slash = strrchr(folder, '/');
    struct catalog_import row = {
        .name = slash + 1, .device = now->device, .inode = now->inode, .size = now->size, .mtime_ns = now->mtime_ns};
    AUTO_STRUCT(catalog_imports_done) struct catalog_imports known = {0};
    *slash = '\0';
    catalog_imports_of_folder(app->catalog, slash == folder ? "/" : folder, &known, &ignored);
    for (uint32_t i = 0; i < known.n; i++) {
        if (strcmp(known.items[i].name, row.name) == 0) {
            row.mode = IMPORT_REFERENCE;
            memcpy(row.fingerprint, known.items[i].fingerprint, sizeof row.fingerprint);
            memcpy(row.content, sha256, sizeof row.content);
            memcpy(row.recording, known.items[i].recording, sizeof row.recording);
            catalog_imports_put(app->catalog, slash == folder ? "/" : folder, &row, 1, &ignored);
        }
    }
    return true;
}

bool references_confirm(struct app *app, const char *sha256, const struct reel_progress *progress) {
    struct store_reference was, now;
    struct reel_error ignored;
    char fingerprint[65], hash[SHA256_HEX];
    if (!store_load_reference(app->store, sha256, &was, &ignored)) {
        return false;
    }
    AUTO_FD int fd = roots_open_file(store_roots(app->store), was.path, O_RDONLY, &ignored);
    if (fd < 0 || !store_inspect(fd, was.path, &now, &ignored) || now.size != was.size ||
        !store_fingerprint(fd, now.size, fingerprint, &ignored) ||
        strcmp(fingerprint, was.fingerprint) != 0) { /* cheap, and finds most changes */
        return false;
    }
    memcpy(now.fingerprint, fingerprint, sizeof now.fingerprint);
    struct file_read in = {.fd = fd, .is = &now, .progress = progress};
    bool same = file_read_hash(&in, hash, &ignored) && file_read_unchanged(&in, &ignored) &&
                strcmp(hash, sha256) == 0 && replace_reference(app, sha256, &now);
    if (same) {
        references_recheck(app, sha256);
    }
    return same;
}

/* ---- after a catalog was lost */

void references_note(struct app *app, const char *sha256) {
    struct store_reference is;
    struct reel_error ignored;
    char ids[1][RECORDING_ID_TEXT];
    uint32_t n = 0;
    bool known = true;
    if (!store_load_reference(app->store, sha256, &is, &ignored)) {
        return;
    }
    char *slash = strrchr(is.path, '/');
    const char *folder = slash == is.path ? "/" : is.path;
    struct catalog_import row = {.name = slash + 1,
                                 .device = is.device,
                                 .inode = is.inode,
                                 .size = is.size,
                                 .mtime_ns = is.mtime_ns,
                                 .mode = IMPORT_REFERENCE};
    *slash = '\0';
    if (!catalog_import_is_known(app->catalog, folder, row.name, &known, &ignored) || known ||
        !catalog_recordings_of_file(app->catalog, sha256, ids, 1, &n, &ignored) || n == 0) {
        return;
    }
    memcpy(row.fingerprint, is.fingerprint, sizeof row.fingerprint);
    memcpy(row.content, sha256, sizeof row.content);
    memcpy(row.recording, ids[0], sizeof row.recording);
    catalog_imports_put(app->catalog, folder, &row, 1, &ignored);
}

/* ---- the check of all files */

static void check_one(struct app *app, const char *sha256, const struct reel_progress *progress) {
    struct reel_error why = {0};
    if (!store_is_reference(app->store, sha256)) {
        return;
    }
    AUTO_FD int fd = store_open_reference(app->store, sha256, &why);
    references_recheck(app, sha256);
    if (fd < 0 && why.code == REEL_CHANGED) {
        references_confirm(app, sha256, progress);
    }
}

bool references_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    const struct reel_progress *progress = call->progress;
    struct catalog_referenced page[PAGE];
    if (store_is_bucket(app->store)) {
        return true; /* objects are checked when they are opened */
    }
    AUTO_MEM char *folder = strdup(""), *name = strdup("");
    uint32_t n = PAGE;
    uint64_t done = 0;
    bool good = (folder && name) || reel_fail_memory(err);
    while (good && n == PAGE) {
        good = catalog_referenced_after(app->catalog, folder, name, page, PAGE, &n, err);
        for (uint32_t i = 0; i < n && good; i++) {
            check_one(app, page[i].content, progress);
            good = progress->report(progress->context, ++done, 0) || reel_fail(err, REEL_CANCELLED, "cancelled");
        }
        if (n > 0) {
            free(folder);
            free(name);
            folder = TAKE(page[n - 1].folder);
            name = TAKE(page[n - 1].name);
        }
        catalog_referenced_done(page, n);
    }
    return good;
}

void references_check(struct app *app) {
    jobs_poke(app->jobs, "references");
}
