/* formats/rosbag2/log.c, logs.c: a database is read with its write-ahead log, up to the last commit. */
#include <unistd.h>

#include "makers/archive_maker.h"
#include "makers/db3_scan.h"

enum { COMMITS = 5, IN_A_COMMIT = 12, LOG_HEAD = 32, FRAME_HEAD = 24, TRIALS = 400 };
#define T0 INT64_C(1700000000000000000)
#define BASE "made_0.db3"

struct pair { /* a database that was not closed, and its log */
    struct reel_bytes base, log;
    uint8_t *bytes[2];
    unsigned page;
    uint64_t messages;
};

static uint8_t *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, f), *size);
    fclose(f);
    return data;
}

/* Some messages are in the database, those of `commits` transactions in the log only. */
static struct pair make(unsigned page, unsigned commits, bool erase) {
    static uint8_t buffer[1500];
    static const char path[] = REEL_SCRATCH "/log.db3";
    struct db3 m = {.version = 2};
    char sql[128];
    unlink(path);
    assert_int_equal(sqlite3_open(path, &m.db), SQLITE_OK);
    snprintf(sql, sizeof sql, "PRAGMA page_size=%u; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0", page);
    db3_sql(&m, sql);
    db3_sql(&m, "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT NULL,"
                "serialization_format TEXT NOT NULL,offered_qos_profiles TEXT NOT NULL);"
                "CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT NULL,"
                "data BLOB NOT NULL)");
    db3_topic(&m, 1, "/odom", "nav_msgs/msg/Odometry", "", "");
    struct pair p = {.page = page};
    for (unsigned c = 0; c <= commits; c++) {
        db3_sql(&m, "BEGIN");
        for (unsigned i = 0; i < IN_A_COMMIT; i++) {
            int64_t id = (int64_t)++p.messages;
            db3_message(&m, id, 1, T0 + id, db3_payload(buffer, id, i == 3 ? sizeof buffer : 40 + i));
        }
        db3_sql(&m, "COMMIT");
        db3_sql(&m, c == 0 ? "PRAGMA wal_checkpoint(TRUNCATE)" : "SELECT 1");
    }
    if (erase) {
        db3_sql(&m, "DELETE FROM messages WHERE id <= 20; VACUUM");
        p.messages -= 20;
    }
    size_t size;
    p.bytes[0] = read_file(path, &size);
    p.base = bytes_of(p.bytes[0], size);
    p.bytes[1] = read_file(REEL_SCRATCH "/log.db3-wal", &size);
    p.log = bytes_of(p.bytes[1], size);
    sqlite3_close(m.db);
    return p;
}
static void done(struct pair *p) {
    free(p->bytes[0]);
    free(p->bytes[1]);
}

static struct reel_recording *scan_pair(const struct pair *p) {
    const struct db3_part parts[] = {{.name = BASE, .data = p->base}, {.name = BASE "-wal", .data = p->log}};
    return db3_scan_parts(parts, 2);
}
static int64_t id_of(int64_t time_ns) {
    return time_ns - T0;
}

static void a_database_is_read_with_its_log(void **state) {
    (void)state;
    for (unsigned page = 512; page <= 65536; page *= 2) {
        for (unsigned erase = 0; erase < 2; erase++) {
            struct pair p = make(page, COMMITS, erase);
            AUTO(reel_recording_free) struct reel_recording *r = scan_pair(&p);
            db3_assert_clean(r);
            assert_int_equal(db3_info(r)->messages, p.messages);
            assert_int_equal(db3_read_all(r, id_of), p.messages);
            reel_recording_free(TAKE(r));
            done(&p);
        }
    }
}

/* Two folders of one archive have databases of the same name; the log belongs to the one beside it, which is read. */
static void a_log_in_an_archive_belongs_to_its_folder(void **state) {
    (void)state;
    struct pair p = make(1024, 2, false), q = make(2048, 3, false);
    struct zip_maker z = {0};
    zip_add(&z, "a/" BASE "-wal", p.log, true);
    zip_add(&z, "a/" BASE "-shm", bytes_text("not needed"), false);
    zip_add(&z, "b/" BASE, q.base, true);
    zip_add(&z, "b/" BASE "-wal", q.log, false);
    zip_add(&z, "a/" BASE, p.base, false);
    struct reel_bytes archive = zip_end(&z);
    AUTO(reel_recording_free)
    struct reel_recording *r = db3_scan_parts(&(struct db3_part){.name = "bags.zip", .data = archive}, 1);
    db3_assert_finding(r, 2, REEL_WARNING, "b/" BASE " is another recording and is left out");
    assert_int_equal(db3_read_all(r, id_of), p.messages);
    reel_recording_free(TAKE(r));
    free(z.file.data);
    done(&p);
    done(&q);
}

static void a_missing_log_is_a_note(void **state) {
    (void)state;
    struct pair p = make(4096, 2, false);
    AUTO(reel_recording_free) struct reel_recording *r = db3_scan(p.base);
    db3_assert_finding(r, 1, REEL_NOTE, BASE "-wal");
    assert_int_equal(db3_info(r)->messages, IN_A_COMMIT);
    assert_false(db3_info(r)->damaged);
    reel_recording_free(TAKE(r));
    done(&p);
}

static void a_log_alone_is_refused(void **state) {
    (void)state;
    struct pair p = make(4096, 1, false);
    struct reel_error err;
    assert_null(db3_try(&(struct db3_part){.name = BASE "-wal", .data = p.log}, 1, &err));
    assert_non_null(strstr(err.text, "its database, " BASE));
    done(&p);
}

/* The first frame of the last commit is damaged: the commits before it count. */
static void what_follows_damage_in_a_log_is_not_read(void **state) {
    (void)state;
    struct pair p = make(1024, 3, false);
    size_t frame = FRAME_HEAD + p.page, commits = 0, at = LOG_HEAD;
    for (; commits < 2; at += frame) {
        commits += memcmp(p.bytes[1] + at + 4, "\0\0\0\0", 4) != 0;
    }
    p.bytes[1][at + FRAME_HEAD + 100] ^= 0x10;
    AUTO(reel_recording_free) struct reel_recording *r = scan_pair(&p);
    db3_assert_finding(r, 1, REEL_LOSS, "the write-ahead log is damaged after");
    assert_int_equal(db3_read_all(r, id_of), 3 * IN_A_COMMIT);
    reel_recording_free(TAKE(r));
    p.bytes[1][at + FRAME_HEAD + 100] ^= 0x10;
    p.bytes[1][at + 9] ^= 1; /* the salt of an earlier use of the file */
    r = scan_pair(&p);
    db3_assert_clean(r);
    assert_int_equal(db3_read_all(r, id_of), 3 * IN_A_COMMIT);
    reel_recording_free(TAKE(r));
    done(&p);
}

static void a_transaction_that_was_not_committed_does_not_count(void **state) {
    (void)state;
    struct pair p = make(1024, 3, false);
    p.log.size -= FRAME_HEAD + p.page; /* the frame with the commit */
    AUTO(reel_recording_free) struct reel_recording *r = scan_pair(&p);
    db3_assert_clean(r);
    assert_int_equal(db3_read_all(r, id_of), 3 * IN_A_COMMIT);
    reel_recording_free(TAKE(r));
    done(&p);
}

static void an_unusable_log_is_reported(void **state) {
    (void)state;
    static const struct {
        unsigned at;
        const char *text;
    } cases[] = {{0, "its header is damaged"}, {10, "its header is damaged"}, {25, "its header is damaged"}};
    struct pair p = make(4096, 2, false), other = make(512, 2, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        p.bytes[1][cases[i].at] ^= 0x40;
        AUTO(reel_recording_free) struct reel_recording *r = scan_pair(&p);
        db3_assert_finding(r, 1, REEL_LOSS, cases[i].text);
        assert_int_equal(db3_read_all(r, id_of), IN_A_COMMIT);
        reel_recording_free(TAKE(r));
        p.bytes[1][cases[i].at] ^= 0x40;
    }
    const struct pair mixed = {.base = p.base, .log = other.log};
    AUTO(reel_recording_free) struct reel_recording *r = scan_pair(&mixed);
    db3_assert_finding(r, 1, REEL_LOSS, "another size");
    reel_recording_free(TAKE(r));
    done(&p);
    done(&other);
}

/* ---- made to do harm: checksums that hold, and everything else wrong */

static uint32_t be32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static void put32(uint8_t *p, uint32_t v) {
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(v >> (24 - 8 * i));
    }
}
static void sum(uint32_t s[2], const uint8_t *p, size_t size, bool big) {
    for (size_t i = 0; i < size; i += 8) {
        s[0] += (big ? be32(p + i) : load_u32le(p + i)) + s[1];
        s[1] += (big ? be32(p + i + 4) : load_u32le(p + i + 4)) + s[0];
    }
}
static void seal(const struct pair *p) {
    uint8_t *log = p->bytes[1];
    uint32_t s[2] = {0};
    bool big = log[3] & 1;
    sum(s, log, 24, big);
    put32(log + 24, s[0]);
    put32(log + 28, s[1]);
    for (size_t at = LOG_HEAD; at + FRAME_HEAD + p->page <= p->log.size; at += FRAME_HEAD + p->page) {
        sum(s, log + at, 8, big);
        sum(s, log + at + FRAME_HEAD, p->page, big);
        put32(log + at + 16, s[0]);
        put32(log + at + 20, s[1]);
    }
}

static void checksums_of_both_orders_are_taken(void **state) {
    (void)state;
    struct pair p = make(2048, 2, false);
    p.bytes[1][3] ^= 1;
    seal(&p);
    AUTO(reel_recording_free) struct reel_recording *r = scan_pair(&p);
    db3_assert_clean(r);
    assert_int_equal(db3_read_all(r, id_of), p.messages);
    reel_recording_free(TAKE(r));
    done(&p);
}

static void a_log_made_to_do_harm_is_bounded(void **state) {
    (void)state;
    struct pair p = make(512, 3, false);
    uint64_t number = 88172645463325252;
    for (unsigned i = 0; i < TRIALS; i++) {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        size_t frames = (p.log.size - LOG_HEAD) / (FRAME_HEAD + p.page);
        size_t at = LOG_HEAD + number % frames * (FRAME_HEAD + p.page) +
                    (i % 4 == 0 ? FRAME_HEAD + (number >> 32) % 400 : (number >> 32) % 8);
        uint8_t before = p.bytes[1][at];
        p.bytes[1][at] = (uint8_t)(number >> 24);
        seal(&p);
        const struct db3_part parts[] = {{.name = BASE, .data = p.base}, {.name = BASE "-wal", .data = p.log}};
        struct reel_error err;
        AUTO(reel_recording_free) struct reel_recording *r = db3_try(parts, 2, &err);
        if (r) {
            assert_true(db3_info(r)->messages <= p.messages);
            db3_read_all(r, NULL);
        }
        p.bytes[1][at] = before;
    }
    done(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_database_is_read_with_its_log),
        cmocka_unit_test(a_log_in_an_archive_belongs_to_its_folder),
        cmocka_unit_test(a_missing_log_is_a_note),
        cmocka_unit_test(a_log_alone_is_refused),
        cmocka_unit_test(what_follows_damage_in_a_log_is_not_read),
        cmocka_unit_test(a_transaction_that_was_not_committed_does_not_count),
        cmocka_unit_test(an_unusable_log_is_reported),
        cmocka_unit_test(checksums_of_both_orders_are_taken),
        cmocka_unit_test(a_log_made_to_do_harm_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
