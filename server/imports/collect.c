/* See collect.h. A recording is read by the format of its first part, which names the other parts. */
#include "imports/collect.h"
#include "base/cleanup.h"

#include <string.h>

enum {
    MANY = 1000, /* with more files in a folder each is compared only with its neighbours by name, as comparing all
                    would be quadratic */
    NEAR = 64,
};

struct parts { /* of one recording, opened */
    struct reel_source *items[COLLECT_PARTS_MAX];
    uint32_t n;
};
static void reel_auto_parts_done(struct parts *p) {
    while (p->n > 0) {
        reel_source_free(p->items[--p->n]);
    }
}

static bool has_parts(const struct collect_file *f) {
    return f->format && f->format->joins;
}

static bool joins_all(const struct reel_format *format, const struct parts *parts, struct reel_source *other) {
    for (uint32_t i = 0; i < parts->n; i++) {
        if (!format->joins(parts->items[i], other)) {
            return false;
        }
    }
    return true;
}

/* Collects the parts of `first`. The formats of the files before it were tried already. */
static void collect_collect(struct collect_file *all, uint32_t n, uint32_t first, collect_open open, void *context) {
    AUTO(parts_done) struct parts parts = {.n = 0};
    if (!(parts.items[0] = open(context, first))) {
        return;
    }
    parts.n = 1;
    uint32_t from = n > MANY && first > NEAR ? first - NEAR : 0, end = n > MANY && n - first > NEAR ? first + NEAR : n;
    for (uint32_t i = from; i < end && parts.n < COLLECT_PARTS_MAX; i++) {
        struct collect_file *f = &all[i];
        bool question = i == first || (i < first && has_parts(f));
        if (question || f->leader != i || !f->format || memcmp(f->folder, all[first].folder, sizeof f->folder) != 0) {
            continue;
        }
        AUTO(reel_source_free) struct reel_source *other = open(context, i);
        if (other && joins_all(all[first].format, &parts, other)) {
            f->leader = first;
            parts.items[parts.n++] = TAKE(other);
        }
    }
}

void collect_parts(struct collect_file *files, uint32_t n, collect_open open, void *context) {
    for (uint32_t i = 0; i < n; i++) {
        AUTO(reel_source_free) struct reel_source *source = open(context, i);
        files[i].format = source ? reel_format_probe(source, NULL) : NULL;
        files[i].leader = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (files[i].leader == i && has_parts(&files[i])) {
            collect_collect(files, n, i, open, context);
        }
    }
}
