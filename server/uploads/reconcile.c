/* Brings upload sessions and their files together at start. An offset is acknowledged only if the bytes before it are
 * known to be stored: the size of the file when the system has not restarted since (the page cache has lost nothing),
 * else what an fsync confirmed. */
#include <string.h>

#include "base/cleanup.h"
#include "uploads/sessions_internal.h"
#include "uploads/upload_options.h"

struct reconcile {
    struct app *app;
    bool same_run;
};

bool session_find_recording(struct app *app, struct catalog_upload *u, bool *found, struct reel_error *err) {
    AUTO_STRUCT(upload_options_done) struct upload_options options = {0};
    struct catalog_recording r;
    struct reel_error none = {0};
    *found = false;
    if (!upload_options_parse(&options, u->options, err)) {
        return false;
    }
    const struct ingest_request q = upload_options_request(&options);
    if (!catalog_get_named(app->catalog, q.collection, q.part_of ? q.part_of : q.name, &r, &none)) {
        return none.code == REEL_NOT_FOUND || reel_error_pass(err, &none);
    }
    for (uint32_t i = 0; i < r.n_parts; i++) {
        *found = *found || strcmp(r.parts[i].sha256, u->content) == 0;
    }
    memcpy(u->recording, r.id, sizeof u->recording);
    catalog_recording_done(&r);
    return true;
}

/* Its file is not in incoming/: it has become a recording, or the blob of none yet. */
static bool bring_back(struct app *app, struct catalog_upload *u, bool *gone, struct reel_error *err) {
    bool found = false, used = true;
    *gone = true;
    if (!u->content[0]) {
        return true;
    }
    if (!session_find_recording(app, u, &found, err)) {
        return false;
    }
    if (found) {
        u->done = true;
        u->offset = u->length >= 0 ? (uint64_t)u->length : u->offset;
        *gone = false;
        return catalog_upload_update(app->catalog, u, err);
    }
    if (!catalog_blob_used(app->catalog, u->content, &used, err)) {
        return false;
    }
    struct reel_error ignored;
    *gone = used || !store_blob_to_partial(app->store, u->content, u->id, &ignored);
    return true;
}

/* Truncates the file to the bytes that are known to be stored. */
static bool set_offset(const struct reconcile *c, struct catalog_upload *u, struct store_upload *file,
                       struct reel_error *err) {
    uint64_t size = store_upload_size(file), sure = (c->same_run && !u->checked) || size < u->offset ? size : u->offset;
    bool full = u->length > 0 && sure >= (uint64_t)u->length, partial = strcmp(u->concat, "partial") == 0;
    u->done = partial && full;
    if (full && !partial) {
        sure = (uint64_t)u->length - !u->draft; /* the last byte is sent again, and completes the upload */
    }
    u->offset = sure;
    u->content[0] = u->recording[0] = '\0';
    char *note;
    return store_upload_cut(file, sure, err) && store_upload_sync(file, full, &sure, &note, err) &&
           catalog_upload_update(c->app->catalog, u, err);
}

static bool reconcile_offset(const struct reconcile *c, struct catalog_upload *u, struct reel_error *err) {
    struct reel_error none = {0};
    if (u->done && strcmp(u->concat, "partial") != 0) {
        store_remove_partial(c->app->store, u->id, "");
        return true;
    }
    struct store_upload *file = store_upload_open(c->app->store, u->id, false, "", &none);
    if (!file && none.code == REEL_NOT_FOUND) {
        bool gone;
        if (!bring_back(c->app, u, &gone, err)) {
            return false;
        }
        if (gone || u->done) {
            return u->done || catalog_upload_remove(c->app->catalog, u->id, err);
        }
        file = store_upload_open(c->app->store, u->id, false, "", &none);
    }
    if (!file) {
        return reel_error_pass(err, &none);
    }
    bool ok = set_offset(c, u, file, err);
    store_upload_free(file);
    return ok;
}

/* A file without a row, from a crash before the row was written or after it was deleted. */
static void check_file(void *context, const char *name, const char *id) {
    struct app *app = context;
    struct catalog_upload u;
    struct reel_error none = {0};
    (void)name;
    if (id && catalog_upload_get(app->catalog, id, &u, &none)) {
        catalog_upload_done(&u);
    } else if (id && none.code == REEL_NOT_FOUND) {
        store_remove_partial(app->store, id, "");
    }
}

bool sessions_reconcile(struct app *app, struct reel_error *err) {
    struct reconcile c = {.app = app};
    struct catalog_upload u;
    struct reel_error none = {0};
    bool ok = store_same_run(app->store, &c.same_run, err);
    for (int64_t row = 0; ok && catalog_upload_after(app->catalog, row, &u, &none); row = u.row) {
        int64_t at = u.row;
        ok = reconcile_offset(&c, &u, err);
        catalog_upload_done(&u);
        u.row = at;
    }
    if (!ok || none.code != REEL_NOT_FOUND) {
        return !ok ? false : reel_error_pass(err, &none);
    }
    return store_each_incoming(app->store, check_file, app, err);
}
