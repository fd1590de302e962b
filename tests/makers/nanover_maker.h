/* Makes NanoVer recordings in memory for tests, by code that shares nothing with the library's: messages and index
 * entries from pictures, and ZIP archives in the shapes that readers meet. */
#ifndef TESTS_NANOVER_MAKER_H
#define TESTS_NANOVER_MAKER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <msgpack.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/c_locale.h"
#include "base/cleanup.h"
#include "formats/nanover/payload.h"
#include "index/scan.h"
#include "makers/tables.h"
#include "stream/stream.h"

/* --- MessagePack by a picture: {key value …} [item …] 'text' 7 1.5 n (nil) <hex> (bin) --- */

static inline const char *picture_value(msgpack_packer *pk, const char *p);

static inline const char *picture_run(msgpack_packer *pk, const char *p, char close) {
    msgpack_sbuffer inner;
    msgpack_sbuffer_init(&inner);
    msgpack_packer inside;
    msgpack_packer_init(&inside, &inner, msgpack_sbuffer_write);
    size_t n = 0;
    for (p += strspn(p, " "); *p != close; p += strspn(p, " ")) {
        assert_true(*p != '\0');
        p = picture_value(&inside, p);
        n++;
    }
    assert_int_equal(close == '}' ? msgpack_pack_map(pk, n / 2) : msgpack_pack_array(pk, n), 0);
    if (inner.size > 0) {
        msgpack_sbuffer_write(pk->data, inner.data, inner.size);
    }
    msgpack_sbuffer_destroy(&inner);
    return p + 1;
}

static inline const char *picture_bin(msgpack_packer *pk, const char *p) {
    uint8_t bin[64];
    size_t n = 0;
    for (; *p != '>'; p += 2) {
        assert_true(n < sizeof bin);
        bin[n++] = (uint8_t)strtoul((char[]){p[0], p[1], '\0'}, NULL, 16);
    }
    msgpack_pack_bin_with_body(pk, bin, n);
    return p + 1;
}

static inline const char *picture_value(msgpack_packer *pk, const char *p) {
    C_LOCALE;
    char *end;
    size_t n;
    switch (*p) {
    case '{':
        return picture_run(pk, p + 1, '}');
    case '[':
        return picture_run(pk, p + 1, ']');
    case '<':
        return picture_bin(pk, p + 1);
    case '\'':
        n = strcspn(p + 1, "'");
        msgpack_pack_str_with_body(pk, p + 1, n);
        return p + n + 2;
    case 'n':
        msgpack_pack_nil(pk);
        return p + 1;
    default:
        n = strspn(p, "-0123456789.");
        assert_true(n > 0);
        if (memchr(p, '.', n)) {
            msgpack_pack_double(pk, strtod(p, &end));
        } else {
            msgpack_pack_int64(pk, strtoll(p, &end, 10));
        }
        return end;
    }
}

static inline void picture(msgpack_sbuffer *out, const char *text) {
    msgpack_packer pk;
    msgpack_packer_init(&pk, out, msgpack_sbuffer_write);
    assert_string_equal(picture_value(&pk, text), "");
}

/* The bytes are exactly what the picture shows. */
static inline void assert_picture(struct reel_bytes got, const char *text) {
    msgpack_sbuffer want;
    msgpack_sbuffer_init(&want);
    picture(&want, text);
    assert_int_equal(got.size, want.size);
    assert_memory_equal(got.data, want.data, want.size);
    msgpack_sbuffer_destroy(&want);
}

/* --- a recording --- */

struct maker { /* zero-initialised = empty */
    msgpack_sbuffer messages, entries;
    uint32_t count;
    msgpack_sbuffer index; /* made by maker_index */
    msgpack_sbuffer file;
};

static inline void maker_free(struct maker *m) {
    msgpack_sbuffer_destroy(&m->messages);
    msgpack_sbuffer_destroy(&m->entries);
    msgpack_sbuffer_destroy(&m->index);
    msgpack_sbuffer_destroy(&m->file);
}
#define MAKER __attribute__((cleanup(maker_free))) struct maker

/* An entry for messages bytes [offset, offset + length); metadata is a picture. */
static inline void maker_entry(struct maker *m, size_t offset, size_t length, const char *metadata) {
    char entry[1024];
    int n = snprintf(entry, sizeof entry, "{'offset' %zu 'length' %zu 'metadata' %s}", offset, length, metadata);
    assert_in_range(n, 1, sizeof entry - 1);
    picture(&m->entries, entry);
    m->count++;
}
static inline void maker_add(struct maker *m, const char *message, const char *metadata) {
    size_t offset = m->messages.size;
    picture(&m->messages, message);
    maker_entry(m, offset, m->messages.size - offset, metadata);
}

#define ORIGIN "<000000000000000000000000>"
#define ASIDE "<0000803f0000803f0000803f>"

/* Two runs, states between, and one message of both types. */
static inline void maker_default(struct maker *m) {
    maker_add(m,
              "{'frame' {'frame.index' 0 'particle.count' 1 'particle.positions' " ORIGIN
              " 'system.simulation.name' 'one'}}",
              "{'types' ['frame'] 'frame.index' 0 'timestamp' 5}");
    maker_add(m, "{'state' {'updates' {'scene' [1 2] 'gone' n} 'removals' []}}",
              "{'types' ['state'] 'timestamp' 1000}");
    maker_add(m, "{'frame' {'frame.index' 1 'particle.positions' " ASIDE "}}",
              "{'types' ['frame'] 'frame.index' 1 'timestamp' 2000}");
    maker_add(m, "{'state' {'updates' {'user' 'x'} 'removals' ['gone']}}", "{'types' ['state'] 'timestamp' 3000}");
    maker_add(m,
              "{'frame' {'frame.index' 0 'particle.count' 1 'particle.positions' " ORIGIN
              "} 'state' {'updates' {'user' 'y'} 'removals' []}}",
              "{'types' ['frame' 'state'] 'frame.index' 0 'timestamp' 4000}");
    maker_add(m, "{'frame' {'frame.index' 1 'particle.positions' " ASIDE " 'energy.potential' 1.5}}",
              "{'types' ['frame'] 'frame.index' 1 'timestamp' 5000}");
}

/* --- archives --- */

struct member {
    const char *name;
    struct reel_bytes data;
    bool deflated;
};

static inline void put16(msgpack_sbuffer *out, unsigned v) {
    uint8_t b[2];
    store_u16le(b, (uint16_t)v);
    msgpack_sbuffer_write(out, (const char *)b, sizeof b);
}
static inline void put32(msgpack_sbuffer *out, size_t v) {
    uint8_t b[4];
    store_u32le(b, (uint32_t)v);
    msgpack_sbuffer_write(out, (const char *)b, sizeof b);
}
static inline void put_raw(msgpack_sbuffer *out, const void *data, size_t size) {
    if (size > 0) {
        msgpack_sbuffer_write(out, data, size);
    }
}

static inline struct reel_bytes deflate_raw(struct reel_bytes data) {
    z_stream z = {.next_in = (Bytef *)data.data, .avail_in = (uInt)data.size};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    uLong room = deflateBound(&z, (uLong)data.size);
    uint8_t *out = malloc(room);
    assert_non_null(out);
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t size = z.total_out;
    deflateEnd(&z);
    return bytes_of(out, size);
}

/* Appends an archive to m->file, counting offsets from where the file ended. */
static inline void maker_zip(struct maker *m, const struct member *members, size_t n) {
    msgpack_sbuffer *out = &m->file, directory;
    msgpack_sbuffer_init(&directory);
    size_t zero = out->size;
    for (size_t i = 0; i < n; i++) {
        struct reel_bytes raw = members[i].data, stored = members[i].deflated ? deflate_raw(raw) : raw;
        size_t at = out->size - zero, name = strlen(members[i].name);
        msgpack_sbuffer *headers[] = {out, &directory};
        for (int h = 0; h < 2; h++) {
            put32(headers[h], h == 0 ? 0x04034b50 : 0x02014b50);
            if (h == 1) {
                put16(headers[h], 20);
            }
            put16(headers[h], 20);
            put16(headers[h], 0);
            put16(headers[h], members[i].deflated ? 8 : 0);
            put32(headers[h], 0x00210000);
            put32(headers[h], crc32(0, raw.data, (uInt)raw.size));
            put32(headers[h], stored.size);
            put32(headers[h], raw.size);
            put16(headers[h], (unsigned)name);
            put16(headers[h], 0);
        }
        put_raw(&directory, (const uint8_t[10]){0}, 10);
        put32(&directory, at);
        put_raw(out, members[i].name, name);
        put_raw(&directory, members[i].name, name);
        put_raw(out, stored.data, stored.size);
        if (members[i].deflated) {
            free((void *)stored.data);
        }
    }
    size_t at = out->size - zero;
    put_raw(out, directory.data, directory.size);
    put32(out, 0x06054b50);
    put32(out, 0);
    put16(out, (unsigned)n);
    put16(out, (unsigned)n);
    put32(out, directory.size);
    put32(out, at);
    put16(out, 0);
    msgpack_sbuffer_destroy(&directory);
}

static inline struct reel_bytes maker_index(struct maker *m) {
    msgpack_packer pk;
    msgpack_packer_init(&pk, &m->index, msgpack_sbuffer_write);
    msgpack_pack_array(&pk, m->count);
    put_raw(&m->index, m->entries.data, m->entries.size);
    return bytes_of(m->index.data, m->index.size);
}
static inline struct reel_bytes maker_messages(const struct maker *m) {
    return bytes_of(m->messages.data ? m->messages.data : "", m->messages.size);
}
static inline struct reel_bytes maker_file(const struct maker *m) {
    return bytes_of(m->file.data, m->file.size);
}
/* The plain archive of both members. */
static inline struct reel_bytes maker_finish(struct maker *m) {
    maker_zip(
        m, (struct member[]){{"messages.msgpack", maker_messages(m), false}, {"index.msgpack", maker_index(m), false}},
        2);
    return maker_file(m);
}

/* --- scanned --- */

#define RECORDING AUTO(reel_recording_free) struct reel_recording

/* NULL with err when the scan fails. The bytes must outlive the recording. */
static inline struct reel_recording *nanover_try(struct reel_bytes data, struct reel_error *err) {
    struct reel_source *source = reel_source_from_memory(data, "made.nanover.zip", err);
    assert_non_null(source);
    if (!reel_scan_run(&source, 1, &reel_format_nanover, REEL_SCRATCH "/nanover.pack", NULL, err)) {
        reel_source_free(source);
        return NULL;
    }
    struct reel_index *index = reel_index_open(REEL_SCRATCH "/nanover.pack", err);
    assert_non_null(index);
    struct reel_recording *recording =
        reel_recording_from_index(index, &source, 1, &(struct reel_recording_options){0}, err);
    assert_non_null(recording);
    return recording;
}
static inline struct reel_recording *nanover_read(struct reel_bytes data) {
    struct reel_error err = {0};
    struct reel_recording *recording = nanover_try(data, &err);
    if (!recording) {
        fail_msg("%s", err.text);
    }
    return recording;
}
static inline const struct reel_index_info *info_of(const struct reel_recording *r) {
    return reel_index_info(reel_recording_index(r));
}

/* That severity and text are reported exactly once. */
static inline void assert_finding(const struct reel_recording *r, enum reel_severity severity, const char *text) {
    size_t count;
    unsigned met = 0;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &count);
    for (size_t i = 0; i < count; i++) {
        met += all[i].severity == severity && strstr(all[i].text, text) != NULL;
    }
    for (size_t i = 0; met != 1 && i < count; i++) {
        print_message("finding %d: %s\n", (int)all[i].severity, all[i].text);
    }
    if (met != 1) {
        fail_msg("%u findings \"%s\"", met, text);
    }
}
static inline void assert_no_findings(const struct reel_recording *r) {
    size_t count;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &count);
    if (count > 0) {
        fail_msg("finding %d: %s", (int)all[0].severity, all[0].text);
    }
}

/* The i-th message of a selection, and its payload (valid while the stream is). */
static inline struct reel_stream *open_stream(struct reel_recording *r, const struct reel_selection *selection) {
    struct reel_error err = {0};
    struct reel_stream *stream = reel_stream_open(&r, 1, selection, &err);
    if (!stream) {
        fail_msg("%s", err.text);
    }
    return stream;
}
static inline struct reel_bytes next_payload(struct reel_stream *stream, struct reel_message *m) {
    struct reel_error err = {0};
    struct reel_bytes payload = {.data = NULL};
    enum reel_step step = stream_next(stream, m, &err);
    if (step == REEL_STEP_ERROR || (step == REEL_STEP_MESSAGE && !reel_stream_payload(stream, m, &payload, &err))) {
        fail_msg("%s", err.text);
    }
    return payload; /* data NULL: no more */
}

#endif
