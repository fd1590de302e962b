/* Live recordings of a backup: see backup_files.h. Their files grow at the end only, so a copy of the first bytes is
 * the recording as it was; what it ends with is cut at its last whole record when it is opened, as after a crash. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "catalog/maintenance.h"
#include "maintenance/backup_files.h"
#include "store/inspect.h"

enum { SNAPSHOT_TRIES = 1000 };

struct live_copies {
    struct backup_files *f;
    const char *folder; /* "live" in the backup */
    struct reel_error error;
};

static bool live_name(const char *folder, const char *id, const char *suffix, char out[PATH_MAX],
                      struct reel_error *err) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", id, suffix);
    return disk_join(out, folder, name, err);
}

static int64_t size_of(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

/* The keys of batches, copied while the recording did not grow: *size is its size then, -1: it has been finished. */
static bool copy_keys(const char *mcap, const char *from, const char *to, int64_t *size, struct reel_error *err) {
    bool gone = false;
    for (unsigned i = 0; i < SNAPSHOT_TRIES; i++) {
        *size = size_of(mcap);
        if (*size < 0 || !disk_copy(from, to, &gone, err)) {
            return *size < 0;
        }
        if (size_of(mcap) == *size) {
            if (gone) {
                unlink(to); /* of an earlier backup */
            }
            return true;
        }
    }
    return reel_fail(err, REEL_BUSY, "a live recording grows too fast to be copied; try again");
}

static bool copy_file(struct live_copies *c, const char *from, const char *to, int64_t size, bool *gone) {
    if (!disk_copy(from, to, gone, &c->error)) {
        return false;
    }
    return *gone || size < 0 || truncate(to, (off_t)size) == 0 ||
           reel_fail_errno(&c->error, "a live recording cannot be copied");
}

/* One that was finished since the catalog was copied: its file is a stored one now. */
static bool copy_finished(struct live_copies *c, const char *id, const char *to, bool *gone) {
    struct catalog_recording now;
    struct reel_error none;
    char from[PATH_MAX];
    *gone = true;
    if (!catalog_get(c->f->now, id, &now, &none)) {
        return true;
    }
    bool found = now.n_parts == 1 && store_file_path(c->f->from, now.parts[0].sha256, "", from, sizeof from);
    catalog_recording_done(&now);
    return !found || copy_file(c, from, to, -1, gone);
}

static bool copy_live(void *context, const struct catalog_recording *r) {
    struct live_copies *c = context;
    char live[PATH_MAX], from[PATH_MAX], keys[PATH_MAX], to[PATH_MAX], keys_to[PATH_MAX];
    bool gone = true;
    int64_t size;
    if (!disk_join(live, store_folder(c->f->from), "live", &c->error) ||
        !live_name(live, r->id, ".mcap", from, &c->error) || !live_name(live, r->id, ".keys", keys, &c->error) ||
        !live_name(c->folder, r->id, ".mcap", to, &c->error) ||
        !live_name(c->folder, r->id, ".keys", keys_to, &c->error) ||
        !copy_keys(from, keys, keys_to, &size, &c->error) || (size >= 0 && !copy_file(c, from, to, size, &gone)) ||
        (gone && !copy_finished(c, r->id, to, &gone))) {
        return false;
    }
    c->f->live += !gone;
    c->f->gone += gone;
    return true;
}

/* Files of an earlier backup whose recordings do not grow any more. */
static bool prune_live(struct catalog *copied, const char *folder, struct reel_error *err) {
    DIR *d = opendir(folder);
    bool good = d || reel_fail_errno(err, "the backup folder cannot be read");
    for (struct dirent *e; good && (e = readdir(d));) {
        char id[RECORDING_ID_TEXT];
        struct catalog_recording r;
        struct reel_error why = {0};
        if (strcspn(e->d_name, ".") != RECORDING_ID_TEXT - 1) {
            continue;
        }
        memcpy(id, e->d_name, sizeof id - 1);
        id[sizeof id - 1] = '\0';
        bool found = catalog_get(copied, id, &r, &why), grows = found && r.n_parts == 0;
        if (found) {
            catalog_recording_done(&r);
        }
        good = found || why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
        if (good && !grows) {
            unlinkat(dirfd(d), e->d_name, 0);
        }
    }
    if (d) {
        closedir(d);
    }
    return good;
}

bool backup_live(struct backup_files *f, struct catalog *copied, const char *folder, struct reel_error *err) {
    char live[PATH_MAX];
    if (!disk_join(live, folder, "live", err)) {
        return false;
    }
    struct live_copies c = {.f = f, .folder = live};
    return catalog_each_in_state(copied, STATE_RECORDING, copy_live, &c, err) &&
           (c.error.code == REEL_OK || reel_error_pass(err, &c.error)) && prune_live(copied, live, err);
}
