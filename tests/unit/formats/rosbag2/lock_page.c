/* formats/rosbag2/write_db3.c: SQLite never uses the page that holds its lock byte, which is byte 2^30. Here the byte
 * is lower, for SQLite and for the writer (DB3_LOCK_BYTE, tests/CMakeLists.txt), so that every kind of page can lie
 * there in a small database. */
#include "makers/db3_scan.h"

#include "convert/writer.h"
#include "formats/rosbag2/db3_pages.h"
#include "formats/rosbag2/layout.h"

enum { LEAF = 3000, SPILLED = 5000, LARGE = 100000, LARGEST = LARGE };
#define T0 INT64_C(1700000000000000000)

extern const struct reel_writer reel_writer_rosbag2_sqlite3;

struct shape {
    unsigned messages, size; /* each; then one of */
    unsigned last;           /* bytes; 0: none */
};

static struct reel_bytes make(struct db3 *m, const struct shape *shape) {
    static uint8_t buffer[LARGEST];
    db3_begin(m, 4, 4096);
    db3_topic(m, 1, "/odom", "nav_msgs/msg/Odometry", "", "");
    for (unsigned i = 1; i <= shape->messages; i++) {
        db3_message(m, i, 1, T0 + i, db3_payload(buffer, i, shape->size));
    }
    if (shape->last > 0) {
        db3_message(m, shape->messages + 1, 1, T0 + shape->messages + 1,
                    db3_payload(buffer, shape->messages + 1, shape->last));
    }
    return db3_end(m);
}

struct output {
    struct reel_plan *plan;
    struct reel_planned_output *rendered;
    uint8_t *all;
    uint64_t size;
};

static struct output convert(struct reel_recording *r) {
    struct reel_error err = {0};
    static const struct reel_write_options options = {.name = "x"};
    struct output o = {0};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    o.plan = s ? reel_plan_new(&reel_writer_rosbag2_sqlite3, &options, s, NULL, &err) : NULL;
    if (!o.plan) {
        fail_msg("%s", err.text);
    }
    o.size = reel_plan_length(o.plan);
    o.all = malloc(o.size);
    struct reel_selection q = selection_all;
    q.initial = reel_plan_initial_state(o.plan);
    o.rendered = reel_planned_output_new(o.plan, reel_stream_open(&r, 1, &q, &err), &err);
    assert_non_null(o.rendered);
    assert_true(reel_planned_output_read(o.rendered, 0, o.all, (size_t)o.size, &err));
    return o;
}

static void output_done(struct output *o) {
    reel_planned_output_free(o->rendered);
    reel_plan_free(o->plan);
    free(o->all);
}

/* The bytes around the page, rendered by themselves. */
static void check_ranges(const struct output *o, uint64_t base) {
    uint8_t piece[2 * DB3_PAGE + 10];
    struct reel_error err = {0};
    for (uint64_t at = base + DB3_LOCK_BYTE - DB3_PAGE - 3; at < base + DB3_LOCK_BYTE + 2 * DB3_PAGE; at += 1021) {
        size_t size = at + sizeof piece < o->size ? sizeof piece : (size_t)(o->size - at);
        assert_true(at < o->size);
        assert_true(reel_planned_output_read(o->rendered, at, piece, size, &err));
        assert_memory_equal(piece, o->all + at, size);
    }
}

static int64_t one_number(sqlite3 *db, const char *sql) {
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return value;
}

static void check_text(sqlite3 *db, const char *sql, const char *expected) {
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(s, 0), expected);
    sqlite3_finalize(s);
}

static void check_payloads(sqlite3 *db) {
    static uint8_t expected[LARGEST];
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT timestamp,data FROM messages ORDER BY timestamp", -1, &s, NULL),
                     SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        size_t size = (size_t)sqlite3_column_bytes(s, 1);
        db3_payload(expected, sqlite3_column_int64(s, 0) - T0, size);
        assert_memory_equal(sqlite3_column_blob(s, 1), expected, size);
    }
    sqlite3_finalize(s);
}

/* Whether the database reaches the page; it is checked by SQLite. */
static bool check(const struct shape *shape) {
    struct db3 m;
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(make(&m, shape));
    struct output o = convert(r);
    uint8_t *data = memmem(o.all, (size_t)o.size, SQLITE_MAGIC, SQLITE_MAGIC_SIZE);
    assert_non_null(data);
    uint64_t pages = (uint64_t)data[28] << 24 | (uint64_t)data[29] << 16 | (uint64_t)data[30] << 8 | data[31];
    assert_true(pages * DB3_PAGE < o.size);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_deserialize(db, "main", data, (sqlite3_int64)(pages * DB3_PAGE),
                                         (sqlite3_int64)(pages * DB3_PAGE), SQLITE_DESERIALIZE_READONLY),
                     SQLITE_OK);
    check_text(db, "PRAGMA integrity_check", "ok");
    assert_int_equal(one_number(db, "SELECT count(*) FROM messages"), shape->messages + (shape->last > 0));
    assert_int_equal(one_number(db, "SELECT count(*) FROM messages INDEXED BY timestamp_idx WHERE timestamp > 0"),
                     shape->messages + (shape->last > 0));
    assert_int_equal(one_number(db, "SELECT count(*) FROM topics"), 1);
    check_payloads(db);
    bool reaches = pages > DB3_LOCK_PAGE;
    if (reaches) {
        check_ranges(&o, (uint64_t)(data - o.all));
    }
    sqlite3_close(db);
    output_done(&o);
    reel_recording_free(TAKE(r));
    db3_free(&m);
    return reaches;
}

static unsigned check_all(unsigned from, unsigned to, unsigned size, unsigned last) {
    unsigned reached = 0;
    for (unsigned n = from; n <= to; n++) {
        reached += check(&(struct shape){.messages = n, .size = size, .last = last});
    }
    return reached;
}

/* From the last leaf of the messages over the pages above them, the index and the small tables. */
static void every_kind_of_page_leaves_it_out(void **state) {
    (void)state;
    assert_int_equal(check_all(240, 260, LEAF, 0), 12);
}

/* With the first message of a group, and beyond. */
static void a_group_of_messages_begins_there(void **state) {
    (void)state;
    assert_true(check(&(struct shape){.messages = 600, .size = LEAF}));
}

static void values_overflow_there(void **state) {
    (void)state;
    assert_int_equal(check_all(232, 258, LEAF, LARGE), 27);
    assert_true(check(&(struct shape){.messages = 300, .size = SPILLED}));
    assert_true(check(&(struct shape){.messages = 300, .size = SPILLED + 4096}));
}

int main(void) {
    sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, (unsigned)DB3_LOCK_BYTE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_page_leaves_it_out),
        cmocka_unit_test(a_group_of_messages_begins_there),
        cmocka_unit_test(values_overflow_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
