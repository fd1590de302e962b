/* Makes MCAP files in memory, record by record and with every defect wanted. For tests, golden files and the fuzz
 * corpus; shares no line with the reader or the writer. */
#ifndef TESTS_MCAP_MAKER_H
#define TESTS_MCAP_MAKER_H

#include "makers/bag_maker.h"

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

/* One record: mcap_begin(), fields, mcap_end(). */
static inline size_t mcap_begin(struct maker *m, unsigned op) {
    make_number(m, op, 1);
    make_number(m, 0, 8);
    return m->size - 9;
}
static inline void mcap_end(struct maker *m, size_t record) {
    make_patch(m, record + 1, m->size - record - 9, 8);
}
static inline void mcap_text(struct maker *m, const char *text) {
    make_number(m, strlen(text), 4);
    make_text(m, text);
}
/* key, value, key, value … NULL; NULL: no pairs. */
static inline void mcap_map(struct maker *m, const char *const *pairs) {
    size_t at = m->size;
    make_number(m, 0, 4);
    for (; pairs && *pairs; pairs++) {
        mcap_text(m, *pairs);
    }
    make_patch(m, at, m->size - at - 4, 4);
}

static inline void mcap_magic(struct maker *m) {
    make_bytes(m, "\x89MCAP0\r\n", 8);
}
static inline void mcap_header(struct maker *m, const char *profile, const char *library) {
    mcap_magic(m);
    size_t record = mcap_begin(m, 1);
    mcap_text(m, profile);
    mcap_text(m, library);
    mcap_end(m, record);
}
static inline void mcap_schema(struct maker *m, unsigned id, const char *name, const char *encoding, const char *data) {
    size_t record = mcap_begin(m, 3);
    make_number(m, id, 2);
    mcap_text(m, name);
    mcap_text(m, encoding);
    mcap_text(m, data);
    mcap_end(m, record);
}
static inline void mcap_channel(struct maker *m, unsigned id, unsigned schema, const char *topic, const char *encoding,
                                const char *const *pairs) {
    size_t record = mcap_begin(m, 4);
    make_number(m, id, 2);
    make_number(m, schema, 2);
    mcap_text(m, topic);
    mcap_text(m, encoding);
    mcap_map(m, pairs);
    mcap_end(m, record);
}
/* Publish time = log time + 1; returns where it stands. */
static inline size_t mcap_message(struct maker *m, unsigned channel, uint64_t time, unsigned sequence,
                                  const char *payload) {
    size_t record = mcap_begin(m, 5);
    make_number(m, channel, 2);
    make_number(m, sequence, 4);
    make_number(m, time, 8);
    make_number(m, time + 1, 8);
    make_text(m, payload);
    mcap_end(m, record);
    return record;
}

/* A chunk of these records; stated size and CRC can be made wrong afterwards: they stand at the result + 25 and + 33.
 */
static inline size_t mcap_chunk(struct maker *m, const struct maker *records, uint64_t start, uint64_t end,
                                const char *compression) {
    struct maker packed = {0};
    size_t bound = ZSTD_compressBound(records->size) + LZ4F_compressFrameBound(records->size, NULL), size;
    packed.data = (uint8_t *)malloc(bound);
    assert(packed.data);
    if (strcmp(compression, "zstd") == 0) {
        size = ZSTD_compress(packed.data, bound, records->data, records->size, 3);
    } else if (strcmp(compression, "lz4") == 0) {
        size = LZ4F_compressFrame(packed.data, bound, records->data, records->size, NULL);
    } else {
        size = records->size;
        memcpy(packed.data, records->data, size);
    }
    size_t record = mcap_begin(m, 6);
    make_number(m, start, 8);
    make_number(m, end, 8);
    make_number(m, records->size, 8);
    make_number(m, crc32(0, records->data, (unsigned)records->size), 4);
    mcap_text(m, compression);
    make_number(m, size, 8);
    make_bytes(m, packed.data, size);
    mcap_end(m, record);
    free(packed.data);
    return record;
}
/* One message index with one entry. */
static inline size_t mcap_index(struct maker *m, unsigned channel, uint64_t time, uint64_t offset) {
    size_t record = mcap_begin(m, 7);
    make_number(m, channel, 2);
    make_number(m, 16, 4);
    make_number(m, time, 8);
    make_number(m, offset, 8);
    mcap_end(m, record);
    return record;
}
static inline size_t mcap_attachment(struct maker *m, const char *name, const char *media_type, uint64_t time,
                                     const char *data) {
    size_t record = mcap_begin(m, 9);
    make_number(m, time, 8);
    make_number(m, time - 1000, 8);
    mcap_text(m, name);
    mcap_text(m, media_type);
    make_number(m, strlen(data), 8);
    make_text(m, data);
    make_number(m, crc32(0, m->data + record + 9, (unsigned)(m->size - record - 9)), 4);
    mcap_end(m, record);
    return record;
}
static inline size_t mcap_metadata(struct maker *m, const char *name, const char *const *pairs) {
    size_t record = mcap_begin(m, 0x0C);
    mcap_text(m, name);
    mcap_map(m, pairs);
    mcap_end(m, record);
    return record;
}
static inline void mcap_data_end(struct maker *m) {
    uint32_t crc = (uint32_t)crc32(0, m->data, (unsigned)m->size);
    size_t record = mcap_begin(m, 0x0F);
    make_number(m, crc, 4);
    mcap_end(m, record);
}
/* The footer, with the CRC, and the closing magic. summary 0: there is none. */
static inline void mcap_footer(struct maker *m, size_t summary) {
    size_t from = summary ? summary : m->size, record = mcap_begin(m, 2);
    make_number(m, summary, 8);
    make_number(m, 0, 8);
    make_patch(m, record + 1, 20, 8);
    make_number(m, crc32(0, m->data + from, (unsigned)(m->size - from)), 4);
    mcap_magic(m);
}
/* Ends a file that has no summary. */
static inline void mcap_close(struct maker *m) {
    mcap_data_end(m);
    mcap_footer(m, 0);
}

/* --- a whole file: three chunks of two messages each on two channels, everything that may be there
 * ------------------------------- */

#define MCAP_T 1000000000000ull

struct mcap_lab {
    size_t chunk[3], attachment, metadata, summary, statistics, chunk_index, attachment_index, metadata_index;
};

static inline void mcap_lab_definitions(struct maker *m) {
    static const char *const first[] = {"callerid", "/talker", "x", "1", NULL};
    mcap_schema(m, 1, "std_msgs/String", "ros1msg", "string data\n");
    mcap_channel(m, 1, 1, "/a", "ros1", first);
    mcap_channel(m, 2, 0, "/b", "json", NULL);
}
static inline void mcap_lab_summary(struct maker *m, struct mcap_lab *lab) {
    static const char *const first[] = {"x", "1", "callerid", "/talker", NULL}; /* a copy of a map may be in another
                                                                                   order */
    lab->summary = m->size;
    mcap_schema(m, 1, "std_msgs/String", "ros1msg", "string data\n");
    mcap_channel(m, 1, 1, "/a", "ros1", first);
    mcap_channel(m, 2, 0, "/b", "json", NULL);
    size_t record = lab->statistics = mcap_begin(m, 0x0B);
    make_number(m, 6, 8);
    make_number(m, 1, 2);
    make_number(m, 2, 4);
    make_number(m, 1, 4);
    make_number(m, 1, 4);
    make_number(m, 3, 4);
    make_number(m, MCAP_T, 8);
    make_number(m, MCAP_T + 205, 8);
    make_number(m, 20, 4);
    for (unsigned id = 1; id <= 2; id++) {
        make_number(m, id, 2);
        make_number(m, 3, 8);
    }
    mcap_end(m, record);
}
static inline void mcap_lab_indexes(struct maker *m, struct mcap_lab *lab) {
    for (unsigned i = 0; i < 3; i++) {
        size_t at = lab->chunk[i], length = 9 + (size_t)m->data[at + 1] + ((size_t)m->data[at + 2] << 8),
               record = mcap_begin(m, 8);
        lab->chunk_index = i == 0 ? record : lab->chunk_index;
        size_t name = m->data[at + 37];
        make_number(m, MCAP_T + 100 * i, 8);
        make_number(m, MCAP_T + 100 * i + 5, 8);
        make_number(m, at, 8);
        make_number(m, length, 8);
        make_number(m, 20, 4);
        for (unsigned id = 1; id <= 2; id++) {
            make_number(m, id, 2);
            make_number(m, at + length + (id - 1) * 31, 8);
        }
        make_number(m, 62, 8);
        make_number(m, name, 4);
        make_bytes(m, m->data + at + 41, name);
        make_bytes(m, m->data + at + 41 + name, 8);
        make_bytes(m, m->data + at + 25, 8);
        mcap_end(m, record);
    }
    size_t record = lab->attachment_index = mcap_begin(m, 0x0A);
    make_number(m, lab->attachment, 8);
    make_number(m, lab->metadata - lab->attachment, 8);
    make_number(m, MCAP_T + 7, 8);
    make_number(m, MCAP_T + 7 - 1000, 8);
    make_number(m, 9, 8);
    mcap_text(m, "calib.txt");
    mcap_text(m, "text/plain");
    mcap_end(m, record);
    record = lab->metadata_index = mcap_begin(m, 0x0D);
    make_number(m, lab->metadata, 8);
    make_number(m, 9 + 4 + 5 + 4 + 4 + 4 + 4 + 5 + 4 + 4 + 4 + 3, 8);
    mcap_text(m, "robot");
    mcap_end(m, record);
}
static inline void mcap_lab_chunk(struct maker *m, struct mcap_lab *lab, unsigned i, const char *compression) {
    static const char *const payloads[] = {"one", "{\"n\":1}", "two", "{\"n\":2}", "three", "{\"n\":3}"};
    struct maker records = {0};
    mcap_message(&records, 1, MCAP_T + 100 * i, 2 * i, payloads[2 * i]);
    size_t second = mcap_message(&records, 2, MCAP_T + 100 * i + 5, 2 * i + 1, payloads[2 * i + 1]);
    lab->chunk[i] = mcap_chunk(m, &records, MCAP_T + 100 * i, MCAP_T + 100 * i + 5, compression);
    mcap_index(m, 1, MCAP_T + 100 * i, 0);
    mcap_index(m, 2, MCAP_T + 100 * i + 5, second);
    free(records.data);
}
static inline struct mcap_lab mcap_make_lab(struct maker *m, const char *compression) {
    static const char *const robot[] = {"name", "curie", "room", "b12", NULL};
    struct mcap_lab lab = {0};
    mcap_header(m, "x-lab", "maker 1");
    mcap_lab_definitions(m);
    for (unsigned i = 0; i < 3; i++) {
        mcap_lab_chunk(m, &lab, i, compression);
    }
    lab.attachment = mcap_attachment(m, "calib.txt", "text/plain", MCAP_T + 7, "fx=1 fy=2");
    lab.metadata = mcap_metadata(m, "robot", robot);
    mcap_data_end(m);
    mcap_lab_summary(m, &lab);
    mcap_lab_indexes(m, &lab);
    mcap_footer(m, lab.summary);
    return lab;
}

#endif
