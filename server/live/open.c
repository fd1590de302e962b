/* The files of live recordings, and the keys of their batches. A batch with a key is a line of live/<id>.keys before
 * it is written, "b BYTES" with the size of the file, and one after it, "e MESSAGES LAST KEY REQUEST". When the second
 * is missing the process was killed in between: the file is cut back to that size, and the client, which has had no
 * answer, sends the batch again. */
#include "base/clock.h"
#include "live/live_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/hex.h"
#include "base/ownership.h"
#include "reel/open.h"
#include "work/jobs.h"
#include "work/locks.h"

enum { KEYS_KEPT = 50000 }; /* at least; at most twice as many */

bool live_path(struct app *app, const char *id, const char *suffix, char out[PATH_MAX], struct reel_error *err) {
    char name[RECORDING_ID_TEXT + 16];
    snprintf(name, sizeof name, "%s%s", id, suffix);
    char folder[PATH_MAX];
    if (!store_live_folder(app->store, folder, sizeof folder, err)) {
        return false;
    }
    return disk_join(out, folder, name, err);
}

bool live_is_here(struct app *app, const char *id) {
    char path[PATH_MAX];
    struct reel_error ignored;
    return !app->shared || (live_path(app, id, LIVE_MCAP_SUFFIX, path, &ignored) && access(path, F_OK) == 0);
}

struct live_item *live_item_new(const char *id, struct reel_error *err) {
    struct live_item *item = calloc(1, sizeof *item);
    if (!item) {
        reel_fail_memory(err);
        return NULL;
    }
    snprintf(item->id, sizeof item->id, "%s", id);
    pthread_mutex_init(&item->mutex, NULL);
    pthread_mutex_init(&item->sync, NULL);
    item->keys_fd = -1;
    item->users = 1;
    item->appended_at_ns = clock_ns();
    return item;
}

static void open_forget(struct live_keys *keys) {
    hash_table_free(&keys->by_key);
    for (struct live_key *k = keys->all, *next; k; k = next) {
        next = k->next;
        free(k);
    }
    *keys = (struct live_keys){.n = 0};
}

void live_item_free(struct live_item *item) {
    if (!item) {
        return;
    }
    reel_rows_free(item->rows);
    reel_recorder_free(item->recorder);
    reel_growing_free(item->growing);
    reel_recording_free(item->shown);
    open_forget(&item->keys);
    open_forget(&item->older_keys);
    if (item->keys_fd >= 0) {
        close(item->keys_fd);
    }
    pthread_mutex_destroy(&item->mutex);
    pthread_mutex_destroy(&item->sync);
    free(item);
}

/* ---- keys */

#define KEY_LINE "e %" PRIu64 " %" PRId64 " %s %s\n"

const struct live_key *live_key_find(const struct live_item *item, const char *key) {
    const struct hash_key k = hash_key_bytes(bytes_text(key));
    uintptr_t found = hash_table_get(&item->keys.by_key, k);
    return (const struct live_key *)(found ? found : hash_table_get(&item->older_keys.by_key, k));
}

static bool open_remember(struct live_item *item, const struct live_key *key, struct reel_error *err) {
    struct live_key *k = malloc(sizeof *k);
    if (!k) {
        return reel_fail_memory(err);
    }
    *k = *key;
    if (!hash_table_set(&item->keys.by_key, hash_key_bytes(bytes_text(k->key)), (uintptr_t)k, err)) {
        free(k);
        return false;
    }
    k->next = item->keys.all;
    item->keys.all = k;
    item->keys.n++;
    return true;
}

/* Forgets the older half when there are too many. */
static bool open_age(struct live_item *item) {
    bool ages = item->keys.n >= KEYS_KEPT;
    if (ages) {
        open_forget(&item->older_keys);
        item->older_keys = item->keys;
        item->keys = (struct live_keys){.n = 0};
    }
    return ages;
}

static bool open_keys(struct app *app, struct live_item *item, struct reel_error *err) {
    char path[PATH_MAX];
    if (item->keys_fd >= 0 || !live_path(app, item->id, LIVE_KEYS_SUFFIX, path, err)) {
        return item->keys_fd >= 0;
    }
    item->keys_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (item->keys_fd < 0) {
        return reel_fail_errno(err, "the keys of this recording cannot be kept");
    }
    reel_own_by_folder(item->keys_fd, path);
    return disk_sync_folder_of(path, err);
}

static bool open_put_line(struct live_item *item, char *line, int size, struct reel_error *err) {
    AUTO_MEM char *text = size < 0 ? NULL : line;
    if (!text) {
        return reel_fail_memory(err);
    }
    ssize_t n = pwrite(item->keys_fd, text, (size_t)size, (off_t)item->keys_bytes);
    if (n != size) {
        errno = n >= 0 ? ENOSPC : errno;
        return reel_fail_errno(err, "the keys of this recording cannot be kept");
    }
    item->keys_bytes += (uint64_t)size;
    return true;
}

static bool open_write_keys(FILE *f, const struct live_keys *keys) {
    for (const struct live_key *k = keys->all; k; k = k->next) {
        fprintf(f, KEY_LINE, k->appended.messages, k->appended.last_ns, k->key, k->request);
    }
    return fflush(f) == 0 && fdatasync(fileno(f)) == 0;
}

/* The file anew, without what was forgotten. */
static bool shorten_keys(struct app *app, struct live_item *item, struct reel_error *err) {
    char path[PATH_MAX], new_path[PATH_MAX];
    if (!live_path(app, item->id, LIVE_KEYS_SUFFIX, path, err) ||
        !live_path(app, item->id, LIVE_NEW_KEYS_SUFFIX, new_path, err)) {
        return false;
    }
    FILE *f = fopen(new_path, "we");
    bool good = f && open_write_keys(f, &item->older_keys);
    if (good) {
        reel_own_by_folder(fileno(f), new_path);
        good = rename(new_path, path) == 0;
    }
    if (good) {
        if (item->keys_fd >= 0) {
            close(item->keys_fd);
        }
        item->keys_fd = -1; /* open_keys() opens the new one */
        item->keys_bytes = (uint64_t)ftell(f);
    } else {
        reel_fail_errno(err, "the keys of this recording cannot be kept");
    }
    if (f) {
        fclose(f);
    }
    return good;
}

bool live_key_begin(struct app *app, struct live_item *item, struct reel_error *err) {
    char *line = NULL;
    if (open_age(item) && !shorten_keys(app, item, err)) {
        return false;
    }
    if (!open_keys(app, item, err)) {
        return false;
    }
    item->keys_begun = item->keys_bytes;
    int size = asprintf(&line, "b %" PRIu64 "\n", reel_recorder_bytes(item->recorder));
    return open_put_line(item, line, size, err);
}

bool live_key_end(struct live_item *item, const struct live_batch *b, const struct live_appended *appended,
                  struct reel_error *err) {
    char *line = NULL;
    if (!appended) {
        item->keys_bytes = item->keys_begun;
        return ftruncate(item->keys_fd, (off_t)item->keys_bytes) == 0 ||
               reel_fail_errno(err, "the keys of this recording cannot be kept");
    }
    struct live_key key = {.appended = *appended};
    snprintf(key.key, sizeof key.key, "%s", b->key);
    snprintf(key.request, sizeof key.request, "%s", b->request);
    int size = asprintf(&line, KEY_LINE, appended->messages, appended->last_ns, key.key, key.request);
    if (!open_put_line(item, line, size, err)) {
        return false;
    }
    return (fdatasync(item->keys_fd) == 0 || reel_fail_errno(err, "the keys of this recording cannot be kept")) &&
           open_remember(item, &key, err);
}

/* Reads the keys, and cuts a batch off the file that was being written. */
static bool load_keys(struct app *app, struct live_item *item, const char *mcap, struct reel_error *err) {
    char path[PATH_MAX];
    AUTO_MEM char *line = NULL;
    size_t room = 0;
    uint64_t begun = UINT64_MAX, at = 0;
    ssize_t n;
    bool good = true;
    if (!live_path(app, item->id, LIVE_KEYS_SUFFIX, path, err)) {
        return false;
    }
    FILE *f = fopen(path, "re");
    while (f && good && (n = getline(&line, &room, f)) > 0 && line[n - 1] == '\n') {
        struct live_key k = {0};
        if (sscanf(line, "e %" SCNu64 " %" SCNd64 " %64s %64s", &k.appended.messages, &k.appended.last_ns, k.key,
                   k.request) >= 3) {
            open_age(item);
            good = live_key_find(item, k.key) || open_remember(item, &k, err);
            begun = UINT64_MAX;
            at += (uint64_t)n;
            item->keys_bytes = at;
        } else if (sscanf(line, "b %" SCNu64, &begun) == 1) {
            at += (uint64_t)n;
        } else {
            break;
        }
    }
    if (f) {
        fclose(f);
        good = (good && truncate(path, (off_t)item->keys_bytes) == 0) ||
               (good && reel_fail_errno(err, "the keys cannot be read again"));
    }
    struct stat st;
    bool cut = good && begun != UINT64_MAX && stat(mcap, &st) == 0 && (uint64_t)st.st_size > begun;
    return good && (!cut || truncate(mcap, (off_t)begun) == 0 ||
                    reel_fail_errno(err, "a batch that was not complete cannot be removed"));
}

/* ---- opening */

static bool know_channels(struct live_item *item, bool resume, struct reel_error *err) {
    AUTO(reel_index_free) struct reel_index *index = reel_growing_index(item->growing, err);
    if (!index) {
        return false;
    }
    const struct reel_index_info *info = reel_index_info(index);
    for (uint32_t i = 0; i < info->n_channels && i < reel_recorder_channels(item->recorder); i++) {
        if (!reel_rows_know(item->rows, reel_index_channel(index, i), i, err)) {
            return false;
        }
    }
    item->messages = info->messages;
    item->saved_messages = resume ? UINT64_MAX : 0; /* the row may be older */
    return true;
}

bool live_item_open(struct app *app, struct live_item *item, bool resume, const struct reel_progress *progress,
                    struct reel_error *err) {
    char path[PATH_MAX], pack[PATH_MAX];
    const struct reel_recorder_options options = {.size = sizeof options, .resume = resume};
    const struct reel_writer *mcap = reel_writer_named(".mcap", NULL, err);
    if (!live_path(app, item->id, LIVE_MCAP_SUFFIX, path, err) ||
        !live_path(app, item->id, LIVE_PACK_SUFFIX, pack, err)) {
        return false;
    }
    if (resume && !load_keys(app, item, path, err)) {
        return false;
    }
    struct reel_error why = {0};
    if (!(item->recorder = reel_recorder_open(path, mcap, &options, &why))) { /* its words name the path */
        return why.code == REEL_NOT_FOUND ? reel_fail(err, REEL_NOT_FOUND, "the file of this live recording is gone")
                                          : reel_error_pass(err, &why);
    }
    if (!(item->rows = reel_rows_new(item->recorder, err)) ||
        !(item->growing = reel_growing_open(path, reel_format_named("mcap"), pack, err)) ||
        !reel_growing_read(item->growing, reel_recorder_bytes(item->recorder), progress, err) ||
        !know_channels(item, resume, err)) {
        return false;
    }
    item->bytes = item->synced = reel_recorder_bytes(item->recorder);
    return true;
}

void live_remove_files(struct app *app, const char *id) {
    static const char *const suffixes[] = {LIVE_MCAP_SUFFIX, LIVE_PACK_SUFFIX, LIVE_KEYS_SUFFIX, LIVE_NEW_KEYS_SUFFIX,
                                           LIVE_OWNER_SUFFIX};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (live_path(app, id, suffixes[i], path, NULL)) {
            unlink(path);
        }
    }
}

/* An index that grew in a process that was killed. */
static bool is_leftover(const char *name) {
    static const char suffix[] = LIVE_PACK_SUFFIX ".tmp-";
    return strspn(name, HEX_DIGITS) == RECORDING_ID_TEXT - 1 &&
           strncmp(name + RECORDING_ID_TEXT - 1, suffix, sizeof suffix - 1) == 0;
}

void live_remove_leftovers(struct app *app) {
    char folder[PATH_MAX];
    DIR *d = store_live_folder(app->store, folder, sizeof folder, NULL) ? opendir(folder) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (is_leftover(e->d_name)) {
            unlinkat(dirfd(d), e->d_name, 0);
        }
    }
    if (d) {
        closedir(d);
    }
}

bool live_open_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    struct live *live = app->live;
    struct catalog_recording r;
    AUTO_LOCK struct key_lock lock = {0};
    lock_take(app->locks, &lock, LIVE_LOCK, call->key);
    struct live_item *there = live_item_find(live, call->key);
    if (there) {
        live_item_release(live, there);
        return true;
    }
    if (!catalog_get(app->catalog, call->key, &r, err)) {
        return false;
    }
    bool grows = r.state == STATE_RECORDING;
    catalog_recording_done(&r);
    if (!grows) {
        live_slot_release(live, call->key);
        return true;
    }
    struct live_item *item = live_item_new(call->key, err);
    struct reel_error why = {0};
    if (!item) {
        return false;
    }
    if (live_item_open(app, item, true, call->progress, &why)) {
        live_item_add(live, item);
        return true;
    }
    live_item_free(item);
    live_slot_release(live, call->key);
    if (why.code == REEL_CONFLICT) { /* the file is complete: the server was stopped while it finished */
        return jobs_add(app->jobs, &(struct job_spec){.kind = "finish", .key = call->key, .subject = call->key}, NULL,
                        err);
    }
    /* a backup that was restored has no live recordings */
    enum recording_state state = why.code == REEL_NOT_FOUND ? STATE_MISSING : STATE_FAILED;
    if ((why.code == REEL_NOT_FOUND || why.code == REEL_NOT_MINE) &&
        !catalog_set_state(app->catalog, call->key, state, why.text, err)) {
        return false;
    }
    return reel_error_pass(err, &why);
}
