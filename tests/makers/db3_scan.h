/* Scans made files as one recording, and reads it back. For tests with cmocka. */
#ifndef TESTS_DB3_SCAN_H
#define TESTS_DB3_SCAN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "index/scan.h"
#include "makers/db3_maker.h"
#include "makers/tables.h"
#include "stream/stream.h"

#define DB3_PACK REEL_SCRATCH "/db3.pack"
enum { DB3_PARTS_MAX = 8 };

struct db3_part {
    const char *name;
    struct reel_bytes data;
};

/* The bytes must outlive the recording. NULL with err when the scan fails. */
static inline struct reel_recording *db3_try(const struct db3_part *parts, uint32_t n, struct reel_error *err) {
    struct reel_source *sources[DB3_PARTS_MAX];
    assert_true(n <= DB3_PARTS_MAX);
    *err = (struct reel_error){0};
    for (uint32_t i = 0; i < n; i++) {
        sources[i] = reel_source_from_memory(parts[i].data, parts[i].name, err);
        assert_non_null(sources[i]);
    }
    if (!reel_scan_run(sources, n, &reel_format_rosbag2, DB3_PACK, NULL, err)) {
        for (uint32_t i = 0; i < n; i++) {
            reel_source_free(sources[i]);
        }
        assert_int_not_equal(err->code, REEL_OK);
        return NULL;
    }
    struct reel_index *index = reel_index_open(DB3_PACK, err);
    assert_non_null(index);
    struct reel_recording *recording =
        reel_recording_from_index(index, sources, n, &(struct reel_recording_options){0}, err);
    assert_non_null(recording);
    return recording;
}
static inline struct reel_recording *db3_scan_parts(const struct db3_part *parts, uint32_t n) {
    struct reel_error err;
    struct reel_recording *r = db3_try(parts, n, &err);
    if (!r) {
        fail_msg("%s", err.text);
    }
    return r;
}
static inline struct reel_recording *db3_scan(struct reel_bytes data) {
    return db3_scan_parts(&(struct db3_part){.name = "made_0.db3", .data = data}, 1);
}
static inline void db3_refused(struct reel_bytes data, enum reel_code code, const char *text) {
    struct reel_error err;
    AUTO(reel_recording_free)
    struct reel_recording *r = db3_try(&(struct db3_part){.name = "made_0.db3", .data = data}, 1, &err);
    assert_null(r);
    if (err.code != code || !strstr(err.text, text)) {
        fail_msg("%d: %s", (int)err.code, err.text);
    }
}

static inline const struct reel_index_info *db3_info(const struct reel_recording *r) {
    return reel_index_info(reel_recording_index(r));
}
static inline const struct reel_channel *db3_channel(const struct reel_recording *r, const char *name) {
    for (uint32_t i = 0; i < db3_info(r)->n_channels; i++) {
        const struct reel_channel *c = reel_index_channel(reel_recording_index(r), i);
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    fail_msg("no channel %s", name);
    return NULL;
}
static inline uint64_t db3_count(const struct reel_recording *r, const char *name) {
    return reel_index_stats(reel_recording_index(r), db3_channel(r, name)->id)->count;
}
static inline const char *db3_pair(const struct reel_pairs *pairs, const char *key) {
    for (size_t i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->items[i].key, key) == 0) {
            return pairs->items[i].value;
        }
    }
    return NULL;
}
static inline const char *db3_metadata_of(const struct reel_recording *r, const char *key) {
    return db3_pair(reel_index_metadata(reel_recording_index(r)), key);
}

static inline void db3_print_findings(const struct reel_recording *r) {
    size_t count;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &count);
    for (size_t i = 0; i < count; i++) {
        print_message("finding %d, part %u at %llu: %s\n", (int)all[i].severity, all[i].part,
                      (unsigned long long)all[i].offset, all[i].text);
    }
}
/* Exactly `n` findings, and of them one of that severity that holds `text`. */
static inline void db3_assert_finding(const struct reel_recording *r, size_t n, enum reel_severity severity,
                                      const char *text) {
    size_t count, met = 0;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &count);
    for (size_t i = 0; i < count; i++) {
        met += all[i].severity == severity && strstr(all[i].text, text) != NULL;
    }
    if (met != 1 || count != n) {
        db3_print_findings(r);
        fail_msg("%zu findings, %zu with \"%s\"", count, met, text);
    }
}
static inline void db3_assert_clean(const struct reel_recording *r) {
    if (db3_info(r)->n_findings_total > 0) {
        db3_print_findings(r);
        fail_msg("there are findings");
    }
}

/* Reads every payload to its end; the number of messages. Each is what db3_payload() makes for the id times 1000 + the
 * topic's position … when `id_of` tells the id from the message's time. */
static inline uint64_t db3_read_all(struct reel_recording *r, int64_t (*id_of)(int64_t time_ns)) {
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    assert_non_null(s);
    struct reel_message m;
    uint64_t n = 0;
    int64_t last = INT64_MIN;
    enum reel_step step;
    while ((step = stream_next(s, &m, &err)) == REEL_STEP_MESSAGE) {
        struct reel_bytes payload;
        assert_true(m.time_ns >= last);
        last = m.time_ns;
        if (!reel_stream_payload(s, &m, &payload, &err)) {
            fail_msg("%s", err.text);
        }
        assert_int_equal(payload.size, m.size);
        if (id_of) {
            uint8_t *want = malloc(payload.size + 1);
            assert_non_null(want);
            db3_payload(want, id_of(m.time_ns), payload.size);
            assert_memory_equal(payload.data, want, payload.size);
            free(want);
        }
        n++;
    }
    assert_int_equal(step, REEL_STEP_END);
    assert_int_equal(n, db3_info(r)->messages);
    return n;
}

#endif
