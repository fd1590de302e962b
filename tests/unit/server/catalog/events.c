/* Events, epochs and collections: what lies where on the calendar. Pages of events are compared with a plain search
 * through all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "catalog/notes.h"
#include "makers/notes_fixture.h"

enum { EVENTS = 300 };
static struct made {
    int64_t start, end; /* own */
    int recording;
    char id[33];
} made[EVENTS];
static uint32_t seed;

static uint32_t dice(uint32_t sides) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % sides;
}

static void add_event(const char *id, int i, int recording, int64_t start, int64_t end) {
    struct catalog_event e = {
        .start_ns = start, .end_ns = end, .title = strdup("e"), .author = strdup(""), .tags = strdup("")};
    assert_true(catalog_event_add(c, id, &e, &err));
    made[i] = (struct made){.start = start, .end = end, .recording = recording};
    memcpy(made[i].id, e.id, sizeof e.id);
    catalog_event_done(&e);
}

static bool touches(int64_t start, int64_t end, int64_t from, int64_t to) {
    return start < to && (end > from || start >= from);
}

/* Pages of `limit`: each event of the interval once, in order, none else. shift[r] < 0: that recording is not on the
 * calendar. */
static void assert_interval(const struct catalog_event_query *like, const int64_t *shift, int only, uint32_t limit) {
    struct catalog_event_query q = *like;
    uint32_t seen = 0, expected = 0;
    char *cursor = NULL;
    int64_t from = q.has_start ? q.start_ns : INT64_MIN, to = q.has_end ? q.end_ns : INT64_MAX, last = INT64_MIN,
            last_row = 0;
    for (int i = 0; i < EVENTS; i++) {
        int64_t s = shift[made[i].recording];
        bool shown = only >= 0 ? made[i].recording == only : s >= 0;
        s = only >= 0 ? 0 : s;
        expected += shown && touches(made[i].start + s, made[i].end + s, from, to);
    }
    q.limit = limit;
    do {
        struct catalog_events page;
        q.cursor = cursor;
        assert_true(catalog_events_list(c, &q, &page, &err));
        for (uint32_t i = 0; i < page.n; i++) {
            const struct catalog_event *e = &page.items[i];
            int64_t start = only >= 0 ? e->start_ns : e->wall_start_ns, end = only >= 0 ? e->end_ns : e->wall_end_ns;
            assert_true(touches(start, end, from, to));
            assert_true(start > last || (start == last && e->row > last_row));
            last = start;
            last_row = e->row;
        }
        seen += page.n;
        assert_true(!page.next || page.n == limit);
        free(cursor);
        cursor = page.next;
        page.next = NULL;
        catalog_events_done(&page);
    } while (cursor);
    assert_int_equal(seen, expected);
}

static void make_events(char ids[3][RECORDING_ID_TEXT]) {
    struct catalog_part part;
    for (int i = 0; i < 3; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        struct catalog_recording r = describe(&part, i == 2 ? "other" : "lab", name, (char)('1' + i));
        r.clock = i > 0 ? REEL_CLOCK_RELATIVE : REEL_CLOCK_WALL;
        assert_true(catalog_add(c, &r, NULL, false, &err));
        memcpy(ids[i], r.id, sizeof r.id);
    }
    seed = 7;
    for (int i = 0; i < EVENTS; i++) {
        static const int64_t lengths[] = {0, 1, 500000000, 1000000000, 1000000001, 30000000000, 4000000000000};
        int64_t start = (int64_t)dice(5000) * S, length = lengths[dice(7)];
        add_event(ids[i % 3], i, i % 3, start, start + length);
    }
}

static void assert_all_intervals(const int64_t *shift) {
    for (int i = 0; i < 40; i++) {
        int64_t start = (int64_t)dice(7000) * S, end = start + (int64_t)dice(3000) * S;
        struct catalog_event_query q = {
            .has_start = i % 4 != 1, .start_ns = start, .has_end = i % 4 != 2, .end_ns = end};
        assert_interval(&q, shift, -1, i % 3 == 0 ? 1000 : 7);
    }
    assert_interval(&(struct catalog_event_query){0}, shift, -1, 11);
}

static bool sees_lab(const void *context, const char *collection) {
    return strcmp(context, collection) == 0;
}

static void events_are_found_by_their_interval(void **state) {
    (void)state;
    char ids[3][RECORDING_ID_TEXT];
    int64_t shift[3] = {0, -1, -1}; /* no epoch yet */
    make_events(ids);
    assert_all_intervals(shift);
    shift[1] = 2000 * S;
    assert_true(change(ids[1], &(struct catalog_change){.sets_epoch = true, .has_epoch = true, .epoch_ns = shift[1]}));
    assert_all_intervals(shift);
    for (int i = 0; i < 10; i++) {
        int64_t start = (int64_t)dice(5000) * S;
        assert_interval(
            &(struct catalog_event_query){
                .recording = ids[1], .has_start = true, .start_ns = start, .has_end = true, .end_ns = start + 900 * S},
            shift, 1, 5);
    }
    assert_interval(&(struct catalog_event_query){.sees = sees_lab, .context = "other"}, (int64_t[]){-1, -1, -1}, -1,
                    7);
    assert_interval(&(struct catalog_event_query){.sees = sees_lab, .context = "lab"}, shift, -1, 7);
    assert_true(catalog_trash(c, ids[0], &err)); /* its events go with it */
    shift[0] = -1;
    assert_all_intervals(shift);
    assert_interval(&(struct catalog_event_query){.recording = ids[0]}, shift, 0, 1000);
    assert_true(catalog_restore(c, ids[0], &err));
    shift[0] = 0;
    assert_all_intervals(shift);
    for (int i = 0; i < EVENTS; i += 5) { /* moved, also to another length */
        struct catalog_event now;
        made[i].start += 100 * S;
        made[i].end = made[i].start + (int64_t)dice(100000) * S / 10;
        assert_true(catalog_event_change(c, made[i].id,
                                         &(struct catalog_event_change){.version = CATALOG_ANY_VERSION,
                                                                        .has_start = true,
                                                                        .start_ns = made[i].start,
                                                                        .has_end = true,
                                                                        .end_ns = made[i].end},
                                         &now, &err));
        catalog_event_done(&now);
    }
    assert_all_intervals(shift);
    assert_counts_hold();
    assert_true(catalog_purge_at(c, ids[1], CATALOG_ANY_VERSION, &err));
    assert_int_equal(number("SELECT count(*) FROM events"), EVENTS - EVENTS / 3);
}

static void an_event_is_checked_and_changed(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    assert_true(put("lab", "a", '1', false, id));
    struct catalog_event e = {.start_ns = 5,
                              .end_ns = 9,
                              .title = strdup("door"),
                              .author = strdup("ann"),
                              .tags = strdup("{\"kind\":\"fall\"}")},
                         now;
    assert_true(catalog_event_add(c, id, &e, &err));
    assert_true(catalog_event_get(c, e.id, &now, &err));
    assert_string_equal(now.tags, "{\"kind\":\"fall\"}");
    assert_string_equal(now.recording, id);
    assert_true(now.on_calendar && now.wall_start_ns == 5 && now.wall_end_ns == 9);
    catalog_event_done(&now);
    assert_true(catalog_event_change(c, e.id,
                                     &(struct catalog_event_change){.version = e.updated_ns,
                                                                    .title = "gate",
                                                                    .tags = "{\"kind\":null,\"who\":\"x\"}"},
                                     &now, &err));
    assert_string_equal(now.title, "gate");
    assert_string_equal(now.tags, "{\"who\":\"x\"}");
    assert_int_equal(now.end_ns, 9);
    assert_true(now.updated_ns > e.updated_ns);
    catalog_event_done(&now);
    assert_false(catalog_event_change(c, e.id, &(struct catalog_event_change){.version = e.updated_ns, .title = "late"},
                                      &now, &err));
    assert_int_equal(err.code, REEL_CHANGED);
    assert_false(catalog_event_remove(c, e.id, e.updated_ns, &err));
    assert_int_equal(err.code, REEL_CHANGED);
    struct catalog_event_change bad[] = {
        {.has_end = true, .end_ns = 4},
        {.title = ""},
        {.tags = "{\"a b\":\"x\"}"},
        {.tags = "{\"a\":7}"},
        {.tags = "7"},
        {.has_start = true, .start_ns = INT64_MIN, .has_end = true, .end_ns = INT64_MAX}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bad[i].version = CATALOG_ANY_VERSION;
        assert_false(catalog_event_change(c, e.id, &bad[i], &now, &err));
        assert_int_equal(err.code, REEL_ARGUMENT);
    }
    assert_true(catalog_event_remove(c, e.id, CATALOG_ANY_VERSION, &err));
    assert_false(catalog_event_remove(c, e.id, CATALOG_ANY_VERSION, &err));
    assert_false(catalog_event_get(c, e.id, &now, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    struct catalog_events page;
    assert_false(catalog_events_list(c, &(struct catalog_event_query){.cursor = "x"}, &page, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
    catalog_event_done(&e);
}

static uint32_t found_from(int64_t start, int64_t end) {
    return count(&(struct catalog_query){.has_start = true, .start_ns = start, .has_end = true, .end_ns = end});
}

static void an_epoch_puts_on_the_calendar(void **state) {
    (void)state;
    struct catalog_part part;
    struct catalog_recording r = describe(&part, "lab", "relative", '1');
    r.clock = REEL_CLOCK_RELATIVE;
    r.start_ns = -S;
    r.end_ns = 9 * S;
    assert_true(catalog_add(c, &r, NULL, false, &err));
    assert_int_equal(found_from(INT64_MIN, INT64_MAX), 0);
    struct catalog_change set = {.sets_epoch = true, .has_epoch = true, .epoch_ns = 1000 * S};
    assert_true(change(r.id, &set));
    assert_int_equal(found_from(999 * S, 999 * S + 1), 1);
    assert_int_equal(found_from(0, 999 * S), 0);
    assert_int_equal(found_from(1009 * S, 1010 * S), 1);
    assert_int_equal(found_from(1009 * S + 1, 2000 * S), 0);
    struct catalog_collection lab;
    assert_true(catalog_collection_get(c, "lab", &lab, &err));
    assert_true(lab.on_calendar && lab.first_ns == 999 * S && lab.last_ns == 1009 * S && lab.duration_ms == 10000);
    catalog_collection_done(&lab);
    set.epoch_ns = INT64_MAX; /* sums stop there */
    assert_true(change(r.id, &set));
    assert_int_equal(found_from(INT64_MAX - S, INT64_MAX), 1);
    assert_true(catalog_collection_get(c, "lab", &lab, &err));
    assert_true(lab.first_ns == INT64_MAX - S && lab.last_ns == INT64_MAX);
    catalog_collection_done(&lab);
    set.epoch_ns = -1;
    assert_false(change(r.id, &set));
    set.has_epoch = false;
    assert_true(change(r.id, &set));
    assert_int_equal(found_from(INT64_MIN, INT64_MAX), 0);
    struct catalog_recording wall = describe(&part, "lab", "wall", '2');
    assert_true(catalog_add(c, &wall, NULL, false, &err));
    set.has_epoch = true;
    set.epoch_ns = 1;
    assert_false(change(wall.id, &set));
    assert_int_equal(err.code, REEL_CONFLICT);
}

static void collections_have_their_figures(void **state) {
    (void)state;
    put_many();
    assert_counts_hold();
    struct catalog_collections all;
    assert_true(catalog_collections_list(c, NULL, 1, &all, &err));
    assert_true(all.n == 1 && all.more);
    assert_string_equal(all.items[0].name, "even");
    catalog_collections_done(&all);
    assert_true(catalog_collections_list(c, "even", 1, &all, &err));
    assert_true(all.n == 1 && !all.more && all.items[0].recordings == 14);
    catalog_collections_done(&all);
    assert_true(catalog_collection_describe(c, "odd", "the other half", &err));
    assert_false(catalog_collection_describe(c, "none", "x", &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    struct catalog_page page;
    assert_true(catalog_list(c, &(struct catalog_query){.collection = "odd", .limit = 1000}, &page, &err));
    for (uint32_t i = 0; i < page.n_items; i++) {
        assert_true(i % 2 ? catalog_trash(c, page.items[i].id, &err)
                          : catalog_purge_at(c, page.items[i].id, CATALOG_ANY_VERSION, &err));
    }
    catalog_page_done(&page);
    assert_counts_hold();
    struct catalog_collection odd;
    assert_true(catalog_collection_get(c, "odd", &odd, &err)); /* its description holds it */
    assert_int_equal(odd.recordings, 0);
    assert_string_equal(odd.description, "the other half");
    assert_false(odd.on_calendar);
    catalog_collection_done(&odd);
    char *text = catalog_collection_descriptions(c, &err);
    assert_non_null(strstr(text, "\"odd\": \"the other half\""));
    free(text);
    assert_true(catalog_collection_describe(c, "odd", "", &err));
    assert_false(catalog_collection_get(c, "odd", &odd, &err));
}

/* Rows are in the order in which they were written, not in that of their times. */
static void the_newest_need_not_be_the_last(void **state) {
    (void)state;
    int64_t newest = 1;
    assert_true(catalog_collection_newest(c, "lab", &newest, &err));
    assert_int_equal(newest, 0);
    for (char digit = '1'; digit < '4'; digit++) {
        struct catalog_part part;
        char name[2] = {digit, '\0'};
        struct catalog_recording r = describe(&part, digit == '3' ? "field" : "lab", name, digit);
        r.created_ns = digit == '2' ? 5 * S : 8 * S + digit;
        assert_true(catalog_add(c, &r, NULL, false, &err));
    }
    assert_true(catalog_collection_newest(c, "lab", &newest, &err));
    assert_int_equal(newest, 8 * S + '1');
}

/* A duration that no sum of two can hold. */
static void hostile_durations_do_not_stop_uploads(void **state) {
    (void)state;
    for (char digit = '1'; digit < '5'; digit++) {
        struct catalog_part part;
        char name[2] = {digit, '\0'};
        struct catalog_recording r = describe(&part, "lab", name, digit);
        r.start_ns = digit % 2 ? INT64_MIN : 0;
        r.end_ns = INT64_MAX;
        r.clock = digit > '2' ? REEL_CLOCK_RELATIVE : REEL_CLOCK_WALL;
        r.annotations.has_epoch = true;
        r.annotations.epoch_ns = INT64_MAX;
        assert_true(catalog_add(c, &r, NULL, false, &err));
    }
    struct catalog_collection lab;
    assert_true(catalog_collection_get(c, "lab", &lab, &err));
    assert_int_equal(lab.recordings, 4);
    assert_int_equal(lab.duration_ms, 4 * INT64_C(3155760000000));
    catalog_collection_done(&lab);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_are_found_by_their_interval, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_is_checked_and_changed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_epoch_puts_on_the_calendar, set_up, tear_down),
        cmocka_unit_test_setup_teardown(collections_have_their_figures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_newest_need_not_be_the_last, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_durations_do_not_stop_uploads, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
