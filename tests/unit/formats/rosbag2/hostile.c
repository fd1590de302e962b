/* formats/rosbag2_open.c, rosbag2_vfs.c, rosbag2_walk.c on databases that are cut, damaged, or made to do harm. */
#include <time.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/db3_scan.h"

#define T0 INT64_C(1700000000000000000)
enum { PAGE = 512, MESSAGES = 300 };

static int64_t id_of(int64_t time_ns) {
    return time_ns - T0;
}

static struct reel_bytes make(struct db3 *m) {
    static uint8_t buffer[4000];
    db3_begin(m, 4, PAGE);
    db3_topic(m, 1, "/odom", "nav_msgs/msg/Odometry", DB3_QOS("2"), "");
    db3_definition(m, "nav_msgs/msg/Odometry", "ros2msg", "float64 x\n");
    for (int id = 1; id <= MESSAGES; id++) {
        db3_message(m, id, 1, T0 + id, db3_payload(buffer, id, id % 10 == 0 ? sizeof buffer : 30 + (size_t)id % 90));
    }
    return db3_end(m);
}

/* A database of version 2 in which something else stands for a table. */
static void refused_with(const char *drop, const char *sql, enum reel_code code, const char *text) {
    struct db3 m;
    db3_begin(&m, 2, 4096);
    db3_topic(&m, 1, "/a", "t", "", "");
    db3_message(&m, 1, 1, 5, bytes_of("\0\1\0\0", 4));
    char both[600];
    snprintf(both, sizeof both, "ALTER TABLE %s RENAME TO kept; %s", drop, sql);
    db3_sql(&m, both);
    db3_refused(db3_end(&m), code, text);
    db3_free(&m);
}

/* An added view is ignored, whatever its SELECT. */
static void views_are_left_alone(void **state) {
    (void)state;
    static const char *const views[] = {
        "CREATE VIEW v AS SELECT 1 UNION SELECT 2",
        "CREATE VIEW v AS SELECT id FROM messages UNION ALL SELECT id FROM topics UNION ALL SELECT 3",
        "CREATE VIEW v AS WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n",
        "CREATE VIEW v AS SELECT 1 INTERSECT SELECT 2 EXCEPT SELECT 3 ORDER BY 1",
        "CREATE VIEW v AS SELECT count(*) OVER (PARTITION BY topic_id ORDER BY timestamp) FROM messages WHERE data "
        "LIKE '%abcdef%'",
        "CREATE VIEW v AS SELECT printf('%d%d%d%d%d', 1, 2, 3, 4, 5) AS five, max(1, 2, 3, 4, 5, 6, 7) AS seven",
        "CREATE VIEW v AS SELECT "
        "((((((((((((((((((((((1+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)",
        "CREATE TRIGGER v AFTER INSERT ON messages BEGIN INSERT INTO topics SELECT 1,2,3,4,5 UNION SELECT 2,3,4,5,6; "
        "END",
        "CREATE TABLE v(a, b DEFAULT (max(1,2,3,4,5,6)), CHECK (a IN (1,2,3) OR "
        "((((((((((((((((((a+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1) > 1))",
        "CREATE INDEX v ON messages(topic_id, length(data)) WHERE topic_id > 3",
    };
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        struct db3 m;
        db3_begin(&m, 2, 4096);
        db3_topic(&m, 1, "/a", "t", "", "");
        db3_message(&m, 1, 1, 5, bytes_of("\0\1\0\0", 4));
        db3_sql(&m, views[i]);
        AUTO(reel_recording_free) struct reel_recording *r = db3_scan(db3_end(&m));
        db3_assert_clean(r);
        assert_int_equal(db3_read_all(r, NULL), 1);
        reel_recording_free(TAKE(r));
        db3_free(&m);
    }
}

static void other_things_in_place_of_tables(void **state) {
    (void)state;
    refused_with("messages", "CREATE VIEW messages AS SELECT id, topic_id, timestamp, data FROM kept", REEL_NOT_MINE,
                 "without the tables");
    refused_with("topics", "CREATE VIEW topics AS SELECT * FROM kept", REEL_NOT_MINE, "without the tables");
    refused_with("messages", "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, data) WITHOUT ROWID",
                 REEL_DAMAGED, "rowid");
    refused_with("messages", "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, data, RowId)",
                 REEL_UNSUPPORTED, "rowid");
    refused_with("messages", "CREATE VIRTUAL TABLE messages USING fts5(id, topic_id, timestamp, data)", REEL_DAMAGED,
                 "no such module");
    refused_with("messages", "CREATE VIRTUAL TABLE messages USING rtree(id, topic_id, timestamp)", REEL_DAMAGED,
                 "no such module");
    refused_with("messages",
                 "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, data AS (zeroblob(1000000000)));"
                 "INSERT INTO messages VALUES(1,1,5)",
                 REEL_UNSUPPORTED, "computed columns");
    refused_with("topics",
                 "CREATE TABLE topics(id INTEGER PRIMARY KEY, name, type, serialization_format, offered_qos_profiles "
                 "AS (hex(name)))",
                 REEL_UNSUPPORTED, "computed columns");
}

static void schemas_that_lie(void **state) {
    (void)state;
    static const char *const lies[] = {
        "UPDATE sqlite_schema SET rootpage=(SELECT rootpage FROM sqlite_schema WHERE name='topics') WHERE "
        "name='messages'",
        "UPDATE sqlite_schema SET rootpage=(SELECT rootpage FROM sqlite_schema WHERE name='timestamp_idx') WHERE "
        "name='messages'",
        "UPDATE sqlite_schema SET rootpage=1 WHERE name='messages'",
        "UPDATE sqlite_schema SET rootpage=100000 WHERE name='messages'",
        "UPDATE sqlite_schema SET sql='CREATE VIEW messages AS SELECT 1 AS topic_id' WHERE name='messages'",
        "UPDATE sqlite_schema SET sql='CREATE TABLE messages(a,b,c,d,e,f,topic_id)' WHERE name='messages'",
        "UPDATE sqlite_schema SET sql='CREATE TABLE messages(' WHERE name='messages'",
        "UPDATE sqlite_schema SET type='view' WHERE name='messages'",
        "UPDATE sqlite_schema SET name=x'00ff', tbl_name=NULL WHERE name='messages'",
        "DELETE FROM sqlite_schema WHERE name='messages'",
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct db3 m;
        struct reel_error err;
        db3_begin(&m, 2, 4096);
        db3_topic(&m, 1, "/a", "t", "", "");
        db3_message(&m, 1, 1, 5, bytes_of("\0\1\0\0", 4));
        db3_sql(&m, "PRAGMA writable_schema=1");
        db3_sql(&m, lies[i]);
        const struct db3_part part = {.name = "lie.db3", .data = db3_end(&m)};
        AUTO(reel_recording_free) struct reel_recording *r = db3_try(&part, 1, &err);
        if (r) {
            db3_read_all(r, NULL);
        }
        reel_recording_free(TAKE(r));
        db3_free(&m);
    }
}

static void a_huge_schema_is_not_read(void **state) {
    (void)state;
    struct db3 m;
    db3_begin(&m, 2, 4096);
    db3_sql(&m, "PRAGMA writable_schema=1; BEGIN;"
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<200000)"
                "INSERT INTO sqlite_schema SELECT 'table','t'||i,'t'||i,2,'CREATE TABLE t'||i||'(x)' FROM n; COMMIT");
    clock_t begin = clock();
    db3_refused(db3_end(&m), REEL_LIMIT, "more work than a database of this size is worth");
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 5);
    db3_free(&m);
}

/* The payload size and the id of a leaf's only cell; false when it has another number of them. */
static bool lone_cell(const uint8_t *page, size_t *at, uint64_t *size, uint8_t *id) {
    if (page[0] != 0x0d || page[3] != 0 || page[4] != 1) {
        return false;
    }
    size_t p = *at = (size_t)page[8] << 8 | page[9];
    for (*size = 0; page[p] >= 0x80; p++) {
        *size = *size << 7 | (page[p] & 0x7f);
    }
    *size = *size << 7 | page[p++];
    *id = (uint8_t)(p - *at);
    *at = p;
    return true;
}

/* Rows that share the pages of one long blob: what they claim is more than the file. Each row lies alone on its leaf;
 * those of the short ones get the long one's cell, with their own id. */
static void blobs_that_share_pages(void **state) {
    (void)state;
    enum { ROWS = 60, SIZE = 200000, WIDE = 4096 };
    static uint8_t big[SIZE];
    struct db3 m;
    db3_begin(&m, 2, WIDE);
    db3_topic(&m, 1, "/a", "t", "", "");
    for (int id = 1; id <= ROWS; id++) {
        db3_message(&m, id, 1, T0 + id, db3_payload(big, id, id == 1 ? SIZE : WIDE - 200));
    }
    struct reel_bytes data = db3_end(&m);
    uint8_t *long_leaf = NULL, skip;
    size_t at, long_at = 0;
    uint64_t size;
    unsigned changed = 0;
    for (size_t page = WIDE; page < data.size && !long_leaf; page += WIDE) {
        long_leaf = lone_cell(m.data + page, &long_at, &size, &skip) && size > SIZE ? m.data + page : NULL;
    }
    assert_non_null(long_leaf);
    for (size_t page = WIDE; page < data.size; page += WIDE) {
        uint8_t *leaf = m.data + page;
        if (leaf != long_leaf && lone_cell(leaf, &at, &size, &skip) && size > WIDE / 2 && size < WIDE) {
            uint8_t id = leaf[at];
            memcpy(leaf, long_leaf, WIDE);
            leaf[long_at] = id;
            changed++;
        }
    }
    assert_true(changed > ROWS / 2);
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(bytes_of(m.data, m.size));
    assert_true(db3_info(r)->payload_bytes <= m.size + (1 << 20));
    db3_assert_finding(r, 1, REEL_LOSS, "larger than the file has room for");
    reel_recording_free(TAKE(r));
    db3_free(&m);
}

/* Cut anywhere: every message that is listed can be read and is right; more of the file never gives fewer of them. */
static void cut(void **state) {
    (void)state;
    struct db3 m;
    struct reel_bytes data = make(&m);
    uint64_t last = 0, most = 0;
    unsigned scans = 0;
    for (size_t size = 100; size <= data.size; size += size % PAGE == 0 ? 211 : PAGE - size % PAGE) {
        struct reel_error err;
        AUTO(reel_recording_free)
        struct reel_recording *r =
            db3_try(&(struct db3_part){.name = "cut.db3", .data = bytes_of(data.data, size)}, 1, &err);
        uint64_t n = r ? db3_read_all(r, id_of) : 0;
        assert_true(n >= last);
        assert_true(!r || size == data.size || db3_info(r)->damaged);
        last = n;
        most += n;
        scans++;
        reel_recording_free(TAKE(r));
    }
    assert_int_equal(last, MESSAGES);
    assert_true(most / scans > MESSAGES / 4); /* what is there is found, not only when all is */
    db3_free(&m);
}

/* A page of rubble in the middle costs its own messages, no others. */
static void one_page_of_rubble(void **state) {
    (void)state;
    struct db3 m;
    struct reel_bytes data = make(&m);
    unsigned leaves = 0;
    for (size_t at = PAGE; at < data.size; at += PAGE) {
        if (data.data[at] != 0x0d) {
            continue;
        }
        unsigned cells = (unsigned)data.data[at + 3] << 8 | data.data[at + 4];
        uint8_t was[PAGE];
        memcpy(was, m.data + at, PAGE);
        memset(m.data + at, 0xee, PAGE);
        struct reel_error err;
        AUTO(reel_recording_free)
        struct reel_recording *r = db3_try(&(struct db3_part){.name = "rubble.db3", .data = data}, 1, &err);
        if (r && cells > 1) { /* else it may be the leaf of a small table */
            uint64_t n = db3_read_all(r, NULL);
            leaves += n < MESSAGES;
            assert_true(n == MESSAGES || n == MESSAGES - cells);
        }
        reel_recording_free(TAKE(r));
        memcpy(m.data + at, was, PAGE);
    }
    assert_true(leaves > 10);
    db3_free(&m);
}

static uint64_t seed = 88172645463325252u;
static uint64_t random_u64(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* Bytes flipped, pages put in place of others (so that trees lead in circles): always an answer, never more than the
 * file holds. */
static void scrambled(void **state) {
    (void)state;
    struct db3 m;
    struct reel_bytes data = make(&m);
    uint8_t *copy = malloc(data.size);
    assert_non_null(copy);
    size_t pages = data.size / PAGE;
    unsigned kept = 0;
    for (unsigned i = 0; i < 400; i++) {
        memcpy(copy, data.data, data.size);
        for (unsigned k = 0; k <= i % 4; k++) {
            uint64_t x = random_u64();
            if (i % 2) {
                memcpy(copy + (1 + x % (pages - 1)) * PAGE, data.data + (x >> 20) % pages * PAGE, PAGE);
            } else {
                copy[(x >> 8) % (i % 8 ? data.size : 4 * PAGE)] ^= (uint8_t)(x | 1);
            }
        }
        struct reel_error err;
        AUTO(reel_recording_free)
        struct reel_recording *r =
            db3_try(&(struct db3_part){.name = "wild.db3", .data = bytes_of(copy, data.size)}, 1, &err);
        if (r) {
            kept += db3_read_all(r, NULL) > 0;
            assert_true(db3_info(r)->payload_bytes <= data.size + (1 << 20));
        }
        reel_recording_free(TAKE(r));
    }
    assert_true(kept > 100);
    free(copy);
    db3_free(&m);
}

static bool stop(void *context, uint64_t done, uint64_t total) {
    (void)context;
    assert_true(done <= total);
    return done < total / 2;
}

static void a_scan_can_be_cancelled(void **state) {
    (void)state;
    uint8_t buffer[100];
    struct db3 m;
    db3_begin(&m, 2, 4096);
    db3_topic(&m, 1, "/a", "t", "", "");
    db3_sql(&m, "BEGIN");
    for (int64_t id = 1; id <= 20000; id++) {
        db3_message(&m, id, 1, T0 + id, db3_payload(buffer, id, sizeof buffer));
    }
    db3_sql(&m, "COMMIT");
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(db3_end(&m), "x.db3", &err);
    const struct reel_progress progress = {.report = stop};
    assert_false(reel_scan_run(&source, 1, NULL, DB3_PACK ".cancelled", &progress, &err));
    assert_int_equal(err.code, REEL_CANCELLED);
    db3_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_are_left_alone),    cmocka_unit_test(other_things_in_place_of_tables),
        cmocka_unit_test(schemas_that_lie),        cmocka_unit_test(a_huge_schema_is_not_read),
        cmocka_unit_test(blobs_that_share_pages),  cmocka_unit_test(cut),
        cmocka_unit_test(one_page_of_rubble),      cmocka_unit_test(scrambled),
        cmocka_unit_test(a_scan_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
