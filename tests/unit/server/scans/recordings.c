/* Opened recordings: shared, made again when their pack is gone, missing when their file is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "makers/ingest_trial.h"
#include "store/inspect.h"

static const int64_t WAIT_NS = 2000000000;
static struct ingest_result made;
static char job[33];

static struct reel_recording *get(void) {
    return recordings_get(app.recordings, &made.recording, WAIT_NS, job, &err);
}
static void read_letter(struct reel_recording *r, char letter) {
    struct reel_reader *reader = reel_reader_new(r, &err);
    struct reel_bytes b;
    assert_non_null(reader);
    assert_true(reel_reader_view(reader, 0, 5, 1, &b, &err));
    assert_int_equal(b.data[0], letter);
    reel_reader_free(reader);
}
static int make(void **state) {
    set_up(state);
    return send_text("a", "TRIALa", &made) == INGEST_CREATED ? 0 : -1;
}
static int unmake(void **state) {
    ingest_result_done(&made);
    return tear_down(state);
}
static void remove_pack(void) {
    char path[4096];
    assert_true(store_file_path(app.store, made.recording.content, ".reel", path, sizeof path));
    assert_int_equal(remove(path), 0);
}

static void a_recording_is_opened_once(void **state) {
    (void)state;
    struct reel_recording *a = get(), *b = get();
    assert_non_null(a);
    assert_ptr_equal(a, b);
    read_letter(a, 'a');
    recordings_forget(app.recordings, made.recording.content);
    struct reel_recording *again = get();
    assert_ptr_not_equal(again, a);
    read_letter(a, 'a'); /* the old one lives as long as it is held */
    reel_recording_free(a);
    reel_recording_free(b);
    reel_recording_free(again);
}

static void a_lost_pack_is_made_again(void **state) {
    (void)state;
    remove_pack();
    struct reel_recording *r = get();
    assert_non_null(r);
    assert_int_equal(job[0], 0);
    assert_int_equal(reel_index_info(reel_recording_index(r))->messages, 1);
    read_letter(r, 'a');
    reel_recording_free(r);
    assert_int_equal(atomic_load(&trial_scans), 2);
}

static void a_broken_pack_is_made_again(void **state) {
    (void)state;
    char path[4096];
    assert_true(store_file_path(app.store, made.recording.content, ".reel", path, sizeof path));
    FILE *f = fopen(path, "r+");
    fputs("broken", f);
    fclose(f);
    struct reel_recording *r = get();
    assert_non_null(r);
    reel_recording_free(r);
    assert_int_equal(atomic_load(&trial_scans), 2);
}

static void flip_first_segment(void) {
    char path[4096];
    assert_true(store_file_path(app.store, made.recording.content, ".reel", path, sizeof path));
    FILE *f = fopen(path, "r+");
    fseek(f, 16, SEEK_SET); /* after the header */
    fputc(0xff, f);
    fclose(f);
}
static enum reel_step read_first(struct reel_recording *r) {
    struct reel_message m;
    struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    enum reel_step step = s ? stream_next(s, &m, &err) : REEL_STEP_ERROR;
    reel_stream_free(s);
    return step;
}

/* Opening reads only the directory, so the first read notices it, and goes on with a new pack. */
static void a_pack_found_corrupted_while_reading_is_made_again(void **state) {
    (void)state;
    for (int again = 0; again < 2; again++) { /* after it was opened, and before */
        struct reel_recording *r = get();
        assert_int_equal(read_first(r), REEL_STEP_MESSAGE);
        if (again) {
            recordings_forget(app.recordings, made.recording.content);
            reel_recording_free(r);
        }
        flip_first_segment();
        if (again) {
            r = get();
        }
        assert_int_equal(read_first(r), REEL_STEP_MESSAGE);
        assert_int_equal(atomic_load(&trial_scans), 2 + again);
        reel_recording_free(r);
        r = get();
        assert_non_null(r);
        assert_int_equal(read_first(r), REEL_STEP_MESSAGE);
        assert_int_equal(atomic_load(&trial_scans), 2 + again);
        reel_recording_free(r);
    }
}

/* When it cannot be made again at once; a restart does not forget it. */
static void a_corrupted_pack_is_gone_after_a_restart(void **state) {
    (void)state;
    flip_first_segment();
    struct reel_recording *r = get();
    ((struct reel_index *)reel_recording_index(r))->remake.make = NULL;
    assert_int_equal(read_first(r), REEL_STEP_ERROR);
    assert_int_equal(err.code, REEL_CHANGED);
    reel_recording_free(r);
    app_down();
    app_up();
    r = get();
    assert_int_equal(read_first(r), REEL_STEP_MESSAGE);
    reel_recording_free(r);
}

static void a_lost_file_is_missing(void **state) {
    (void)state;
    char path[4096];
    assert_true(store_file_path(app.store, made.recording.content, "", path, sizeof path));
    assert_int_equal(remove(path), 0);
    assert_null(get());
    assert_int_equal(err.code, REEL_NOT_FOUND);
    wait_until_idle(); /* a job writes it to the catalog */
    struct catalog_recording r;
    assert_true(catalog_get(app.catalog, made.recording.id, &r, &err));
    assert_int_equal(r.state, STATE_MISSING);
    assert_null(recordings_get(app.recordings, &r, WAIT_NS, job, &err));
    assert_int_equal(err.code, REEL_CONFLICT);
    catalog_recording_done(&r);
}

static void a_changed_file_is_missing(void **state) {
    (void)state;
    char path[4096];
    assert_true(store_file_path(app.store, made.recording.content, "", path, sizeof path));
    assert_int_equal(truncate(path, 3), 0);
    assert_null(get());
    assert_int_equal(err.code, REEL_CHANGED);
    assert_null(strstr(err.text, DATA));
}

static void a_long_rebuild_names_its_job(void **state) {
    (void)state;
    ingest_result_done(&made);
    atomic_store(&trial_gate, true);
    assert_int_equal(send_text("slow", "TRIALs", &made), INGEST_CREATED);
    atomic_store(&trial_gate, false);
    remove_pack();
    assert_null(get());
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_int_equal(job_state(job), JOB_RUNNING);
    atomic_store(&trial_gate, true);
    wait_until_idle();
    struct reel_recording *r = get();
    assert_non_null(r);
    reel_recording_free(r);
}

static void *get_many(void *argument) {
    (void)argument;
    for (int i = 0; i < 40; i++) {
        char none[33];
        struct reel_error e;
        struct reel_recording *r = recordings_get(app.recordings, &made.recording, WAIT_NS, none, &e);
        assert_non_null(r);
        reel_recording_free(r);
        if (i % 8 == 0) {
            recordings_forget(app.recordings, made.recording.content);
        }
    }
    return NULL;
}

static void a_crowd_shares(void **state) {
    (void)state;
    remove_pack();
    pthread_t threads[6];
    for (int i = 0; i < 6; i++) {
        pthread_create(&threads[i], NULL, get_many, NULL);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_recording_is_opened_once, make, unmake),
        cmocka_unit_test_setup_teardown(a_lost_pack_is_made_again, make, unmake),
        cmocka_unit_test_setup_teardown(a_broken_pack_is_made_again, make, unmake),
        cmocka_unit_test_setup_teardown(a_pack_found_corrupted_while_reading_is_made_again, make, unmake),
        cmocka_unit_test_setup_teardown(a_corrupted_pack_is_gone_after_a_restart, make, unmake),
        cmocka_unit_test_setup_teardown(a_lost_file_is_missing, make, unmake),
        cmocka_unit_test_setup_teardown(a_changed_file_is_missing, make, unmake),
        cmocka_unit_test_setup_teardown(a_long_rebuild_names_its_job, make, unmake),
        cmocka_unit_test_setup_teardown(a_crowd_shares, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
