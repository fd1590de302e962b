/* Upload sessions without HTTP: bytes over several writers, what a restart keeps, checked pieces, the end and its
 * refusals, keys, expiry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "makers/ingest_trial.h"
#include "reel/time.h"
#include "store/inspect.h"
#include "uploads/sessions_internal.h"

#define EXPIRY_S 3600

static void up(void) {
    app_up();
    app.config.upload_expiry_s = EXPIRY_S;
    if (!(app.sessions = sessions_open(&app, &err))) {
        fail_msg("%s", err.text);
    }
}
static void down(void) {
    sessions_close(app.sessions);
    app_down();
}
static int begin(void **state) {
    (void)state;
    nftw(DATA, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    atomic_store(&trial_gate, true);
    err = (struct reel_error){0};
    up();
    return 0;
}
static int end(void **state) {
    (void)state;
    down();
    return 0;
}
static void restart(void) {
    down();
    up();
}

static void make(const char *options, const char *key, int64_t length, bool draft, char id[RECORDING_ID_TEXT]) {
    struct session_request ask = {
        .owner = "me", .key = key, .options = options, .metadata = "", .concat = "", .length = length, .draft = draft};
    struct catalog_upload u;
    bool again;
    memset(ask.request, 'a', SHA256_HEX - 1);
    assert_true(session_create(&app, &ask, &u, &again, &err));
    assert_false(again);
    memcpy(id, u.id, sizeof u.id);
    catalog_upload_done(&u);
}

static enum session_answer give(const char *id, uint64_t offset, const char *text, bool checked, bool drop,
                                struct catalog_upload *now) {
    struct session_piece piece = {.offset = offset, .length = -1, .checked = checked};
    struct session_writer *w;
    enum session_answer answer = session_begin(&app, "me", id, &piece, &w, now, &err);
    if (answer == SESSION_OK) {
        assert_true(session_write(w, text, strlen(text), &err));
        if (drop) {
            session_drop(w);
        }
        assert_true(session_end(w, now, &err));
    }
    return answer;
}

static void give_well(const char *id, uint64_t offset, const char *text) {
    struct catalog_upload now;
    assert_int_equal(give(id, offset, text, false, false, &now), SESSION_OK);
    assert_int_equal(now.offset, offset + strlen(text));
    catalog_upload_done(&now);
}

static uint64_t offset_of(const char *id) {
    struct catalog_upload u;
    assert_true(session_get(&app, "me", id, &u, &err));
    uint64_t offset = u.offset;
    catalog_upload_done(&u);
    return offset;
}

static enum ingest_outcome finish(const char *id, struct session_result *result) {
    struct catalog_upload u;
    assert_true(session_get(&app, "me", id, &u, &err));
    session_finish(&app, &u, INT64_MAX, result, &err);
    catalog_upload_done(&u);
    return result->ingest.outcome;
}

static void pieces_become_a_recording(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    struct session_result result;
    struct catalog_upload u;
    make("{\"name\":\"a.trial\",\"collection\":\"lab\",\"tags\":{\"k\":\"v\"},\"group\":\"g\"}", "", 10, false, id);
    give_well(id, 0, "TRI");
    assert_int_equal(give(id, 2, "x", false, false, &u), SESSION_OFFSET);
    assert_int_equal(u.offset, 3);
    catalog_upload_done(&u);
    give_well(id, 3, "AL");
    restart(); /* the hash is begun anew, and reads back what is there */
    assert_int_equal(offset_of(id), 5);
    give_well(id, 5, "vwxyz");
    assert_int_equal(finish(id, &result), INGEST_CREATED);
    const struct catalog_recording *r = &result.ingest.recording;
    assert_string_equal(r->name, "a.trial");
    assert_string_equal(r->group, "g");
    assert_string_equal(catalog_annotations_tag(&r->annotations, "k"), "v");
    assert_int_equal(r->messages, 5);
    assert_true(session_get(&app, "me", id, &u, &err));
    assert_true(u.done);
    assert_string_equal(u.recording, r->id);
    catalog_upload_done(&u);
    assert_int_equal(give(id, 10, "x", false, false, &u), SESSION_ENDED);
    catalog_upload_done(&u);
    session_result_done(&result);
    assert_false(session_get(&app, "you", id, &u, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    restart();
    assert_int_equal(offset_of(id), 10);
}

static void a_checked_piece_counts_whole_or_not(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    struct catalog_upload u;
    struct session_result result;
    make("{\"name\":\"c.trial\"}", "", 9, false, id);
    assert_int_equal(give(id, 0, "TRIAL", true, false, &u), SESSION_OK);
    catalog_upload_done(&u);
    assert_int_equal(give(id, 5, "zzz", true, true, &u), SESSION_OK);
    assert_int_equal(u.offset, 5);
    catalog_upload_done(&u);
    assert_int_equal(offset_of(id), 5);
    give_well(id, 5, "vwxy");
    assert_int_equal(finish(id, &result), INGEST_CREATED); /* the hash went back as well: the content is that of the
                                                              bytes */
    struct ingest_result same;
    assert_int_equal(send_with(&(struct ingest_request){.collection = "default", .name = "c.trial"}, "TRIALvwxy",
                               INT64_MAX, &same, &err),
                     INGEST_EXISTS);
    ingest_result_done(&same);
    session_result_done(&result);
}

/* A process that is killed leaves the file as it is; the row knows only what was confirmed. */
static void what_a_kill_leaves(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT], checked[RECORDING_ID_TEXT], full[RECORDING_ID_TEXT], draft[RECORDING_ID_TEXT],
        path[256];
    struct catalog_upload u;
    make("{\"name\":\"k.trial\"}", "", 100, false, id);
    make("{\"name\":\"l.trial\"}", "", 100, false, checked);
    make("{\"name\":\"m.trial\"}", "", 6, false, full);
    make("{\"name\":\"n.trial\"}", "", 6, true, draft);
    give_well(id, 0, "TRIAL");
    assert_int_equal(give(checked, 0, "TRIAL", true, false, &u), SESSION_OK);
    catalog_upload_done(&u);
    give_well(full, 0, "TRIALa");
    give_well(draft, 0, "TRIALa");
    down();
    const char *const grown[] = {id, checked};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, DATA "/incoming/%s.part", grown[i]);
        FILE *f = fopen(path, "a");
        fputs("abc", f);
        fclose(f);
    }
    up();
    assert_int_equal(offset_of(id), 8);      /* the page cache has it */
    assert_int_equal(offset_of(checked), 5); /* these are not verified yet */
    assert_int_equal(offset_of(full), 5);    /* so that the client comes back for the recording */
    assert_int_equal(offset_of(draft), 6);   /* here it says when it is done */
    down();
    assert_int_equal(truncate(DATA "/lock", 0), 0); /* as after a loss of power */
    snprintf(path, sizeof path, DATA "/incoming/%s.part", id);
    FILE *f = fopen(path, "a");
    fputs("de", f);
    fclose(f);
    snprintf(path, sizeof path, DATA "/incoming/%032d.part", 0);
    fclose(fopen(path, "w")); /* a file without its row */
    up();
    assert_int_equal(offset_of(id), 8);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* Killed between the hash and the answer. */
static void an_end_that_was_cut_off(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT], blob[512], part[256];
    struct session_result result;
    struct catalog_upload u;
    make("{\"name\":\"e.trial\"}", "", 7, false, id);
    give_well(id, 0, "TRIALab");
    assert_int_equal(finish(id, &result), INGEST_CREATED);
    assert_true(catalog_upload_get(app.catalog, id, &u, &err));
    u.done = false; /* the row was not written any more, but the recording is there */
    u.recording[0] = '\0';
    assert_true(catalog_upload_update(app.catalog, &u, &err));
    restart();
    assert_int_equal(offset_of(id), 7);
    assert_true(catalog_purge_at(app.catalog, result.ingest.recording.id, CATALOG_ANY_VERSION, &err));
    struct catalog_upload now;
    assert_true(catalog_upload_get(app.catalog, id, &now, &err));
    u.turn = now.turn;
    catalog_upload_done(&now);
    assert_true(catalog_upload_update(app.catalog, &u, &err)); /* now it is not: only the blob is */
    assert_true(store_file_path(app.store, u.content, "", blob, sizeof blob));
    restart();
    snprintf(part, sizeof part, DATA "/incoming/%s.part", id);
    assert_int_equal(access(part, F_OK), 0);
    assert_int_not_equal(access(blob, F_OK), 0);
    assert_int_equal(offset_of(id), 6);
    give_well(id, 6, "b");
    session_result_done(&result);
    assert_int_equal(finish(id, &result), INGEST_CREATED);
    session_result_done(&result);
    catalog_upload_done(&u);
}

static void refusals(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    struct session_result result;
    struct catalog_upload u;
    make("{\"name\":\"r.trial\"}", "", 6, false, id);
    give_well(id, 0, "WRONGx");
    assert_int_equal(finish(id, &result), INGEST_REFUSED);
    assert_int_equal(err.code, REEL_NOT_MINE);
    assert_false(session_get(&app, "me", id, &u, &err));
    assert_int_equal(stored_files(), 0);
    make("{\"name\":\"r.trial\",\"sha256\":\""
         "0000000000000000000000000000000000000000000000000000000000000000"
         "\"}",
         "", 6, false, id);
    give_well(id, 0, "TRIALx");
    assert_int_equal(finish(id, &result), INGEST_REFUSED);
    assert_non_null(strstr(err.text, "SHA-256"));
    struct session_writer *w;
    struct session_piece piece = {.length = -1};
    make("{\"name\":\"r.trial\"}", "", 3, false, id);
    assert_int_equal(session_begin(&app, "me", id, &piece, &w, &u, &err), SESSION_OK);
    assert_false(session_write(w, "four", 4, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    struct session_writer *other;
    assert_int_equal(session_begin(&app, "me", id, &piece, &other, &u, &err), SESSION_BUSY);
    catalog_upload_done(&u);
    assert_true(session_remove(&app, "me", id, &err));
    assert_false(session_write(w, "a", 1, &err)); /* a client that still writes gets an error */
    assert_false(session_end(w, NULL, &err));
    assert_int_equal(stored_files(), 0);
}

/* Its client has asked how far it is before it was ended, and sends the last byte once more. */
static void a_session_in_use_is_not_ended(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    struct session_result result;
    struct session_writer *w;
    struct session_piece piece = {.offset = 9, .length = -1};
    struct catalog_upload full, now;
    make("{\"name\":\"a.trial\"}", "", 10, false, id);
    give_well(id, 0, "TRIALvwxyz");
    assert_true(session_get(&app, "me", id, &full, &err));
    assert_int_equal(full.offset, 10);
    assert_int_equal(session_begin(&app, "me", id, &piece, &w, &now, &err), SESSION_OK);
    /* before the byte is there, and when it is but the other request has not ended */
    for (unsigned i = 0; i < 2; i++) {
        session_finish(&app, &full, INT64_MAX, &result, &err);
        assert_int_equal(result.ingest.outcome, INGEST_REFUSED);
        assert_true(result.again);
        assert_int_equal(err.code, REEL_CONFLICT);
        session_result_done(&result);
        assert_true(i > 0 || session_write(w, "z", 1, &err));
    }
    assert_true(session_end(w, &now, &err));
    assert_int_equal(now.offset, 10);
    session_finish(&app, &full, INT64_MAX, &result, &err); /* with a row that has been written since */
    assert_int_equal(result.ingest.outcome, INGEST_REFUSED);
    assert_true(result.again);
    session_result_done(&result);
    full.turn = now.turn;
    catalog_upload_done(&now);
    session_finish(&app, &full, INT64_MAX, &result, &err);
    assert_int_equal(result.ingest.outcome, INGEST_CREATED);
    assert_int_equal(result.ingest.recording.size, 10);
    session_result_done(&result);
    catalog_upload_done(&full);
}

static void a_key_finds_its_session(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    struct session_request ask = {
        .owner = "me", .key = "k", .options = "{\"name\":\"q\"}", .metadata = "", .concat = "", .length = 9};
    struct catalog_upload u;
    bool again;
    make("{\"name\":\"q\"}", "k", 9, false, id);
    give_well(id, 0, "abc");
    memset(ask.request, 'a', SHA256_HEX - 1);
    assert_true(session_create(&app, &ask, &u, &again, &err));
    assert_true(again);
    assert_string_equal(u.id, id);
    assert_int_equal(u.offset, 3);
    catalog_upload_done(&u);
    ask.request[0] = 'b';
    assert_false(session_create(&app, &ask, &u, &again, &err));
    assert_int_equal(err.code, REEL_CONFLICT);
    ask.owner = "you"; /* another's key is another key */
    assert_true(session_create(&app, &ask, &u, &again, &err));
    assert_false(again);
    catalog_upload_done(&u);
}

struct asking {
    pthread_barrier_t *together;
    char key[16], id[RECORDING_ID_TEXT];
    bool made, again;
};

static void *request_with_key(void *context) {
    struct asking *a = context;
    struct reel_error why;
    struct catalog_upload u;
    struct session_request ask = {
        .owner = "me", .key = a->key, .options = "{\"name\":\"q\"}", .metadata = "", .concat = "", .length = 9};
    memset(ask.request, 'a', SHA256_HEX - 1);
    pthread_barrier_wait(a->together);
    if ((a->made = session_create(&app, &ask, &u, &a->again, &why))) {
        memcpy(a->id, u.id, sizeof a->id);
        catalog_upload_done(&u);
    }
    return NULL;
}

static void a_key_makes_one_session_also_at_the_same_time(void **state) {
    (void)state;
    for (unsigned i = 0; i < 50; i++) {
        pthread_barrier_t together;
        pthread_t threads[2];
        struct asking asking[2];
        pthread_barrier_init(&together, NULL, 2);
        for (unsigned k = 0; k < 2; k++) {
            asking[k] = (struct asking){.together = &together};
            snprintf(asking[k].key, sizeof asking[k].key, "key-%u", i);
            assert_int_equal(pthread_create(&threads[k], NULL, request_with_key, &asking[k]), 0);
        }
        for (unsigned k = 0; k < 2; k++) {
            pthread_join(threads[k], NULL);
        }
        pthread_barrier_destroy(&together);
        assert_true(asking[0].made && asking[1].made);
        assert_int_equal(asking[0].again + asking[1].again, 1);
        assert_string_equal(asking[0].id, asking[1].id);
    }
    assert_int_equal(stored_files(), 50);
}

static void set_expiry(const char *id, int64_t expires_ns) {
    assert_true(catalog_upload_extend(app.catalog, id, expires_ns, &err));
}

static void the_sweeper_looks_again(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    struct session_writer *w;
    struct session_piece piece = {.length = 7};
    struct catalog_upload u;
    make("{\"name\":\"a\"}", "", -1, false, id);
    assert_true(session_sweep_one(&app, id, reel_now_ns(), &err)); /* it was extended since its row was read */
    assert_int_equal(offset_of(id), 0);
    assert_int_equal(session_begin(&app, "me", id, &piece, &w, &u, &err), SESSION_OK);
    set_expiry(id, 1);
    assert_true(session_sweep_one(&app, id, reel_now_ns(), &err)); /* a client adds to it */
    assert_true(session_write(w, "abc", 3, &err));
    assert_true(catalog_upload_get(app.catalog, id, &u, &err));
    assert_true(u.expires_ns > reel_now_ns());
    assert_int_equal(u.length, 7);
    catalog_upload_done(&u);
    assert_true(session_end(w, NULL, &err));
    set_expiry(id, 1);
    assert_true(session_sweep_one(&app, id, reel_now_ns(), &err));
    assert_false(catalog_upload_get(app.catalog, id, &u, &err));
    assert_true(session_sweep_one(&app, id, 0, &err)); /* whoever came second removes nothing more … */
    make("{\"name\":\"b\"}", "", 9, false, id);        /* … and the sessions are still counted right */
}

static void run_expiry(void) {
    char job[JOB_ID_TEXT];
    assert_true(jobs_add(app.jobs, &(struct job_spec){.kind = "expiry"}, job, &err));
    assert_true(jobs_wait(app.jobs, job, INT64_MAX, &err));
}

static void derived_files_stay_below_their_limit(void **state) {
    (void)state;
    FILE *f = fopen(DATA "/derived/x.0.raw", "w");
    assert_true(f && fwrite("abc", 3, 1, f) == 1 && fclose(f) == 0);
    run_expiry(); /* nothing is allowed them here */
    assert_int_not_equal(access(DATA "/derived/x.0.raw", F_OK), 0);
}

static void old_ones_are_swept(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT], kept[RECORDING_ID_TEXT];
    struct catalog_upload u;
    make("{\"name\":\"old\"}", "", 9, false, id);
    make("{\"name\":\"new\"}", "", 9, false, kept);
    give_well(id, 0, "abc");
    set_expiry(id, 1);
    run_expiry();
    assert_false(catalog_upload_get(app.catalog, id, &u, &err));
    assert_int_equal(offset_of(kept), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pieces_become_a_recording, begin, end),
        cmocka_unit_test_setup_teardown(a_checked_piece_counts_whole_or_not, begin, end),
        cmocka_unit_test_setup_teardown(what_a_kill_leaves, begin, end),
        cmocka_unit_test_setup_teardown(an_end_that_was_cut_off, begin, end),
        cmocka_unit_test_setup_teardown(refusals, begin, end),
        cmocka_unit_test_setup_teardown(a_session_in_use_is_not_ended, begin, end),
        cmocka_unit_test_setup_teardown(a_key_finds_its_session, begin, end),
        cmocka_unit_test_setup_teardown(a_key_makes_one_session_also_at_the_same_time, begin, end),
        cmocka_unit_test_setup_teardown(the_sweeper_looks_again, begin, end),
        cmocka_unit_test_setup_teardown(derived_files_stay_below_their_limit, begin, end),
        cmocka_unit_test_setup_teardown(old_ones_are_swept, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
