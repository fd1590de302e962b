/* See jobs.h. */
#include "base/thread.h"
#include "work/jobs_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "reel/time.h"

enum {
    WAIT_SLICE_NS = 250000000,
    LEAVE_NS = 1000000000, /* a request that waits at a stop leaves its job after so long */
};

/* ---- one job */

struct job *job_ref(struct job *job) {
    atomic_fetch_add(&job->refs, 1);
    return job;
}

void job_unref(struct job *job) {
    if (job && atomic_fetch_sub(&job->refs, 1) == 1) {
        if (job->free) {
            job->free(job->context);
        }
        catalog_job_done(&job->row);
        pthread_cond_destroy(&job->ended);
        pthread_mutex_destroy(&job->mutex);
        free(job);
    }
}

struct job *job_new(struct jobs *jobs, const struct job_kind *kind, enum job_lane lane, struct reel_error *err) {
    struct job *job = calloc(1, sizeof *job);
    if (!job) {
        reel_fail_memory(err);
        return NULL;
    }
    job->jobs = jobs;
    job->kind = kind;
    job->lane = lane;
    atomic_init(&job->refs, 1);
    job->row.created_ns = reel_now_ns();
    snprintf(job->row.kind, sizeof job->row.kind, "%s", kind->name);
    condition_init(&job->ended);
    pthread_mutex_init(&job->mutex, NULL);
    return job;
}

const struct job_kind *jobs_kind(const struct jobs *jobs, const char *name) {
    const struct job_kind *kind = jobs->kinds;
    while (kind->name && strcmp(kind->name, name) != 0) {
        kind++;
    }
    return kind->name ? kind : NULL;
}

struct job *job_start(struct jobs *jobs, const struct job_work *work, struct reel_error *err) {
    const struct job_kind *kind = jobs_kind(jobs, work->kind);
    struct job *job = kind ? job_new(jobs, kind, work->lane, err) : NULL;
    if (!job) {
        if (work->free) {
            work->free(work->context);
        }
        if (!kind) {
            reel_fail(err, REEL_ARGUMENT, "no kind of job is called %s", work->kind);
        }
        return NULL;
    }
    job->run = work->run;
    job->attached = work->attached;
    job->free = work->free;
    job->context = work->context;
    snprintf(job->owner, sizeof job->owner, "%s", work->owner ? work->owner : "");
    snprintf(job->row.subject, sizeof job->row.subject, "%s", work->subject ? work->subject : "");
    if (!lane_push(jobs, job_ref(job), err)) {
        job_unref(job);
        job_unref(job);
        return NULL;
    }
    return job;
}

void job_end(struct job *job, bool good, const struct reel_error *err) {
    pthread_mutex_lock(&job->mutex);
    job->over = true;
    job->good = good;
    job->error = good ? (struct reel_error){0} : *err;
    pthread_cond_broadcast(&job->ended);
    pthread_mutex_unlock(&job->mutex);
}

void job_cancel(struct job *job) {
    atomic_store(&job->cancelled, true);
}

static _Thread_local int64_t waited_ns;

int64_t job_waited_ns(void) {
    return waited_ns;
}

bool job_wait(struct job *job, int64_t timeout_ns) {
    struct timespec deadline = clock_deadline(timeout_ns);
    int64_t began_ns = clock_ns();
    pthread_mutex_lock(&job->mutex);
    while (!job->over && condition_wait(&job->ended, &job->mutex, deadline)) {
    }
    bool over = job->over;
    pthread_mutex_unlock(&job->mutex);
    waited_ns += clock_ns() - began_ns;
    return over;
}

static bool is_time_to_leave(const struct jobs *jobs) {
    return atomic_load(&jobs->closing) && clock_ns() - atomic_load(&jobs->closed_ns) > LEAVE_NS;
}

bool job_wait_for_request(struct job *job, int64_t timeout_ns) {
    int64_t began_ns = clock_ns(), left = timeout_ns;
    bool over;
    while (!(over = job_wait(job, left < WAIT_SLICE_NS ? left : WAIT_SLICE_NS)) && left > 0 && cancel_check(NULL) &&
           (timeout_ns == INT64_MAX || !is_time_to_leave(job->jobs))) {
        left = timeout_ns - (clock_ns() - began_ns);
    }
    return over;
}

bool job_result(struct job *job, struct reel_error *err) {
    pthread_mutex_lock(&job->mutex);
    bool good = job->over && job->good;
    if (!good) {
        reel_error_pass(err, &job->error);
    }
    pthread_mutex_unlock(&job->mutex);
    return good;
}

/* ---- leaving */

bool job_hold(struct job *job) {
    pthread_mutex_lock(&job->mutex);
    if (job->over) {
        pthread_mutex_unlock(&job->mutex);
    }
    return !job->over;
}

void job_release(struct job *job) {
    pthread_mutex_unlock(&job->mutex);
}

static void jobs_fill_row(const struct jobs *jobs, const struct job_kind *kind, const struct job_spec *spec,
                          struct catalog_job *row) {
    *row = (struct catalog_job){
        .lane = spec->lane == LANE_SMALL ? kind->lane : spec->lane, .again = kind->again, .options = (char *)""};
    snprintf(row->kind, sizeof row->kind, "%s", kind->name);
    snprintf(row->key, sizeof row->key, "%s", spec->key ? spec->key : "");
    snprintf(row->collection, sizeof row->collection, "%s", spec->collection ? spec->collection : "");
    snprintf(row->subject, sizeof row->subject, "%s", spec->subject ? spec->subject : "");
    row->options = (char *)(spec->options ? spec->options : "");
    if (kind->here) {
        memcpy(row->home, jobs->home, sizeof row->home);
    }
}

bool job_row(struct job *job, const struct job_spec *spec, struct catalog_job *row, struct reel_error *err) {
    jobs_fill_row(job->jobs, job->kind, spec, row);
    row->lane = job->lane;
    row->state = JOB_RUNNING;
    row->again = true; /* that one may have read the catalog before this request writes it */
    row->attempts = 1;
    row->created_ns = job->row.created_ns;
    memcpy(row->owner, job->jobs->owner, sizeof row->owner);
    row->lease_until_ns = reel_now_ns() + JOB_LEASE_NS;
    return catalog_make_id(row->id, err);
}

void job_attach(struct job *job, const struct catalog_job *row) {
    if (!row->owner[0]) {
        job_cancel(job);
        return;
    }
    catalog_job_done(&job->row);
    job->row = *row;
    job->row.options = NULL; /* it belongs to the spec */
    atomic_store(&job->has_row, true);
}

bool job_leave(struct job *job, const struct job_spec *spec, char id[JOB_ID_TEXT], struct reel_error *err) {
    struct catalog_job row;
    bool added, good = true;
    if (!job_hold(job)) {
        return false;
    }
    if (!job->has_row) {
        good = job_row(job, spec, &row, err) && catalog_job_add(job->jobs->catalog, &row, &added, err);
        if (good && added) {
            job_attach(job, &row);
        }
    }
    if (good) {
        memcpy(id, job->has_row ? job->row.id : row.id, JOB_ID_TEXT);
    }
    job_release(job);
    return good;
}

/* ---- rows */

bool jobs_add(struct jobs *jobs, const struct job_spec *spec, char id[JOB_ID_TEXT], struct reel_error *err) {
    const struct job_kind *kind = jobs_kind(jobs, spec->kind);
    struct catalog_job row;
    bool added;
    if (!kind) {
        return reel_fail(err, REEL_ARGUMENT, "no kind of job is called %s", spec->kind);
    }
    jobs_fill_row(jobs, kind, spec, &row);
    if (!catalog_job_add(jobs->catalog, &row, &added, err)) {
        return false;
    }
    if (id) {
        memcpy(id, row.id, sizeof row.id);
    }
    if (!added && spec->alone) {
        return reel_fail(err, REEL_CONFLICT, "job %s (%s) has not ended yet", row.id, kind->name);
    }
    if (row.state == JOB_QUEUED) {
        lane_wake(jobs, (enum job_lane)row.lane);
    }
    return true;
}

void jobs_poke(struct jobs *jobs, const char *kind) {
    pthread_mutex_lock(&jobs->mutex);
    for (unsigned i = 0; jobs->schedule && jobs->schedule[i].kind; i++) {
        if (strcmp(jobs->schedule[i].kind, kind) == 0) {
            jobs->poked[i] = true;
            pthread_cond_signal(&jobs->heartbeat_wake);
        }
    }
    pthread_mutex_unlock(&jobs->mutex);
}

/* The job that runs here under this id, with a reference; NULL. */
static struct job *find_live(struct jobs *jobs, const char *id) {
    pthread_mutex_lock(&jobs->mutex);
    struct job *job = jobs->newest;
    while (job && !(atomic_load(&job->has_row) && strcmp(job->row.id, id) == 0)) {
        job = job->older;
    }
    job = job ? job_ref(job) : NULL;
    pthread_mutex_unlock(&jobs->mutex);
    return job;
}

/* Progress and outcome of now, which the row has a second later. */
static void add_progress(struct jobs *jobs, struct catalog_job *row) {
    struct job *job = row->state == JOB_RUNNING ? find_live(jobs, row->id) : NULL;
    if (job) {
        row->done = atomic_load(&job->done);
        row->total = atomic_load(&job->total);
        pthread_mutex_lock(&jobs->mutex);
        memcpy(row->outcome, job->outcome, sizeof row->outcome);
        pthread_mutex_unlock(&jobs->mutex);
        job_unref(job);
    }
}

bool jobs_find(struct jobs *jobs, const char *id, struct catalog_job *out, struct reel_error *err) {
    if (!catalog_job_get(jobs->catalog, id, out, err)) {
        return false;
    }
    add_progress(jobs, out);
    return true;
}

bool jobs_list(struct jobs *jobs, int64_t row, struct catalog_job *out, uint32_t max, uint32_t *n,
               struct reel_error *err) {
    if (!catalog_jobs_before(jobs->catalog, row, out, max, n, err)) {
        return false;
    }
    for (uint32_t i = 0; i < *n; i++) {
        add_progress(jobs, &out[i]);
    }
    return true;
}

bool jobs_cancel(struct jobs *jobs, const char *id, struct reel_error *err) {
    enum job_state state;
    if (!catalog_job_cancel(jobs->catalog, id, &state, err)) {
        return false;
    }
    struct job *job = find_live(jobs, id);
    if (job) {
        job_cancel(job);
        job_unref(job);
    }
    return true;
}

static bool row_result(const struct catalog_job *row, struct reel_error *err) {
    if (row->state == JOB_QUEUED || row->state == JOB_RUNNING) {
        return reel_fail(err, REEL_CONFLICT, "job %s has not ended yet", row->id);
    }
    return row->state == JOB_DONE || reel_error_pass(err, &row->error);
}

bool jobs_wait(struct jobs *jobs, const char *id, int64_t timeout_ns, struct reel_error *err) {
    int64_t began_ns = clock_ns();
    for (;;) {
        AUTO_STRUCT(catalog_job_done) struct catalog_job row = {0};
        int64_t left = timeout_ns - (clock_ns() - began_ns);
        struct reel_error none = {0};
        struct timespec until = clock_deadline(left < WAIT_SLICE_NS ? left : WAIT_SLICE_NS);
        pthread_mutex_lock(&jobs->mutex);
        uint64_t changes = jobs->changes;
        pthread_mutex_unlock(&jobs->mutex);
        bool there = catalog_job_get(jobs->catalog, id, &row, &none);
        bool over = !there || row.state > JOB_RUNNING || left <= 0 || jobs_stopping(jobs);
        if (over) {
            waited_ns += clock_ns() - began_ns;
            bool gone = !there && none.code == REEL_NOT_FOUND; /* an internal one that succeeded */
            return gone || (there ? row_result(&row, err) : reel_error_pass(err, &none));
        }
        pthread_mutex_lock(&jobs->mutex);
        while (jobs->changes == changes && condition_wait(&jobs->changed, &jobs->mutex, until)) {
        }
        pthread_mutex_unlock(&jobs->mutex);
    }
}

void jobs_count(struct jobs *jobs, uint64_t *queued, uint64_t *running) {
    struct reel_error ignored;
    catalog_jobs_count(jobs->catalog, queued, running, &ignored);
    pthread_mutex_lock(&jobs->mutex);
    for (struct job *job = jobs->newest; job; job = job->older) {
        bool counts = !atomic_load(&job->has_row) && job->lane != LANE_FILES; /* a file under import is part of a job */
        *queued += counts && !job->running;
        *running += counts && job->running;
    }
    pthread_mutex_unlock(&jobs->mutex);
}

bool jobs_count_kind(struct jobs *jobs, const char *kind, uint64_t *n, struct reel_error *err) {
    return catalog_jobs_count_kind(jobs->catalog, kind, jobs->home, n, err);
}

bool jobs_statistics(struct jobs *jobs, unsigned i, struct job_statistics *out) {
    if (!jobs->kinds[i].name) {
        return false;
    }
    *out = (struct job_statistics){.kind = jobs->kinds[i].name,
                                   .done = jobs->ends[i][0],
                                   .failed = jobs->ends[i][1],
                                   .cancelled = jobs->ends[i][2],
                                   .ms = jobs->ms[i]};
    return true;
}

/* ---- opening and closing */

static void open_lanes(struct jobs *jobs, unsigned n) {
    const unsigned threads[LANES] = {[LANE_SMALL] = n,
                                     [LANE_SCANS] = n,
                                     [LANE_PLANS] = 3,
                                     [LANE_IMPORTS] = 2,
                                     [LANE_WATCHES] = 2,
                                     [LANE_FILES] = n,
                                     [LANE_UPKEEP] = 2,
                                     [LANE_MAINTENANCE] = 4,
                                     [LANE_WEBHOOKS] = 16,
                                     [LANE_STATISTICS] = 1,
                                     [LANE_SOURCES] = JOBS_SOURCES_MAX};
    for (unsigned i = 0; i < LANES; i++) {
        struct lane *lane = &jobs->lanes[i];
        *lane = (struct lane){.jobs = jobs, .number = (enum job_lane)i, .threads_max = threads[i]};
        lane->owner_max = i == LANE_PLANS ? threads[i] - 1 : threads[i];
        lane->queue_end = &lane->queue;
        condition_init(&lane->wake);
    }
}

struct jobs *jobs_open(const struct jobs_options *options, struct reel_error *err) {
    enum { SCANS_MAX = 64 };
    struct jobs *jobs = calloc(1, sizeof *jobs);
    unsigned n = options->scan_threads;
    char id[JOB_ID_TEXT], host[32] = "";
    if (!jobs) {
        reel_fail_memory(err);
        return NULL;
    }
    jobs->app = options->app;
    jobs->catalog = options->catalog;
    jobs->kinds = options->kinds;
    jobs->ended = options->ended;
    pthread_mutex_init(&jobs->mutex, NULL);
    condition_init(&jobs->changed);
    condition_init(&jobs->heartbeat_wake);
    open_lanes(jobs, n < 1 ? 1 : n > SCANS_MAX ? SCANS_MAX : n);
    (void)gethostname(host, sizeof host - 1);
    snprintf(jobs->home, sizeof jobs->home, "%s", options->home ? options->home : "");
    bool alone = !jobs->home[0]; /* else other servers have leases, too */
    bool good = catalog_make_id(id, err) && catalog_jobs_free(jobs->catalog, alone, jobs->home, err);
    snprintf(jobs->owner, sizeof jobs->owner, "%.40s:%.16s", alone ? host : jobs->home, id);
    jobs->has_heartbeat = good && pthread_create(&jobs->heartbeat, NULL, heartbeat_run, jobs) == 0;
    if (!jobs->has_heartbeat) {
        if (good) {
            reel_fail(err, REEL_NO_MEMORY, "no thread can be started");
        }
        jobs_free(jobs);
        return NULL;
    }
    return jobs;
}

void jobs_start(struct jobs *jobs) {
    static const enum job_lane first[] = {LANE_SMALL, LANE_SCANS, LANE_UPKEEP, LANE_MAINTENANCE};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        pthread_mutex_lock(&jobs->mutex);
        jobs->lanes[first[i]].claims = true;
        pthread_mutex_unlock(&jobs->mutex);
        lane_wake(jobs, first[i]);
    }
}

void jobs_serve(struct jobs *jobs, const struct job_schedule *schedule) {
    pthread_mutex_lock(&jobs->mutex);
    jobs->schedule = schedule;
    for (unsigned i = 0; schedule[i].kind && i < KINDS_MAX; i++) {
        jobs->scheduled_ns[i] =
            clock_ns() + (schedule[i].first_ns < 0 ? schedule[i].every_ns(jobs->app) : schedule[i].first_ns);
    }
    for (unsigned i = 0; i < LANES; i++) {
        jobs->lanes[i].claims = true;
    }
    pthread_cond_signal(&jobs->heartbeat_wake);
    pthread_mutex_unlock(&jobs->mutex);
}

bool jobs_stopping(const struct jobs *jobs) {
    return atomic_load(&jobs->closing) || atomic_load(&jobs->stopping);
}

void jobs_close(struct jobs *jobs) {
    pthread_mutex_lock(&jobs->mutex);
    atomic_store(&jobs->closed_ns, clock_ns());
    atomic_store(&jobs->closing, true);
    pthread_cond_signal(&jobs->heartbeat_wake);
    pthread_cond_broadcast(&jobs->changed);
    pthread_mutex_unlock(&jobs->mutex);
}

bool jobs_stop(struct jobs *jobs, int64_t wait_ns) {
    struct timespec until;
    bool all = true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += wait_ns / 1000000000;
    pthread_mutex_lock(&jobs->mutex);
    atomic_store(&jobs->closing, true);
    atomic_store(&jobs->stopping, true);
    pthread_cond_signal(&jobs->heartbeat_wake);
    pthread_cond_broadcast(&jobs->changed);
    for (unsigned i = 0; i < LANES; i++) {
        pthread_cond_broadcast(&jobs->lanes[i].wake);
    }
    unsigned n = jobs->n_threads; /* none is added any more */
    pthread_mutex_unlock(&jobs->mutex);
    for (unsigned i = 0; i < n; i++) {
        all = pthread_timedjoin_np(jobs->threads[i], NULL, &until) == 0 && all;
    }
    if (jobs->has_heartbeat && all) {
        pthread_join(jobs->heartbeat, NULL);
        jobs->has_heartbeat = false;
    }
    return all;
}

void jobs_free(struct jobs *jobs) {
    if (!jobs) {
        return;
    }
    for (unsigned i = 0; i < LANES; i++) {
        pthread_cond_destroy(&jobs->lanes[i].wake);
    }
    pthread_cond_destroy(&jobs->heartbeat_wake);
    pthread_cond_destroy(&jobs->changed);
    pthread_mutex_destroy(&jobs->mutex);
    free(jobs);
}
