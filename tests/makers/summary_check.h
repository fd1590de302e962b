/* Holds summarys against the scans of the same bytes, and counts what they read. For tests with cmocka. */
#ifndef TESTS_OUTLINE_CHECK_H
#define TESTS_OUTLINE_CHECK_H

#include "base/bytes.h"
#include "base/cleanup.h"
#include "index/index.h"
#include "index/scan.h"
#include "makers/tables.h"

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
#define OUTLINE_PACK REEL_SCRATCH "/summary.pack"
#define SCAN_PACK REEL_SCRATCH "/scan.pack"

/* ---- a source that counts ---- */

struct counted {
    struct reel_source base;
    struct reel_source *inner; /* not owned */
    uint64_t bytes, reads;
};
static inline bool counted_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                                struct reel_error *err) {
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

/* ---- summarys ---- */

static inline struct reel_source *in_memory(struct reel_bytes data) {
    struct reel_error err = {0};
    struct reel_source *source = reel_source_from_memory(data, "made", &err);
    assert_non_null(source);
    return source;
}

/* NULL with err when it is refused. */
static inline struct reel_index *summary_try(struct reel_source *const *parts, uint32_t n,
                                             const struct reel_format *format, struct reel_error *err) {
    *err = (struct reel_error){0};
    if (!reel_scan_summary(parts, n, format, OUTLINE_PACK, NULL, err)) {
        return NULL;
    }
    struct reel_index *index = reel_index_open(OUTLINE_PACK, err);
    assert_non_null(index);
    assert_true(reel_index_info(index)->is_summary);
    return index;
}
static inline struct reel_index *summary_of(struct reel_source *const *parts, uint32_t n,
                                            const struct reel_format *format) {
    struct reel_error err;
    struct reel_index *index = summary_try(parts, n, format, &err);
    if (!index) {
        fail_msg("%s: %s", parts[0]->name, err.text);
    }
    return index;
}
/* Must be refused as unsupported, with these words. */
static inline void summary_source_refused(struct reel_source *source, const struct reel_format *format,
                                          const char *words) {
    struct reel_error err;
    INDEX *index = summary_try(&source, 1, format, &err);
    assert_null(index);
    if (err.code != REEL_UNSUPPORTED || !strstr(err.text, words)) {
        fail_msg("code %d, \"%s\" without \"%s\"", (int)err.code, err.text, words);
    }
}
static inline void summary_refused(struct reel_bytes data, const struct reel_format *format, const char *words) {
    AUTO(reel_source_free) struct reel_source *source = in_memory(data);
    summary_source_refused(source, format, words);
}
static inline struct reel_index *scan_of(struct reel_source *const *parts, uint32_t n,
                                         const struct reel_format *format) {
    struct reel_error err = {0};
    if (!reel_scan_run(parts, n, format, SCAN_PACK, NULL, &err)) {
        fail_msg("%s: %s", parts[0]->name, err.text);
    }
    struct reel_index *index = reel_index_open(SCAN_PACK, &err);
    assert_non_null(index);
    return index;
}

/* ---- what differs ---- */

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
        same = strcmp(x->name, y->name) == 0 && strcmp(x->encoding, y->encoding) == 0 &&
               strcmp(x->hash, y->hash) == 0 && bytes_equal(x->data, y->data);
    }
    return same;
}
static inline bool same_channel(const struct reel_channel *a, const struct reel_channel *b) {
    bool same = a->id == b->id && strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0 &&
                strcmp(a->encoding, b->encoding) == 0 && a->latched == b->latched && a->n_topics == b->n_topics &&
                same_schemas(a, b) && same_pairs(&a->metadata, &b->metadata);
    for (uint32_t i = 0; same && i < a->n_topics; i++) {
        same = strcmp(a->topics[i], b->topics[i]) == 0;
    }
    return same;
}
static inline bool same_attachments(const struct reel_index *a, const struct reel_index *b) {
    size_t n, m;
    const struct reel_attachment *x = reel_index_attachments(a, &n), *y = reel_index_attachments(b, &m);
    bool same = n == m;
    for (size_t i = 0; same && i < n; i++) {
        same = strcmp(x[i].name, y[i].name) == 0 && strcmp(x[i].media_type, y[i].media_type) == 0 &&
               x[i].time_ns == y[i].time_ns && x[i].chunk == y[i].chunk && x[i].offset == y[i].offset &&
               x[i].size == y[i].size;
    }
    return same;
}

/* The index has times of chunks, not of channels: a channel's may be wider than the scan's. It has all metadata and
 * attachments. */
static inline bool goes_by_chunks(const struct reel_format *format) {
    return format == reel_format_named("mcap") || format == reel_format_named("rosbag-2.0");
}

static inline bool same_stats(const struct reel_index_info *info, const struct reel_channel_stats *s,
                              const struct reel_channel_stats *t) {
    if (s->count != t->count || (s->bytes > 0 && s->bytes != t->bytes)) {
        return false;
    }
    if (s->count > 0 && goes_by_chunks(info->format)) {
        return s->bytes == 0 && s->first_ns <= t->first_ns && s->last_ns >= t->last_ns &&
               s->first_ns >= info->start_ns && s->last_ns <= info->end_ns;
    }
    return s->first_ns == t->first_ns && s->last_ns == t->last_ns;
}

/* What differs between a summary and the scan of the same bytes; NULL: nothing. Where goes_by_chunks() does not hold,
 * metadata of the recording and its attachments may be fewer. */
static inline const char *summary_differs(const struct reel_index *summary, const struct reel_index *scan) {
    const struct reel_index_info *o = reel_index_info(summary), *d = reel_index_info(scan);
    if (o->format != d->format || o->n_parts != d->n_parts || o->n_channels != d->n_channels ||
        o->messages != d->messages || o->damaged) {
        return o->messages != d->messages ? "messages" : "format, parts, number of channels or damage";
    }
    if (o->start_ns != d->start_ns || o->end_ns != d->end_ns) {
        return "start or end";
    }
    if (o->clock != d->clock || strcmp(o->clock_note, d->clock_note) != 0 || strcmp(o->container, d->container) != 0) {
        return "clock or container";
    }
    for (uint32_t i = 0; i < o->n_channels; i++) {
        if (!same_channel(reel_index_channel(summary, i), reel_index_channel(scan, i))) {
            return "a channel";
        }
        if (!same_stats(o, reel_index_stats(summary, i), reel_index_stats(scan, i))) {
            return "counts of a channel";
        }
    }
    bool all = !goes_by_chunks(o->format) ||
               (same_pairs(reel_index_metadata(summary), reel_index_metadata(scan)) && same_attachments(summary, scan));
    return all ? NULL : "metadata or attachments";
}

/* Scans and compares; the caller frees what comes back, the summary. */
static inline struct reel_index *summary_like_scan(struct reel_source *const *parts, uint32_t n,
                                                   const struct reel_format *format) {
    struct reel_index *summary = summary_of(parts, n, format);
    INDEX *scan = scan_of(parts, n, format);
    const char *other = summary_differs(summary, scan);
    if (other) {
        fail_msg("summary and scan differ in %s", other);
    }
    return summary;
}
static inline struct reel_index *summary_like_scan_of(struct reel_bytes data, const struct reel_format *format) {
    AUTO(reel_source_free) struct reel_source *source = in_memory(data);
    return summary_like_scan(&source, 1, format);
}

static inline bool never_mind(void *context, uint64_t at, uint64_t total) {
    (void)context;
    (void)at;
    (void)total;
    return false;
}
static inline void summary_cancelled(struct reel_bytes data, const struct reel_format *format) {
    struct reel_error err = {0};
    const struct reel_progress progress = {.report = never_mind};
    AUTO(reel_source_free) struct reel_source *source = in_memory(data);
    assert_false(reel_scan_summary(&source, 1, format, OUTLINE_PACK, &progress, &err));
    assert_int_equal(err.code, REEL_CANCELLED);
}

/* Whatever the bytes, an answer; what it is, is counted. */
struct summary_answers {
    unsigned summarized, refused;
};
static inline void summary_any(struct reel_bytes data, const struct reel_format *format, struct summary_answers *all) {
    struct reel_error err;
    AUTO(reel_source_free) struct reel_source *source = in_memory(data);
    INDEX *index = summary_try(&source, 1, format, &err);
    assert_true(index || ((err.code == REEL_UNSUPPORTED || err.code == REEL_NOT_MINE) && err.text[0] != '\0'));
    all->summarized += index != NULL;
    all->refused += index == NULL;
}

/* Every cut from byte `cut` on: refused, or what the scan finds. */
static inline struct summary_answers summary_cut(struct reel_bytes data, size_t cut, const struct reel_format *format) {
    struct summary_answers all = {0};
    for (; cut < data.size; cut++) {
        struct reel_error err;
        AUTO(reel_source_free) struct reel_source *source = in_memory(bytes_of(data.data, cut));
        INDEX *index = summary_try(&source, 1, format, &err);
        assert_true(index || ((err.code == REEL_UNSUPPORTED || err.code == REEL_NOT_MINE) && err.text[0] != '\0'));
        all.summarized += index != NULL;
        all.refused += index == NULL;
        if (index) {
            INDEX *scan = scan_of(&source, 1, format);
            const char *other = summary_differs(index, scan);
            if (other) {
                fail_msg("cut at %zu of %zu: summary and scan differ in %s", cut, data.size, other);
            }
        }
    }
    return all;
}
/* Every byte from `from` on changed in two ways. */
static inline struct summary_answers summary_changed(struct reel_bytes data, size_t from,
                                                     const struct reel_format *format) {
    struct summary_answers all = {0};
    AUTO_MEM uint8_t *copy = malloc(data.size);
    assert_non_null(copy);
    memcpy(copy, data.data, data.size);
    for (size_t i = from; i < data.size; i++) {
        for (unsigned way = 1; way < 256; way += 254) {
            copy[i] ^= (uint8_t)way;
            summary_any(bytes_of(copy, data.size), format, &all);
            copy[i] = data.data[i];
        }
    }
    return all;
}
/* Both. */
static inline void summary_of_damaged(struct reel_bytes data, size_t cut, const struct reel_format *format) {
    summary_cut(data, cut, format);
    summary_changed(data, 0, format);
}
/* Both, of what must be whole from `from` on. */
static inline struct summary_answers summary_hurt(struct reel_bytes data, size_t from,
                                                  const struct reel_format *format) {
    assert_int_equal(summary_cut(data, from, format).summarized, 0);
    return summary_changed(data, from, format);
}

/* ---- files that are there ---- */

struct summarized {
    unsigned same, refused, damaged; /* damaged: summarized though the scan tells of losses */
};

static inline void summary_file(const char *path, const char *name, const struct reel_format *format,
                                const char *const *lying, struct summarized *sum) {
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *source = reel_source_open(path, NULL, &err);
    assert_non_null(source);
    INDEX *summary = summary_try(&source, 1, format, &err);
    if (!summary) {
        print_message("  %s: refused: %s\n", name, err.text);
        assert_true(err.code == REEL_UNSUPPORTED || err.code == REEL_NOT_MINE);
        sum->refused++;
        return;
    }
    INDEX *deep = scan_of(&source, 1, format);
    const char *other = summary_differs(summary, deep);
    if (reel_index_info(deep)->damaged) {
        print_message("  %s: summarized, though it is damaged: %s\n", name, other ? other : "the same");
        sum->damaged++;
        return;
    }
    for (; *lying; lying++) {
        other = strstr(path, *lying) ? NULL : other;
    }
    if (other) {
        fail_msg("%s: summary and scan differ in %s", name, other);
    }
    sum->same++;
}

/* All files in FOLDER, and in the folders there, whose path ends in `suffix`: summarized as scanned, or refused. The
 * index of those in `lying` (NULL-terminated) says something else than the messages, which only a scan notices. False:
 * there is no such folder. Adds to *sum.
 */
static inline bool summary_folder(const char *folder, const char *suffix, const struct reel_format *format,
                                  const char *const *lying, struct summarized *sum) {
    struct dirent **names;
    int n = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[1024];
        const char *name = names[i]->d_name;
        size_t size = (size_t)snprintf(path, sizeof path, "%s/%s", folder, name), tail = strlen(suffix);
        if (names[i]->d_type == DT_DIR && name[0] != '.') {
            summary_folder(path, suffix, format, lying, sum);
        } else if (names[i]->d_type != DT_DIR && size > tail && strcmp(path + size - tail, suffix) == 0) {
            summary_file(path, name, format, lying, sum);
        }
        free(names[i]);
    }
    if (n >= 0) {
        free(names);
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

/* Its summary, which may read `most` bytes. Prints how much and how long, which no test goes by. */
static inline struct reel_index *large_summary(const char *path, const struct reel_format *format, uint64_t most) {
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *file = reel_source_open(path, NULL, &err);
    assert_non_null(file);
    struct counted counted = counted_of(file);
    struct reel_source *source = &counted.base;
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    struct reel_index *summary = summary_of(&source, 1, format);
    clock_gettime(CLOCK_MONOTONIC, &b);
    print_message("  %s, %llu bytes: summary by %llu bytes in %llu reads, %.0f ms\n", format->name,
                  (unsigned long long)file->size, (unsigned long long)counted.bytes, (unsigned long long)counted.reads,
                  (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6);
    assert_true(counted.bytes <= most);
    return summary;
}

#endif
