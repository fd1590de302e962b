/* Changes: what triggers write, who sees it, what is kept; the feed wakes only who waits; webhooks as rows, their
 * addresses and signatures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "catalog/access.h"
#include "catalog/jobs.h"
#include "events/feed.h"
#include "events/webhooks.h"
#include "makers/catalog_fixture.h"
#include "makers/one_thread.h"
#include "reel/time.h"

static const struct change_filter everything = {0};
#define SECOND INT64_C(1000000000)

/* Kinds (and their details) after `seq`, as one text. */
static const char *listed(const struct change_filter *filter, int64_t seq) {
    static char text[4096];
    json_t *items = json_array(), *item;
    size_t i;
    assert_true(catalog_changes(c, filter, &seq, 1000, items, &err));
    text[0] = '\0';
    json_array_foreach(items, i, item) {
        const char *key;
        json_t *value;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %s/%s", i > 0 ? ", " : "",
                 json_string_value(json_object_get(item, "kind")),
                 json_string_value(json_object_get(item, "collection")),
                 json_string_value(json_object_get(item, "name")));
        json_object_foreach(json_object_get(item, "detail"), key, value) {
            snprintf(text + strlen(text), sizeof text - strlen(text), " %s=%s", key,
                     strlen(json_string_value(value)) == 32 ? "ID" : json_string_value(value));
        }
    }
    json_decref(items);
    return text;
}

static int64_t newest(void) {
    int64_t first, last;
    assert_true(catalog_changes_ends(c, &first, &last, &err));
    return last;
}

static void the_changes_of_a_recording_are_in_order(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    int64_t first, last;
    assert_true(catalog_changes_ends(c, &first, &last, &err));
    assert_int_equal(first, last + 1);
    /* a catalog made anew goes on after the one before it */
    assert_true(last > (reel_now_ns() / SECOND - 3600) * 1000);
    assert_true(put("lab", "a", '1', false, id));
    assert_int_equal(newest(), last + 2);
    assert_string_equal(listed(&everything, 0), "recording.created lab/a, scan.done lab/a");
    int64_t at = newest();
    assert_true(catalog_trash(c, id, &err));
    assert_true(catalog_restore(c, id, &err));
    assert_true(catalog_set_state(c, id, STATE_MISSING, "gone", &err));
    assert_true(catalog_set_state(c, id, STATE_FAILED, "it \"is\" broken", &err));
    assert_true(catalog_set_state(c, id, STATE_FAILED, "still", &err));
    assert_string_equal(listed(&everything, at),
                        "recording.trashed lab/a, recording.restored lab/a, file.missing lab/a, "
                        "scan.failed lab/a problem=it \"is\" broken, recording.updated lab/a");
    at = newest();
    assert_true(catalog_purge_at(c, id, CATALOG_ANY_VERSION, &err));
    assert_string_equal(listed(&everything, at), "recording.purged lab/a");
}

static void run_raw(const char *sql) {
    sqlite3 *raw = open_raw();
    char *why = NULL;
    if (sqlite3_exec(raw, sql, NULL, NULL, &why) != SQLITE_OK) {
        fail_msg("%s: %s", sql, why);
    }
    sqlite3_close(raw);
}

static void annotations_are_reported(void **state) {
    (void)state;
    assert_true(put("lab", "a", '1', false, NULL));
    int64_t at = newest();
    run_raw("INSERT INTO tag_keys (id, name) VALUES (1, 'robot'); INSERT INTO tag_values (id, key, value) VALUES (1, "
            "1, 'r1'), (2, 1, 'r2');"
            "INSERT INTO recording_tags (recording, key, value) VALUES (1, 1, 1); UPDATE recording_tags SET value = 1; "
            "UPDATE recording_tags "
            "SET value = 2;"
            "DELETE FROM recording_tags");
    assert_string_equal(
        listed(&everything, at),
        "tag.set lab/a tag=robot value=r1, tag.set lab/a tag=robot value=r2, tag.unset lab/a tag=robot");
    at = newest();
    run_raw("INSERT INTO notes (id, recording, author, text, created_ns, updated_ns) VALUES (randomblob(16), 1, 'ann', "
            "'x', 1, 1); UPDATE "
            "notes SET text = 'y';"
            "DELETE FROM notes;"
            "INSERT INTO events (id, recording, start_ns, end_ns, author, created_ns, updated_ns, title, tags) VALUES "
            "(randomblob(16), 1, "
            "1, 2, 'ann', 1, 1, 't', '');"
            "UPDATE events SET title = 'u'; DELETE FROM events");
    assert_string_equal(listed(&everything, at),
                        "note.added lab/a note=ID, note.changed lab/a note=ID, note.removed lab/a note=ID, "
                        "event.added lab/a event=ID, event.changed lab/a event=ID, event.removed lab/a event=ID");
}

static void a_move_is_reported_to_both_collections(void **state) {
    (void)state;
    const char *const lab[] = {"lab*", NULL}, *const other[] = {"other", NULL}, *const scans[] = {"scan.*", NULL};
    assert_true(put("lab1", "a", '1', false, NULL));
    int64_t at = newest();
    run_raw("UPDATE recordings SET name = 'b'; UPDATE recordings SET collection = 'other', name = 'secret'");
    assert_string_equal(listed(&(struct change_filter){.collections = lab}, at),
                        "recording.renamed lab1/b was=a, recording.left lab1/b");
    assert_string_equal(listed(&(struct change_filter){.collections = other}, at), "recording.renamed other/secret");
    assert_string_equal(listed(&(struct change_filter){.kinds = scans, .collections = lab}, 0), "scan.done lab1/a");
    assert_string_equal(listed(&(struct change_filter){.kinds = scans, .collections = other}, 0), "");
}

static void end_job(struct catalog_job *job, enum job_state state) {
    bool added;
    job->state = JOB_RUNNING;
    job->options = (char *)"";
    memcpy(job->owner, "me", 3);
    assert_true(catalog_job_add(c, job, &added, &err) && added);
    job->state = state;
    assert_true(catalog_job_end(c, job, &(struct catalog_job_ending){.change = true, .keep = true}, &err));
}

static void the_end_of_a_job_is_reported_to_its_owner(void **state) {
    (void)state;
    const char *const all[] = {"*", NULL}, *const other[] = {"other", NULL};
    int64_t at = newest();
    end_job(&(struct catalog_job){.kind = "import", .subject = "day", .collection = "lab"}, JOB_DONE);
    end_job(&(struct catalog_job){.kind = "backup", .subject = "all"}, JOB_FAILED);
    assert_string_equal(listed(&everything, at), "job.done lab/day kind=import, job.failed /all kind=backup");
    assert_string_equal(listed(&(struct change_filter){.collections = all}, at), "job.done lab/day kind=import");
    assert_string_equal(listed(&(struct change_filter){.collections = other}, at), "");
}

static void a_rolled_back_change_is_not_reported(void **state) {
    (void)state;
    assert_true(put("lab", "a", '1', false, NULL));
    int64_t at = newest();
    assert_false(put("lab", "a", '2', false, NULL)); /* refused in its transaction */
    assert_string_equal(listed(&everything, at), "");
    assert_true(put("lab", "b", '2', false, NULL));
    assert_int_equal(newest(), at + 2); /* no hole */
}

static void pages_go_on_where_they_ended(void **state) {
    (void)state;
    const char *const odd[] = {"odd", NULL};
    put_many();
    int64_t seq = 0, before, all = newest();
    uint32_t n = 0;
    const struct change_filter filter = {.collections = odd};
    do {
        json_t *items = json_array();
        before = seq;
        assert_true(catalog_changes(c, &filter, &seq, 3, items, &err));
        assert_true(json_array_size(items) <= 3);
        for (size_t i = 0; i < json_array_size(items); i++, n++) {
            int64_t at = (int64_t)json_integer_value(json_object_get(json_array_get(items, i), "seq"));
            assert_true(at > before && at <= seq);
            assert_string_equal(json_string_value(json_object_get(json_array_get(items, i), "collection")), "odd");
        }
        json_decref(items);
    } while (before != seq);
    assert_int_equal(seq, all);
    assert_int_equal(n, 18 + 18 + 4); /* added, scanned or failed, and trashed */
}

static void only_so_many_are_kept(void **state) {
    (void)state;
    SKIP_WITH_TSAN();
    int64_t first, last, begun = newest();
    assert_true(put("lab", "a", '1', false, NULL));
    run_raw("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100010) "
            "INSERT INTO changes (kind, recording, collection, name) SELECT 'test', randomblob(16), 'lab', 'x' FROM n");
    assert_true(catalog_changes_ends(c, &first, &last, &err));
    assert_int_equal(last, begun + 100012);
    assert_int_equal(last - first + 1, CHANGES_KEPT);
    run_raw("UPDATE changes SET time_ns = time_ns - 2600000000000000");
    run_raw("INSERT INTO changes (kind, recording, collection, name) VALUES ('test', randomblob(16), 'lab', 'x')");
    int64_t then = first;
    assert_true(catalog_changes_ends(c, &first, &last, &err));
    assert_int_equal(first, then + 3); /* one for the number, two for their age */
}

/* ---- the feed */

static void a_commit_wakes_who_waits(void **state) {
    (void)state;
    struct feed *f = feed_open(c, &err);
    assert_non_null(f);
    assert_int_equal(feed_wait(f, newest(), SECOND / 20), FEED_QUIET);
    assert_true(put("lab", "a", '1', false, NULL));
    assert_int_equal(feed_wait(f, 0, 5 * SECOND), FEED_NEWS); /* though no client waited when it was committed */
    assert_int_equal(feed_wait(f, newest(), SECOND / 20), FEED_QUIET);
    run_raw(
        "INSERT INTO changes (kind, recording, collection, name) VALUES ('test', randomblob(16), 'lab', 'x')"); /* as
                                                                                                                   another
                                                                                                                   process
                                                                                                                   would
                                                                                                                 */
    assert_int_equal(feed_wait(f, newest() - 1, 5 * SECOND), FEED_NEWS);
    assert_int_equal(feed_wait(f, INT64_MAX, 0), FEED_QUIET);
    assert_true(feed_join(f, 2) && feed_join(f, 2));
    assert_false(feed_join(f, 2));
    feed_leave(f);
    assert_true(feed_join(f, 2));
    feed_stop(f);
    assert_int_equal(feed_wait(f, 0, 5 * SECOND), FEED_OVER);
    assert_false(feed_join(f, 100));
    feed_free(f);
    assert_true(put("lab", "b", '2', false, NULL));
}

struct waiter {
    struct feed *feed;
    int64_t seq, woken_ns;
    atomic_bool waits;
    enum feed_news news;
};
static void *wait_for_news(void *context) {
    struct waiter *w = context;
    atomic_store(&w->waits, true);
    w->news = feed_wait(w->feed, w->seq, 20 * SECOND);
    w->woken_ns = reel_now_ns();
    return NULL;
}

static void many_wait_and_all_wake(void **state) {
    (void)state;
    enum { N = 20 };
    struct waiter waiters[N];
    pthread_t threads[N];
    struct feed *f = feed_open(c, &err);
    for (int i = 0; i < N; i++) {
        waiters[i] = (struct waiter){.feed = f, .seq = i % 2 ? 0 : INT64_MAX - 1};
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_news, &waiters[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        while (!atomic_load(&waiters[i].waits)) {
            usleep(500);
        }
    }
    usleep(20000);
    assert_true(put("lab", "a", '1', false, NULL));
    int64_t begun = reel_now_ns();
    for (int i = 1; i < N; i += 2) {
        pthread_join(threads[i], NULL);
        assert_int_equal(waiters[i].news, FEED_NEWS);
        assert_true(waiters[i].woken_ns - begun < 15 * SECOND);
    }
    feed_stop(f);
    for (int i = 0; i < N; i += 2) {
        pthread_join(threads[i], NULL);
        assert_int_equal(waiters[i].news, FEED_OVER);
    }
    feed_free(f);
}

/* ---- webhooks */

static struct webhook hook_of(const char *url) {
    return (struct webhook){.url = strdup(url),
                            .secret = strdup("0123456789abcdef"),
                            .events = json_pack("[s]", "recording.*"),
                            .collections = json_array()};
}

static void a_webhook_remembers(void **state) {
    (void)state;
    assert_true(put("lab", "a", '1', false, NULL));
    struct webhook w = hook_of("https://example.org/x"), again;
    assert_true(catalog_webhook_add(c, &w, &err));
    assert_true(catalog_webhook_get(c, w.row, &again, &err));
    assert_string_equal(again.url, w.url);
    assert_string_equal(again.secret, w.secret);
    assert_true(json_equal(again.events, w.events));
    int64_t at = newest();
    assert_int_equal(again.seq, at); /* of what is to come only */
    int64_t row = w.row;
    webhook_done(&w);
    webhook_done(&again);
    for (int i = 0; i < 25; i++) {
        const struct webhook_result failed = {
            .seq = at + 1, .status = 500, .next_ns = 77, .problem = "the answer was 500", .took_ms = i};
        assert_true(catalog_webhook_result(c, row, &failed, &err));
    }
    assert_true(catalog_webhook_get(c, row, &again, &err));
    assert_int_equal(again.tries, 25);
    assert_int_equal(again.next_ns, 77);
    assert_int_equal(again.seq, at);
    webhook_done(&again);
    json_t *results = catalog_webhook_results(c, row, &err);
    assert_int_equal(json_array_size(results), WEBHOOK_RESULTS);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(results, 0), "took_ms")), 24);
    json_decref(results);
    assert_true(catalog_webhook_result(
        c, row, &(struct webhook_result){.seq = at + 1, .status = 204, .delivered = true}, &err));
    assert_true(catalog_webhook_moved(c, row, at, 5, &err)); /* never back */
    assert_true(catalog_webhook_get(c, row, &again, &err));
    assert_int_equal(again.tries, 0);
    assert_int_equal(again.seq, at + 1);
    assert_int_equal(again.delivered, 1);
    assert_int_equal(again.dropped, 5);
    webhook_done(&again);
    assert_true(catalog_webhook_delete(c, row, &err));
    assert_false(catalog_webhook_delete(c, row, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    assert_false(catalog_webhook_get(c, row, &again, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    assert_true(catalog_webhook_result(c, row, &(struct webhook_result){.seq = 3}, &err)); /* deleted while it was
                                                                                              delivered */
}

static void there_are_only_so_many_webhooks(void **state) {
    (void)state;
    for (int i = 0; i <= WEBHOOKS_MAX; i++) {
        struct webhook w = hook_of("https://example.org/x");
        assert_int_equal(catalog_webhook_add(c, &w, &err), i < WEBHOOKS_MAX);
        webhook_done(&w);
    }
    assert_int_equal(err.code, REEL_LIMIT);
}

static void internal_addresses_are_refused(void **state) {
    (void)state;
    static const char *const inside[] = {
        "127.0.0.1",       "127.9.9.9",   "10.1.2.3",  "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "169.254.169.254", "0.0.0.0",     "::1",       "::",         "fd00::1",        "fe80::1",
        "::ffff:10.0.0.1", "100.64.0.1",  "224.0.0.1", "ff02::1",    "64:ff9b::a00:1", "2002:7f00:1::",
        "255.255.255.255", "::127.0.0.1", "2001::1"};
    static const char *const outside[] = {"1.1.1.1",        "172.32.0.1",  "172.15.0.1", "2606:4700::1111",
                                          "::ffff:1.1.1.1", "192.169.0.1", "11.0.0.1",   "100.128.0.1"};
    for (size_t i = 0; i < sizeof inside / sizeof *inside + sizeof outside / sizeof *outside; i++) {
        bool is_inside = i < sizeof inside / sizeof *inside;
        const char *text = is_inside ? inside[i] : outside[i - sizeof inside / sizeof *inside];
        struct sockaddr_in v4 = {.sin_family = AF_INET};
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
        bool is_v4 = inet_pton(AF_INET, text, &v4.sin_addr) == 1;
        assert_true(is_v4 || inet_pton(AF_INET6, text, &v6.sin6_addr) == 1);
        if (webhook_is_private(is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6) != is_inside) {
            fail_msg("%s", text);
        }
    }
    assert_true(webhook_is_private(&(struct sockaddr){.sa_family = AF_UNIX}));
}

static void addresses_of_webhooks(void **state) {
    (void)state;
    static const char *const good[] = {"https://example.org", "https://example.org:8443/a?b=c", "https://1.1.1.1/",
                                       "HTTPS://example.org/"};
    static const char *const bad[] = {"",
                                      "example.org",
                                      "ftp://example.org/",
                                      "file:///etc/passwd",
                                      "https://u:p@example.org/",
                                      "https://example.org/#x",
                                      "https://",
                                      "https://10.0.0.1/",
                                      "https://localhost/",
                                      "https://[::1]:9/",
                                      "https://0x7f.1/",
                                      "https://exa mple.org/",
                                      "gopher://x",
                                      "https://127.1/",
                                      "http://example.org/",
                                      "https://2130706433/",
                                      "https://a\r\nb/"};
    static const char *const private_only[] = {"http://example.org/", "https://10.0.0.1/", "https://localhost/x",
                                               "http://127.0.0.1:8080/x", "https://[fd00::1]/"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!webhook_url_check(good[i], false, &err)) {
            fail_msg("%s: %s", good[i], err.text);
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (webhook_url_check(bad[i], false, &err)) {
            fail_msg("%s is taken", bad[i]);
        }
    }
    for (size_t i = 0; i < sizeof private_only / sizeof *private_only; i++) {
        assert_false(webhook_url_check(private_only[i], false, &err));
        assert_true(webhook_url_check(private_only[i], true, &err));
    }
    assert_false(webhook_url_check("ftp://10.0.0.1/", true, &err));
}

static void a_signature_is_what_it_should_be(void **state) {
    (void)state;
    char out[WEBHOOK_SIGNATURE];
    assert_true(webhook_sign("0123456789abcdef", 1700000000, "{\"seq\":1}", out));
    /* printf '1700000000.{"seq":1}' | openssl dgst -sha256 -hmac 0123456789abcdef */
    assert_string_equal(out, "t=1700000000,v1=e08bda826cf051c0f1f919531cf4fec45eca56a374d4a56a26f82fcfb9101386");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_changes_of_a_recording_are_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(annotations_are_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_move_is_reported_to_both_collections, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_end_of_a_job_is_reported_to_its_owner, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rolled_back_change_is_not_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pages_go_on_where_they_ended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_so_many_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_commit_wakes_who_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_wait_and_all_wake, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_webhook_remembers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(there_are_only_so_many_webhooks, set_up, tear_down),
        cmocka_unit_test(internal_addresses_are_refused),
        cmocka_unit_test(addresses_of_webhooks),
        cmocka_unit_test(a_signature_is_what_it_should_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
