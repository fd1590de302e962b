/* The catalog: what goes in comes out, names and revisions, states, the file itself, many threads at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>

#include "catalog/servers.h"
#include "makers/catalog_fixture.h"

static void a_recording_comes_back_as_it_was(void **state) {
    (void)state;
    struct catalog_part parts[2] = {{.size = 7, .file_name = "a.traj"}, {.size = 8, .file_name = "a.state"}};
    memset(parts[0].sha256, 'a', 64);
    memset(parts[1].sha256, 'b', 64);
    struct catalog_recording r = {.collection = (char *)"lab",
                                  .name = (char *)"d/a",
                                  .state = STATE_READY,
                                  .size = 15,
                                  .format = (char *)"toy",
                                  .container = (char *)"TOY1",
                                  .clock = REEL_CLOCK_RELATIVE,
                                  .clock_note = (char *)"why",
                                  .start_ns = -5,
                                  .end_ns = INT64_MAX,
                                  .messages = 3,
                                  .payload_bytes = 9,
                                  .n_channels = 2,
                                  .damaged = true,
                                  .findings = 4,
                                  .lost_bytes = 6,
                                  .problem = (char *)"",
                                  .parts = parts,
                                  .n_parts = 2};
    memset(r.content, 'c', 64);
    assert_true(catalog_add(c, &r, NULL, false, &err));
    assert_int_equal(strlen(r.id), 32);
    assert_int_equal(r.revision, 1);
    const char *keys[] = {r.id, "name:lab/d/a",
                          "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"};
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
    assert_true(catalog_purge_at(c, first, CATALOG_ANY_VERSION, &err));
    char content[SHA256_HEX] = {0};
    memset(content, '1', 64);
    assert_true(catalog_content_used(c, content, &used, &err) && used);
    assert_true(catalog_purge_at(c, elsewhere, CATALOG_ANY_VERSION, &err));
    assert_true(catalog_content_used(c, content, &used, &err) && !used);
    assert_true(catalog_blob_used(c, content, &used, &err) && !used);
    assert_false(catalog_purge_at(c, first, CATALOG_ANY_VERSION, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
}

static void a_change_checks_the_version(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    struct catalog_recording r;
    assert_true(put("lab", "a", '1', false, id));
    assert_true(catalog_get(c, id, &r, &err));
    int64_t first = r.updated_ns;
    catalog_recording_done(&r);
    assert_true(catalog_set_state(c, id, STATE_MISSING, "gone", &err)); /* what comes between */
    assert_false(catalog_trash_at(c, id, first, &err));
    assert_int_equal(err.code, REEL_CHANGED);
    assert_false(catalog_purge_at(c, id, first, &err));
    assert_int_equal(err.code, REEL_CHANGED);
    assert_true(catalog_get(c, id, &r, &err));
    assert_int_equal(r.state, STATE_MISSING);
    int64_t second = r.updated_ns;
    catalog_recording_done(&r);
    assert_true(catalog_trash_at(c, id, second, &err));
    assert_false(catalog_purge_at(c, id, second, &err));
    assert_true(catalog_get(c, id, &r, &err));
    second = r.updated_ns;
    catalog_recording_done(&r);
    assert_true(catalog_purge_at(c, id, second, &err));
    assert_false(catalog_purge_at(c, id, second, &err));
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
    struct catalog_statistics f;
    assert_true(put("lab", "b", '2', false, NULL));
    assert_true(catalog_trash(c, id, &err));
    assert_true(catalog_statistics(c, &f, &err));
    assert_int_equal(f.recordings[STATE_READY], 1);
    assert_int_equal(f.recordings[STATE_TRASHED], 1);
    assert_int_equal(f.bytes, 20);
    assert_int_equal(f.messages, 2);
    assert_true(catalog_purge_at(c, id, CATALOG_ANY_VERSION, &err));
    assert_true(catalog_statistics(c, &f, &err));
    assert_int_equal(f.recordings[STATE_TRASHED], 0);
    assert_int_equal(f.bytes, 10);
    enum recording_state parsed;
    assert_true(recording_state_parse("missing", &parsed));
    assert_int_equal(parsed, STATE_MISSING);
    assert_false(recording_state_parse("lost", &parsed));
    assert_true(catalog_ready(c));
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

static int64_t pragma(const char *sql) {
    sqlite3 *raw = open_raw();
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(raw, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t value = sqlite3_column_type(s, 0) == SQLITE_TEXT
                        ? strcmp((const char *)sqlite3_column_text(s, 0), "wal") == 0
                        : sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(raw);
    return value;
}
static void run_raw(const char *sql) {
    sqlite3 *raw = open_raw();
    assert_int_equal(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(raw);
}

static void the_file_identifies_itself(void **state) {
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
    assert_int_equal(err.code, REEL_CATALOG);
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

static void servers_come_and_go(void **state) {
    (void)state;
    enum { OLD = 1000, NOW = 9000 };
    struct catalog_server of_one = {.id = "00000000000000000000000000000001",
                                    .address = "http://10.0.0.1:8040",
                                    .heartbeat_ns = OLD},
                          found;
    struct catalog_recording r = {.collection = (char *)"lab",
                                  .name = (char *)"live",
                                  .state = STATE_RECORDING,
                                  .format = (char *)"mcap"},
                             got;
    struct catalog_unattended lost[2];
    uint32_t n;
    r.home = of_one.id;
    memset(r.content, 'd', SHA256_HEX - 1);
    assert_true(catalog_add(c, &r, NULL, false, &err));
    assert_true(catalog_server_heartbeat(c, &of_one, &err));
    assert_true(catalog_server_find(c, of_one.id, &found, &err));
    assert_string_equal(found.address, of_one.address);
    assert_int_equal(found.heartbeat_ns, OLD);
    assert_false(catalog_server_find(c, "0", &found, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);

    assert_true(catalog_unattended(c, OLD, lost, 2, &n, &err));
    assert_int_equal(n, 0);
    assert_true(catalog_unattended(c, OLD + 1, lost, 2, &n, &err));
    assert_int_equal(n, 1);
    assert_string_equal(lost[0].id, r.id);
    assert_string_equal(lost[0].home, of_one.id);
    assert_true(catalog_abandon(c, r.id, OLD, "it lives", &err)); /* it has come back meanwhile: nothing happens */
    assert_true(catalog_get(c, r.id, &got, &err));
    assert_int_equal(got.state, STATE_RECORDING);
    assert_string_equal(got.home, of_one.id);
    catalog_recording_done(&got);

    assert_true(catalog_abandon(c, r.id, OLD + 1, "its server is gone", &err));
    assert_true(catalog_get(c, r.id, &got, &err));
    assert_int_equal(got.state, STATE_MISSING);
    assert_string_equal(got.problem, "its server is gone");
    catalog_recording_done(&got);
    of_one.heartbeat_ns = NOW;
    assert_true(catalog_server_heartbeat(c, &of_one, &err));
    assert_true(catalog_take_home(c, r.id, of_one.id, &err));
    assert_true(catalog_get(c, r.id, &got, &err));
    assert_int_equal(got.state, STATE_RECORDING);
    assert_string_equal(got.problem, "");
    catalog_recording_done(&got);
    assert_true(catalog_set_state(c, r.id, STATE_READY, "", &err));
    assert_false(catalog_take_home(c, r.id, of_one.id, &err)); /* it is finished */
    assert_true(catalog_servers_trim(c, NOW + 1, &err));
    assert_false(catalog_server_find(c, of_one.id, &found, &err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_recording_comes_back_as_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_name_means_its_newest_revision, set_up, tear_down),
        cmocka_unit_test_setup_teardown(states_come_and_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_change_checks_the_version, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_visits_and_stops, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_file_identifies_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(servers_come_and_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_make_each_name_once, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
