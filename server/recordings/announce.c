/* See announce.h. The pack is hostile input: it is checked as a whole before it has its name, it is the pack of no
 * content but that of its own recording, and the upload of the file makes another. */
#include "recordings/announce.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "catalog/notes.h"
#include "catalog/quota.h"
#include "index/foreign.h"
#include "manifests/manifest_entry.h"
#include "manifests/manifests.h"
#include "recordings/names.h"
#include "reel/time.h"
#include "scans/scanning.h"
#include "store/manifest.h"

/* ---- before the pack */

static bool has_file(const struct catalog_recording *there, const char *sha256) {
    bool has = false;
    for (uint32_t i = 0; i < there->n_parts && !has; i++) {
        has = strcmp(there->parts[i].sha256, sha256) == 0;
    }
    return has;
}

/* What the recording that has the name means for this announcement. */
static enum announce_step meet(struct announcement *a, struct catalog_recording *there, struct reel_error *err) {
    struct announced before;
    bool announced = there->state == STATE_ANNOUNCED && announced_read(there->announced, &before);
    bool ours = announced && strcmp(before.agent, a->of.agent) == 0;
    /* a robot that has lost its state is another agent */
    bool same = announced && strcmp(before.robot, a->of.robot) == 0 && strcmp(before.sha256, a->of.sha256) == 0 &&
                there->size == a->size;
    if (ours || same) {
        memcpy(a->id, there->id, sizeof a->id);
        memcpy(a->before, there->content, sizeof a->before);
        return ANNOUNCE_WRITES;
    }
    if (has_file(there, a->of.sha256)) {
        return ANNOUNCE_STORED;
    }
    if (a->replace) {
        return ANNOUNCE_WRITES;
    }
    reel_fail(err, REEL_CONFLICT,
              announced ? "\"%.200s\" is the name of a recording that another robot has announced"
                        : "\"%.200s\" is the name of other content in this collection",
              a->name);
    return ANNOUNCE_REFUSED;
}

static enum announce_step find_name(struct app *app, struct announcement *a, struct catalog_recording *r,
                                    struct reel_error *err) {
    struct reel_error none = {0};
    if (!catalog_get_named(app->catalog, a->collection, a->name, r, &none)) {
        return none.code == REEL_NOT_FOUND ? ANNOUNCE_WRITES : (reel_error_pass(err, &none), ANNOUNCE_REFUSED);
    }
    enum announce_step step = meet(a, r, err);
    if (step != ANNOUNCE_STORED) {
        catalog_recording_done(r);
    }
    return step;
}

enum announce_step announce_begin(struct app *app, struct announcement *a, int *fd, struct catalog_recording *r,
                                  struct reel_error *err) {
    char pack[PATH_MAX];
    *fd = -1;
    *r = (struct catalog_recording){0};
    if (!names_check(a->collection, a->name, err) || (a->group && !names_check(a->collection, a->group, err))) {
        return ANNOUNCE_REFUSED;
    }
    enum announce_step step = find_name(app, a, r, err);
    if (step != ANNOUNCE_WRITES || (!a->id[0] && !catalog_make_id(a->id, err))) {
        return step == ANNOUNCE_STORED ? step : ANNOUNCE_REFUSED;
    }
    announced_content(a->id, a->of.sha256, a->content);
    if (!store_place_file(app->store, a->content, STORE_PACK, pack, sizeof pack, err)) {
        return ANNOUNCE_REFUSED;
    }
    snprintf(a->path, sizeof a->path, "%s.XXXXXX", pack); /* which the sweep takes for a leftover */
    *fd = mkostemp(a->path, O_CLOEXEC);
    if (*fd < 0) {
        a->path[0] = '\0';
        reel_fail_errno(err, "the index cannot be written");
    }
    return *fd >= 0 ? ANNOUNCE_WRITES : ANNOUNCE_REFUSED;
}

void announce_drop(struct announcement *a) {
    if (a->path[0]) {
        unlink(a->path);
        a->path[0] = '\0';
    }
}

/* ---- with the pack */

static bool check_pack(const struct announcement *a, const struct reel_index *index, struct reel_error *err) {
    uint64_t size = 0;
    bool fits = true;
    if (!reel_index_verify(index, err) || !index_check_foreign(index, err)) {
        return false;
    }
    for (uint32_t i = 0; i < reel_index_info(index)->n_parts && fits; i++) {
        fits = !__builtin_add_overflow(size, reel_index_part_size(index, i), &size);
    }
    return (fits && size == a->size) ||
           reel_fail(err, REEL_DAMAGED, "the index is of files of another size than %llu bytes",
                     (unsigned long long)a->size);
}

static bool fill_row(const struct announcement *a, const struct reel_index *index, struct catalog_recording *r,
                     struct reel_error *err) {
    if (!r->id[0]) {
        memcpy(r->id, a->id, sizeof r->id);
        r->collection = strdup(a->collection);
        r->name = strdup(a->name);
        r->group = strdup(a->group ? a->group : "");
        r->created_ns = reel_now_ns();
        r->revision = 1;
        if (!r->collection || !r->name || !r->group ||
            (a->annotations && !catalog_annotations_copy(a->annotations, &r->annotations))) {
            return reel_fail_memory(err);
        }
    }
    free(r->announced);
    r->announced = announced_text(&a->of);
    memcpy(r->content, a->content, sizeof r->content);
    r->size = a->size;
    if (!r->announced) {
        return reel_fail_memory(err);
    }
    bool filled = scan_fill(r, index, err);
    r->state = STATE_ANNOUNCED;
    return filled;
}

/* The row as it is now, locked: its file may have arrived, or it was announced anew or deleted meanwhile. */
static bool still_announced(struct app *app, const char *id, const char *before, struct catalog_recording *r,
                            struct reel_error *err) {
    return catalog_get(app->catalog, id, r, err) &&
           ((r->state == STATE_ANNOUNCED && strcmp(r->content, before) == 0) ||
            reel_fail(err, REEL_CONFLICT, "the recording has changed since its announcement began; send it again"));
}

/* Whether the row has the content, by another request with the same announcement. */
static bool is_written(struct app *app, const struct announcement *a) {
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording now = {0};
    struct reel_error why = {0};
    return catalog_get(app->catalog, a->id, &now, &why) ? strcmp(now.content, a->content) == 0
                                                        : why.code != REEL_NOT_FOUND;
}

static bool write_row(struct app *app, const struct announcement *a, struct catalog_recording *r,
                      const struct reel_index *index, struct reel_error *err) {
    AUTO_LOCK struct key_lock row = {0};
    lock_take(app->locks, &row, ROW_LOCK, a->id);
    if (a->before[0] && !still_announced(app, a->id, a->before, r, err)) {
        return false;
    }
    if (!fill_row(a, index, r, err) || !manifest_write(app->store, r, NULL, err)) {
        return false;
    }
    return a->before[0] ? catalog_set_parts(app->catalog, r, index, NULL, err)
                        : catalog_add(app->catalog, r, index, a->replace, err) &&
                              (r->revision == 1 || manifest_write(app->store, r, NULL, err));
}

/* The pack gets its name, and the row is written; the content's lock is held. */
static bool add_locked(struct app *app, struct announcement *a, struct catalog_recording *r,
                       const struct reel_index *index, struct reel_error *err) {
    char pack[PATH_MAX];
    struct reel_error ignored;
    sweep_ahead(app, a->content);
    bool same = strcmp(a->before, a->content) == 0;
    bool good = store_place_file(app->store, a->content, STORE_PACK, pack, sizeof pack, err) &&
                (rename(a->path, pack) == 0 || reel_fail_errno(err, "the index cannot be stored"));
    a->path[0] = good ? '\0' : a->path[0];
    good = good && store_keep_file(app->store, a->content, STORE_PACK, err) && write_row(app, a, r, index, err);
    if (!good && !same && !is_written(app, a)) {
        manifests_forget(app, a->content, a->id);
        scan_drop_unused(app, a->content, &ignored);
    }
    return good;
}

/* What an announced recording had before: no other has it. */
static void drop_content(struct app *app, const char *content, const char *id) {
    AUTO_LOCK struct key_lock lock = {0};
    struct reel_error ignored;
    lock_take(app->locks, &lock, CONTENT_LOCK, content);
    manifests_forget(app, content, id);
    scan_drop_unused(app, content, &ignored);
}

bool announce_end(struct app *app, struct announcement *a, struct catalog_recording *r, struct reel_error *err) {
    char id[RECORDING_ID_TEXT];
    AUTO(reel_index_free) struct reel_index *index = reel_index_open(a->path, err);
    *r = (struct catalog_recording){0};
    if (!index || !check_pack(a, index, err)) {
        return false;
    }
    {
        AUTO_LOCK struct key_lock lock = {0};
        lock_take(app->locks, &lock, CONTENT_LOCK, a->content);
        if (!add_locked(app, a, r, index, err)) {
            return false;
        }
    }
    if (a->before[0] && strcmp(a->before, a->content) != 0) {
        drop_content(app, a->before, a->id);
    }
    manifests_changed(app);
    memcpy(id, r->id, sizeof id);
    catalog_recording_done(r);
    return catalog_get(app->catalog, id, r, err);
}

/* ---- the file */

bool announce_is_of(struct catalog_recording *r, const struct catalog_recording *there, char before[SHA256_HEX]) {
    struct announced a;
    if (there->state != STATE_ANNOUNCED || !announced_read(there->announced, &a) || !has_file(r, a.sha256)) {
        return false;
    }
    struct catalog_annotations annotations;
    if (!catalog_annotations_copy(&there->annotations, &annotations)) {
        return false;
    }
    catalog_annotations_done(&r->annotations);
    r->annotations = annotations;
    memcpy(before, there->content, SHA256_HEX);
    memcpy(r->id, there->id, sizeof r->id);
    r->created_ns = there->created_ns;
    r->revision = there->revision;
    return true;
}

static bool write_arrived(struct app *app, const struct catalog_recording *r, const char *before,
                          const struct reel_index *index, struct catalog_job *job, struct reel_error *err) {
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording there = {0};
    AUTO_LOCK struct key_lock row = {0}, quota = {0};
    lock_take(app->locks, &row, ROW_LOCK, r->id);
    lock_take(app->locks, &quota, QUOTA_LOCK, r->collection);
    if (!still_announced(app, r->id, before, &there, err) ||
        !quota_check(app->catalog, r->collection, r->size, true, err) || !manifest_write(app->store, r, NULL, err)) {
        return false;
    }
    bool written = catalog_set_parts(app->catalog, r, index, job, err);
    if (!written) {
        manifests_forget(app, r->content, r->id);
    }
    return written;
}

bool announce_arrives(struct app *app, struct catalog_recording *r, const char *before, const struct reel_index *index,
                      struct catalog_job *job, struct reel_error *err) {
    char id[RECORDING_ID_TEXT];
    if (!write_arrived(app, r, before, index, job, err)) {
        return false;
    }
    memcpy(id, r->id, sizeof id);
    drop_content(app, before, id);
    manifests_changed(app); /* with notes and events */
    catalog_recording_done(r);
    return catalog_get(app->catalog, id, r, err);
}
