/* A format for tests of the core: what scan() reports is written down as tables, so that any channels, chunks, entries
 * and parts can be had.
 *
 *   struct toy toy = {0};
 *   toy_random(&toy, 1, 5, 1000, TOY_REGULAR);          // seed, channels, messages, order of times
 *   struct reel_recording *r = toy_open(&toy, NULL);    // scans, opens the pack
 *   …; reel_recording_free(r); toy_free(&toy);
 *
 * A record is a head of TOY_HEAD bytes (sequence u32) and the payload. Rule: mistakes of the test's own stop it
 * (assert). A test program includes this once: it defines the tables reel_formats[], reel_writers[] and
 * reel_encodings[] for itself. */
#ifndef REEL_TESTS_TOY_H
#define REEL_TESTS_TOY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef NDEBUG /* a release's tests check as well */
#include <assert.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "convert/writer.h"
#include "decode/encoding.h"
#include "index/scan.h"
#include "stream/initial_state.h"

enum { TOY_HEAD = 4, TOY_PARTS_MAX = 4 };
enum toy_order { TOY_REGULAR, TOY_TIES, TOY_JITTER, TOY_REVERSED, TOY_RANDOM, TOY_EXTREME };

struct toy {
    struct grow parts[TOY_PARTS_MAX];
    uint32_t n_parts;
    struct reel_channel *channels;
    size_t n_channels, cap_channels;
    struct reel_chunk *chunks; /* ids from n_parts on */
    size_t n_chunks, cap_chunks;
    struct reel_entry *entries;
    size_t n_entries, cap_entries;
    unsigned packs;
    bool cancel; /* scan() fails at its end */
};

static const struct toy *toy_scanned; /* what scan() reports */
static bool toy_has_state;            /* state_at() adds messages */
static enum reel_clock toy_clock;     /* of what is scanned next */

static inline uint64_t toy_next(uint64_t *seed) { /* xorshift64* */
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 0x2545f4914f6cdd1du;
}

static inline uint32_t toy_add_channel(struct toy *t, const char *name) {
    assert(GROW_ARRAY(t->channels, t->n_channels, t->cap_channels));
    t->channels[t->n_channels] = (struct reel_channel){.name = strdup(name), .type = "toy/Message", .encoding = "toy"};
    return (uint32_t)t->n_channels++;
}
static inline uint32_t toy_add_chunk(struct toy *t, struct reel_chunk chunk) {
    assert(GROW_ARRAY(t->chunks, t->n_chunks, t->cap_chunks));
    t->chunks[t->n_chunks] = chunk;
    return t->n_parts + (uint32_t)t->n_chunks++;
}
static inline void toy_add_entry(struct toy *t, struct reel_entry entry) {
    assert(GROW_ARRAY(t->entries, t->n_entries, t->cap_entries));
    t->entries[t->n_entries++] = entry;
}
/* Puts the record at the end of `part` and adds its entry; the payload's bytes come from `seed`. */
static inline void toy_add_message(struct toy *t, uint32_t part, uint32_t channel, int64_t time_ns, uint32_t size,
                                   uint64_t seed) {
    t->n_parts = part >= t->n_parts ? part + 1 : t->n_parts;
    struct grow *g = &t->parts[part];
    toy_add_entry(
        t,
        (struct reel_entry){
            .time_ns = time_ns, .channel = channel, .chunk = part, .offset = g->size, .head = TOY_HEAD, .size = size});
    grow_u32(g, (uint32_t)t->n_entries);
    uint8_t *p = grow_take(g, size);
    assert(p);
    for (uint32_t i = 0; i < size; i++) {
        p[i] = (uint8_t)(i % 8 == 0 ? toy_next(&seed) : (seed >> (i % 8 * 8)));
    }
}

static inline int64_t toy_time(enum toy_order order, uint64_t i, uint64_t n, uint64_t *seed) {
    switch (order) {
    case TOY_REGULAR:
        return (int64_t)(1000000 + i * 1000);
    case TOY_TIES:
        return (int64_t)(1000000 + i / 7 * 1000);
    case TOY_JITTER:
        return (int64_t)(1000000 + i * 1000 + toy_next(seed) % 20000);
    case TOY_REVERSED:
        return (int64_t)(1000000 + (n - i) * 1000);
    case TOY_RANDOM:
        return (int64_t)(toy_next(seed) % (n * 100 + 1));
    default:
        return (int64_t)(toy_next(seed) % 3 == 0 ? (toy_next(seed) & 1 ? (uint64_t)INT64_MIN : (uint64_t)INT64_MAX)
                                                 : toy_next(seed));
    }
}

static inline void toy_random(struct toy *t, uint64_t seed, uint32_t n_channels, uint64_t n, enum toy_order order) {
    seed = seed * 0x9e3779b97f4a7c15u | 1;
    char name[32];
    t->n_parts = 1;
    for (uint32_t i = 0; i < n_channels; i++) {
        snprintf(name, sizeof name, "/topic/%u", i);
        toy_add_channel(t, name);
    }
    for (uint64_t i = 0; i < n; i++) {
        uint32_t channel = (uint32_t)(toy_next(&seed) % n_channels);
        int64_t time = toy_time(order, i, n, &seed);
        toy_add_message(t, 0, channel, time, (uint32_t)(toy_next(&seed) % 40), toy_next(&seed) | 1);
    }
}

static inline void toy_free(struct toy *t) {
    for (size_t i = 0; i < t->n_channels; i++) {
        free((void *)t->channels[i].name);
    }
    for (uint32_t i = 0; i < TOY_PARTS_MAX; i++) {
        free(t->parts[i].data);
    }
    free(t->channels);
    free(t->chunks);
    free(t->entries);
    *t = (struct toy){0};
}

/* --- the format ----------------------------------------------------------------------------------------------------
 */

static inline bool toy_scan(struct reel_scan *scan, struct reel_error *err) {
    const struct toy *t = toy_scanned;
    uint32_t id;
    for (size_t i = 0; i < t->n_channels; i++) {
        if (!reel_scan_channel(scan, &t->channels[i], &id, err)) {
            return false;
        }
    }
    for (size_t i = 0; i < t->n_chunks; i++) {
        if (!reel_scan_chunk(scan, &t->chunks[i], &id, err)) {
            return false;
        }
    }
    for (size_t i = 0; i < t->n_entries; i++) {
        if (!reel_scan_entry(scan, &t->entries[i], err)) {
            return false;
        }
    }
    reel_scan_clock(scan, toy_clock, toy_clock == REEL_CLOCK_RELATIVE ? "the toy's own" : NULL);
    return !t->cancel || reel_fail(err, REEL_CANCELLED, "the toy was cancelled");
}

static inline void toy_describe(struct reel_bytes head, const struct reel_entry *entry,
                                const struct reel_channel *channel, struct reel_description *out) {
    (void)entry;
    (void)channel;
    if (head.size == TOY_HEAD) {
        out->sequence = load_u32le(head.data);
    }
}

static inline int toy_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)err;
    (void)source;
    return bytes_start(head, bytes_text("TOY2")) ? 32 : 0;
}

static inline bool toy_count_one(void *context, const struct reel_entry *entry) {
    (void)entry;
    ++*(uint64_t *)context;
    return true;
}

/* The state: how many messages stood before the cut, for each wanted channel, and one message on a channel of its own.
 */
static inline bool toy_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted,
                                struct reel_initial_state *initial, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(reader));
    const uint64_t extra[REEL_ENTRY_EXTRAS] = {7, 8};
    struct reel_channel own = {.id = 77777, .name = "/state", .type = "toy/State", .encoding = "toy"};
    for (uint32_t i = 0; toy_has_state && i < reel_index_info(index)->n_channels; i++) {
        uint64_t *count = calloc(1, sizeof *count);
        if (!count) {
            return reel_fail_memory(err);
        }
        if (!wanted[i] || !reel_reader_reverse(reader, i, time_ns, toy_count_one, count, err)) {
            free(count);
            if (wanted[i]) {
                return false;
            }
            continue;
        }
        if (!reel_initial_state_add(initial, i % 2 ? &own : reel_index_channel(index, i), time_ns, (uint8_t *)count,
                                    sizeof *count, extra, err)) {
            return false;
        }
    }
    return true;
}

static const char *const toy_suffixes[] = {".toy", NULL};
static const struct reel_format toy_format = {
    .name = "toy",
    .title = "Toy",
    .media_type = "application/x-toy",
    .suffixes = toy_suffixes,
    .probe = toy_probe,
    .scan = toy_scan,
    .describe = toy_describe,
    .version = 3,
};
/* Toy messages are not decoded. */
static const struct reel_encoding toy_encoding = {.name = "toy", .state_at = toy_state_at};
#ifndef TOY_OWN_TABLES
const struct reel_format *const reel_formats[] = {&toy_format, NULL};
const struct reel_writer *const reel_writers[] = {NULL};
const struct reel_encoding *const reel_encodings[] = {&toy_encoding, NULL};
#endif

/* --- its recordings
 * --------------------------------------------------------------------------------------------------- */

static inline void toy_pack_path(struct toy *t, char path[512]) {
    snprintf(path, 512, REEL_SCRATCH "/%p-%u.pack", (void *)t, t->packs++);
}

static inline bool toy_sources(const struct toy *t, struct reel_source **parts, struct reel_error *err) {
    for (uint32_t i = 0; i < t->n_parts; i++) {
        parts[i] = reel_source_from_memory(bytes_of(t->parts[i].data, t->parts[i].size), "test.toy", err);
        if (!parts[i]) {
            while (i > 0) {
                reel_source_free(parts[--i]);
            }
            return false;
        }
    }
    return true;
}

static inline bool toy_scan_to(struct toy *t, const char *path, struct reel_error *err) {
    struct reel_source *parts[TOY_PARTS_MAX];
    if (!toy_sources(t, parts, err)) {
        return false;
    }
    toy_scanned = t;
    bool good = reel_scan_run(parts, t->n_parts, &toy_format, path, NULL, err);
    for (uint32_t i = 0; i < t->n_parts; i++) {
        reel_source_free(parts[i]);
    }
    return good;
}

/* Scans and opens. The toy must outlive the recording. NULL with err: it failed. */
static inline struct reel_recording *toy_try_open(struct toy *t, const struct reel_recording_options *options,
                                                  struct reel_error *err) {
    char path[512];
    toy_pack_path(t, path);
    struct reel_source *parts[TOY_PARTS_MAX];
    struct reel_recording *recording = NULL;
    if (toy_scan_to(t, path, err)) {
        struct reel_index *index = reel_index_open(path, err);
        if (index && !toy_sources(t, parts, err)) {
            reel_index_free(index);
            index = NULL;
        }
        recording = index ? reel_recording_from_index(index, parts, t->n_parts, options, err) : NULL;
    }
    remove(path);
    return recording;
}

static inline struct reel_recording *toy_open(struct toy *t, const struct reel_recording_options *options) {
    struct reel_error err = {0};
    struct reel_recording *recording = toy_try_open(t, options, &err);
    if (!recording) {
        fprintf(stderr, "toy: %s\n", err.text);
    }
    assert(recording);
    return recording;
}

#endif
