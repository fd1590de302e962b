/* A blob that is opened for each read, for requests that have many of them at a time. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/store_internal.h"

struct resting {
    struct reel_source base;
    struct store *store;
    char *sha256; /* behind the name */
    char name[];
};

static bool resting_read(struct reel_source *base, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    struct resting *s = (struct resting *)base;
    AUTO(reel_source_free) struct reel_source *file = store_open_blob(s->store, s->sha256, s->name, err);
    return file && reel_source_read(file, offset, buffer, size, err);
}
static void resting_free(struct reel_source *base) {
    free(base);
}
static const struct reel_source_ops resting_ops = {.read = resting_read, .free = resting_free};

struct reel_source *store_open_resting(struct store *store, const char *sha256, const char *file_name,
                                       struct reel_error *err) {
    size_t name_size = strlen(file_name) + 1, sha256_size = strlen(sha256) + 1;
    struct resting *s = calloc(1, sizeof *s + name_size + sha256_size);
    if (!s) {
        reel_fail_memory(err);
        return NULL;
    }
    memcpy(s->name, file_name, name_size);
    s->sha256 = memcpy(s->name + name_size, sha256, sha256_size);
    s->store = store;
    s->base = (struct reel_source){.ops = &resting_ops, .name = s->name};
    if (!store_examine(store, sha256, &s->base.size, err)) {
        free(s);
        return NULL;
    }
    return &s->base;
}
