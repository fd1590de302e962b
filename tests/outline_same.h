/* Outlines held against deep scans, and sources that count what is read of them. For tests with cmocka. */
#ifndef TESTS_OUTLINE_SAME_H
#define TESTS_OUTLINE_SAME_H

#include "reel/index.h"
#include "reel/scan.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define INDEX AUTO(reel_index_free) struct reel_index

/* ---- a source that counts ---- */

struct counted {
    struct reel_source source;
    struct reel_source *base;
    uint64_t bytes, reads;
};
static bool counted_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    struct counted *c = (struct counted *)source;
    c->bytes += size;
    c->reads++;
    return reel_source_read(c->base, offset, buffer, size, err);
}
static void counted_free(struct reel_source *source) {
    (void)source;
}
static const struct reel_source_ops counted_ops = {.read = counted_read, .free = counted_free};

static inline struct counted counted_source(struct reel_source *base) {
    return (struct counted){.source = {.ops = &counted_ops, .size = base->size, .name = base->name}, .base = base};
}

/* ---- both depths ---- */

static inline struct reel_index *outline_of(struct reel_source *source, const struct reel_format *format, struct reel_error *err) {
    *err = (struct reel_error){0};
    if (!reel_scan_outline(&source, 1, format, REEL_SCRATCH "/outline.pack", NULL, err)) {
        return NULL;
    }
    struct reel_index *index = reel_index_open(REEL_SCRATCH "/outline.pack", err);
    assert_non_null(index);
    assert_true(reel_index_info(index)->shallow);
    return index;
}
static inline struct reel_index *deep_of(struct reel_source *source, const struct reel_format *format, struct reel_error *err) {
    *err = (struct reel_error){0};
    return reel_scan_run(&source, 1, format, REEL_SCRATCH "/deep.pack", NULL, err) ? reel_index_open(REEL_SCRATCH "/deep.pack", err) : NULL;
}

static inline bool same_pairs(const struct reel_pairs *a, const struct reel_pairs *b) {
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        same = strcmp(a->items[i].key, b->items[i].key) == 0 && strcmp(a->items[i].value, b->items[i].value) == 0;
    }
    return same;
}

static inline bool same_schemas(const struct reel_channel *a, const struct reel_channel *b) {
    bool same = a->n_schemas == b->n_schemas;
    for (uint32_t i = 0; same && i < a->n_schemas; i++) {
        const struct reel_schema *x = &a->schemas[i], *y = &b->schemas[i];
        same = strcmp(x->name, y->name) == 0 && strcmp(x->encoding, y->encoding) == 0 && strcmp(x->hash, y->hash) == 0 &&
               bytes_equal(x->data, y->data);
    }
    return same;
}

static inline bool same_channel(const struct reel_channel *a, const struct reel_channel *b) {
    bool same = a->id == b->id && strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0 && strcmp(a->encoding, b->encoding) == 0 &&
                a->latched == b->latched && a->n_topics == b->n_topics && same_schemas(a, b) && same_pairs(&a->metadata, &b->metadata);
    for (uint32_t i = 0; same && i < a->n_topics; i++) {
        same = strcmp(a->topics[i], b->topics[i]) == 0;
    }
    return same;
}

/* What differs between an outline and the deep scan of the same bytes; NULL: nothing. Metadata of the recording and its attachments may be
 * fewer. */
static inline const char *outline_differs(const struct reel_index *outline, const struct reel_index *deep) {
    const struct reel_index_info *o = reel_index_info(outline), *d = reel_index_info(deep);
    if (o->n_channels != d->n_channels || o->messages != d->messages) {
        return o->messages != d->messages ? "messages" : "number of channels";
    }
    if (o->start_ns != d->start_ns || o->end_ns != d->end_ns) {
        return "start or end";
    }
    if (o->clock != d->clock || strcmp(o->clock_note, d->clock_note) != 0 || strcmp(o->container, d->container) != 0) {
        return "clock or container";
    }
    for (uint32_t i = 0; i < o->n_channels; i++) {
        const struct reel_channel_stats *s = reel_index_stats(outline, i), *t = reel_index_stats(deep, i);
        if (!same_channel(reel_index_channel(outline, i), reel_index_channel(deep, i))) {
            return "a channel";
        }
        if (s->count != t->count || s->first_ns != t->first_ns || s->last_ns != t->last_ns || (s->bytes > 0 && s->bytes != t->bytes)) {
            return "counts of a channel";
        }
    }
    return NULL;
}

static inline void outline_assert_same(struct reel_source *source, const struct reel_format *format) {
    struct reel_error err;
    INDEX *outline = outline_of(source, format, &err);
    if (!outline) {
        fail_msg("no outline: %s", err.text);
    }
    INDEX *deep = deep_of(source, format, &err);
    assert_non_null(deep);
    const char *other = outline_differs(outline, deep);
    if (other) {
        fail_msg("outline and scan differ in %s", other);
    }
}

/* Refused with REEL_UNSUPPORTED and these words. */
static inline void outline_assert_refused(struct reel_source *source, const struct reel_format *format, const char *text) {
    struct reel_error err;
    INDEX *outline = outline_of(source, format, &err);
    assert_null(outline);
    if (err.code != REEL_UNSUPPORTED || !strstr(err.text, text)) {
        fail_msg("refused with %d: %s", (int)err.code, err.text);
    }
}

static inline struct reel_source *in_memory(const void *data, size_t size) {
    struct reel_error err = {0};
    struct reel_source *source = reel_source_from_memory(bytes_of(data, size), "made", &err);
    assert_non_null(source);
    return source;
}

/* The file cut at every byte from `from` on: refused, or what the scan finds; then every byte of it changed in two ways, which only must
 * not crash. Every refusal has a text. */
static inline void outline_of_damaged(uint8_t *data, size_t size, size_t from, const struct reel_format *format) {
    struct reel_error err;
    for (size_t cut = from; cut < size; cut++) {
        AUTO(reel_source_free) struct reel_source *source = in_memory(data, cut);
        INDEX *outline = outline_of(source, format, &err);
        if (!outline) {
            assert_true(err.code == REEL_UNSUPPORTED || err.code == REEL_NOT_MINE);
            assert_true(err.text[0] != '\0');
            continue;
        }
        INDEX *deep = deep_of(source, format, &err);
        assert_non_null(deep);
        const char *other = outline_differs(outline, deep);
        if (other) {
            fail_msg("cut at %zu of %zu: outline and scan differ in %s", cut, size, other);
        }
    }
    for (size_t at = 0; at < size; at++) {
        for (unsigned way = 1; way < 256; way += 254) {
            AUTO(reel_source_free) struct reel_source *source = in_memory(data, size);
            data[at] ^= (uint8_t)way;
            INDEX *outline = outline_of(source, format, &err);
            data[at] ^= (uint8_t)way;
            assert_true(outline || (err.code != REEL_OK && err.text[0] != '\0'));
        }
    }
}

/* ---- files that are there ---- */

struct outlined {
    unsigned same, refused, damaged; /* damaged: outlined though the scan tells of losses */
};

static inline void outline_file(const char *path, const char *name, const struct reel_format *format, const char *const *lying,
                                struct outlined *sum) {
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *source = reel_source_open(path, NULL, &err);
    assert_non_null(source);
    INDEX *outline = outline_of(source, format, &err);
    if (!outline) {
        print_message("  %s: refused: %s\n", name, err.text);
        assert_true(err.code == REEL_UNSUPPORTED || err.code == REEL_NOT_MINE);
        sum->refused++;
        return;
    }
    INDEX *deep = deep_of(source, format, &err);
    assert_non_null(deep);
    const char *other = outline_differs(outline, deep);
    if (reel_index_info(deep)->damaged) {
        print_message("  %s: outlined, though it is damaged: %s\n", name, other ? other : "the same");
        sum->damaged++;
        return;
    }
    for (; *lying; lying++) {
        other = strstr(path, *lying) ? NULL : other;
    }
    if (other) {
        fail_msg("%s: outline and scan differ in %s", name, other);
    }
    sum->same++;
}

/* All files FOLDER/…SUFFIX, or with `suffix` beginning with a slash FOLDER/…SUFFIX in the folders there: outlined as scanned, or refused.
 * The index of those in `lying` (NULL-terminated) says something else than the messages, which only a scan notices. False: there is no such
 * folder. */
static inline bool outline_folder(const char *folder, const char *suffix, const struct reel_format *format, const char *const *lying,
                                  struct outlined *sum) {
    struct dirent **names;
    int n = scandir(folder, &names, NULL, alphasort);
    *sum = (struct outlined){0};
    for (int i = 0; i < n; i++) {
        char path[1024];
        const char *name = names[i]->d_name;
        size_t size = strlen(name), tail = strlen(suffix);
        bool inside = suffix[0] == '/' && name[0] != '.';
        snprintf(path, sizeof path, "%s/%s%s", folder, name, inside ? suffix : "");
        if ((inside && access(path, R_OK) == 0) || (size > tail && strcmp(name + size - tail, suffix) == 0)) {
            outline_file(path, name, format, lying, sum);
        }
        free(names[i]);
    }
    if (n >= 0) {
        free(names);
        print_message("%s: %u outlined, %u refused, %u outlined though damaged\n", folder, sum->same, sum->refused, sum->damaged);
    }
    return n >= 0;
}

/* ---- large ones ---- */

struct large { /* a sparse file being written */
    FILE *file;
    uint64_t at;
};
static inline void large_put(struct large *l, const void *data, size_t size) {
    assert_int_equal(fseeko(l->file, (off_t)l->at, SEEK_SET), 0);
    assert_int_equal(fwrite(data, 1, size, l->file), size);
    l->at += size;
}

/* Its outline, which may read `most` bytes. Prints how much and how long, which no test goes by. */
static inline struct reel_index *large_outline(const char *path, const struct reel_format *format, uint64_t most) {
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *file = reel_source_open(path, NULL, &err);
    assert_non_null(file);
    struct counted counted = counted_source(file);
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    struct reel_index *outline = outline_of(&counted.source, format, &err);
    clock_gettime(CLOCK_MONOTONIC, &b);
    if (!outline) {
        fail_msg("%s", err.text);
    }
    print_message("  %s, %llu bytes: outline by %llu bytes in %llu reads, %.0f ms\n", format->name, (unsigned long long)file->size,
                  (unsigned long long)counted.bytes, (unsigned long long)counted.reads,
                  (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6);
    assert_true(counted.bytes <= most);
    return outline;
}

#endif
