/* formats/rosbag2_files.c, rosbag2_scan.c and tar.c: bags of several files, in archives, packed whole or message by
 * message, of databases and of MCAP. */
#include <zstd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "chunks/codec.h"
#include "convert/writer.h"
#include "formats/mcap/message.h"
#include "makers/archive_maker.h"
#include "makers/db3_scan.h"

#define T0 INT64_C(1700000000000000000)
#define YAML(version, paths, count, more)                                                                              \
    "rosbag2_bagfile_information:\n  version: " version "\n  storage_identifier: sqlite3\n  message_count: " count     \
    "\n  relative_file_paths:\n" paths more

static int64_t id_of(int64_t time_ns) {
    return time_ns - T0;
}

static struct reel_bytes pack(struct reel_bytes raw, uint8_t **out) {
    size_t room = ZSTD_compressBound(raw.size);
    *out = malloc(room);
    assert_non_null(*out);
    size_t size = ZSTD_compress(*out, room, raw.data, raw.size, 3);
    assert_false(ZSTD_isError(size));
    return bytes_of(*out, size);
}

/* Messages first … first + n - 1 on /odom and /map; packed: each a zstd frame, but the one that `plain` names. */
static struct reel_bytes make(struct db3 *m, int version, int first, int n, bool packed, int plain) {
    static uint8_t buffer[20000];
    db3_begin(m, version, 1024);
    db3_topic(m, 1 + first, "/odom", "nav_msgs/msg/Odometry", DB3_QOS("2"), "");
    db3_topic(m, 2 + first, "/map", "nav_msgs/msg/OccupancyGrid", DB3_QOS("2"), "");
    for (int i = 0; i < n; i++) {
        int64_t id = first + i;
        struct reel_bytes raw = db3_payload(buffer, id, i % 5 == 2 ? sizeof buffer : 40 + (size_t)i);
        uint8_t *out = NULL;
        db3_message(m, id, first + 1 + i % 2, T0 + id, packed && i != plain ? pack(raw, &out) : raw);
        free(out);
    }
    return db3_end(m);
}

static void database_and_metadata(void **state) {
    (void)state;
    struct db3 m;
    const struct db3_part parts[] = {
        {"metadata.yaml", bytes_text(YAML("9", "    - bag/bag_0.db3\n", "20",
                                          "  custom_data:\n    site: hall 3\n  ros_distro: jazzy\n"))},
        {"bag_0.db3", make(&m, 2, 1, 20, false, 0)}};
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan_parts(parts, 2);
    db3_assert_clean(r);
    assert_int_equal(db3_read_all(r, id_of), 20);
    assert_string_equal(db3_metadata_of(r, "site"), "hall 3");
    assert_string_equal(db3_metadata_of(r, "ros_distro"), "jazzy");
    assert_string_equal(db3_metadata_of(r, "storage_identifier"), "sqlite3");
    reel_recording_free(TAKE(r));
    db3_free(&m);
}

static void metadata_that_disagrees(void **state) {
    (void)state;
    struct db3 m;
    const struct db3_part parts[] = {
        {"bag_0.db3", make(&m, 2, 1, 20, false, 0)},
        {"metadata.yaml", bytes_text(YAML("5", "    - bag_0.db3\n    - bag_1.db3\n", "30", ""))}};
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan_parts(parts, 2);
    db3_assert_finding(r, 2, REEL_WARNING, "metadata.yaml names bag_1.db3, which is not here");
    db3_assert_finding(r, 2, REEL_WARNING, "counts 30 messages, here are 20");
    assert_int_equal(db3_read_all(r, id_of), 20);
    reel_recording_free(TAKE(r));
    db3_free(&m);
}

/* Packs of bags that are stored as MCAP are made again when the MCAP scan changes. */
static void version_rises_with_that_of_mcap(void **state) {
    (void)state;
    assert_int_equal(reel_format_mcap.version, MCAP_SCAN_VERSION);
    assert_int_equal(reel_format_rosbag2.version - reel_format_mcap.version, 7);
}

static void metadata_alone(void **state) {
    (void)state;
    db3_refused(bytes_text(YAML("5", "    - bag_0.db3\n", "3", "")), REEL_DAMAGED, "metadata.yaml alone");
    db3_refused(bytes_text("rosbag2_bagfile_information: [\n"), REEL_NOT_MINE, "neither a database nor an MCAP file");
}

static enum reel_joins joins(const char *a_name, struct reel_bytes a, const char *b_name, struct reel_bytes b) {
    struct reel_error err;
    AUTO(reel_source_free)
    struct reel_source *x = reel_source_from_memory(a, a_name, &err), *y = reel_source_from_memory(b, b_name, &err);
    enum reel_joins joins = reel_format_rosbag2.joins(&x, 1, y);
    assert_int_equal(reel_format_rosbag2.joins(&y, 1, x), joins);
    return joins;
}

static void what_files_are_one_bag(void **state) {
    (void)state;
    struct db3 m;
    struct reel_bytes db = make(&m, 2, 1, 5, false, 0), mcap = bytes_text("\x89MCAP0\r\n"),
                      zstd = bytes_text("\x28\xb5\x2f\xfd more"),
                      yaml = bytes_text(YAML("5", "    - bag/odd name.db3\n    - run_1.db3.zstd\n", "9", ""));
    const struct {
        const char *a, *b;
        bool one;
    } splits[] = {
        {"run_0.db3", "run_1.db3", true},
        {"run_9.db3", "run_10.db3", true},
        {"a_b_0.db3", "a_b_1.db3", true},
        {"run_0.db3", "run_1.db3.zstd", true},
        {"run_0.db3", "run_0.db3", false},
        {"run_0.db3", "other_1.db3", false},
        {"run_0.db3", "run_1.mcap", false},
        {"run_0.db3", "run_01.db3", false},
        {"run_0000.db3", "run_0001.db3", true},
        {"run_1930.db3", "run_1945.db3", false},
        {"run_20240101.db3", "run_20240102.db3", false},
        {"run_0.db3", "run_.db3", false},
        {"run_0.db3", "run.db3", false},
        {"run_0.db3", "run_1.txt", false},
        {"run_0.db3", "run_1_old.db3", false},
        {"_0.db3", "_1.db3", true},
        {"0.db3", "1.db3", false},
    };
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        if (joins(splits[i].a, db, splits[i].b, db) != (splits[i].one ? REEL_JOINS : REEL_JOINS_NOT)) {
            fail_msg("%s and %s", splits[i].a, splits[i].b);
        }
    }
    assert_true(joins("run_0.mcap", mcap, "run_1.mcap", mcap));
    assert_true(joins("metadata.yaml", yaml, "odd name.db3", db));
    assert_true(joins("metadata.yaml", yaml, "odd name.db3-wal", bytes_text("damaged")));
    assert_true(joins("odd name.db3", db, "odd name.db3-wal", bytes_text("")));
    assert_true(joins("run_0.db3", db, "run_1.db3-wal", bytes_text("")));
    assert_true(joins("run_0.db3-wal", bytes_text(""), "run_1.db3-wal", bytes_text("")));
    assert_false(joins("odd name.db3", db, "odd.db3-wal", bytes_text("")));
    assert_false(joins("run.mcap", mcap, "run.db3-wal", bytes_text("")));
    assert_true(joins("metadata.yaml", yaml, "run_1.db3", db)); /* unpacked meanwhile */
    assert_true(joins("metadata.yaml", yaml, "run_1.db3.zstd", zstd));
    assert_int_equal(joins("metadata.yaml", yaml, "run_0.db3", db), REEL_JOINS); /* not named, but its next one is */
    assert_int_equal(joins("metadata.yaml", yaml, "new name.db3", db), REEL_MAY_JOIN);
    assert_false(joins("metadata.yaml", yaml, "run.mcap", mcap));
    assert_int_equal(joins("metadata.yaml", yaml, "odd name.db3", bytes_text("not a database")), REEL_JOINS);
    assert_false(joins("metadata.yaml", yaml, "other.db3", bytes_text("not a database")));
    assert_false(joins("metadata.yaml", yaml, "metadata.yaml", yaml));
    assert_false(joins("run_0.db3", db, "run_1.db3", bytes_text("")));
    assert_int_equal(joins("metadata.yaml", bytes_text("rosbag2_bagfile_information: [\n"), "run_0.db3", db),
                     REEL_MAY_JOIN);
    db3_free(&m);
}

/* Messages of one time stand in the order of their files: metadata.yaml's, else that of the numbers in their names. */
static void order_of_files(void **state) {
    (void)state;
    struct db3 m[3];
    struct db3_part parts[4] = {
        {"run_10.db3", bytes_text("")},
        {"run_2.db3", bytes_text("")},
        {"run_1.db3", bytes_text("")},
        {"metadata.yaml", bytes_text(YAML("5", "    - run_2.db3\n    - run_10.db3\n    - run_1.db3\n", "3", ""))}};
    for (int i = 0; i < 3; i++) {
        uint8_t payload[5] = {0, 1, 0, 0, (uint8_t)('a' + i)};
        db3_begin(&m[i], 2, 1024);
        db3_topic(&m[i], 1, "/t", "std_msgs/msg/Byte", "", "");
        db3_message(&m[i], 1, 1, T0, bytes_of(payload, sizeof payload));
        parts[i].data = db3_end(&m[i]);
    }
    const char *const wanted[] = {[3] = "cba", [4] = "bac"};
    for (uint32_t n = 3; n <= 4; n++) {
        char met[4] = {0};
        struct reel_error err = {0};
        struct reel_message message;
        struct reel_bytes payload;
        AUTO(reel_recording_free) struct reel_recording *r = db3_scan_parts(parts, n);
        AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(stream_next(s, &message, &err), REEL_STEP_MESSAGE);
            assert_true(reel_stream_payload(s, &message, &payload, &err));
            met[i] = (char)payload.data[4];
        }
        assert_string_equal(met, wanted[n]);
    }
    for (int i = 0; i < 3; i++) {
        db3_free(&m[i]);
    }
}

static void split_bag_is_one_recording(void **state) {
    (void)state;
    struct db3 a, b;
    struct reel_bytes first = make(&a, 4, 1, 30, false, 0), second = make(&b, 4, 100, 31, false, 0);
    const struct db3_part parts[] = {{"bag_1.db3", second}, {"bag_0.db3", first}};
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan_parts(parts, 2);
    db3_assert_clean(r);
    assert_int_equal(db3_info(r)->n_channels, 2);
    assert_int_equal(db3_count(r, "/odom"), 15 + 16);
    assert_int_equal(db3_read_all(r, id_of), 61);
    reel_recording_free(TAKE(r));
    b.data[0] ^= 1; /* one of them is none: the other is kept */
    r = db3_scan_parts(parts, 2);
    db3_assert_finding(r, 1, REEL_LOSS, "bag_1.db3 is neither a database nor an MCAP file: nothing of it is read");
    assert_int_equal(db3_read_all(r, id_of), 30);
    reel_recording_free(TAKE(r));
    db3_free(&a);
    db3_free(&b);
}

static void messages_packed_one_by_one(void **state) {
    (void)state;
    struct db3 m;
    static const char mode[] =
        YAML("5", "    - bag_0.db3\n", "25", "  compression_format: zstd\n  compression_mode: MESSAGE\n");
    for (int stated = 0; stated <= 1; stated++) {
        const struct db3_part parts[] = {{"bag_0.db3", make(&m, 2, 1, 25, true, stated ? 3 : -1)},
                                         {"metadata.yaml", bytes_text(mode)}};
        AUTO(reel_recording_free) struct reel_recording *r = db3_scan_parts(parts, stated ? 2 : 1);
        db3_assert_clean(r);
        assert_int_equal(db3_info(r)->n_chunks, (stated ? 2 : 1) + 1 + (stated ? 24 : 25));
        assert_int_equal(db3_read_all(r, id_of), 25);
        if (stated) {
            assert_string_equal(db3_metadata_of(r, "compression_mode"), "MESSAGE");
        }
        reel_recording_free(TAKE(r));
        db3_free(&m);
    }
}

/* More than the builder remembers of chunks: plain messages between them still find the rows. */
static void very_many_packed_messages(void **state) {
    (void)state;
    enum { N = 10000 };
    uint8_t buffer[40];
    struct db3 m;
    db3_begin(&m, 2, 4096);
    db3_topic(&m, 1, "/a", "t", "", "");
    db3_sql(&m, "BEGIN");
    for (int64_t id = 1; id <= N; id++) {
        uint8_t *out;
        struct reel_bytes raw = db3_payload(buffer, id, sizeof buffer), data = pack(raw, &out);
        db3_message(&m, id, 1, T0 + id, id % 1000 == 0 ? raw : data);
        free(out);
    }
    db3_sql(&m, "COMMIT");
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(db3_end(&m));
    db3_assert_clean(r);
    assert_int_equal(db3_read_all(r, id_of), N);
    reel_recording_free(TAKE(r));
    db3_free(&m);
}

static void packed_messages_that_do_not_unpack(void **state) {
    (void)state;
    struct db3 m;
    db3_begin(&m, 2, 1024);
    db3_topic(&m, 1, "/a", "t", "", "");
    uint8_t raw[40], *out;
    struct reel_bytes data = pack(db3_payload(raw, 7, sizeof raw), &out);
    db3_message(&m, 1, 1, T0 + 1, data);
    db3_message(&m, 2, 1, T0 + 2, bytes_of(data.data, data.size - 3));
    db3_message(&m, 7, 1, T0 + 7, data);
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(db3_end(&m));
    db3_assert_finding(r, 1, REEL_LOSS, "1 compressed messages, the first with id 2, do not unpack");
    assert_int_equal(db3_read_all(r, NULL), 2);
    reel_recording_free(TAKE(r));
    free(out);
    db3_free(&m);
}

static void packed_whole(void **state) {
    (void)state;
    struct db3 m;
    uint8_t *out;
    const struct db3_part part = {"bag_0.db3.zstd", pack(make(&m, 2, 1, 50, false, 0), &out)};
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan_parts(&part, 1);
    db3_assert_clean(r);
    assert_string_equal(db3_info(r)->container, "SQLite, schema version 2, in zstd");
    assert_int_equal(db3_read_all(r, id_of), 50);
    reel_recording_free(TAKE(r));
    struct reel_error err;
    const struct db3_part cut = {"bag_0.db3.zstd", bytes_of(part.data.data, part.data.size / 2)};
    assert_null(db3_try(&cut, 1, &err)); /* it is one block, so nothing of it unpacks */
    assert_int_equal(err.code, REEL_NOT_MINE);
    free(out);
    db3_free(&m);
}

static const struct reel_format *probed(struct reel_bytes data, const char *name) {
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *s = reel_source_from_memory(data, name, &err);
    return reel_format_probe(s, &err);
}

static void in_archives(void **state) {
    (void)state;
    struct db3 a, b;
    struct reel_bytes first = make(&a, 4, 1, 30, false, 0), second = make(&b, 4, 100, 31, true, -1);
    static const char yaml[] = YAML("5", "    - bag_0.db3\n    - bag_1.db3\n", "61", "");
    uint8_t *out;
    static const struct {
        const char *name, *container;
    } wanted[] = {{"bag.zip", "ZIP"},       {"bag.zip", "ZIP"},    {"bag.zip", "ZIP"},        {"bag.tar", "tar"},
                  {"bag.tar.gz", "tar.gz"}, {"bag.tgz", "tar.gz"}, {"bag.tar.zst", "tar.zst"}};
    for (int kind = 0; kind < 7; kind++) { /* stored, deflated, with a file packed whole, tar, that packed, with a
                                              packed file, by zstd */
        struct zip_maker z = {0};
        struct grow g = {0};
        struct reel_bytes packed = pack(second, &out), archive;
        if (kind < 3) {
            zip_add(&z, "bag/", bytes_of("", 0), false);
            zip_add(&z, "bag/metadata.yaml", bytes_text(yaml), kind > 0);
            zip_add(&z, "bag/bag_0.db3", first, kind > 0);
            zip_add(&z, "bag/notes.txt", bytes_text("none"), false);
            zip_add(&z, kind == 2 ? "bag/bag_1.db3.zstd" : "bag/bag_1.db3", kind == 2 ? packed : second, kind == 1);
            archive = zip_end(&z);
        } else {
            tar_add(&g, "a/very/long/folder/metadata.yaml", '0', bytes_text(yaml));
            tar_add(&g, "x", 'x', bytes_text("37 path=a/very/long/folder/bag_0.db3\n"));
            tar_add(&g, "short", '0', first);
            tar_add(&g, "bag/notes.txt", '0', bytes_text("none"));
            const char *long_name = kind == 5 ? "a/very/long/folder/bag_1.db3.zstd" : "a/very/long/folder/bag_1.db3";
            tar_add(&g, "x", 'L', bytes_of(long_name, strlen(long_name) + 1));
            tar_add(&g, "short", '0', kind == 5 ? packed : second);
            archive = tar_end(&g);
        }
        struct grow outer = {0};
        if (kind > 3) {
            struct reel_error err;
            assert_true(
                codec_encode(kind == 6 ? REEL_CODEC_ZSTD : REEL_CODEC_GZIP, archive.data, archive.size, &outer, &err));
            archive = bytes_of(outer.data, outer.size);
        }
        const struct db3_part part = {wanted[kind].name, archive};
        assert_ptr_equal(probed(archive, part.name), &reel_format_rosbag2);
        AUTO(reel_recording_free) struct reel_recording *r = db3_scan_parts(&part, 1);
        db3_assert_finding(r, 1, REEL_NOTE, "1 further members of the archive");
        char container[64];
        snprintf(container, sizeof container, "SQLite, schema version 4, in %s", wanted[kind].container);
        assert_string_equal(db3_info(r)->container, container);
        assert_int_equal(db3_info(r)->n_channels, 2);
        assert_int_equal(db3_read_all(r, id_of), 61);
        reel_recording_free(TAKE(r));
        free(out);
        free(z.file.data);
        free(g.data);
        free(outer.data);
    }
    db3_free(&a);
    db3_free(&b);
}

/* An archive of two folders is not one recording: the first one is read, and the others are named. */
static void two_folders(void **state) {
    (void)state;
    struct db3 a, b;
    struct reel_bytes first = make(&a, 4, 1, 30, false, 0), second = make(&b, 4, 100, 31, true, -1);
    static const char one[] = YAML("5", "    - run_0.db3\n", "30", ""),
                      other[] = YAML("5", "    - run_0.db3\n", "31", "");
    for (int kind = 0; kind < 3; kind++) { /* ZIP, tar, with metadata.yaml before its file and a folder of settings */
        struct zip_maker z = {0};
        struct grow g = {0};
        if (kind == 0) {
            zip_add(&z, "bags/a/run_0.db3", first, true);
            zip_add(&z, "bags/a/._run_0.db3", bytes_text("of a Mac"), false);
            zip_add(&z, "bags/a/metadata.yaml", bytes_text(one), false);
            zip_add(&z, "bags/b/run_0.db3", second, true);
            zip_add(&z, "bags/b/metadata.yaml", bytes_text(other), false);
        } else {
            if (kind == 2) {
                tar_add(&g, "bags/0/settings.yaml", '0', bytes_text("a: 1"));
            }
            tar_add(&g, "bags/a/metadata.yaml", '0', bytes_text(one));
            tar_add(&g, "bags/a/run_0.db3", '0', first);
            tar_add(&g, "bags/b/metadata.yaml", '0', bytes_text(other));
            tar_add(&g, "bags/b/run_0.db3", '0', second);
        }
        const struct db3_part part = {kind == 0 ? "bags.zip" : "bags.tar", kind == 0 ? zip_end(&z) : tar_end(&g)};
        AUTO(reel_recording_free) struct reel_recording *r = db3_scan_parts(&part, 1);
        assert_int_equal(db3_read_all(r, id_of), 30);
        db3_assert_finding(r, kind == 2 ? 3 : 2, REEL_WARNING, "bags/b/run_0.db3 is another recording and is left out");
        reel_recording_free(TAKE(r));
        free(z.file.data);
        free(g.data);
    }
    db3_free(&a);
    db3_free(&b);
}

/* The folders of an archive in an archive are its own: what follows it in the outer one is still of the bag. */
static void archive_in_an_archive(void **state) {
    (void)state;
    struct db3 a, b;
    struct grow g = {0};
    struct zip_maker z = {0};
    tar_add(&g, "inner/bag_0.db3", '0', make(&a, 4, 1, 30, false, 0));
    zip_add(&z, "bag/bag_0.db3", tar_end(&g), false);
    zip_add(&z, "bag/bag_1.db3", make(&b, 4, 100, 31, false, 0), false);
    const struct db3_part part = {"bag.zip", zip_end(&z)};
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan_parts(&part, 1);
    assert_int_equal(db3_read_all(r, id_of), 61);
    reel_recording_free(TAKE(r));
    free(g.data);
    free(z.file.data);
    db3_free(&a);
    db3_free(&b);
}

/* A gzip that holds no bag is not ours; one that is cut before the first message, or unpacks to far more than it may,
 * is refused and leaves nothing. */
static void gzip_that_is_no_bag(void **state) {
    (void)state;
    struct db3 a;
    struct grow g = {0}, packed = {0}, other = {0};
    struct reel_error err = {0};
    tar_add(&g, "bag/readme.txt", '0', bytes_text("rosbag"));
    struct reel_bytes tar = tar_end(&g);
    assert_true(codec_encode(REEL_CODEC_GZIP, tar.data, tar.size, &packed, &err));
    assert_ptr_not_equal(probed(bytes_of(packed.data, packed.size), "x.tar.gz"), &reel_format_rosbag2);
    struct grow bag = {0};
    tar_add(&bag, "bag/bag_0.db3", '0', make(&a, 4, 1, 30, false, 0));
    tar = tar_end(&bag);
    assert_true(codec_encode(REEL_CODEC_GZIP, tar.data, tar.size, &other, &err));
    const struct db3_part cut = {"bag.tar.gz", bytes_of(other.data, other.size / 2)};
    assert_ptr_equal(probed(cut.data, cut.name), &reel_format_rosbag2);
    assert_null(db3_try(&cut, 1, &err));
    assert_int_equal(err.code, REEL_DAMAGED);
    free(g.data);
    free(bag.data);
    free(packed.data);
    free(other.data);
    db3_free(&a);
}

static void damaged_archives(void **state) {
    (void)state;
    struct db3 a;
    struct reel_bytes first = make(&a, 4, 1, 30, false, 0);
    struct zip_maker z = {0};
    zip_add(&z, "bag/bag_0.db3", first, false);
    zip_end(&z);
    static uint8_t payload[20000];
    db3_payload(payload, 3, sizeof payload);
    uint8_t *inside = memmem(z.file.data, z.file.size, payload + 5000, 20);
    assert_non_null(inside);
    *inside ^= 0x55;
    const struct db3_part part = {"bag.zip", bytes_of(z.file.data, z.file.size)};
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan_parts(&part, 1);
    db3_assert_finding(r, 1, REEL_LOSS, "member bag_0.db3: its CRC-32 is");
    reel_recording_free(TAKE(r));
    struct grow g = {0};
    tar_add(&g, "bag/bag_0.db3", '0', first);
    tar_add(&g, "bag/metadata.yaml", '0', bytes_text(YAML("5", "    - bag_0.db3\n", "30", "")));
    const struct db3_part cut = {"bag.tar", bytes_of(g.data, 512 + first.size - 1024)};
    r = db3_scan_parts(&cut, 1);
    assert_true(db3_info(r)->damaged);
    assert_true(db3_read_all(r, id_of) > 0);
    reel_recording_free(TAKE(r));
    g.data[512 + first.size + 600] ^= 1; /* in the second header's room: text only */
    g.data[512 + (first.size + 511) / 512 * 512 + 5] ^= 1;
    const struct db3_part wrong = {"bag.tar", bytes_of(g.data, g.size)};
    r = db3_scan_parts(&wrong, 1);
    db3_assert_finding(r, 1, REEL_LOSS, "its checksum does not hold: what follows is not read");
    assert_int_equal(db3_read_all(r, id_of), 30);
    reel_recording_free(TAKE(r));
    free(z.file.data);
    free(g.data);
    db3_free(&a);
}

/* What the MCAP writer makes of a database. */
static struct reel_bytes to_mcap(struct reel_bytes database) {
    struct reel_error err = {0};
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(database);
    const struct reel_writer *writer = reel_writer_named(".mcap", NULL, &err);
    struct reel_write_options options = {.compression = ""};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(writer, &options, s, NULL, &err);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *render =
        reel_planned_output_new(plan, reel_stream_open(&r, 1, &selection_all, &err), &err);
    size_t size = (size_t)reel_plan_length(plan);
    uint8_t *out = malloc(size);
    assert_true(out && reel_planned_output_read(render, 0, out, size, &err));
    return bytes_of(out, size);
}

static void of_mcap_files(void **state) {
    (void)state;
    struct db3 a, b;
    struct reel_bytes first = to_mcap(make(&a, 4, 1, 30, false, 0)), second = to_mcap(make(&b, 4, 100, 31, false, 0));
    static const char yaml[] = YAML("5", "    - bag_0.mcap\n    - bag_1.mcap\n", "61", "");
    struct zip_maker z = {0};
    uint8_t *out;
    zip_add(&z, "bag/bag_0.mcap", first, true);
    zip_add(&z, "bag/metadata.yaml", bytes_text(yaml), true);
    zip_add(&z, "bag/bag_1.mcap", second, false);
    const struct db3_part ways[][3] = {
        {{"bag.zip", zip_end(&z)}},
        {{"metadata.yaml", bytes_text(yaml)}, {"bag_0.mcap", first}, {"bag_1.mcap.zstd", pack(second, &out)}}};
    for (int way = 0; way < 2; way++) {
        AUTO(reel_recording_free) struct reel_recording *r = db3_scan_parts(ways[way], way == 0 ? 1 : 3);
        db3_assert_clean(r);
        assert_string_equal(db3_info(r)->format->name, "rosbag2");
        assert_string_equal(db3_info(r)->container, way == 0 ? "MCAP, in ZIP" : "MCAP, in zstd");
        assert_int_equal(db3_read_all(r, id_of), 61);
        assert_string_equal(db3_pair(&db3_channel(r, "/odom")->metadata, "offered_qos_profiles"), DB3_QOS("2"));
        struct reel_error err = {0};
        struct reel_message m;
        struct reel_description d = {0};
        AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
        assert_int_equal(stream_next(s, &m, &err), REEL_STEP_MESSAGE);
        assert_true(stream_describe(s, &m, &d, &err));
        assert_int_equal(d.publish_ns, m.time_ns);
        reel_stream_free(TAKE(s));
        reel_recording_free(TAKE(r));
    }
    free((void *)(uintptr_t)first.data);
    free((void *)(uintptr_t)second.data);
    free(z.file.data);
    free(out);
    db3_free(&a);
    db3_free(&b);
}

/* Findings in a member give its name and its offset in the archive. */
static void findings_in_members(void **state) {
    (void)state;
    struct db3 a;
    struct reel_bytes mcap = to_mcap(make(&a, 4, 1, 30, false, 0));
    struct zip_maker z = {0};
    zip_add(&z, "bag/bag_0.mcap", bytes_of(mcap.data, mcap.size - 8), false);
    const struct db3_part part = {"bag.zip", zip_end(&z)};
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan_parts(&part, 1);
    size_t count;
    const struct reel_finding *all = reel_index_findings(reel_recording_index(r), &count);
    assert_true(count > 0);
    assert_memory_equal(all[0].text, "bag_0.mcap: ", 12);
    assert_true(all[0].offset > 44 && all[0].offset <= 44 + mcap.size);
    assert_int_equal(db3_read_all(r, id_of), 30);
    reel_recording_free(TAKE(r));
    free((void *)(uintptr_t)mcap.data);
    free(z.file.data);
    db3_free(&a);
}

static void probes(void **state) {
    (void)state;
    struct db3 m;
    uint8_t *out;
    struct reel_bytes data = make(&m, 2, 1, 3, false, 0);
    assert_ptr_equal(probed(data, "x"), &reel_format_rosbag2);
    assert_ptr_equal(probed(pack(data, &out), "x"), &reel_format_rosbag2);
    assert_ptr_equal(probed(bytes_text("# a comment\nrosbag2_bagfile_information:\n"), "x"), &reel_format_rosbag2);
    assert_null(probed(bytes_text("(\xb5\x2f\xfd"), "x"));
    struct zip_maker z = {0};
    zip_add(&z, "letters.txt", bytes_text("none"), false);
    assert_null(probed(zip_end(&z), "bag.zip"));
    free(z.file.data);
    free(out);
    db3_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_folders),
        cmocka_unit_test(archive_in_an_archive),
        cmocka_unit_test(database_and_metadata),
        cmocka_unit_test(metadata_that_disagrees),
        cmocka_unit_test(version_rises_with_that_of_mcap),
        cmocka_unit_test(metadata_alone),
        cmocka_unit_test(what_files_are_one_bag),
        cmocka_unit_test(order_of_files),
        cmocka_unit_test(split_bag_is_one_recording),
        cmocka_unit_test(messages_packed_one_by_one),
        cmocka_unit_test(very_many_packed_messages),
        cmocka_unit_test(packed_messages_that_do_not_unpack),
        cmocka_unit_test(packed_whole),
        cmocka_unit_test(in_archives),
        cmocka_unit_test(gzip_that_is_no_bag),
        cmocka_unit_test(damaged_archives),
        cmocka_unit_test(of_mcap_files),
        cmocka_unit_test(findings_in_members),
        cmocka_unit_test(probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
