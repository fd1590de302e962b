/* Makes ROS bags of the old generations in memory, byte by byte and with every defect wanted, and scans them. For tests
 * and the fuzz corpus; shares no line with the reader or the writer. */
#ifndef TESTS_BAG_MAKER_H
#define TESTS_BAG_MAKER_H

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct maker {
    uint8_t *data;
    size_t size, room;
};

static inline void make_bytes(struct maker *m, const void *data, size_t size) {
    if (m->size + size > m->room) {
        m->room = (m->size + size) * 2;
        m->data = (uint8_t *)realloc(m->data, m->room);
        assert(m->data);
    }
    if (size > 0) {
        memcpy(m->data + m->size, data, size);
    }
    m->size += size;
}
static inline void make_text(struct maker *m, const char *text) {
    make_bytes(m, text, strlen(text));
}
static inline void make_number(struct maker *m, uint64_t v, unsigned bytes) {
    uint8_t b[8];
    for (unsigned i = 0; i < 8; i++) {
        b[i] = (uint8_t)(v >> 8 * i);
    }
    make_bytes(m, b, bytes);
}
static inline void make_patch(struct maker *m, size_t at, uint64_t v, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) {
        m->data[at + i] = (uint8_t)(v >> 8 * i);
    }
}

/* One record: make_record(), fields, make_data(). */
static inline size_t make_record(struct maker *m) {
    make_number(m, 0, 4);
    return m->size - 4;
}
static inline void make_field(struct maker *m, const char *name, const void *value, size_t size) {
    make_number(m, strlen(name) + 1 + size, 4);
    make_text(m, name);
    make_text(m, "=");
    make_bytes(m, value, size);
}
static inline void make_field_text(struct maker *m, const char *name, const char *value) {
    make_field(m, name, value, strlen(value));
}
static inline void make_field_number(struct maker *m, const char *name, uint64_t v, unsigned bytes) {
    struct maker value = {0};
    make_number(&value, v, bytes);
    make_field(m, name, value.data, value.size);
    free(value.data);
}
static inline void make_data(struct maker *m, size_t record, const void *data, size_t size) {
    make_patch(m, record, m->size - record - 4, 4);
    make_number(m, size, 4);
    make_bytes(m, data, size);
}

#define MAKE_LINE "#ROSRECORD V1.2\n"
#define MAKE_MD5 "992ce8a1687cec8c8bd883ec73ca41d1"
#define MAKE_TYPE "std_msgs/String"
#define MAKE_DEF "string data\n"

/* The file header; index_pos of the result stands at `record` + 18. */
static inline size_t make_file_header(struct maker *m, uint64_t index_pos, size_t padding) {
    size_t record = make_record(m);
    make_field_number(m, "index_pos", index_pos, 8);
    make_field_number(m, "op", 3, 1);
    char *spaces = (char *)malloc(padding + 1);
    assert(spaces);
    memset(spaces, ' ', padding);
    make_data(m, record, spaces, padding);
    free(spaces);
    return record + 18;
}
static inline size_t make_definition_of(struct maker *m, const char *topic, const char *md5, const char *type,
                                        const char *def) {
    size_t record = make_record(m);
    make_field_text(m, "def", def);
    make_field_text(m, "md5", md5);
    make_field_number(m, "op", 1, 1);
    make_field_text(m, "topic", topic);
    make_field_text(m, "type", type);
    make_data(m, record, "", 0);
    return record;
}
static inline size_t make_definition(struct maker *m, const char *topic) {
    return make_definition_of(m, topic, MAKE_MD5, MAKE_TYPE, MAKE_DEF);
}
static inline size_t make_message_of(struct maker *m, const char *topic, const char *md5, const char *type,
                                     const char *callerid, uint32_t sec, uint32_t nsec, const void *data, size_t size) {
    size_t record = make_record(m);
    if (callerid) {
        make_field_text(m, "callerid", callerid);
        make_field_text(m, "latching", "1");
    }
    make_field_text(m, "md5", md5);
    make_field_number(m, "nsec", nsec, 4);
    make_field_number(m, "op", 2, 1);
    make_field_number(m, "sec", sec, 4);
    make_field_text(m, "topic", topic);
    make_field_text(m, "type", type);
    make_data(m, record, data, size);
    return record;
}
static inline size_t make_message(struct maker *m, const char *topic, uint32_t sec, uint32_t nsec, const char *data) {
    return make_message_of(m, topic, MAKE_MD5, MAKE_TYPE, NULL, sec, nsec, data, strlen(data));
}

struct make_entry {
    uint32_t sec, nsec;
    uint64_t pos;
};
static inline size_t make_index(struct maker *m, const char *topic, uint32_t ver, const struct make_entry *entries,
                                uint32_t count) {
    struct maker data = {0};
    for (uint32_t i = 0; i < count; i++) {
        make_number(&data, entries[i].sec, 4);
        make_number(&data, entries[i].nsec, 4);
        make_number(&data, entries[i].pos, 8);
    }
    size_t record = make_record(m);
    make_field_number(m, "count", count, 4);
    make_field_number(m, "op", 4, 1);
    make_field_text(m, "topic", topic);
    make_field_text(m, "type", MAKE_TYPE);
    make_field_number(m, "ver", ver, 4);
    make_data(m, record, data.data, data.size);
    free(data.data);
    return record;
}

/* A record of a text-header log: `lines` with their newlines. */
static inline void make_log_record(struct maker *m, const char *lines, uint32_t sec, uint32_t nsec, const char *data) {
    make_text(m, lines);
    make_number(m, sec, 4);
    make_number(m, nsec, 4);
    make_number(m, strlen(data), 4);
    make_text(m, data);
}

/* Ten messages on two topics, indexed, as ROS' recorder left them. records[i]: where message i stands. */
static inline struct maker make_ten(size_t records[10]) {
    struct maker m = {0};
    struct make_entry a[5], b[5];
    make_text(&m, MAKE_LINE);
    size_t index_pos = make_file_header(&m, 0, 4066);
    for (uint32_t i = 0; i < 10; i++) {
        const char *topic = i % 2 ? "/b" : "/a", text[] = {'m', (char)('0' + i), 0};
        size_t at = i < 2 ? make_definition(&m, topic) : m.size;
        records[i] = make_message(&m, topic, 1000000000 + i, i, text);
        (i % 2 ? b : a)[i / 2] = (struct make_entry){1000000000 + i, i, at};
    }
    make_patch(&m, index_pos, m.size, 8);
    make_index(&m, "/a", 0, a, 5);
    make_index(&m, "/b", 0, b, 5);
    return m;
}

#endif
