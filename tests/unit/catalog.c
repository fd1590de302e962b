/* The catalog: identity, states, search, pages, and that no statement walks a table it need not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>

#include "catalog/catalog.h"
#include "catalog/own.h"
#include "catalog/sql.h"
#include "unit/toy_format.h"

#define DB_FILE REEL_SCRATCH "/catalog.db"

static struct catalog *c;
static struct reel_error err;

static int set_up(void **state) {
    (void)state;
    remove(DB_FILE);
    remove(DB_FILE "-wal");
    remove(DB_FILE "-shm");
    err = (struct reel_error){0};
    c = catalog_open(DB_FILE, &err);
    return c ? 0 : -1;
}
static int tear_down(void **state) {
    (void)state;
    catalog_close(c);
    return 0;
}

/* Two channels: /scan of sensor_msgs/LaserScan and /tf[0] of tf/tfMessage. */
static struct reel_recording *make_recording(struct toy *toy) {
    toy_start(toy, REEL_CLOCK_WALL);
    toy_channel(toy, &(struct reel_channel){.name = "/scan", .type = "sensor_msgs/LaserScan", .encoding = "ros1"});
    toy_channel(toy, &(struct reel_channel){.name = "/tf[0]", .type = "tf/tfMessage", .encoding = "ros1"});
    toy_message(toy, 0, 1000, 1, "abc", 3);
    return toy_open(toy);
}

/* A recording whose content is 64 times the digit; the caller's texts are literals, so nothing is to be freed. */
static struct catalog_recording describe(struct catalog_part *part, const char *collection, const char *name, char digit) {
    struct catalog_recording r = {
        .collection = (char *)collection, .name = (char *)name, .state = STATE_READY, .size = 10, .format = "toy", .messages = 1};
    memset(r.content, digit, SHA256_HEX - 1);
    memset(part->sha256, digit, SHA256_HEX - 1);
    part->sha256[SHA256_HEX - 1] = '\0';
    part->size = 10;
    part->file_name = name;
    r.parts = part;
    r.n_parts = 1;
    return r;
}

static bool put(const char *collection, const char *name, char digit, bool replace, char id[RECORDING_ID_TEXT]) {
    struct catalog_part part;
    struct catalog_recording r = describe(&part, collection, name, digit);
    bool ok = catalog_add(c, &r, NULL, replace, &err);
    if (ok && id) {
        memcpy(id, r.id, sizeof r.id);
    }
    return ok;
}

static uint32_t count(const struct catalog_query *q) {
    struct catalog_query asked = *q;
    struct catalog_page page;
    asked.limit = 1000;
    asked.count = true;
    assert_true(catalog_list(c, &asked, &page, &err));
    uint32_t n = page.n_items;
    assert_int_equal(page.total, n);
    catalog_page_done(&page);
    return n;
}

static void a_recording_comes_back_as_it_was(void **state) {
    (void)state;
    struct catalog_part parts[2] = {{.size = 7, .file_name = "a.traj"}, {.size = 8, .file_name = "a.state"}};
    memset(parts[0].sha256, 'a', 64);
    memset(parts[1].sha256, 'b', 64);
    struct catalog_recording r = {.collection = "lab",
                                  .name = "d/a",
                                  .state = STATE_READY,
                                  .size = 15,
                                  .format = "toy",
                                  .container = "TOY1",
                                  .clock = REEL_CLOCK_RELATIVE,
                                  .clock_note = "why",
                                  .start_ns = -5,
                                  .end_ns = INT64_MAX,
                                  .messages = 3,
                                  .payload_bytes = 9,
                                  .n_channels = 2,
                                  .damaged = true,
                                  .findings = 4,
                                  .lost_bytes = 6,
                                  .problem = "",
                                  .parts = parts,
                                  .n_parts = 2};
    memset(r.content, 'c', 64);
    assert_true(catalog_add(c, &r, NULL, false, &err));
    assert_int_equal(strlen(r.id), 32);
    assert_int_equal(r.revision, 1);
    const char *keys[] = {r.id, "name:lab/d/a", "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"};
    for (size_t i = 0; i < 3; i++) {
        struct catalog_recording got;
        assert_true(catalog_get(c, keys[i], &got, &err));
        assert_string_equal(got.id, r.id);
        assert_string_equal(got.container, "TOY1");
        assert_string_equal(got.clock_note, "why");
        assert_int_equal(got.clock, REEL_CLOCK_RELATIVE);
        assert_int_equal(got.start_ns, -5);
        assert_int_equal(got.end_ns, INT64_MAX);
        assert_int_equal(got.payload_bytes, 9);
        assert_int_equal(got.n_channels, 2);
        assert_true(got.damaged);
        assert_int_equal(got.findings, 4);
        assert_int_equal(got.lost_bytes, 6);
        assert_int_equal(got.n_parts, 2);
        assert_string_equal(got.parts[1].file_name, "a.state");
        assert_string_equal(got.parts[1].sha256, parts[1].sha256);
        assert_int_equal(got.parts[1].size, 8);
        assert_int_equal(got.created_ns, r.created_ns);
        catalog_recording_done(&got);
    }
    bool used;
    assert_true(catalog_blob_used(c, parts[1].sha256, &used, &err) && used);
    assert_true(catalog_content_used(c, parts[1].sha256, &used, &err) && !used);
    const char *wrong[] = {"",
                           "zz",
                           "0123",
                           "name:lab",
                           "name:lab/none",
                           "sha256:00",
                           "sha256:",
                           "00000000000000000000000000000000",
                           "'; DROP TABLE recordings; --"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct catalog_recording got;
        assert_false(catalog_get(c, wrong[i], &got, &err));
        assert_int_equal(err.code, REEL_NOT_FOUND);
    }
}

static void a_name_means_its_newest_revision(void **state) {
    (void)state;
    char first[RECORDING_ID_TEXT], second[RECORDING_ID_TEXT], elsewhere[RECORDING_ID_TEXT];
    assert_true(put("lab", "a", '1', false, first));
    assert_false(put("lab", "a", '1', true, NULL)); /* the same again */
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_false(put("lab", "a", '2', false, NULL));
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_true(put("other", "a", '1', false, elsewhere)); /* the same content elsewhere */
    assert_true(put("lab", "a", '2', true, second));
    struct catalog_recording r;
    assert_true(catalog_get_named(c, "lab", "a", &r, &err));
    assert_string_equal(r.id, second);
    assert_int_equal(r.revision, 2);
    catalog_recording_done(&r);

    assert_true(catalog_trash(c, second, &err)); /* what was there before shows again */
    assert_true(catalog_get_named(c, "lab", "a", &r, &err));
    assert_string_equal(r.id, first);
    catalog_recording_done(&r);
    assert_true(put("lab", "a", '3', true, NULL)); /* revisions in the trash are not used twice */
    assert_true(catalog_get_named(c, "lab", "a", &r, &err));
    assert_int_equal(r.revision, 3);
    catalog_recording_done(&r);

    bool used;
    assert_true(catalog_purge(c, first, &err));
    char content[SHA256_HEX] = {0};
    memset(content, '1', 64);
    assert_true(catalog_content_used(c, content, &used, &err) && used);
    assert_true(catalog_purge(c, elsewhere, &err));
    assert_true(catalog_content_used(c, content, &used, &err) && !used);
    assert_true(catalog_blob_used(c, content, &used, &err) && !used);
    assert_false(catalog_purge(c, first, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
}

static void states_come_and_go(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    struct catalog_recording r;
    assert_true(put("lab", "a", '1', false, id));
    assert_true(catalog_set_state(c, id, STATE_MISSING, "gone", &err));
    assert_true(catalog_trash(c, id, &err));
    assert_true(catalog_get(c, id, &r, &err));
    assert_int_equal(r.state, STATE_TRASHED);
    assert_int_equal(r.state_before_trash, STATE_MISSING);
    assert_string_equal(r.problem, "gone");
    catalog_recording_done(&r);
    assert_true(catalog_set_state(c, id, STATE_READY, "", &err)); /* in the trash it stays */
    assert_int_equal(count(&(struct catalog_query){0}), 0);
    assert_int_equal(count(&(struct catalog_query){.has_state = true, .state = STATE_TRASHED}), 1);
    assert_true(catalog_restore(c, id, &err));
    assert_int_equal(count(&(struct catalog_query){.has_state = true, .state = STATE_READY}), 1);
    struct catalog_figures f;
    assert_true(put("lab", "b", '2', false, NULL));
    assert_true(catalog_trash(c, id, &err));
    assert_true(catalog_figures(c, &f, &err));
    assert_int_equal(f.recordings[STATE_READY], 1);
    assert_int_equal(f.recordings[STATE_TRASHED], 1);
    assert_int_equal(f.bytes, 20);
    assert_int_equal(f.messages, 2);
    assert_true(catalog_purge(c, id, &err));
    assert_true(catalog_figures(c, &f, &err));
    assert_int_equal(f.recordings[STATE_TRASHED], 0);
    assert_int_equal(f.bytes, 10);
    enum recording_state parsed;
    assert_true(recording_state_parse("missing", &parsed));
    assert_int_equal(parsed, STATE_MISSING);
    assert_false(recording_state_parse("lost", &parsed));
    assert_true(catalog_ready(c));
}

static uint32_t find(const char *words) {
    return count(&(struct catalog_query){.words = words});
}
static uint32_t find_topic(const char *glob) {
    return count(&(struct catalog_query){.topics = &glob, .n_topics = 1});
}

static void words_and_globs_find(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_recording *toys = make_recording(&toy);
    const struct reel_index *index = reel_recording_index(toys);
    struct catalog_part part;
    struct catalog_recording r = describe(&part, "Lab of \xc3\x84rzte", "runs/ccny_ortho_scan_v1.2.bag", '1');
    assert_true(catalog_add(c, &r, index, false, &err));
    assert_true(put("other", "nothing", '2', false, NULL));
    const char *hits[] = {"ortho",
                          "ORTHO",
                          "/scan",
                          "scan",
                          "laserscan",
                          "laser",
                          "sensor_msgs/LaserScan",
                          "sensor_msgs",
                          "ccny_ortho",
                          "v1.2.bag",
                          "bag",
                          "ortho scan",
                          "arzte",
                          "lab ortho",
                          "tfMess",
                          "/",
                          "- ortho",
                          "\"ortho\"",
                          " ortho ",
                          "runs/ccny_ortho_scan_v1.2.bag"};
    for (size_t i = 0; i < sizeof hits / sizeof *hits; i++) {
        uint32_t n = find(hits[i]);
        if (n != (strcmp(hits[i], "/") == 0 ? 2 : 1)) {
            fail_msg("%s found %u", hits[i], n);
        }
    }
    const char *misses[] = {"orthox",           "ortho nothing", "name:nothing", "NOT ortho", "ortho OR nothing",
                            "NEAR(ortho scan)", "nothing*ortho", "ortho\"",      "\"\"\"x"};
    for (size_t i = 0; i < sizeof misses / sizeof *misses; i++) {
        uint32_t n = find(misses[i]);
        bool harmless = strcmp(misses[i], "ortho\"") == 0;
        if (n != (harmless ? 1 : 0)) {
            fail_msg("%s found %u", misses[i], n);
        }
    }
    assert_int_equal(find_topic("/scan"), 1);
    assert_int_equal(find_topic("/sc*"), 1);
    assert_int_equal(find_topic("*an"), 1);
    assert_int_equal(find_topic("/sca?"), 1);
    assert_int_equal(find_topic("/Scan"), 0);
    assert_int_equal(find_topic("/tf[0]"), 1);
    assert_int_equal(find_topic("/tf[0-9]"), 0);
    const char *both[] = {"/scan", "/tf*"}, *one[] = {"/scan", "/none"}, *types[] = {"sensor_msgs/*"}, *no_types[] = {"sensor_msgs"};
    assert_int_equal(count(&(struct catalog_query){.topics = both, .n_topics = 2, .types = types, .n_types = 1, .words = "ortho"}), 1);
    assert_int_equal(count(&(struct catalog_query){.topics = one, .n_topics = 2}), 0);
    assert_int_equal(count(&(struct catalog_query){.types = no_types, .n_types = 1}), 0);
    assert_int_equal(count(&(struct catalog_query){.words = "ortho", .sort = "name"}), 1);

    assert_true(catalog_update_scan(c, &r, NULL, &err)); /* a scan that found nothing takes them away */
    assert_int_equal(find_topic("/scan"), 0);
    assert_int_equal(find("laserscan"), 0);
    assert_int_equal(find("ortho"), 1);
    assert_true(catalog_update_scan(c, &r, index, &err));
    assert_int_equal(find("laserscan"), 1);
    assert_true(catalog_purge(c, r.id, &err));
    assert_int_equal(find("ortho"), 0);
    assert_int_equal(find_topic("*"), 0);
    reel_recording_free(toys);
    toy_free(&toy);
}

enum { MANY = 37 };
/* Values with ties; every fifth in the trash, every seventh failed. */
static void put_many(void) {
    for (int i = 0; i < MANY; i++) {
        char name[16];
        struct catalog_part part;
        snprintf(name, sizeof name, "n%02d", i * 17 % MANY);
        struct catalog_recording r = describe(&part, i % 2 ? "odd" : "even", name, (char)('a' + i % 6));
        r.size = (uint64_t)(i % 4);
        r.messages = (uint64_t)(i % 3);
        r.start_ns = i * 31 % 11;
        r.end_ns = r.start_ns + i % 5;
        r.state = i % 7 == 0 ? STATE_FAILED : STATE_READY;
        r.damaged = i % 9 == 0;
        r.format = i % 3 ? "toy" : "doll";
        assert_true(catalog_add(c, &r, NULL, false, &err));
        if (i % 5 == 0) {
            assert_true(catalog_trash(c, r.id, &err));
        }
    }
}

static int64_t key_of(const struct catalog_recording *r, const char *sort) {
    switch (*sort) {
    case 's':
        return sort[1] == 't' ? r->start_ns : (int64_t)r->size;
    case 'e':
        return r->end_ns;
    case 'm':
        return (int64_t)r->messages;
    case 'd':
        return r->end_ns - r->start_ns;
    case 'n':
        return strtol(r->name + 1, NULL, 10);
    default:
        return r->row;
    }
}

/* Pages of 4 must be the whole list, in order, nothing twice. */
static uint32_t walk_pages(const struct catalog_query *like, const char *sort) {
    struct catalog_query q = *like;
    char *cursor = NULL;
    uint32_t n = 0;
    int64_t key = 0, row = 0, sign = *sort == '-' ? -1 : 1;
    q.sort = sort;
    q.limit = 4;
    do {
        struct catalog_page page;
        q.cursor = cursor;
        assert_true(catalog_list(c, &q, &page, &err));
        for (uint32_t i = 0; i < page.n_items; i++) {
            int64_t k = sign * key_of(&page.items[i], sort + (sign < 0)), rw = sign * page.items[i].row;
            assert_true(n == 0 || k > key || (k == key && rw > row));
            key = k;
            row = rw;
            n++;
        }
        free(cursor);
        cursor = page.next;
        page.next = NULL;
        assert_true(!cursor || page.n_items == 4);
        catalog_page_done(&page);
    } while (cursor);
    return n;
}

static const char *const all_sorts[] = {"created", "-created", "name",  "-name",    "start",     "-start",   "end",
                                        "-end",    "size",     "-size", "messages", "-messages", "duration", "-duration"};

static void pages_are_the_list_in_every_order(void **state) {
    (void)state;
    put_many();
    for (size_t i = 0; i < sizeof all_sorts / sizeof *all_sorts; i++) {
        const char *sort = all_sorts[i], *topic = "/none*";
        assert_int_equal(walk_pages(&(struct catalog_query){0}, sort), MANY - 8);
        assert_int_equal(walk_pages(&(struct catalog_query){.words = "n"}, sort), MANY - 8);
        assert_int_equal(walk_pages(&(struct catalog_query){.has_state = true, .state = STATE_TRASHED}, sort), 8);
        assert_int_equal(walk_pages(&(struct catalog_query){.has_state = true, .state = STATE_FAILED}, sort), 4);
        assert_int_equal(walk_pages(&(struct catalog_query){.collection = "odd"}, sort), 14);
        assert_int_equal(walk_pages(&(struct catalog_query){.collection = "odd", .format = "toy", .words = "n0 odd"}, sort), 3);
        assert_int_equal(walk_pages(&(struct catalog_query){.format = "doll"}, sort), 10);
        assert_int_equal(walk_pages(&(struct catalog_query){.damaged_only = true}, sort), 4);
        assert_int_equal(walk_pages(&(struct catalog_query){.topics = &topic, .n_topics = 1}, sort), 0);
    }
    struct catalog_page page;
    assert_true(catalog_list(c, &(struct catalog_query){.limit = 3, .offset = 27, .count = true}, &page, &err));
    assert_int_equal(page.n_items, 2);
    assert_int_equal(page.total, MANY - 8);
    assert_null(page.next);
    catalog_page_done(&page);
}

static void times_overlap_half_open(void **state) {
    (void)state;
    struct catalog_part part;
    struct catalog_recording r = describe(&part, "lab", "a", '1');
    r.start_ns = 100;
    r.end_ns = 200;
    assert_true(catalog_add(c, &r, NULL, false, &err));
    r = describe(&part, "lab", "relative", '2');
    r.start_ns = 100;
    r.end_ns = 200;
    r.clock = REEL_CLOCK_RELATIVE;
    assert_true(catalog_add(c, &r, NULL, false, &err));
    struct {
        int64_t start, end;
        uint32_t found;
    } const cases[] = {{0, 100, 0}, {0, 101, 1}, {200, 300, 1}, {201, 300, 0}, {120, 130, 1}, {INT64_MIN, INT64_MAX, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(
            count(&(struct catalog_query){.has_start = true, .start_ns = cases[i].start, .has_end = true, .end_ns = cases[i].end}),
            cases[i].found);
    }
    assert_int_equal(count(&(struct catalog_query){.has_start = true, .start_ns = 150}), 1);
}

static void bad_questions_are_told(void **state) {
    (void)state;
    put_many();
    struct catalog_page page;
    assert_true(catalog_list(c, &(struct catalog_query){.limit = 1, .sort = "name"}, &page, &err));
    const struct catalog_query bad[] = {
        {.sort = "colour"}, {.sort = "-"},  {.sort = "--name"},    {.cursor = "x"},
        {.cursor = "00"},   {.cursor = ""}, {.cursor = page.next}, {.cursor = "0a0a0a0a"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct catalog_page none;
        assert_false(catalog_list(c, &bad[i], &none, &err));
        assert_int_equal(err.code, REEL_ARGUMENT);
    }
    catalog_page_done(&page);
    const char *latin = "/\xff";
    assert_false(catalog_list(c, &(struct catalog_query){.topics = &latin, .n_topics = 1}, &page, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
}

static bool visit_some(void *context, const struct catalog_recording *r) {
    char name[SHA256_HEX];
    snprintf(name, sizeof name, "%s", r->id);
    assert_true(catalog_set_state(c, name, STATE_MISSING, "seen", &err)); /* writing while visiting */
    return ++*(int *)context < 30;
}

static void each_visits_and_stops(void **state) {
    (void)state;
    put_many();
    int seen = 0;
    assert_true(catalog_each(c, visit_some, &seen, &err));
    assert_int_equal(seen, 30);
}

/* ---- the file */

static sqlite3 *open_raw(void) {
    sqlite3 *raw;
    assert_int_equal(sqlite3_open(DB_FILE, &raw), SQLITE_OK);
    return raw;
}
static int64_t pragma(const char *sql) {
    sqlite3 *raw = open_raw();
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(raw, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t value =
        sqlite3_column_type(s, 0) == SQLITE_TEXT ? strcmp((const char *)sqlite3_column_text(s, 0), "wal") == 0 : sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(raw);
    return value;
}
static void run_raw(const char *sql) {
    sqlite3 *raw = open_raw();
    assert_int_equal(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(raw);
}

static void the_file_says_what_it_is(void **state) {
    (void)state;
    assert_int_equal(pragma("PRAGMA application_id"), 0x5265656c);
    assert_int_equal(pragma("PRAGMA user_version"), sql_migrations_count);
    assert_int_equal(pragma("PRAGMA journal_mode"), 1);
    assert_true(put("lab", "a", '1', false, NULL));
    catalog_close(c);
    c = catalog_open(DB_FILE, &err); /* opened again it is as it was */
    assert_non_null(c);
    assert_int_equal(find("lab"), 1);
    catalog_close(c);
    run_raw("PRAGMA user_version = 9999");
    c = catalog_open(DB_FILE, &err);
    assert_null(c);
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    run_raw("PRAGMA user_version = 1; PRAGMA application_id = 7");
    c = catalog_open(DB_FILE, &err);
    assert_null(c);
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_null(strstr(err.text, REEL_SCRATCH));
    FILE *f = fopen(DB_FILE, "w");
    fputs("this is no database, whatever its name says", f);
    fclose(f);
    assert_null(catalog_open(DB_FILE, &err));
    assert_int_equal(err.code, REEL_DAMAGED);
}

static void no_glob(sqlite3_context *context, int argc, sqlite3_value **argv) {
    (void)argc;
    (void)argv;
    sqlite3_result_int(context, 0);
}

/* Fails on SCAN of a base table that the file's "scan: NAME:" does not name, and on sorting where that is not allowed. */
static void explain(sqlite3 *raw, const char *name, const char *sql, const char *allowed) {
    char *question = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(raw, question, -1, &s, NULL) != SQLITE_OK) {
        fail_msg("%s: %s\n%s", name, sqlite3_errmsg(raw), sql);
    }
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(s, 3);
        char word[64] = "", mark[80];
        bool scans =
            sscanf(step, "SCAN %60s", word) == 1 && !strstr(step, "VIRTUAL TABLE") && word[0] != '(' && strcmp(word, "CONSTANT") != 0;
        snprintf(mark, sizeof mark, "scan: %s:", word);
        bool sorts = strstr(step, "TEMP B-TREE FOR ORDER BY") && !strstr(allowed, "may sort");
        if ((scans && !strstr(allowed, mark)) || sorts) {
            fail_msg("%s: %s\n%s", name, step, sql);
        }
    }
    sqlite3_finalize(s);
    sqlite3_free(question);
}

static const char *const columns[] = {"row", "name", "start_ns", "end_ns", "size", "messages", "duration_ns"};

static void explain_list(sqlite3 *raw, const struct catalog_query *q, const struct list_form *form, const char *allowed) {
    char *sql = list_sql(q, form);
    explain(raw, "list", sql, allowed);
    free(sql);
}

static void no_statement_scans_a_table(void **state) {
    (void)state;
    sqlite3 *raw = open_raw();
    sqlite3_create_function(raw, "glob_match", 2, SQLITE_UTF8, NULL, no_glob, NULL, NULL);
    const char *template = NULL;
    for (size_t i = 0; i < sql_queries_count; i++) {
        if (strcmp(sql_queries[i].name, "list") == 0) {
            template = sql_queries[i].text;
        } else {
            explain(raw, sql_queries[i].name, sql_queries[i].text, sql_queries[i].text);
        }
        assert_true(i == 0 || strcmp(sql_queries[i - 1].name, sql_queries[i].name) < 0);
    }
    const char *glob = "x";
    const struct catalog_query some[] = {
        {0},
        {.collection = "a"},
        {.format = "a"},
        {.damaged_only = true},
        {.words = "a"},
        {.topics = &glob, .n_topics = 1},
        {.types = &glob, .n_types = 1},
        {.has_state = true},
        {.has_start = true, .has_end = true},
        {.collection = "a",
         .format = "a",
         .damaged_only = true,
         .words = "a",
         .topics = &glob,
         .n_topics = 1,
         .types = &glob,
         .n_types = 1,
         .has_state = true,
         .has_start = true},
    };
    static const struct catalog_query needs[] = {/* what a way goes with */
                                                 [LIST_STREAM] = {.words = "a"},
                                                 [LIST_COLLECTION] = {.collection = "a"},
                                                 [LIST_FORMAT] = {.format = "a"},
                                                 [LIST_STATE] = {.has_state = true},
                                                 [LIST_DAMAGED] = {.damaged_only = true},
                                                 [LIST_WORDS] = {.words = "a"},
                                                 [LIST_LABEL] = {0}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        for (size_t col = 0; col < sizeof columns / sizeof *columns; col++) {
            for (int bits = 0; bits < 4; bits++) {
                for (enum list_way way = LIST_WALK; way <= LIST_LABEL; way++) {
                    struct catalog_query q = some[i];
                    struct list_form form = {.way = way, .column = columns[col], .descending = bits & 1, .counting = bits & 2};
                    q.words = needs[way].words ? needs[way].words : q.words;
                    q.collection = needs[way].collection ? needs[way].collection : q.collection;
                    q.format = needs[way].format ? needs[way].format : q.format;
                    q.has_state = needs[way].has_state || q.has_state;
                    q.damaged_only = needs[way].damaged_only || q.damaged_only;
                    bool in_order = way == LIST_WALK || (way == LIST_STREAM && col == 0); /* a page of these ends when it is full */
                    explain_list(raw, &q, &form, form.counting ? template : in_order ? "" : "may sort");
                }
            }
        }
    }
    sqlite3_close(raw);
}

/* ---- threads */

static void *add_and_list(void *argument) {
    int *mine = argument;
    for (int i = 0; i < 20; i++) {
        char name[32];
        struct reel_error problem;
        struct catalog_part part;
        struct catalog_page page;
        snprintf(name, sizeof name, "same-%d", i);
        struct catalog_recording r = describe(&part, "lab", name, '1');
        *mine += catalog_add(c, &r, NULL, false, &problem);
        assert_true(catalog_list(c, &(struct catalog_query){.words = "same", .limit = 10}, &page, &problem));
        catalog_page_done(&page);
    }
    return NULL;
}

static void threads_make_each_name_once(void **state) {
    (void)state;
    enum { THREADS = 20 };
    pthread_t threads[THREADS];
    int added[THREADS] = {0}, all = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, add_and_list, &added[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all += added[i];
    }
    assert_int_equal(all, 20);
    assert_int_equal(find("same"), 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_recording_comes_back_as_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_name_means_its_newest_revision, set_up, tear_down),
        cmocka_unit_test_setup_teardown(states_come_and_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(words_and_globs_find, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pages_are_the_list_in_every_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(times_overlap_half_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_questions_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_visits_and_stops, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_file_says_what_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_statement_scans_a_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_make_each_name_once, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
