/* See jobs.h. */
#include "catalog/jobs.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "catalog/changes.h"
#include "reel/time.h"

const char *job_state_name(enum job_state state) {
    static const char *const names[] = {"queued", "running", "done", "failed", "cancelled"};
    return (size_t)state < sizeof names / sizeof *names ? names[state] : "unknown";
}

void catalog_job_done(struct catalog_job *job) {
    free(job->options);
    *job = (struct catalog_job){0};
}

/* The columns of job_get, job_claim and jobs_before. */
enum column {
    ROW,
    ID,
    KIND,
    KEY,
    LANE,
    COLLECTION,
    SUBJECT,
    OPTIONS,
    STATE,
    NOT_BEFORE,
    ATTEMPTS,
    LEASE_OWNER,
    LEASE_UNTIL,
    DONE,
    TOTAL,
    OUTCOME,
    CODE,
    PROBLEM,
    CREATED,
    STARTED,
    ENDED
};

static bool read_job(struct db_statement *s, struct catalog_job *out, struct reel_error *err) {
    *out = (struct catalog_job){.row = db_int(s, ROW),
                                .lane = (unsigned)db_int(s, LANE),
                                .state = (enum job_state)db_int(s, STATE),
                                .not_before_ns = db_int(s, NOT_BEFORE),
                                .attempts = (unsigned)db_int(s, ATTEMPTS),
                                .lease_until_ns = db_int(s, LEASE_UNTIL),
                                .done = db_size(s, DONE),
                                .total = db_size(s, TOTAL),
                                .created_ns = db_int(s, CREATED),
                                .started_ns = db_int(s, STARTED),
                                .ended_ns = db_int(s, ENDED),
                                .error.code = (enum reel_code)db_int(s, CODE)};
    db_hex(s, ID, out->id, sizeof out->id);
    snprintf(out->kind, sizeof out->kind, "%s", db_text(s, KIND));
    snprintf(out->key, sizeof out->key, "%s", db_text(s, KEY));
    snprintf(out->collection, sizeof out->collection, "%s", db_text(s, COLLECTION));
    snprintf(out->subject, sizeof out->subject, "%s", db_text(s, SUBJECT));
    snprintf(out->owner, sizeof out->owner, "%s", db_text(s, LEASE_OWNER));
    snprintf(out->outcome, sizeof out->outcome, "%s", db_text(s, OUTCOME));
    snprintf(out->error.text, sizeof out->error.text, "%s", db_text(s, PROBLEM));
    return (out->options = strdup(db_text(s, OPTIONS))) || reel_fail_memory(err);
}

/* ---- adding */

static void bind_new(struct db_statement *s, const struct catalog_job *job) {
    db_set_hex(s, ":id", job->id);
    db_set_text(s, ":kind", job->kind);
    db_set_text(s, ":key", job->key);
    db_set_int(s, ":lane", job->lane);
    db_set_text(s, ":collection", job->collection);
    db_set_text(s, ":subject", job->subject);
    db_set_text(s, ":options", job->options);
    db_set_int(s, ":state", job->state);
    db_set_int(s, ":again", job->again);
    db_set_int(s, ":not_before", job->not_before_ns);
    db_set_int(s, ":attempts", job->attempts);
    db_set_text(s, ":owner", job->owner);
    db_set_int(s, ":until", job->lease_until_ns);
    db_set_int(s, ":now", job->created_ns);
    db_set_text(s, ":home", job->home);
}

bool catalog_job_insert(struct db_handle *h, struct catalog_job *job, bool *added, struct reel_error *err) {
    char id[JOB_ID_TEXT];
    if (!job->id[0] && !catalog_make_id(job->id, err)) {
        return false;
    }
    job->created_ns = job->created_ns ? job->created_ns : reel_now_ns();
    AUTO(db_done) struct db_statement *s = db_statement(h, "job_insert", err);
    if (!s) {
        return false;
    }
    bind_new(s, job);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    db_hex(s, 0, id, sizeof id);
    *added = strcmp(id, job->id) == 0;
    if (!*added) {
        memcpy(job->id, id, sizeof id);
        job->owner[0] = '\0';
    }
    job->state = (enum job_state)db_int(s, 1);
    return true;
}

bool catalog_job_add(struct catalog *c, struct catalog_job *job, bool *added, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && catalog_job_insert(h, job, added, err) && db_commit(h, err);
}

/* ---- running */

bool catalog_job_claim(struct catalog *c, unsigned lane, const char *home, const char *owner, int64_t lease_ns,
                       struct catalog_job *out, struct reel_error *err) {
    *out = (struct catalog_job){0};
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    {
        AUTO(db_done) struct db_statement *s = h ? db_statement(h, "job_claim", err) : NULL;
        int64_t now = reel_now_ns();
        if (!s) {
            return false;
        }
        db_set_int(s, ":lane", lane);
        db_set_text(s, ":home", home);
        db_set_text(s, ":owner", owner);
        db_set_int(s, ":until", now + lease_ns);
        db_set_int(s, ":now", now);
        enum db_step step = db_next(s, err);
        if (step != DB_ROW) {
            return step == DB_END && reel_fail(err, REEL_NOT_FOUND, "no job is due");
        }
        if (!read_job(s, out, err)) {
            return false;
        }
    }
    if (!db_commit(h, err)) {
        catalog_job_done(out);
        return false;
    }
    return true;
}

static void bind_progress(struct db_statement *s, const struct catalog_job *job) {
    db_set_hex(s, ":id", job->id);
    db_set_text(s, ":owner", job->owner);
    db_set_size(s, ":done", job->done);
    db_set_size(s, ":total", job->total);
    db_set_text(s, ":outcome", job->outcome);
}

bool catalog_jobs_renew(struct catalog *c, const struct catalog_job *jobs, bool *lost, uint32_t n,
                        struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    for (uint32_t i = 0; h && i < n; i++) {
        AUTO(db_done) struct db_statement *s = db_statement(h, "job_renew", err);
        if (!s) {
            return false;
        }
        bind_progress(s, &jobs[i]);
        db_set_int(s, ":until", jobs[i].lease_until_ns);
        enum db_step step = db_next(s, err);
        if (step == DB_FAILED) {
            return false;
        }
        lost[i] = step == DB_END;
    }
    return h && db_commit(h, err);
}

static bool write_end(struct db_handle *h, struct catalog_job *job, bool counts, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "job_end", err);
    if (!s) {
        return false;
    }
    bind_progress(s, job);
    db_set_int(s, ":state", job->state);
    db_set_int(s, ":not_before", job->not_before_ns);
    db_set_int(s, ":counts", counts);
    db_set_int(s, ":code", job->error.code);
    db_set_text(s, ":problem", job->error.text);
    db_set_int(s, ":now", job->ended_ns);
    enum db_step step = db_next(s, err);
    if (step != DB_ROW) {
        return step == DB_END && reel_fail(err, REEL_CHANGED, "the lease of job %s was lost", job->id);
    }
    job->state = (enum job_state)db_int(s, 0);
    return true;
}

static bool jobs_forget(struct db_handle *h, const char *id, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "job_forget", err);
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", id);
    return db_run(s, err);
}

bool catalog_job_end(struct catalog *c, struct catalog_job *job, const struct catalog_job_ending *ending,
                     struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    if (!h || !write_end(h, job, ending->counts, err)) {
        return false;
    }
    const struct change_job change = {.id = job->id,
                                      .kind = job->kind,
                                      .state = job_state_name(job->state),
                                      .subject = job->subject,
                                      .collection = job->collection};
    bool ended = job->state != JOB_QUEUED;
    return (!ended || !ending->change || catalog_change_job(h, &change, err)) &&
           (ending->keep || job->state != JOB_DONE || jobs_forget(h, job->id, err)) && db_commit(h, err);
}

bool catalog_job_cancel(struct catalog *c, const char *id, enum job_state *state, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    {
        AUTO(db_done) struct db_statement *s = h ? db_statement(h, "job_cancel", err) : NULL;
        if (!s) {
            return false;
        }
        db_set_hex(s, ":id", id);
        db_set_int(s, ":now", reel_now_ns());
        db_set_int(s, ":code", REEL_CANCELLED);
        enum db_step step = db_next(s, err);
        if (step != DB_ROW) {
            return step == DB_END && reel_fail(err, REEL_NOT_FOUND, "there is no such job, or it has ended");
        }
        *state = (enum job_state)db_int(s, 0);
    }
    return db_commit(h, err);
}

/* ---- reading */

bool catalog_job_get(struct catalog *c, const char *id, struct catalog_job *out, struct reel_error *err) {
    *out = (struct catalog_job){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "job_get", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", id);
    enum db_step step = db_next(s, err);
    return step == DB_ROW ? read_job(s, out, err)
                          : step == DB_END && reel_fail(err, REEL_NOT_FOUND, "there is no such job");
}

bool catalog_job_by_key(struct catalog *c, const char *kind, const char *key, char id[JOB_ID_TEXT],
                        struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "job_by_key", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":kind", kind);
    db_set_text(s, ":key", key);
    enum db_step step = db_next(s, err);
    if (step == DB_ROW) {
        db_hex(s, 0, id, JOB_ID_TEXT);
    }
    return step == DB_ROW || (step == DB_END && reel_fail(err, REEL_NOT_FOUND, "there is no such job"));
}

bool catalog_jobs_before(struct catalog *c, int64_t row, struct catalog_job *out, uint32_t max, uint32_t *n,
                         struct reel_error *err) {
    *n = 0;
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "jobs_before", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row > 0 ? row : INT64_MAX);
    db_set_int(s, ":limit", max);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && read_job(s, &out[*n], err)) {
        ++*n;
    }
    for (; step != DB_END && *n > 0; --*n) {
        catalog_job_done(&out[*n - 1]);
    }
    return step == DB_END;
}

bool catalog_jobs_cancelled(struct catalog *c, char (*ids)[JOB_ID_TEXT], uint32_t max, uint32_t *n,
                            struct reel_error *err) {
    *n = 0;
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "jobs_cancelled", err) : NULL;
    enum db_step step = DB_FAILED;
    while (s && *n < max && (step = db_next(s, err)) == DB_ROW) {
        db_hex(s, 0, ids[(*n)++], JOB_ID_TEXT);
    }
    return step != DB_FAILED;
}

bool catalog_jobs_due(struct catalog *c, const char *home, int64_t *due, unsigned lanes, struct reel_error *err) {
    for (unsigned i = 0; i < lanes; i++) {
        due[i] = INT64_MAX;
    }
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "jobs_due", err) : NULL;
    enum db_step step = DB_FAILED;
    if (s) {
        db_set_text(s, ":home", home);
    }
    while (s && (step = db_next(s, err)) == DB_ROW) {
        if (db_int(s, 0) < lanes) {
            due[db_int(s, 0)] = db_int(s, 1);
        }
    }
    return step == DB_END;
}

bool catalog_jobs_count(struct catalog *c, uint64_t *queued, uint64_t *running, struct reel_error *err) {
    *queued = *running = 0;
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "jobs_count", err) : NULL;
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    *queued = db_size(s, 0);
    *running = db_size(s, 1);
    return true;
}

bool catalog_jobs_count_kind(struct catalog *c, const char *kind, const char *home, uint64_t *n,
                             struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "jobs_count_kind", err) : NULL;
    if (s) {
        db_set_text(s, ":kind", kind);
        db_set_text(s, ":home", home);
    }
    bool good = s && db_next(s, err) == DB_ROW;
    *n = good ? db_size(s, 0) : 0;
    return good;
}

/* ---- upkeep */

static bool any_expired(struct catalog *c, bool *any, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "jobs_expired", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":now", reel_now_ns());
    bool good = db_next(s, err) == DB_ROW;
    *any = good && db_int(s, 0);
    return good;
}

static bool run_with(struct catalog *c, const char *statement, int64_t before_ns, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    {
        AUTO(db_done) struct db_statement *s = h ? db_statement(h, statement, err) : NULL;
        if (!s) {
            return false;
        }
        db_set_int(s, ":now", reel_now_ns());
        db_set_int(s, ":before", before_ns);
        if (!db_run(s, err)) {
            return false;
        }
    }
    return db_commit(h, err);
}

bool catalog_jobs_free(struct catalog *c, bool all, const char *home, struct reel_error *err) {
    bool any = all || home[0];
    if (!any && !any_expired(c, &any, err)) {
        return false;
    }
    AUTO(db_end) struct db_handle *h = any ? db_write(c->db, err) : NULL;
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "jobs_free", err) : NULL;
    if (!s) {
        return !any;
    }
    db_set_int(s, ":all", all);
    db_set_text(s, ":home", home);
    db_set_int(s, ":now", reel_now_ns());
    if (!db_run(s, err)) {
        return false;
    }
    db_done(TAKE(s));
    return db_commit(h, err);
}

bool catalog_jobs_drop(struct catalog *c, struct reel_error *err) {
    return run_with(c, "jobs_drop", 0, err);
}

bool catalog_jobs_trim(struct catalog *c, int64_t before_ns, struct reel_error *err) {
    return run_with(c, "jobs_trim", before_ns, err);
}
