/* See plans.h. A plan being made is found by its key too, so that many requests for one conversion plan it once. */
#include "api/plans.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/jobs.h"
#include "reel/cleanup.h"

struct making { /* what the job works on; owned by the job, and by the table's entry until it ends */
    struct plans *plans;
    char *key;
    const struct reel_writer *writer;
    struct reel_write_options options;
    char *compression;
    struct reel_recording **recordings;
    uint32_t n_recordings;
    struct reel_selection selection;
    struct reel_source_option *sources; /* NULL: none */
    char **topics, **exclude;
};

struct kept {
    char *key;
    struct reel_plan *plan; /* NULL while `job` makes it */
    struct job *job;
    uint64_t memory, used_at;
    struct kept *next;
};

struct plans {
    pthread_mutex_t lock;
    struct jobs *jobs;
    uint64_t budget, memory, clock;
    struct kept *first;
};

struct plans *plans_new(struct jobs *jobs, uint64_t budget_bytes, struct reel_error *err) {
    struct plans *p = calloc(1, sizeof *p);
    if (!p) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    p->jobs = jobs;
    p->budget = budget_bytes;
    return p;
}

static void free_kept(struct kept *k) {
    reel_plan_free(k->plan);
    if (k->job) {
        job_unref(k->job);
    }
    free(k->key);
    free(k);
}

void plans_free(struct plans *p) {
    if (!p) {
        return;
    }
    while (p->first) {
        struct kept *k = p->first;
        p->first = k->next;
        free_kept(k);
    }
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* ---- the table, under the lock */

static struct kept **find(struct plans *p, const char *key) {
    struct kept **k = &p->first;
    while (*k && strcmp((*k)->key, key) != 0) {
        k = &(*k)->next;
    }
    return k;
}

static void drop(struct plans *p, struct kept **at) {
    struct kept *k = *at;
    *at = k->next;
    p->memory -= k->memory;
    free_kept(k);
}

/* Finished plans that were used longest ago go until the budget holds. */
static void trim(struct plans *p) {
    while (p->memory > p->budget) {
        struct kept **oldest = NULL;
        for (struct kept **k = &p->first; *k; k = &(*k)->next) {
            if ((*k)->plan && (!oldest || (*k)->used_at < (*oldest)->used_at)) {
                oldest = k;
            }
        }
        if (!oldest) {
            return;
        }
        drop(p, oldest);
    }
}

/* ---- the job */

static void free_texts(char **texts, uint32_t n) {
    for (uint32_t i = 0; texts && i < n; i++) {
        free(texts[i]);
    }
    free(texts);
}

static void release_recordings(struct making *m) {
    for (uint32_t i = 0; m->recordings && i < m->n_recordings; i++) {
        reel_recording_free(m->recordings[i]);
    }
    free(TAKE(m->recordings));
    m->n_recordings = 0;
}

static void free_making(void *context) {
    struct making *m = context;
    if (!m) {
        return;
    }
    release_recordings(m);
    free_texts(m->topics, m->selection.n_topics);
    free_texts(m->exclude, m->selection.n_exclude);
    free(m->sources);
    free(m->compression);
    free(m->key);
    free(m);
}
REEL_DEFINE_AUTO(struct making, free_making);

static char **copy_texts(const char *const *texts, uint32_t n) {
    char **copy = calloc(n ? n : 1, sizeof *copy);
    for (uint32_t i = 0; copy && i < n; i++) {
        if (!(copy[i] = strdup(texts[i]))) {
            free_texts(copy, i);
            return NULL;
        }
    }
    return copy;
}

static bool copy_sources(struct making *m, const struct plan_request *q) {
    if (!q->selection.sources) {
        return true;
    }
    size_t size = q->n_recordings * sizeof *m->sources;
    m->sources = malloc(size);
    if (m->sources) {
        memcpy(m->sources, q->selection.sources, size);
    }
    m->selection.sources = m->sources;
    return m->sources != NULL;
}

static struct making *copy_request(struct plans *p, const struct plan_request *q) {
    AUTO(free_making) struct making *m = calloc(1, sizeof *m);
    if (!m) {
        return NULL;
    }
    m->plans = p;
    m->writer = q->writer;
    m->options = q->options;
    m->selection = q->selection;
    m->selection.front = NULL;
    m->topics = copy_texts(q->selection.topics, q->selection.n_topics);
    m->exclude = copy_texts(q->selection.exclude, q->selection.n_exclude);
    m->selection.topics = (const char *const *)m->topics;
    m->selection.exclude = (const char *const *)m->exclude;
    m->key = strdup(q->key);
    m->compression = strdup(q->options.compression ? q->options.compression : "");
    m->options.compression = m->compression;
    m->recordings = calloc(q->n_recordings, sizeof(struct reel_recording *));
    if (!copy_sources(m, q) || !m->topics || !m->exclude || !m->key || !m->compression || !m->recordings) {
        return NULL;
    }
    for (uint32_t i = 0; i < q->n_recordings; i++) {
        m->recordings[i] = reel_recording_ref(q->recordings[i]);
    }
    m->n_recordings = q->n_recordings;
    return TAKE(m);
}

static bool make_plan(void *context, const struct reel_progress *progress, struct reel_error *err) {
    struct making *m = context;
    AUTO(reel_stream_free) struct reel_stream *stream = reel_writer_stream(m->writer, m->recordings, m->n_recordings, &m->selection, err);
    struct reel_plan *plan = stream ? reel_plan_new(m->writer, &m->options, stream, progress, err) : NULL;
    struct plans *p = m->plans;
    pthread_mutex_lock(&p->lock);
    struct kept **k = find(p, m->key);
    if (*k && plan) {
        (*k)->plan = reel_plan_ref(plan);
        (*k)->memory = reel_plan_memory(plan);
        (*k)->used_at = ++p->clock;
        p->memory += (*k)->memory;
    }
    pthread_mutex_unlock(&p->lock);
    reel_plan_free(plan);
    reel_stream_free(TAKE(stream));
    release_recordings(m); /* the job is remembered for an hour, open files need not be */
    return plan != NULL;
}

/* ---- asking */

/* The job that makes the plan for q, started if need be, with a reference; or the plan itself. Under the lock. */
static bool look(struct plans *p, const struct plan_request *q, struct reel_plan **plan, struct job **job, struct reel_error *err) {
    struct kept **at = find(p, q->key);
    if (*at && (*at)->plan) {
        (*at)->used_at = ++p->clock;
        *plan = reel_plan_ref((*at)->plan);
        return true;
    }
    if (*at) {
        *job = job_ref((*at)->job);
        return true;
    }
    struct making *m = copy_request(p, q);
    struct kept *k = calloc(1, sizeof *k);
    if (!m || !k || !(k->key = strdup(q->key))) {
        free(k);
        free_making(m);
        return reel_fail_memory(err);
    }
    if (!(k->job = jobs_add(p->jobs, "plan", q->writer->name, NULL, make_plan, m, free_making, err))) {
        free_kept(k);
        return false;
    }
    k->next = p->first;
    p->first = k;
    *job = job_ref(k->job);
    return true;
}

/* After the job has ended: the plan, or why there is none. */
static struct reel_plan *collect(struct plans *p, const char *key, const struct job_view *view, struct reel_error *err) {
    struct reel_plan *plan = NULL;
    pthread_mutex_lock(&p->lock);
    struct kept **at = find(p, key);
    if (*at && (*at)->plan) {
        plan = reel_plan_ref((*at)->plan);
        trim(p);
    } else if (*at) {
        drop(p, at);
    }
    pthread_mutex_unlock(&p->lock);
    if (!plan) {
        *err = view->error;
        if (err->code == REEL_OK) {
            reel_fail(err, REEL_CANCELLED, "planning was cancelled");
        }
    }
    return plan;
}

struct reel_plan *plans_get(struct plans *p, const struct plan_request *q, int64_t wait_ns, char job_id[33], struct reel_error *err) {
    struct reel_plan *plan = NULL;
    struct job *job = NULL;
    job_id[0] = '\0';
    pthread_mutex_lock(&p->lock);
    bool good = look(p, q, &plan, &job, err);
    pthread_mutex_unlock(&p->lock);
    if (!good || plan) {
        return plan;
    }
    bool ended = job_wait(job, wait_ns);
    struct job_view view;
    job_view(job, &view);
    job_unref(job);
    if (!ended) {
        memcpy(job_id, view.id, sizeof view.id);
        return NULL;
    }
    return collect(p, q->key, &view, err);
}
