/* Makes ROS bags 2.0 in memory, record by record and with every defect wanted. For tests, golden inputs and the fuzz
 * corpus; shares no line with the reader or the writer. */
#ifndef TESTS_BAG2_MAKER_H
#define TESTS_BAG2_MAKER_H

#undef NDEBUG /* a release's tests check as well */
#include <assert.h>

#include "makers/bag_maker.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <stdbool.h>

enum { MAKE2_ENTRIES = 4096, MAKE2_PADDING = 4096 };

struct make2_entry {
    uint32_t conn, sec, nsec, offset;
};

/* A bag being made: make2_begin(), then connections and messages, make2_close() for each chunk, make2_end(). */
struct make2 {
    struct maker out;          /* the file so far */
    struct maker raw;          /* the chunk being filled */
    struct maker conns, infos; /* for the end */
    const char *compression;   /* of the chunks to come */
    struct make2_entry entries[MAKE2_ENTRIES];
    uint32_t n_entries, n_conns, n_chunks;
    size_t index_pos_at, conn_count_at, chunk_count_at; /* positions of these values in the file */
    size_t chunk_at, chunk_data;                        /* of the last chunk */
    /* defects: */
    bool conns_only_at_end, no_index;
    int32_t index_length_off; /* added to the data length of index data */
    int32_t size_off;         /* added to the raw size that chunk headers state */
};

static inline void make2_line(struct make2 *b) {
    make_text(&b->out, "#ROSBAG V2.0\n");
}
static inline void make2_file_header(struct make2 *b) {
    struct maker *m = &b->out;
    static const char spaces[MAKE2_PADDING] = {0};
    size_t record = make_record(m);
    make_field_number(m, "chunk_count", 0, 4);
    b->chunk_count_at = m->size - 4;
    make_field_number(m, "conn_count", 0, 4);
    b->conn_count_at = m->size - 4;
    make_field_number(m, "index_pos", 0, 8);
    b->index_pos_at = m->size - 8;
    make_field_number(m, "op", 3, 1);
    size_t padding = MAKE2_PADDING - (m->size - record - 4);
    make_data(m, record, spaces, padding);
    memset(m->data + m->size - padding, ' ', padding);
}
static inline void make2_begin(struct make2 *b, const char *compression) {
    *b = (struct make2){.compression = compression};
    make2_line(b);
    make2_file_header(b);
}
static inline void make2_free(struct make2 *b) {
    free(b->out.data);
    free(b->raw.data);
    free(b->conns.data);
    free(b->infos.data);
}

/* The parts of a connection record; `inner` holds the fields of its data. */
static inline void make2_connection_record(struct maker *m, uint32_t id, const char *topic, const struct maker *inner) {
    size_t record = make_record(m);
    make_field_number(m, "conn", id, 4);
    make_field_number(m, "op", 7, 1);
    make_field_text(m, "topic", topic);
    make_data(m, record, inner->data, inner->size);
}
static inline void make2_connection_of(struct make2 *b, uint32_t id, const char *topic, const struct maker *inner) {
    make2_connection_record(&b->conns, id, topic, inner);
    b->n_conns++;
    if (!b->conns_only_at_end) {
        make2_connection_record(&b->raw, id, topic, inner);
    }
}
static inline void make2_connection(struct make2 *b, uint32_t id, const char *topic, const char *callerid,
                                    const char *latching) {
    struct maker inner = {0};
    if (callerid) {
        make_field_text(&inner, "callerid", callerid);
    }
    if (latching) {
        make_field_text(&inner, "latching", latching);
    }
    make_field_text(&inner, "md5sum", MAKE_MD5);
    make_field_text(&inner, "message_definition", MAKE_DEF);
    make_field_text(&inner, "topic", topic);
    make_field_text(&inner, "type", MAKE_TYPE);
    make2_connection_of(b, id, topic, &inner);
    free(inner.data);
}

static inline size_t make2_message_record(struct maker *m, uint32_t conn, uint32_t sec, uint32_t nsec, const void *data,
                                          size_t size) {
    size_t record = make_record(m);
    make_field_number(m, "conn", conn, 4);
    make_field_number(m, "op", 2, 1);
    make_field_number(m, "time", (uint64_t)nsec << 32 | sec, 8);
    make_data(m, record, data, size);
    return record;
}
static inline size_t make2_message_of(struct make2 *b, uint32_t conn, uint32_t sec, uint32_t nsec, const void *data,
                                      size_t size) {
    assert(b->n_entries < MAKE2_ENTRIES);
    b->entries[b->n_entries++] = (struct make2_entry){conn, sec, nsec, (uint32_t)b->raw.size};
    return make2_message_record(&b->raw, conn, sec, nsec, data, size);
}
static inline size_t make2_message(struct make2 *b, uint32_t conn, uint32_t sec, const char *text) {
    return make2_message_of(b, conn, sec, 0, text, strlen(text));
}

/* Compresses as ROS does. */
static inline struct maker make2_packed(const char *compression, const struct maker *raw) {
    struct maker packed = {0};
    if (strcmp(compression, "bz2") == 0) {
        unsigned size = (unsigned)raw->size + raw->size / 100 + 600;
        packed.data = (uint8_t *)malloc(size);
        assert(packed.data);
        char *from = raw->size ? (char *)raw->data : (char *)packed.data;
        int status = BZ2_bzBuffToBuffCompress((char *)packed.data, &size, from, (unsigned)raw->size, 9, 0, 30);
        assert(status == BZ_OK);
        packed.size = packed.room = size;
    } else if (strcmp(compression, "lz4") == 0) {
        const LZ4F_preferences_t as_ros = {.frameInfo = {.blockSizeID = LZ4F_max1MB,
                                                         .blockMode = LZ4F_blockIndependent,
                                                         .contentChecksumFlag = LZ4F_contentChecksumEnabled}};
        size_t size = LZ4F_compressFrameBound(raw->size, &as_ros);
        packed.data = (uint8_t *)malloc(size);
        assert(packed.data);
        size = LZ4F_compressFrame(packed.data, size, raw->data, raw->size, &as_ros);
        assert(!LZ4F_isError(size));
        packed.size = packed.room = size;
    } else {
        make_bytes(&packed, raw->data, raw->size);
    }
    return packed;
}

static inline size_t make2_chunk_record(struct maker *m, const char *compression, uint64_t raw_size,
                                        const struct maker *packed) {
    size_t record = make_record(m);
    make_field_text(m, "compression", compression);
    make_field_number(m, "op", 5, 1);
    make_field_number(m, "size", raw_size, 4);
    make_data(m, record, packed->data, packed->size);
    return record;
}

static inline void make2_index_record(struct maker *m, uint32_t ver, uint32_t conn, uint32_t count,
                                      const struct maker *data) {
    size_t record = make_record(m);
    make_field_number(m, "conn", conn, 4);
    make_field_number(m, "count", count, 4);
    make_field_number(m, "op", 4, 1);
    make_field_number(m, "ver", ver, 4);
    make_data(m, record, data->data, data->size);
}

static inline void make2_info_record(struct maker *m, uint64_t chunk_pos, uint64_t start, uint64_t end, uint32_t count,
                                     const struct maker *rows) {
    size_t record = make_record(m);
    make_field_number(m, "chunk_pos", chunk_pos, 8);
    make_field_number(m, "count", count, 4);
    make_field_number(m, "end_time", end, 8);
    make_field_number(m, "op", 6, 1);
    make_field_number(m, "start_time", start, 8);
    make_field_number(m, "ver", 1, 4);
    make_data(m, record, rows->data, rows->size);
}

static inline uint64_t make2_time(uint32_t sec, uint32_t nsec) {
    return (uint64_t)nsec << 32 | sec;
}

/* Index data and the rows of the chunk info: for each connection in order of its first message. */
static inline uint32_t make2_indexes(struct make2 *b, struct maker *rows) {
    uint32_t connections = 0;
    for (uint32_t i = 0; i < b->n_entries; i++) {
        struct maker data = {0};
        uint32_t conn = b->entries[i].conn, count = 0;
        bool before = false;
        for (uint32_t k = 0; k < i; k++) {
            before |= b->entries[k].conn == conn;
        }
        for (uint32_t k = i; k < b->n_entries && !before; k++) {
            if (b->entries[k].conn == conn) {
                make_number(&data, b->entries[k].sec, 4);
                make_number(&data, b->entries[k].nsec, 4);
                make_number(&data, b->entries[k].offset, 4);
                count++;
            }
        }
        if (!before) {
            connections++;
            make_number(rows, conn, 4);
            make_number(rows, count, 4);
            if (!b->no_index) {
                make2_index_record(&b->out, 1, conn, count, &data);
                make_patch(&b->out, b->out.size - data.size - 4, (uint64_t)((int64_t)data.size + b->index_length_off),
                           4);
            }
        }
        free(data.data);
    }
    return connections;
}

/* Writes the chunk that was filled, its index data, and keeps its chunk info. */
static inline void make2_close(struct make2 *b) {
    struct maker packed = make2_packed(b->compression, &b->raw), rows = {0};
    b->chunk_at = make2_chunk_record(&b->out, b->compression, (uint64_t)((int64_t)b->raw.size + b->size_off), &packed);
    b->chunk_data = b->out.size - packed.size;
    free(packed.data);
    uint32_t connections = make2_indexes(b, &rows);
    struct make2_entry first = {0}, last = {0};
    for (uint32_t i = 0; i < b->n_entries; i++) {
        const struct make2_entry *e = &b->entries[i];
        bool earlier = e->sec < first.sec || (e->sec == first.sec && e->nsec < first.nsec);
        bool later = e->sec > last.sec || (e->sec == last.sec && e->nsec > last.nsec);
        first = i == 0 || earlier ? *e : first;
        last = i == 0 || later ? *e : last;
    }
    make2_info_record(&b->infos, b->chunk_at, make2_time(first.sec, first.nsec), make2_time(last.sec, last.nsec),
                      connections, &rows);
    free(rows.data);
    b->n_chunks++;
    b->n_entries = 0;
    b->raw.size = 0;
}

static inline void make2_end(struct make2 *b) {
    make_patch(&b->out, b->index_pos_at, b->out.size, 8);
    make_patch(&b->out, b->conn_count_at, b->n_conns, 4);
    make_patch(&b->out, b->chunk_count_at, b->n_chunks, 4);
    make_bytes(&b->out, b->conns.data, b->conns.size);
    make_bytes(&b->out, b->infos.data, b->infos.size);
}

/* Two chunks with five messages each on two topics, closed. */
static inline void make2_ten(struct make2 *b, const char *compression) {
    make2_begin(b, compression);
    for (uint32_t i = 0; i < 10; i++) {
        const char text[] = {'m', (char)('0' + i), 0};
        if (i < 2) {
            make2_connection(b, i, i % 2 ? "/b" : "/a", NULL, NULL);
        }
        make2_message(b, i % 2, 1500000000 + i, text);
        if (i % 5 == 4) {
            make2_close(b);
        }
    }
    make2_end(b);
}

/* As rosbag/AesCbcEncryptor leaves it: chunk data and the connection records at the end are no longer readable. */
static inline void make2_sealed(struct make2 *b) {
    uint8_t noise[64];
    for (unsigned i = 0; i < sizeof noise; i++) {
        noise[i] = (uint8_t)(i * 89 + 41);
    }
    make2_line(b);
    size_t record = make_record(&b->out);
    make_field_number(&b->out, "chunk_count", 2, 4);
    make_field_number(&b->out, "conn_count", 2, 4);
    make_field_text(&b->out, "encryptor", "rosbag/AesCbcEncryptor");
    make_field_text(&b->out, "gpg_user", "Foo");
    make_field_number(&b->out, "index_pos", 0, 8);
    size_t index_pos = b->out.size - 8;
    make_field_number(&b->out, "op", 3, 1);
    make_data(&b->out, record, noise, sizeof noise);
    struct maker packed = {.data = noise, .size = sizeof noise}, rows = {0};
    make_number(&rows, 0, 4);
    make_number(&rows, 3, 4);
    make_number(&rows, 1, 4);
    make_number(&rows, 4, 4);
    for (uint32_t i = 0; i < 2; i++) {
        size_t at = make2_chunk_record(&b->out, "none", sizeof noise, &packed);
        make2_info_record(&b->infos, at, make2_time(1500000000 + i, 0), make2_time(1500000005 + i, 7), 2, &rows);
    }
    free(rows.data);
    make_patch(&b->out, index_pos, b->out.size, 8);
    for (unsigned i = 0; i < 2; i++) {
        make_number(&b->out, 48, 4);
        make_bytes(&b->out, noise, 48);
        make_number(&b->out, 64, 4);
        make_bytes(&b->out, noise, 64);
    }
    make_bytes(&b->out, b->infos.data, b->infos.size);
}

/* The payload of a std_msgs/UInt8MultiArray that says so many dimensions and bytes. */
static inline void make2_wrap(struct maker *m, const char *text, uint32_t dimensions, uint32_t size) {
    m->size = 0;
    make_number(m, dimensions, 4);
    make_number(m, 0, 4);
    make_number(m, size, 4);
    make_text(m, text);
}

/* A chunk of messages of another encoding in their wrapper (lib/formats/ros_wrap.h), three of them wrongly wrapped. */
static inline void make2_foreign(struct make2 *b) {
    struct maker inner = {0}, payload = {0};
    make_field_text(&inner, "md5sum", "82373f1612381bb6ee473b5cd6f5d89c");
    make_field_text(&inner, "message_definition", "uint8[] data");
    make_field_text(&inner, "reel.type", "my.Pose");
    make_field_text(&inner, "reel.encoding", "protobuf");
    make_field_text(&inner, "reel.schema.0.name", "my.Pose");
    make_field_text(&inner, "reel.schema.0.encoding", "protobuf");
    make_field(&inner, "reel.schema.0.data", "\0\1", 2);
    make_field_text(&inner, "reel.schema.7.name", "out of range");
    make_field_text(&inner, "reel.schema.x.name", "no number");
    make_field_text(&inner, "reel.metadata.1.key", "b");
    make_field_text(&inner, "reel.metadata.0.value", "1");
    make_field_text(&inner, "reel.metadata.0.key", "a");
    make_field_text(&inner, "reel.topic.0", "/p");
    make_field_text(&inner, "reel.topic.1", "/q");
    make_field_text(&inner, "topic", "/p+q");
    make_field_text(&inner, "type", "std_msgs/UInt8MultiArray");
    make_field_text(&inner, "latching", "1");
    make2_connection_of(b, 0, "/p+q", &inner);
    make2_wrap(&payload, "inner", 0, 5);
    for (uint32_t k = 0; k < 3; k++) {
        make2_message_of(b, 0, 1500000000 + k, 0, payload.data, payload.size);
    }
    make2_wrap(&payload, "dim", 1, 3);
    make2_message_of(b, 0, 1500000003, 0, payload.data, payload.size);
    make2_wrap(&payload, "long", 0, 3);
    make2_message_of(b, 0, 1500000004, 0, payload.data, payload.size);
    make2_message_of(b, 0, 1500000005, 0, "short", 5);
    make2_close(b);
    free(inner.data);
    free(payload.data);
}

#endif
