/* The heartbeat: one thread that once a second renews the leases of what runs here, writes progress, looks for rows
 * that have become due and follows the schedule, and at once what was poked. */
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "catalog/batches.h"
#include "reel/time.h"
#include "work/jobs_internal.h"

enum { RENEW_MAX = 64, CANCELLED_MAX = 64 };
static const int64_t SECOND_NS = 1000000000, POKE_PAUSE_NS = 20000000, RENEW_NS = 10 * SECOND_NS,
                     TRIM_NS = 600 * SECOND_NS, KEPT_NS = 7 * 86400 * SECOND_NS;

/* ---- leases */

/* Jobs of which something is to be written; each with a reference. */
static unsigned heartbeat_collect(struct jobs *jobs, struct job *out[RENEW_MAX], struct catalog_job rows[RENEW_MAX]) {
    unsigned n = 0;
    int64_t now = reel_now_ns();
    pthread_mutex_lock(&jobs->mutex);
    for (struct job *job = jobs->newest; job && n < RENEW_MAX; job = job->older) {
        uint64_t done = atomic_load(&job->done);
        if (atomic_load(&job->has_row) && (done != job->written_done || now - job->renewed_ns > RENEW_NS)) {
            rows[n] = (struct catalog_job){
                .lease_until_ns = now + JOB_LEASE_NS, .done = done, .total = atomic_load(&job->total)};
            memcpy(rows[n].id, job->row.id, sizeof rows[n].id);
            memcpy(rows[n].owner, jobs->owner, sizeof rows[n].owner);
            memcpy(rows[n].outcome, job->outcome, sizeof rows[n].outcome);
            job->written_done = done;
            job->renewed_ns = now;
            out[n++] = job_ref(job);
        }
    }
    pthread_mutex_unlock(&jobs->mutex);
    return n;
}

static void renew(struct jobs *jobs) {
    struct job *running[RENEW_MAX];
    struct catalog_job rows[RENEW_MAX];
    bool lost[RENEW_MAX] = {0};
    struct reel_error ignored;
    unsigned n = heartbeat_collect(jobs, running, rows);
    bool written = n > 0 && catalog_jobs_renew(jobs->catalog, rows, lost, n, &ignored);
    for (unsigned i = 0; i < n; i++) {
        if (written && lost[i]) { /* or it has just ended */
            atomic_store(&running[i]->lost, true);
            job_cancel(running[i]);
        }
        job_unref(running[i]);
    }
}

/* Cancelled by another process. */
static void cancel(struct jobs *jobs) {
    char ids[CANCELLED_MAX][JOB_ID_TEXT];
    uint32_t n = 0;
    struct reel_error ignored;
    if (!catalog_jobs_cancelled(jobs->catalog, ids, CANCELLED_MAX, &n, &ignored)) {
        return;
    }
    pthread_mutex_lock(&jobs->mutex);
    for (struct job *job = n > 0 ? jobs->newest : NULL; job; job = job->older) {
        for (uint32_t i = 0; i < n; i++) {
            if (atomic_load(&job->has_row) && strcmp(job->row.id, ids[i]) == 0) {
                job_cancel(job);
            }
        }
    }
    pthread_mutex_unlock(&jobs->mutex);
}

/* ---- rows that are due, and the schedule */

/* Wakes the lanes that have something to claim; returns when the next row is due. */
static int64_t wake_lanes(struct jobs *jobs) {
    int64_t due[LANES], now = reel_now_ns(), first = INT64_MAX;
    struct reel_error ignored;
    if (!catalog_jobs_free(jobs->catalog, false, "", &ignored) ||
        !catalog_jobs_due(jobs->catalog, jobs->home, due, LANES, &ignored)) {
        return INT64_MAX;
    }
    for (unsigned i = 0; i < LANES; i++) {
        if (due[i] <= now) {
            lane_wake(jobs, (enum job_lane)i);
        } else if (due[i] < first) {
            first = due[i];
        }
    }
    return first;
}

/* Whether the entry is due, which it is not any more from now on. */
static bool take_due(struct jobs *jobs, unsigned i) {
    pthread_mutex_lock(&jobs->mutex);
    bool due = jobs->poked[i] || clock_ns() >= jobs->scheduled_ns[i];
    jobs->poked[i] = false;
    pthread_mutex_unlock(&jobs->mutex);
    return due;
}

static void follow_schedule(struct jobs *jobs) {
    struct reel_error ignored;
    pthread_mutex_lock(&jobs->mutex);
    const struct job_schedule *schedule = jobs->schedule;
    pthread_mutex_unlock(&jobs->mutex);
    for (unsigned i = 0; schedule && schedule[i].kind; i++) {
        if (take_due(jobs, i)) {
            jobs->scheduled_ns[i] = clock_ns() + schedule[i].every_ns(jobs->app);
            if ((!schedule[i].due || schedule[i].due(jobs->app)) &&
                !jobs_add(jobs, &(struct job_spec){.kind = schedule[i].kind}, NULL, &ignored)) {
                jobs->scheduled_ns[i] = clock_ns() + SECOND_NS; /* the catalog cannot be written now */
            }
        }
    }
}

static bool is_poked(const struct jobs *jobs) {
    bool any = false;
    for (unsigned i = 0; i < KINDS_MAX; i++) {
        any = any || jobs->poked[i];
    }
    return any;
}

/* Sleeps until `due_ns`, or until a kind is poked, but at least POKE_PAUSE_NS, so that many pokes make one job. */
static void sleep_until(struct jobs *jobs, int64_t due_ns) {
    struct timespec until = clock_deadline(due_ns - clock_ns()), pause = clock_deadline(POKE_PAUSE_NS);
    pthread_mutex_lock(&jobs->mutex);
    while (!jobs_stopping(jobs) && !is_poked(jobs) && condition_wait(&jobs->heartbeat_wake, &jobs->mutex, until)) {
    }
    while (!jobs_stopping(jobs) && condition_wait(&jobs->heartbeat_wake, &jobs->mutex, pause)) {
    }
    pthread_mutex_unlock(&jobs->mutex);
}

void *heartbeat_run(void *argument) {
    struct jobs *jobs = argument;
    int64_t heartbeat_ns = 0, trim_ns = clock_ns() + TRIM_NS;
    struct reel_error ignored;
    while (!jobs_stopping(jobs)) {
        follow_schedule(jobs);
        if (clock_ns() >= heartbeat_ns) {
            renew(jobs);
            cancel(jobs);
            int64_t next_ns = wake_lanes(jobs), now = reel_now_ns(), wait = next_ns - now;
            heartbeat_ns = clock_ns() + (next_ns != INT64_MAX && wait < SECOND_NS ? (wait > 0 ? wait : 0) : SECOND_NS);
        }
        if (clock_ns() >= trim_ns) {
            trim_ns = clock_ns() + TRIM_NS;
            catalog_jobs_trim(jobs->catalog, reel_now_ns() - KEPT_NS, &ignored);
            catalog_batch_trim(jobs->catalog, reel_now_ns() - KEPT_NS, &ignored);
        }
        sleep_until(jobs, heartbeat_ns);
    }
    return NULL;
}
