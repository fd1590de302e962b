/* Jobs: with a row and without, waited for, left, cancelled, put back, run again; under TSan too. */
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

#include "base/cleanup.h"
#include "catalog/changes.h"
#include "reel/time.h"
#include "work/jobs.h"
#include "work/locks.h"

#define FOREVER INT64_MAX
#define SECOND INT64_C(1000000000)
#define CATALOG REEL_SCRATCH "/catalog.db"

static struct reel_error err;
static struct catalog *catalog;
static struct jobs *jobs;

/* ---- kinds */

static atomic_bool gate;
static atomic_int began, runs, ended;
static char last_options[64];

static bool wait_for_gate(const struct reel_progress *progress, struct reel_error *e) {
    atomic_fetch_add(&began, 1);
    while (!atomic_load(&gate)) {
        if (!progress->report(progress->context, 3, 9)) {
            return reel_fail(e, REEL_CANCELLED, "cancelled at 3");
        }
        usleep(200);
    }
    progress->report(progress->context, 9, 9);
    atomic_fetch_add(&runs, 1);
    return true;
}

static bool run_slow(struct app *app, const struct job_call *call, struct reel_error *e) {
    (void)app;
    snprintf(last_options, sizeof last_options, "%s", call->options);
    job_report(call->progress, "{\"files\":1}");
    return wait_for_gate(call->progress, e);
}
static bool run_bad(struct app *app, const struct job_call *call, struct reel_error *e) {
    (void)app, (void)call;
    return reel_fail(e, REEL_DAMAGED, "broken at 4096");
}
/* Fails once with an error that passes, then comes back once. */
static bool run_passing(struct app *app, const struct job_call *call, struct reel_error *e) {
    (void)app;
    int n = atomic_fetch_add(&runs, 1);
    if (n == 0) {
        return reel_fail(e, REEL_NO_MEMORY, "no memory now");
    }
    *call->come_back_ns = n == 1 ? reel_now_ns() : 0;
    return true;
}
static bool run_count(struct app *app, const struct job_call *call, struct reel_error *e) {
    (void)app, (void)call, (void)e;
    atomic_fetch_add(&runs, 1);
    return true;
}
static const struct job_kind kinds[] = {
    {.name = "slow", .lane = LANE_SCANS, .result = "/result", .run = run_slow},
    {.name = "level", .lane = LANE_SCANS, .again = true, .quiet = true, .brief = true, .run = run_slow},
    {.name = "bad", .lane = LANE_SCANS, .run = run_bad},
    {.name = "passing", .lane = LANE_UPKEEP, .retries = 3, .run = run_passing},
    {.name = "count", .lane = LANE_SMALL, .quiet = true, .brief = true, .run = run_count},
    {0},
};

static void on_ended(struct app *app, const struct catalog_job *job) {
    (void)app, (void)job;
    atomic_fetch_add(&ended, 1);
}

static void open_jobs(void) {
    catalog = catalog_open(CATALOG, &err);
    jobs = catalog
               ? jobs_open(
                     &(struct jobs_options){.catalog = catalog, .scan_threads = 1, .kinds = kinds, .ended = on_ended},
                     &err)
               : NULL;
    if (!jobs) {
        fail_msg("%s", err.text);
    }
    jobs_start(jobs);
}
static void close_jobs(void) {
    assert_true(jobs_stop(jobs, 60 * SECOND));
    jobs_free(jobs);
    catalog_close(catalog);
}
static int set_up(void **state) {
    (void)state;
    unlink(CATALOG);
    unlink(CATALOG "-wal");
    unlink(CATALOG "-shm");
    atomic_store(&gate, false);
    atomic_store(&began, 0);
    atomic_store(&runs, 0);
    atomic_store(&ended, 0);
    open_jobs();
    return 0;
}
static int tear_down(void **state) {
    (void)state;
    close_jobs();
    return 0;
}

static void until(const atomic_int *value, int n) {
    for (int i = 0; atomic_load(value) < n; i++) {
        assert_true(i < 100000);
        usleep(200);
    }
}
static enum job_state state_of(const char *id) {
    AUTO_STRUCT(catalog_job_done) struct catalog_job job = {0};
    assert_true(jobs_find(jobs, id, &job, &err));
    return job.state;
}
static void add(const char *kind, const char *key, char id[JOB_ID_TEXT]) {
    if (!jobs_add(jobs,
                  &(struct job_spec){.kind = kind, .key = key, .subject = "day", .collection = "lab", .options = "{}"},
                  id, &err)) {
        fail_msg("%s", err.text);
    }
}

/* ---- rows */

static void a_job_is_remembered(void **state) {
    (void)state;
    char id[JOB_ID_TEXT], same[JOB_ID_TEXT];
    AUTO_STRUCT(catalog_job_done) struct catalog_job job = {0};
    add("slow", "a", id);
    until(&began, 1);
    add("slow", "a", same);
    assert_string_equal(id, same); /* it has not ended */
    assert_false(jobs_add(jobs, &(struct job_spec){.kind = "slow", .key = "a", .alone = true}, same, &err));
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_true(jobs_find(jobs, id, &job, &err));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.total, 9);
    assert_string_equal(job.outcome, "{\"files\":1}");
    assert_false(jobs_wait(jobs, id, SECOND / 50, &err));
    assert_int_equal(err.code, REEL_CONFLICT);
    atomic_store(&gate, true);
    assert_true(jobs_wait(jobs, id, FOREVER, &err));
    close_jobs();
    open_jobs();
    catalog_job_done(&job);
    assert_true(jobs_find(jobs, id, &job, &err));
    assert_int_equal(job.state, JOB_DONE);
    assert_int_equal(job.done, 9);
    assert_string_equal(job.subject, "day");
    assert_string_equal(job.collection, "lab");
    assert_true(job.ended_ns >= job.started_ns && job.started_ns >= job.created_ns);
    assert_false(jobs_cancel(jobs, id, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    struct catalog_job none;
    assert_false(jobs_find(jobs, "00112233445566778899aabbccddeeff", &none, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    assert_int_equal(atomic_load(&runs), 1);
}

static void a_failure_has_its_reason(void **state) {
    (void)state;
    char id[JOB_ID_TEXT];
    add("bad", "", id);
    assert_false(jobs_wait(jobs, id, FOREVER, &err));
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_string_equal(err.text, "broken at 4096");
    json_auto_t *changes = json_array();
    int64_t seq = 0;
    assert_true(catalog_changes(catalog, &(struct change_filter){0}, &seq, 10, changes, &err));
    assert_string_equal(json_string_value(json_object_get(json_array_get(changes, 0), "kind")), "job.failed");
    assert_int_equal(json_array_size(changes), 1);
}

static void queued_and_running_jobs_can_be_cancelled(void **state) {
    (void)state;
    char a[JOB_ID_TEXT], b[JOB_ID_TEXT];
    add("slow", "a", a); /* the lane has one thread */
    until(&began, 1);
    add("slow", "b", b);
    assert_int_equal(state_of(b), JOB_QUEUED);
    assert_true(jobs_cancel(jobs, b, &err));
    assert_int_equal(state_of(b), JOB_CANCELLED);
    assert_true(jobs_cancel(jobs, a, &err));
    assert_false(jobs_wait(jobs, a, FOREVER, &err));
    assert_int_equal(err.code, REEL_CANCELLED);
    assert_int_equal(state_of(a), JOB_CANCELLED);
    assert_int_equal(atomic_load(&began), 1);
    add("slow", "a", b); /* the key is free again */
    assert_string_not_equal(a, b);
}

static void a_stop_puts_jobs_back(void **state) {
    (void)state;
    char a[JOB_ID_TEXT], b[JOB_ID_TEXT];
    add("slow", "a", a);
    add("slow", "b", b);
    until(&began, 1);
    close_jobs();
    atomic_store(&gate, true);
    open_jobs();
    assert_true(jobs_wait(jobs, a, FOREVER, &err));
    assert_true(jobs_wait(jobs, b, FOREVER, &err));
    assert_int_equal(atomic_load(&runs), 2); /* each ended once */
    assert_int_equal(atomic_load(&began), 3);
}

static void what_a_dead_process_has_left_is_run(void **state) {
    (void)state;
    bool added;
    struct catalog_job dead = {.kind = "slow",
                               .key = "x",
                               .lane = LANE_SCANS,
                               .state = JOB_RUNNING,
                               .owner = "elsewhere",
                               .options = (char *)"{\"n\":1}"};
    dead.lease_until_ns = reel_now_ns() - 1;
    atomic_store(&gate, true);
    assert_true(catalog_job_add(catalog, &dead, &added, &err) && added);
    assert_true(jobs_wait(jobs, dead.id, FOREVER, &err)); /* its lease has run out */
    assert_string_equal(last_options, "{\"n\":1}");
    struct catalog_job alive = {.kind = "slow",
                                .key = "y",
                                .lane = LANE_SCANS,
                                .state = JOB_RUNNING,
                                .owner = "elsewhere",
                                .options = (char *)""};
    alive.lease_until_ns = reel_now_ns() + 3600 * SECOND;
    assert_true(catalog_job_add(catalog, &alive, &added, &err) && added);
    assert_false(jobs_wait(jobs, alive.id, 2 * SECOND, &err));
    assert_int_equal(state_of(alive.id), JOB_RUNNING);
    close_jobs();
    open_jobs(); /* no other process uses this catalog */
    assert_true(jobs_wait(jobs, alive.id, FOREVER, &err));
}

static void work_that_comes_meanwhile_is_done_after_it(void **state) {
    (void)state;
    char a[JOB_ID_TEXT], b[JOB_ID_TEXT];
    add("level", "", a);
    until(&began, 1);
    add("level", "", b);
    add("level", "", b);
    assert_string_equal(a, b);
    atomic_store(&gate, true);
    assert_true(jobs_wait(jobs, a, FOREVER, &err));
    assert_int_equal(atomic_load(&runs), 2);
    struct catalog_job gone;
    assert_false(jobs_find(jobs, a, &gone, &err)); /* an internal job that succeeds leaves no row */
}

static void errors_that_pass_are_tried_again(void **state) {
    (void)state;
    char id[JOB_ID_TEXT];
    add("passing", "", id);
    assert_true(jobs_wait(jobs, id, FOREVER, &err));
    assert_int_equal(atomic_load(&runs), 3); /* failed, came back, done */
}

/* ---- without a row */

struct task {
    atomic_bool freed;
    atomic_int attached;
    bool fails;
};
static bool run_task(void *context, const struct reel_progress *progress, struct reel_error *e) {
    const struct task *t = context;
    return wait_for_gate(progress, e) && (!t->fails || reel_fail(e, REEL_DAMAGED, "broken"));
}
static bool task_attached(void *context, bool good, struct reel_error *e) {
    struct task *t = context;
    (void)e;
    atomic_store(&t->attached, good ? 1 : 2);
    return good;
}
static void free_task(void *context) {
    atomic_store(&((struct task *)context)->freed, true);
}
static struct job *start(struct task *t, const char *owner) {
    const struct job_work work = {.kind = "slow",
                                  .lane = LANE_SCANS,
                                  .owner = owner,
                                  .run = run_task,
                                  .attached = task_attached,
                                  .free = free_task,
                                  .context = t};
    struct job *job = job_start(jobs, &work, &err);
    assert_non_null(job);
    return job;
}

/* What uses the app waits until there is one. */
static void nothing_is_claimed_before_the_start(void **state) {
    (void)state;
    char id[JOB_ID_TEXT];
    close_jobs();
    catalog = catalog_open(CATALOG, &err);
    jobs = jobs_open(&(struct jobs_options){.catalog = catalog, .scan_threads = 1, .kinds = kinds}, &err);
    add("slow", "a", id);
    assert_int_equal(state_of(id), JOB_QUEUED);
    assert_int_equal(atomic_load(&began), 0);
    jobs_start(jobs);
    until(&began, 1);
    atomic_store(&gate, true);
}

static void what_a_request_waits_for_needs_no_row(void **state) {
    (void)state;
    struct task t = {0};
    struct job *job = start(&t, "me");
    uint64_t queued, running;
    uint32_t n;
    struct catalog_job rows[4];
    until(&began, 1);
    assert_false(job_wait(job, SECOND / 100));
    jobs_count(jobs, &queued, &running);
    assert_int_equal(running, 1);
    atomic_store(&gate, true);
    assert_true(job_wait(job, FOREVER) && job_result(job, &err));
    assert_true(jobs_list(jobs, 0, rows, 4, &n, &err));
    assert_int_equal(n, 0);
    assert_int_equal(atomic_load(&t.attached), 0);
    job_unref(job);
    until(&ended, 1);
    for (int i = 0; !atomic_load(&t.freed); i++) { /* the thread gives up its reference last */
        assert_true(i < 100000);
        usleep(100);
    }
    struct task bad = {.fails = true};
    job = start(&bad, "me");
    assert_true(job_wait(job, FOREVER));
    assert_false(job_result(job, &err));
    assert_int_equal(err.code, REEL_DAMAGED);
    assert_false(job_hold(job)); /* it has ended: nothing to leave */
    job_unref(job);
}

static void what_outlives_the_request_becomes_a_row(void **state) {
    (void)state;
    struct task t = {0};
    char id[JOB_ID_TEXT], again[JOB_ID_TEXT];
    struct job *job = start(&t, "me");
    const struct job_spec spec = {.key = "k", .subject = "day"};
    until(&began, 1);
    assert_true(job_leave(job, &spec, id, &err));
    assert_true(job_leave(job, &spec, again, &err)); /* another request that waits for it */
    assert_string_equal(id, again);
    assert_int_equal(state_of(id), JOB_RUNNING);
    atomic_store(&gate, true);
    assert_true(jobs_wait(jobs, id, FOREVER, &err));
    assert_int_equal(atomic_load(&t.attached), 1);
    assert_true(job_wait(job, FOREVER));
    assert_false(job_leave(job, &spec, again, &err));
    job_unref(job);

    struct task second = {0};
    atomic_store(&gate, false);
    add("slow", "taken", id);
    until(&began, 2);
    job = start(&second, "me"); /* waits for it */
    assert_true(job_leave(job, &(struct job_spec){.key = "taken"}, again, &err));
    assert_string_equal(id, again); /* the work of that one, not of this */
    job_cancel(job);
    atomic_store(&gate, true);
    assert_true(job_wait(job, FOREVER));
    assert_int_equal(atomic_load(&second.attached), 0);
    job_unref(job);
}

static atomic_int order[8];
static atomic_int n_order;
struct numbered {
    int number;
    atomic_bool go;
};
static bool note_order(void *context, const struct reel_progress *progress, struct reel_error *e) {
    struct numbered *n = context;
    (void)e;
    atomic_fetch_add(&began, 1);
    while (!atomic_load(&n->go) && progress->report(progress->context, 0, 1)) {
        usleep(200);
    }
    atomic_store(&order[atomic_fetch_add(&n_order, 1)], n->number);
    return true;
}

/* Two threads run the first two jobs of "many". One of them ends: that thread takes the job of "few" before the rest of
 * "many". */
static void owners_take_turns(void **state) {
    (void)state;
    close_jobs();
    catalog = catalog_open(CATALOG, &err);
    jobs = jobs_open(&(struct jobs_options){.catalog = catalog, .scan_threads = 2, .kinds = kinds}, &err);
    jobs_start(jobs);
    struct numbered numbers[6] = {0};
    struct job *all[6];
    atomic_store(&n_order, 0);
    for (int i = 0; i < 6; i++) {
        numbers[i].number = i;
        atomic_store(&numbers[i].go, i >= 2);
        const struct job_work work = {.kind = "slow",
                                      .lane = LANE_SCANS,
                                      .owner = i == 5 ? "few" : "many",
                                      .run = note_order,
                                      .context = &numbers[i]};
        all[i] = job_start(jobs, &work, &err);
        assert_non_null(all[i]);
        if (i < 2) {
            until(&began, i + 1);
        }
    }
    atomic_store(&numbers[0].go, true);
    until(&n_order, 5); /* the other thread is held by number 1 all the time */
    atomic_store(&numbers[1].go, true);
    for (int i = 0; i < 6; i++) {
        assert_true(job_wait(all[i], FOREVER));
        job_unref(all[i]);
    }
    static const int expected[6] = {0, 5, 2, 3, 4, 1};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(atomic_load(&order[i]), expected[i]);
    }
}

/* Whoever queues many plans leaves a thread of the lane to everybody else, and it is not woken for nothing: what is
 * queued goes on when one of that owner's ends. */
static void one_owner_never_has_all_threads(void **state) {
    (void)state;
    enum { MANY = 7, ALL = MANY + 1 };
    struct numbered numbers[ALL] = {0};
    struct job *all[ALL];
    atomic_store(&n_order, 0);
    for (int i = 0; i < ALL; i++) {
        numbers[i].number = i;
        atomic_store(&numbers[i].go, i == MANY);
        const struct job_work work = {.kind = "slow",
                                      .lane = LANE_PLANS,
                                      .owner = i == MANY ? "few" : "many",
                                      .run = note_order,
                                      .context = &numbers[i]};
        all[i] = job_start(jobs, &work, &err);
        assert_non_null(all[i]);
    }
    assert_true(job_wait(all[MANY], FOREVER)); /* while as many of "many" run as may */
    assert_int_equal(atomic_load(&n_order), 1);
    for (int i = 0; i < MANY; i++) {
        atomic_store(&numbers[i].go, true);
    }
    for (int i = 0; i < ALL; i++) {
        assert_true(job_wait(all[i], FOREVER));
        job_unref(all[i]);
    }
    assert_int_equal(atomic_load(&n_order), ALL);
}

static bool wait_slowly(void *context, const struct reel_progress *progress, struct reel_error *e) {
    (void)context;
    return wait_for_gate(progress, e);
}

/* A request that waits leaves soon after the stop has begun; a plan that nobody waits for any more ends. */
static void requests_leave_at_a_stop(void **state) {
    (void)state;
    char id[JOB_ID_TEXT];
    const struct job_work work = {.kind = "slow", .lane = LANE_PLANS, .subject = "day", .run = wait_slowly};
    struct job *job = job_start(jobs, &work, &err);
    assert_non_null(job);
    until(&began, 1);
    jobs_close(jobs);
    assert_false(job_wait_for_request(job, FOREVER - 1));
    assert_true(job_leave(job, &(struct job_spec){.key = "a"}, id, &err));
    assert_true(job_wait(job, FOREVER));
    struct reel_error why = {0};
    assert_false(job_result(job, &why));
    assert_int_equal(why.code, REEL_CANCELLED);
    job_unref(job);
}

/* ---- schedule */

static atomic_int due_calls;
static int64_t hourly(struct app *app) {
    (void)app;
    return 3600 * SECOND;
}
static bool is_due(struct app *app) {
    (void)app;
    atomic_fetch_add(&due_calls, 1);
    return true;
}
static void the_schedule_is_followed(void **state) {
    (void)state;
    static const struct job_schedule schedule[] = {{.kind = "count", .every_ns = hourly, .due = is_due}, {0}};
    jobs_poke(jobs, "count"); /* without a schedule nothing happens */
    jobs_serve(jobs, schedule);
    until(&runs, 1);
    jobs_poke(jobs, "count");
    until(&runs, 2);
    jobs_poke(jobs, "none");
    assert_in_range(atomic_load(&due_calls), 2, 3);
}

/* ---- many at once */

static void *be_a_client(void *argument) {
    (void)argument;
    struct reel_error e;
    for (int i = 0; i < 20; i++) {
        char id[JOB_ID_TEXT], key[24];
        struct task t = {0};
        struct catalog_job rows[4];
        uint32_t n = 0;
        snprintf(key, sizeof key, "%d", i % 4);
        struct job *job = start(&t, key);
        bool left = i % 2 == 0 && job_leave(job, &(struct job_spec){.key = key}, id, &e);
        jobs_list(jobs, 0, rows, 4, &n, &e);
        for (uint32_t k = 0; k < n; k++) {
            catalog_job_done(&rows[k]);
        }
        if (left && i % 4 == 0) {
            jobs_cancel(jobs, id, &e);
        }
        job_wait(job, FOREVER);
        job_unref(job);
        for (int k = 0; !atomic_load(&t.freed) && k < 1000000; k++) { /* t lives on this stack */
            usleep(100);
        }
    }
    return NULL;
}
static void a_crowd_is_served(void **state) {
    (void)state;
    pthread_t threads[6];
    atomic_store(&gate, true);
    for (int i = 0; i < 6; i++) {
        pthread_create(&threads[i], NULL, be_a_client, NULL);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_in_range(atomic_load(&runs), 1, 240); /* a row whose key another client uses is run once more */
}

/* ---- locks */

static void a_lock_has_one_holder(void **state) {
    (void)state;
    struct locks *locks = locks_new(&err);
    struct key_lock a = {0}, b = {0}, c = {0};
    char name[300];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    lock_take(locks, &a, "content", name);
    assert_false(lock_try(locks, &b, "content", name));
    assert_true(lock_try(locks, &c, "row", name));
    name[sizeof name - 2] = 'y'; /* long names differ at their end, too */
    assert_true(lock_try(locks, &b, "content", name));
    assert_true(lock_is_held(locks, "content", name));
    lock_release(&b);
    assert_false(lock_is_held(locks, "content", name));
    lock_release(&b); /* not held */
    lock_release(&a);
    lock_release(&c);
    locks_free(locks);
    lock_take(NULL, &a, "content", name); /* a process of one thread has none */
    lock_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_is_remembered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failure_has_its_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(queued_and_running_jobs_can_be_cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stop_puts_jobs_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_dead_process_has_left_is_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(work_that_comes_meanwhile_is_done_after_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_that_pass_are_tried_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_claimed_before_the_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_request_waits_for_needs_no_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_outlives_the_request_becomes_a_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(owners_take_turns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_owner_never_has_all_threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(requests_leave_at_a_stop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_schedule_is_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_crowd_is_served, set_up, tear_down),
        cmocka_unit_test(a_lock_has_one_holder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
