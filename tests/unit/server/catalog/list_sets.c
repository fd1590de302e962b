/* Lists that are read off sets in memory are those that queries find: at once after each change, while others change
 * the catalog, and within the bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>

#include "catalog/list_sets.h"
#include "catalog/maintenance.h"
#include "catalog/notes.h"
#include "catalog/values.h"
#include "makers/catalog_fixture.h"

enum { ROWS = 3000 };

static const char fill[] = "CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
                           "WHERE i < 2999) SELECT i FROM n;"
                           "INSERT INTO recordings (row, id, collection, name, revision, state, state_before_trash, "
                           "content, size, format, container, clock, clock_note, start_ns, end_ns, duration_ns, "
                           "messages, payload_bytes, channels, damaged, findings, lost_bytes, problem, created_ns, "
                           "updated_ns) SELECT i + 1, randomblob(16), 'lab', printf('n%06d', i * 7919 % 3000), 1, 1, "
                           "1, randomblob(32), i * 104729 % 500, 'toy', '', 0, '', i * 1000000000, i * 1000000000 + "
                           "500000000, i % 7, 1, 0, 0, 0, 0, 0, '', i, i FROM n;"
                           "INSERT INTO tag_keys (name) VALUES ('odd');"
                           "INSERT INTO tag_values (key, value) VALUES (1, 'yes');"
                           "INSERT INTO recording_tags (recording, key, value) SELECT i + 1, 1, 1 FROM n WHERE i % 2;";

static struct list_sets *sets;
static unsigned comparisons; /* of this test */

static int set_up_rows(void **state) {
    comparisons = 0;
    if (set_up(state) != 0) {
        return -1;
    }
    sqlite3 *raw = open_raw();
    assert_int_equal(sqlite3_exec(raw, "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(raw, fill, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(raw);
    sets = c->lists;
    list_sets_always(sets);
    return catalog_repair(c, &err) ? 0 : -1;
}

static struct catalog_page ask(const struct catalog_query *q, bool by_sets) {
    struct catalog_page page;
    c->lists = by_sets ? sets : NULL;
    if (!catalog_list(c, q, &page, &err)) {
        fail_msg("%s", err.text);
    }
    c->lists = sets;
    return page;
}

static const char *const searches[] = {"odd:yes",
                                       "-odd:*",
                                       "n0001 -odd:yes",
                                       "n00 or size:<20",
                                       "size:<100 odd:yes",
                                       "(n001 -n0012) or -(odd:yes or n000)",
                                       "abcdef",
                                       "n000 -abcdef",
                                       "lab",
                                       "yes -n000",
                                       "\"wheel slips\" or -yes",
                                       "nothing"};
static const char *const sorts[] = {"name", "-name", "size", "-duration", "created", "-created", "start", "-end"};

/* Three pages, by cursors, and one by an offset. The first time of all questions, then of a third by turns. */
static void compare_with_queries(void) {
    unsigned turn = comparisons++;
    for (size_t i = 0; i < sizeof searches / sizeof *searches * (sizeof sorts / sizeof *sorts); i++) {
        if (turn > 0 && (i + turn) % 3 != 0) {
            continue;
        }
        struct catalog_query q = {.words = searches[i / 8], .sort = sorts[i % 8], .limit = 50};
        char *cursor = NULL;
        for (unsigned k = 0; k < 4; k++) {
            q.cursor = k < 3 ? cursor : NULL;
            q.offset = k < 3 ? 0 : 777;
            struct catalog_page page = ask(&q, true), expected = ask(&q, false);
            assert_int_equal(page.n_items, expected.n_items);
            for (uint32_t m = 0; m < page.n_items; m++) {
                assert_string_equal(page.items[m].id, expected.items[m].id);
            }
            assert_int_equal(!page.next, !expected.next);
            if (page.next) {
                assert_string_equal(page.next, expected.next);
            }
            free(cursor);
            cursor = TAKE(page.next);
            k = !cursor && k < 2 ? 2 : k;
            catalog_page_done(&page);
            catalog_page_done(&expected);
        }
        free(cursor);
    }
}

static void compare_totals_and_facets(void) {
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
        struct catalog_query q = {.words = searches[i], .sort = "size", .limit = 1, .count = true};
        struct catalog_page page = ask(&q, true), expected = ask(&q, false);
        assert_int_equal(page.total, expected.total);
        catalog_page_done(&page);
        catalog_page_done(&expected);
        for (unsigned k = 0; k < 2; k++) {
            struct values_query of = {.field = k ? VALUES_TOPIC : VALUES_TAG, .key = k ? NULL : "odd", .within = &q};
            struct values_counts found, direct;
            assert_true(catalog_values(c, &of, &found, &err));
            c->lists = NULL;
            assert_true(catalog_values(c, &of, &direct, &err));
            c->lists = sets;
            assert_int_equal(found.counted, direct.counted);
            assert_int_equal(found.counts.n, direct.counts.n);
            for (uint32_t m = 0; m < found.counts.n; m++) {
                assert_string_equal(found.counts.items[m].name, direct.counts.items[m].name);
                assert_int_equal(found.counts.items[m].recordings, direct.counts.items[m].recordings);
            }
            catalog_counts_done(&found.counts);
            catalog_counts_done(&direct.counts);
        }
    }
}

static void compare_all(void) {
    compare_with_queries();
    compare_totals_and_facets();
}

static void change(const char *id, struct catalog_change what) {
    bool changed;
    assert_true(catalog_change(c, id, &what, &changed, &err) && changed);
}

static void every_change_is_seen_at_once(void **state) {
    (void)state;
    struct catalog_page page = ask(&(struct catalog_query){.sort = "name", .limit = 20}, false);
    char id[RECORDING_ID_TEXT];
    compare_all();
    assert_true(list_sets_bytes(sets) > 0);
    assert_true(catalog_trash(c, page.items[1].id, &err));
    compare_all();
    assert_true(catalog_restore(c, page.items[1].id, &err) && catalog_trash(c, page.items[2].id, &err));
    compare_all();
    change(page.items[4].id, (struct catalog_change){.name = "z-is-the-last"});
    change(page.items[5].id, (struct catalog_change){.collection = "n0012", .name = "n001500x"});
    compare_all();
    for (uint32_t i = 6; i < 8; i++) {
        struct catalog_tag tag = {.key = (char *)"odd", .value = (char *)"no"};
        change(page.items[i].id, (struct catalog_change){.tags = &tag, .n_tags = 1});
        compare_all();
        tag.value = NULL;
        change(page.items[i].id, (struct catalog_change){.tags = &tag, .n_tags = 1});
        compare_all();
    }
    struct catalog_event slip = {.title = strdup("The wheel slips"), .author = strdup(""), .tags = strdup("")}, now;
    assert_true(catalog_event_add(c, page.items[9].id, &slip, &err));
    compare_all();
    assert_true(catalog_event_change(
        c, slip.id, &(struct catalog_event_change){.version = CATALOG_ANY_VERSION, .title = "yes"}, &now, &err));
    compare_all();
    assert_true(catalog_event_remove(c, slip.id, CATALOG_ANY_VERSION, &err));
    compare_all();
    catalog_event_done(&slip);
    catalog_event_done(&now);
    for (uint32_t i = 8; i < 20; i++) { /* neighbours in the order of names */
        char name[32];
        snprintf(name, sizeof name, "n000%03u-%u", 700 - i / 4, i);
        change(page.items[i].id, (struct catalog_change){.name = name});
    }
    assert_true(put("lab", "n000000a", 'a', false, id));
    assert_true(put("lab", "n000000b", 'b', false, id));
    compare_all();
    assert_true(put("lab", "abc-xdef", 'c', false, id)); /* has trigrams of abcdef */
    assert_true(put("lab", "abcdef", 'd', false, id));
    compare_all();
    assert_true(put("lab", "abcd-cdef", 'e', false, id)); /* and by now their rows are known */
    compare_all();
    catalog_page_done(&page);
}

/* What is purged has no row by which it could be found in a set. */
static void what_is_purged_is_gone(void **state) {
    (void)state;
    struct catalog_page page = ask(&(struct catalog_query){.sort = "name", .limit = 5}, false);
    compare_all();
    assert_true(catalog_trash(c, page.items[3].id, &err) &&
                catalog_purge_at(c, page.items[3].id, CATALOG_ANY_VERSION, &err));
    compare_all();
    assert_true(catalog_trash(c, page.items[2].id, &err));
    compare_all();
    assert_true(catalog_purge_at(c, page.items[2].id, CATALOG_ANY_VERSION, &err));
    compare_all();
    catalog_page_done(&page);
}

/* More than can be applied one by one: raw rows, and sets that are made anew. */
static void many_changes_are_seen(void **state) {
    (void)state;
    compare_all();
    sqlite3 *raw = open_raw();
    assert_int_equal(
        sqlite3_exec(raw, "UPDATE recordings SET size = size + 7, updated_ns = updated_ns + 1 WHERE row <= 2500", NULL,
                     NULL, NULL),
        SQLITE_OK);
    sqlite3_close(raw);
    compare_all();
}

/* What is purged counts, too, where there are as many others as can be applied one by one. */
static void many_changes_are_seen_beside_a_purge(void **state) {
    (void)state;
    struct catalog_page page = ask(&(struct catalog_query){.sort = "name", .limit = 1}, false);
    compare_all();
    assert_true(catalog_trash(c, page.items[0].id, &err) &&
                catalog_purge_at(c, page.items[0].id, CATALOG_ANY_VERSION, &err));
    sqlite3 *raw = open_raw();
    assert_int_equal(
        sqlite3_exec(raw, "UPDATE recordings SET size = size + 7, updated_ns = updated_ns + 1 WHERE row <= 2500", NULL,
                     NULL, NULL),
        SQLITE_OK);
    sqlite3_close(raw);
    compare_all();
    catalog_page_done(&page);
}

/* The next page begins where the page before ended, wherever its last recording is by now. */
static void a_page_goes_on_where_it_was(void **state) {
    (void)state;
    for (unsigned by_sets = 0; by_sets < 2; by_sets++) {
        struct catalog_query q = {.words = "lab", .sort = "name", .limit = 5};
        struct catalog_page page = ask(&q, true), next = {0};
        char name[32];
        snprintf(name, sizeof name, "z-moved-%u", by_sets);
        change(page.items[4].id, (struct catalog_change){.name = name});
        q.cursor = page.next;
        next = ask(&q, by_sets);
        assert_int_equal(next.n_items, 5);
        assert_true(strcmp(next.items[0].name, page.items[4].name) > 0 && next.items[0].name[0] == 'n');
        catalog_page_done(&page);
        catalog_page_done(&next);
    }
}

static atomic_bool over;

static void *trash_and_restore(void *context) {
    struct reel_error why;
    for (const char *id = context; !atomic_load(&over);) {
        assert_true(catalog_trash(c, id, &why) && catalog_restore(c, id, &why));
    }
    return NULL;
}

/* The one that comes and goes is on a page or it is not; all others always are, in order. */
static void pages_are_whole_while_others_write(void **state) {
    (void)state;
    struct catalog_page page = ask(&(struct catalog_query){.words = "odd:yes", .sort = "name", .limit = 5}, false);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, trash_and_restore, page.items[2].id), 0);
    for (unsigned i = 0; i < 300; i++) {
        struct catalog_page now = ask(&(struct catalog_query){.words = "odd:yes", .sort = "name", .limit = 5}, true);
        uint32_t at = 0;
        assert_int_equal(now.n_items, 5);
        for (uint32_t k = 0; k < 5; k++) {
            at += k == 2 && strcmp(now.items[at].id, page.items[2].id) != 0 ? 0 : 1;
            assert_true(k == 2 || strcmp(now.items[at - 1].id, page.items[k].id) == 0);
        }
        catalog_page_done(&now);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    catalog_page_done(&page);
}

/* Before anybody has asked; and again when recordings have changed. */
static void orders_are_prepared(void **state) {
    (void)state;
    static const char *const columns[] = {"name",     "size", "calendar_start_ns", "calendar_end_ns", "duration_ns",
                                          "messages", "shown"};
    uint64_t before[7];
    for (unsigned round = 0; round < 2; round++) {
        assert_true(catalog_lists_prepare(c, &err));
        for (unsigned i = 0; i < 7; i++) {
            struct set *s = list_sets_find(sets, columns[i], UINT64_MAX);
            assert_non_null(s);
            assert_true(round == 0 || s->version > before[i]);
            before[i] = s->version;
            set_free(s);
        }
        compare_with_queries();
        sqlite3 *raw = open_raw();
        assert_int_equal(sqlite3_exec(raw,
                                      "UPDATE recordings SET size = size + 1000, name = 'x' || name WHERE row % 7 = 0",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        sqlite3_close(raw);
    }
    assert_false(catalog_lists_are_long(c));
}

static struct set *keep(const char *key, uint64_t version, int64_t cost_ns) {
    struct set *s = calloc(1, sizeof *s + sizeof *s->items);
    assert_non_null(s);
    *s = (struct set){.users = 1, .key = strdup(key), .version = version, .cost_ns = cost_ns, .n = 1};
    list_sets_keep(sets, s);
    set_free(s);
    return list_sets_find(sets, key, version);
}

/* What took long to make stays while others come, though nobody uses it. */
static void what_is_cheap_makes_room_first(void **state) {
    (void)state;
    char key[32];
    set_free(keep("dear", 1, INT64_C(3600000000000)));
    for (unsigned i = 0; i < 500; i++) {
        snprintf(key, sizeof key, "cheap %u", i);
        set_free(keep(key, 1, 0));
    }
    struct set *dear = list_sets_find(sets, "dear", 1), *first = list_sets_find(sets, "cheap 0", 1),
               *last = list_sets_find(sets, "cheap 499", 1);
    assert_true(dear && !first && last);
    set_free(dear);
    set_free(last);
}

static void sets_are_bounded(void **state) {
    (void)state;
    char words[32];
    for (unsigned i = 0; i < 500; i++) {
        snprintf(words, sizeof words, "size:>%u odd:yes", i);
        struct catalog_page page = ask(&(struct catalog_query){.words = words, .limit = 1}, true);
        catalog_page_done(&page);
    }
    assert_in_range(list_sets_bytes(sets), 1, 64 * (4 * ROWS + 200)); /* of 64 sets */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_change_is_seen_at_once, set_up_rows, tear_down),
        cmocka_unit_test_setup_teardown(what_is_purged_is_gone, set_up_rows, tear_down),
        cmocka_unit_test_setup_teardown(many_changes_are_seen, set_up_rows, tear_down),
        cmocka_unit_test_setup_teardown(many_changes_are_seen_beside_a_purge, set_up_rows, tear_down),
        cmocka_unit_test_setup_teardown(a_page_goes_on_where_it_was, set_up_rows, tear_down),
        cmocka_unit_test_setup_teardown(pages_are_whole_while_others_write, set_up_rows, tear_down),
        cmocka_unit_test_setup_teardown(orders_are_prepared, set_up_rows, tear_down),
        cmocka_unit_test_setup_teardown(what_is_cheap_makes_room_first, set_up_rows, tear_down),
        cmocka_unit_test_setup_teardown(sets_are_bounded, set_up_rows, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
