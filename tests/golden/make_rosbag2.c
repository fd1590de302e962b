/* Makes the golden inputs of rosbag2; README.md describes each case. SQLite itself writes the databases; damage is done
 * to their bytes.
 */
#include "golden_maker.h"

#include "base/bytes.h"
#include "makers/archive_maker.h"
#include "makers/db3_maker.h"

enum { PAGE = 512 };
#define T0 INT64_C(1700000000000000000)
#define ODOM "nav_msgs/msg/Odometry"
#define YAML                                                                                                           \
    "rosbag2_bagfile_information:\n  version: 9\n  storage_identifier: sqlite3\n  message_count: 6\n  "                \
    "relative_file_paths:\n"                                                                                           \
    "    - bag/bag_0.db3\n  compression_format: %s\n  compression_mode: %s\n  custom_data:\n    site: hall 3\n  "      \
    "ros_distro: jazzy\n"

/* --- databases --- */

static void topics(struct db3 *d) {
    db3_topic(d, 1, "/odom", ODOM, DB3_QOS("2"), "RIHS01_aa");
    db3_topic(d, 2, "/map", "nav_msgs/msg/OccupancyGrid", DB3_QOS("1"), "");
    if (d->version >= 4) {
        db3_definition(d, ODOM, "ros2msg", "float64 x\n");
        db3_definition(d, "nav_msgs/msg/OccupancyGrid", "unknown", "");
    }
}
/* Six messages in turn on both topics, a second apart; the fourth is of 1500 bytes. */
static void messages(struct db3 *d) {
    uint8_t buffer[1500];
    for (int id = 1; id <= 6; id++) {
        db3_message(d, id, 2 - id % 2, T0 + id * INT64_C(1000000000),
                    db3_payload(buffer, id, id == 4 ? sizeof buffer : 8));
    }
}
static void default_bag(struct db3 *d, int version) {
    db3_begin(d, version, PAGE);
    topics(d);
    messages(d);
}
static void finish(struct db3 *d, struct maker *m) {
    struct reel_bytes data = db3_end(d);
    make_bytes(m, data.data, data.size);
    db3_free(d);
}
static void default_with(int version, const char *sql, struct maker *m) {
    struct db3 d;
    default_bag(&d, version);
    db3_sql(&d, sql);
    finish(&d, m);
}

static void schema_1(struct maker *m) {
    default_with(1, "", m);
}
static void schema_2(struct maker *m) {
    default_with(2, "", m);
}
static void schema_3(struct maker *m) {
    default_with(3, "", m);
}
static void schema_4(struct maker *m) {
    default_with(4, "", m);
}
static void schema_5(struct maker *m) {
    default_with(4, "UPDATE schema SET schema_version=5; ALTER TABLE topics ADD COLUMN colour TEXT", m);
}
static void empty(struct maker *m) {
    struct db3 d;
    db3_begin(&d, 4, PAGE);
    finish(&d, m);
}
static void utf_16(struct maker *m) {
    struct db3 d = {.version = 1};
    assert(sqlite3_open(":memory:", &d.db) == SQLITE_OK);
    db3_sql(&d, "PRAGMA encoding='UTF-16le'; PRAGMA page_size=512;"
                "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT NULL,serialization_format "
                "TEXT NOT NULL);"
                "CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT NULL, "
                "data BLOB NOT NULL);"
                "INSERT INTO topics VALUES(1,'/\u00fc','t','cdr'); INSERT INTO messages VALUES(1,1,5,x'00010000')");
    finish(&d, m);
}
static void metadata_table(struct maker *m) {
    struct db3 d;
    default_bag(&d, 4);
    db3_metadata(&d, "version: 9\nstorage_identifier: sqlite3\nmessage_count: 0\ncustom_data: ~\n");
    db3_metadata(
        &d,
        "version: 9\nstorage_identifier: sqlite3\nmessage_count: 6\ncustom_data:\n  site: hall 3\nros_distro: jazzy\n");
    finish(&d, m);
}
static void service_events(struct maker *m) {
    struct db3 d;
    db3_begin(&d, 4, PAGE);
    db3_topic(&d, 1, "/add/_service_event", "pkg/srv/Add_Event", "", "");
    db3_definition(&d, "pkg/srv/Add", "ros2msg", "int64 a\n---\nint64 b\n");
    db3_message(&d, 1, 1, T0, bytes_of("\0\1\0\0", 4));
    finish(&d, m);
}
static void order(struct maker *m) {
    default_with(2,
                 "UPDATE messages SET timestamp=5 WHERE id IN (2,5); UPDATE messages SET timestamp=-1 WHERE id=6; "
                 "UPDATE messages SET id=900 "
                 "WHERE id=1",
                 m);
}
static void wal_mode(struct maker *m) {
    schema_4(m);
    m->data[18] = m->data[19] = 2;
}

/* --- rows --- */

static void rows_of_wrong_kinds(struct maker *m) {
    default_with(2,
                 "UPDATE messages SET timestamp='soon' WHERE id=1; UPDATE messages SET topic_id=1.5 WHERE id=2; UPDATE "
                 "messages SET "
                 "data='text' WHERE id=3;"
                 "UPDATE messages SET data=x'' WHERE id=4",
                 m);
}
static void topic_missing(struct maker *m) {
    default_with(2, "DELETE FROM topics WHERE id=2", m);
}
static void ids_large(struct maker *m) {
    default_with(2, "UPDATE messages SET id=8589934591 WHERE id=5; UPDATE messages SET id=8589934592 WHERE id=6", m);
}

/* --- other things than tables --- */

static void instead(const char *sql, struct maker *m) {
    char both[300];
    snprintf(both, sizeof both, "ALTER TABLE messages RENAME TO kept; %s", sql);
    default_with(2, both, m);
}
static void view(struct maker *m) {
    instead("CREATE VIEW messages AS SELECT * FROM kept", m);
}
static void virtual_table(struct maker *m) {
    instead("CREATE VIRTUAL TABLE messages USING rtree(id,topic_id,timestamp)", m);
}
static void computed(struct maker *m) {
    instead("CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id,timestamp,data AS (zeroblob(1000000000)))", m);
}
static void without_rowid(struct maker *m) {
    instead("CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id,timestamp,data) WITHOUT ROWID", m);
}
static void no_bag(struct maker *m) {
    struct db3 d = {0};
    assert(sqlite3_open(":memory:", &d.db) == SQLITE_OK);
    db3_sql(&d, "PRAGMA page_size=512; CREATE TABLE t(x)");
    finish(&d, m);
}

/* --- damage --- */

/* Enough messages for two levels of pages. */
static void many(struct maker *m) {
    struct db3 d;
    uint8_t buffer[100];
    db3_begin(&d, 1, PAGE);
    db3_topic(&d, 1, "/odom", ODOM, "", "");
    for (int id = 1; id <= 60; id++) {
        db3_message(&d, id, 1, T0 + id, db3_payload(buffer, id, sizeof buffer));
    }
    finish(&d, m);
}
static void cut(struct maker *m) {
    many(m);
    m->size = m->size * 2 / 3;
}
static uint8_t *page_of_kind(struct maker *m, uint8_t kind, unsigned skip) {
    for (size_t at = PAGE; at < m->size; at += PAGE) {
        if ((uint8_t)m->data[at] == kind && skip-- == 0) {
            return (uint8_t *)m->data + at;
        }
    }
    abort();
}
static void leaf_lost(struct maker *m) {
    many(m);
    memset(page_of_kind(m, 13, 4), 0xee, PAGE);
}
static void root_lost(struct maker *m) {
    many(m);
    memset(page_of_kind(m, 5, 0), 0xee, PAGE);
}
static void overflow_lost(struct maker *m) { /* the pages of the long message lead nowhere */
    default_with(2, "", m);
    uint8_t *leaf = page_of_kind(m, 13, 0), was[PAGE];
    for (unsigned i = 0; leaf[4] != 6; i++) {
        leaf = page_of_kind(m, 13, i);
    }
    memcpy(was, leaf, PAGE);
    size_t cell = (size_t)leaf[8 + 6] << 8 | leaf[9 + 6]; /* of the fourth message */
    size_t local = 0;
    for (size_t next = PAGE, i = 0; i < 6; i++) { /* its last four bytes are the number of its first further page */
        size_t other = (size_t)leaf[8 + 2 * i] << 8 | leaf[9 + 2 * i];
        next = other > cell && other < next ? other : next;
        local = next - cell;
    }
    memset(leaf + cell + local - 4, 0x7f, 4);
}

/* --- packed, in archives --- */

/* A zstd frame that stores its bytes as they are. */
static void zstd_store(struct maker *m, struct reel_bytes raw) {
    uint8_t head[12] = {0x28, 0xb5, 0x2f, 0xfd, 0xa0};
    store_u32le(head + 5, (uint32_t)raw.size);
    uint32_t block = (uint32_t)raw.size << 3 | 1;
    head[9] = (uint8_t)block;
    head[10] = (uint8_t)(block >> 8);
    head[11] = (uint8_t)(block >> 16);
    make_bytes(m, head, sizeof head);
    make_bytes(m, raw.data, raw.size);
}
static void messages_packed(struct maker *m) {
    struct db3 d;
    uint8_t buffer[8];
    db3_begin(&d, 2, PAGE);
    topics(&d);
    for (int id = 1; id <= 6; id++) {
        struct maker frame = {0};
        zstd_store(&frame, db3_payload(buffer, id, sizeof buffer));
        if (id == 5) {
            frame.size -= 3; /* does not unpack */
        }
        db3_message(&d, id, 2 - id % 2, T0 + id, bytes_of(frame.data, frame.size));
        free(frame.data);
    }
    finish(&d, m);
}
static void file_packed(struct maker *m) {
    struct maker plain = {0};
    schema_2(&plain);
    zstd_store(m, bytes_of(plain.data, plain.size));
    free(plain.data);
}
static void zip(struct maker *m) {
    struct maker plain = {0};
    struct zip_maker z = {0};
    char yaml[512];
    schema_2(&plain);
    snprintf(yaml, sizeof yaml, YAML, "\"\"", "\"\"");
    zip_add(&z, "bag/", bytes_of("", 0), false);
    zip_add(&z, "bag/metadata.yaml", bytes_text(yaml), false);
    zip_add(&z, "bag/bag_0.db3", bytes_of(plain.data, plain.size), false);
    zip_add(&z, "bag/notes.txt", bytes_text("none"), false);
    struct reel_bytes all = zip_end(&z);
    make_bytes(m, all.data, all.size);
    free(z.file.data);
    free(plain.data);
}
static void tar_of(struct maker *m, const char *format, const char *mode, void (*database)(struct maker *),
                   const char *name) {
    struct maker plain = {0};
    struct grow g = {0};
    char yaml[512];
    database(&plain);
    snprintf(yaml, sizeof yaml, YAML, format, mode);
    tar_add(&g, "bag/metadata.yaml", '0', bytes_text(yaml));
    tar_add(&g, name, '0', bytes_of(plain.data, plain.size));
    struct reel_bytes all = tar_end(&g);
    make_bytes(m, all.data, all.size);
    free(g.data);
    free(plain.data);
}
static void tar(struct maker *m) {
    tar_of(m, "\"\"", "\"\"", schema_2, "bag/bag_0.db3");
}
static void tar_packed(struct maker *m) {
    tar_of(m, "zstd", "FILE", file_packed, "bag/bag_0.db3.zstd");
}
static void tar_disagrees(struct maker *m) {
    tar_of(m, "\"\"", "\"\"", many, "bag/bag_1.db3");
}
static void tar_cut(struct maker *m) {
    tar(m);
    m->size -= 2048 + PAGE;
}
static void yaml_alone(struct maker *m) {
    char yaml[512];
    snprintf(yaml, sizeof yaml, YAML, "\"\"", "\"\"");
    make_text(m, yaml);
}

static const struct {
    const char *name, *file;
    void (*make)(struct maker *);
} inputs[] = {
    {"schema_1", "input.db3", schema_1},
    {"schema_2", "input.db3", schema_2},
    {"schema_3", "input.db3", schema_3},
    {"schema_4", "input.db3", schema_4},
    {"schema_5", "input.db3", schema_5},
    {"empty", "input.db3", empty},
    {"utf_16", "input.db3", utf_16},
    {"metadata_table", "input.db3", metadata_table},
    {"service_events", "input.db3", service_events},
    {"order", "input.db3", order},
    {"wal_mode", "input.db3", wal_mode},
    {"rows_of_wrong_kinds", "input.db3", rows_of_wrong_kinds},
    {"topic_missing", "input.db3", topic_missing},
    {"ids_large", "input.db3", ids_large},
    {"view", "input.db3", view},
    {"virtual_table", "input.db3", virtual_table},
    {"computed_column", "input.db3", computed},
    {"without_rowid", "input.db3", without_rowid},
    {"no_bag", "input.db3", no_bag},
    {"cut", "input.db3", cut},
    {"leaf_lost", "input.db3", leaf_lost},
    {"root_lost", "input.db3", root_lost},
    {"overflow_lost", "input.db3", overflow_lost},
    {"messages_packed", "input.db3", messages_packed},
    {"file_packed", "input.db3.zstd", file_packed},
    {"zip", "input.zip", zip},
    {"tar", "input.tar", tar},
    {"tar_packed", "input.tar", tar_packed},
    {"tar_disagrees", "input.tar", tar_disagrees},
    {"tar_cut", "input.tar", tar_cut},
    {"yaml_alone", "input.yaml", yaml_alone},
};

static struct golden_input make_input(size_t i, struct maker *m) {
    inputs[i].make(m);
    return (struct golden_input){inputs[i].name, inputs[i].file};
}

int main(int argc, char **argv) {
    return golden_main(argc, argv, sizeof inputs / sizeof *inputs, make_input);
}
