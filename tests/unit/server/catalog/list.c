/* The list: words, globs, orders, pages – and that no statement of the catalog walks a table it need not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "catalog/columns.h"
#include "catalog/list.h"
#include "catalog/sqlite/sqlite.h"
#include "catalog/text.h"
#include "makers/catalog_fixture.h"

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
                          "runs/ccny_ortho_scan_v1.2.bag",
                          "rtho",
                          "tho_sc",
                          "aser",
                          "c",
                          "v1",
                          "sc",
                          "\"ortho_scan\"",
                          "collection:none or ortho -nothing",
                          "ortho or nothing -nothing",
                          "(ortho | nothing) -(nothing or none)",
                          "nothing -size:>10",
                          "ortho created:>now-1h",
                          "size:10 messages:1 duration:0s 1970-01-01 ortho"};
    for (size_t i = 0; i < sizeof hits / sizeof *hits; i++) {
        uint32_t n = find(hits[i]);
        if (n != (strcmp(hits[i], "/") == 0 ? 2 : 1)) {
            fail_msg("%s found %u", hits[i], n);
        }
    }
    const char *misses[] = {"orthox", "ortho nothing", "NOT ortho",    "NEAR(ortho scan)", "nothing*ortho", "ortho\"",
                            "an",     "\"orth\"",      "\"ortho_sca\""};
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
    const char *both[] = {"/scan", "/tf*"}, *one[] = {"/scan", "/none"}, *types[] = {"sensor_msgs/*"},
               *no_types[] = {"sensor_msgs"};
    assert_int_equal(
        count(&(struct catalog_query){.topics = both, .n_topics = 2, .types = types, .n_types = 1, .words = "ortho"}),
        1);
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

static const char *const all_sorts[] = {"created",  "-created",  "name",     "-name",    "start",
                                        "-start",   "end",       "-end",     "size",     "-size",
                                        "messages", "-messages", "duration", "-duration"};

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
        assert_int_equal(
            walk_pages(&(struct catalog_query){.collection = "odd", .format = "toy", .words = "n0 odd"}, sort), 3);
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
    } const cases[] = {{0, 100, 0},   {0, 101, 1},   {200, 300, 1},
                       {201, 300, 0}, {120, 130, 1}, {INT64_MIN, INT64_MAX, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(count(&(struct catalog_query){
                             .has_start = true, .start_ns = cases[i].start, .has_end = true, .end_ns = cases[i].end}),
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

static unsigned n_scans;

/* Counts SCAN of a base table that no "scan: NAME:" of the statement allows, and sorting where that is not allowed. */
static void explain(sqlite3 *raw, const char *name, const char *text, const char *allowed) {
    char *sql = columns_expand(text, sqlite_arrays);
    char *question = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(raw, question, -1, &s, NULL) != SQLITE_OK) {
        fail_msg("%s: %s\n%s", name, sqlite3_errmsg(raw), sql);
    }
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(s, 3);
        char word[64] = "", mark[80];
        bool scans = sscanf(step, "SCAN %60s", word) == 1 && !strstr(step, "VIRTUAL TABLE") && word[0] != '(' &&
                     strcmp(word, "CONSTANT") != 0 && strcmp(word, "found") != 0; /* a query within the query, whose own
                                                                                     steps are listed, too */
        snprintf(mark, sizeof mark, "scan: %s:", word);
        bool sorts = strstr(step, "TEMP B-TREE FOR ORDER BY") && !strstr(allowed, "may sort");
        if ((scans && !strstr(allowed, mark)) || sorts) {
            print_error("%s: %s\n%s\n", name, step, sql);
            n_scans++; /* all of them are reported */
        }
    }
    sqlite3_finalize(s);
    sqlite3_free(question);
    free(sql);
}

/* A walk and a gather of these conditions, in each order; neither may read a table that it need not, nor a walk sort.
 */
static void explain_list(sqlite3 *raw, const struct list_query *query) {
    for (const struct column *column = recording_columns; column->name; column++) {
        for (int bits = 0; column->sort && bits < 16; bits++) {
            struct list_plan plan = {.way = bits & 1 ? LIST_GATHER : LIST_WALK,
                                     .column = column->name,
                                     .descending = bits & 2,
                                     .bounded = bits & 4,
                                     .window = bits & 8 && strcmp(column->name, "row") == 0,
                                     .driver = list_driver(query, 0)};
            const char *allowed = plan.way == LIST_WALK ? query->has_trash ? "scan: r: may sort" : "scan: r:"
                                                        : "scan: width: scan: found: may sort";
            if (plan.way == LIST_GATHER && !plan.driver) {
                continue;
            }
            char *sql = list_sql(query, &plan);
            explain(raw, "list", sql, allowed);
            free(sql);
            plan.counting = true;
            sql = list_sql(query, &plan);
            explain(raw, "list, counting", sql, allowed);
            free(sql);
            sql = list_sql_edge(&plan);
            explain(raw, "edge", sql, "scan: r:"); /* to the end of the window, by the index of the sort */
            free(sql);
        }
    }
}

static void explain_conditions(sqlite3 *raw, struct condition *conditions, uint32_t n) {
    struct list_query query = {.conditions = conditions, .n = n};
    for (uint32_t i = 0; i < n; i++) {
        query.has_trash = query.has_trash || conditions[i].has_trash;
    }
    explain_list(raw, &query);
    for (uint32_t i = 1; i < n; i++) {
        char *sql = list_can_gather(&query, i) ? list_sql_count(&query, i) : NULL;
        if (sql) {
            explain(raw, "estimate", sql, "scan: width: scan: sums:");
        }
        free(sql);
    }
    char *sql = list_sql_sample(&query);
    explain(raw, "sample", sql, "");
    free(sql);
}

static void no_statement_scans_a_table(void **state) {
    (void)state;
    sqlite3 *raw = open_raw();
    assert_int_equal(text_register(raw), SQLITE_OK);
    for (size_t i = 0; i < sql_statements_count; i++) {
        explain(raw, sql_statements[i].name, sql_statements[i].text, sql_statements[i].text);
        assert_true(i == 0 || strcmp(sql_statements[i - 1].name, sql_statements[i].name) < 0);
    }
    const struct condition leaves[] = {
        {.kind = CONDITION_SET, .column = "collection"},
        {.kind = CONDITION_SET, .column = "format"},
        {.kind = CONDITION_SET, .column = "state"},
        {.kind = CONDITION_SET, .column = "state", .has_trash = true},
        {.kind = CONDITION_SET, .column = "group_name"},
        {.kind = CONDITION_SET, .column = "damaged"},
        {.kind = CONDITION_RANGE, .column = "size"},
        {.kind = CONDITION_RANGE, .column = "duration_ns"},
        {.kind = CONDITION_RANGE, .column = "messages"},
        {.kind = CONDITION_RANGE, .column = "created_ns"},
        {.kind = CONDITION_SPAN},
        {.kind = CONDITION_LABELS, .column = "channel_labels"},
        {.kind = CONDITION_LABELS, .column = "metadata_labels"},
        {.kind = CONDITION_TAGS, .column = "key"},
        {.kind = CONDITION_TAGS, .column = "value"},
        {.kind = CONDITION_TEXT},
        {.kind = CONDITION_TEXT, .kinds = KINDS_ALL},
    };
    enum { LEAVES = sizeof leaves / sizeof *leaves };
    explain_conditions(raw, (struct condition[]){{.kind = CONDITION_ALL}}, 1);
    for (uint32_t i = 0; i < LEAVES; i++) {
        struct condition alone[] = {{.kind = CONDITION_ALL, .first = 1}, leaves[i]};
        explain_conditions(raw, alone, 2);
        struct condition other = leaves[(i + 5) % LEAVES], third = leaves[(i + 11) % LEAVES];
        other.next = 4;
        third.negated = true;
        struct condition either[] = {{.kind = CONDITION_ALL, .first = 1},
                                     {.kind = CONDITION_ANY, .first = 2, .next = 5},
                                     other,
                                     third,
                                     leaves[i],
                                     third};
        either[2].next = 4;
        explain_conditions(raw, either, 6);
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
