/* settings.json: retention rules, quotas and webhooks, written beside the catalog so that they outlive it: {"reel_settings": 1,
 * "retention": {…}, "webhooks": [{"id", "url", "events", "collections", "secret", "created_ns"}]}. */
#ifndef SERVER_SETTINGS_H
#define SERVER_SETTINGS_H

#include "app.h"

/* Writes down what the catalog has; to be called after each change. Writes nothing when that is there already. */
bool settings_save(struct app *app, struct reel_error *err);
/* Into a catalog that is new, or older than its data folder; fine when there is no such file. What makes no sense is left out. */
bool settings_restore(struct app *app, struct reel_error *err);

#endif
