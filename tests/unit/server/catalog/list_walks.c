/* All pages of random searches, in every order, are what a plain SELECT … ORDER BY finds: among 50,000 recordings, more
 * than twice LIST_WALKED_MAX and LIST_ESTIMATE_MAX, or with REEL_TESTS_LONG among 200,000. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "catalog/list.h"
#include "catalog/maintenance.h"
#include "makers/catalog_fixture.h"

enum { SEARCHES = 40, LARGE = 1, MATCHES_MAX = 800, LARGE_MAX = 12000, PATH = 4096 };

static const char numbers[] = "CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
                              "WHERE i < 199999) SELECT i, i * 7919 % 200003 "
                              "AS x, "
                              "(i * 104729 + 7) % 199999 AS y FROM n;";
static const char all[] = "CREATE TEMP VIEW taken AS SELECT * FROM n;";
static const char some[] = "CREATE TEMP VIEW taken AS SELECT * FROM n WHERE i % 4 = 0;";
static const char fill[] =
    "INSERT INTO label_sets (id, digest) SELECT i + 1, randomblob(32) FROM n WHERE i < 24;"
    "INSERT INTO labels (id, kind, name) SELECT i + 1, i / 8, CASE i / 8 WHEN 0 THEN '/sensor' || i WHEN 1 THEN "
    "'msgs/Kind' || i ELSE "
    "'operator:ann' || i END "
    "FROM n WHERE i < 24;"
    "INSERT INTO label_set_labels SELECT s.id, l.id FROM label_sets AS s, labels AS l WHERE (l.kind < 2 AND s.id <= 16 "
    "AND (s.id + l.id) % "
    "5 = 0) "
    "OR (l.kind = 2 AND s.id > 16 AND s.id - 16 <= l.id - 16);"
    "INSERT INTO recordings (row, id, collection, name, revision, state, state_before_trash, content, size, format, "
    "container, clock, "
    "clock_note, start_ns, "
    "end_ns, duration_ns, messages, payload_bytes, channels, damaged, findings, lost_bytes, problem, created_ns, "
    "updated_ns, group_name, "
    "epoch_ns, "
    "channel_labels, metadata_labels)"
    " SELECT i + 1, randomblob(16), substr('alpha beta  gamma delta ', 6 * (x % 4) + 1, 5 - (x % 4 = 1)), "
    "printf('%s-%s-%06d.bag', "
    "substr('heron  falcon condor egret  ', 7 * (x % 4) + 1, 6 - (x % 4 IN (0, 3))), substr('yard garagelab   ', 1 + 4 "
    "* (y % 2) + 6 * (y "
    "% 3 = 2), 4), y), 1, "
    "CASE WHEN x % 50 = 0 THEN 4 WHEN x % 41 = 0 THEN 2 WHEN x % 997 = 0 THEN 3 ELSE 1 END, 1, randomblob(32), y % "
    "1000 * 1000, "
    "CASE WHEN i > 190000 THEN 'mcap' WHEN x % 100 = 3 THEN 'tide' ELSE 'rosbag2' END, '', x % 13 = 0, '', "
    "iif(x % 13 = 0, 0, 1717200000000000000 + (i + x % 5000) * 60000000000), iif(x % 13 = 0, 0, 1717200000000000000 + "
    "(i + x % 5000) * "
    "60000000000) + y % 500 * "
    "1000000000, y % 500 * 1000000000, x % 97, 0, 0, x % 200 = 1, 0, 0, '', 1700000000000000000 + i * 1000000000, i, "
    "iif(x % 500 = 7, 'g' "
    "|| x % 7, ''), "
    "iif(x % 26 = 0, 1717200000000000000, NULL), 1 + x % 16, iif(y % 10 = 0, 17 + x % 8, NULL) FROM taken;"
    "INSERT INTO tag_keys (id, name) VALUES (1, 'run'), (2, 'robot');"
    "INSERT INTO tag_values (key, value) SELECT DISTINCT 1, 'run-' || (i / 50) FROM n;"
    "INSERT INTO tag_values (key, value) SELECT 2, 'r' || i FROM n WHERE i < 8;"
    "INSERT INTO recording_tags SELECT i + 1, 1, v.id FROM taken CROSS JOIN tag_values AS v ON v.key = 1 AND v.value = "
    "'run-' || (i / 50);"
    "INSERT INTO recording_tags SELECT i + 1, 2, v.id FROM taken CROSS JOIN tag_values AS v ON v.key = 2 AND v.value = "
    "'r' || (y % 8) "
    "WHERE i "
    "% 3 > 0;";

static sqlite3 *raw;

static void run_sql(const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(raw, sql, NULL, NULL, &message) != SQLITE_OK) {
        fail_msg("%s: %.200s", message, sql);
    }
}

static int set_up_all(void **state) {
    if (set_up(state) != 0) {
        return -1;
    }
    raw = open_raw();
    run_sql("PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -200000; BEGIN");
    char drop[PATH] = "";
    sqlite3_stmt *s;
    assert_int_equal(
        sqlite3_prepare_v2(raw, "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_schema WHERE type = 'trigger'", -1,
                           &s, NULL),
        SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        strcat(drop, (const char *)sqlite3_column_text(s, 0));
    }
    sqlite3_finalize(s);
    run_sql(drop); /* what they would keep is counted by catalog_repair() */
    run_sql(numbers);
    run_sql(getenv("REEL_TESTS_LONG") ? all : some);
    run_sql(fill);
    run_sql("INSERT INTO changes (kind, recording, collection, name) VALUES ('recording.created', randomblob(16), 'a', "
            "'b')"); /* a version for sets in memory */
    run_sql("COMMIT");
    if (!catalog_repair(c, &err)) {
        return -1;
    }
    run_sql("PRAGMA wal_checkpoint (TRUNCATE)"); /* or every read looks into the log first */
    return 0;
}

/* ---- random searches: the line of a search box, and the same as SQL */

static uint64_t seed = 20240611;

static unsigned pick(unsigned n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static void put_text(FILE *q, FILE *sql) {
    static const char *const words[] = {"heron", "alco",  "lab",   "arage",  "yard", "sensor3",
                                        "ann20", "delta", "-0012", "99.bag", "kind1"};
    const char *word = words[pick(sizeof words / sizeof *words)], *part = word + (*word == '-');
    fputs(word + (*word == '-'), q);
    fprintf(sql,
            "(name LIKE '%%%s%%' OR collection LIKE '%%%s%%' OR EXISTS (SELECT 1 FROM label_set_labels AS k JOIN "
            "labels AS l ON l.id = k.label "
            "WHERE k.label_set IN (channel_labels, metadata_labels) AND l.name LIKE '%%%s%%'))",
            part, part, part);
}

static void put_term(FILE *q, FILE *sql) {
    unsigned n = pick(1000), kind = pick(14), day = 1 + pick(28), month = 6 + pick(4);
    switch (kind) {
    case 0:
        fprintf(q, "collection:%s", n % 2 ? "gamma" : "a*");
        fprintf(sql, "collection = '%s'", n % 2 ? "gamma" : "alpha");
        break;
    case 1:
        fprintf(q, "format:%s", n % 2 ? "mcap" : "t*");
        fprintf(sql, "format = '%s'", n % 2 ? "mcap" : "tide");
        break;
    case 2:
        fputs(n % 2 ? "state:failed,missing" : "damaged:true", q);
        fputs(n % 2 ? "state IN (2, 3)" : "damaged = 1", sql);
        break;
    case 3:
        fprintf(q, "size:>%uk", n);
        fprintf(sql, "size > %u000", n);
        break;
    case 4:
        fprintf(q, "messages:%u..%u", n % 97, n % 97 + 3);
        fprintf(sql, "messages BETWEEN %u AND %u", n % 97, n % 97 + 3);
        break;
    case 5:
        fprintf(q, "duration:<=%us", n % 60 + 1);
        fprintf(sql, "duration_ns <= %u000000000", n % 60 + 1);
        break;
    case 6:
        fprintf(q, "2024-%02u-%02u", month, day);
        fprintf(sql,
                "(width_ns IS NOT NULL AND calendar_end_ns >= CAST(strftime('%%s', '2024-%02u-%02u') AS INTEGER) * "
                "1000000000 AND "
                "calendar_start_ns < "
                "(CAST(strftime('%%s', '2024-%02u-%02u') AS INTEGER) + 86400) * 1000000000)",
                month, day, month, day);
        break;
    case 7:
    case 8:
        fprintf(q, "run:run-%u*", n % 400);
        fprintf(sql,
                "EXISTS (SELECT 1 FROM recording_tags AS t JOIN tag_values AS v ON v.id = t.value WHERE t.recording = "
                "recordings.row AND "
                "v.value GLOB 'run-%u*')",
                n % 400);
        break;
    case 9:
        fprintf(q, "robot:r%u,r%u", n % 8, n % 3);
        fprintf(sql,
                "EXISTS (SELECT 1 FROM recording_tags AS t JOIN tag_values AS v ON v.id = t.value WHERE t.recording = "
                "recordings.row AND "
                "v.value IN ('r%u', 'r%u'))",
                n % 8, n % 3);
        break;
    case 10:
        fprintf(q, "topic:/sensor%u", n % 8);
        fprintf(sql,
                "EXISTS (SELECT 1 FROM label_set_labels AS k JOIN labels AS l ON l.id = k.label WHERE k.label_set = "
                "channel_labels AND "
                "l.name = '/sensor%u')",
                n % 8);
        break;
    case 11:
        fprintf(q, "created:>=%us", 1700000000 + n * 200);
        fprintf(sql, "created_ns >= %u000000000", 1700000000 + n * 200);
        break;
    case 12:
        fprintf(q, "group:g%u", n % 7);
        fprintf(sql, "group_name = 'g%u'", n % 7);
        break;
    default:
        put_text(q, sql);
    }
}

static void put_either(FILE *q, FILE *sql) {
    bool negated = pick(3) == 0;
    fputs(negated ? "-(" : "(", q);
    fputs(negated ? "(" : "(", sql);
    put_term(q, sql);
    fputs(" or ", q);
    fputs(" OR ", sql);
    put_term(q, sql);
    fputc(')', q);
    fputs(negated ? ") IS NOT TRUE" : ")", sql);
}

static void make_search(char q[PATH], char sql[PATH]) {
    FILE *out = fmemopen(q, PATH, "w"), *where = fmemopen(sql, PATH, "w");
    fputs("state <> 4", where);
    for (unsigned i = 0, n = 1 + pick(3); i < n; i++) {
        unsigned form = pick(6);
        fputs(" AND ", where);
        if (form == 0) {
            put_either(out, where);
        } else {
            fputs(form == 1 ? "-" : "", out);
            fputs("(", where);
            put_term(out, where);
            fputs(form == 1 ? ") IS NOT TRUE" : ")", where);
        }
        fputc(' ', out);
    }
    fclose(out);
    fclose(where);
}

/* ---- comparing */

/* Keeps what the SQL finds in a table; returns how many. */
static uint32_t expect_rows(const char *where) {
    char sql[2 * PATH];
    run_sql("DROP TABLE IF EXISTS temp.expected");
    snprintf(sql, sizeof sql,
             "CREATE TEMP TABLE expected AS SELECT row, name, calendar_start_ns, calendar_end_ns, size, messages, "
             "duration_ns FROM "
             "recordings WHERE %s "
             "LIMIT %d",
             where, LARGE_MAX + 1);
    run_sql(sql);
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(raw, "SELECT count(*) FROM expected", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    uint32_t n = (uint32_t)sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return n;
}

static int64_t *sorted_rows(const char *order, uint32_t n) {
    char sql[256];
    sqlite3_stmt *s;
    int64_t *rows = calloc(n, sizeof *rows);
    snprintf(sql, sizeof sql, "SELECT row FROM expected ORDER BY %s", order);
    assert_int_equal(sqlite3_prepare_v2(raw, sql, -1, &s, NULL), SQLITE_OK);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(sqlite3_step(s), SQLITE_ROW);
        rows[i] = sqlite3_column_int64(s, 0);
    }
    sqlite3_finalize(s);
    return rows;
}

static void compare_pages(const char *q, const char *sort, const int64_t *rows, uint32_t n) {
    uint32_t at = 0, limit = n < 200 ? 7 + pick(50) : 1000;
    char *cursor = NULL;
    do {
        struct catalog_page page;
        if (!catalog_list(c,
                          &(struct catalog_query){.words = q,
                                                  .sort = sort,
                                                  .limit = limit,
                                                  .cursor = cursor,
                                                  .count = !cursor && strcmp(sort, "name") == 0},
                          &page, &err)) {
            fail_msg("%s: %s", q, err.text);
        }
        if (!cursor && strcmp(sort, "name") == 0 &&
            (page.total != (n > 10000 ? 10000 : n) || page.total_capped != (n > 10000))) {
            fail_msg("%s, %s: counts %u, not %u", q, sort, (unsigned)page.total, n);
        }
        for (uint32_t i = 0; i < page.n_items; i++, at++) {
            if (at >= n || page.items[i].row != rows[at]) {
                fail_msg("%s, sorted by %s: number %u of %u is %ld", q, sort, at, n, (long)page.items[i].row);
            }
        }
        free(cursor);
        cursor = page.next;
        page.next = NULL;
        catalog_page_done(&page);
    } while (cursor);
    if (at != n) {
        fail_msg("%s, sorted by %s: %u of %u arrive", q, sort, at, n);
    }
}

static void pages_are_what_a_plain_select_finds(void **state) {
    (void)state;
    static const char *const sorts[][2] = {{"created", "row"},         {"name", "name"}, {"start", "calendar_start_ns"},
                                           {"end", "calendar_end_ns"}, {"size", "size"}, {"messages", "messages"},
                                           {"duration", "duration_ns"}};
    char q[PATH], where[PATH], sort[32], order[128];
    unsigned large = 0;
    uint32_t n;
    struct list_sets *const sets = c->lists;
    list_sets_always(sets);
    for (unsigned done = 0; done < SEARCHES;) {
        make_search(q, where);
        n = expect_rows(where);
        bool is_large = n > MATCHES_MAX && n <= LARGE_MAX;
        if (n == 0 || n > LARGE_MAX || (is_large && large == LARGE)) {
            continue;
        }
        large += is_large;
        c->lists = ++done % 2 ? sets : NULL; /* by sets or by queries */
        for (unsigned i = 0; i < 14; i++) {
            const char *minus = i % 2 ? "-" : "", *direction = i % 2 ? "DESC" : "ASC";
            snprintf(sort, sizeof sort, "%s%s", minus, sorts[i / 2][0]);
            snprintf(order, sizeof order, "%s %s, row %s", sorts[i / 2][1], direction, direction);
            int64_t *rows = sorted_rows(order, n);
            compare_pages(q, sort, rows, n);
            free(rows);
        }
    }
    c->lists = sets;
    assert_in_range(list_sets_bytes(sets), 7 * 4 * 40000, LIST_SETS_BYTES_MAX); /* an order of each sort */
    assert_int_equal(large, LARGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pages_are_what_a_plain_select_finds, set_up_all, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
