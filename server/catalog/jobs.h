/* Background jobs as rows (work/jobs.h). Each function is one transaction, unless it takes a handle. */
#ifndef SERVER_CATALOG_JOBS_H
#define SERVER_CATALOG_JOBS_H

#include "catalog/catalog.h"
#include "catalog/db.h"

enum { JOB_ID_TEXT = 33, JOB_OUTCOME_MAX = 512 };
enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED }; /* as in the table */
const char *job_state_name(enum job_state state);

enum { JOB_HOME_TEXT = 33 };
struct catalog_job {
    int64_t row;
    char id[JOB_ID_TEXT];
    char kind[24], key[128];
    char collection[256], subject[256];
    char *options; /* malloc'd; JSON, "" = none */
    unsigned lane, attempts;
    enum job_state state;
    bool again;     /* when it is added while another of its kind and key runs, that one runs once more */
    char owner[64]; /* of the lease while it runs */
    int64_t not_before_ns, lease_until_ns, created_ns, started_ns, ended_ns;
    uint64_t done, total;
    char outcome[JOB_OUTCOME_MAX]; /* a JSON object; "" = none */
    struct reel_error error;
    char home[JOB_HOME_TEXT]; /* the server that can run it; "" = any */
};
void catalog_job_done(struct catalog_job *job); /* frees; fine on a zeroed one */

/* Inserts it in the state it has, with id and created_ns where they are not set. If one of this kind and key has not
 * ended, nothing is inserted: job->id and job->state become those of that one, and job->owner becomes "". *added: it
 * was inserted. */
bool catalog_job_insert(struct db_handle *h, struct catalog_job *job, bool *added, struct reel_error *err);
bool catalog_job_add(struct catalog *c, struct catalog_job *job, bool *added, struct reel_error *err);

/* The oldest of the lane that is due at this home, leased to `owner`; REEL_NOT_FOUND. */
bool catalog_job_claim(struct catalog *c, unsigned lane, const char *home, const char *owner, int64_t lease_ns,
                       struct catalog_job *out, struct reel_error *err);
/* Writes progress and outcome and renews the leases. lost[i]: the job is not leased to job->owner any more. */
bool catalog_jobs_renew(struct catalog *c, const struct catalog_job *jobs, bool *lost, uint32_t n,
                        struct reel_error *err);
/* Writes the end of job->state, or with JOB_QUEUED puts it back until job->not_before_ns. `counts`: this attempt
 * counts. `change`: a row of the change feed is written too. job->state becomes JOB_QUEUED when it was added again
 * meanwhile. `keep`: false deletes it when done.
 */
struct catalog_job_ending {
    bool counts, change, keep;
};
bool catalog_job_end(struct catalog *c, struct catalog_job *job, const struct catalog_job_ending *ending,
                     struct reel_error *err);
/* *state is that after the call; REEL_NOT_FOUND when none has this id or it has ended. */
bool catalog_job_cancel(struct catalog *c, const char *id, enum job_state *state, struct reel_error *err);

/* REEL_NOT_FOUND */
bool catalog_job_get(struct catalog *c, const char *id, struct catalog_job *out, struct reel_error *err);
/* The one of this kind and key that has not ended: its id. REEL_NOT_FOUND. */
bool catalog_job_by_key(struct catalog *c, const char *kind, const char *key, char id[JOB_ID_TEXT],
                        struct reel_error *err);
/* The newest before `row` (0: all), at most `max`; *n of them. */
bool catalog_jobs_before(struct catalog *c, int64_t row, struct catalog_job *out, uint32_t max, uint32_t *n,
                         struct reel_error *err);
/* Ids of running jobs that are to be cancelled, at most `max`. */
bool catalog_jobs_cancelled(struct catalog *c, char (*ids)[JOB_ID_TEXT], uint32_t max, uint32_t *n,
                            struct reel_error *err);
/* due[lane]: when the first queued job of each lane is due; INT64_MAX: none is queued. */
bool catalog_jobs_due(struct catalog *c, const char *home, int64_t *due, unsigned lanes, struct reel_error *err);
/* Queues again what dead processes have left; `all`: no other process uses the catalog. */
bool catalog_jobs_free(struct catalog *c, bool all, const char *home, struct reel_error *err);
bool catalog_jobs_drop(struct catalog *c, struct reel_error *err); /* of a copy: those that have not ended */
bool catalog_jobs_trim(struct catalog *c, int64_t before_ns, struct reel_error *err);
bool catalog_jobs_count(struct catalog *c, uint64_t *queued, uint64_t *running, struct reel_error *err);
/* Those of a kind that have not ended, and that the server `home` may run. */
bool catalog_jobs_count_kind(struct catalog *c, const char *kind, const char *home, uint64_t *n,
                             struct reel_error *err);

#endif
