/* fsck: every kind of damage is made by hand, found, repaired, and then gone; a lost catalog is rebuilt with its
 * annotations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalog/maintenance.h"
#include "catalog/notes.h"
#include "maintenance/backup_files.h"
#include "maintenance/fsck.h"
#include "maintenance/rebuild.h"
#include "makers/ingest_trial.h"
#include "manifests/manifests.h"
#include "scans/scanning.h"
#include "store/inspect.h"
#include "store/manifest.h"

#define STRANGER "aa00000000000000000000000000000000000000000000000000000000000000"
#define STRANGE DATA "/blobs/aa/" STRANGER

static struct ingest_result one, two; /* what every test begins with */

static int begin(void **state) {
    set_up(state);
    if (send_text("d/a.trial", "TRIALab", &one) != INGEST_CREATED) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(send_text("b.trial", "TRIALxyz", &two), INGEST_CREATED);
    return 0;
}
static int end(void **state) {
    ingest_result_done(&one);
    ingest_result_done(&two);
    return tear_down(state);
}

/* ---- damage */

static char *file_of(const struct ingest_result *r, const char *suffix) {
    static char path[4096];
    assert_true(store_file_path(app.store, r->recording.content, suffix, path, sizeof path));
    return path;
}

static void write_to(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void sql(const char *text) {
    sqlite3 *raw;
    char *why = NULL;
    assert_int_equal(sqlite3_open(DATA "/catalog.db", &raw), SQLITE_OK);
    if (sqlite3_exec(raw, text, NULL, NULL, &why) != SQLITE_OK) {
        fail_msg("%s: %s", text, why);
    }
    sqlite3_close(raw);
}

/* ---- checks */

struct reported {
    unsigned kinds[FSCK_LEFTOVER + 1], repaired;
    char text[1024];
};
static void on_finding(void *context, enum fsck_kind kind, const char *subject, const char *text,
                       const char *repaired) {
    struct reported *h = context;
    h->kinds[kind]++;
    h->repaired += repaired != NULL;
    snprintf(h->text, sizeof h->text, "%s: %s", subject, text);
}

static struct fsck_report fsck(bool repair, bool rebuild, struct reported *h) {
    *h = (struct reported){0};
    struct fsck_report report;
    const struct fsck_options o = {
        .data = DATA, .repair = repair, .rebuild = rebuild, .found = on_finding, .context = h};
    if (!fsck_run(&o, &report, &err)) {
        fail_msg("fsck: %s", err.text);
    }
    return report;
}

/* A check finds it and changes nothing; a repair repairs it; then it is not found any more. */
static void expect(enum fsck_kind kind, unsigned n) {
    struct reported h;
    app_down();
    for (int i = 0; i < 2; i++) {
        struct fsck_report r = fsck(i == 1, false, &h);
        assert_true(r.alone);
        if (h.kinds[kind] != n || r.found != n || r.repaired != (i == 1 ? n : 0)) {
            fail_msg("%s: %u of that kind, %llu found, %llu repaired, last %s", fsck_kind_name(kind), h.kinds[kind],
                     (unsigned long long)r.found, (unsigned long long)r.repaired, h.text);
        }
    }
    struct fsck_report r = fsck(false, false, &h);
    if (r.found != 0) {
        fail_msg("after the repair: %s", h.text);
    }
    app_up();
}

static struct catalog_recording row_of(const struct ingest_result *r) {
    struct catalog_recording row;
    assert_true(catalog_get(app.catalog, r->recording.id, &row, &err));
    return row;
}

static enum recording_state state_of(const struct ingest_result *r) {
    struct catalog_recording row = row_of(r);
    enum recording_state state = row.state;
    catalog_recording_done(&row);
    return state;
}

static uint32_t found_by(const char *words) {
    struct catalog_query q = {.words = words, .limit = 10};
    struct catalog_page page;
    assert_true(catalog_list(app.catalog, &q, &page, &err));
    uint32_t n = page.n_items;
    catalog_page_done(&page);
    return n;
}

static void nothing_is_wrong_with_a_sound_archive(void **state) {
    (void)state;
    struct reported h;
    assert_true(catalog_trash(app.catalog, two.recording.id, &err));
    manifests_write_due(&app, 0, NULL, &err);
    struct fsck_report r = fsck(false, false, &h); /* while another process has the lock */
    assert_false(r.alone);
    assert_int_equal(r.found, 0);
    assert_int_equal(r.recordings, 2);
    struct fsck_report none;
    assert_false(fsck_run(&(struct fsck_options){.data = DATA, .repair = true}, &none, &err));
    assert_int_equal(err.code, REEL_CONFLICT);
    app_down();
    r = fsck(false, false, &h);
    assert_true(r.alone);
    assert_int_equal(r.found, 0);
    assert_int_equal(r.files, 6);
    r = fsck(true, false, &h);
    assert_int_equal(r.found, 0);
    assert_false(fsck_run(&(struct fsck_options){.data = REEL_SCRATCH "/nowhere"}, &none, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    app_up();
}

static void a_file_that_is_gone_is_missed(void **state) {
    (void)state;
    assert_int_equal(unlink(file_of(&one, "")), 0);
    expect(FSCK_FILE, 1);
    assert_int_equal(state_of(&one), STATE_MISSING);
    struct ingest_result again;
    assert_int_equal(send_text("d/a.trial", "TRIALab", &again), INGEST_EXISTS); /* sent again, it is whole again */
    assert_int_equal(again.recording.state, STATE_READY);
    ingest_result_done(&again);
}

static void a_file_of_another_size_is_set_aside(void **state) {
    (void)state;
    write_to(file_of(&one, ""), "TRIAL");
    expect(FSCK_FILE, 1);
    assert_int_equal(state_of(&one), STATE_MISSING);
    char path[4096];
    snprintf(path, sizeof path, DATA "/lost+found/%s", one.recording.content);
    assert_int_equal(access(path, F_OK), 0);
}

static void an_index_is_made_again(void **state) {
    (void)state;
    assert_int_equal(unlink(file_of(&one, ".reel")), 0);
    expect(FSCK_INDEX, 1);
    write_to(file_of(&one, ".reel"), "no index");
    expect(FSCK_INDEX, 1);
    int fd = open(file_of(&one, ".reel"), O_WRONLY);
    assert_int_equal(pwrite(fd, "\xff", 1, 16), 1); /* in the entries, which opening does not read */
    close(fd);
    expect(FSCK_INDEX, 1);
    struct catalog_recording r = row_of(&one);
    assert_int_equal(r.state, STATE_READY);
    assert_int_equal(r.messages, 2);
    catalog_recording_done(&r);
}

static void a_manifest_is_written_again(void **state) {
    (void)state;
    assert_int_equal(unlink(file_of(&one, ".json")), 0);
    expect(FSCK_MANIFEST, 1);
    write_to(file_of(&one, ".json"), "{\"reel_manifest\": 1, ");
    expect(FSCK_MANIFEST, 1);
    bool changed;
    const struct catalog_change tag = {.tags = &(struct catalog_tag){(char *)"robot", (char *)"r1"}, .n_tags = 1};
    assert_true(catalog_change(app.catalog, one.recording.id, &tag, &changed, &err));
    app_down();
    sql("DELETE FROM manifests_due"); /* a write that was lost */
    app_up();
    expect(FSCK_MANIFEST, 1);
    json_t *manifest = store_load_manifest(app.store, one.recording.content, &err);
    assert_non_null(manifest);
    const json_t *tags = json_object_get(json_array_get(json_object_get(manifest, "recordings"), 0), "tags");
    assert_string_equal(json_string_value(json_object_get(tags, "robot")), "r1");
    json_decref(manifest);
}

static void figures_are_counted_anew(void **state) {
    (void)state;
    bool changed;
    const struct catalog_change tag = {.tags = &(struct catalog_tag){(char *)"robot", (char *)"r1"}, .n_tags = 1};
    assert_true(catalog_change(app.catalog, one.recording.id, &tag, &changed, &err));
    manifests_write_due(&app, 0, NULL, &err);
    sql("UPDATE sums SET recordings = recordings + 1, bytes = 7 WHERE state = 1");
    expect(FSCK_TOTALS, 1);
    sql("DELETE FROM sums");
    expect(FSCK_TOTALS, 1);
    sql("UPDATE tag_keys SET recordings = 5; UPDATE tag_values SET recordings = 6");
    expect(FSCK_TOTALS, 2);
    sql("UPDATE tag_values SET label = NULL; INSERT INTO event_titles SELECT 1, min(id), 3 FROM labels");
    expect(FSCK_TOTALS, 2);
    assert_int_equal(found_by("r1"), 1);
    sql("UPDATE label_sets SET recordings = 9; INSERT INTO sums VALUES ('ghosts', 'x', 1, '', 1, 1, 1, 1)");
    expect(FSCK_TOTALS, 2);
    sql("UPDATE recordings SET notes = 3 WHERE name = 'b.trial'");
    struct reported h;
    app_down();
    struct fsck_report report = fsck(true, false, &h);
    assert_int_equal(report.repaired, h.kinds[FSCK_TOTALS] + h.kinds[FSCK_MANIFEST]); /* the manifest has none, which is
                                                                                         right */
    assert_int_equal(h.kinds[FSCK_TOTALS], 1);
    assert_int_equal(fsck(false, false, &h).found, 0);
    app_up();
    struct catalog_statistics f;
    assert_true(catalog_statistics(app.catalog, &f, &err));
    assert_int_equal(f.recordings[STATE_READY], 2);
    assert_int_equal(f.bytes, 7 + 8);
}

static void words_are_gathered_anew(void **state) {
    (void)state;
    sql("DELETE FROM search WHERE text LIKE '%  b  trial%'");
    assert_int_equal(found_by("b.trial"), 0);
    expect(FSCK_SEARCH, 1);
    assert_int_equal(found_by("b.trial"), 1);
    assert_int_equal(found_by("letter"), 2); /* the words of its types too */
    sql("INSERT INTO search (rowid, text) VALUES (77, '  ghost  '); DELETE FROM label_search WHERE text LIKE "
        "'%letter%';"
        " INSERT INTO label_search (rowid, text) VALUES (78, '  ghost  ')");
    expect(FSCK_SEARCH, 3);
    assert_int_equal(found_by("ghost"), 0);
    assert_int_equal(found_by("letter"), 2);
    struct reported h;
    app_down();
    sql("DELETE FROM search_data WHERE id > 10");
    assert_true(fsck(true, false, &h).found > 0);
    assert_int_equal(fsck(true, false, &h).found, 0);
    app_up();
    assert_int_equal(found_by("letter"), 2);
}

static void unreferenced_files_are_set_aside(void **state) {
    (void)state;
    mkdir(DATA "/blobs/aa", 0755);
    write_to(STRANGE, "whose?");
    expect(FSCK_ORPHAN, 1);
    assert_int_equal(access(DATA "/lost+found/" STRANGER, F_OK), 0);
    write_to(STRANGE, "whose?"); /* the same again: both stay */
    expect(FSCK_ORPHAN, 1);
    assert_int_equal(access(DATA "/lost+found/" STRANGER ".1", F_OK), 0);
    write_to(STRANGE ".reel", "an index");
    write_to(STRANGE ".json", "{}");
    expect(FSCK_ORPHAN, 2);
    write_to(STRANGE ".reel.part", "half");
    expect(FSCK_LEFTOVER, 1);
    assert_int_not_equal(access(STRANGE ".reel.part", F_OK), 0);
    write_to(DATA "/incoming/abcdef", "half");
    write_to(DATA "/incoming/00000000000000000000000000000001.part", "half");
    expect(FSCK_LEFTOVER, 2);
    assert_int_equal(stored_files(), 6);
}

static void the_content_of_a_manifest_is_restored(void **state) {
    (void)state;
    sql("PRAGMA foreign_keys = ON; DELETE FROM search WHERE rowid IN (SELECT row FROM recordings WHERE name = "
        "'b.trial'); DELETE FROM "
        "recordings WHERE name = 'b.trial'");
    struct reported h;
    app_down();
    assert_int_equal(fsck(false, false, &h).found, 4); /* unknown, and its three files belong to no recording */
    assert_int_equal(h.kinds[FSCK_UNKNOWN], 1);
    assert_int_equal(h.kinds[FSCK_ORPHAN], 3);
    assert_int_equal(fsck(true, false, &h).repaired, 1);
    assert_int_equal(fsck(false, false, &h).found, 0);
    app_up();
    struct catalog_recording r = row_of(&two);
    assert_string_equal(r.name, "b.trial");
    assert_int_equal(r.state, STATE_READY);
    assert_int_equal(r.messages, 3);
    assert_int_equal(r.created_ns, two.recording.created_ns);
    catalog_recording_done(&r);
    assert_int_equal(found_by("letter"), 2);
}

/* Two names of one content, and a crash between the manifest and the row of the second. */
static void leftovers_of_a_crash_in_a_manifest_are_removed(void **state) {
    (void)state;
    struct ingest_result other;
    struct reported h;
    assert_int_equal(send_text("other name", "TRIALab", &other), INGEST_CREATED);
    sql("PRAGMA foreign_keys = ON; DELETE FROM search WHERE rowid IN (SELECT row FROM recordings WHERE name = 'other "
        "name'); DELETE FROM "
        "recordings WHERE name = 'other name'");
    assert_int_equal(fsck(false, false, &h).found, 0); /* while a server runs it may be on its way */
    sweep_record_stop(&app);
    assert_true(sweep_last_stop(&app) > other.recording.created_ns);
    sql("DELETE FROM maintenance WHERE key = 'stopped'");
    assert_true(jobs_add(app.jobs, &(struct job_spec){.kind = "sweep"}, NULL, &err));
    wait_until_idle();
    assert_true(app.swept);
    app_down();
    assert_int_equal(fsck(false, false, &h).found, 0);
    app_up();
    json_t *manifest = store_load_manifest(app.store, one.recording.content, &err);
    assert_int_equal(json_array_size(json_object_get(manifest, "recordings")), 1);
    json_decref(manifest);
    ingest_result_done(&other);
}

/* The sweep passes over a content that an upload holds; that upload does its part. */
static void who_comes_before_the_sweep_forgets_too(void **state) {
    (void)state;
    struct ingest_result lost, again;
    assert_int_equal(send_text("lost name", "TRIALab", &lost), INGEST_CREATED);
    sql("PRAGMA foreign_keys = ON; DELETE FROM search WHERE rowid IN (SELECT row FROM recordings WHERE name = 'lost "
        "name'); DELETE FROM "
        "recordings WHERE name = 'lost name'");
    assert_int_equal(send_text("lost name", "TRIALab", &again), INGEST_CREATED);
    json_t *manifest = store_load_manifest(app.store, one.recording.content, &err);
    assert_int_equal(json_array_size(json_object_get(manifest, "recordings")), 2);
    json_decref(manifest);
    ingest_result_done(&lost);
    ingest_result_done(&again);
}

static void broken_keys_are_reported(void **state) {
    (void)state;
    struct reported h;
    app_down();
    sql("PRAGMA foreign_keys = OFF; INSERT INTO parts (recording, position, sha256, size, file_name) VALUES (999, 0, "
        "zeroblob(32), 1, "
        "'x')");
    struct fsck_report r = fsck(true, false, &h);
    assert_true(h.kinds[FSCK_CATALOG] >= 1);
    assert_true(r.repaired < r.found);
    app_up();
}

/* ---- lost catalogs */

/* All annotations of a recording. */
static void say_all(void) {
    const struct catalog_tag tags[] = {{(char *)"robot", (char *)"r1"}, {(char *)"site", (char *)"hall 7"}};
    const struct catalog_change change = {
        .description = "through the door", .custom = "{\"run\":7}", .tags = tags, .n_tags = 2};
    struct catalog_note note = {.author = strdup("ann"), .text = strdup("look at 3 s")};
    struct catalog_event event = {.title = strdup("stop"),
                                  .author = strdup("bob"),
                                  .tags = strdup("{\"kind\":\"halt\"}"),
                                  .start_ns = 5,
                                  .end_ns = 6};
    bool changed;
    assert_true(catalog_change(app.catalog, one.recording.id, &change, &changed, &err));
    assert_true(catalog_note_add(app.catalog, one.recording.id, &note, &err));
    catalog_note_done(&note);
    assert_true(catalog_event_add(app.catalog, one.recording.id, &event, &err));
    catalog_event_done(&event);
    assert_true(catalog_collection_describe(app.catalog, "lab", "the lab's", &err));
    assert_true(manifests_write_collections(&app, &err));
    manifests_write_due(&app, 0, NULL, &err);
    assert_true(catalog_trash(app.catalog, two.recording.id, &err));
    manifests_write_due(&app, 0, NULL, &err);
}

static void all_is_said_again(void) {
    struct catalog_recording r = row_of(&one);
    assert_string_equal(r.collection, "lab");
    assert_string_equal(r.name, "d/a.trial");
    assert_int_equal(r.revision, 1);
    assert_int_equal(r.state, STATE_READY);
    assert_int_equal(r.messages, 2);
    assert_int_equal(r.created_ns, one.recording.created_ns);
    assert_string_equal(catalog_annotations_tag(&r.annotations, "robot"), "r1");
    assert_string_equal(catalog_annotations_tag(&r.annotations, "site"), "hall 7");
    assert_string_equal(r.annotations.description, "through the door");
    assert_string_equal(r.annotations.custom, "{\"run\":7}");
    assert_int_equal(r.annotations.notes, 1);
    assert_int_equal(r.annotations.events, 1);
    catalog_recording_done(&r);
    struct catalog_notes notes;
    assert_true(catalog_notes_list(app.catalog, one.recording.id, 0, 10, &notes, &err));
    assert_string_equal(notes.items[0].author, "ann");
    assert_string_equal(notes.items[0].text, "look at 3 s");
    catalog_notes_done(&notes);
    struct catalog_events events;
    assert_true(catalog_events_list(
        app.catalog, &(struct catalog_event_query){.recording = one.recording.id, .limit = 10}, &events, &err));
    assert_string_equal(events.items[0].title, "stop");
    assert_string_equal(events.items[0].tags, "{\"kind\":\"halt\"}");
    catalog_events_done(&events);
    struct catalog_collection collection;
    assert_true(catalog_collection_get(app.catalog, "lab", &collection, &err));
    assert_string_equal(collection.description, "the lab's");
    catalog_collection_done(&collection);
    assert_int_equal(state_of(&two), STATE_TRASHED);
    assert_true(catalog_restore(app.catalog, two.recording.id, &err));
    assert_int_equal(state_of(&two), STATE_READY);
    assert_int_equal(found_by("letter"), 2);
    assert_int_equal(stored_files(), 6);
}

static void a_damaged_catalog_is_made_again(void **state) {
    (void)state;
    struct reported h;
    say_all();
    app_down();
    write_to(DATA "/catalog.db", "this is no database at all, however long one looks at it "
                                 "........................................................................");
    unlink(DATA "/catalog.db-wal");
    assert_int_equal(fsck(false, false, &h).found, 1);
    assert_int_equal(h.kinds[FSCK_CATALOG], 1);
    struct fsck_report r = fsck(false, true, &h);
    assert_int_equal(h.kinds[FSCK_UNKNOWN], 2);
    assert_int_equal(r.repaired, 2);
    assert_string_equal(r.old_catalog, "catalog.db.old-1");
    assert_int_equal(access(DATA "/catalog.db.old-1", F_OK), 0);
    assert_int_equal(fsck(false, false, &h).found, 0);
    app_up();
    all_is_said_again();
}

static void no_old_catalog_is_overwritten(void **state) {
    (void)state;
    char name[64], path[256];
    static const char *const folder = DATA "/aside";
    assert_int_equal(mkdir(folder, 0700), 0);
    for (unsigned i = 1; i <= 10000; i++) {
        if (i != 3) {
            snprintf(path, sizeof path, "%s/c.db.old-%u%s", folder, i, i == 1 ? "-wal" : ""); /* of the first only its
                                                                                                 log is left */
            write_to(path, "old");
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/c.db", folder);
        write_to(path, "new");
        assert_int_equal(rebuild_set_catalog_aside(path, name, &err), i == 0);
    }
    assert_string_equal(name, "c.db.old-3");
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_int_equal(access(path, F_OK), 0);
}

/* As a folder of its name would do. */
static void a_backup_that_fails_leaves_no_part(void **state) {
    (void)state;
    json_t *manifest = json_object();
    assert_int_equal(mkdir(DATA "/backup", 0700), 0);
    assert_int_equal(mkdir(DATA "/backup/backup.json", 0700), 0);
    assert_false(backup_write_json(DATA "/backup", manifest, &err));
    assert_int_not_equal(access(DATA "/backup/backup.json.part", F_OK), 0);
    json_decref(manifest);
}

static void a_server_takes_back_what_a_lost_catalog_had(void **state) {
    (void)state;
    uint64_t n;
    say_all();
    app_down();
    unlink(DATA "/catalog.db");
    unlink(DATA "/catalog.db-wal");
    unlink(DATA "/catalog.db-shm");
    app_up(); /* without what app_open() does; as `reel token create` would have made it */
    assert_true(rebuild_if_lost(&app, &n, &err));
    assert_int_equal(n, 2);
    assert_true(rebuild_if_lost(&app, &n, &err));
    assert_int_equal(n, 0);
    assert_true(ingest_resume(&app, &err)); /* the sweep finds nothing to take away */
    wait_until_idle();
    all_is_said_again();
}

static void revisions_and_missing_indexes_come_back(void **state) {
    (void)state;
    struct ingest_result newer, failed;
    const struct ingest_request replace = {.collection = "lab", .name = "b.trial", .replace = true},
                                keep = {.collection = "lab", .name = "bad", .keep = true};
    assert_int_equal(send_with(&replace, "TRIALnewer", INT64_MAX, &newer, &err), INGEST_CREATED);
    assert_int_equal(send_with(&keep, "TRIALd", INT64_MAX, &failed, &err), INGEST_KEPT);
    assert_true(ingest_purge(&app, two.recording.id, &err)); /* its revision stays taken */
    assert_int_equal(unlink(file_of(&one, ".reel")), 0);
    assert_int_equal(unlink(file_of(&newer, "")), 0);
    struct reported h;
    app_down();
    fsck(false, true, &h);
    assert_int_equal(fsck(false, false, &h).found, 0);
    app_up();
    struct catalog_recording r = row_of(&newer);
    assert_int_equal(r.revision, 2);
    assert_int_equal(r.state, STATE_MISSING);
    catalog_recording_done(&r);
    assert_int_equal(state_of(&one), STATE_READY);
    r = row_of(&failed);
    assert_int_equal(r.state, STATE_FAILED);
    assert_string_equal(r.problem, "letter at 5: damaged");
    catalog_recording_done(&r);
    ingest_result_done(&newer);
    ingest_result_done(&failed);
}

static void bad_manifests_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "{}",
        "{\"id\": \"x\"}",
        "{\"id\": \"00000000000000000000000000000001\", \"collection\": \"lab\", \"name\": \"../x\", \"revision\": 1, "
        "\"state\": "
        "\"ready\"}",
        "{\"id\": \"00000000000000000000000000000001\", \"collection\": \"\", \"name\": \"x\", \"revision\": 1, "
        "\"state\": \"ready\"}",
        "{\"id\": \"00000000000000000000000000000001\", \"collection\": \"lab\", \"name\": \"x\", \"revision\": 0, "
        "\"state\": \"ready\"}",
        "{\"id\": \"00000000000000000000000000000001\", \"collection\": \"lab\", \"name\": \"x\", \"revision\": 1, "
        "\"state\": \"sunny\"}",
        "{\"id\": \"00000000000000000000000000000001\", \"collection\": \"lab\", \"name\": 7, \"revision\": 1, "
        "\"state\": \"ready\"}",
        "[]",
        "null",
    };
    json_t *manifest = store_load_manifest(app.store, one.recording.content, &err);
    struct rebuilt b;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *item = json_loads(bad[i], JSON_DECODE_ANY, NULL);
        assert_false(rebuild_read(manifest, item, &b, &err));
        json_decref(item);
    }
    json_t *item = json_loads("{\"id\": \"00000000000000000000000000000001\", \"collection\": \"lab\", \"name\": "
                              "\"x\", \"revision\": 1, \"state\": \"ready\","
                              "\"tags\": {\"a b\": \"x\", \"good\": \"yes\", \"n\": 1}, \"notes\": [7, {\"id\": "
                              "\"?\"}], \"events\": {}, \"custom\": []}",
                              0, NULL);
    assert_true(rebuild_read(manifest, item, &b, &err)); /* invalid annotations are left out */
    assert_int_equal(b.r.annotations.n_tags, 1);
    assert_int_equal(b.notes.n, 0);
    rebuilt_done(&b);
    json_object_set_new(manifest, "parts", json_array());
    assert_false(rebuild_read(manifest, item, &b, &err));
    json_decref(item);
    json_decref(manifest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_wrong_with_a_sound_archive, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_is_gone_is_missed, begin, end),
        cmocka_unit_test_setup_teardown(a_file_of_another_size_is_set_aside, begin, end),
        cmocka_unit_test_setup_teardown(an_index_is_made_again, begin, end),
        cmocka_unit_test_setup_teardown(a_manifest_is_written_again, begin, end),
        cmocka_unit_test_setup_teardown(figures_are_counted_anew, begin, end),
        cmocka_unit_test_setup_teardown(words_are_gathered_anew, begin, end),
        cmocka_unit_test_setup_teardown(unreferenced_files_are_set_aside, begin, end),
        cmocka_unit_test_setup_teardown(the_content_of_a_manifest_is_restored, begin, end),
        cmocka_unit_test_setup_teardown(leftovers_of_a_crash_in_a_manifest_are_removed, begin, end),
        cmocka_unit_test_setup_teardown(who_comes_before_the_sweep_forgets_too, begin, end),
        cmocka_unit_test_setup_teardown(broken_keys_are_reported, begin, end),
        cmocka_unit_test_setup_teardown(a_damaged_catalog_is_made_again, begin, end),
        cmocka_unit_test_setup_teardown(no_old_catalog_is_overwritten, begin, end),
        cmocka_unit_test_setup_teardown(a_backup_that_fails_leaves_no_part, begin, end),
        cmocka_unit_test_setup_teardown(a_server_takes_back_what_a_lost_catalog_had, begin, end),
        cmocka_unit_test_setup_teardown(revisions_and_missing_indexes_come_back, begin, end),
        cmocka_unit_test_setup_teardown(bad_manifests_are_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
