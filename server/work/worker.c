/* The threads of the lanes. A thread is started when there is work and none is idle. */
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app.h"
#include "base/cancel.h"
#include "base/heap.h"
#include "base/thread.h"
#include "log_queue.h"
#include "reel/time.h"
#include "work/jobs_internal.h"

static void *worker(void *argument);
static const int64_t SECOND_NS = 1000000000;
enum { PAUSE_STEPS = 12 }; /* pauses double up to an hour */
enum { WRITE_PAUSE_NS = 250000000, CLAIM_PAUSE_NS = 100000000 };

/* ---- running one */

/* Plans live in memory: at a stop one that no request waits for is of no use. */
static bool worker_goes_on(void *context) {
    const struct job *job = context;
    bool leaves = job->claimed || (job->lane == LANE_PLANS && atomic_load(&job->has_row));
    return !atomic_load(&job->cancelled) && !atomic_load(&job->jobs->stopping) &&
           !(leaves && atomic_load(&job->jobs->closing));
}

static bool worker_report(void *context, uint64_t done, uint64_t total) {
    struct job *job = context;
    atomic_store(&job->done, done);
    atomic_store(&job->total, total);
    return worker_goes_on(job);
}

void job_report(const struct reel_progress *progress, const char *outcome) {
    struct job *job = progress->report == worker_report ? progress->context : NULL; /* else it is not the progress of a
                                                                                       job */
    if (job) {
        pthread_mutex_lock(&job->jobs->mutex);
        snprintf(job->outcome, sizeof job->outcome, "%s", outcome);
        pthread_mutex_unlock(&job->jobs->mutex);
    }
}

static bool run_claimed(struct job *job, int64_t *come_back_ns, struct reel_error *err) {
    const struct reel_progress progress = {.report = worker_report, .context = job};
    const struct job_call call = {.id = job->row.id,
                                  .key = job->row.key,
                                  .options = job->row.options,
                                  .outcome = job->row.outcome,
                                  .attempts = job->row.attempts,
                                  .progress = &progress,
                                  .come_back_ns = come_back_ns};
    return job->kind->run(job->jobs->app, &call, err);
}

/* Runs what job_start() was given. *over: no request has left it, and it has ended; else it has a row. */
static bool run_started(struct job *job, bool *over, struct reel_error *err) {
    const struct reel_progress progress = {.report = worker_report, .context = job};
    bool good = !atomic_load(&job->cancelled) && !atomic_load(&job->jobs->stopping)
                    ? job->run(job->context, &progress, err)
                    : reel_fail(err, REEL_CANCELLED, "cancelled before it began");
    pthread_mutex_lock(&job->mutex);
    *over = !atomic_load(&job->has_row);
    if (*over) {
        job->over = true;
        job->good = good;
        job->error = good ? (struct reel_error){0} : *err;
        pthread_cond_broadcast(&job->ended);
    }
    pthread_mutex_unlock(&job->mutex);
    return !*over && job->attached ? job->attached(job->context, good, err) : good;
}

static enum job_state state_of(struct job *job, bool good, const struct reel_error *err, struct catalog_job *row) {
    bool stopped = err->code == REEL_CANCELLED && !atomic_load(&job->cancelled) && jobs_stopping(job->jobs);
    if (good || stopped) {
        return row->not_before_ns || stopped ? JOB_QUEUED : JOB_DONE;
    }
    if (err->code == REEL_CANCELLED) {
        return JOB_CANCELLED;
    }
    if (!reel_is_transient(err->code) || row->attempts > job->kind->retries) {
        return JOB_FAILED;
    }
    row->not_before_ns = row->ended_ns + (SECOND_NS << (row->attempts < PAUSE_STEPS ? row->attempts : PAUSE_STEPS));
    return JOB_QUEUED;
}

/* While the catalog cannot be written (its disk is full), it is tried again: nothing else could go on either. At a stop
 * it is left to the next start, which runs the job again. */
static void write_end(struct job *job, const struct catalog_job_ending *ending) {
    struct catalog_job *row = &job->row;
    const struct app *app = job->jobs->app;
    struct reel_error why = {0};
    bool written = atomic_load(&job->lost), told = false;
    while (!written && !catalog_job_end(job->jobs->catalog, row, ending, &why) && why.code != REEL_CHANGED &&
           !jobs_stopping(job->jobs)) {
        if (!told) {
            log_queue_printf(app ? app->log : NULL, "reel: the end of job %s (%s) cannot be written now: %s", row->id,
                             row->kind, why.text);
        }
        told = true;
        nanosleep(&(struct timespec){.tv_nsec = WRITE_PAUSE_NS}, NULL);
    }
}

static void end_row(struct job *job, bool good, int64_t come_back_ns, const struct reel_error *err) {
    struct catalog_job *row = &job->row;
    row->done = atomic_load(&job->done);
    row->total = atomic_load(&job->total);
    row->ended_ns = reel_now_ns();
    row->not_before_ns = good ? come_back_ns : 0;
    row->error = good ? (struct reel_error){0} : *err;
    memcpy(row->outcome, job->outcome, sizeof row->outcome);
    row->state = state_of(job, good, err, row);
    const struct catalog_job_ending ending = {
        .counts = !good && err->code != REEL_CANCELLED, .change = !job->kind->quiet, .keep = !job->kind->brief};
    write_end(job, &ending);
    if (row->state == JOB_QUEUED && row->not_before_ns <= row->ended_ns) {
        lane_wake(job->jobs, job->lane);
    }
}

static void worker_count(const struct job *job) {
    struct jobs *jobs = job->jobs;
    ptrdiff_t kind = job->kind - jobs->kinds;
    int64_t ns = job->row.ended_ns - job->row.created_ns;
    atomic_fetch_add(&jobs->ends[kind][job->row.state == JOB_DONE ? 0 : job->row.state == JOB_FAILED ? 1 : 2], 1);
    atomic_fetch_add(&jobs->ms[kind], (uint64_t)(ns > 0 ? ns / 1000000 : 0));
}

static void worker_run(struct job *job) {
    struct reel_error err = {0};
    int64_t come_back_ns = 0;
    bool over = false;
    const struct cancel cancel = {.goes_on = worker_goes_on, .context = job};
    cancel_set(&cancel);
    (void)heap_lacks(); /* of the job before */
    bool good = job->claimed ? run_claimed(job, &come_back_ns, &err) : run_started(job, &over, &err);
    cancel_set(NULL);
    struct catalog_job *row = &job->row;
    if (!over) {
        job_end(job, good, &err);
        end_row(job, good, come_back_ns, &err);
    } else {
        row->ended_ns = reel_now_ns();
        row->state = good ? JOB_DONE : err.code == REEL_CANCELLED ? JOB_CANCELLED : JOB_FAILED;
        row->error = err;
    }
    if (row->state != JOB_QUEUED && job->lane != LANE_FILES) {
        worker_count(job);
        if (job->jobs->ended) {
            job->jobs->ended(job->jobs->app, row);
        }
    }
}

/* ---- the next one; the mutex is held */

static unsigned running_of(const struct lane *lane, const char *owner) {
    unsigned n = 0;
    for (const struct job *job = lane->jobs->newest; job; job = job->older) {
        n += job->running && job->lane == lane->number && strcmp(job->owner, owner) == 0;
    }
    return n;
}

/* The oldest job of the owner with the fewest running jobs, so that an owner of many files does not delay the others.
 * NULL: those that wait are of owners who have all the threads that they may have. */
static struct job *pop_fair(struct lane *lane) {
    struct job **best = NULL;
    const char *owner = NULL; /* who was counted last */
    unsigned fewest = atomic_load(&lane->jobs->stopping) ? UINT_MAX : lane->owner_max, n = 0;
    fewest = fewest > 0 ? fewest : 1;
    for (struct job **at = &lane->queue; *at && (!best || fewest > 0); at = &(*at)->next_queued) {
        n = owner && strcmp((*at)->owner, owner) == 0 ? n : running_of(lane, (*at)->owner);
        owner = (*at)->owner;
        best = n < fewest ? at : best;
        fewest = n < fewest ? n : fewest;
    }
    if (!best) {
        return NULL;
    }
    struct job *job = *best;
    *best = job->next_queued;
    lane->queued--;
    lane->queue_end = &lane->queue;
    while (*lane->queue_end) {
        lane->queue_end = &(*lane->queue_end)->next_queued;
    }
    return job;
}

static void list_in(struct jobs *jobs, struct job *job) {
    job->older = jobs->newest;
    if (jobs->newest) {
        jobs->newest->newer = job;
    }
    jobs->newest = job;
}

static void list_out(struct jobs *jobs, struct job *job) {
    *(job->newer ? &job->newer->older : &jobs->newest) = job->older;
    if (job->older) {
        job->older->newer = job->newer;
    }
    jobs->changes++;
    pthread_cond_broadcast(&jobs->changed);
}

/* ---- claiming rows */

/* NULL: none is due, or *missed: the catalog cannot be written now. */
static struct job *claim(struct lane *lane, bool *missed) {
    struct jobs *jobs = lane->jobs;
    struct reel_error why = {0};
    struct job *job = job_new(jobs, jobs->kinds, lane->number, &why); /* first: a row without one waits for its lease */
    bool claimed =
        job && catalog_job_claim(jobs->catalog, lane->number, jobs->home, jobs->owner, JOB_LEASE_NS, &job->row, &why);
    const struct job_kind *kind = claimed ? jobs_kind(jobs, job->row.kind) : NULL;
    *missed = !claimed && why.code != REEL_NOT_FOUND;
    if (!kind) {
        job_unref(job);
        return NULL;
    }
    job->kind = kind;
    job->claimed = true;
    atomic_store(&job->has_row, true);
    memcpy(job->outcome, job->row.outcome, sizeof job->outcome); /* until it reports another */
    snprintf(job->owner, sizeof job->owner, "job:%.40s", job->row.collection);
    return job;
}

/* Wakes a thread, or starts one when too few are idle. False: the lane has no thread at all. */
static bool employ(struct lane *lane) {
    struct jobs *jobs = lane->jobs;
    if (lane->idle > 0) { /* also one that was spared for another owner */
        pthread_cond_signal(&lane->wake);
    }
    if (lane->idle <= lane->queued && lane->threads < lane->threads_max && jobs->n_threads < THREADS_MAX &&
        !atomic_load(&jobs->stopping) && pthread_create(&jobs->threads[jobs->n_threads], NULL, worker, lane) == 0) {
        jobs->n_threads++;
        lane->threads++;
    }
    return lane->threads > 0;
}

/* For something to do; after a claim that was missed only for a moment. */
static void worker_wait(struct lane *lane, bool *missed) {
    struct timespec until = clock_deadline(*missed ? CLAIM_PAUSE_NS : INT64_MAX);
    lane->idle++;
    lane->due |= !condition_wait(&lane->wake, &lane->jobs->mutex, until);
    lane->idle--;
    *missed = false;
}

/* The next job with a reference; NULL: the thread ends. */
static struct job *worker_next(struct lane *lane) {
    struct jobs *jobs = lane->jobs;
    struct job *job = NULL;
    bool missed = false;
    pthread_mutex_lock(&jobs->mutex);
    while (!job) {
        bool may_claim = lane->claims && lane->due && !atomic_load(&jobs->closing);
        if (may_claim && (!lane->queue || lane->row_next)) {
            lane->due = lane->row_next = false;
            pthread_mutex_unlock(&jobs->mutex);
            job = claim(lane, &missed);
            pthread_mutex_lock(&jobs->mutex);
            if (job) {
                lane->due = true; /* there may be more */
                list_in(jobs, job);
                (void)employ(lane);
            }
        } else if ((job = pop_fair(lane))) {
            lane->row_next = true;
        } else if (may_claim) {
            lane->row_next = true; /* what is queued must wait */
        } else if (atomic_load(&jobs->stopping)) {
            break;
        } else {
            worker_wait(lane, &missed);
        }
    }
    if (job) {
        job->running = true;
    }
    pthread_mutex_unlock(&jobs->mutex);
    return job;
}

static void *worker(void *argument) {
    struct lane *lane = argument;
    struct jobs *jobs = lane->jobs;
    for (struct job *job; (job = worker_next(lane));) {
        worker_run(job);
        pthread_mutex_lock(&jobs->mutex);
        list_out(jobs, job);
        pthread_mutex_unlock(&jobs->mutex);
        job_unref(job);
    }
    return NULL;
}

bool lane_push(struct jobs *jobs, struct job *job, struct reel_error *err) {
    struct lane *lane = &jobs->lanes[job->lane];
    pthread_mutex_lock(&jobs->mutex);
    bool good = !atomic_load(&jobs->stopping) || reel_fail(err, REEL_CANCELLED, "the server is shutting down");
    good = good && (employ(lane) || reel_fail(err, REEL_NO_MEMORY, "no thread can be started"));
    if (good) {
        list_in(jobs, job);
        *lane->queue_end = job;
        lane->queue_end = &job->next_queued;
        lane->queued++;
    }
    pthread_mutex_unlock(&jobs->mutex);
    return good;
}

void lane_wake(struct jobs *jobs, enum job_lane number) {
    struct lane *lane = &jobs->lanes[number];
    pthread_mutex_lock(&jobs->mutex);
    lane->due = true;
    if (lane->claims && !atomic_load(&jobs->closing)) {
        (void)employ(lane);
    }
    pthread_mutex_unlock(&jobs->mutex);
}
