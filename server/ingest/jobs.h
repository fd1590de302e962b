/* Small background work: a bounded number of threads, a queue, and a record of each job for /jobs/{id}. */
#ifndef SERVER_INGEST_JOBS_H
#define SERVER_INGEST_JOBS_H

#include "reel/scan.h"

struct jobs;
struct job;
struct job_view;

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED };

/* Does the work; progress is wired to the job (and to its cancel). Runs on a worker. */
typedef bool (*job_work)(void *context, const struct reel_progress *progress, struct reel_error *err);

/* `threads` for scans and other jobs. Jobs of kind "plan", of kind "import" (which wait for scans), and of kinds "scrub" and "backup"
 * (which run long) have two threads each. */
struct jobs *jobs_open(unsigned threads, struct reel_error *err);
void jobs_close(struct jobs *jobs); /* cancels what is queued and running, waits */
/* Called when a job has ended, on its worker. Set it before the first job is added. */
struct jobs_watch {
    void (*ended)(void *context, const struct job_view *view);
    void *context;
};
void jobs_watch(struct jobs *jobs, const struct jobs_watch *watch);
bool jobs_closing(struct jobs *jobs); /* for a cancelled job: whether it was because the server stops */

/* Queues work; `free_context` runs when the job is freed, also if it never started. The caller holds a reference: job_unref(). `subject`
 * (an id or path, to show to users) and `result` (link shown when done) are copied; result may be NULL. */
struct job *jobs_add(struct jobs *jobs, const char *kind, const char *subject, const char *result, job_work work, void *context,
                     void (*free_context)(void *), struct reel_error *err);
/* The same for work of one collection: callers limited to other collections do not see it. */
struct job_options {
    const char *kind, *subject, *collection;
    bool quiet; /* its end is not in the change feed unless job_report_end() was called */
};
struct job *jobs_add_in(struct jobs *jobs, const struct job_options *options, job_work work, void *context, void (*free_context)(void *),
                        struct reel_error *err);
void job_report_end(struct job *job);               /* a client has its id: its end is reported. Only while the job cannot end */
bool job_wait(struct job *job, int64_t timeout_ns); /* true when it has ended */
int64_t job_waited_ns(void);                        /* total time this thread has spent in job_wait() */
struct job *job_ref(struct job *job);
void job_unref(struct job *job); /* NULL is fine */

struct job_view {
    char id[33];
    char kind[16];
    char subject[256], result[256];
    char collection[256]; /* "": a server-wide job */
    bool quiet;           /* internal work, or its id was never returned: its end is not reported */
    enum job_state state;
    uint64_t done, total;
    int64_t created_ns, ended_ns;
    struct reel_error error;
    char outcome[256]; /* a JSON object; "" = none */
};
/* The outcome so far, set by the work itself: a JSON object, copied. */
void job_report(const struct reel_progress *progress, const char *outcome);
void job_view(const struct job *job, struct job_view *out);
bool jobs_find(struct jobs *jobs, const char *id, struct job_view *out);
struct job *jobs_get(struct jobs *jobs, const char *id); /* a reference; NULL */
bool jobs_cancel(struct jobs *jobs, const char *id);
/* The newest `max` (ended ones are kept for an hour, at most 1000). Returns how many. */
void jobs_count(struct jobs *jobs, unsigned *queued, unsigned *running);
size_t jobs_list(struct jobs *jobs, struct job_view *out, size_t max);
const char *job_state_name(enum job_state state);

#endif
