/* formats/rosbag2/pages.c: an intact database is read as SQLite reads it, whatever the shape of its tree and whatever
 * was deleted from it; a broken one gives back what was lost, and nothing that was deleted. */
#include "makers/db3_scan.h"

enum { DATABASES = 50, LARGEST = 9000 };
#define T0 INT64_C(1700000000000000000)

static uint64_t random_state;
static uint32_t below(uint32_t n) { /* xorshift64*: the same numbers everywhere */
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((random_state * UINT64_C(2685821657736338717)) >> 32) % n;
}

/* ---- making */

struct shape {
    unsigned page, vacuum, messages, size; /* 0 none, 1 full, 2 incremental; typical bytes of a message */
    bool secure;
};

static struct shape shape_of(unsigned seed) {
    static const struct {
        unsigned page, messages, size;
    } shapes[] = {
        {512, 3, 40},      /* one level */
        {512, 120, 60},    /* two */
        {512, 500, 200},   /* three */
        {512, 5200, 300},  /* four */
        {1024, 900, 700},  /* three */
        {2048, 300, 2500}, /* overflow pages */
        {4096, 700, 3600}, /* three */
        {8192, 60, 5000},  {16384, 60, 900}, {32768, 40, 9000}, {65536, 60, 3000},
    };
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    unsigned i = seed % SHAPES;
    return (struct shape){.page = shapes[i].page,
                          .messages = shapes[i].messages,
                          .size = shapes[i].size,
                          .vacuum = seed / SHAPES % 3,
                          .secure = seed & 1};
}

static void begin(struct db3 *m, const struct shape *shape) {
    char sql[96];
    *m = (struct db3){.version = 2};
    assert_int_equal(sqlite3_open(":memory:", &m->db), SQLITE_OK);
    snprintf(sql, sizeof sql, "PRAGMA page_size=%u; PRAGMA auto_vacuum=%u; PRAGMA secure_delete=%d", shape->page,
             shape->vacuum, shape->secure);
    db3_sql(m, sql);
    db3_sql(m, "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT NULL,"
               "serialization_format TEXT NOT NULL,offered_qos_profiles TEXT NOT NULL);"
               "CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT NULL,"
               "data BLOB NOT NULL);"
               "CREATE TABLE copies(id INTEGER PRIMARY KEY,a INTEGER,b INTEGER,c BLOB);" /* rows of the same shape */
               "CREATE TABLE words(word TEXT,n INTEGER,PRIMARY KEY(word,n)) WITHOUT ROWID;"
               "CREATE INDEX timestamp_idx ON messages (timestamp ASC)");
    db3_topic(m, 1, "/odom", "nav_msgs/msg/Odometry", "", "");
}

static void put(struct db3 *m, int64_t id, unsigned typical) {
    static uint8_t buffer[3 * LARGEST];
    size_t size = below(8) == 0 ? below(3 * typical) : typical / 2 + below(typical);
    db3_message(m, id, 1, T0 + id / 3, db3_payload(buffer, id, size)); /* three messages have the same time */
    if (below(10) == 0) {
        db3_sql(m, "INSERT INTO copies SELECT NULL,topic_id,timestamp,data FROM messages ORDER BY id DESC LIMIT 1;"
                   "INSERT INTO words SELECT hex(zeroblob(id%50)),id FROM messages ORDER BY id DESC LIMIT 1");
    }
}

static void erase(struct db3 *m, int64_t last) {
    char sql[160];
    int64_t from = 1 + below((uint32_t)last), to = from + below((uint32_t)last / 3 + 1);
    snprintf(sql, sizeof sql, "DELETE FROM messages WHERE id BETWEEN %lld AND %lld; DELETE FROM copies WHERE id%%3=0",
             (long long)from, (long long)to);
    db3_sql(m, sql);
}

static struct reel_bytes make(struct db3 *m, unsigned seed) {
    const struct shape shape = shape_of(seed);
    random_state = UINT64_C(0x9e3779b97f4a7c15) * (seed + 1);
    begin(m, &shape);
    int64_t id = 0;
    db3_sql(m, "BEGIN");
    for (unsigned i = 0; i < shape.messages; i++) {
        id += below(40) == 0 ? 1 + below(3) : 1;
        put(m, id, shape.size);
    }
    for (unsigned i = 0; i < seed % 4; i++) {
        erase(m, id);
    }
    for (unsigned i = 0; i < seed % 3 * 10; i++) { /* some of the free pages are used again */
        put(m, ++id, shape.size);
    }
    db3_sql(m, "COMMIT");
    db3_sql(m, shape.vacuum == 2 ? "PRAGMA incremental_vacuum(3)" : "UPDATE messages SET data=x'00' WHERE id%17=0");
    sqlite3_int64 size = 0;
    m->data = sqlite3_serialize(m->db, "main", &size, 0);
    assert_non_null(m->data);
    m->size = (size_t)size;
    return bytes_of(m->data, m->size);
}

static void done(struct db3 *m) {
    sqlite3_free(m->data);
    sqlite3_close(m->db);
}

/* ---- comparing */

/* The messages that SQLite reads, in the order of a stream: by time, then by id. */
static sqlite3_stmt *all_messages(struct db3 *m) {
    sqlite3_stmt *s;
    assert_int_equal(
        sqlite3_prepare_v2(m->db, "SELECT timestamp,data FROM messages ORDER BY timestamp,id", -1, &s, NULL),
        SQLITE_OK);
    return s;
}

static uint64_t compare(struct db3 *m, struct reel_recording *r) {
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&r, 1, &selection_all, &err);
    assert_non_null(stream);
    sqlite3_stmt *s = all_messages(m);
    struct reel_message message;
    uint64_t n = 0;
    for (; sqlite3_step(s) == SQLITE_ROW; n++) {
        struct reel_bytes payload;
        assert_int_equal(stream_next(stream, &message, &err), REEL_STEP_MESSAGE);
        assert_int_equal(message.time_ns, sqlite3_column_int64(s, 0));
        assert_true(reel_stream_payload(stream, &message, &payload, &err));
        assert_int_equal(payload.size, sqlite3_column_bytes(s, 1));
        assert_memory_equal(payload.data, payload.size > 0 ? sqlite3_column_blob(s, 1) : "", payload.size);
    }
    assert_int_equal(stream_next(stream, &message, &err), REEL_STEP_END);
    sqlite3_finalize(s);
    return n;
}

static uint32_t be(const uint8_t *p, unsigned size) {
    uint32_t v = 0;
    for (unsigned i = 0; i < size; i++) {
        v = v << 8 | p[i];
    }
    return v;
}

static uint32_t root_of(struct db3 *m) {
    sqlite3_stmt *s;
    assert_int_equal(
        sqlite3_prepare_v2(m->db, "SELECT rootpage FROM sqlite_schema WHERE name='messages'", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    uint32_t root = (uint32_t)sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return root;
}

static uint8_t *page_of(struct db3 *m, uint32_t number, unsigned size) {
    return m->data + (size_t)(number - 1) * size;
}

static unsigned levels_of(struct db3 *m, unsigned size) {
    unsigned levels = 1;
    for (uint8_t *page = page_of(m, root_of(m), size); page[0] == 5; levels++) {
        page = page_of(m, be(page + 8, 4), size);
    }
    return levels;
}

static void an_intact_database_is_read_as_sqlite_reads_it(void **state) {
    (void)state;
    unsigned met[8] = {0};
    uint64_t messages = 0;
    for (unsigned seed = 0; seed < DATABASES; seed++) {
        struct db3 m;
        struct reel_bytes data = make(&m, seed);
        unsigned levels = levels_of(&m, shape_of(seed).page);
        assert_true(levels < 8);
        met[levels]++;
        AUTO(reel_recording_free) struct reel_recording *r = db3_scan(data);
        db3_assert_clean(r);
        messages += compare(&m, r);
        reel_recording_free(TAKE(r));
        done(&m);
    }
    print_message("%llu messages; trees of 1 to 4 levels: %u %u %u %u\n", (unsigned long long)messages, met[1], met[2],
                  met[3], met[4]);
    assert_true(met[1] > 0 && met[2] > 0 && met[3] > 0 && met[4] > 0);
}

/* An inner page is gone: its leaves are found, and neither deleted messages nor rows of another table with them. */
static void what_was_deleted_stays_deleted(void **state) {
    (void)state;
    for (unsigned whole_root = 0; whole_root < 2; whole_root++) {
        const struct shape shape = {.page = 512, .size = 200, .messages = 600};
        struct db3 m;
        random_state = 7;
        begin(&m, &shape);
        for (int64_t id = 1; id <= shape.messages; id++) {
            put(&m, id, shape.size);
        }
        db3_sql(&m, "DELETE FROM messages WHERE id BETWEEN 100 AND 330");
        sqlite3_int64 size = 0;
        m.data = sqlite3_serialize(m.db, "main", &size, 0);
        assert_non_null(m.data);
        m.size = (size_t)size;
        assert_true(be(m.data + 36, 4) > 20); /* free pages */
        assert_int_equal(levels_of(&m, shape.page), 3);
        uint8_t *page = page_of(&m, root_of(&m), shape.page);
        page = whole_root ? page_of(&m, be(page + 8, 4), shape.page) : page;
        memset(page, 0, shape.page);
        AUTO(reel_recording_free) struct reel_recording *r = db3_scan(bytes_of(m.data, m.size));
        db3_assert_finding(r, 1, REEL_WARNING, "pages that lead to the messages are damaged or missing");
        assert_int_equal(compare(&m, r), shape.messages - 231);
        reel_recording_free(TAKE(r));
        done(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_intact_database_is_read_as_sqlite_reads_it),
        cmocka_unit_test(what_was_deleted_stays_deleted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
