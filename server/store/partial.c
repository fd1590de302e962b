/* Files of upload sessions: incoming/<id>.part. The server reconciles them with the catalog at start, before it accepts
 * uploads. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/hex.h"
#include "store/store_internal.h"

enum { ID_TEXT = 32, RUN_TEXT = 128 };

static bool is_partial(const char *name) {
    return hex_span(name) == ID_TEXT && strcmp(name + ID_TEXT, ".part") == 0;
}

bool store_partial_path(const struct store *store, const char *id, char out[STORE_PATH], struct reel_error *err) {
    store_path(store, out, "incoming/%.32s.part", id);
    return hex_is(id, ID_TEXT) || reel_fail(err, REEL_ARGUMENT, "not an upload's id");
}

bool store_each_incoming(const struct store *store, void (*visit)(void *context, const char *name, const char *id),
                         void *context, struct reel_error *err) {
    char path[STORE_PATH];
    AUTO_FOLDER DIR *d = opendir(store_path(store, path, "incoming"));
    if (!d) {
        return errno == ENOENT || reel_fail_errno(err, "the store cannot read its folder of uploads");
    }
    for (struct dirent *e; (e = readdir(d));) {
        char id[ID_TEXT + 1];
        snprintf(id, sizeof id, "%.*s", ID_TEXT, e->d_name);
        if (e->d_name[0] != '.') {
            visit(context, e->d_name, is_partial(e->d_name) ? id : NULL);
        }
    }
    return true;
}

bool store_remove_incoming(const struct store *store, const char *name, struct reel_error *err) {
    char path[STORE_PATH];
    return store_unlink(store_path(store, path, "incoming/%s", name), err);
}

static void remove_any(void *store, const char *name, const char *id) {
    (void)id;
    store_remove_incoming(store, name, NULL);
}

static void remove_of_no_session(void *store, const char *name, const char *id) {
    if (!id) {
        store_remove_incoming(store, name, NULL);
    }
}

bool store_sweep_incoming(struct store *store, bool sessions, struct reel_error *err) {
    return store_each_incoming(store, sessions ? remove_any : remove_of_no_session, store, err);
}

void store_remove_partial(struct store *store, const char *id, const char *note) {
    char path[STORE_PATH];
    if (store->ops->upload->forget && note[0]) {
        store->ops->upload->forget(store, note);
    }
    if (store_partial_path(store, id, path, NULL)) {
        unlink(path);
    }
}

bool store_blob_to_partial(struct store *store, const char *sha256, const char *id, struct reel_error *err) {
    char from[STORE_PATH], to[STORE_PATH];
    if (!store_content_path(store, sha256, "", from, sizeof from, err) || !store_partial_path(store, id, to, err)) {
        return false;
    }
    return rename(from, to) == 0 ? store_sync_incoming(store, err) && store_sync_place(store, sha256, err)
                                 : reel_fail_errno(err, "the stored file cannot be returned to its upload session");
}

/* The boot, and the disk that the folder is on. */
static bool name_run(const struct store *store, char out[RUN_TEXT]) {
    char boot[64] = "";
    struct stat st;
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    bool ok = f && fgets(boot, sizeof boot, f) && stat(store->folder, &st) == 0;
    if (f) {
        fclose(f);
    }
    boot[strcspn(boot, "\n")] = '\0';
    return ok && snprintf(out, RUN_TEXT, "%s %llx %llx\n", boot, (unsigned long long)st.st_dev,
                          (unsigned long long)st.st_ino) < RUN_TEXT;
}

bool store_same_run(struct store *store, bool *same, struct reel_error *err) {
    char now[RUN_TEXT], before[RUN_TEXT] = "";
    *same = false;
    if (!name_run(store, now)) {
        return true;
    }
    ssize_t n = pread(store->lock, before, sizeof before - 1, 0); /* who has the lock may write into it */
    *same = n > 0 && strcmp(before, now) == 0;
    if (!*same && (ftruncate(store->lock, 0) != 0 || !disk_write_at(store->lock, now, strlen(now), 0) ||
                   fsync(store->lock) != 0)) {
        return reel_fail_errno(err, "the store cannot note its run");
    }
    return true;
}
