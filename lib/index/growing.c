/* See index/growing.h. */
#include "index/growing.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "index/builder.h"

struct reel_growing {
    const struct reel_growth_ops *ops;
    struct reel_source *source;
    struct reel_builder *builder;
    struct reel_scan scan;
    void *state;
};

static bool open_state(struct reel_growing *g, const struct reel_format *format, const char *path,
                       const char *pack_path, struct reel_error *err) {
    if (!(g->state = calloc(1, g->ops->state_size))) {
        return reel_fail_memory(err);
    }
    if (!(g->source = reel_source_open(path, NULL, err)) ||
        !(g->builder = builder_new(pack_path, format->name, format->version, &g->source->size, 1, err))) {
        return false;
    }
    g->scan = (struct reel_scan){.parts = &g->source, .n_parts = 1, .builder = g->builder};
    return g->ops->open(g->state, &g->scan, err);
}

struct reel_growing *reel_growing_open(const char *path, const struct reel_format *format, const char *pack_path,
                                       struct reel_error *err) {
    if (!format->growth) {
        reel_fail(err, REEL_UNSUPPORTED, "%s files cannot be read while they grow", format->title);
        return NULL;
    }
    AUTO(reel_growing_free) struct reel_growing *g = calloc(1, sizeof *g);
    if (!g) {
        reel_fail_memory(err);
        return NULL;
    }
    g->ops = format->growth;
    return open_state(g, format, path, pack_path, err) ? TAKE(g) : NULL;
}

static bool grow_to(struct reel_growing *g, uint64_t size, struct reel_error *err) {
    if (size < builder_part_size(g->builder)) {
        return reel_fail(err, REEL_CHANGED, "the recording became shorter");
    }
    g->source->size = size;
    builder_grow_part(g->builder, size);
    return true;
}

bool reel_growing_read(struct reel_growing *g, uint64_t size, const struct reel_progress *progress,
                       struct reel_error *err) {
    if (!grow_to(g, size, err)) {
        return false;
    }
    g->scan.progress = progress;
    bool good = g->ops->read(g->state, err);
    g->scan.progress = NULL;
    return good;
}

struct reel_index *reel_growing_index(struct reel_growing *g, struct reel_error *err) {
    return builder_index(g->builder, err);
}

bool reel_growing_finish(struct reel_growing *g, uint64_t size, struct reel_error *err) {
    if (!grow_to(g, size, err)) {
        return false;
    }
    return g->ops->finish(g->state, err) && builder_finish(g->builder, err);
}

void reel_growing_free(struct reel_growing *g) {
    if (g) {
        if (g->state) {
            g->ops->close(g->state);
        }
        free(g->state);
        builder_free(g->builder);
        reel_source_free(g->source);
        free(g);
    }
}
