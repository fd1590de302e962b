/* See move_files.h. */
#include "maintenance/move_files.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "catalog/access.h"
#include "catalog/attach.h"
#include "catalog/db.h"
#include "catalog/location.h"
#include "catalog/maintenance.h"
#include "catalog/objects.h"
#include "catalog/uploads.h"
#include "json_whole.h"
#include "store/inspect.h"
#include "store/manifest.h"
#include "store/switch.h"
#include "store/tokens_record.h"

REEL_DEFINE_AUTO(struct store, store_close);
REEL_DEFINE_AUTO(struct catalog, catalog_close);
REEL_DEFINE_AUTO(struct store_upload, store_upload_free);

enum { WORKERS = 4, BUFFER_BYTES = 4 << 20 };
static const uint64_t CACHE_BYTES = 64 << 20;

struct move {
    struct store *from, *to;
    struct catalog *catalog;
    const struct reel_progress *progress;
    struct moved_files *out;
    pthread_mutex_t mutex; /* guards what follows, and the progress */
    char after[SHA256_HEX];
    uint64_t done, total; /* bytes */
    bool stopped;
    struct reel_error err;
};

/* ---- what cannot be moved */

static bool is_live(void *context, const struct catalog_recording *r) {
    (void)r;
    *(bool *)context = true;
    return false;
}

static bool is_quiet(struct catalog *c, struct reel_error *err) {
    struct reel_error end = {0};
    bool live = false, more = true;
    if (!catalog_each_in_state(c, STATE_RECORDING, is_live, &live, err)) {
        return false;
    }
    if (live) {
        return reel_fail(err, REEL_CONFLICT, "a recording is being written live: finish it first (PATCH /live/{id})");
    }
    for (int64_t row = 0; more;) {
        AUTO_STRUCT(catalog_upload_done) struct catalog_upload u = {0};
        more = catalog_upload_after(c, row, &u, &end);
        row = u.row;
        if (more && !u.done && u.offset > 0) {
            return reel_fail(err, REEL_CONFLICT,
                             "the upload %s is not finished: go on with it, or delete it (DELETE /uploads/{id})", u.id);
        }
    }
    return end.code == REEL_NOT_FOUND || reel_error_pass(err, &end);
}

/* ---- files */

static bool add_bytes(struct move *m, uint64_t bytes) {
    pthread_mutex_lock(&m->mutex);
    m->done += bytes;
    if (!m->stopped && m->progress && !m->progress->report(m->progress->context, m->done, m->total)) {
        m->stopped = true;
        reel_fail(&m->err, REEL_CANCELLED, "interrupted; the same command goes on with it");
    }
    bool on = !m->stopped;
    pthread_mutex_unlock(&m->mutex);
    return on;
}

static bool move_files_send(struct move *m, struct reel_source *source, const char *sha256, uint8_t *buffer,
                            struct reel_error *err) {
    char hash[SHA256_HEX];
    uint64_t size;
    AUTO(store_upload_free) struct store_upload *u = store_upload_begin(m->to, err);
    bool good = u;
    for (uint64_t at = 0; good && at < source->size;) {
        size_t n = source->size - at < BUFFER_BYTES ? (size_t)(source->size - at) : BUFFER_BYTES;
        good = reel_source_read(source, at, buffer, n, err) && store_upload_write(u, buffer, n, err) &&
               (add_bytes(m, n) || reel_fail(err, REEL_CANCELLED, "cancelled"));
        at += n;
    }
    if (!good || !store_upload_finish(u, hash, &size, err)) {
        return false;
    }
    if (strcmp(hash, sha256) != 0) {
        return reel_fail(err, REEL_DAMAGED,
                         "the stored file %s is corrupted; upload it again, or delete its recordings, then repeat this",
                         sha256);
    }
    return store_upload_replace(u, err);
}

static bool move_file(struct move *m, const char *sha256, uint64_t size, uint8_t *buffer, bool *copied,
                      struct reel_error *err) {
    uint64_t there;
    struct reel_error why = {0};
    *copied = false;
    if (store_examine(m->to, sha256, &there, &why) && there == size) {
        return add_bytes(m, size) || reel_fail(err, REEL_CANCELLED, "cancelled");
    }
    if (reel_is_transient(why.code)) {
        return reel_error_pass(err, &why);
    }
    AUTO(reel_source_free)
    struct reel_source *source = store_is_bucket(m->from) ? store_open_stored(m->from, sha256, err)
                                                          : store_open_blob(m->from, sha256, sha256, err);
    *copied = source && move_files_send(m, source, sha256, buffer, err);
    return *copied;
}

/* The next file: false at the end, or after an error. */
static bool move_files_take(struct move *m, char sha256[SHA256_HEX], uint64_t *size) {
    struct reel_error end = {0};
    pthread_mutex_lock(&m->mutex);
    bool more = !m->stopped && catalog_part_after(m->catalog, m->after, sha256, size, &end);
    if (more) {
        memcpy(m->after, sha256, SHA256_HEX);
    } else if (!m->stopped && end.code != REEL_NOT_FOUND) {
        m->stopped = true;
        reel_error_pass(&m->err, &end);
    }
    pthread_mutex_unlock(&m->mutex);
    return more;
}

static void move_files_count(struct move *m, uint64_t size, bool good, bool copied, const struct reel_error *why) {
    pthread_mutex_lock(&m->mutex);
    if (good) {
        m->out->files++;
        m->out->bytes += size;
        m->out->copied += copied;
    } else if (why->code == REEL_NOT_FOUND || why->code == REEL_CHANGED) { /* as the catalog knows, or will soon */
        m->out->gone++;
    } else if (!m->stopped) {
        m->stopped = true;
        m->err = *why;
    }
    pthread_mutex_unlock(&m->mutex);
}

static void *move_files_work(void *context) {
    struct move *m = context;
    char sha256[SHA256_HEX];
    uint64_t size;
    AUTO_MEM uint8_t *buffer = malloc(BUFFER_BYTES);
    while (buffer && move_files_take(m, sha256, &size)) {
        struct reel_error why = {0};
        bool copied, good = move_file(m, sha256, size, buffer, &copied, &why);
        move_files_count(m, size, good, copied, &why);
    }
    if (!buffer) {
        struct reel_error why = {0};
        reel_fail_memory(&why);
        move_files_count(m, 0, false, false, &why);
    }
    return NULL;
}

static bool move_all(struct move *m, struct reel_error *err) {
    pthread_t threads[WORKERS];
    unsigned n = 0;
    while (n < WORKERS && pthread_create(&threads[n], NULL, move_files_work, m) == 0) {
        n++;
    }
    for (unsigned i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
    return n == 0 ? reel_fail_memory(err) : !m->stopped || reel_error_pass(err, &m->err);
}

/* ---- indexes and manifests */

/* Recordings that have failed have no index; one that is gone is made again. */
static bool move_pack(struct move *m, const char *content, struct reel_error *err) {
    char from[PATH_MAX], to[PATH_MAX];
    bool gone = false;
    struct reel_error why = {0};
    AUTO_FD int held = store_open_file(m->from, content, STORE_PACK, false, from, sizeof from, &why);
    if (held < 0) {
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
    }
    if (!store_place_file(m->to, content, STORE_PACK, to, sizeof to, err) || !disk_copy(from, to, &gone, err) ||
        (!gone && !store_keep_file(m->to, content, STORE_PACK, err))) {
        return false;
    }
    m->out->indexes += !gone;
    if (store_is_bucket(m->to)) {
        unlink(to); /* only a copy */
    }
    return true;
}

struct manifest {
    struct store *to;
    const json_t *is;
};

/* The manifest of the new place says where the files are there. */
static json_t *placed(void *context, const json_t *old) {
    const struct manifest *manifest = context;
    json_t *out = json_deep_copy(manifest->is), *part;
    size_t i;
    (void)old;
    json_array_foreach(json_object_get(out, "parts"), i, part) {
        const char *sha256 = json_string_value(json_object_get(part, "sha256"));
        json_object_del(part, "object");
        json_object_del(part, "etag");
        if (sha256) {
            store_put_object(manifest->to, sha256, part);
        }
    }
    return out;
}

static bool move_manifest(struct move *m, const char *content, struct reel_error *err) {
    struct reel_error why = {0};
    json_auto_t *is = store_load_manifest(m->from, content, &why);
    struct manifest manifest = {.to = m->to, .is = is};
    return is ? store_update_manifest(m->to, content, placed, &manifest, err)
              : why.code == REEL_NOT_FOUND || why.code == REEL_DAMAGED || reel_error_pass(err, &why); /* the catalog has
                                                                                                         it all */
}

static bool move_contents(struct move *m, struct reel_error *err) {
    char content[SHA256_HEX] = "";
    struct reel_error end = {0};
    while (catalog_content_after(m->catalog, content, content, &end)) {
        if (!add_bytes(m, 0) || !move_pack(m, content, err) || !move_manifest(m, content, err)) {
            return m->stopped ? reel_error_pass(err, &m->err) : false;
        }
    }
    return end.code == REEL_NOT_FOUND || reel_error_pass(err, &end);
}

static bool move_notes(struct move *m, struct reel_error *err) {
    json_auto_t *collections = store_load_collections(m->from, err), *settings = NULL;
    if (!collections || !store_load_settings(m->from, &settings, err)) {
        return false;
    }
    AUTO_MEM char *text = json_whole_text(collections, JSON_COMPACT);
    return (text || reel_fail_memory(err)) && store_write_collections(m->to, text, err) &&
           (!settings || store_write_settings(m->to, settings, err));
}

/* That the archive has tokens has to be known in the new place before it is used. */
static bool move_record(struct move *m, struct reel_error *err) {
    const char *data = store_folder(m->from);
    bool exist, recorded;
    return catalog_tokens_exist(m->catalog, &exist, err) && tokens_record_exists(data, m->from, &recorded, err) &&
           ((!exist && !recorded) || tokens_record_restore(data, m->to, err));
}

/* ---- whose bucket it is */

/* A bucket that another archive uses is refused. The id that this one is about to have there is kept until the switch.
 */
static bool claim(struct catalog *c, struct store *to, char id[RECORDING_ID_TEXT], struct reel_error *err) {
    AUTO_MEM char *begun = catalog_maintenance(c, "moving", err);
    if (!begun || (begun[0] ? strlen(begun) >= RECORDING_ID_TEXT : !catalog_make_id(id, err))) {
        return false;
    }
    if (begun[0]) {
        strcpy(id, begun);
    } else if (!catalog_set_maintenance(c, "moving", id, err)) {
        return false;
    }
    AUTO_MEM char *its = store_archive_id(to, id, err);
    return its && (strcmp(its, id) == 0 ||
                   reel_fail(err, REEL_CONFLICT, "the bucket is the store of another archive: use another prefix"));
}

/* ---- all of it */

static bool move_files_run(struct move *m, struct reel_error *err) {
    uint64_t files;
    return catalog_parts_total(m->catalog, &files, &m->total, err) && move_all(m, err) && move_contents(m, err) &&
           move_notes(m, err) && move_record(m, err) &&
           catalog_set_maintenance(m->catalog, CATALOG_STATISTICS, NULL, err) && /* files of them stay */
           (disk_sync_all(store_folder(m->to)) || reel_fail_errno(err, "the files cannot be written to disk"));
}

/* What has to be done again when this is interrupted is done by the same call. */
static bool into_bucket(struct move *m, const char *address, struct reel_error *err) {
    char id[RECORDING_ID_TEXT];
    const struct store_directory directory = catalog_directory(m->catalog);
    struct store *to = store_open_moving(m->from, err);
    bool good = to && store_use_bucket(to, address, CACHE_BYTES, err);
    if (good) {
        store_set_directory(to, &directory);
        m->to = to;
        good = claim(m->catalog, to, id, err) && move_files_run(m, err);
    }
    store_close(to);
    return good && catalog_set_maintenance(m->catalog, "archive", id, err) &&
           store_switch_to_bucket(m->from, address, err) && catalog_set_maintenance(m->catalog, "moving", "", err);
}

static bool into_folder(struct move *m, struct reel_error *err) {
    struct store *to = store_open_moving(m->from, err);
    m->to = to;
    bool good = to && move_files_run(m, err);
    store_close(to);
    return good && catalog_set_maintenance(m->catalog, "archive", "", err) && store_switch_to_folder(m->from, err);
}

static bool is_alone(const char *where, struct reel_error *err) {
    unsigned others;
    return db_count_others(where, &others, err) &&
           (others == 0 || reel_fail(err, REEL_BUSY, "a server is using the catalog: stop all servers first"));
}

bool move_files(const char *data, const char *to, const struct reel_progress *progress, struct moved_files *out,
                struct reel_error *err) {
    char where[PATH_MAX];
    *out = (struct moved_files){0};
    struct move m = {.progress = progress, .out = out, .mutex = PTHREAD_MUTEX_INITIALIZER};
    AUTO(store_close)
    struct store *from = catalog_location(data, where, err) && is_alone(where, err) ? store_open(data, err) : NULL;
    AUTO(catalog_close) struct catalog *catalog = from ? catalog_open(where, err) : NULL;
    m.from = from;
    m.catalog = catalog;
    if (!catalog || !catalog_attach(catalog, from, err) || !is_quiet(catalog, err)) {
        return false;
    }
    if (store_is_bucket(from) == (to != NULL)) {
        return reel_fail(err, REEL_CONFLICT, "the files are in %s already", to ? "a bucket" : "the data folder");
    }
    return to ? into_bucket(&m, to, err) : into_folder(&m, err);
}
