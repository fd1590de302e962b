/* See attach.h. */
#include "catalog/attach.h"

#include "catalog/objects.h"

static const uint64_t CACHE_BYTES = UINT64_C(1) << 30;

bool catalog_attach(struct catalog *c, struct store *store, struct reel_error *err) {
    if (!store_use_bucket(store, NULL, CACHE_BYTES, err)) {
        return false;
    }
    if (c) {
        const struct store_directory directory = catalog_directory(c);
        store_set_directory(store, &directory);
    }
    return true;
}
