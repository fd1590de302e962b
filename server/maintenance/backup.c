/* See backup.h. backup.json is removed first and written last: a folder without it is no complete backup. */
#include "maintenance/backup.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "catalog/maintenance.h"
#include "core/disk.h"
#include "maintenance/backup_files.h"
#include "reel/time.h"
#include "store/inspect.h"
#include "wire/cleanup.h"

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

/* Creates the folder; checks that it is empty or holds a backup. */
static bool prepare(const char *folder, struct reel_error *err) {
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
    return disk_join(path, folder, "blobs", err) &&
           (mkdir(path, 0700) == 0 || errno == EEXIST || reel_fail_errno(err, "the backup folder cannot be created"));
}

static json_t *manifest_of(const struct catalog_copy *copy, const struct backup_files *files, enum backup_blobs blobs) {
    char when[REEL_TIME_TEXT];
    reel_time_rfc3339(reel_now_ns(), when);
    json_t *catalog = json_pack("{s:s, s:i, s:I, s:s}", "file", "catalog.db", "version", (int)catalog_version(), "size",
                                (json_int_t)copy->bytes, "sha256", copy->sha256);
    json_t *stored = json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:I}", "list", "blobs.txt", "sha256", files->list_sha256, "count",
                               (json_int_t)files->count, "size", (json_int_t)files->bytes, "elsewhere", (json_int_t)files->elsewhere,
                               "kept", backup_blobs_names[blobs], "gone", (json_int_t)files->gone);
    return json_pack("{s:i, s:s, s:s, s:I, s:o, s:o}", "reel_backup", 1, "version", REEL_VERSION, "time", when, "recordings",
                     (json_int_t)copy->recordings, "catalog", catalog, "files", stored);
}

static bool make(struct app *app, const char *folder, enum backup_blobs blobs, const struct reel_progress *progress, json_t **manifest,
                 struct reel_error *err) {
    char path[PATH_MAX];
    struct catalog_copy copy;
    bool alone = false;
    struct store *to = prepare(folder, err) ? store_open_readonly(folder, &alone, err) : NULL;
    struct backup_files files = {.from = app->store, .to = to, .blobs = blobs, .progress = progress};
    bool good = to && (alone || reel_fail(err, REEL_CONFLICT, "a server runs on that folder")) &&
                disk_join(path, folder, "catalog.db", err) && catalog_copy(app->catalog, path, progress, &copy, err);
    AUTO(catalog_close) struct catalog *copied = good ? catalog_open_readonly(path, err) : NULL;
    good = copied && backup_files(&files, copied, folder, err) && (*manifest = manifest_of(&copy, &files, blobs)) &&
           backup_write_json(folder, *manifest, err);
    store_close(to);
    return good;
}

bool backup_run(struct app *app, const char *folder, enum backup_blobs blobs, const struct reel_progress *progress, json_t **manifest,
                struct reel_error *err) {
    *manifest = NULL;
    bool good = make(app, folder, blobs, progress, manifest, err);
    if (!good) {
        json_decref(*manifest);
        *manifest = NULL;
    }
    return good;
}

/* ---- the job */

struct backup_job {
    struct app *app;
    enum backup_blobs blobs;
    char name[64];
};

static bool work_alone(const struct backup_job *j, const struct reel_progress *progress, struct reel_error *err) {
    char folder[PATH_MAX];
    json_t *manifest = NULL;
    bool good =
        disk_join(folder, j->app->config.backup_dir, j->name, err) && backup_run(j->app, folder, j->blobs, progress, &manifest, err);
    AUTO_MEM char *text =
        good && json_object_set_new(manifest, "name", json_string(j->name)) == 0 ? json_dumps(manifest, JSON_COMPACT) : NULL;
    json_decref(manifest);
    return good && (text ? catalog_set_maintenance(j->app->catalog, "backup", text, err) : reel_fail_memory(err));
}

static bool work(void *context, const struct reel_progress *progress, struct reel_error *err) {
    const struct backup_job *j = context;
    if (atomic_exchange(&j->app->backs_up, true)) {
        return reel_fail(err, REEL_CONFLICT, "another backup is running");
    }
    bool good = work_alone(j, progress, err);
    atomic_store(&j->app->backs_up, false);
    return good;
}

struct job *backup_start(struct app *app, enum backup_blobs blobs, struct reel_error *err) {
    struct tm tm;
    time_t now = (time_t)(reel_now_ns() / 1000000000);
    if (!app->config.backup_dir) {
        reel_fail(err, REEL_UNSUPPORTED, "this server has no folder for backups: it is started with --backup-dir for one");
        return NULL;
    }
    if (atomic_load(&app->backs_up)) {
        reel_fail(err, REEL_CONFLICT, "another backup is running");
        return NULL;
    }
    struct backup_job *j = calloc(1, sizeof *j);
    if (!j) {
        reel_fail_memory(err);
        return NULL;
    }
    j->app = app;
    j->blobs = blobs;
    strftime(j->name, sizeof j->name, "reel-%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
    return jobs_add(app->jobs, "backup", j->name, "/api/v1/admin/backup/last", work, j, free, err);
}
