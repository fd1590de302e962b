/* Announced recordings: their index is the only one there is, and nothing here makes it again; who may announce one
 * anew; what is over when another request was first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "catalog/quota.h"
#include "catalog/retention_rules.h"
#include "maintenance/fsck.h"
#include "maintenance/scrub.h"
#include "makers/ingest_trial.h"
#include "manifests/manifests.h"
#include "recordings/announce.h"
#include "scans/scan_job.h"
#include "scans/scanning.h"
#include "store/inspect.h"
#include "store/manifest.h"

#define AGENT "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define OTHER "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static struct ingest_result stored; /* whose pack is announced as that of another file */

static int begin(void **state) {
    set_up(state);
    assert_int_equal(send_text("stored.trial", "TRIALabc", &stored), INGEST_CREATED);
    return 0;
}
static int end(void **state) {
    ingest_result_done(&stored);
    return tear_down(state);
}

static struct announcement announcement_of(const char *agent, char digit) {
    struct announcement a = {.collection = "lab", .name = "far.trial", .size = 8, .of = {.robot = "rover"}};
    memset(a.of.sha256, digit, SHA256_HEX - 1);
    strcpy(a.of.agent, agent);
    return a;
}

static enum announce_step start(struct announcement *a) {
    char from[4096], bytes[8192];
    int fd;
    struct catalog_recording there;
    enum announce_step step = announce_begin(&app, a, &fd, &there, &err);
    if (step == ANNOUNCE_WRITES) {
        assert_true(store_file_path(app.store, stored.recording.content, STORE_PACK, from, sizeof from));
        AUTO_FD int pack = open(from, O_RDONLY);
        ssize_t n = read(pack, bytes, sizeof bytes);
        assert_true(n > 0 && n < (ssize_t)sizeof bytes && disk_write_all(fd, bytes, (size_t)n));
        close(fd);
    }
    return step;
}

static bool finish(struct announcement *a) {
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording r = {0};
    bool good = announce_end(&app, a, &r, &err);
    announce_drop(a);
    return good;
}

static struct announcement announced(void) {
    struct announcement a = announcement_of(AGENT, '1');
    assert_int_equal(start(&a), ANNOUNCE_WRITES);
    if (!finish(&a)) {
        fail_msg("%s", err.text);
    }
    return a;
}

static struct catalog_recording row_of(const struct announcement *a) {
    struct catalog_recording row;
    assert_true(catalog_get(app.catalog, a->id, &row, &err));
    return row;
}

static void no_scan_takes_it_for_a_failed_one(void **state) {
    (void)state;
    struct announcement a = announced();
    char job[JOB_ID_TEXT];
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording row = row_of(&a);
    assert_int_equal(row.state, STATE_ANNOUNCED);
    assert_false(scan_again(&app, &row, job, &err));
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_false(scan_missing(&app, &row, job, &err));
}

static uint64_t corrupted_packs(void) {
    struct scrub_result result;
    assert_true(scrub_run(&app, &(struct scrub_options){.from_start = true}, NULL, &result, &err));
    wait_until_idle();
    return result.corrupted_packs;
}

static void count_indexes(void *context, enum fsck_kind kind, const char *subject, const char *text,
                          const char *repaired) {
    (void)subject, (void)text;
    *(unsigned *)context += kind == FSCK_INDEX && !repaired;
}

static unsigned missed_indexes(bool repair) {
    unsigned n = 0;
    struct fsck_report report;
    app_down();
    assert_true(fsck_run(&(struct fsck_options){.data = DATA, .repair = repair, .found = count_indexes, .context = &n},
                         &report, &err));
    app_up();
    return n;
}

static void its_index_is_never_removed(void **state) {
    (void)state;
    struct announcement a = announced();
    char pack[4096];
    assert_int_equal(corrupted_packs(), 0);
    assert_int_equal(missed_indexes(true), 0);
    assert_true(store_file_path(app.store, a.content, STORE_PACK, pack, sizeof pack));
    AUTO_FD int fd = open(pack, O_RDWR);
    char byte;
    assert_int_equal(pread(fd, &byte, 1, 16), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, 16), 1);
    assert_int_equal(corrupted_packs(), 1);
    assert_int_equal(access(pack, F_OK), 0);
    assert_int_equal(missed_indexes(true), 1);
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording row = row_of(&a);
    assert_int_equal(row.state, STATE_ANNOUNCED);
    assert_int_equal(unlink(pack), 0);
    assert_int_equal(missed_indexes(true), 1);
}

static void its_index_is_read_after_an_upgrade(void **state) {
    (void)state;
    struct announcement a = announced();
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording row = row_of(&a);
    trial_format.version++;
    AUTO(reel_index_free) struct reel_index *index = scan_open_pack(&app, a.content, &err);
    assert_null(index);
    struct reel_recording *opened = recordings_get_announced(&app, &row, &err);
    assert_non_null(opened);
    assert_int_equal(reel_index_info(reel_recording_index(opened))->messages, 3);
    reel_recording_free(opened);
    assert_int_equal(missed_indexes(false), 0);
    assert_int_equal(corrupted_packs(), 1); /* that of the stored file, which is made again */
    assert_int_equal(corrupted_packs(), 0);
    opened = recordings_get_announced(&app, &row, &err);
    assert_non_null(opened);
    reel_recording_free(opened);
    trial_format.version--;
}

static void a_robot_without_its_state_announces_it_anew(void **state) {
    (void)state;
    struct announcement a = announced(), again = announcement_of(OTHER, '1');
    struct catalog_fetch fetch = {.author = "ann"}, waiting[FETCHES_MAX];
    uint32_t n;
    memcpy(fetch.recording, a.id, sizeof fetch.recording);
    assert_true(catalog_fetch_ask(app.catalog, AGENT, &fetch, &err));
    assert_int_equal(start(&again), ANNOUNCE_WRITES);
    assert_true(finish(&again));
    assert_string_equal(again.id, a.id);
    assert_true(catalog_fetches_waiting(app.catalog, AGENT, waiting, &n, &err) && n == 0);
    assert_true(catalog_fetches_waiting(app.catalog, OTHER, waiting, &n, &err) && n == 1);
    assert_true(waiting[0].row == fetch.row);
    struct announcement others[] = {announcement_of(AGENT, '2'), announcement_of(AGENT, '1'),
                                    announcement_of(AGENT, '1')};
    others[1].size++;
    strcpy(others[2].of.robot, "another");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(start(&others[i]), ANNOUNCE_REFUSED);
        assert_int_equal(err.code, REEL_CONFLICT);
    }
}

static void of_two_at_once_the_first_stays(void **state) {
    (void)state;
    struct announcement a = announced(), first = announcement_of(AGENT, '2'), second = announcement_of(AGENT, '2');
    assert_int_equal(start(&first), ANNOUNCE_WRITES);
    assert_int_equal(start(&second), ANNOUNCE_WRITES);
    assert_true(finish(&first));
    assert_false(finish(&second));
    assert_int_equal(err.code, REEL_CONFLICT);
    json_t *manifest = store_load_manifest(app.store, first.content, &err);
    assert_non_null(store_manifest_entry(manifest, a.id));
    json_decref(manifest);
    AUTO(reel_index_free) struct reel_index *index = scan_open_pack(&app, first.content, &err);
    assert_non_null(index);

    /* the file of what was announced first arrives, but the row is of another one by now */
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording r = {0};
    assert_true(catalog_get(app.catalog, stored.recording.id, &r, &err));
    memcpy(r.id, a.id, sizeof r.id);
    assert_false(announce_arrives(&app, &r, a.content, index, NULL, &err));
    assert_int_equal(err.code, REEL_CONFLICT);
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording row = row_of(&a);
    assert_true(row.state == STATE_ANNOUNCED && strcmp(row.content, first.content) == 0);
}

static void it_takes_no_room_where_it_is_moved_to(void **state) {
    (void)state;
    struct announcement a = announced();
    json_t *rules = json_loads("{\"rules\": [], \"quotas\": [{\"collection\": \"small\", \"size\": 7}]}", 0, NULL);
    assert_true(retention_set(app.catalog, rules, &err));
    json_decref(rules);
    assert_false(quota_check_move(app.catalog, stored.recording.id, "small", &err));
    assert_int_equal(err.code, REEL_NO_SPACE);
    assert_true(quota_check_move(app.catalog, a.id, "small", &err));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(no_scan_takes_it_for_a_failed_one),  TEST(its_index_is_never_removed),
        TEST(its_index_is_read_after_an_upgrade), TEST(a_robot_without_its_state_announces_it_anew),
        TEST(of_two_at_once_the_first_stays),     TEST(it_takes_no_room_where_it_is_moved_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
