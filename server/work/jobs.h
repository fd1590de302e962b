/* Background work. A job is a row of the catalog's table `jobs` (catalog/jobs.h) and one function in the table of
 * kinds. A thread of the kind's lane claims the row, runs the function and writes the end; a heartbeat renews the
 * leases of what runs. Work that a request waits for is started without a row and gets one only if it outlives the
 * request (job_attach()).
 *
 * Threads: every function may be called from any thread. jobs->mutex is never held during a query, as commits wait for
 * it (jobs_poke()); the mutex of a job is, between job_hold() and job_release(). */
#ifndef SERVER_WORK_JOBS_H
#define SERVER_WORK_JOBS_H

#include "catalog/jobs.h"
#include "index/scan.h"

struct app;
struct jobs;
struct job;

/* Each has threads of its own, so that what waits in one never delays another. */
enum job_lane {
    LANE_SMALL, /* scans of small files */
    LANE_SCANS,
    LANE_PLANS,
    LANE_IMPORTS, /* they wait for LANE_FILES */
    LANE_WATCHES, /* the same, of watched folders */
    LANE_FILES,   /* files under import; they wait for scans */
    LANE_UPKEEP,  /* short */
    LANE_MAINTENANCE,
    LANE_WEBHOOKS,
    LANE_STATISTICS, /* reads whole recordings, and yields to everything else */
    LANE_SOURCES,    /* connections that are recorded, each as long as it lasts */
    LANES
};

enum { JOBS_SOURCES_MAX = 16 }; /* threads of LANE_SOURCES */

struct job_call {
    const char *id, *key, *options;
    const char *outcome; /* that an earlier run of it reported; "": none */
    unsigned attempts;   /* 1 at first */
    const struct reel_progress *progress;
    int64_t *come_back_ns; /* set it to be run again at this time, as a new first attempt */
};
struct job_kind {
    const char *name;
    enum job_lane lane;
    unsigned retries;   /* after errors that may pass, with growing pauses */
    bool again;         /* added while it runs it is run once more: there is new work for it */
    bool quiet;         /* its end is not in the change feed */
    bool brief;         /* it leaves no row when it succeeds */
    bool here;          /* only the server that added it can run it: it is about its files */
    const char *result; /* a link shown when it is done; NULL: none */
    bool (*run)(struct app *app, const struct job_call *call, struct reel_error *err);
};
/* Adds a job of this kind, with an empty key, from time to time and when it is poked. */
struct job_schedule {
    const char *kind;
    int64_t first_ns; /* after jobs_serve(); -1: every_ns() */
    int64_t (*every_ns)(struct app *app);
    bool (*due)(struct app *app); /* false: not now; it may add others itself. NULL: always */
};

struct jobs_options {
    struct app *app;
    struct catalog *catalog;
    unsigned scan_threads;
    const struct job_kind *kinds;                                  /* name NULL at the end; must outlive the jobs */
    void (*ended)(struct app *app, const struct catalog_job *job); /* on the job's thread; NULL: none */
    const char *home; /* of this server, among several of this catalog; "": it is alone */
};
/* Nothing is claimed yet: a job may use all of the app, which is not complete. */
struct jobs *jobs_open(const struct jobs_options *options, struct reel_error *err);
/* From now on scans and upkeep are claimed, as a command needs them. */
void jobs_start(struct jobs *jobs);
/* From now on all jobs, and the schedule is followed (kind NULL at its end; it must outlive the jobs). */
void jobs_serve(struct jobs *jobs, const struct job_schedule *schedule);
/* No job is claimed any more; those that were claimed are asked to stop, and are queued again. What requests wait for
 * goes on. */
void jobs_close(struct jobs *jobs);
/* Everything stops. Waits at most `wait_ns`; false: some thread has not ended, and nothing that it uses may be freed.
 */
bool jobs_stop(struct jobs *jobs, int64_t wait_ns);
bool jobs_stopping(const struct jobs *jobs); /* after jobs_close() or jobs_stop() */
void jobs_free(struct jobs *jobs);           /* after jobs_stop(); NULL is fine */

/* ---- jobs with a row */

struct job_spec {
    const char *kind, *key, *collection, *subject, *options; /* NULL: "" */
    enum job_lane lane;                                      /* LANE_SMALL: that of the kind */
    bool alone; /* REEL_CONFLICT when one of this kind and key has not ended */
};
/* Adds it, or finds the one that has not ended. */
bool jobs_add(struct jobs *jobs, const struct job_spec *spec, char id[JOB_ID_TEXT], struct reel_error *err);
/* The schedule's entry of this kind is due at once, on another thread. For what happens often and has a list of its own
 * of what is to be done; without a schedule it does nothing. */
void jobs_poke(struct jobs *jobs, const char *kind);

bool jobs_find(struct jobs *jobs, const char *id, struct catalog_job *out, struct reel_error *err); /* REEL_NOT_FOUND */
/* The newest before `row` (0: all), with the progress of now. */
bool jobs_list(struct jobs *jobs, int64_t row, struct catalog_job *out, uint32_t max, uint32_t *n,
               struct reel_error *err);
bool jobs_cancel(struct jobs *jobs, const char *id, struct reel_error *err); /* REEL_NOT_FOUND: it has ended */
/* Waits until it has ended. REEL_CONFLICT: not yet. Otherwise true if it succeeded, or its error. */
bool jobs_wait(struct jobs *jobs, const char *id, int64_t timeout_ns, struct reel_error *err);
const struct job_kind *jobs_kind(const struct jobs *jobs, const char *name); /* NULL: unknown */
void jobs_count(struct jobs *jobs, uint64_t *queued, uint64_t *running);
/* Jobs of this kind that this server runs, or is to run. */
bool jobs_count_kind(struct jobs *jobs, const char *kind, uint64_t *n, struct reel_error *err);
struct job_statistics { /* of one kind, since the start of the process */
    const char *kind;
    uint64_t done, failed, cancelled, ms; /* ms: from being added to the end, summed */
};
bool jobs_statistics(struct jobs *jobs, unsigned i, struct job_statistics *out); /* the i-th kind; false: there are no
                                                                                    more */

/* The outcome so far, a JSON object, copied; set by the job itself. */
void job_report(const struct reel_progress *progress, const char *outcome);

/* ---- work of this process, which a request waits for */

struct job_work {
    const char *kind; /* of the row, if it gets one */
    enum job_lane lane;
    const char *owner;   /* lanes are fair between owners; copied; NULL: "" */
    const char *subject; /* for the log; copied; NULL: "" */
    bool (*run)(void *context, const struct reel_progress *progress, struct reel_error *err);
    /* After run(), if the job was attached to a row by then: does what the request would have done. NULL: nothing. */
    bool (*attached)(void *context, bool good, struct reel_error *err);
    void (*free)(void *context); /* also if it never ran; NULL: nothing */
    void *context;
};
struct job *job_start(struct jobs *jobs, const struct job_work *work, struct reel_error *err); /* a reference for the
                                                                                                  caller */
bool job_wait(struct job *job, int64_t timeout_ns); /* true when it has ended */
/* As job_wait(). A second after jobs_close() a request that does not wait for ever (INT64_MAX) is to leave, and so is
 * whoever waits in work that is cancelled. */
bool job_wait_for_request(struct job *job, int64_t timeout_ns);
bool job_result(struct job *job, struct reel_error *err); /* after its end: whether it succeeded, or its error */
int64_t job_waited_ns(void); /* how long this thread has spent in job_wait() and jobs_wait() in total */
struct job *job_ref(struct job *job);
void job_unref(struct job *job); /* NULL is fine */
void job_cancel(struct job *job);

/* The request leaves: between these two calls the job cannot end, and the caller inserts `row`, which job_row() has
 * filled. */
bool job_hold(struct job *job); /* false: it has just ended */
bool job_row(struct job *job, const struct job_spec *spec, struct catalog_job *row, struct reel_error *err);
void job_attach(struct job *job, const struct catalog_job *row); /* row was inserted; the job is cancelled when another
                                                                    has its key */
void job_release(struct job *job);
/* All of this for a job that has no row of its own to insert. id: of the row, the first one's when it is attached
 * already. False with REEL_OK: it has ended. */
bool job_leave(struct job *job, const struct job_spec *spec, char id[JOB_ID_TEXT], struct reel_error *err);

#endif
