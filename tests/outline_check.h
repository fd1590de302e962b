/* Holds outlines against scans, and counts what they read: of formats whose index has times of chunks, not of channels, so that a channel's
 * times may be wider than the scan's; all else is compared. For tests with cmocka. */
#ifndef TESTS_OUTLINE_CHECK_H
#define TESTS_OUTLINE_CHECK_H

#include "formats/formats.h"
#include "reel/index.h"
#include "reel/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define INDEX AUTO(reel_index_free) struct reel_index
#define OUTLINE_PACK REEL_SCRATCH "/outline.pack"
#define SCAN_PACK REEL_SCRATCH "/scan.pack"

/* ---- a source that counts ---- */

struct counted {
    struct reel_source base;
    struct reel_source *inner; /* not owned */
    uint64_t bytes, reads;
};
static inline bool counted_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    struct counted *c = (struct counted *)source;
    c->bytes += size;
    c->reads++;
    return reel_source_read(c->inner, offset, buffer, size, err);
}
static inline void counted_free(struct reel_source *source) {
    (void)source;
}
static inline struct counted counted_of(struct reel_source *inner) {
    static const struct reel_source_ops ops = {.read = counted_read, .free = counted_free};
    return (struct counted){.base = {.ops = &ops, .size = inner->size, .name = inner->name}, .inner = inner};
}

/* ---- outlines ---- */

static inline struct reel_source *in_memory(struct bytes data) {
    struct reel_error err = {0};
    struct reel_source *source = reel_source_from_memory(data, "made", &err);
    assert_non_null(source);
    return source;
}

/* NULL with err when it is refused. */
static inline struct reel_index *outline_try(struct reel_source *const *parts, uint32_t n, const struct reel_format *format, struct reel_error *err) {
    *err = (struct reel_error){0};
    if (!reel_scan_outline(parts, n, format, OUTLINE_PACK, NULL, err)) {
        return NULL;
    }
    struct reel_index *index = reel_index_open(OUTLINE_PACK, err);
    assert_non_null(index);
    assert_true(reel_index_info(index)->shallow);
    return index;
}
static inline struct reel_index *outline_of(struct reel_source *const *parts, uint32_t n, const struct reel_format *format) {
    struct reel_error err;
    struct reel_index *index = outline_try(parts, n, format, &err);
    if (!index) {
        fail_msg("%s: %s", parts[0]->name, err.text);
    }
    return index;
}
/* Must be refused as unsupported, with these words. */
static inline void outline_refused(struct bytes data, const struct reel_format *format, const char *words) {
    struct reel_error err;
    AUTO(reel_source_free) struct reel_source *source = in_memory(data);
    INDEX *index = outline_try(&source, 1, format, &err);
    assert_null(index);
    if (err.code != REEL_UNSUPPORTED || !strstr(err.text, words)) {
        fail_msg("code %d, \"%s\" without \"%s\"", (int)err.code, err.text, words);
    }
}

static inline void same_pairs(const struct reel_pairs *a, const struct reel_pairs *b) {
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->items[i].key, b->items[i].key);
        assert_string_equal(a->items[i].value, b->items[i].value);
    }
}
static inline void same_channel(const struct reel_channel *a, const struct reel_channel *b) {
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->type, b->type);
    assert_string_equal(a->encoding, b->encoding);
    assert_int_equal(a->latched, b->latched);
    assert_int_equal(a->n_topics, b->n_topics);
    for (uint32_t i = 0; i < a->n_topics; i++) {
        assert_string_equal(a->topics[i], b->topics[i]);
    }
    assert_int_equal(a->n_schemas, b->n_schemas);
    for (uint32_t i = 0; i < a->n_schemas; i++) {
        assert_string_equal(a->schemas[i].name, b->schemas[i].name);
        assert_string_equal(a->schemas[i].encoding, b->schemas[i].encoding);
        assert_string_equal(a->schemas[i].hash, b->schemas[i].hash);
        assert_true(bytes_equal(a->schemas[i].data, b->schemas[i].data));
    }
    same_pairs(&a->metadata, &b->metadata);
}
static inline void same_info(const struct reel_index_info *a, const struct reel_index_info *b) {
    assert_ptr_equal(a->format, b->format);
    assert_string_equal(a->container, b->container);
    assert_int_equal(a->clock, b->clock);
    assert_string_equal(a->clock_note, b->clock_note);
    assert_int_equal(a->n_channels, b->n_channels);
    assert_int_equal(a->n_parts, b->n_parts);
    assert_int_equal(a->messages, b->messages);
    assert_int_equal(a->start_ns, b->start_ns);
    assert_int_equal(a->end_ns, b->end_ns);
    assert_false(a->damaged);
}
static inline void same_attachments(const struct reel_index *a, const struct reel_index *b) {
    size_t n, m;
    const struct reel_attachment *x = reel_index_attachments(a, &n), *y = reel_index_attachments(b, &m);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(x[i].name, y[i].name);
        assert_string_equal(x[i].media_type, y[i].media_type);
        assert_int_equal(x[i].time_ns, y[i].time_ns);
        assert_int_equal(x[i].chunk, y[i].chunk);
        assert_int_equal(x[i].offset, y[i].offset);
        assert_int_equal(x[i].size, y[i].size);
    }
}

/* The outline `a` says what the scan `b` found; only a channel's times may be wider. */
static inline void same_but_entries(const struct reel_index *a, const struct reel_index *b) {
    const struct reel_index_info *info = reel_index_info(a);
    same_info(info, reel_index_info(b));
    for (uint32_t i = 0; i < info->n_channels; i++) {
        same_channel(reel_index_channel(a, i), reel_index_channel(b, i));
        const struct reel_channel_stats *s = reel_index_stats(a, i), *t = reel_index_stats(b, i);
        assert_int_equal(s->count, t->count);
        assert_int_equal(s->bytes, 0);
        assert_true(s->count == 0 || (s->first_ns <= t->first_ns && s->last_ns >= t->last_ns));
        assert_true(s->count == 0 || (s->first_ns >= info->start_ns && s->last_ns <= info->end_ns));
    }
    same_pairs(reel_index_metadata(a), reel_index_metadata(b));
    same_attachments(a, b);
}

/* Scans and compares; the caller frees what comes back, the outline. */
static inline struct reel_index *outline_like_scan(struct reel_source *const *parts, uint32_t n, const struct reel_format *format) {
    struct reel_error err = {0};
    struct reel_index *outline = outline_of(parts, n, format);
    if (!reel_scan_run(parts, n, format, SCAN_PACK, NULL, &err)) {
        fail_msg("%s: %s", parts[0]->name, err.text);
    }
    INDEX *scan = reel_index_open(SCAN_PACK, &err);
    assert_non_null(scan);
    same_but_entries(outline, scan);
    return outline;
}
static inline struct reel_index *outline_like_scan_of(struct bytes data, const struct reel_format *format) {
    AUTO(reel_source_free) struct reel_source *source = in_memory(data);
    return outline_like_scan(&source, 1, format);
}

static inline bool never_mind(void *context, uint64_t at, uint64_t total) {
    (void)context;
    (void)at;
    (void)total;
    return false;
}
static inline void outline_cancelled(struct bytes data, const struct reel_format *format) {
    struct reel_error err = {0};
    const struct reel_progress progress = {.report = never_mind};
    AUTO(reel_source_free) struct reel_source *source = in_memory(data);
    assert_false(reel_scan_outline(&source, 1, format, OUTLINE_PACK, &progress, &err));
    assert_int_equal(err.code, REEL_CANCELLED);
}

/* Whatever the bytes, an answer; what it is, is counted. */
struct outline_answers {
    unsigned outlined, refused;
};
static inline void outline_any(struct bytes data, const struct reel_format *format, struct outline_answers *all) {
    struct reel_error err;
    AUTO(reel_source_free) struct reel_source *source = in_memory(data);
    INDEX *index = outline_try(&source, 1, format, &err);
    assert_true(index || err.code == REEL_UNSUPPORTED || err.code == REEL_NOT_MINE);
    all->outlined += index != NULL;
    all->refused += index == NULL;
}
/* Every cut from byte `from` on is refused; every byte from there on is changed in two ways. */
static inline struct outline_answers outline_hurt(struct bytes data, size_t from, const struct reel_format *format) {
    struct outline_answers cut = {0}, changed = {0};
    uint8_t *copy = malloc(data.size);
    assert_non_null(copy);
    memcpy(copy, data.data, data.size);
    for (size_t i = from; i < data.size; i++) {
        outline_any(bytes_of(copy, i), format, &cut);
    }
    for (size_t i = from; i < data.size; i++) {
        copy[i] ^= 0xff;
        outline_any(bytes_of(copy, data.size), format, &changed);
        copy[i] = data.data[i] ^ 0x01;
        outline_any(bytes_of(copy, data.size), format, &changed);
        copy[i] = data.data[i];
    }
    free(copy);
    print_message("  cut: %u outlined, %u refused; changed: %u and %u\n", cut.outlined, cut.refused, changed.outlined, changed.refused);
    assert_int_equal(cut.outlined, 0);
    return changed;
}

/* ---- samples ---- */

/* Outlines and scans every file of `folder`, and of the folders in it, with this suffix and compares; tells which are refused, and why. */
static inline void outline_samples(const char *folder, const char *suffix, const struct reel_format *format, struct outline_answers *all) {
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[1024];
        size_t n = strlen(e->d_name), m = strlen(suffix);
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_type == DT_DIR && e->d_name[0] != '.') {
            outline_samples(path, suffix, format, all);
        }
        if (e->d_type == DT_DIR || n < m || strcmp(e->d_name + n - m, suffix) != 0) {
            continue;
        }
        struct reel_error err = {0};
        AUTO(reel_source_free) struct reel_source *source = reel_source_open(path, NULL, &err);
        assert_non_null(source);
        INDEX *index = outline_try(&source, 1, format, &err);
        if (index) {
            INDEX *same = outline_like_scan(&source, 1, format);
            all->outlined++;
        } else {
            print_message("  %s: refused: %s\n", e->d_name, err.text);
            assert_int_equal(err.code, REEL_UNSUPPORTED);
            all->refused++;
        }
    }
    if (dir) {
        closedir(dir);
    }
}

/* ---- sparse files ---- */

static inline int sparse_open(const char *path, uint64_t size) {
    unlink(path);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    return fd;
}
static inline void sparse_put(int fd, uint64_t at, const void *data, size_t size) {
    assert_int_equal(pwrite(fd, data, size, (off_t)at), (ssize_t)size);
}

/* Its outline, which may read `most` bytes. Prints how much and how long, which no test goes by. */
static inline struct reel_index *outline_large(const char *path, const struct reel_format *format, uint64_t most) {
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *file = reel_source_open(path, NULL, &err);
    assert_non_null(file);
    struct counted counted = counted_of(file);
    struct reel_source *source = &counted.base;
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    struct reel_index *outline = outline_of(&source, 1, format);
    clock_gettime(CLOCK_MONOTONIC, &b);
    print_message("  %s, %" PRIu64 " bytes: outline by %" PRIu64 " bytes in %" PRIu64 " reads, %.0f ms\n", format->name, file->size,
                  counted.bytes, counted.reads, (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6);
    assert_true(counted.bytes <= most);
    return outline;
}

#endif
