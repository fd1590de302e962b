/* Ingestion: what is created, found, refused and kept; that two at once make one; that a crash leaves nothing or
 * everything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "imports/local.h"
#include "makers/ingest_trial.h"
#include "recordings/changing.h"
#include "scans/scanning.h"
#include "store/inspect.h"

#define MS INT64_C(1000000)
#define PATHS(name) ((const char *const[]){REEL_SCRATCH name})

static enum recording_state state_of(const char *id) {
    struct catalog_recording r;
    assert_true(catalog_get(app.catalog, id, &r, &err));
    enum recording_state state = r.state;
    catalog_recording_done(&r);
    return state;
}

static uint64_t all_recordings(void) {
    struct catalog_statistics f;
    assert_true(catalog_statistics(app.catalog, &f, &err));
    return f.recordings[0] + f.recordings[1] + f.recordings[2] + f.recordings[3] + f.recordings[4];
}

static void an_upload_is_a_recording(void **state) {
    (void)state;
    struct ingest_result r;
    assert_int_equal(send_text("d/a.trial", "TRIALabl", &r), INGEST_CREATED);
    assert_int_equal(r.recording.state, STATE_READY);
    assert_int_equal(r.recording.messages, 2);
    assert_int_equal(r.recording.start_ns, 5);
    assert_int_equal(r.recording.end_ns, 6);
    assert_true(r.recording.damaged);
    assert_int_equal(r.recording.lost_bytes, 1);
    assert_string_equal(r.recording.format, "trial");
    assert_string_equal(r.recording.parts[0].file_name, "a.trial");
    assert_int_equal(r.recording.size, 8);
    assert_int_equal(stored_files(), 3); /* blob, pack, manifest */
    char id[RECORDING_ID_TEXT];
    memcpy(id, r.recording.id, sizeof id);
    ingest_result_done(&r);

    assert_int_equal(send_text("d/a.trial", "TRIALabl", &r), INGEST_EXISTS);
    assert_string_equal(r.recording.id, id);
    ingest_result_done(&r);
    assert_int_equal(send_text("b.trial", "TRIALabl", &r), INGEST_CREATED); /* elsewhere, on the same blob, not scanned
                                                                               again */
    assert_string_not_equal(r.recording.id, id);
    assert_int_equal(r.recording.messages, 2);
    ingest_result_done(&r);
    assert_int_equal(atomic_load(&trial_scans), 1);
    assert_int_equal(stored_files(), 3);

    assert_int_equal(send_text("b.trial", "TRIALother", &r), INGEST_REFUSED);
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_int_equal(stored_files(), 3);
    assert_int_equal(send_with(&(struct ingest_request){.collection = "lab", .name = "b.trial", .replace = true},
                               "TRIALother", INT64_MAX, &r, &err),
                     INGEST_CREATED);
    assert_int_equal(r.recording.revision, 2);
    assert_int_equal(stored_files(), 6);
    ingest_result_done(&r);
    assert_int_equal(all_recordings(), 3);
}

static void what_cannot_be_read_leaves_nothing(void **state) {
    (void)state;
    struct ingest_result r;
    assert_int_equal(send_text("a", "something else", &r), INGEST_REFUSED);
    assert_int_equal(err.code, REEL_NOT_MINE);
    assert_int_equal(send_text("a", "TRIALd", &r), INGEST_REFUSED);
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_string_equal(err.text, "letter at 5: damaged");
    assert_int_equal(stored_files(), 0);
    assert_int_equal(all_recordings(), 0);
    const struct ingest_request keep = {.collection = "lab", .name = "a", .keep = true};
    assert_int_equal(send_with(&keep, "TRIALd", INT64_MAX, &r, &err), INGEST_KEPT);
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_int_equal(r.recording.state, STATE_FAILED);
    assert_string_equal(r.recording.problem, "letter at 5: damaged");
    ingest_result_done(&r);
    assert_int_equal(stored_files(), 2); /* blob, manifest */
    assert_int_equal(send_with(&keep, "TRIALd", INT64_MAX, &r, &err), INGEST_KEPT);
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_true(ingest_purge(&app, r.recording.id, &err));
    ingest_result_done(&r);
    assert_int_equal(stored_files(), 0);
    assert_int_equal(
        send_with(&(struct ingest_request){.collection = "lab", .name = "a", .format = "none"}, "TRIAL", 0, &r, &err),
        INGEST_REFUSED);
    assert_int_equal(err.code, REEL_ARGUMENT);
}

static void a_long_scan_continues_in_the_background(void **state) {
    (void)state;
    struct ingest_result r;
    const struct ingest_request q = {.collection = "lab", .name = "slow"};
    assert_int_equal(send_with(&q, "TRIALs", 20 * MS, &r, &err), INGEST_SCANNING);
    assert_int_equal(r.recording.state, STATE_SCANNING);
    assert_int_equal(job_state(r.job), JOB_RUNNING);
    assert_int_equal(state_of(r.recording.id), STATE_SCANNING);
    atomic_store(&trial_gate, true);
    wait_until_idle();
    assert_int_equal(job_state(r.job), JOB_DONE);
    struct catalog_recording got;
    assert_true(catalog_get(app.catalog, r.recording.id, &got, &err));
    assert_int_equal(got.state, STATE_READY);
    assert_int_equal(got.messages, 1);
    assert_string_equal(got.format, "trial");
    catalog_recording_done(&got);
    assert_int_equal(stored_files(), 3);
    ingest_result_done(&r);

    atomic_store(&trial_gate, false);
    assert_int_equal(
        send_with(&(struct ingest_request){.collection = "lab", .name = "slow and bad"}, "TRIALsd", 20 * MS, &r, &err),
        INGEST_SCANNING);
    atomic_store(&trial_gate, true);
    wait_until_idle();
    assert_int_equal(state_of(r.recording.id), STATE_FAILED);
    ingest_result_done(&r);
}

static struct catalog_recording row_of(const char *id) {
    struct catalog_recording r;
    assert_true(catalog_get(app.catalog, id, &r, &err));
    return r;
}

static void until_it_is_scanned_a_recording_is_shown_by_its_summary(void **state) {
    (void)state;
    struct ingest_result r;
    char job[33];
    assert_int_equal(send_with(&(struct ingest_request){.collection = "lab", .name = "a"}, "TRIALsal", 0, &r, &err),
                     INGEST_SCANNING);
    struct catalog_recording got = row_of(r.recording.id);
    assert_int_equal(got.state, STATE_SCANNING);
    assert_int_equal(got.messages, 3);
    assert_int_equal(got.n_channels, 1);
    assert_string_equal(got.format, "trial");
    AUTO(reel_index_free) struct reel_index *summary = scan_open_summary(&app, got.content, &err);
    assert_non_null(summary);
    assert_true(reel_index_info(summary)->is_summary);
    assert_null(scan_open_pack(&app, got.content, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    assert_null(recordings_get(app.recordings, &got, 0, job, &err)); /* a request for messages gets the running scan; no
                                                                        other is started */
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_string_equal(job, r.job);
    atomic_store(&trial_gate, true);
    struct reel_recording *opened = recordings_get(app.recordings, &got, 5000 * MS, job, &err); /* … or waits for it */
    assert_non_null(opened);
    assert_int_equal(reel_index_info(reel_recording_index(opened))->messages, 2);
    reel_recording_free(opened);
    catalog_recording_done(&got);
    wait_until_idle();
    assert_int_equal(atomic_load(&trial_scans), 1);
    got = row_of(r.recording.id);
    assert_int_equal(got.state, STATE_READY);
    assert_int_equal(got.messages, 2); /* of three letters one is lost */
    assert_true(got.damaged);
    catalog_recording_done(&got);
    ingest_result_done(&r);
}

static void without_an_index_a_scan_is_needed(void **state) {
    (void)state;
    struct ingest_result r;
    assert_int_equal(send_with(&(struct ingest_request){.collection = "lab", .name = "a"}, "TRIALsn", 0, &r, &err),
                     INGEST_SCANNING);
    struct catalog_recording got = row_of(r.recording.id);
    assert_int_equal(got.messages, 0);
    assert_string_equal(got.format, "");
    catalog_recording_done(&got);
    ingest_result_done(&r);
    app_down(); /* what a crash leaves is scanned at the next start */
    app_up();
    atomic_store(&trial_gate, true);
    assert_true(ingest_resume(&app, &err));
    wait_until_idle();
    struct catalog_query q = {.limit = 10};
    struct catalog_page page;
    assert_true(catalog_list(app.catalog, &q, &page, &err));
    assert_int_equal(page.n_items, 1);
    assert_int_equal(page.items[0].state, STATE_READY);
    assert_int_equal(page.items[0].messages, 2);
    catalog_page_done(&page);
}

static void a_scan_may_be_purged_or_cancelled(void **state) {
    (void)state;
    struct ingest_result r;
    assert_int_equal(send_with(&(struct ingest_request){.collection = "lab", .name = "a"}, "TRIALs", 20 * MS, &r, &err),
                     INGEST_SCANNING);
    assert_true(ingest_purge(&app, r.recording.id, &err));
    ingest_result_done(&r);
    atomic_store(&trial_gate, true);
    wait_until_idle();
    assert_int_equal(stored_files(), 0);
    assert_int_equal(all_recordings(), 0);
    atomic_store(&trial_gate, false);
    assert_int_equal(send_with(&(struct ingest_request){.collection = "lab", .name = "b"}, "TRIALs", 20 * MS, &r, &err),
                     INGEST_SCANNING);
    assert_true(jobs_cancel(app.jobs, r.job, &err));
    wait_until_idle();
    assert_int_equal(state_of(r.recording.id), STATE_FAILED);
    ingest_result_done(&r);
}

/* ---- two at once */

struct sender {
    const char *name, *text;
    enum ingest_outcome outcome;
    struct reel_error error;
    char id[RECORDING_ID_TEXT];
};
static void *send_one(void *argument) {
    struct sender *s = argument;
    struct ingest_result r;
    s->outcome =
        send_with(&(struct ingest_request){.collection = "lab", .name = s->name}, s->text, INT64_MAX, &r, &s->error);
    memcpy(s->id, r.recording.id, sizeof s->id);
    ingest_result_done(&r);
    return NULL;
}
enum { SENDERS = 8 };
static int send_all(struct sender senders[SENDERS], enum ingest_outcome wanted) {
    pthread_t threads[SENDERS];
    int n = 0;
    for (int i = 0; i < SENDERS; i++) {
        pthread_create(&threads[i], NULL, send_one, &senders[i]);
    }
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], NULL);
        n += senders[i].outcome == wanted;
    }
    return n;
}

static void the_same_at_once_is_one_recording(void **state) {
    (void)state;
    for (int round = 0; round < 5; round++) {
        char name[24], text[24];
        struct sender senders[SENDERS] = {0};
        snprintf(name, sizeof name, "round %d", round);
        snprintf(text, sizeof text, "TRIAL%d", round);
        for (int i = 0; i < SENDERS; i++) {
            senders[i] = (struct sender){.name = name, .text = text};
        }
        assert_int_equal(send_all(senders, INGEST_CREATED), 1);
        for (int i = 0; i < SENDERS; i++) {
            assert_true(senders[i].outcome == INGEST_CREATED || senders[i].outcome == INGEST_EXISTS);
            assert_string_equal(senders[i].id, senders[0].id);
        }
        assert_int_equal(all_recordings(), round + 1);
        assert_int_equal(stored_files(), 3 * (round + 1));
    }
}

static void others_under_one_name_leave_one(void **state) {
    (void)state;
    static const char *const texts[SENDERS] = {"TRIALa", "TRIALb", "TRIALc", "TRIALe",
                                               "TRIALf", "TRIALg", "TRIALh", "TRIALi"};
    struct sender senders[SENDERS] = {0};
    for (int i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){.name = "x", .text = texts[i]};
    }
    assert_int_equal(send_all(senders, INGEST_CREATED), 1);
    for (int i = 0; i < SENDERS; i++) {
        assert_true(senders[i].outcome == INGEST_CREATED || senders[i].error.code == REEL_CONFLICT);
    }
    assert_int_equal(stored_files(), 3);
}

static void refused_and_wanted_at_once(void **state) {
    (void)state; /* the same bytes: refused under a taken name, wanted under others */
    struct ingest_result r;
    assert_int_equal(send_text("taken", "TRIALz", &r), INGEST_CREATED);
    ingest_result_done(&r);
    static const char *const names[SENDERS] = {"taken", "1", "taken", "2", "taken", "3", "taken", "4"};
    struct sender senders[SENDERS] = {0};
    for (int i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){.name = names[i], .text = "TRIALy"};
    }
    assert_int_equal(send_all(senders, INGEST_CREATED), 4);
    assert_int_equal(stored_files(), 6);
}

/* ---- after a crash */

static void put_file(const char *path) {
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    futimens(fd, old);
    close(fd);
}

static void leftovers_are_swept_at_start(void **state) {
    (void)state;
    struct ingest_result r, other;
    assert_int_equal(send_text("a", "TRIALa", &r), INGEST_CREATED);
    assert_int_equal(send_text("b", "TRIALb", &other), INGEST_CREATED);
    char hex[SHA256_HEX], path[4096], lost[4096];
    memcpy(hex, r.recording.content, sizeof hex); /* another blob of the same folder, which no row knows */
    hex[63] = hex[63] == '0' ? '1' : '0';
    assert_true(store_file_path(app.store, hex, "", path, sizeof path));
    put_file(path);
    assert_true(store_file_path(app.store, hex, ".reel", path, sizeof path));
    put_file(path);
    strcat(path, ".tmp-a1B2c3");
    put_file(path);
    put_file(DATA "/incoming/half");
    assert_true(store_file_path(app.store, other.recording.content, "", lost, sizeof lost));
    assert_int_equal(remove(lost), 0);
    assert_int_equal(stored_files(), 9);
    app_down();
    app_up();
    assert_true(ingest_resume(&app, &err));
    wait_until_idle();
    assert_int_equal(stored_files(), 5);
    assert_int_equal(state_of(r.recording.id), STATE_READY);
    assert_int_equal(state_of(other.recording.id), STATE_MISSING);
    ingest_result_done(&r);
    ingest_result_done(&other);
    assert_int_equal(send_text("b", "TRIALb", &r), INGEST_EXISTS); /* replaces what was missing */
    assert_int_equal(r.recording.state, STATE_READY);
    ingest_result_done(&r);
}

static void scans_cut_by_the_end_are_taken_up_again(void **state) {
    (void)state;
    struct ingest_result r;
    assert_int_equal(send_with(&(struct ingest_request){.collection = "lab", .name = "a"}, "TRIALs", 20 * MS, &r, &err),
                     INGEST_SCANNING);
    app_down(); /* cancels it */
    app_up();
    assert_int_equal(state_of(r.recording.id), STATE_SCANNING);
    atomic_store(&trial_gate, true);
    assert_true(ingest_resume(&app, &err));
    wait_until_idle();
    assert_int_equal(state_of(r.recording.id), STATE_READY);
    ingest_result_done(&r);
}

/* ---- checks, files, purge */

static void names_are_checked_before_the_body(void **state) {
    (void)state;
    char longest[258];
    memset(longest, 'x', 257);
    longest[257] = '\0';
    const struct {
        const char *collection, *name;
        bool good;
    } cases[] = {
        {"lab", "a", true},         {"lab", "a/b c.bag", true}, {"lab", "\xc3\xa4.bag", true},
        {"..a", "...", true},       {"lab", "", false},         {"", "a", false},
        {"a/b", "a", false},        {"lab", "/a", false},       {"lab", "a/", false},
        {"lab", "a//b", false},     {"lab", "a/../b", false},   {"lab", ".", false},
        {"..", "a", false},         {"lab", "a\nb", false},     {"lab", "a\xff", false},
        {"lab", "\xc2\x85", false}, {"lab", "\x7f", false},     {"lab", longest, false},
        {longest, "a", false},      {"lab", longest + 2, true}, {"lab", "\xed\xa0\x80", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool good = ingest_check(
            &app, &(struct ingest_request){.collection = cases[i].collection, .name = cases[i].name}, 5, &err);
        if (good != cases[i].good || (!good && err.code != REEL_ARGUMENT)) {
            fail_msg("\"%s\" \"%s\"", cases[i].collection, cases[i].name);
        }
    }
    const struct ingest_request q = {.collection = "lab", .name = "a"};
    app.config.upload_max_bytes = 100;
    assert_true(ingest_check(&app, &q, 100, &err));
    assert_false(ingest_check(&app, &q, 101, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    app.config.upload_max_bytes = 0;
    assert_false(ingest_check(&app, &q, UINT64_MAX / 2, &err));
    assert_int_equal(err.code, REEL_NO_SPACE);
}

static void a_file_comes_in_by_the_same_way(void **state) {
    (void)state;
    FILE *f = fopen(REEL_SCRATCH "/in.trial", "w");
    fputs("TRIALq", f);
    fclose(f);
    struct ingest_result r;
    const struct ingest_request q = {.collection = "lab", .name = "in.trial"};
    ingest_files(&app, PATHS("/in.trial"), 1, &q, NULL, NULL, &r, &err);
    assert_int_equal(r.outcome, INGEST_CREATED);
    ingest_result_done(&r);
    ingest_files(&app, PATHS("/in.trial"), 1, &q, NULL, NULL, &r, &err);
    assert_int_equal(r.outcome, INGEST_EXISTS);
    ingest_result_done(&r);
    ingest_files(&app, PATHS("/none"), 1, &q, NULL, NULL, &r, &err);
    assert_int_equal(r.outcome, INGEST_REFUSED);
    ingest_files(&app, PATHS(""), 1, &q, NULL, NULL, &r, &err);
    assert_int_equal(r.outcome, INGEST_REFUSED);
    assert_int_equal(err.code, REEL_ARGUMENT);
}

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Several files are one recording by one scan: all of them or nothing. */
static void files_come_in_as_one(void **state) {
    (void)state;
    static const char *const there[] = {REEL_SCRATCH "/b.trial", REEL_SCRATCH "/a.trial"},
                             *const turned[] = {there[1], there[0]},
                             *const one_lacks[] = {REEL_SCRATCH "/c.trial", REEL_SCRATCH "/none"},
                             *const damaged[] = {REEL_SCRATCH "/d.trial", there[0]};
    struct ingest_result r;
    struct ingest_request q = {.collection = "lab", .name = "both"};
    write_file(there[0], "TRIALxyz");
    write_file(there[1], "TRIALa");
    write_file(one_lacks[0], "TRIALc");
    write_file(damaged[0], "TRIALd");
    ingest_files(&app, one_lacks, 2, &q, NULL, NULL, &r, &err);
    assert_int_equal(r.outcome, INGEST_REFUSED);
    ingest_files(&app, damaged, 2, &q, NULL, NULL, &r, &err);
    assert_int_equal(r.outcome, INGEST_REFUSED);
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_int_equal(stored_files(), 0);

    int scans = atomic_load(&trial_scans);
    ingest_files(&app, there, 2, &q, NULL, NULL, &r, &err);
    assert_int_equal(r.outcome, INGEST_CREATED);
    assert_int_equal(atomic_load(&trial_scans), scans + 1);
    assert_int_equal(r.recording.n_parts, 2);
    assert_string_equal(r.recording.parts[0].file_name, "b.trial");
    assert_string_equal(r.recording.parts[1].file_name, "a.trial");
    assert_int_equal(r.recording.size, 8 + 6);
    assert_int_equal(r.recording.messages, 3 + 1);
    assert_int_equal(stored_files(), 4); /* blobs, pack, manifest */
    char id[RECORDING_ID_TEXT];
    memcpy(id, r.recording.id, sizeof id);
    ingest_result_done(&r);

    ingest_files(&app, turned, 2, &q, NULL, NULL, &r, &err); /* in whatever order */
    assert_int_equal(r.outcome, INGEST_EXISTS);
    assert_string_equal(r.recording.id, id);
    ingest_result_done(&r);
    ingest_files(&app, PATHS("/c.trial"), 1, &q, NULL, NULL, &r, &err);
    assert_int_equal(r.outcome, INGEST_REFUSED);
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_int_equal(stored_files(), 4);
    assert_true(ingest_purge(&app, id, &err));
    assert_int_equal(stored_files(), 0);
}

static void purge_leaves_what_others_need(void **state) {
    (void)state;
    struct ingest_result a, b;
    assert_int_equal(send_text("a", "TRIALp", &a), INGEST_CREATED);
    assert_int_equal(send_text("b", "TRIALp", &b), INGEST_CREATED);
    assert_true(ingest_purge(&app, a.recording.id, &err));
    assert_int_equal(stored_files(), 3);
    assert_false(ingest_purge(&app, a.recording.id, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    assert_true(ingest_purge(&app, b.recording.id, &err));
    assert_int_equal(stored_files(), 0);
    ingest_result_done(&a);
    ingest_result_done(&b);
}

/* ---- further files */

static enum ingest_outcome send_part(const char *name, const char *text, int64_t wait_ns, struct ingest_result *out) {
    return send_with(&(struct ingest_request){.collection = "lab", .name = name, .part_of = "a0"}, text, wait_ns, out,
                     &err);
}
static void assert_recording(enum recording_state state, uint32_t parts, uint64_t messages) {
    struct catalog_recording r;
    assert_true(catalog_get_named(app.catalog, "lab", "a0", &r, &err));
    assert_int_equal(r.state, state);
    assert_int_equal(r.n_parts, parts);
    assert_int_equal(r.messages, messages);
    catalog_recording_done(&r);
}

/* A part whose scan outlasts the request is answered like a first file: the job goes on, and further parts may come
 * before it ends. */
static void a_part_may_take_a_long_time(void **state) {
    (void)state;
    struct ingest_result r = {0};
    assert_int_equal(send_text("a0", "TRIALab", &r), INGEST_CREATED);
    ingest_result_done(&r);
    assert_int_equal(send_part("a1", "TRIALsx", 20 * MS, &r), INGEST_SCANNING);
    assert_int_equal(strlen(r.job), 32);
    assert_int_equal(r.recording.state, STATE_SCANNING);
    assert_int_equal(r.recording.n_parts, 2);
    ingest_result_done(&r);
    assert_int_equal(send_part("a1", "TRIALsx", 20 * MS, &r), INGEST_EXISTS);
    ingest_result_done(&r);
    assert_int_equal(send_part("a2", "TRIALsyz", 20 * MS, &r), INGEST_SCANNING); /* instead of that scan */
    ingest_result_done(&r);
    assert_int_equal(send_text("a0", "TRIALab", &r), INGEST_EXISTS); /* and the first of them again */
    ingest_result_done(&r);
    atomic_store(&trial_gate, true);
    wait_until_idle();
    assert_recording(STATE_READY, 3, 2 + 2 + 3);
    assert_int_equal(stored_files(), 3 + 2);
}

/* While the first file itself is still being scanned. */
static void a_part_of_what_is_being_scanned(void **state) {
    (void)state;
    struct ingest_result r = {0};
    assert_int_equal(send_with(&(struct ingest_request){.collection = "lab", .name = "a0"}, "TRIALsb", 0, &r, &err),
                     INGEST_SCANNING);
    ingest_result_done(&r);
    assert_int_equal(send_part("a1", "TRIALx", 20 * MS, &r), INGEST_SCANNING);
    ingest_result_done(&r);
    atomic_store(&trial_gate, true);
    wait_until_idle();
    assert_recording(STATE_READY, 2, 3);
    assert_int_equal(stored_files(), 2 + 2);
}

static void a_part_that_fails_leaves_what_was(void **state) {
    (void)state;
    struct ingest_result r = {0};
    assert_int_equal(send_text("a0", "TRIALab", &r), INGEST_CREATED);
    ingest_result_done(&r);
    assert_int_equal(send_part("a1", "TRIALd", INT64_MAX, &r), INGEST_REFUSED); /* while the request waits */
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_int_equal(send_part("a1", "TRIALsd", 20 * MS, &r), INGEST_SCANNING); /* and behind its back */
    ingest_result_done(&r);
    assert_recording(STATE_SCANNING, 2, 2); /* as the summary says */
    atomic_store(&trial_gate, true);
    wait_until_idle();
    assert_recording(STATE_READY, 1, 2);
    assert_int_equal(stored_files(), 3);
    assert_int_equal(send_part("a1", "TRIALxyz", INT64_MAX, &r), INGEST_JOINED);
    ingest_result_done(&r);
    assert_recording(STATE_READY, 2, 2 + 3);
}

static void *send_nth(void *argument) {
    struct ingest_result r = {0};
    struct reel_error why = {0};
    char name[] = "a?", text[] = "TRIAL?";
    name[1] = text[5] = (char)(uintptr_t)argument;
    enum ingest_outcome outcome = send_with(
        &(struct ingest_request){.collection = "lab", .name = name, .part_of = "a0"}, text, INT64_MAX, &r, &why);
    if (outcome != INGEST_JOINED) {
        fprintf(stderr, "%s: %s\n", name, why.text);
    }
    ingest_result_done(&r);
    return (void *)(uintptr_t)outcome;
}

/* Several clients at once: none of their files is sent for nothing. */
static void parts_at_once_all_come_in(void **state) {
    (void)state;
    enum { CLIENTS = 8 };
    pthread_t threads[CLIENTS];
    struct ingest_result r = {0};
    assert_int_equal(send_text("a0", "TRIALa", &r), INGEST_CREATED);
    ingest_result_done(&r);
    for (uintptr_t i = 0; i < CLIENTS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, send_nth, (void *)('1' + i)), 0);
    }
    for (int i = 0; i < CLIENTS; i++) {
        void *outcome;
        pthread_join(threads[i], &outcome);
        assert_int_equal((uintptr_t)outcome, INGEST_JOINED);
    }
    assert_recording(STATE_READY, 1 + CLIENTS, 1 + CLIENTS);
    assert_int_equal(stored_files(), 1 + CLIENTS + 2);
}

/* The stored file of a part has gone: sent again, as a part or under the recording's name, it repairs the recording. */
static void a_lost_part_is_repaired(void **state) {
    (void)state;
    struct ingest_result r = {0};
    assert_int_equal(send_text("a0", "TRIALab", &r), INGEST_CREATED);
    ingest_result_done(&r);
    assert_int_equal(send_part("a1", "TRIALxyz", INT64_MAX, &r), INGEST_JOINED);
    for (int part = 0; part < 2; part++) {
        assert_true(store_remove_blob(app.store, r.recording.parts[part].sha256, &err));
        assert_true(catalog_set_state(app.catalog, r.recording.id, STATE_MISSING, "gone", &err));
        struct ingest_result again = {0};
        assert_int_equal(part ? send_part("a1", "TRIALxyz", INT64_MAX, &again) : send_text("a0", "TRIALab", &again),
                         INGEST_SCANNING);
        ingest_result_done(&again);
        wait_until_idle();
        assert_recording(STATE_READY, 2, 2 + 3);
    }
    ingest_result_done(&r);
}

/* ---- the clock */

struct clock_change {
    const struct catalog_recording *row;
    enum reel_clock clock;
    bool good;
    struct reel_error error;
    atomic_bool done;
};

static void *change_clock(void *argument) {
    struct clock_change *q = argument;
    bool changed;
    const struct catalog_change change = {
        .sets_clock = true, .has_clock = true, .clock = q->clock, .clock_note = "set"};
    q->good = changing_apply(&app, q->row, &change, &changed, &q->error);
    atomic_store(&q->done, true);
    return NULL;
}

/* The end of a scan reads the row, with the clock that was set, and writes it: nobody sets another one in between. */
static void the_clock_is_not_set_while_a_scan_ends(void **state) {
    (void)state;
    struct ingest_result r = {0};
    assert_int_equal(send_text("a.trial", "TRIALab", &r), INGEST_CREATED);
    struct clock_change q = {.row = &r.recording,
                             .clock = r.recording.clock == REEL_CLOCK_WALL ? REEL_CLOCK_RELATIVE : REEL_CLOCK_WALL};
    struct key_lock end_of_scan = {0};
    pthread_t thread;
    lock_take(app.locks, &end_of_scan, ROW_LOCK, r.recording.id);
    assert_int_equal(pthread_create(&thread, NULL, change_clock, &q), 0);
    nanosleep(&(struct timespec){.tv_nsec = 200 * MS}, NULL);
    assert_false(atomic_load(&q.done));
    lock_release(&end_of_scan);
    pthread_join(thread, NULL);
    assert_true(q.good);

    assert_true(catalog_set_state(app.catalog, r.recording.id, STATE_SCANNING, "", &err)); /* since the row was read */
    q.clock = r.recording.clock;
    change_clock(&q);
    assert_false(q.good);
    assert_int_equal(q.error.code, REEL_CONFLICT);
    ingest_result_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_upload_is_a_recording, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_leaves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_scan_continues_in_the_background, set_up, tear_down),
        cmocka_unit_test_setup_teardown(until_it_is_scanned_a_recording_is_shown_by_its_summary, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_an_index_a_scan_is_needed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_scan_may_be_purged_or_cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_same_at_once_is_one_recording, set_up, tear_down),
        cmocka_unit_test_setup_teardown(others_under_one_name_leave_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused_and_wanted_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leftovers_are_swept_at_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scans_cut_by_the_end_are_taken_up_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_are_checked_before_the_body, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_comes_in_by_the_same_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_come_in_as_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(purge_leaves_what_others_need, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_part_may_take_a_long_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_part_of_what_is_being_scanned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_part_that_fails_leaves_what_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_at_once_all_come_in, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_part_is_repaired, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_clock_is_not_set_while_a_scan_ends, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
