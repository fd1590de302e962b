/* The list of thousands of recordings: every match comes once, in order, by both ways of answering. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "catalog/list.h"
#include "catalog/maintenance.h"
#include "catalog/sweep.h"
#include "makers/catalog_fixture.h"

enum { ROWS = 12000, RUN = 50 };

/* One a second for half a second; sizes in no order; each RUN of them have a tag's value, one of a hundred is intact.
 */
static const char fill[] = "CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
                           "WHERE i < 11999) SELECT i FROM n;"
                           "INSERT INTO recordings (row, id, collection, name, revision, state, state_before_trash, "
                           "content, size, format, container, clock, "
                           "clock_note, start_ns,"
                           " end_ns, duration_ns, messages, payload_bytes, channels, damaged, findings, lost_bytes, "
                           "problem, created_ns, updated_ns)"
                           " SELECT i + 1, randomblob(16), 'lab', printf('n%06d', i), 1, 1, 1, randomblob(32), i * "
                           "7919 % 12000, 'toy', '', 0, '', i * 1000000000,"
                           " i * 1000000000 + 500000000, 500000000, 1, 0, 0, i % 100 <> 0, 0, 0, '', i, i FROM n;"
                           "INSERT INTO tag_keys (name) VALUES ('run');"
                           "INSERT INTO tag_values (key, value) SELECT DISTINCT 1, 'run-' || (i / 50) FROM n;"
                           "INSERT INTO recording_tags (recording, key, value) SELECT i + 1, 1, v.id FROM n CROSS JOIN "
                           "tag_values AS v ON v.key = 1 AND v.value = "
                           "'run-' || (i / 50);";

static int set_up_many(void **state) {
    if (set_up(state) != 0) {
        return -1;
    }
    sqlite3 *raw = open_raw();
    char name[128];
    sqlite3_stmt *s;
    while (sqlite3_prepare_v2(raw, "SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger'", -1, &s,
                              NULL) == SQLITE_OK &&
           sqlite3_step(s) == SQLITE_ROW) {
        snprintf(name, sizeof name, "%s", (const char *)sqlite3_column_text(s, 0));
        sqlite3_finalize(s);
        assert_int_equal(sqlite3_exec(raw, name, NULL, NULL, NULL), SQLITE_OK);
    }
    sqlite3_finalize(s);
    assert_int_equal(sqlite3_exec(raw, fill, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(raw);
    return catalog_repair(c, &err) ? 0 : -1; /* sums and words */
}

static struct catalog_page query(const struct catalog_query *q) {
    struct catalog_page page;
    if (!catalog_list(c, q, &page, &err)) {
        fail_msg("%s", err.text);
    }
    return page;
}

static int compare(const struct catalog_recording *a, const struct catalog_recording *b, const char *sort) {
    int64_t x = *sort == 'n'                  ? strcmp(a->name, b->name)
                : *sort == 'e'                ? a->end_ns - b->end_ns
                : strncmp(sort, "st", 2) == 0 ? a->start_ns - b->start_ns
                : *sort == 's'                ? (int64_t)a->size - (int64_t)b->size
                                              : a->row - b->row;
    return x < 0 ? -1 : x > 0;
}

/* Follows the pages to their end: every recording comes once, in order, and only the last page is not full. */
static uint32_t walk(const struct catalog_query *like, const char *sort, uint32_t limit) {
    struct catalog_query q = *like;
    struct catalog_recording last = {0};
    uint32_t n = 0;
    char *cursor = NULL;
    q.sort = sort;
    q.limit = limit;
    do {
        q.cursor = cursor;
        struct catalog_page page = query(&q);
        for (uint32_t i = 0; i < page.n_items; i++, n++) {
            assert_true(n == 0 || compare(&last, &page.items[i], sort + (*sort == '-')) == (*sort == '-' ? 1 : -1));
            catalog_recording_done(&last);
            last = page.items[i];
            page.items[i] = (struct catalog_recording){0};
        }
        free(cursor);
        cursor = page.next;
        page.next = NULL;
        assert_true(!cursor || page.n_items == limit);
        catalog_page_done(&page);
    } while (cursor);
    catalog_recording_done(&last);
    return n;
}

/* Once only the newest thousand arrived. */
static void all_that_match_a_word_arrive_in_every_order(void **state) {
    (void)state;
    static const char *const sorts[] = {"name", "-name", "size", "-size", "start", "-end", "created", "-created"};
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        assert_int_equal(walk(&(struct catalog_query){.words = "lab"}, sorts[i], 1000), ROWS);
        assert_int_equal(walk(&(struct catalog_query){.words = "n00 or n010 or n011"}, sorts[i], 700), 12000 - 0);
        assert_int_equal(walk(&(struct catalog_query){.words = "n00 -n00000"}, sorts[i], 300), 9990);
        assert_int_equal(walk(&(struct catalog_query){.words = "size:<7000"}, sorts[i], 500), 7000);
    }
    struct catalog_page page =
        query(&(struct catalog_query){.words = "lab", .sort = "name", .limit = 50, .offset = 11990}); /* by an offset
                                                                                                         too */
    assert_int_equal(page.n_items, 10);
    assert_string_equal(page.items[0].name, "n011990");
    catalog_page_done(&page);
}

static void counts_end(void **state) {
    (void)state;
    struct catalog_page page = query(&(struct catalog_query){.limit = 1, .count = true});
    assert_true(page.total == ROWS && !page.total_capped);
    catalog_page_done(&page);
    const char *tag = "run";
    const struct catalog_query many[] = {{.words = "lab"},
                                         {.words = "lab", .sort = "name"},
                                         {.tags = &tag, .n_tags = 1},
                                         {.has_start = true, .sort = "start"}};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        struct catalog_query q = many[i];
        q.limit = 1;
        q.count = true;
        page = query(&q);
        assert_true(page.total == LIST_TOTAL_MAX && page.total_capped);
        catalog_page_done(&page);
    }
    const char *glob = "run=run-20*";
    page = query(&(struct catalog_query){.tags = &glob, .n_tags = 1, .sort = "size", .limit = 1, .count = true});
    assert_true(page.total == 11 * RUN && !page.total_capped);
    catalog_page_done(&page);
}

/* 111 of the values fit, with 5550 recordings, 55 of which are intact. */
static void values_that_fit_lead_to_all(void **state) {
    (void)state;
    const char *glob = "run=run-1*";
    struct catalog_query q = {.tags = &glob, .n_tags = 1};
    assert_int_equal(walk(&q, "-created", 1000), 111 * RUN);
    assert_int_equal(walk(&q, "created", 7 * RUN), 111 * RUN);
    assert_int_equal(walk(&q, "name", 1000), 111 * RUN);
    q.words = "damaged:false";
    assert_int_equal(walk(&q, "-created", 1000), 55);
    assert_int_equal(walk(&q, "created", 10), 55);
    assert_int_equal(walk(&q, "-name", 10), 55);
}

static void what_nearly_all_have_is_walked(void **state) {
    (void)state;
    const char *tag = "run";
    struct catalog_page page = query(&(struct catalog_query){.tags = &tag, .n_tags = 1, .sort = "size", .limit = 100});
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(page.items[i].size, i);
    }
    catalog_page_done(&page);
    page = query(&(struct catalog_query){.tags = &tag, .n_tags = 1, .sort = "size", .limit = 100, .offset = 3000});
    assert_true(page.n_items == 100);
    assert_int_equal(page.items[0].size, 3000);
    catalog_page_done(&page);
    tag = "run=run-*";
    page = query(&(struct catalog_query){.tags = &tag, .n_tags = 1, .sort = "-name", .limit = 500});
    assert_true(page.n_items == 500);
    assert_string_equal(page.items[499].name, "n011500");
    catalog_page_done(&page);
}

static void intervals_are_whole_in_every_order(void **state) {
    (void)state;
    static const char *const orders[] = {"start", "-start", "end", "-end", "size", "-size", "name", "-created"};
    const int64_t s = 1000000000;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct catalog_query q = {.has_start = true, .start_ns = 2000 * s, .has_end = true, .end_ns = 9000 * s};
        assert_int_equal(walk(&q, orders[i], 700), 7000);
        q.has_end = false;
        assert_int_equal(walk(&q, orders[i], 1000), ROWS - 2000);
        q.has_end = true;
        q.has_start = false;
        assert_int_equal(walk(&q, orders[i], 1000), 9000);
    }
}

/* ---- what the sweep reads, by thousands */

static void run_raw(const char *sql) {
    sqlite3 *raw = open_raw();
    assert_int_equal(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(raw);
}

static void hashes_come_in_order_and_are_found(void **state) {
    (void)state;
    struct catalog_hashes *all = calloc(1, sizeof *all), *asked = calloc(1, sizeof *asked);
    char from[SHA256_HEX] = "";
    uint32_t n = 0;
    bool has;
    all->of = asked->of = HASHED_CONTENTS;
    for (all->rest = false; !all->rest;) {
        assert_true(catalog_hashes_from(c, from, all, &err));
        for (uint32_t i = strcmp(from, "") != 0; i < all->n; i++, n++) { /* the first one was the last before */
            assert_true(strcmp(from, all->items[i]) < 0);
            memcpy(from, all->items[i], sizeof from);
            assert_true(catalog_hashes_has(c, asked, from, &has, &err) && has);
            char other[SHA256_HEX];
            memcpy(other, from, sizeof other);
            other[63] = other[63] == '0' ? '1' : '0';
            assert_true(catalog_hashes_has(c, asked, other, &has, &err) && !has);
        }
    }
    assert_int_equal(n, ROWS);
    assert_true(catalog_hashes_from(c, "", all, &err)); /* back to the first */
    assert_true(catalog_hashes_has(c, asked, all->items[0], &has, &err) && has);
    asked->of = HASHED_PARTS;
    *asked->low = '\0';
    asked->n = asked->rest = 0;
    assert_true(catalog_hashes_has(c, asked, from, &has, &err) && !has); /* there are none */
    free(all);
    free(asked);
}

static bool count_row(void *context, const struct catalog_recording *r) {
    assert_int_equal(r->row, ROWS);
    return ++*(uint32_t *)context;
}

static void files_of_ready_recordings_come_by_pages(void **state) {
    (void)state;
    run_raw("INSERT INTO parts SELECT row, 0, content, size, 'f' FROM recordings;"
            "INSERT INTO objects SELECT content, 'objects/' || row, '', size FROM recordings WHERE row % 4000 <> 0;"
            "UPDATE recordings SET state = 3 WHERE row = 4000");
    for (int without = 0; without < 2; without++) {
        struct catalog_files page = {0};
        uint32_t rows = 0, files = 0, pages = 0;
        do {
            assert_true(catalog_ready_files(c, without, &page, &err));
            rows += page.rows;
            files += page.n;
            pages++;
        } while (page.rows > 0);
        assert_int_equal(rows, ROWS - 1);
        assert_int_equal(files, without ? 2 : ROWS - 1);
        assert_int_equal(pages, (ROWS - 1 + CATALOG_SWEPT - 1) / CATALOG_SWEPT + 1);
        catalog_files_done(&page);
    }
    const int64_t rows[] = {ROWS, ROWS + 1}; /* the second one is not there */
    uint32_t n = 0;
    assert_true(catalog_each_row(c, rows, 2, count_row, &n, &err));
    assert_int_equal(n, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_match_a_word_arrive_in_every_order),
        cmocka_unit_test(counts_end),
        cmocka_unit_test(values_that_fit_lead_to_all),
        cmocka_unit_test(what_nearly_all_have_is_walked),
        cmocka_unit_test(intervals_are_whole_in_every_order),
        cmocka_unit_test(hashes_come_in_order_and_are_found),
        cmocka_unit_test(files_of_ready_recordings_come_by_pages), /* it writes: the last one */
    };
    return cmocka_run_group_tests(tests, set_up_many, tear_down);
}
