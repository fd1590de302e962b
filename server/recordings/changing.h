/* Changes of one recording, by a request or as one of a batch: the checks of quotas, the catalog, the manifest. */
#ifndef SERVER_RECORDINGS_CHANGING_H
#define SERVER_RECORDINGS_CHANGING_H

#include "app.h"
#include "catalog/notes.h"

bool changing_apply(struct app *app, const struct catalog_recording *row, const struct catalog_change *change,
                    bool *changed, struct reel_error *err);
/* `version`: its updated_ns, or CATALOG_ANY_VERSION. */
bool changing_trash(struct app *app, const struct catalog_recording *row, int64_t version, struct reel_error *err);
/* Restores from the trash, if the quota allows it. */
bool changing_restore(struct app *app, const struct catalog_recording *row, struct reel_error *err);

#endif
