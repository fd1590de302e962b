/* Scans a made CARLA file into an opened recording, reads it and writes it. For tests with cmocka. */
#ifndef TESTS_CARLA_SCAN_H
#define TESTS_CARLA_SCAN_H

#include "base/bytes.h"
#include "base/cleanup.h"
#include "index/scan.h"
#include "makers/carla_maker.h"
#include "makers/tables.h"
#include "stream/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define CARLA_PACK REEL_SCRATCH "/carla.pack"

static inline void free_maker(struct maker *m) {
    free(m->data);
}
#define MAKER __attribute__((cleanup(free_maker))) struct maker
#define RECORDING AUTO(reel_recording_free) struct reel_recording

/* The bytes must outlive the recording. NULL with err when the scan fails. */
static inline struct reel_recording *carla_try(struct reel_bytes data, struct reel_error *err) {
    struct reel_source *source = reel_source_from_memory(data, "made.log", err);
    assert_non_null(source);
    if (!reel_scan_run(&source, 1, &reel_format_carla, CARLA_PACK, NULL, err)) {
        reel_source_free(source);
        return NULL;
    }
    struct reel_index *index = reel_index_open(CARLA_PACK, err);
    assert_non_null(index);
    struct reel_recording *recording =
        reel_recording_from_index(index, &source, 1, &(struct reel_recording_options){0}, err);
    assert_non_null(recording);
    return recording;
}
static inline struct reel_recording *carla_read(const struct maker *m) {
    struct reel_error err = {0};
    struct reel_recording *recording = carla_try(bytes_of(m->data, m->size), &err);
    if (!recording) {
        fail_msg("%s", err.text);
    }
    return recording;
}
static inline const struct reel_index_info *info_of(const struct reel_recording *r) {
    return reel_index_info(reel_recording_index(r));
}
/* NULL when there is none. */
static inline const struct reel_channel *channel_named(const struct reel_recording *r, const char *name) {
    for (uint32_t i = 0; i < info_of(r)->n_channels; i++) {
        const struct reel_channel *c = reel_index_channel(reel_recording_index(r), i);
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}
static inline uint64_t count_of(const struct reel_recording *r, const char *name) {
    const struct reel_channel *c = channel_named(r, name);
    return c ? reel_index_stats(reel_recording_index(r), c->id)->count : 0;
}
static inline const char *pair_in(const struct reel_pairs *pairs, const char *key) {
    for (size_t i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->items[i].key, key) == 0) {
            return pairs->items[i].value;
        }
    }
    return "(none)";
}
static inline const char *fact_of(const struct reel_recording *r, const char *topic, const char *key) {
    const struct reel_channel *c = channel_named(r, topic);
    assert_non_null(c);
    return pair_in(&c->metadata, key);
}
static inline const char *metadata_of(const struct reel_recording *r, const char *key) {
    return pair_in(reel_index_metadata(reel_recording_index(r)), key);
}

static inline unsigned findings(const struct reel_recording *r, enum reel_severity severity, const char *text) {
    size_t count;
    unsigned met = 0;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &count);
    for (size_t i = 0; i < count; i++) {
        met += all[i].severity == severity && strstr(all[i].text, text) != NULL;
    }
    return met;
}
static inline void print_findings(const struct reel_recording *r) {
    size_t count;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &count);
    for (size_t i = 0; i < count; i++) {
        print_message("finding %d at %llu: %s\n", (int)all[i].severity, (unsigned long long)all[i].offset, all[i].text);
    }
}
static inline void assert_finding(const struct reel_recording *r, enum reel_severity severity, uint64_t offset,
                                  const char *text) {
    size_t count;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &count);
    for (size_t i = 0; i < count; i++) {
        if (all[i].severity == severity && all[i].offset == offset && strstr(all[i].text, text)) {
            return;
        }
    }
    print_findings(r);
    fail_msg("no finding \"%s\" at %llu", text, (unsigned long long)offset);
}
static inline void assert_findings(const struct reel_recording *r, unsigned count) {
    size_t n;
    reel_index_findings(reel_recording_index(r), &n);
    if (n != count) {
        print_findings(r);
        fail_msg("%zu findings instead of %u", n, count);
    }
}

static inline struct reel_stream *open_stream(struct reel_recording *r, const struct reel_selection *selection) {
    struct reel_error err = {0};
    struct reel_stream *s = reel_stream_open(&r, 1, selection, &err);
    if (!s) {
        fail_msg("%s", err.text);
    }
    return s;
}

/* Message `n` (from 0) of a topic in its payload; copied to `out`. */
static inline struct reel_bytes payload_of(struct reel_recording *r, const char *topic, unsigned n,
                                           struct reel_message *m) {
    static uint8_t copy[1 << 16];
    struct reel_selection selection = selection_all;
    selection.topics = &topic;
    selection.n_topics = 1;
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection);
    for (unsigned i = 0; stream_next(s, m, &err) == REEL_STEP_MESSAGE; i++) {
        struct reel_bytes payload;
        if (i == n) {
            assert_true(reel_stream_payload(s, m, &payload, &err) && payload.size <= sizeof copy);
            memcpy(copy, payload.data, payload.size);
            return bytes_of(copy, payload.size);
        }
    }
    fail_msg("%s has no message %u", topic, n);
    return bytes_of(NULL, 0);
}

/* The ids of all packets in the order of time, as characters: '0' start, '1' end, 'A' + id the others (ids over 100:
 * '#'). */
static inline const char *packets_of(struct reel_recording *r) {
    static char out[8192];
    size_t n = 0;
    struct reel_error err = {0};
    struct reel_message m;
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection_all);
    while (n + 1 < sizeof out && stream_next(s, &m, &err) == REEL_STEP_MESSAGE) {
        int id = atoi(pair_in(&s->channels[m.channel]->metadata, "packet"));
        out[n++] = id <= 1 ? (char)('0' + id) : id >= 100 ? '#' : (char)('A' + id);
    }
    out[n] = '\0';
    return out;
}

#endif
