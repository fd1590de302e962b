/* Jobs: run, waited for, cancelled, remembered; run under TSan too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/jobs.h"

#define FOREVER INT64_MAX

static struct reel_error err;

struct task {
    atomic_bool go, began, freed;
    atomic_int runs;
    bool fails;
};

static bool work(void *context, const struct reel_progress *progress, struct reel_error *e) {
    struct task *t = context;
    atomic_store(&t->began, true);
    atomic_fetch_add(&t->runs, 1);
    while (!atomic_load(&t->go)) {
        if (!progress->report(progress->context, 3, 9)) {
            return reel_fail(e, REEL_CANCELLED, "cancelled at 3");
        }
        usleep(100);
    }
    progress->report(progress->context, 9, 9);
    return !t->fails || reel_fail(e, REEL_DAMAGED, "broken at 4096");
}
static void free_task(void *context) {
    atomic_store(&((struct task *)context)->freed, true);
}

static struct job *start(struct jobs *jobs, struct task *t) {
    struct job *job = jobs_add(jobs, "scan", "subject", "/result", work, t, free_task, &err);
    assert_non_null(job);
    return job;
}
static void wait_begun(struct task *t) {
    while (!atomic_load(&t->began)) {
        usleep(100);
    }
}

static void work_is_done_and_remembered(void **state) {
    (void)state;
    struct jobs *jobs = jobs_open(2, &err);
    struct task t = {0};
    struct job *job = start(jobs, &t);
    wait_begun(&t);
    assert_false(job_wait(job, 0));
    assert_false(job_wait(job, 2000000));
    struct job_view v, found;
    job_view(job, &v);
    assert_int_equal(v.state, JOB_RUNNING);
    assert_string_equal(v.kind, "scan");
    assert_string_equal(v.subject, "subject");
    assert_string_equal(v.result, "/result");
    assert_int_equal(strlen(v.id), 32);
    atomic_store(&t.go, true);
    assert_true(job_wait(job, FOREVER));
    job_unref(job);
    assert_true(jobs_find(jobs, v.id, &found));
    assert_int_equal(found.state, JOB_DONE);
    assert_int_equal(found.done, 9);
    assert_int_equal(found.total, 9);
    assert_true(found.ended_ns >= found.created_ns);
    assert_false(jobs_cancel(jobs, v.id)); /* it has ended */
    assert_false(jobs_find(jobs, "none", &found));
    assert_false(atomic_load(&t.freed));
    jobs_close(jobs);
    assert_true(atomic_load(&t.freed));
}

static void failure_and_cancel_are_told(void **state) {
    (void)state;
    struct jobs *jobs = jobs_open(1, &err);
    struct task bad = {.fails = true, .go = true}, running = {0}, queued = {0};
    struct job *a = start(jobs, &bad), *b = start(jobs, &running), *d = start(jobs, &queued);
    struct job_view v;
    assert_true(job_wait(a, FOREVER));
    job_view(a, &v);
    assert_int_equal(v.state, JOB_FAILED);
    assert_int_equal(v.error.code, REEL_DAMAGED);
    assert_string_equal(v.error.text, "broken at 4096");
    job_view(d, &v);
    assert_int_equal(v.state, JOB_QUEUED);
    assert_true(jobs_cancel(jobs, v.id)); /* before it began */
    wait_begun(&running);
    job_view(b, &v);
    assert_true(jobs_cancel(jobs, v.id));
    assert_true(job_wait(b, FOREVER));
    assert_true(job_wait(d, FOREVER));
    job_view(b, &v);
    assert_int_equal(v.state, JOB_CANCELLED);
    job_view(d, &v);
    assert_int_equal(v.state, JOB_CANCELLED);
    assert_int_equal(atomic_load(&queued.runs), 0);
    assert_false(jobs_closing(jobs));
    job_unref(a);
    job_unref(b);
    job_unref(d);
    jobs_close(jobs);
    assert_string_equal(job_state_name(JOB_CANCELLED), "cancelled");
}

static void closing_cancels_and_waits(void **state) {
    (void)state;
    struct jobs *jobs = jobs_open(1, &err);
    struct task running = {0}, queued = {0};
    struct job *a = start(jobs, &running), *b = start(jobs, &queued);
    wait_begun(&running);
    jobs_close(jobs);
    struct job_view v;
    job_view(a, &v); /* a reference outlives the jobs */
    assert_int_equal(v.state, JOB_CANCELLED);
    job_view(b, &v);
    assert_int_equal(v.state, JOB_CANCELLED);
    assert_int_equal(atomic_load(&queued.runs), 0);
    assert_false(atomic_load(&queued.freed));
    job_unref(a);
    job_unref(b);
    assert_true(atomic_load(&queued.freed));
    jobs_close(NULL);
}

static void the_record_is_bounded(void **state) {
    (void)state;
    struct jobs *jobs = jobs_open(2, &err);
    enum { MANY = 1500 };
    struct task *tasks = calloc(MANY, sizeof *tasks);
    static struct job_view views[2000];
    for (int i = 0; i < MANY; i++) {
        atomic_store(&tasks[i].go, true);
        struct job *job = start(jobs, &tasks[i]);
        assert_true(job_wait(job, FOREVER));
        job_unref(job);
    }
    size_t n = jobs_list(jobs, views, 2000);
    assert_int_equal(n, 1000);
    assert_true(views[0].created_ns >= views[n - 1].created_ns); /* newest first */
    assert_int_equal(jobs_list(jobs, views, 5), 5);
    assert_true(atomic_load(&tasks[0].freed));
    jobs_close(jobs);
    free(tasks);
}

/* ---- many at once */

struct crowd {
    struct jobs *jobs;
    atomic_int done;
};

static bool count_up(void *context, const struct reel_progress *progress, struct reel_error *e) {
    struct crowd *crowd = context;
    for (uint64_t i = 0; i < 20; i++) {
        if (!progress->report(progress->context, i, 20)) {
            return reel_fail(e, REEL_CANCELLED, "cancelled");
        }
    }
    atomic_fetch_add(&crowd->done, 1);
    return true;
}

static void *be_a_client(void *argument) {
    struct crowd *crowd = argument;
    struct reel_error e;
    for (int i = 0; i < 50; i++) {
        struct job *job = jobs_add(crowd->jobs, "count", "x", NULL, count_up, crowd, NULL, &e);
        struct job_view views[8], v;
        jobs_list(crowd->jobs, views, 8);
        job_view(job, &v);
        struct job *again = job_ref(job);
        job_unref(job);
        if (i % 5 == 0) {
            jobs_cancel(crowd->jobs, v.id);
        }
        if (i % 2 == 0) {
            job_wait(again, FOREVER);
            jobs_find(crowd->jobs, v.id, &v);
        }
        job_unref(again);
    }
    return NULL;
}

static void a_crowd_is_served(void **state) {
    (void)state;
    struct crowd crowd = {.jobs = jobs_open(4, &err)};
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) {
        pthread_create(&threads[i], NULL, be_a_client, &crowd);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
    jobs_close(crowd.jobs);
    assert_in_range(atomic_load(&crowd.done), 1, 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_done_and_remembered), cmocka_unit_test(failure_and_cancel_are_told),
        cmocka_unit_test(closing_cancels_and_waits),   cmocka_unit_test(the_record_is_bounded),
        cmocka_unit_test(a_crowd_is_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
