/* Scans a made bag into an opened recording, and reads it back. For tests with cmocka. */
#ifndef TESTS_BAG_SCAN_H
#define TESTS_BAG_SCAN_H

#include "base/bytes.h"
#include "base/cleanup.h"
#include "index/scan.h"
#include "makers/bag_maker.h"
#include "makers/tables.h"
#include "stream/stream.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define BAG_PACK REEL_SCRATCH "/bag.pack"
#ifndef BAG_FORMAT
#define BAG_FORMAT &reel_format_rosbag_v1
#endif

/* The bytes must outlive the recording. NULL with err when the scan fails. */
static inline struct reel_recording *bag_try(struct reel_bytes data, struct reel_error *err) {
    struct reel_source *source = reel_source_from_memory(data, "made.bag", err);
    assert_non_null(source);
    if (!reel_scan_run(&source, 1, BAG_FORMAT, BAG_PACK, NULL, err)) {
        reel_source_free(source);
        return NULL;
    }
    struct reel_index *index = reel_index_open(BAG_PACK, err);
    assert_non_null(index);
    struct reel_source **parts = malloc(sizeof(struct reel_source *));
    assert_non_null(parts);
    parts[0] = source;
    const struct reel_recording_options options = {0};
    struct reel_recording *recording = reel_recording_from_index(index, parts, 1, &options, err);
    free(parts);
    assert_non_null(recording);
    return recording;
}
static inline struct reel_recording *bag_scan(const struct maker *m) {
    struct reel_error err = {0};
    struct reel_recording *recording = bag_try(bytes_of(m->data, m->size), &err);
    if (!recording) {
        fail_msg("%s", err.text);
    }
    return recording;
}
static inline const struct reel_index_info *bag_info(const struct reel_recording *r) {
    return reel_index_info(reel_recording_index(r));
}
static inline const struct reel_channel *bag_channel(const struct reel_recording *r, uint32_t id) {
    assert_true(id < bag_info(r)->n_channels);
    return reel_index_channel(reel_recording_index(r), id);
}
static inline struct reel_bytes bag_definition(const struct reel_recording *r, uint32_t id) {
    assert_int_equal(bag_channel(r, id)->n_schemas, 1);
    return bag_channel(r, id)->schemas[0].data;
}
static inline const struct reel_channel_stats *bag_stats(const struct reel_recording *r, uint32_t id) {
    return reel_index_stats(reel_recording_index(r), id);
}

/* How many findings of that severity hold `text`. */
static inline unsigned bag_findings(const struct reel_recording *r, enum reel_severity severity, const char *text) {
    size_t count;
    unsigned met = 0;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &count);
    for (size_t i = 0; i < count; i++) {
        met += all[i].severity == severity && strstr(all[i].text, text) != NULL;
    }
    return met;
}
static inline void bag_assert_finding(const struct reel_recording *r, enum reel_severity severity, const char *text) {
    if (bag_findings(r, severity, text) == 1) {
        return;
    }
    size_t count;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &count);
    for (size_t i = 0; i < count; i++) {
        print_message("finding %d: %s\n", (int)all[i].severity, all[i].text);
    }
    fail_msg("no single finding \"%s\"", text);
}
static inline void bag_assert_no_findings(const struct reel_recording *r) {
    size_t count;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &count);
    if (count > 0) {
        fail_msg("finding: %s", all[0].text);
    }
}

/* All payloads in time order, joined with '|' and cut at 4095 bytes; every one is read. */
static inline const char *bag_payloads(struct reel_recording *r) {
    static char out[4096];
    size_t used = 0;
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    assert_non_null(s);
    struct reel_message m;
    enum reel_step step;
    int64_t last = INT64_MIN;
    while ((step = stream_next(s, &m, &err)) == REEL_STEP_MESSAGE) {
        struct reel_bytes payload;
        assert_true(m.time_ns >= last);
        last = m.time_ns;
        assert_true(reel_stream_payload(s, &m, &payload, &err));
        if (used + payload.size + 1 < sizeof out) {
            memcpy(out + used, payload.data, payload.size);
            out[used += payload.size] = '|';
            used++;
        }
    }
    assert_int_equal(step, REEL_STEP_END);
    out[used] = '\0';
    return out;
}

#endif
