/* For tests of annotations: changes, and the counts that triggers keep compared with what counting anew gives. */
#ifndef REEL_TESTS_NOTES_FIXTURE_H
#define REEL_TESTS_NOTES_FIXTURE_H

#include "catalog/notes.h"
#include "makers/catalog_fixture.h"

static const int64_t S = 1000000000;

/* The one number that a query of the raw file gives. */
static inline int64_t number(const char *sql) {
    sqlite3 *raw = open_raw();
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(raw, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(raw);
    return value;
}

/* What triggers keep is what counting gives. */
static inline void assert_counts_hold(void) {
    assert_int_equal(number("SELECT count(*) FROM tag_values AS v WHERE recordings <> (SELECT count(*) FROM "
                            "recording_tags AS t CROSS JOIN recordings AS r"
                            " ON r.row = t.recording WHERE t.value = v.id AND r.state <> 4)"),
                     0);
    assert_int_equal(number("SELECT count(*) FROM tag_keys AS k WHERE recordings <> (SELECT count(*) FROM "
                            "recording_tags AS t CROSS JOIN recordings AS r"
                            " ON r.row = t.recording WHERE t.key = k.id AND r.state <> 4)"),
                     0);
    assert_int_equal(number("SELECT count(*) FROM tag_values WHERE id NOT IN (SELECT value FROM recording_tags)"), 0);
    assert_int_equal(number("SELECT count(*) FROM tag_keys WHERE id NOT IN (SELECT key FROM recording_tags)"), 0);
    assert_int_equal(number("SELECT count(*) FROM (SELECT recording, label, events FROM event_titles EXCEPT SELECT "
                            "e.recording, l.id, count(*) FROM events AS e CROSS JOIN labels AS l ON l.kind = 4 AND "
                            "l.name = e.title GROUP BY 1, 2)"),
                     0);
    assert_int_equal(number("SELECT (SELECT count(*) FROM (SELECT 1 FROM events GROUP BY recording, title)) - (SELECT "
                            "count(*) FROM event_titles)"),
                     0);
    assert_int_equal(number("SELECT count(*) FROM labels AS l WHERE kind = 4 AND id NOT IN (SELECT label FROM "
                            "event_titles) OR kind = 3 AND NOT EXISTS (SELECT 1 FROM tag_values WHERE label = l.id AND "
                            "value = l.name)"),
                     0);
    assert_int_equal(number("SELECT count(*) FROM tag_values WHERE label IS NULL"), 0);
    assert_int_equal(number("SELECT (SELECT count(*) FROM labels) - (SELECT count(*) FROM label_search) + (SELECT "
                            "count(*) FROM labels_changed)"),
                     0);
    assert_int_equal(number("SELECT count(*) FROM recordings WHERE notes <> (SELECT count(*) FROM notes WHERE "
                            "recording = recordings.row)"
                            " OR events <> (SELECT count(*) FROM events WHERE recording = recordings.row)"),
                     0);
    assert_int_equal(number("SELECT count(*) FROM (SELECT * FROM sums EXCEPT SELECT collection, format, state, day, "
                            "count(*), sum(size), sum(messages),"
                            " sum(counted_ms) FROM recordings GROUP BY collection, format, state, day)"),
                     0);
    assert_int_equal(number("SELECT (SELECT sum(recordings) FROM sums) - (SELECT count(*) FROM recordings)"), 0);
}

static inline bool change(const char *id, const struct catalog_change *change) {
    bool changed;
    return catalog_change(c, id, change, &changed, &err);
}

static inline bool set_tag(const char *id, const char *key, const char *value) {
    const struct catalog_tag tag = {.key = (char *)key, .value = (char *)value};
    return change(id, &(struct catalog_change){.tags = &tag, .n_tags = 1});
}

#endif
