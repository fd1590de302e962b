/* Annotations of recordings: tags and their counts, changes by version, names, custom fields, notes; and the manifests
 * that are due then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "catalog/notes.h"
#include "makers/notes_fixture.h"

/* "robot=r1 site=a" */
static void assert_tags(const char *id, const char *expected) {
    struct catalog_recording r;
    char text[4096] = "";
    assert_true(catalog_get(c, id, &r, &err));
    for (uint32_t i = 0; i < r.annotations.n_tags; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s=%s", i > 0 ? " " : "", r.annotations.tags[i].key,
                 r.annotations.tags[i].value);
    }
    assert_string_equal(text, expected);
    catalog_recording_done(&r);
}

static void assert_listed(bool values, const char *key, const char *prefix, const char *after, uint32_t limit,
                          const char *expected) {
    struct catalog_counts counts;
    char text[4096] = "";
    assert_true(values ? catalog_tag_values(c, key, prefix, after, limit, &counts, &err)
                       : catalog_tag_keys(c, prefix, after, limit, &counts, &err));
    for (uint32_t i = 0; i < counts.n; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s:%d", i > 0 ? " " : "", counts.items[i].name,
                 (int)counts.items[i].recordings);
    }
    if (counts.more) {
        strcat(text, " …");
    }
    assert_string_equal(text, expected);
    catalog_counts_done(&counts);
}

static void tags_are_kept_and_counted(void **state) {
    (void)state;
    char a[RECORDING_ID_TEXT], b[RECORDING_ID_TEXT];
    assert_true(put("lab", "a", '1', false, a) && put("lab", "b", '2', false, b));
    assert_tags(a, "");
    assert_true(set_tag(a, "robot", "r1") && set_tag(a, "area", "hall") && set_tag(b, "robot", "r1"));
    assert_tags(a, "area=hall robot=r1");
    assert_listed(false, NULL, NULL, NULL, 10, "area:1 robot:2");
    assert_listed(true, "robot", NULL, NULL, 10, "r1:2");
    assert_true(set_tag(b, "robot", "r2") && set_tag(b, "robot:left", "") && set_tag(b, "robot", "\xe6\x9c\xba"));
    assert_listed(false, NULL, "robot", NULL, 10, "robot:2 robot:left:1");
    assert_listed(false, NULL, "x", NULL, 10, "");
    assert_listed(true, "robot", NULL, NULL, 10, "r1:1 \xe6\x9c\xba:1");
    assert_listed(true, "robot", "r", NULL, 10, "r1:1");
    assert_listed(true, "robot", NULL, NULL, 1, "r1:1 …");
    assert_listed(true, "robot", NULL, "r1", 1, "\xe6\x9c\xba:1");
    assert_listed(true, "robot:left", NULL, NULL, 1, ":1");
    assert_listed(true, "robot:left", NULL, "", 1, "");
    assert_counts_hold();
    assert_true(catalog_trash(c, a, &err));
    assert_tags(a, "area=hall robot=r1"); /* the trash keeps them, the lists do not show them */
    assert_listed(false, NULL, NULL, NULL, 10, "robot:1 robot:left:1");
    assert_counts_hold();
    assert_true(set_tag(a, "area", "yard") && set_tag(a, "robot", NULL));
    assert_counts_hold();
    assert_true(catalog_restore(c, a, &err));
    assert_listed(true, "area", NULL, NULL, 10, "yard:1");
    assert_counts_hold();
    assert_true(catalog_purge_at(c, a, CATALOG_ANY_VERSION, &err) && catalog_trash(c, b, &err) &&
                catalog_purge_at(c, b, CATALOG_ANY_VERSION, &err));
    assert_int_equal(number("SELECT (SELECT count(*) FROM tag_keys) + (SELECT count(*) FROM tag_values) + (SELECT "
                            "count(*) FROM recording_tags)"),
                     0);
}

static void tags_survive_a_scan(void **state) {
    (void)state;
    struct catalog_part part;
    struct catalog_recording r = describe(&part, "lab", "a", '1');
    assert_true(catalog_add(c, &r, NULL, false, &err) && set_tag(r.id, "robot", "r1"));
    assert_true(change(r.id, &(struct catalog_change){.description = "d", .custom = "{\"x\":1}"}));
    assert_true(catalog_update_scan(c, &r, NULL, &err) && catalog_set_parts(c, &r, NULL, NULL, &err));
    assert_tags(r.id, "robot=r1");
    struct catalog_recording now;
    assert_true(catalog_get(c, r.id, &now, &err));
    assert_string_equal(now.annotations.description, "d");
    assert_string_equal(now.annotations.custom, "{\"x\":1}");
    catalog_recording_done(&now);
    catalog_close(c);
    c = catalog_open(DB_FILE, &err);
    assert_tags(r.id, "robot=r1");
}

static void what_is_no_tag_is_refused(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT], value[TAG_VALUE_MAX + 2], key[TAG_KEY_MAX + 2];
    assert_true(put("lab", "a", '1', false, id));
    memset(value, 'v', sizeof value - 1);
    memset(key, 'k', sizeof key - 1);
    value[sizeof value - 1] = key[sizeof key - 1] = '\0';
    const char *const keys[] = {"", "a b", "\xc3\xa4", "a/b", "a=b", key};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_false(set_tag(id, keys[i], "v"));
        assert_int_equal(err.code, REEL_ARGUMENT);
    }
    const char *const values[] = {"\xff", "a\nb", "\x7f", "\xc2\x85", value};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_false(set_tag(id, "k", values[i]));
    }
    assert_int_equal(err.code, REEL_LIMIT);
    assert_true(set_tag(id, key + 1, value + 1) && set_tag(id, "A.z_9:-", ""));
    assert_true(set_tag(id, key + 1, NULL) && set_tag(id, "A.z_9:-", NULL));
    struct catalog_tag many[TAGS_MAX + 1];
    char names[TAGS_MAX + 1][16];
    for (int i = 0; i <= TAGS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "k%d", i);
        many[i] = (struct catalog_tag){.key = names[i], .value = (char *)"v"};
    }
    assert_false(change(id, &(struct catalog_change){.tags = many, .n_tags = TAGS_MAX + 1}));
    assert_int_equal(err.code, REEL_LIMIT);
    assert_tags(id, "");
    assert_true(change(id, &(struct catalog_change){.tags = many, .n_tags = TAGS_MAX}));
    assert_false(set_tag(id, "one_more", "v"));
    assert_true(change(id, &(struct catalog_change){.clears_tags = true}));
    assert_tags(id, "");
    assert_counts_hold();
}

static void many_are_tagged_at_once(void **state) {
    (void)state;
    put_many();
    int64_t rows[MANY + 1];
    for (int i = 0; i <= MANY; i++) {
        rows[i] = i + 1; /* the last one is of no recording */
    }
    struct catalog_tag tags[] = {{(char *)"robot", (char *)"r1"}, {(char *)"site", NULL}};
    struct catalog_tag_batch batch = {.rows = rows, .n_rows = MANY + 1, .tags = tags, .n_tags = 2};
    assert_true(catalog_tag_many(c, &batch, &err));
    assert_int_equal(batch.changed, MANY);
    assert_listed(true, "robot", NULL, NULL, 10, "r1:29"); /* eight lie in the trash */
    assert_true(catalog_tag_many(c, &batch, &err));
    assert_int_equal(batch.changed, 0);
    tags[0].key = (char *)"no key";
    assert_false(catalog_tag_many(c, &batch, &err));
    assert_counts_hold();
    struct catalog_page page; /* a page has the tags of all its rows, each its own */
    assert_true(set_tag("00", "x", "y") == false && err.code == REEL_NOT_FOUND);
    assert_true(catalog_list(c, &(struct catalog_query){.limit = 1000, .sort = "name"}, &page, &err));
    for (uint32_t i = 0; i < page.n_items; i++) {
        assert_true(set_tag(page.items[i].id, "name", page.items[i].name));
    }
    catalog_page_done(&page);
    assert_true(catalog_list(c, &(struct catalog_query){.limit = 1000, .sort = "-size"}, &page, &err));
    assert_int_equal(page.n_items, 29);
    for (uint32_t i = 0; i < page.n_items; i++) {
        assert_string_equal(catalog_annotations_tag(&page.items[i].annotations, "name"), page.items[i].name);
        assert_string_equal(catalog_annotations_tag(&page.items[i].annotations, "robot"), "r1");
    }
    catalog_page_done(&page);
}

static void a_change_is_of_one_version(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    struct catalog_recording r, after;
    bool changed;
    assert_true(put("lab", "a", '1', false, id) && catalog_get(c, id, &r, &err));
    struct catalog_change first = {.has_version = true, .version = r.updated_ns, .description = "one"};
    assert_true(change(id, &first));
    assert_false(change(id, &first));
    assert_int_equal(err.code, REEL_CHANGED);
    assert_true(catalog_get(c, id, &after, &err));
    assert_true(after.updated_ns > r.updated_ns);
    assert_string_equal(after.annotations.description, "one");
    assert_true(catalog_change(c, id, &(struct catalog_change){.description = "one"}, &changed, &err)); /* as it is: no
                                                                                                           new version
                                                                                                         */
    assert_false(changed);
    first.version = after.updated_ns;
    first.description = "two";
    assert_true(change(id, &first));
    catalog_recording_done(&r);
    catalog_recording_done(&after);
    int64_t version = number("SELECT updated_ns FROM recordings");
    struct catalog_note note = {.text = (char *)"t"};
    assert_true(set_tag(id, "k", "v") && number("SELECT updated_ns FROM recordings") > version);
    version = number("SELECT updated_ns FROM recordings");
    assert_true(catalog_note_add(c, id, &note, &err) && number("SELECT updated_ns FROM recordings") > version);
}

static void names_change_without_a_clash(void **state) {
    (void)state;
    char a[RECORDING_ID_TEXT], b[RECORDING_ID_TEXT], old[RECORDING_ID_TEXT];
    assert_true(put("lab", "old", '0', false, old) && put("lab", "walk", '1', false, a) &&
                put("lab", "run", '2', false, b));
    assert_false(change(a, &(struct catalog_change){.name = "run"}));
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_true(catalog_trash(c, b, &err));
    assert_true(change(a, &(struct catalog_change){.name = "run"})); /* what lies in the trash takes no name */
    struct catalog_recording r;
    assert_true(catalog_get(c, "name:lab/run", &r, &err));
    assert_string_equal(r.id, a);
    assert_int_equal(r.revision, 2);
    catalog_recording_done(&r);
    assert_int_equal(find("walk"), 0);
    assert_int_equal(find("run"), 1);
    assert_true(change(a, &(struct catalog_change){.collection = "field"}));
    assert_int_equal(find("field"), 1);
    assert_int_equal(count(&(struct catalog_query){.collection = "field"}), 1);
    assert_int_equal(count(&(struct catalog_query){.collection = "lab"}), 1);
    assert_counts_hold();
}

static void assert_custom(const char *id, const char *patch, const char *expected) {
    struct catalog_recording r;
    assert_true(change(id, &(struct catalog_change){.custom = patch}));
    assert_true(catalog_get(c, id, &r, &err));
    assert_string_equal(r.annotations.custom, expected);
    catalog_recording_done(&r);
}

static void custom_fields_are_merged(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    assert_true(put("lab", "a", '1', false, id));
    assert_custom(id, "{\"a\":1,\"b\":{\"c\":[1,{\"d\":null}]}}", "{\"a\":1,\"b\":{\"c\":[1,{\"d\":null}]}}");
    assert_custom(id, "{\"b\":{\"e\":\"\xc3\xa4\"},\"a\":null}", "{\"b\":{\"c\":[1,{\"d\":null}],\"e\":\"\xc3\xa4\"}}");
    assert_custom(id, "{\"b\":{\"c\":{\"x\":{\"y\":null}}}}", "{\"b\":{\"c\":{\"x\":{}},\"e\":\"\xc3\xa4\"}}");
    assert_custom(id, "{\"b\":null}", "");
    assert_custom(id, "{\"z\":true}", "{\"z\":true}");
    assert_custom(id, "null", "");
    assert_false(change(id, &(struct catalog_change){.custom = "[]"}));
    char *big = malloc(CUSTOM_MAX + 16);
    memset(big, 'x', CUSTOM_MAX + 16);
    memcpy(big, "{\"k\":\"", 6);
    strcpy(big + CUSTOM_MAX - 1, "\"}"); /* one too many */
    assert_false(change(id, &(struct catalog_change){.custom = big}));
    assert_int_equal(err.code, REEL_LIMIT);
    strcpy(big + CUSTOM_MAX - 2, "\"}");
    assert_true(change(id, &(struct catalog_change){.custom = big}));
    memset(big, 'd', DESCRIPTION_MAX + 1);
    big[DESCRIPTION_MAX + 1] = '\0';
    assert_false(change(id, &(struct catalog_change){.description = big}));
    assert_true(change(id, &(struct catalog_change){.description = big + 1}));
    struct catalog_recording r; /* too long for the cache of rows, and whole all the same */
    assert_true(catalog_get(c, id, &r, &err));
    assert_int_equal(strlen(r.annotations.description), DESCRIPTION_MAX);
    assert_int_equal(strlen(r.annotations.custom), CUSTOM_MAX);
    catalog_recording_done(&r);
    struct catalog_page page;
    assert_true(catalog_list(c, &(struct catalog_query){.limit = 1}, &page, &err));
    assert_int_equal(strlen(page.items[0].annotations.description), LIST_DESCRIPTION_MAX);
    assert_string_equal(page.items[0].annotations.custom, "");
    assert_true(page.items[0].annotations.cut_description && page.items[0].annotations.cut_custom);
    catalog_page_done(&page);
    free(big);
}

static void notes_come_and_go(void **state) {
    (void)state;
    char a[RECORDING_ID_TEXT], b[RECORDING_ID_TEXT];
    assert_true(put("lab", "a", '1', false, a) && put("lab", "b", '2', false, b));
    struct catalog_note notes[3];
    for (int i = 0; i < 3; i++) {
        notes[i] = (struct catalog_note){.author = (char *)"ann", .text = (char *)(i == 1 ? "two\nlines" : "one")};
        assert_true(catalog_note_add(c, a, &notes[i], &err));
    }
    struct catalog_notes page;
    assert_true(catalog_notes_list(c, a, 0, 2, &page, &err));
    assert_true(page.n == 2 && page.more);
    assert_string_equal(page.items[1].text, "two\nlines");
    assert_string_equal(page.items[1].author, "ann");
    assert_string_equal(page.items[1].id, notes[1].id);
    int64_t after = page.items[1].row;
    catalog_notes_done(&page);
    assert_true(catalog_notes_list(c, a, after, 2, &page, &err));
    assert_true(page.n == 1 && !page.more);
    catalog_notes_done(&page);
    struct catalog_note now;
    assert_true(catalog_note_change(c, a, notes[0].id, "other", &now, &err));
    assert_string_equal(now.text, "other");
    assert_true(now.updated_ns > now.created_ns && now.created_ns == notes[0].created_ns);
    catalog_note_done(&now);
    assert_false(catalog_note_change(c, b, notes[0].id, "of another", &now, &err)); /* found only with its recording */
    assert_int_equal(err.code, REEL_NOT_FOUND);
    assert_false(catalog_note_remove(c, b, notes[0].id, &err));
    assert_counts_hold();
    assert_true(catalog_note_remove(c, a, notes[0].id, &err));
    assert_false(catalog_note_remove(c, a, notes[0].id, &err));
    assert_false(catalog_note_add(c, a, &(struct catalog_note){.text = (char *)""}, &err));
    assert_false(catalog_note_add(c, a, &(struct catalog_note){.text = (char *)"\xff"}, &err));
    assert_counts_hold();
    sqlite3 *raw = open_raw();
    assert_int_equal(
        sqlite3_exec(raw, "UPDATE recordings SET notes = 1000, events = 10000 WHERE collection = 'lab' AND name = 'b'",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(raw);
    assert_false(catalog_note_add(c, b, &(struct catalog_note){.text = (char *)"x"}, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    assert_false(catalog_event_add(c, b, &(struct catalog_event){.title = (char *)"x"}, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    assert_true(catalog_purge_at(c, a, CATALOG_ANY_VERSION, &err));
    assert_int_equal(number("SELECT count(*) FROM notes"), 0);
}

static void a_new_revision_inherits(void **state) {
    (void)state;
    struct catalog_annotations before = {.description = strdup("old"), .custom = strdup("{\"a\":1}")}, now = {0};
    assert_true(catalog_annotations_set_tag(&before, "robot", "r1", &err) &&
                catalog_annotations_set_tag(&before, "area", "hall", &err));
    assert_true(catalog_annotations_set_tag(&now, "robot", "r2", &err));
    now.description = strdup("new");
    assert_true(catalog_annotations_inherit(&now, &before, &err));
    assert_string_equal(now.description, "new");
    assert_string_equal(now.custom, "{\"a\":1}");
    assert_string_equal(catalog_annotations_tag(&now, "robot"), "r2");
    assert_string_equal(catalog_annotations_tag(&now, "area"), "hall");
    assert_int_equal(now.n_tags, 2);
    catalog_annotations_done(&before);
    catalog_annotations_done(&now);
}

static bool write_down(const struct catalog_recording *r) {
    struct catalog_written one = {.updated_ns = r->updated_ns};
    memcpy(one.id, r->id, sizeof one.id);
    return catalog_manifests_written(c, &one, 1, &err);
}

static void changes_make_manifests_due(void **state) {
    (void)state;
    char a[RECORDING_ID_TEXT], b[RECORDING_ID_TEXT], id[RECORDING_ID_TEXT];
    int64_t after = 0;
    assert_true(put("lab", "a", '1', false, a) && put("lab", "b", '2', false, b));
    assert_false(catalog_manifest_due(c, &after, id, &err)); /* that of a new one is written before it */
    assert_true(set_tag(a, "k", "v") && catalog_trash(c, b, &err));
    assert_true(catalog_manifest_due(c, &after, id, &err));
    assert_string_equal(id, a);
    assert_true(catalog_manifest_due(c, &after, id, &err));
    assert_string_equal(id, b);
    assert_false(catalog_manifest_due(c, &after, id, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    struct catalog_recording r;
    assert_true(catalog_get(c, a, &r, &err) && set_tag(a, "k", "w"));
    assert_true(write_down(&r)); /* an older state: it is still due */
    catalog_recording_done(&r);
    after = 0;
    assert_true(catalog_manifest_due(c, &after, id, &err));
    assert_string_equal(id, a);
    assert_true(catalog_get(c, a, &r, &err) && write_down(&r));
    catalog_recording_done(&r);
    after = 0;
    assert_true(catalog_manifest_due(c, &after, id, &err));
    assert_string_equal(id, b);
    assert_true(catalog_purge_at(c, b, CATALOG_ANY_VERSION, &err));
    assert_int_equal(number("SELECT count(*) FROM manifests_due"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tags_are_kept_and_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tags_survive_a_scan, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_tag_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_are_tagged_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_change_is_of_one_version, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_change_without_a_clash, set_up, tear_down),
        cmocka_unit_test_setup_teardown(custom_fields_are_merged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(notes_come_and_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_new_revision_inherits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changes_make_manifests_due, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
