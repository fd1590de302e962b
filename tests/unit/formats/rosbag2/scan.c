/* formats/rosbag2_*.c on one database: every schema version, channels, times, payloads of any size, rows that are not
 * as they should be, and what an MCAP file made of it says. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"
#include "makers/db3_scan.h"

#define T0 INT64_C(1700000000000000000)
static int64_t id_of(int64_t time_ns) {
    return time_ns - T0;
}

/* Two topics, messages of 4 bytes to 40 KB on both, their times against their ids. */
static struct reel_bytes make(struct db3 *m, int version, unsigned page_size) {
    static uint8_t buffer[40000];
    db3_begin(m, version, page_size);
    db3_topic(m, 1, "/odom", "nav_msgs/msg/Odometry", DB3_QOS("2"), "RIHS01_aa");
    db3_topic(m, 7, "/map", "nav_msgs/msg/OccupancyGrid", DB3_QOS("1"), "");
    if (version >= 4) {
        db3_definition(m, "nav_msgs/msg/Odometry", "ros2msg", "float64 x\n");
        db3_definition(m, "nav_msgs/msg/OccupancyGrid", "unknown", "");
    }
    for (int id = 1; id <= 40; id++) {
        size_t size = id % 4 == 0 ? sizeof buffer / (size_t)id : (size_t)(4 + id);
        db3_message(m, id, id % 3 ? 1 : 7, T0 + id, db3_payload(buffer, id, size));
    }
    return db3_end(m);
}

static void every_version(void **state) {
    (void)state;
    for (int version = 1; version <= 4; version++) {
        for (unsigned page = 512; page <= 65536; page *= 8) {
            struct db3 m;
            AUTO(reel_recording_free)
            struct reel_recording *r = db3_scan(make(&m, version, page > 4096 ? 65536 : page));
            db3_assert_clean(r);
            assert_int_equal(db3_info(r)->messages, 40);
            assert_int_equal(db3_info(r)->clock, REEL_CLOCK_WALL);
            assert_int_equal(db3_info(r)->start_ns, T0 + 1);
            assert_int_equal(db3_info(r)->end_ns, T0 + 40);
            assert_int_equal(db3_count(r, "/odom"), 27);
            assert_int_equal(db3_count(r, "/map"), 13);
            char container[64];
            snprintf(container, sizeof container, "SQLite, schema version %d", version);
            assert_string_equal(db3_info(r)->container, container);
            assert_int_equal(db3_read_all(r, id_of), 40);
            reel_recording_free(TAKE(r));
            db3_free(&m);
        }
    }
}

static void channels(void **state) {
    (void)state;
    struct db3 m;
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(make(&m, 4, 4096));
    const struct reel_channel *odom = db3_channel(r, "/odom"), *map = db3_channel(r, "/map");
    assert_string_equal(odom->type, "nav_msgs/msg/Odometry");
    assert_string_equal(odom->encoding, "cdr");
    assert_int_equal(odom->n_schemas, 1);
    assert_string_equal(odom->schemas[0].name, "nav_msgs/msg/Odometry");
    assert_string_equal(odom->schemas[0].encoding, "ros2msg");
    assert_true(bytes_is(odom->schemas[0].data, "float64 x\n"));
    assert_string_equal(map->schemas[0].name, "nav_msgs/msg/OccupancyGrid");
    assert_string_equal(map->schemas[0].encoding, "");
    assert_int_equal(map->schemas[0].data.size, 0);
    assert_string_equal(db3_pair(&odom->metadata, "offered_qos_profiles"), DB3_QOS("2"));
    assert_string_equal(db3_pair(&odom->metadata, "topic_type_hash"), "RIHS01_aa");
    assert_null(db3_pair(&map->metadata, "topic_type_hash"));
    assert_false(odom->latched);
    assert_true(map->latched);
    assert_string_equal(db3_metadata_of(r, "ros_distro"), "iron");
    reel_recording_free(TAKE(r));
    db3_free(&m);
    r = db3_scan(make(&m, 1, 4096));
    assert_null(db3_pair(&db3_channel(r, "/odom")->metadata, "offered_qos_profiles"));
    assert_string_equal(db3_channel(r, "/odom")->schemas[0].encoding, "");
    reel_recording_free(TAKE(r));
    db3_free(&m);
}

static void events_of_a_service_have_its_definition(void **state) {
    (void)state;
    struct db3 m;
    db3_begin(&m, 4, 512);
    db3_topic(&m, 1, "/add/_service_event", "pkg/srv/Add_Event", "", "");
    db3_definition(&m, "pkg/srv/Add", "ros2msg", "int64 a\n---\nint64 b\n");
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(db3_end(&m));
    assert_true(bytes_is(db3_channel(r, "/add/_service_event")->schemas[0].data, "int64 a\n---\nint64 b\n"));
    assert_string_equal(db3_channel(r, "/add/_service_event")->schemas[0].name, "pkg/srv/Add_Event");
    reel_recording_free(TAKE(r));
    db3_free(&m);
}

static void times_then_ids(void **state) {
    (void)state;
    static const struct { int64_t id, time; } rows[] = {{1, 30}, {2, 10}, {3, 20}, {4, 10}, {900, -5}, {901, 10}};
    static const uint8_t order[] = {132, 2, 4, 133, 3, 1}; /* low byte of the id: 900 is 132 */
    struct db3 m;
    db3_begin(&m, 2, 512);
    db3_topic(&m, 1, "/a", "t", "", "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t byte = (uint8_t)rows[i].id;
        db3_message(&m, rows[i].id, 1, rows[i].time, bytes_of(&byte, 1));
    }
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(db3_end(&m));
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    struct reel_message message;
    for (size_t i = 0; i < sizeof order; i++) {
        struct reel_bytes payload;
        assert_int_equal(stream_next(s, &message, &err), REEL_STEP_MESSAGE);
        assert_true(reel_stream_payload(s, &message, &payload, &err));
        assert_int_equal(payload.size, 1);
        assert_int_equal(payload.data[0], order[i]);
    }
    assert_int_equal(stream_next(s, &message, &err), REEL_STEP_END);
    reel_stream_free(TAKE(s));
    reel_recording_free(TAKE(r));
    db3_free(&m);
}

static void empty(void **state) {
    (void)state;
    struct db3 m;
    db3_begin(&m, 4, 512);
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(db3_end(&m));
    db3_assert_clean(r);
    assert_int_equal(db3_info(r)->messages, 0);
    reel_recording_free(TAKE(r));
    db3_free(&m);
    db3_begin(&m, 2, 512);
    db3_topic(&m, 1, "/a", "t", "", "");
    db3_message(&m, 1, 1, 5, bytes_of("", 0));
    r = db3_scan(db3_end(&m));
    db3_assert_clean(r);
    assert_int_equal(db3_read_all(r, NULL), 1);
    reel_recording_free(TAKE(r));
    db3_free(&m);
}

static void rows_that_are_no_messages(void **state) {
    (void)state;
    struct db3 m;
    db3_begin(&m, 2, 512);
    db3_topic(&m, 1, "/a", "t", "", "");
    db3_sql(&m, "INSERT INTO messages VALUES(1,1,10,x'00010000')");
    db3_sql(&m, "INSERT INTO messages VALUES(2,1,'soon',x'00')");
    db3_sql(&m, "INSERT INTO messages VALUES(3,'one',10,x'00')");
    db3_sql(&m, "INSERT INTO messages VALUES(4,1,10,'text')");
    db3_sql(&m, "INSERT INTO messages VALUES(5,1,1.5,x'00')");
    db3_sql(&m, "INSERT INTO messages VALUES(6,9,11,x'00010000')");
    db3_sql(&m, "INSERT INTO messages VALUES(8589934591,1,12,x'00010000')");
    db3_sql(&m, "INSERT INTO messages VALUES(8589934592,1,12,x'00010000')");
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(db3_end(&m));
    db3_assert_finding(r, 3, REEL_LOSS, "4 messages, the first with id 2, are not a topic, a time and a blob");
    db3_assert_finding(r, 3, REEL_LOSS, "topic id 9, which the table topics does not have: kept as topic_id_9");
    db3_assert_finding(r, 3, REEL_LOSS, "1 messages, the first with id 8589934592, have ids beyond 2^33");
    assert_int_equal(db3_count(r, "/a"), 2);
    assert_int_equal(db3_count(r, "topic_id_9"), 1);
    assert_int_equal(db3_read_all(r, NULL), 3);
    reel_recording_free(TAKE(r));
    db3_free(&m);
}

static void other_databases(void **state) {
    (void)state;
    struct db3 m = {0};
    assert_int_equal(sqlite3_open(":memory:", &m.db), SQLITE_OK);
    db3_sql(&m, "CREATE TABLE t(x)");
    db3_refused(db3_end(&m), REEL_NOT_MINE, "without the tables topics and messages");
    db3_free(&m);
    db3_refused(bytes_of("SQLite format 3", 16), REEL_NOT_MINE, "not a database");
    uint8_t zeros[512] = "SQLite format 3";
    db3_refused(bytes_of(zeros, sizeof zeros), REEL_DAMAGED, "cannot be opened");
}

static void wal_mode_is_reported(void **state) {
    (void)state;
    struct db3 m;
    make(&m, 4, 512);
    m.data[18] = m.data[19] = 2;
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(bytes_of(m.data, m.size));
    db3_assert_finding(r, 1, REEL_NOTE, "made_0.db3-wal");
    assert_int_equal(db3_read_all(r, id_of), 40);
    reel_recording_free(TAKE(r));
    db3_free(&m);
}

static void newer_schema(void **state) {
    (void)state;
    struct db3 m;
    db3_begin(&m, 4, 512);
    db3_sql(&m, "UPDATE schema SET schema_version=5");
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(db3_end(&m));
    db3_assert_finding(r, 1, REEL_NOTE, "schema version 5 is newer");
    reel_recording_free(TAKE(r));
    db3_free(&m);
}

static void metadata_of_the_database(void **state) {
    (void)state;
    struct db3 m;
    db3_begin(&m, 4, 512);
    db3_metadata(&m, "version: 7\nmessage_count: 0\nstorage_identifier: sqlite3\n");
    db3_metadata(
        &m,
        "version: 9\nmessage_count: 3\nstorage_identifier: sqlite3\ncustom_data:\n  robot: r2\nros_distro: jazzy\n");
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(db3_end(&m));
    db3_assert_clean(r);
    assert_string_equal(db3_metadata_of(r, "metadata_version"), "9");
    assert_string_equal(db3_metadata_of(r, "robot"), "r2");
    assert_string_equal(db3_metadata_of(r, "ros_distro"), "iron"); /* the table schema says so */
    reel_recording_free(TAKE(r));
    db3_free(&m);
}

/* The whole output of the MCAP writer. */
static struct reel_bytes to_mcap(struct reel_recording *r) {
    struct reel_error err = {0};
    const struct reel_writer *writer = reel_writer_named(".mcap", NULL, &err);
    struct reel_write_options options = {.compression = ""};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(writer, &options, s, NULL, &err);
    assert_non_null(plan);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *render =
        reel_planned_output_new(plan, reel_stream_open(&r, 1, &selection_all, &err), &err);
    size_t size = (size_t)reel_plan_length(plan);
    uint8_t *out = malloc(size);
    assert_true(render && out && reel_planned_output_read(render, 0, out, size, &err));
    return bytes_of(out, size);
}

static void to_mcap_and_back(void **state) {
    (void)state;
    struct db3 m;
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(make(&m, 4, 4096));
    struct reel_bytes mcap = to_mcap(r);
    assert_memory_equal(mcap.data + 8 + 1 + 8, "\x04\x00\x00\x00ros2", 8); /* magic, Header record, profile */
    struct reel_error err = {0};
    struct reel_source *source = reel_source_from_memory(mcap, "made.mcap", &err);
    assert_true(reel_scan_run(&source, 1, NULL, REEL_SCRATCH "/mcap.pack", NULL, &err));
    AUTO(reel_recording_free)
    struct reel_recording *back =
        reel_recording_from_index(reel_index_open(REEL_SCRATCH "/mcap.pack", &err), &source, 1, NULL, &err);
    assert_non_null(back);
    assert_string_equal(db3_info(back)->format->name, "mcap");
    db3_assert_clean(back);
    assert_int_equal(db3_read_all(back, id_of), 40);
    const struct reel_channel *odom = db3_channel(back, "/odom");
    assert_string_equal(odom->encoding, "cdr");
    assert_string_equal(odom->schemas[0].encoding, "ros2msg");
    assert_string_equal(db3_pair(&odom->metadata, "offered_qos_profiles"), DB3_QOS("2"));
    assert_string_equal(db3_pair(&odom->metadata, "topic_type_hash"), "RIHS01_aa");
    reel_recording_free(TAKE(back));
    reel_recording_free(TAKE(r));
    free((void *)(uintptr_t)mcap.data);
    db3_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version),
        cmocka_unit_test(channels),
        cmocka_unit_test(events_of_a_service_have_its_definition),
        cmocka_unit_test(times_then_ids),
        cmocka_unit_test(empty),
        cmocka_unit_test(rows_that_are_no_messages),
        cmocka_unit_test(other_databases),
        cmocka_unit_test(wal_mode_is_reported),
        cmocka_unit_test(newer_schema),
        cmocka_unit_test(metadata_of_the_database),
        cmocka_unit_test(to_mcap_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
