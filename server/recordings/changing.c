/* See changing.h. */
#include "recordings/changing.h"

#include "base/cleanup.h"
#include "catalog/quota.h"
#include "manifests/manifests.h"
#include "scans/scanning.h"
#include "work/locks.h"

bool changing_apply(struct app *app, const struct catalog_recording *row, const struct catalog_change *change,
                    bool *changed, struct reel_error *err) {
    AUTO_STRUCT(lock_release) struct key_lock row_lock = {0}, lock = {0};
    if (change->sets_clock) { /* the end of a scan reads the clock that was set, and writes the row later */
        lock_take(app->locks, &row_lock, ROW_LOCK, row->id);
    }
    lock_take(app->locks, &lock, QUOTA_LOCK, change->collection ? change->collection : row->collection);
    bool good = (!change->collection || quota_check_move(app->catalog, row->id, change->collection, err)) &&
                catalog_change(app->catalog, row->id, change, changed, err);
    lock_release(&lock);
    if (good && *changed) {
        manifests_changed(app);
    }
    return good;
}

bool changing_trash(struct app *app, const struct catalog_recording *row, int64_t version, struct reel_error *err) {
    if (row->state == STATE_TRASHED) {
        return true;
    }
    if (row->state == STATE_RECORDING) {
        return reel_fail(err, REEL_CONFLICT, "this recording is still growing: POST …/finish first, or purge=true");
    }
    bool good = catalog_trash_at(app->catalog, row->id, version, err);
    if (good) {
        manifests_changed(app);
    }
    return good;
}

bool changing_restore(struct app *app, const struct catalog_recording *row, struct reel_error *err) {
    AUTO_STRUCT(lock_release) struct key_lock lock = {0};
    lock_take(app->locks, &lock, QUOTA_LOCK, row->collection);
    bool good = quota_check_move(app->catalog, row->id, NULL, err) && catalog_restore(app->catalog, row->id, err);
    lock_release(&lock);
    if (good) {
        manifests_changed(app);
    }
    return good;
}
