/* The list: words, globs, orders, pages – and that no statement of the catalog walks a table it need not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "catalog/columns.h"
#include "catalog/list.h"
#include "unit/catalog_fixture.h"

/* Two channels: /scan of sensor_msgs/LaserScan and /tf[0] of tf/tfMessage. */
static struct reel_recording *make_recording(struct toy *toy) {
    toy_start(toy, REEL_CLOCK_WALL);
    toy_channel(toy, &(struct reel_channel){.name = "/scan", .type = "sensor_msgs/LaserScan", .encoding = "ros1"});
    toy_channel(toy, &(struct reel_channel){.name = "/tf[0]", .type = "tf/tfMessage", .encoding = "ros1"});
    toy_message(toy, 0, 1000, 1, "abc", 3);
    return toy_open(toy);
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
    const char *misses[] = {"orthox",           "ortho nothing",    "name:nothing",  "NOT ortho",
                            "ortho OR nothing", "NEAR(ortho scan)", "nothing*ortho", "ortho\""};
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
    assert_true(catalog_purge_at(c, r.id, CATALOG_ANY_VERSION, &err));
    assert_int_equal(find("ortho"), 0);
    assert_int_equal(find_topic("*"), 0);
    reel_recording_free(toys);
    toy_free(&toy);
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

static void bad_questions_are_reported(void **state) {
    (void)state;
    put_many();
    struct catalog_page page;
    assert_true(catalog_list(c, &(struct catalog_query){.limit = 1, .sort = "name"}, &page, &err));
    const struct catalog_query bad[] = {
        {.sort = "colour"},
        {.sort = "-"},
        {.sort = "--name"},
        {.cursor = "x"},
        {.cursor = "00"},
        {.cursor = ""},
        {.cursor = page.next},
        {.cursor = "0a0a0a0a"},
        {.cursor = "2d637265617465640a780a31"},
        {.cursor = "2d637265617465640a310a78"}, /* "-created\nx\n1", "-created\n1\nx" */
        {.cursor = "2d637265617465640a310a"},
        {.sort = "name", .cursor = "6e616d650a2b310a61"}, /* "-created\n1\n", "name\n+1\na" */
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

static void no_glob(sqlite3_context *context, int argc, sqlite3_value **argv) {
    (void)argc;
    (void)argv;
    sqlite3_result_int(context, 0);
}

static unsigned n_scans;

/* Counts SCAN of a base table that the file's "scan: NAME:" does not name, and sorting where that is not allowed. */
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
            print_error("%s: %s\n%s\n", name, step, sql);
            n_scans++; /* all of them are told */
        }
    }
    sqlite3_finalize(s);
    sqlite3_free(question);
}

static void explain_list(sqlite3 *raw, const struct list_plan *plan, const char *allowed) {
    char *sql = list_sql(plan);
    explain(raw, "list", sql, allowed);
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(raw, sql, -1, &s, NULL), SQLITE_OK);
    sqlite3_finalize(s);
    free(sql);
}

/* What a way goes with. */
static uint32_t filters_of(enum list_driver driver) {
    static const uint32_t needs[LIST_DRIVERS] = {[LIST_COLLECTION] = LIST_BIT(FILTER_COLLECTIONS),
                                                 [LIST_GROUP] = LIST_BIT(FILTER_GROUPS),
                                                 [LIST_ALLOWED] = LIST_BIT(FILTER_ALLOWED),
                                                 [LIST_FORMAT] = LIST_BIT(FILTER_FORMATS),
                                                 [LIST_STATE] = LIST_BIT(FILTER_STATES),
                                                 [LIST_DAMAGED] = LIST_BIT(FILTER_DAMAGED),
                                                 [LIST_SIZE] = LIST_BIT(FILTER_SIZE),
                                                 [LIST_DURATION] = LIST_BIT(FILTER_DURATION),
                                                 [LIST_MESSAGES] = LIST_BIT(FILTER_MESSAGES),
                                                 [LIST_WORDS] = LIST_BIT(FILTER_WORDS),
                                                 [LIST_INTERVAL] = LIST_BIT(FILTER_START),
                                                 [LIST_STREAM_WORDS] = LIST_BIT(FILTER_WORDS),
                                                 [LIST_STREAM_SPANS] = LIST_BIT(FILTER_START),
                                                 [LIST_FOUND] = LIST_BIT(FILTER_TRASH)};
    return needs[driver];
}

static bool in_order(enum list_driver driver) {
    return driver >= LIST_STREAM_WORDS;
}
static bool leads(enum list_driver driver) {
    return driver == LIST_LINK || driver == LIST_STREAM_LINK || driver == LIST_STREAM_LINKS;
}

static void explain_way(sqlite3 *raw, enum list_driver driver, uint32_t filters, const char *template) {
    const struct list_link links[] = {{.by = BY_TAG_VALUE}, {.by = BY_LABEL}, {.by = BY_TAG_KEY, .negated = true}};
    for (const struct column *column = recording_columns; column->name; column++) {
        if (!column->sort || (in_order(driver) && strcmp(column->name, "row") != 0)) {
            continue;
        }
        for (int bits = 0; bits < 4; bits++) {
            struct list_plan plan = {.driver = driver,
                                     .column = column->name,
                                     .descending = bits & 1,
                                     .counting = bits & 2,
                                     .filters = filters | filters_of(driver),
                                     .links = links,
                                     .n_links = leads(driver) || filters == 0xffffffffu ? 3 : 0};
            for (plan.driving_link = 0; plan.driving_link < (leads(driver) ? 2 : 1); plan.driving_link++) {
                bool sorted =
                    driver == LIST_WALK || (in_order(driver) && driver != LIST_STREAM_LINKS); /* a page of these ends when it is full */
                explain_list(raw, &plan, plan.counting ? template : sorted ? "scan: width:" : "scan: width: may sort");
            }
        }
    }
}

static void no_statement_scans_a_table(void **state) {
    (void)state;
    sqlite3 *raw = open_raw();
    sqlite3_create_function(raw, "glob_match", 2, SQLITE_UTF8, NULL, no_glob, NULL, NULL);
    const char *template = "";
    for (size_t i = 0; i < sql_queries_count; i++) {
        if (strcmp(sql_queries[i].name, "list") == 0) {
            template = sql_queries[i].text;
        } else {
            char *sql = columns_expand(sql_queries[i].text);
            explain(raw, sql_queries[i].name, sql, sql);
            free(sql);
        }
        assert_true(i == 0 || strcmp(sql_queries[i - 1].name, sql_queries[i].name) < 0);
    }
    const uint32_t all = 0xffffffffu, shown = ~LIST_BIT(FILTER_TRASH);
    for (enum list_driver driver = LIST_WALK; driver < LIST_DRIVERS; driver++) {
        explain_way(raw, driver, 0, template);
        for (enum list_filter filter = 0; filter <= FILTER_CEILING; filter++) {
            if (filter != FILTER_TRASH) {
                explain_way(raw, driver, LIST_BIT(filter), template);
            }
        }
        explain_way(raw, driver, all & shown, template);
    }
    sqlite3_close(raw);
    assert_int_equal(n_scans, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(words_and_globs_find, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pages_are_the_list_in_every_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(times_overlap_half_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_questions_are_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_statement_scans_a_table, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
