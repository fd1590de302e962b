/* Scans a made TIDE log into an opened recording, reads it back, and writes it again. For tests with cmocka. */
#ifndef TESTS_TIDE_SCAN_H
#define TESTS_TIDE_SCAN_H

#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"
#include "index/scan.h"
#include "makers/tables.h"
#include "makers/tide_maker.h"
#include "stream/stream.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static inline void free_log(struct log *l) {
    free(l->data);
}
#define LOG __attribute__((cleanup(free_log))) struct log
#define RECORDING AUTO(reel_recording_free) struct reel_recording

/* The bytes must outlive the recording. NULL with err when the scan fails. */
static inline struct reel_recording *log_try(struct reel_bytes data, const struct reel_format *format,
                                             struct reel_error *err) {
    struct reel_source *source = reel_source_from_memory(data, "made.tide", err);
    assert_non_null(source);
    if (!reel_scan_run(&source, 1, format, REEL_SCRATCH "/tide.pack", NULL, err)) {
        reel_source_free(source);
        return NULL;
    }
    struct reel_index *index = reel_index_open(REEL_SCRATCH "/tide.pack", err);
    assert_non_null(index);
    struct reel_recording *recording =
        reel_recording_from_index(index, &source, 1, &(struct reel_recording_options){0}, err);
    assert_non_null(recording);
    return recording;
}
static inline struct reel_recording *log_scan(const struct log *l) {
    struct reel_error err = {0};
    struct reel_recording *recording = log_try(bytes_of(l->data, l->size), NULL, &err);
    if (!recording) {
        fail_msg("%s", err.text);
    }
    return recording;
}
static inline const struct reel_index_info *log_info(const struct reel_recording *r) {
    return reel_index_info(reel_recording_index(r));
}
static inline const struct reel_channel *log_model(const struct reel_recording *r, uint32_t id) {
    assert_true(id < log_info(r)->n_channels);
    return reel_index_channel(reel_recording_index(r), id);
}
static inline const char *log_value(const struct reel_pairs *pairs, const char *key) {
    for (size_t i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->items[i].key, key) == 0) {
            return pairs->items[i].value;
        }
    }
    return NULL;
}
static inline const char *log_metadata(const struct reel_recording *r, uint32_t id, const char *key) {
    return log_value(&log_model(r, id)->metadata, key);
}

static inline void log_assert_finding(const struct reel_recording *r, enum reel_severity severity, const char *text) {
    size_t count, met = 0;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &count);
    for (size_t i = 0; i < count; i++) {
        met += all[i].severity == severity && strstr(all[i].text, text) != NULL;
    }
    if (met != 1) {
        for (size_t i = 0; i < count; i++) {
            print_message("finding %d: %s\n", (int)all[i].severity, all[i].text);
        }
        fail_msg("no single finding \"%s\"", text);
    }
}
static inline void log_assert_findings(const struct reel_recording *r, size_t wanted) {
    size_t count;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &count);
    if (count != wanted) {
        for (size_t i = 0; i < count; i++) {
            print_message("finding %d: %s\n", (int)all[i].severity, all[i].text);
        }
        fail_msg("%zu findings instead of %zu", count, wanted);
    }
}

/* All messages in time order as "channel name=payload|", cut at 4095 bytes; every payload is read. */
static inline const char *log_messages(struct reel_recording *r) {
    static char texts[4][4096];
    static unsigned turn;
    char *out = texts[turn++ % 4];
    size_t used = 0;
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    assert_non_null(s);
    struct reel_message m;
    enum reel_step step;
    while ((step = stream_next(s, &m, &err)) == REEL_STEP_MESSAGE) {
        struct reel_bytes payload;
        assert_true(reel_stream_payload(s, &m, &payload, &err));
        const char *name = s->channels[m.channel]->name;
        if (used + strlen(name) + payload.size + 3 < sizeof texts[0]) {
            used += (size_t)sprintf(out + used, "%s=", name);
            memcpy(out + used, payload.data, payload.size);
            used += payload.size;
            out[used++] = '|';
        }
    }
    assert_int_equal(step, REEL_STEP_END);
    out[used] = '\0';
    return out;
}

/* ---- writing ---- */

static inline struct reel_stream *log_stream(struct reel_recording *r, const struct reel_selection *selection) {
    struct reel_error err = {0};
    struct reel_stream *s = reel_stream_open(&r, 1, selection, &err);
    assert_non_null(s);
    return s;
}

/* The whole output; then random ranges of it, each compared. */
static inline struct log log_write(struct reel_recording *r, const struct reel_writer *writer, const char *compression,
                                   const struct reel_selection *selection, unsigned ranges) {
    const struct reel_write_options options = {.compression = compression};
    struct reel_error err = {0};
    struct reel_stream *s = log_stream(r, selection);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(writer, &options, s, NULL, &err);
    reel_stream_free(s);
    if (!plan) {
        fail_msg("%s", err.text);
    }
    struct log out = {0};
    out.size = out.room = reel_plan_length(plan);
    out.data = malloc(out.size);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *whole = reel_planned_output_new(plan, log_stream(r, selection), &err);
    assert_non_null(whole);
    if (!reel_planned_output_read(whole, 0, out.data, out.size, &err)) {
        fail_msg("%s", err.text);
    }
    AUTO(reel_planned_output_free)
    struct reel_planned_output *parts = reel_planned_output_new(plan, log_stream(r, selection), &err);
    assert_non_null(parts);
    uint64_t random = 7;
    for (unsigned i = 0; i < ranges; i++) {
        static uint8_t piece[5000];
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t at = (size_t)((random >> 20) % out.size), size = (size_t)(random >> 50) % sizeof piece;
        size = size > out.size - at ? out.size - at : size;
        assert_true(reel_planned_output_read(parts, at, piece, size, &err));
        assert_memory_equal(piece, out.data + at, size);
    }
    return out;
}

/* Channels and messages are the same, in all that the model knows. */
static inline void log_assert_same(struct reel_recording *a, struct reel_recording *b) {
    assert_int_equal(log_info(a)->n_channels, log_info(b)->n_channels);
    assert_int_equal(log_info(a)->messages, log_info(b)->messages);
    assert_int_equal(log_info(a)->start_ns, log_info(b)->start_ns);
    assert_int_equal(log_info(a)->end_ns, log_info(b)->end_ns);
    for (uint32_t i = 0; i < log_info(a)->n_channels; i++) {
        const struct reel_channel *x = log_model(a, i), *y = log_model(b, i);
        assert_string_equal(x->name, y->name);
        assert_string_equal(x->type, y->type);
        assert_string_equal(x->encoding, y->encoding);
        assert_int_equal(x->latched, y->latched);
        assert_int_equal(x->n_topics, y->n_topics);
        for (uint32_t k = 0; k < x->n_topics; k++) {
            assert_string_equal(x->topics[k], y->topics[k]);
        }
        assert_int_equal(x->n_schemas, y->n_schemas);
        for (uint32_t k = 0; k < x->n_schemas; k++) {
            assert_string_equal(x->schemas[k].name, y->schemas[k].name);
            assert_string_equal(x->schemas[k].encoding, y->schemas[k].encoding);
            assert_string_equal(x->schemas[k].hash, y->schemas[k].hash);
            assert_true(bytes_equal(x->schemas[k].data, y->schemas[k].data));
        }
        assert_int_equal(x->metadata.count, y->metadata.count);
        for (size_t k = 0; k < x->metadata.count; k++) {
            assert_string_equal(x->metadata.items[k].key, y->metadata.items[k].key);
            assert_string_equal(x->metadata.items[k].value, y->metadata.items[k].value);
        }
        const struct reel_channel_stats *s = reel_index_stats(reel_recording_index(a), i),
                                        *t = reel_index_stats(reel_recording_index(b), i);
        assert_int_equal(s->count, t->count);
        assert_int_equal(s->bytes, t->bytes);
        assert_int_equal(s->first_ns, t->first_ns);
        assert_int_equal(s->last_ns, t->last_ns);
    }
    assert_string_equal(log_messages(a), log_messages(b));
}

#endif
