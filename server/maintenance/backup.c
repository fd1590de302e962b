/* See backup.h. backup.json is removed first and written last: a folder without it is no complete backup. */
#include "maintenance/backup.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "catalog/access.h"
#include "catalog/maintenance.h"
#include "json_whole.h"
#include "maintenance/backup_files.h"
#include "reel/time.h"
#include "store/inspect.h"
#include "store/tokens_record.h"

const char *const backup_blobs_names[] = {"none", "link", "copy", NULL};

REEL_DEFINE_AUTO(struct catalog, catalog_close);

static bool is_empty(const char *folder) {
    DIR *d = opendir(folder);
    unsigned n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    }
    if (d) {
        closedir(d);
    }
    return d && n == 0;
}

static bool make_folder(const char *folder, const char *name, struct reel_error *err) {
    char path[PATH_MAX];
    return disk_join(path, folder, name, err) &&
           (mkdir(path, 0700) == 0 || errno == EEXIST || reel_fail_errno(err, "the backup folder cannot be created"));
}

/* Creates the folder; checks that it is empty or holds a backup. */
static bool backup_prepare(const char *folder, struct reel_error *err) {
    char path[PATH_MAX];
    if (!disk_join(path, folder, "blobs", err)) {
        return false;
    }
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        return reel_fail_errno(err, "the backup folder cannot be created");
    }
    bool empty = is_empty(folder);
    if (!empty && (!disk_join(path, folder, "backup.json", err) || access(path, F_OK) != 0)) {
        return reel_fail(err, REEL_CONFLICT, "the folder is not empty and holds no complete backup; use a new folder");
    }
    if (!empty && unlink(path) != 0) {
        return reel_fail_errno(err, "the earlier backup cannot be replaced");
    }
    return make_folder(folder, "blobs", err) && make_folder(folder, "incoming", err) && /* where files are written */
           make_folder(folder, "live", err);
}

static json_t *manifest_of(const struct catalog_copy *copy, const struct backup_files *files, enum backup_blobs blobs) {
    char when[REEL_TIME_TEXT];
    reel_time_rfc3339(reel_now_ns(), when);
    json_t *catalog = json_pack("{s:s, s:i, s:I, s:s}", "file", "catalog.db", "version", (int)catalog_version(), "size",
                                (json_int_t)copy->bytes, "sha256", copy->sha256);
    json_t *stored = json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:I, s:I}", "list", "blobs.txt", "sha256",
                               files->list_sha256, "count", (json_int_t)files->count, "size", (json_int_t)files->bytes,
                               "elsewhere", (json_int_t)files->elsewhere, "kept", backup_blobs_names[blobs], "gone",
                               (json_int_t)files->gone, "live", (json_int_t)files->live);
    return json_pack("{s:i, s:s, s:s, s:I, s:o, s:o}", "reel_backup", 1, "version", REEL_VERSION, "time", when,
                     "recordings", (json_int_t)copy->recordings, "catalog", catalog, "files", stored);
}

/* What is restored from the backup is closed as the archive is, also without its catalog. */
static bool copy_record(struct app *app, struct catalog *copied, const char *folder, struct reel_error *err) {
    bool exist, recorded;
    return catalog_tokens_exist(copied, &exist, err) &&
           tokens_record_exists(store_folder(app->store), app->store, &recorded, err) &&
           ((!exist && !recorded) || tokens_record_write(folder, NULL, err));
}

static bool backup_make(struct app *app, const char *folder, enum backup_blobs blobs,
                        const struct reel_progress *progress, json_t **manifest, struct reel_error *err) {
    char path[PATH_MAX];
    struct catalog_copy copy;
    bool alone = false;
    struct store *to = backup_prepare(folder, err) ? store_open_readonly(folder, &alone, err) : NULL;
    struct backup_files files = {
        .from = app->store, .to = to, .now = app->catalog, .blobs = blobs, .progress = progress};
    bool good = to && (alone || reel_fail(err, REEL_CONFLICT, "a server runs on that folder")) &&
                disk_join(path, folder, "catalog.db", err) && catalog_copy(app->catalog, path, progress, &copy, err);
    AUTO(catalog_close) struct catalog *copied = good ? catalog_open_readonly(path, err) : NULL;
    good = copied && copy_record(app, copied, folder, err) && backup_files(&files, copied, folder, err) &&
           (*manifest = manifest_of(&copy, &files, blobs)) && backup_write_json(folder, *manifest, err);
    store_close(to);
    return good;
}

bool backup_run(struct app *app, const char *folder, enum backup_blobs blobs, const struct reel_progress *progress,
                json_t **manifest, struct reel_error *err) {
    *manifest = NULL;
    if (store_is_bucket(app->store)) {
        return reel_fail(
            err, REEL_UNSUPPORTED,
            "the files are in a bucket: turn on its versioning, or copy it; the catalog can be made again from it");
    }
    bool good = backup_make(app, folder, blobs, progress, manifest, err);
    if (!good) {
        json_decref(*manifest);
        *manifest = NULL;
    }
    return good;
}

/* ---- the job */

/* Each attempt makes a folder of its own: what an interrupted one has left is no complete backup. */
static void name_of_now(char out[64]) {
    struct tm tm;
    time_t now = (time_t)(reel_now_ns() / 1000000000);
    strftime(out, 64, "reel-%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
}

bool backup_job_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    char folder[PATH_MAX], name[64];
    json_t *manifest = NULL;
    enum backup_blobs blobs = BACKUP_NO_BLOBS;
    for (unsigned i = 0; backup_blobs_names[i]; i++) {
        blobs = strcmp(backup_blobs_names[i], call->options) == 0 ? (enum backup_blobs)i : blobs;
    }
    if (!app->config.backup_dir) {
        return reel_fail(err, REEL_UNSUPPORTED, "this server has no folder for backups: start it with --backup-dir");
    }
    name_of_now(name);
    bool good = disk_join(folder, app->config.backup_dir, name, err) &&
                backup_run(app, folder, blobs, call->progress, &manifest, err);
    AUTO_MEM char *text = good && json_object_set_new(manifest, "name", json_string(name)) == 0
                              ? json_whole_text(manifest, JSON_COMPACT)
                              : NULL;
    json_decref(manifest);
    return good && (text ? catalog_set_maintenance(app->catalog, "backup", text, err) : reel_fail_memory(err));
}

bool backup_start(struct app *app, enum backup_blobs blobs, char id[JOB_ID_TEXT], struct reel_error *err) {
    if (!app->config.backup_dir) {
        return reel_fail(err, REEL_UNSUPPORTED, "this server has no folder for backups: start it with --backup-dir");
    }
    const struct job_spec spec = {
        .kind = "backup", .subject = "catalog and files", .options = backup_blobs_names[blobs], .alone = true};
    return jobs_add(app->jobs, &spec, id, err);
}
