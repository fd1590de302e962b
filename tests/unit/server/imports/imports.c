/* Files of this machine: roots that nothing leads out of, references that come and go, imports of folders, what is
 * known of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <utime.h>

#include "base/cleanup.h"
#include "imports/import.h"
#include "makers/ingest_trial.h"
#include "scans/references.h"
#include "store/inspect.h"

#define PLACE REEL_SCRATCH "/place"
#define ROOT PLACE "/root"

static void put(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}
/* Long ago, so that a change shows. */
static void age(const char *path, time_t seconds) {
    assert_int_equal(utime(path, &(struct utimbuf){.actime = seconds, .modtime = seconds}), 0);
}

static const struct job_schedule no_schedule[] = {{0}};

static int begin(void **state) {
    nftw(PLACE, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    mkdir(PLACE, 0755);
    mkdir(ROOT, 0755);
    set_up(state);
    jobs_serve(app.jobs, no_schedule); /* imports are claimed */
    return 0;
}
static int end(void **state) {
    roots_without_openat2(false);
    return tear_down(state);
}

/* ---- roots */

static void opens(const struct roots *roots, const char *path, bool good, enum reel_code code) {
    char resolved[PATH_MAX];
    struct reel_error why = {0};
    int fd = roots_resolve(roots, path, resolved, &why) ? roots_open_file(roots, resolved, O_RDONLY, &why) : -1;
    if ((fd >= 0) != good || (!good && why.code != code)) {
        fail_msg("%s: %s", path, fd >= 0 ? "opened" : why.text);
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void nothing_leads_out(const struct roots *roots) {
    opens(roots, "in.trial", true, REEL_OK);
    opens(roots, "./sub//in.trial", true, REEL_OK);
    opens(roots, ROOT "/sub/in.trial", true, REEL_OK);
    opens(roots, ".", true, REEL_OK);
    opens(roots, "", true, REEL_OK);
    opens(roots, "none", false, REEL_NOT_FOUND);
    opens(roots, "in.trial/x", false, REEL_NOT_FOUND);
    opens(roots, "..", false, REEL_ARGUMENT);
    opens(roots, "../out.trial", false, REEL_ARGUMENT);
    opens(roots, "sub/../../out.trial", false, REEL_ARGUMENT);
    opens(roots, ROOT "/../out.trial", false, REEL_ARGUMENT);
    opens(roots, PLACE "/out.trial", false, REEL_NOT_FOUND);
    opens(roots, ROOT "2/out.trial", false, REEL_NOT_FOUND); /* a name that only begins alike */
    opens(roots, "/", false, REEL_NOT_FOUND);
    opens(roots, "link.trial", false, REEL_ARGUMENT);
    opens(roots, "link/out.trial", false, REEL_ARGUMENT);
    opens(roots, "up/out.trial", false, REEL_ARGUMENT);
    /* even one that stays inside: one rule is easier to trust */
    opens(roots, "sub/inside.trial", false, REEL_ARGUMENT);
    opens(roots, "pipe", true, REEL_OK); /* and opening it does not wait for its other end */
}

static void roots_keep_what_they_hold(void **state) {
    (void)state;
    mkdir(ROOT "/sub", 0755);
    mkdir(ROOT "2", 0755);
    put(PLACE "/out.trial", "TRIALout");
    put(ROOT "2/out.trial", "TRIALout");
    put(ROOT "/in.trial", "TRIALin");
    put(ROOT "/sub/in.trial", "TRIALin");
    assert_int_equal(symlink(PLACE "/out.trial", ROOT "/link.trial"), 0);
    assert_int_equal(symlink(PLACE, ROOT "/link"), 0);
    assert_int_equal(symlink("..", ROOT "/up"), 0);
    assert_int_equal(symlink("in.trial", ROOT "/sub/inside.trial"), 0);
    assert_int_equal(mkfifo(ROOT "/pipe", 0600), 0);
    AUTO(roots_close) struct roots *roots = roots_open((const char *const[]){ROOT, NULL}, &err);
    assert_non_null(roots);
    nothing_leads_out(roots);
    roots_without_openat2(true);
    nothing_leads_out(roots);
    assert_string_equal(roots_below(roots, ROOT "/sub/in.trial"), "sub/in.trial");
    assert_string_equal(roots_below(roots, ROOT), ".");
    assert_null(roots_below(roots, ROOT "2/out.trial"));
    assert_false(roots_unlink(roots, ROOT "/link/out.trial", &err));
    assert_int_equal(access(PLACE "/out.trial", F_OK), 0);
    assert_true(roots_unlink(roots, ROOT "/in.trial", &err));
    assert_int_equal(access(ROOT "/in.trial", F_OK), -1);
    assert_null(roots_open((const char *const[]){PLACE "/none", NULL}, &err));
    char path[PATH_MAX];
    AUTO(roots_close) struct roots *none = roots_open(NULL, &err);
    assert_false(roots_resolve(none, "a", path, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
}

/* ---- imports */

struct reported {
    unsigned outcomes[IMPORT_OUTCOMES];
    char text[1024]; /* "outcome name," of each but those that are unchanged */
    char ids[8][RECORDING_ID_TEXT];
    unsigned n;
};
static void on_import_report(void *context, const struct import_report *t) {
    struct reported *h = context;
    size_t used = strlen(h->text);
    h->outcomes[t->outcome]++;
    if (t->outcome != IMPORT_UNCHANGED) {
        snprintf(h->text + used, sizeof h->text - used, "%s %s,", import_outcome_name(t->outcome),
                 t->name ? t->name
                 : t->n  ? t->names[0]
                         : "");
    }
    if (t->recording && h->n < 8) {
        memcpy(h->ids[h->n++], t->recording->id, RECORDING_ID_TEXT);
    }
}

static struct import_options terms_of(enum import_mode mode, struct reported *h) {
    *h = (struct reported){0};
    return (struct import_options){
        .mode = mode, .collection = "lab", .on_report = on_import_report, .context = h, .wait_for_scans = true};
}
static void import(const char *path, const struct import_options *options) {
    struct import_statistics statistics;
    if (!import_paths(&app, &path, 1, options, NULL, &statistics, &err)) {
        fail_msg("%s: %s", path, err.text);
    }
}
static uint64_t bytes_read(void) {
    return atomic_load(&app.imports.bytes_read);
}
static enum recording_state state_of(const char *id) {
    struct catalog_recording r;
    assert_true(catalog_get(app.catalog, id, &r, &err));
    enum recording_state s = r.state;
    catalog_recording_done(&r);
    return s;
}
static bool update_state(const char *id) {
    struct catalog_recording r;
    assert_true(catalog_get(app.catalog, id, &r, &err));
    bool changed = references_update_state(&app, &r);
    catalog_recording_done(&r);
    return changed;
}

static void a_folder_is_taken_in_once(void **state) {
    (void)state;
    struct reported h;
    mkdir(ROOT "/day", 0755);
    put(ROOT "/a.trial", "TRIALa");
    put(ROOT "/day/a.trial", "TRIALbc");
    put(ROOT "/day/bad.trial", "TRIALd");
    put(ROOT "/day/wrong.trial", "no recording");
    put(ROOT "/day/text.txt", "no recording");
    put(ROOT "/day/grow.trial.active", "TRIALx");
    put(ROOT "/day/.hid.trial", "TRIALy");
    struct import_options options = terms_of(IMPORT_COPY, &h);
    import(ROOT, &options);
    assert_int_equal(h.outcomes[IMPORT_CREATED], 2);
    assert_int_equal(h.outcomes[IMPORT_FAILED], 2);
    assert_int_equal(h.outcomes[IMPORT_PASSED], 1);
    assert_non_null(strstr(h.text, "created a.trial,"));
    assert_non_null(strstr(h.text, "created day/a.trial,"));
    assert_int_equal(atomic_load(&trial_scans), 3);
    uint64_t read = bytes_read();
    assert_int_equal(read, 6 + 7 + 6); /* what no format knows is not read to its end */
    options = terms_of(IMPORT_COPY, &h);
    import(ROOT, &options);
    assert_int_equal(h.outcomes[IMPORT_UNCHANGED], 5);
    assert_string_equal(h.text, "");
    assert_int_equal(bytes_read(), read);
    uint64_t failures;
    assert_true(catalog_failures_count(app.catalog, 100, &failures, &err));
    assert_int_equal(failures, 2);
    /* named, it is tried again; repaired, it is no failure any more */
    options = terms_of(IMPORT_COPY, &h);
    import(ROOT "/day/bad.trial", &options);
    assert_string_equal(h.text, "failed bad.trial,");
    put(ROOT "/day/bad.trial", "TRIALfixe");
    options = terms_of(IMPORT_COPY, &h);
    import(ROOT, &options);
    assert_string_equal(h.text, "created day/bad.trial,");
    assert_true(catalog_failures_count(app.catalog, 100, &failures, &err));
    assert_int_equal(failures, 1);
    /* in another collection it is taken, of what is there */
    options = terms_of(IMPORT_COPY, &h);
    options.collection = "else";
    import(ROOT "/a.trial", &options);
    assert_string_equal(h.text, "created a.trial,");
}

static void dry_runs_have_pages(void **state) {
    (void)state;
    struct reported h;
    char cursor[48] = "", all[1024] = "";
    mkdir(ROOT "/a", 0755);
    mkdir(ROOT "/b", 0755);
    put(ROOT "/z.trial", "TRIALz");
    put(ROOT "/a/1.trial", "TRIAL1");
    put(ROOT "/a/2.trial", "TRIAL2");
    put(ROOT "/b/3.trial", "TRIAL3");
    put(ROOT "/b/no.trial", "no");
    for (unsigned pages = 1;; pages++) {
        struct import_statistics statistics;
        struct import_options options = terms_of(IMPORT_MOVE, &h);
        const char *path = ROOT;
        options.dry = true;
        options.limit = 2;
        options.cursor = cursor[0] ? cursor : NULL;
        assert_true(import_paths(&app, &path, 1, &options, NULL, &statistics, &err));
        strcat(all, h.text);
        memcpy(cursor, statistics.next, sizeof cursor);
        if (!cursor[0]) {
            assert_int_equal(pages, 3);
            break;
        }
    }
    assert_string_equal(
        all, "would_take z.trial,would_take a/1.trial,would_take a/2.trial,would_take b/3.trial,failed b/no.trial,");
    assert_int_equal(stored_files(), 0);
    assert_int_equal(access(ROOT "/z.trial", F_OK), 0);
}

static void files_that_are_written_to_wait(void **state) {
    (void)state;
    struct reported h;
    struct import_statistics statistics;
    const char *path = ROOT;
    put(ROOT "/a.trial", "TRIALa");
    put(ROOT "/later.trial", "TRIALb"); /* its clock is wrong */
    age(ROOT "/later.trial", time(NULL) + 100000);
    struct import_options options = terms_of(IMPORT_COPY, &h);
    options.still_ns = 1000 * INT64_C(1000000000);
    int64_t before = reel_now_ns();
    assert_true(import_paths(&app, &path, 1, &options, NULL, &statistics, &err));
    assert_string_equal(h.text, "waits a.trial,waits later.trial,");
    assert_in_range(statistics.due_ns, before + 900 * INT64_C(1000000000), before + 1010 * INT64_C(1000000000));
    usleep(50000);
    options = terms_of(IMPORT_COPY, &h);
    options.still_ns = 20 * INT64_C(1000000);
    import(ROOT, &options);
    assert_int_equal(h.outcomes[IMPORT_CREATED], 2);
}

static void files_of_several_folders_are_named_at_once(void **state) {
    (void)state;
    struct reported h;
    struct import_statistics statistics;
    const char *const paths[] = {ROOT "/night/d.trial", ROOT "/a.trial", ROOT "/day/c.trial", ROOT "/b.trial",
                                 ROOT "/day/c.trial"};
    mkdir(ROOT "/day", 0755);
    mkdir(ROOT "/night", 0755);
    put(ROOT "/a.trial", "TRIALa");
    put(ROOT "/b.trial", "TRIALbb");
    put(ROOT "/day/c.trial", "TRIALccc");
    put(ROOT "/night/d.trial", "TRIALeeee");
    struct import_options options = terms_of(IMPORT_COPY, &h);
    assert_true(import_paths(&app, paths, 5, &options, NULL, &statistics, &err));
    assert_int_equal(h.outcomes[IMPORT_CREATED], 4);
    assert_non_null(strstr(h.text, "created c.trial,"));
    assert_non_null(strstr(h.text, "created d.trial,"));
}

static void moved_files_go_when_they_are_safe(void **state) {
    (void)state;
    struct reported h;
    put(ROOT "/a.trial", "TRIALa");
    put(ROOT "/bad.trial", "TRIALd");
    struct import_options options = terms_of(IMPORT_MOVE, &h);
    import(ROOT, &options);
    assert_int_equal(h.outcomes[IMPORT_CREATED], 1);
    assert_int_equal(access(ROOT "/a.trial", F_OK), -1);
    assert_int_equal(access(ROOT "/bad.trial", F_OK), 0);
    assert_int_equal(stored_files(), 3);
    struct catalog_imports known;
    assert_true(catalog_imports_of_folder(app.catalog, ROOT, &known, &err));
    assert_int_equal(known.n, 1); /* of what is gone nothing is kept */
    assert_string_equal(known.items[0].name, "bad.trial");
    assert_int_equal(known.items[0].code, REEL_DAMAGED);
    catalog_imports_done(&known);
}

/* The file itself of the recording that was taken first; its number. */
static ino_t stored_inode(const struct reported *h) {
    struct catalog_recording r;
    struct stat st;
    char path[PATH_MAX];
    assert_true(catalog_get(app.catalog, h->ids[0], &r, &err));
    assert_true(store_file_path(app.store, r.content, "", path, sizeof path));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_nlink, 1);
    assert_int_equal(st.st_mode & 0777, 0600);
    catalog_recording_done(&r);
    return st.st_ino;
}

static void a_moved_file_is_renamed_unless_it_is_in_use(void **state) {
    (void)state;
    struct reported h;
    struct stat mine, open_one, linked;
    put(ROOT "/a.trial", "TRIALa");
    assert_int_equal(stat(ROOT "/a.trial", &mine), 0);
    struct import_options options = terms_of(IMPORT_MOVE, &h);
    import(ROOT, &options);
    assert_int_equal(stored_inode(&h), mine.st_ino);

    put(ROOT "/b.trial", "TRIALbb"); /* a program may still write to it */
    int fd = open(ROOT "/b.trial", O_RDWR);
    assert_int_equal(fstat(fd, &open_one), 0);
    options = terms_of(IMPORT_MOVE, &h);
    import(ROOT, &options);
    assert_int_not_equal(stored_inode(&h), open_one.st_ino);
    assert_int_equal(access(ROOT "/b.trial", F_OK), -1);
    close(fd);

    put(ROOT "/c.trial", "TRIALccc"); /* it would stay open to writing under its other name */
    assert_int_equal(link(ROOT "/c.trial", PLACE "/other"), 0);
    assert_int_equal(chmod(PLACE "/other", 0644), 0);
    assert_int_equal(stat(PLACE "/other", &linked), 0);
    options = terms_of(IMPORT_MOVE, &h);
    import(ROOT, &options);
    assert_int_not_equal(stored_inode(&h), linked.st_ino);
    assert_int_equal(access(ROOT "/c.trial", F_OK), -1);
    assert_int_equal(stat(PLACE "/other", &linked), 0);
    assert_int_equal(linked.st_mode & 0777, 0644); /* it is still its owner's affair who reads it */
}

/* ---- references */

static void run_references(void) {
    char job[JOB_ID_TEXT];
    assert_true(jobs_add(app.jobs, &(struct job_spec){.kind = "references"}, job, &err));
    assert_true(jobs_wait(app.jobs, job, INT64_MAX, &err));
    wait_until_idle(); /* and the scans that it has added */
}

static void references_come_and_go(void **state) {
    (void)state;
    struct reported h;
    put(ROOT "/a.trial", "TRIALabc");
    age(ROOT "/a.trial", 1000000000);
    struct import_options options = terms_of(IMPORT_REFERENCE, &h);
    import(ROOT, &options);
    assert_string_equal(h.text, "created a.trial,");
    const char *id = h.ids[0];
    assert_int_equal(stored_files(), 3); /* where it lies, pack, manifest */
    struct catalog_recording r;
    assert_true(catalog_get(app.catalog, id, &r, &err));
    char sha256[SHA256_HEX];
    memcpy(sha256, r.content, sizeof sha256);
    assert_true(references_has(&app, &r));
    AUTO(reel_source_free) struct reel_source *source = store_open_blob(app.store, sha256, "a.trial", &err);
    assert_non_null(source);
    assert_int_equal(source->size, 8);
    catalog_recording_done(&r);
    assert_false(update_state(id));
    /* gone */
    assert_int_equal(rename(ROOT "/a.trial", ROOT "/b"), 0);
    assert_true(update_state(id));
    assert_false(update_state(id));
    assert_int_equal(state_of(id), STATE_MISSING);
    assert_null(store_open_blob(app.store, sha256, "a.trial", &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    /* back */
    assert_int_equal(rename(ROOT "/b", ROOT "/a.trial"), 0);
    assert_true(update_state(id));
    assert_int_equal(state_of(id), STATE_READY);
    /* touched: not trusted before all of it has been read */
    age(ROOT "/a.trial", 1000000001);
    assert_true(update_state(id));
    assert_int_equal(state_of(id), STATE_CHANGED);
    run_references();
    assert_int_equal(state_of(id), STATE_READY);
    /* other bytes */
    put(ROOT "/a.trial", "TRIALxyz");
    age(ROOT "/a.trial", 1000000002);
    run_references();
    assert_int_equal(state_of(id), STATE_CHANGED);
    /* a link in its place is not followed */
    put(PLACE "/out.trial", "TRIALabc");
    age(PLACE "/out.trial", 1000000001);
    assert_int_equal(unlink(ROOT "/a.trial"), 0);
    assert_int_equal(symlink(PLACE "/out.trial", ROOT "/a.trial"), 0);
    assert_null(store_open_blob(app.store, sha256, "a.trial", NULL));
    /* the same bytes again, elsewhere: a further recording makes the first one whole */
    put(ROOT "/again.trial", "TRIALabc");
    options = terms_of(IMPORT_REFERENCE, &h);
    import(ROOT "/again.trial", &options);
    assert_string_equal(h.text, "created again.trial,");
    struct catalog_statistics f;
    references_recheck(&app, sha256);
    assert_true(catalog_statistics(app.catalog, &f, &err));
    assert_int_equal(f.recordings[STATE_READY], 2);
    assert_int_equal(f.recordings[STATE_CHANGED], 0);
}

static void purging_leaves_the_file(void **state) {
    (void)state;
    struct reported h;
    put(ROOT "/a.trial", "TRIALabc");
    struct import_options options = terms_of(IMPORT_REFERENCE, &h);
    import(ROOT, &options);
    assert_true(ingest_purge(&app, h.ids[0], &err));
    assert_int_equal(stored_files(), 0);
    assert_int_equal(access(ROOT "/a.trial", F_OK), 0);
}

static void states_survive_the_trash(void **state) {
    (void)state;
    struct reported h;
    put(ROOT "/a.trial", "TRIALabc");
    struct import_options options = terms_of(IMPORT_REFERENCE, &h);
    import(ROOT, &options);
    assert_true(catalog_set_state(app.catalog, h.ids[0], STATE_CHANGED, "changed", &err));
    assert_true(catalog_trash(app.catalog, h.ids[0], &err));
    assert_false(update_state(h.ids[0])); /* it lies there as it is */
    assert_true(catalog_restore(app.catalog, h.ids[0], &err));
    assert_int_equal(state_of(h.ids[0]), STATE_CHANGED);
    struct catalog_query q = {.has_state = true, .state = STATE_CHANGED, .limit = 10, .count = true};
    struct catalog_page page;
    assert_true(catalog_list(app.catalog, &q, &page, &err));
    assert_int_equal(page.total, 1);
    catalog_page_done(&page);
    enum recording_state parsed;
    assert_true(recording_state_parse("changed", &parsed));
    assert_int_equal(parsed, STATE_CHANGED);
}

/* ---- failures */

static void failed_recordings_are_failures_by_themselves(void **state) {
    (void)state;
    struct ingest_result r;
    uint64_t n;
    const struct ingest_request keep = {.collection = "lab", .name = "a", .keep = true};
    assert_int_equal(send_with(&keep, "TRIALd", INT64_MAX, &r, &err), INGEST_KEPT);
    struct catalog_failure f;
    uint32_t found;
    assert_true(catalog_failures_after(app.catalog, 0, &f, 1, &found, &err));
    assert_int_equal(found, 1);
    assert_string_equal(f.recording, r.recording.id);
    assert_string_equal(f.recording_name, "a");
    assert_string_equal(f.reason, "letter at 5: damaged");
    assert_int_equal(f.tries, 1);
    assert_true(catalog_set_state(app.catalog, r.recording.id, STATE_FAILED, "again", &err));
    int64_t row = f.row;
    catalog_failure_done(&f);
    assert_true(catalog_failure_get(app.catalog, row, &f, &err));
    assert_int_equal(f.tries, 2);
    assert_string_equal(f.reason, "again");
    catalog_failure_done(&f);
    assert_true(catalog_trash(app.catalog, r.recording.id, &err));
    assert_true(catalog_failures_count(app.catalog, 10, &n, &err));
    assert_int_equal(n, 0);
    assert_true(catalog_restore(app.catalog, r.recording.id, &err));
    assert_true(catalog_failures_count(app.catalog, 10, &n, &err));
    assert_int_equal(n, 1);
    assert_true(ingest_purge(&app, r.recording.id, &err));
    assert_true(catalog_failures_count(app.catalog, 10, &n, &err));
    assert_int_equal(n, 0);
    assert_false(catalog_failure_forget(app.catalog, row, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    ingest_result_done(&r);
}

static void an_import_survives_a_restart(void **state) {
    (void)state;
    put(ROOT "/a.trial", "TRIALs"); /* its scan waits */
    struct import_request q = {.paths = calloc(1, sizeof(char *)), .n = 1, .collection = strdup("lab")};
    q.paths[0] = strdup(ROOT "/a.trial");
    char job[JOB_ID_TEXT];
    struct catalog_job row;
    assert_true(import_start(&app, &q, job, &err));
    import_request_done(&q);
    while (atomic_load(&trial_waiting) == 0) {
        usleep(500);
    }
    app_down(); /* it is put back */
    app_up();
    atomic_store(&trial_gate, true);
    jobs_serve(app.jobs, no_schedule);
    assert_true(jobs_wait(app.jobs, job, INT64_MAX, &err));
    assert_true(jobs_find(app.jobs, job, &row, &err));
    assert_int_equal(row.state, JOB_DONE);
    assert_non_null(strstr(row.outcome, "\"created\":1"));
    catalog_job_done(&row);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(roots_keep_what_they_hold, begin, end),
        cmocka_unit_test_setup_teardown(a_folder_is_taken_in_once, begin, end),
        cmocka_unit_test_setup_teardown(dry_runs_have_pages, begin, end),
        cmocka_unit_test_setup_teardown(files_that_are_written_to_wait, begin, end),
        cmocka_unit_test_setup_teardown(files_of_several_folders_are_named_at_once, begin, end),
        cmocka_unit_test_setup_teardown(moved_files_go_when_they_are_safe, begin, end),
        cmocka_unit_test_setup_teardown(a_moved_file_is_renamed_unless_it_is_in_use, begin, end),
        cmocka_unit_test_setup_teardown(references_come_and_go, begin, end),
        cmocka_unit_test_setup_teardown(purging_leaves_the_file, begin, end),
        cmocka_unit_test_setup_teardown(states_survive_the_trash, begin, end),
        cmocka_unit_test_setup_teardown(failed_recordings_are_failures_by_themselves, begin, end),
        cmocka_unit_test_setup_teardown(an_import_survives_a_restart, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
