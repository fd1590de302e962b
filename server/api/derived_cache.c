/* See made.h. Its one rule: the table is locked only to look and to put in; making happens on a worker. */
#include "api/derived_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct making { /* what the job works on; owned by the job */
    struct made *made;
    const struct made_kind *kind;
    char *key;
    void *context;
};

struct kept {
    const struct made_kind *kind;
    char *key;
    void *thing; /* NULL while `job` makes it */
    struct job *job;
    uint64_t memory, used_at;
    struct kept *next;
};

struct made {
    pthread_mutex_t lock;
    struct jobs *jobs;
    uint64_t budget, memory, clock;
    struct kept *first;
};

struct made *made_new(struct jobs *jobs, uint64_t budget_bytes, struct reel_error *err) {
    struct made *m = calloc(1, sizeof *m);
    if (!m) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&m->lock, NULL);
    m->jobs = jobs;
    m->budget = budget_bytes;
    return m;
}

static void free_kept(struct kept *k) {
    if (k->thing) {
        k->kind->unref(k->thing);
    }
    job_unref(k->job);
    free(k->key);
    free(k);
}

void made_free(struct made *m) {
    if (!m) {
        return;
    }
    while (m->first) {
        struct kept *k = m->first;
        m->first = k->next;
        free_kept(k);
    }
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* ---- the table, under the lock */

static struct kept **find(struct made *m, const char *key) {
    struct kept **k = &m->first;
    while (*k && strcmp((*k)->key, key) != 0) {
        k = &(*k)->next;
    }
    return k;
}

static void drop(struct made *m, struct kept **at) {
    struct kept *k = *at;
    *at = k->next;
    m->memory -= k->memory;
    free_kept(k);
}

/* What was used longest ago goes until the budget holds. */
static void trim(struct made *m) {
    while (m->memory > m->budget) {
        struct kept **oldest = NULL;
        for (struct kept **k = &m->first; *k; k = &(*k)->next) {
            if ((*k)->thing && (!oldest || (*k)->used_at < (*oldest)->used_at)) {
                oldest = k;
            }
        }
        if (!oldest) {
            return;
        }
        drop(m, oldest);
    }
}

/* ---- the job */

static void free_making(void *context) {
    struct making *m = context;
    if (m->context) {
        m->kind->free_context(m->context);
    }
    free(m->key);
    free(m);
}

static bool run(void *context, const struct reel_progress *progress, struct reel_error *err) {
    struct making *m = context;
    void *thing = NULL;
    uint64_t memory = 0;
    bool good = m->kind->make(m->context, progress, &thing, &memory, err);
    m->kind->free_context(m->context); /* the job is remembered for an hour, open files need not be */
    m->context = NULL;
    if (!good) {
        return false;
    }
    pthread_mutex_lock(&m->made->lock);
    struct kept **k = find(m->made, m->key);
    if (*k && !(*k)->thing) {
        (*k)->thing = m->kind->ref(thing);
        (*k)->memory = memory;
        (*k)->used_at = ++m->made->clock;
        m->made->memory += memory;
    }
    pthread_mutex_unlock(&m->made->lock);
    m->kind->unref(thing);
    return true;
}

/* ---- asking */

struct question {
    const struct made_kind *kind;
    const char *key, *subject;
    void *context; /* NULL once a job has it */
};

/* Starts the job; under the lock. */
static struct job *start(struct made *m, struct question *q, struct reel_error *err) {
    struct making *making = calloc(1, sizeof *making);
    struct kept *k = calloc(1, sizeof *k);
    if (!q->context || !making || !k || !(making->key = strdup(q->key)) || !(k->key = strdup(q->key))) {
        free(making ? making->key : NULL);
        free(making);
        free(k);
        reel_fail_memory(err);
        return NULL;
    }
    making->made = m;
    making->kind = k->kind = q->kind;
    making->context = q->context;
    q->context = NULL;
    if (!(k->job = jobs_add(m->jobs, q->kind->job, q->subject, NULL, run, making, free_making, err))) {
        free_kept(k);
        return NULL;
    }
    k->next = m->first;
    m->first = k;
    return job_ref(k->job);
}

/* The thing, or the job that makes it, started if need be; each with a reference. */
static bool look(struct made *m, struct question *q, void **thing, struct job **job, struct reel_error *err) {
    pthread_mutex_lock(&m->lock);
    struct kept **at = find(m, q->key);
    if (*at && (*at)->thing) {
        (*at)->used_at = ++m->clock;
        *thing = q->kind->ref((*at)->thing);
    } else {
        *job = *at ? job_ref((*at)->job) : start(m, q, err);
    }
    pthread_mutex_unlock(&m->lock);
    return *thing || *job;
}

/* After the job has ended: the thing, or why there is none. */
static void *collect(struct made *m, const struct question *q, const struct job_view *view, struct reel_error *err) {
    void *thing = NULL;
    pthread_mutex_lock(&m->lock);
    struct kept **at = find(m, q->key);
    if (*at && (*at)->thing) {
        thing = q->kind->ref((*at)->thing);
        trim(m);
    } else if (*at) {
        drop(m, at);
    }
    pthread_mutex_unlock(&m->lock);
    if (!thing) {
        *err = view->error;
        if (err->code == REEL_OK) {
            reel_fail(err, REEL_CANCELLED, "it was cancelled");
        }
    }
    return thing;
}

void *made_get(struct made *m, const struct made_kind *kind, const char *key, const char *subject, void *context, int64_t wait_ns,
               char job_id[33], struct reel_error *err) {
    struct question q = {.kind = kind, .key = key, .subject = subject, .context = context};
    void *thing = NULL;
    struct job *job = NULL;
    job_id[0] = '\0';
    bool good = look(m, &q, &thing, &job, err);
    if (q.context) {
        kind->free_context(q.context);
    }
    if (!good || thing) {
        return thing;
    }
    bool ended = job_wait(job, wait_ns);
    struct job_view view;
    job_view(job, &view);
    job_unref(job);
    if (!ended) {
        memcpy(job_id, view.id, sizeof view.id);
        return NULL;
    }
    return collect(m, &q, &view, err);
}
