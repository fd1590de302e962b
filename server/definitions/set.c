/* See set.h. */
#include "definitions/set.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "catalog/definitions.h"
#include "definitions/files.h"

struct definitions {
    pthread_mutex_t mutex; /* guards the state */
    struct definition_files files;
    struct catalog_definitions_state state;
    _Atomic uint64_t seen; /* state.version; without the mutex, as on PostgreSQL its comparison is a query */
};

struct definitions *definitions_new(const struct app_config *config, struct reel_error *err) {
    struct definitions *d = calloc(1, sizeof *d);
    if (!d) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&d->mutex, NULL);
    atomic_init(&d->seen, UINT64_MAX);
    bool good = true;
    for (uint32_t i = 0; good && i < config->definitions.count; i++) {
        good = definition_files_of_folder(&d->files, config->definitions.items[i], err);
    }
    if (!good) {
        definitions_free(d);
        return NULL;
    }
    return d;
}

void definitions_free(struct definitions *d) {
    if (d) {
        own_definitions_set(NULL, 0, NULL);
        definition_files_done(&d->files);
        pthread_mutex_destroy(&d->mutex);
        free(d);
    }
}

static bool load(struct app *app, struct reel_error *err) {
    struct definitions *d = app->definitions;
    AUTO_STRUCT(catalog_definitions_done) struct catalog_definitions all = {0};
    if (!catalog_definitions_list(app->catalog, &all, err)) {
        return false;
    }
    size_t n = d->files.n;
    AUTO_MEM struct own_definition *items = calloc(n + all.n + 1, sizeof *items);
    if (!items) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        items[i] = d->files.items[i];
    }
    for (uint32_t i = 0; i < all.n; i++) {
        items[n + i] = (struct own_definition){.name = all.items[i].name, .text = bytes_text(all.items[i].text)};
    }
    return own_definitions_set(items, n + all.n, err);
}

bool definitions_refresh(struct app *app, struct reel_error *err) {
    struct definitions *d = app->definitions;
    bool changed = false;
    if (!d || atomic_load(&d->seen) == catalog_definitions_version(app->catalog)) {
        return true;
    }
    pthread_mutex_lock(&d->mutex);
    struct catalog_definitions_state before = d->state;
    bool good = catalog_definitions_changed(app->catalog, &d->state, &changed, err) && (!changed || load(app, err));
    if (!good) {
        d->state = before; /* once more next time */
    }
    atomic_store(&d->seen, good ? d->state.version : UINT64_MAX);
    pthread_mutex_unlock(&d->mutex);
    return good;
}
