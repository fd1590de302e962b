/* Moves received bytes into the store, as the blob of their content. */
#include "catalog/maintenance.h"
#include "scans/open_recordings.h"
#include "scans/scanning.h"

bool content_keep_upload(struct app *app, struct store_upload *upload, const char *sha256, struct reel_error *err) {
    bool corrupted = false;
    if (!catalog_is_corrupted(app->catalog, sha256, &corrupted, err)) {
        return false;
    }
    if (!corrupted) {
        return store_upload_keep(upload, err);
    }
    if (!store_upload_replace(upload, err) || !catalog_corruption_cleared(app->catalog, sha256, err)) {
        return false;
    }
    if (app->recordings) {
        recordings_forget(app->recordings, sha256);
    }
    return true;
}
