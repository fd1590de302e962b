/* Retention: what the rules take and what they leave, page by page and at once; the run does what the dry run says; the
 * trash; quotas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <string.h>

#include "catalog/access.h"
#include "maintenance/retention.h"
#include "makers/ingest_trial.h"
#include "reel/time.h"

#define DAY INT64_C(86400000000000)

static void set_rules(const char *text) {
    json_t *document = json_loads(text, 0, NULL);
    assert_non_null(document);
    if (!retention_set(app.catalog, document, &err)) {
        fail_msg("%s", err.text);
    }
    json_decref(document);
}

/* A recording of `size` bytes, `days` old; with a tag robot=… unless that is NULL. */
static void add(const char *collection, const char *name, unsigned size, int days, const char *robot) {
    struct ingest_result r;
    char text[128] = "TRIAL";
    struct catalog_tag tags[] = {{.key = (char *)"robot", .value = (char *)robot}};
    struct catalog_annotations annotations = {.tags = tags, .n_tags = robot != NULL};
    static unsigned n;
    snprintf(text + 5, sizeof text - 5, "%08u", n++);
    for (size_t i = strlen(text); i < size; i++) {
        text[i] = 'a';
        text[i + 1] = '\0';
    }
    const struct ingest_request q = {
        .collection = collection, .name = name, .annotations = robot ? &annotations : NULL};
    assert_int_equal(send_with(&q, text, INT64_MAX, &r, &err), INGEST_CREATED);
    ingest_result_done(&r);
    sqlite3 *raw;
    assert_int_equal(sqlite3_open(DATA "/catalog.db", &raw), SQLITE_OK);
    char *sql = sqlite3_mprintf("UPDATE recordings SET created_ns = %lld WHERE name = %Q",
                                (long long)(reel_now_ns() - days * DAY), name);
    assert_int_equal(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_free(sql);
    sqlite3_close(raw);
}

static void run_raw(const char *sql) {
    sqlite3 *raw;
    assert_int_equal(sqlite3_open(DATA "/catalog.db", &raw), SQLITE_OK);
    assert_int_equal(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(raw);
}

/* What would go, `most` a step, the walk taken up anew from its text each time. */
static const char *would_go(uint32_t most) {
    static char text[2048];
    struct retention_item items[RETENTION_STEP];
    struct retention_walk w = {0};
    json_t *document = retention_get(app.catalog, &err);
    assert_non_null(document);
    text[0] = '\0';
    while (!w.over) {
        uint32_t n;
        assert_true(retention_step(&app, document, reel_now_ns(), &w, most, items, &n, &err));
        assert_true(n <= most);
        for (uint32_t i = 0; i < n; i++) {
            static const char marks[] = {'a', 'b', 'p'};
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s/%s:%c", text[0] ? " " : "",
                     items[i].row.collection, items[i].row.name, marks[items[i].why]);
        }
        retention_items_done(items, n);
        if (!w.over) {
            char *at = retention_walk_text(&w);
            retention_walk_done(&w);
            assert_true(retention_walk_parse(at, &w));
            free(at);
        }
    }
    retention_walk_done(&w);
    json_decref(document);
    return text;
}

static void assert_would_go(const char *expected) {
    for (uint32_t most = 1; most <= RETENTION_STEP; most = most < 4 ? most + 1 : most * 4) {
        assert_string_equal(would_go(most), expected);
    }
}

static void nothing_is_deleted_without_rules(void **state) {
    (void)state;
    add("lab", "a", 20, 1000, NULL);
    assert_would_go("");
    set_rules("{\"rules\": [{\"collection\": \"*\"}]}");
    assert_would_go("");
}

static void the_old_go(void **state) {
    (void)state;
    add("lab", "a", 20, 40, NULL);
    add("lab", "b", 20, 10, NULL);
    add("lab", "kept", 20, 40, "r1");
    add("lab", "c", 20, 31, "r2");
    add("other", "d", 20, 400, NULL);
    set_rules("{\"rules\": [{\"collection\": \"lab\", \"max_age\": \"30d\", \"keep\": {\"robot\": \"r1\"}}]}");
    assert_would_go("lab/a:a lab/c:a");
    set_rules("{\"rules\": [{\"collection\": \"lab\", \"max_age\": \"30d\", \"keep\": {\"robot\": null}}, "
              "{\"collection\": \"*\", "
              "\"max_age\": \"300d\"}]}");
    assert_would_go("lab/a:a other/d:a");
    set_rules("{\"rules\": [{\"collection\": \"lab\", \"max_age\": \"30d\", \"keep\": {\"*\": null}}]}"); /* any tag */
    assert_would_go("lab/a:a");
    set_rules("{\"rules\": [{\"collection\": \"l*\"}, {\"collection\": \"*\", \"max_age\": \"1d\"}]}"); /* the first
                                                                                                           that matches
                                                                                                         */
    assert_would_go("other/d:a");
}

static void the_oldest_go_until_the_rest_fits(void **state) {
    (void)state;
    add("lab", "a", 20, 3, NULL);
    add("lab", "b", 30, 2, "r1");
    add("lab", "c", 40, 1, NULL);
    add("lab", "d", 50, 0, NULL);
    set_rules("{\"rules\": [{\"collection\": \"lab\", \"max_size\": 140}]}");
    assert_would_go("");
    set_rules("{\"rules\": [{\"collection\": \"lab\", \"max_size\": 139}]}");
    assert_would_go("lab/a:b");
    set_rules("{\"rules\": [{\"collection\": \"lab\", \"max_size\": 90, \"keep\": {\"robot\": \"r1\"}}]}");
    assert_would_go("lab/a:b lab/c:b");
    set_rules("{\"rules\": [{\"collection\": \"lab\", \"max_size\": 0, \"max_age\": \"60h\"}]}");
    assert_would_go("lab/a:a lab/b:b lab/c:b lab/d:b");
}

static void run_rules(void) {
    char id[JOB_ID_TEXT];
    if (!jobs_add(app.jobs, &(struct job_spec){.kind = "retention"}, id, &err) ||
        !jobs_wait(app.jobs, id, INT64_C(20000000000), &err)) {
        fail_msg("%s", err.text);
    }
}

static void the_run_matches_the_dry_run(void **state) {
    (void)state;
    char name[16];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "n%02d", i);
        add(i % 2 ? "odd" : "even", name, 20, 20 - i, i % 5 == 0 ? "r1" : NULL);
    }
    set_rules("{\"rules\": [{\"collection\": \"odd\", \"max_age\": \"10d\", \"keep\": {\"robot\": \"r1\"}}, "
              "{\"collection\": \"e*\", "
              "\"max_size\": 100}]}");
    assert_would_go("even/n00:b even/n02:b even/n04:b even/n06:b even/n08:b odd/n01:a odd/n03:a odd/n07:a odd/n09:a");
    run_rules();
    struct catalog_page page;
    char text[512] = "";
    assert_true(catalog_list(
        app.catalog, &(struct catalog_query){.has_state = true, .state = STATE_TRASHED, .limit = 100, .sort = "name"},
        &page, &err));
    for (uint32_t i = 0; i < page.n_items; i++) {
        strcat(strcat(text, page.items[i].name), " ");
    }
    catalog_page_done(&page);
    assert_string_equal(text, "n00 n01 n02 n03 n04 n06 n07 n08 n09 ");
    assert_would_go("");
    const struct audit_filter any = {
        .caller = "", .method = "", .path = "", .status_max = UINT32_MAX, .start_ns = INT64_MIN, .end_ns = INT64_MAX};
    struct audit_row rows[20];
    uint32_t n;
    assert_true(catalog_audit(app.catalog, &any, INT64_MAX, rows, 20, &n, &err));
    assert_int_equal(n, 9);
    assert_string_equal(rows[0].caller, "retention");
    assert_int_equal(rows[0].status, 204);
    audit_rows_done(rows, n);
    json_t *last = retention_last(app.catalog, &err);
    assert_int_equal(json_integer_value(json_object_get(last, "trashed")), 9);
    json_decref(last);
}

static void the_trash_is_emptied_if_a_rule_says_so(void **state) {
    (void)state;
    struct catalog_page page;
    add("lab", "a", 20, 3, NULL);
    add("lab", "b", 20, 3, NULL);
    add("lab", "c", 20, 3, NULL);
    assert_true(catalog_list(app.catalog, &(struct catalog_query){.limit = 100, .sort = "name"}, &page, &err));
    assert_true(catalog_trash(app.catalog, page.items[0].id, &err) &&
                catalog_trash(app.catalog, page.items[1].id, &err));
    run_raw("UPDATE recordings SET updated_ns = updated_ns - 8 * 86400000000000 WHERE name IN ('a', 'c')");
    assert_would_go(""); /* trash_days is 0 */
    app.config.trash_days = 9;
    assert_would_go("");
    app.config.trash_days = 7;
    assert_would_go("lab/a:p");
    int files = stored_files();
    run_rules();
    struct catalog_recording r;
    assert_false(catalog_get(app.catalog, page.items[0].id, &r, &err));
    assert_int_equal(stored_files(), files - 3);
    assert_true(catalog_get(app.catalog, page.items[1].id, &r, &err));
    catalog_recording_done(&r);
    catalog_page_done(&page);
}

static void what_is_not_understood_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "{\"rule\": []}",
        "{\"rules\": {}}",
        "{\"rules\": [1]}",
        "{\"rules\": [{}]}",
        "{\"rules\": [{\"collection\": \"\"}]}",
        "{\"rules\": [{\"collection\": \"a\", \"max_age\": 3}]}",
        "{\"rules\": [{\"collection\": \"a\", \"max_age\": \"soon\"}]}",
        "{\"rules\": [{\"collection\": \"a\", \"max_age\": \"-3d\"}]}",
        "{\"rules\": [{\"collection\": \"a\", \"max_size\": -1}]}",
        "{\"rules\": [{\"collection\": \"a\", \"max_size\": \"1\"}]}",
        "{\"rules\": [{\"collection\": \"a\", \"maxage\": \"3d\"}]}",
        "{\"rules\": [{\"collection\": \"a\", \"keep\": [\"x\"]}]}",
        "{\"rules\": [{\"collection\": \"a\", \"keep\": {\"x\": 1}}]}",
        "{\"quotas\": [{\"collection\": \"a\", \"size\": 1.5}]}",
        "{\"quotas\": [{\"size\": 1}]}",
    };
    set_rules("{\"quotas\": [{\"collection\": \"lab\", \"recordings\": 3}]}");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *document = json_loads(bad[i], 0, NULL);
        assert_non_null(document);
        if (retention_set(app.catalog, document, &err) || err.code != REEL_ARGUMENT) {
            fail_msg("%s", bad[i]);
        }
        json_decref(document);
    }
    json_t *still = retention_get(app.catalog, &err);
    assert_int_equal(json_array_size(json_object_get(still, "quotas")), 1);
    json_decref(still);
    struct retention_walk w;
    static const char *const cursors[] = {"", "t", "x:1:2:", "t:a:2:x", "t:1:2"};
    for (size_t i = 0; i < sizeof cursors / sizeof *cursors; i++) {
        assert_false(retention_walk_parse(cursors[i], &w));
    }
}

static void a_full_collection_takes_no_more(void **state) {
    (void)state;
    struct ingest_result r;
    const struct ingest_request a = {.collection = "lab", .name = "a"}, b = {.collection = "lab", .name = "b"},
                                other = {.collection = "free", .name = "b"};
    set_rules("{\"quotas\": [{\"collection\": \"l*\", \"size\": 30, \"recordings\": 2}]}");
    assert_true(ingest_check(&app, &a, 30, &err));
    assert_false(ingest_check(&app, &a, 31, &err));
    assert_int_equal(err.code, REEL_NO_SPACE);
    assert_non_null(strstr(err.text, "30 B, it has 0 B, and 31 B more"));
    assert_int_equal(send_with(&a, "TRIALaaaaaaaaaaaaaaa", INT64_MAX, &r, &err), INGEST_CREATED); /* 20 */
    ingest_result_done(&r);
    int files = stored_files();
    assert_true(ingest_check(&app, &b, 0, &err)); /* the length is not known yet */
    assert_int_equal(send_with(&b, "TRIALABCDEFG", INT64_MAX, &r, &err), INGEST_REFUSED); /* 12 */
    assert_int_equal(err.code, REEL_NO_SPACE);
    assert_int_equal(stored_files(), files);
    assert_int_equal(send_with(&other, "TRIALABCDEFG", INT64_MAX, &r, &err), INGEST_CREATED);
    ingest_result_done(&r);
    assert_int_equal(send_with(&b, "TRIALABCDE", INT64_MAX, &r, &err), INGEST_CREATED); /* 10: just full */
    char id[RECORDING_ID_TEXT];
    memcpy(id, r.recording.id, sizeof id);
    ingest_result_done(&r);
    assert_false(ingest_check(&app, &(struct ingest_request){.collection = "lab", .name = "c"}, 0, &err));
    assert_non_null(strstr(err.text, "2 recordings, and it has 2"));
    assert_true(catalog_trash(app.catalog, id, &err));
    assert_true(ingest_check(&app, &b, 10, &err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_deleted_without_rules, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_old_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_oldest_go_until_the_rest_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_run_matches_the_dry_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_trash_is_emptied_if_a_rule_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_understood_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_collection_takes_no_more, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
