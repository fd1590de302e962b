/* Makes rosbag2 databases in memory for tests, of every schema version, and mistakes in them by plain SQL. SQLite
 * itself writes them; its version, which it notes in the header, is set to one number, so that the bytes are the same
 * everywhere. */
#ifndef TESTS_DB3_MAKER_H
#define TESTS_DB3_MAKER_H

#undef NDEBUG
#include <assert.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "reel/bytes.h"

struct db3 {
    sqlite3 *db;
    int version;
    uint8_t *data;
    size_t size;
};

#define DB3_QOS(durability)                                                                                            \
    "- history: 3\n  depth: 0\n  reliability: 1\n  durability: " durability                                            \
    "\n  deadline:\n    sec: 9223372036\n    nsec: 854775807\n"

static inline void db3_sql(struct db3 *m, const char *sql) {
    char *why = NULL;
    if (sqlite3_exec(m->db, sql, NULL, NULL, &why) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, why);
        abort();
    }
}

static inline void db3_begin(struct db3 *m, int version, unsigned page_size) {
    static const char *const topics[] = {NULL,
                                         "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT "
                                         "NULL,serialization_format TEXT NOT NULL)",
                                         "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT "
                                         "NULL,serialization_format TEXT NOT NULL,"
                                         "offered_qos_profiles TEXT NOT NULL)",
                                         NULL,
                                         "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT "
                                         "NULL,serialization_format TEXT NOT NULL,"
                                         "offered_qos_profiles TEXT NOT NULL,type_description_hash TEXT NOT NULL)"};
    char sql[64];
    *m = (struct db3){.version = version};
    assert(sqlite3_open(":memory:", &m->db) == SQLITE_OK);
    snprintf(sql, sizeof sql, "PRAGMA page_size=%u", page_size);
    db3_sql(m, sql);
    if (version >= 3) {
        snprintf(sql, sizeof sql, "INSERT INTO schema VALUES(%d,'%s')", version, version == 3 ? "humble" : "iron");
        db3_sql(m, "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY,ros_distro TEXT NOT NULL)");
        db3_sql(m, sql);
        db3_sql(
            m,
            "CREATE TABLE metadata(id INTEGER PRIMARY KEY,metadata_version INTEGER NOT NULL,metadata TEXT NOT NULL)");
    }
    db3_sql(m, topics[version == 3 ? 2 : version]);
    if (version >= 4) {
        db3_sql(
            m,
            "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY,topic_type TEXT NOT NULL,encoding TEXT NOT NULL,"
            "encoded_message_definition TEXT NOT NULL,type_description_hash TEXT NOT NULL)");
    }
    db3_sql(m, "CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT NULL, "
               "data BLOB NOT NULL)");
    if (version >= 2) {
        db3_sql(m, "CREATE INDEX timestamp_idx ON messages (timestamp ASC)");
    }
}

/* Runs one statement with texts bound to it; NULL ends them. */
static inline void db3_texts(struct db3 *m, const char *sql, const char *const *texts) {
    sqlite3_stmt *s;
    assert(sqlite3_prepare_v2(m->db, sql, -1, &s, NULL) == SQLITE_OK);
    for (int i = 0; texts[i]; i++) {
        sqlite3_bind_text(s, i + 1, texts[i], -1, SQLITE_STATIC);
    }
    assert(sqlite3_step(s) == SQLITE_DONE);
    sqlite3_finalize(s);
}

/* `qos` counts from version 2 on, `hash` from 4 on. */
static inline void db3_topic(struct db3 *m, int id, const char *name, const char *type, const char *qos,
                             const char *hash) {
    static const char *const columns[] = {NULL, "", ",?4", ",?4", ",?4,?5"};
    char sql[96];
    snprintf(sql, sizeof sql, "INSERT INTO topics VALUES(%d,?1,?2,?3%s)", id, columns[m->version]);
    const char *const texts[] = {name, type, "cdr", m->version >= 2 ? qos : NULL, m->version >= 4 ? hash : NULL, NULL};
    db3_texts(m, sql, texts);
}

static inline void db3_definition(struct db3 *m, const char *type, const char *encoding, const char *text) {
    const char *const texts[] = {type, encoding, text, NULL};
    db3_texts(m,
              "INSERT INTO message_definitions(topic_type,encoding,encoded_message_definition,type_description_hash) "
              "VALUES(?1,?2,?3,'')",
              texts);
}

static inline void db3_metadata(struct db3 *m, const char *yaml) {
    const char *const texts[] = {yaml, NULL};
    db3_texts(m, "INSERT INTO metadata(metadata_version,metadata) VALUES(9,?1)", texts);
}

static inline void db3_message(struct db3 *m, int64_t id, int topic, int64_t time_ns, struct reel_bytes data) {
    sqlite3_stmt *s;
    assert(sqlite3_prepare_v2(m->db, "INSERT INTO messages VALUES(?1,?2,?3,?4)", -1, &s, NULL) == SQLITE_OK);
    sqlite3_bind_int64(s, 1, id);
    sqlite3_bind_int(s, 2, topic);
    sqlite3_bind_int64(s, 3, time_ns);
    sqlite3_bind_blob64(s, 4, data.size ? (const void *)data.data : "", data.size, SQLITE_STATIC);
    assert(sqlite3_step(s) == SQLITE_DONE);
    sqlite3_finalize(s);
}

enum { DB3_CDR_HEADER = 4 };
/* `size` bytes of CDR: its header, then bytes that follow from the id. */
static inline struct reel_bytes db3_payload(uint8_t *buffer, int64_t id, size_t size) {
    memset(buffer, 0, size);
    if (size >= DB3_CDR_HEADER) {
        buffer[1] = 1;
        for (size_t i = DB3_CDR_HEADER; i < size; i++) {
            buffer[i] = (uint8_t)((uint64_t)id * 31 + i * 7 + i / 251);
        }
    }
    return bytes_of(buffer, size);
}

/* The file's bytes; they live until db3_free(). */
static inline struct reel_bytes db3_end(struct db3 *m) {
    sqlite3_int64 size;
    uint8_t *data = sqlite3_serialize(m->db, "main", &size, 0);
    assert(data && size >= 512);
    m->size = (size_t)size;
    m->data = malloc(m->size);
    assert(m->data);
    memcpy(m->data, data, m->size);
    sqlite3_free(data);
    sqlite3_close(m->db);
    m->db = NULL;
    memcpy(m->data + 96, "\x00\x2e\x63\x01", 4); /* 3.40.1 */
    memcpy(m->data + 92, m->data + 24, 4);       /* the header's count of pages is good */
    uint32_t page = (uint32_t)m->data[16] << 8 | m->data[17];
    uint32_t pages = (uint32_t)(m->size / (page == 1 ? 65536 : page));
    for (int i = 0; i < 4; i++) {
        m->data[28 + i] = (uint8_t)(pages >> (24 - 8 * i));
    }
    return bytes_of(m->data, m->size);
}
static inline void db3_free(struct db3 *m) {
    sqlite3_close(m->db);
    free(m->data);
    *m = (struct db3){0};
}

#endif
