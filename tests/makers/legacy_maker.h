/* Makes .traj and .state files in memory for tests: protobuf field by field, records, headers. */
#ifndef TESTS_LEGACY_MAKER_H
#define TESTS_LEGACY_MAKER_H

#include "makers/nanover_maker.h"

#include "base/bytes.h"
#include "base/grow.h"

struct proto { /* a message being made; zero-initialised = empty */
    struct grow g;
};
static inline void proto_free(struct proto *p) {
    free(p->g.data);
}
#define PROTO __attribute__((cleanup(proto_free))) struct proto

static inline struct reel_bytes proto_bytes(const struct proto *p) {
    return bytes_of(p->g.data ? p->g.data : (const uint8_t *)"", p->g.size);
}
static inline void proto_put_varint(struct proto *p, uint64_t v) {
    for (; v > 127; v >>= 7) {
        grow_put(&p->g, &(uint8_t){(uint8_t)(v | 128)}, 1);
    }
    grow_put(&p->g, &(uint8_t){(uint8_t)v}, 1);
}
static inline void proto_number(struct proto *p, unsigned field, uint64_t v) {
    proto_put_varint(p, field << 3);
    proto_put_varint(p, v);
}
static inline void proto_double(struct proto *p, unsigned field, double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    proto_put_varint(p, field << 3 | 1);
    grow_u64(&p->g, bits);
}
static inline void proto_float(struct proto *p, unsigned field, float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    proto_put_varint(p, field << 3 | 5);
    grow_u32(&p->g, bits);
}
static inline void proto_data(struct proto *p, unsigned field, struct reel_bytes data) {
    proto_put_varint(p, field << 3 | 2);
    proto_put_varint(p, data.size);
    grow_put(&p->g, data.data, data.size);
}
static inline void proto_text(struct proto *p, unsigned field, const char *text) {
    proto_data(p, field, bytes_text(text));
}
/* A map's entry: field { 1: key, 2: value }. */
static inline void proto_entry(struct proto *p, unsigned field, const char *key, const struct proto *value) {
    PROTO entry = {0};
    proto_text(&entry, 1, key);
    proto_data(&entry, 2, proto_bytes(value));
    proto_data(p, field, proto_bytes(&entry));
}
/* … whose value is a number (in `field` 1: FrameData's values, or a Struct's). */
static inline void proto_entry_number(struct proto *p, const char *key, double v) {
    PROTO value = {0};
    proto_double(&value, 2, v);
    proto_entry(p, 1, key, &value);
}
/* … whose value is a ValueArray (FrameData's field 2) of packed floats or indices. */
static inline void proto_entry_floats(struct proto *p, const char *key, const float *v, size_t n) {
    PROTO run = {0};
    PROTO list = {0};
    PROTO array = {0};
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        grow_u32(&run.g, bits);
    }
    proto_data(&list, 1, proto_bytes(&run));
    proto_data(&array, 1, proto_bytes(&list));
    proto_entry(p, 2, key, &array);
}
static inline void proto_entry_indices(struct proto *p, const char *key, const uint32_t *v, size_t n) {
    PROTO run = {0};
    PROTO list = {0};
    PROTO array = {0};
    for (size_t i = 0; i < n; i++) {
        proto_put_varint(&run, v[i]);
    }
    proto_data(&list, 1, proto_bytes(&run));
    proto_data(&array, 2, proto_bytes(&list));
    proto_entry(p, 2, key, &array);
}

/* --- files --- */

struct legacy_file {
    struct grow g;
};
static inline void legacy_file_free(struct legacy_file *f) {
    free(f->g.data);
}
#define LEGACY __attribute__((cleanup(legacy_file_free))) struct legacy_file

static inline void legacy_start(struct legacy_file *f, uint64_t version) {
    grow_u64(&f->g, UINT64_C(6661355757386708963));
    grow_u64(&f->g, version);
}
static inline void legacy_record(struct legacy_file *f, uint64_t time_us, struct reel_bytes message) {
    if (f->g.size == 0) {
        legacy_start(f, 2);
    }
    grow_u64(&f->g, time_us);
    grow_u64(&f->g, 0);
    grow_u64(&f->g, message.size);
    grow_put(&f->g, message.data, message.size);
}
static inline struct reel_bytes legacy_bytes(const struct legacy_file *f) {
    return bytes_of(f->g.data, f->g.size);
}

/* A frame of index `index` with one number and one particle; index 0 is written as absent, as protobuf does. */
static inline void legacy_frame(struct legacy_file *f, uint64_t time_us, uint32_t index, const char *key,
                                double number) {
    PROTO data = {0};
    PROTO frame = {0};
    proto_entry_number(&data, key, number);
    proto_entry_floats(&data, "particle.positions", (const float[]){1, 2, (float)index}, 3);
    if (index > 0) {
        proto_number(&frame, 1, index);
    }
    proto_data(&frame, 2, proto_bytes(&data));
    legacy_record(f, time_us, proto_bytes(&frame));
}
/* A state: the key becomes a number, or goes (with NAN). */
static inline void legacy_state(struct legacy_file *f, uint64_t time_us, const char *key, double number) {
    PROTO value = {0};
    PROTO changed = {0};
    PROTO state = {0};
    if (number != number) {
        proto_number(&value, 1, 0);
    } else {
        proto_double(&value, 2, number);
    }
    proto_entry(&changed, 1, key, &value);
    proto_data(&state, 1, proto_bytes(&changed));
    legacy_record(f, time_us, proto_bytes(&state));
}

/* --- scanned --- */

struct named_bytes {
    const char *name;
    struct reel_bytes data;
};

/* NULL with err when the scan fails. The bytes must outlive the recording. */
static inline struct reel_recording *legacy_try(const struct named_bytes *parts, uint32_t n, struct reel_error *err) {
    struct reel_source *sources[3];
    for (uint32_t i = 0; i < n; i++) {
        sources[i] = reel_source_from_memory(parts[i].data, parts[i].name, err);
        assert_non_null(sources[i]);
    }
    if (!reel_scan_run(sources, n, &reel_format_nanover_legacy, REEL_SCRATCH "/legacy.pack", NULL, err)) {
        while (n > 0) {
            reel_source_free(sources[--n]);
        }
        return NULL;
    }
    struct reel_index *index = reel_index_open(REEL_SCRATCH "/legacy.pack", err);
    assert_non_null(index);
    struct reel_recording *recording =
        reel_recording_from_index(index, sources, n, &(struct reel_recording_options){0}, err);
    assert_non_null(recording);
    return recording;
}
static inline struct reel_recording *legacy_read(const struct named_bytes *parts, uint32_t n) {
    struct reel_error err = {0};
    struct reel_recording *recording = legacy_try(parts, n, &err);
    if (!recording) {
        fail_msg("%s", err.text);
    }
    return recording;
}

#endif
