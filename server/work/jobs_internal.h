/* Shared by jobs.c (what a job is), worker.c (threads) and heartbeat.c (heartbeat and schedule). */
#ifndef SERVER_WORK_JOBS_INTERNAL_H
#define SERVER_WORK_JOBS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "http/http.h"
#include "work/jobs.h"

enum { KINDS_MAX = 32, THREADS_MAX = 256 };

struct job {
    struct jobs *jobs;
    atomic_uint refs;
    atomic_bool cancelled, lost; /* lost: the lease; its end is not written */
    atomic_uint_least64_t done, total;
    const struct job_kind *kind;
    enum job_lane lane;
    char owner[HTTP_PRINCIPAL]; /* who it is counted for */
    bool claimed; /* from a row; else started by job_start() */
    bool running; /* guarded by jobs->mutex, as are the lists */
    struct job *next_queued, *older, *newer;
    char outcome[JOB_OUTCOME_MAX]; /* guarded by jobs->mutex */
    pthread_mutex_t mutex;         /* guards the end: over, good, error */
    pthread_cond_t ended;
    bool over, good;
    struct reel_error error;
    atomic_bool has_row;    /* once true, the row's id never changes */
    struct catalog_job row; /* of the job's thread; without a row: kind, subject and created_ns */
    uint64_t written_done;  /* progress that is in the row; of the heartbeat alone, as is renewed_ns */
    int64_t renewed_ns;
    bool (*run)(void *context, const struct reel_progress *progress, struct reel_error *err);
    bool (*attached)(void *context, bool good, struct reel_error *err);
    void (*free)(void *context);
    void *context;
};

struct lane {
    struct jobs *jobs;
    enum job_lane number;
    pthread_cond_t wake;
    struct job *queue, **queue_end; /* started by job_start() */
    unsigned queued, threads, idle, threads_max;
    unsigned owner_max; /* threads that run work of one owner: the others are for everybody else */
    bool claims;        /* rows are claimed */
    bool due;           /* there may be a row to claim */
    bool row_next;
};

struct jobs {
    struct app *app;
    struct catalog *catalog;
    const struct job_kind *kinds;
    void (*ended)(struct app *app, const struct catalog_job *job);
    char owner[64];                                     /* of leases: this process */
    char home[JOB_HOME_TEXT];                           /* "": the only server */
    _Atomic uint64_t ends[KINDS_MAX][3], ms[KINDS_MAX]; /* done, failed, cancelled */
    atomic_bool closing, stopping;
    atomic_int_least64_t closed_ns; /* when `closing` was set */
    pthread_mutex_t mutex;          /* guards what follows */
    pthread_cond_t changed;         /* a job has ended: changes was counted up */
    uint64_t changes;
    struct lane lanes[LANES];
    struct job *newest; /* all that are queued in memory or run */
    pthread_t threads[THREADS_MAX];
    unsigned n_threads;
    bool poked[KINDS_MAX]; /* by entry of the schedule */
    pthread_cond_t heartbeat_wake;
    pthread_t heartbeat;
    bool has_heartbeat;
    const struct job_schedule *schedule;
    int64_t scheduled_ns[KINDS_MAX]; /* when each entry of the schedule is due next, on the clock of clock_ns() */
};

static const int64_t JOB_LEASE_NS = INT64_C(30) * 1000000000;

struct job *job_new(struct jobs *jobs, const struct job_kind *kind, enum job_lane lane, struct reel_error *err);
void job_end(struct job *job, bool good, const struct reel_error *err);
/* Puts it into its lane's queue, whose reference it takes, or runs it on the calling worker: worker.c. */
bool lane_push(struct jobs *jobs, struct job *job, struct reel_error *err);
void lane_wake(struct jobs *jobs, enum job_lane lane); /* there is a row to claim */
void *heartbeat_run(void *jobs);

#endif
