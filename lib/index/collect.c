/* See collect.h. A recording is read by the format of its first part, which names the other parts. */
#include "index/collect.h"

#include <string.h>

#include "base/cleanup.h"

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

struct collecting {
    struct collect_file *all;
    uint32_t n;
    collect_open open;
    void *context;
};

/* A file that is alone so far, and that an earlier one of the same format was not compared with. */
static bool may_join(const struct collecting *c, uint32_t first, uint32_t i) {
    const struct collect_file *f = &c->all[i], *leader = &c->all[first];
    return i != first && !f->grouped && !(i < first && f->format == leader->format) &&
           memcmp(f->folder, leader->folder, sizeof f->folder) == 0;
}

/* Takes the files that join the parts, by the format of `first`, at least as surely as `least`. */
static void take_pass(const struct collecting *c, uint32_t first, enum reel_joins least, struct parts *parts) {
    bool many = c->n > MANY;
    uint32_t from = many && first > NEAR ? first - NEAR : 0, end = many && c->n - first > NEAR ? first + NEAR : c->n;
    for (uint32_t i = from; i < end && parts->n < COLLECT_PARTS_MAX; i++) {
        if (!may_join(c, first, i)) {
            continue;
        }
        AUTO(reel_source_free) struct reel_source *other = c->open(c->context, i);
        if (other && c->all[first].format->joins(parts->items, parts->n, other) >= least) {
            c->all[i].leader = first;
            c->all[i].grouped = c->all[first].grouped = true;
            parts->items[parts->n++] = TAKE(other);
        }
    }
}

/* Again when there are several: run_10 comes before run_2 by name, and may join only after run_9. */
static void take_parts(const struct collecting *c, uint32_t first, enum reel_joins least, struct parts *parts) {
    for (uint32_t before = 0; parts->n > before && (before == 0 || parts->n > 2);) {
        before = parts->n;
        take_pass(c, first, least, parts);
    }
}

static void collect_collect(const struct collecting *c, uint32_t first, enum reel_joins least) {
    AUTO(parts_done) struct parts parts = {.n = 0};
    if ((parts.items[0] = c->open(c->context, first))) {
        parts.n = 1;
        take_parts(c, first, least, &parts);
    }
}

/* Lets each file that is alone take its parts, of the formats that read files of other formats or of those that do not.
 */
static void collect_round(const struct collecting *c, bool folders, enum reel_joins least) {
    for (uint32_t i = 0; i < c->n; i++) {
        const struct collect_file *f = &c->all[i];
        if (!f->grouped && has_parts(f) && f->format->is_folder == folders) {
            collect_collect(c, i, least);
        }
    }
}

void collect_parts(struct collect_file *files, uint32_t n, collect_open open, void *context) {
    const struct collecting c = {.all = files, .n = n, .open = open, .context = context};
    for (uint32_t i = 0; i < n; i++) {
        AUTO(reel_source_free) struct reel_source *source = open(context, i);
        files[i].format = source ? reel_format_probe(source, NULL) : NULL;
        files[i].leader = i;
        files[i].grouped = false;
    }
    collect_round(&c, true, REEL_JOINS); /* metadata.yaml takes its .mcap before that takes others */
    collect_round(&c, true, REEL_MAY_JOIN);
    collect_round(&c, false, REEL_JOINS);
}

uint32_t collect_main(const char *const *names, uint32_t n, const struct reel_format *format) {
    for (size_t s = 0; n > 1 && format && format->suffixes[s]; s++) {
        size_t end = strlen(format->suffixes[s]);
        for (uint32_t i = 0; i < n; i++) {
            size_t size = strlen(names[i]);
            if (size > end && strcmp(names[i] + size - end, format->suffixes[s]) == 0) {
                return i;
            }
        }
    }
    return n > 1 && format && format->is_folder ? 1 : 0; /* the first is metadata.yaml */
}
