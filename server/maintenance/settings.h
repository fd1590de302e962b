/* settings.json: retention rules, quotas, webhooks, layouts, searches, datasets and definitions, a copy of what the
 * catalog has, in case it is lost:
 * {"reel_settings": 1, "retention": {…}, "webhooks": [{"id", "url", "events", "collections", "secret", "created_ns"}],
 * "saved": [{"kind", "collection", "name", "value", "author", "created_ns", "updated_ns"}],
 * "definitions": [{"name", "text", "author", "created_ns", "updated_ns"}]}. */
#ifndef SERVER_MAINTENANCE_SETTINGS_H
#define SERVER_MAINTENANCE_SETTINGS_H

#include "app.h"

/* Saves the settings in the catalog to the file, if they differ. Call it after each change. */
bool settings_save(struct app *app, struct reel_error *err);
/* Restores them into a new or older catalog; fine when there is no such file. Invalid entries are skipped. */
bool settings_restore(struct app *app, struct reel_error *err);

#endif
