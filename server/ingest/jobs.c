/* Worker threads, a queue and the record of jobs. `jobs->mutex` guards the lists, `job->mutex` what a job reports, progress and cancel
 * are atomic. Lock order: jobs->mutex, then job->mutex. */
#include "ingest/jobs.h"

#include <openssl/rand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reel/time.h"
#include "wire/clock.h"
#include "wire/hex.h"

enum { ENDED_MAX = 1000, WORKERS_MAX = 64, SHORT_WORKERS = 2, IMPORT_WORKERS = 2, MAINTENANCE_WORKERS = 2 };
#define ENDED_KEPT_NS (3600 * INT64_C(1000000000))

struct job {
    atomic_uint refs;
    atomic_bool cancelled;
    atomic_uint_least64_t done, total;
    pthread_mutex_t mutex; /* guards state, ended_ns, error, outcome, quiet */
    pthread_cond_t ended;
    struct job_view view; /* the rest of it never changes */
    job_work work;
    void *context;
    void (*free_context)(void *);
    struct job *next_queued, *older, *newer;
};

/* Queues with threads of their own, so that planning a download never waits for the scans of a large import. */
struct lane {
    struct jobs *jobs;
    pthread_cond_t queued;
    struct job *queue, **queue_end;
};

enum lane_number { LANE_SCANS, LANE_PLANS, LANE_IMPORTS, LANE_MAINTENANCE, LANES };

struct jobs {
    pthread_mutex_t mutex;
    struct lane lanes[LANES];
    struct jobs_watch watch;
    struct job *newest, *oldest; /* all jobs; the list holds a reference to each */
    size_t known;
    bool closing;
    pthread_t workers[WORKERS_MAX];
    unsigned n_workers;
};

const char *job_state_name(enum job_state state) {
    static const char *const names[] = {"queued", "running", "done", "failed", "cancelled"};
    return (size_t)state < sizeof names / sizeof *names ? names[state] : "unknown";
}

struct job *job_ref(struct job *job) {
    atomic_fetch_add(&job->refs, 1);
    return job;
}

void job_unref(struct job *job) {
    if (job && atomic_fetch_sub(&job->refs, 1) == 1) {
        if (job->free_context) {
            job->free_context(job->context);
        }
        pthread_cond_destroy(&job->ended);
        pthread_mutex_destroy(&job->mutex);
        free(job);
    }
}

static bool has_ended(enum job_state state) {
    return state != JOB_QUEUED && state != JOB_RUNNING;
}

static enum job_state state_of(struct job *job) {
    pthread_mutex_lock(&job->mutex);
    enum job_state state = job->view.state;
    pthread_mutex_unlock(&job->mutex);
    return state;
}

static void end_job(const struct jobs *jobs, struct job *job, enum job_state state, const struct reel_error *error) {
    struct job_view view;
    pthread_mutex_lock(&job->mutex);
    job->view.state = state;
    job->view.ended_ns = reel_now_ns();
    if (error) {
        job->view.error = *error;
    }
    pthread_cond_broadcast(&job->ended);
    pthread_mutex_unlock(&job->mutex);
    if (jobs->watch.ended) {
        job_view(job, &view);
        jobs->watch.ended(jobs->watch.context, &view);
    }
}

static bool report(void *context, uint64_t done, uint64_t total) {
    struct job *job = context;
    atomic_store(&job->done, done);
    atomic_store(&job->total, total);
    return !atomic_load(&job->cancelled);
}

void job_report(const struct reel_progress *progress, const char *outcome) {
    struct job *job = progress->report == report ? progress->context : NULL; /* else it is not the progress of a job */
    if (job) {
        pthread_mutex_lock(&job->mutex);
        snprintf(job->view.outcome, sizeof job->view.outcome, "%s", outcome);
        pthread_mutex_unlock(&job->mutex);
    }
}

static void run(const struct jobs *jobs, struct job *job) {
    struct reel_error err = {0};
    if (atomic_load(&job->cancelled)) {
        reel_fail(&err, REEL_CANCELLED, "cancelled before it began");
        end_job(jobs, job, JOB_CANCELLED, &err);
        return;
    }
    pthread_mutex_lock(&job->mutex);
    job->view.state = JOB_RUNNING;
    pthread_mutex_unlock(&job->mutex);
    struct reel_progress progress = {.report = report, .context = job};
    bool ok = job->work(job->context, &progress, &err);
    end_job(jobs, job, ok ? JOB_DONE : err.code == REEL_CANCELLED ? JOB_CANCELLED : JOB_FAILED, ok ? NULL : &err);
}

/* The next job, with the queue's reference; NULL: the thread ends. */
static struct job *next_queued(struct lane *lane) {
    struct jobs *jobs = lane->jobs;
    pthread_mutex_lock(&jobs->mutex);
    while (!lane->queue && !jobs->closing) {
        pthread_cond_wait(&lane->queued, &jobs->mutex);
    }
    struct job *job = lane->queue;
    if (job) {
        lane->queue = job->next_queued;
        lane->queue_end = lane->queue ? lane->queue_end : &lane->queue;
    }
    pthread_mutex_unlock(&jobs->mutex);
    return job;
}

static void *worker(void *argument) {
    for (struct job *job; (job = next_queued(argument));) {
        run(((struct lane *)argument)->jobs, job);
        job_unref(job);
    }
    return NULL;
}

static enum lane_number lane_of(const char *kind) {
    bool is_maintenance = strcmp(kind, "scrub") == 0 || strcmp(kind, "backup") == 0 || strcmp(kind, "references") == 0;
    return strcmp(kind, "plan") == 0     ? LANE_PLANS
           : strcmp(kind, "import") == 0 ? LANE_IMPORTS
           : is_maintenance              ? LANE_MAINTENANCE
                                         : LANE_SCANS;
}

static void open_lane(struct lane *lane, struct jobs *jobs) {
    lane->jobs = jobs;
    lane->queue_end = &lane->queue;
    pthread_cond_init(&lane->queued, NULL);
}

struct jobs *jobs_open(unsigned threads, struct reel_error *err) {
    struct jobs *jobs = calloc(1, sizeof *jobs);
    if (!jobs) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&jobs->mutex, NULL);
    for (unsigned lane = 0; lane < LANES; lane++) {
        open_lane(&jobs->lanes[lane], jobs);
    }
    unsigned others = SHORT_WORKERS + IMPORT_WORKERS + MAINTENANCE_WORKERS;
    const unsigned workers[LANES] = {threads < 1                      ? 1
                                     : threads > WORKERS_MAX - others ? WORKERS_MAX - others
                                                                      : threads,
                                     SHORT_WORKERS, IMPORT_WORKERS, MAINTENANCE_WORKERS};
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned i = 0; i < workers[lane]; i++, jobs->n_workers++) {
            if (pthread_create(&jobs->workers[jobs->n_workers], NULL, worker, &jobs->lanes[lane]) != 0) {
                reel_fail(err, REEL_NO_MEMORY, "no thread for background work");
                jobs_close(jobs);
                return NULL;
            }
        }
    }
    return jobs;
}

/* Removes a job from the list; jobs->mutex is held. */
static void forget(struct jobs *jobs, struct job *job) {
    *(job->newer ? &job->newer->older : &jobs->newest) = job->older;
    *(job->older ? &job->older->newer : &jobs->oldest) = job->newer;
    jobs->known--;
    job_unref(job);
}

static void forget_old(struct jobs *jobs) {
    int64_t now = reel_now_ns();
    for (struct job *job = jobs->oldest, *newer; job; job = newer) {
        newer = job->newer;
        struct job_view view;
        job_view(job, &view);
        if (has_ended(view.state) && (jobs->known > ENDED_MAX || now - view.ended_ns > ENDED_KEPT_NS)) {
            forget(jobs, job);
        }
    }
}

void jobs_watch(struct jobs *jobs, const struct jobs_watch *watch) {
    jobs->watch = *watch;
}

void jobs_close(struct jobs *jobs) {
    if (!jobs) {
        return;
    }
    pthread_mutex_lock(&jobs->mutex);
    jobs->closing = true;
    for (struct job *job = jobs->newest; job; job = job->older) {
        atomic_store(&job->cancelled, true);
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        pthread_cond_broadcast(&jobs->lanes[lane].queued);
    }
    pthread_mutex_unlock(&jobs->mutex);
    for (unsigned i = 0; i < jobs->n_workers; i++) { /* they end the queued jobs, which are cancelled */
        pthread_join(jobs->workers[i], NULL);
    }
    while (jobs->newest) {
        forget(jobs, jobs->newest);
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        pthread_cond_destroy(&jobs->lanes[lane].queued);
    }
    pthread_mutex_destroy(&jobs->mutex);
    free(jobs);
}

bool jobs_closing(struct jobs *jobs) {
    pthread_mutex_lock(&jobs->mutex);
    bool closing = jobs->closing;
    pthread_mutex_unlock(&jobs->mutex);
    return closing;
}

static bool make_id(char out[33]) {
    uint8_t raw[16];
    bool ok = RAND_bytes(raw, sizeof raw) == 1;
    if (ok) {
        hex_write(raw, sizeof raw, out);
    }
    return ok;
}

static bool is_internal(const char *kind) {
    static const char *const kinds[] = {"plan", "manifests", "sweep", "references", NULL};
    const char *const *k = kinds;
    while (*k && strcmp(*k, kind) != 0) {
        k++;
    }
    return *k;
}

static struct job *make_job(const char *kind, const char *subject, struct reel_error *err) {
    struct job *job = calloc(1, sizeof *job);
    if (!job || !make_id(job->view.id)) {
        free(job);
        reel_fail_memory(err);
        return NULL;
    }
    snprintf(job->view.kind, sizeof job->view.kind, "%s", kind);
    snprintf(job->view.subject, sizeof job->view.subject, "%s", subject ? subject : "");
    job->view.created_ns = reel_now_ns();
    job->view.quiet = is_internal(kind);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&job->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&job->mutex, NULL);
    return job;
}

/* Adds the job, whose reference it takes, to the list and to its lane. */
static struct job *enqueue(struct jobs *jobs, struct job *job, struct reel_error *err) {
    atomic_init(&job->refs, 3); /* the caller's, the list's, the queue's */
    pthread_mutex_lock(&jobs->mutex);
    if (jobs->closing) {
        pthread_mutex_unlock(&jobs->mutex);
        atomic_store(&job->refs, 1);
        job_unref(job);
        reel_fail(err, REEL_CANCELLED, "the server is shutting down");
        return NULL;
    }
    forget_old(jobs);
    job->older = jobs->newest;
    *(jobs->newest ? &jobs->newest->newer : &jobs->oldest) = job;
    jobs->newest = job;
    jobs->known++;
    struct lane *lane = &jobs->lanes[lane_of(job->view.kind)];
    *lane->queue_end = job;
    lane->queue_end = &job->next_queued;
    pthread_cond_signal(&lane->queued);
    pthread_mutex_unlock(&jobs->mutex);
    return job;
}

static struct job *with_work(struct job *job, job_work work, void *context, void (*free_context)(void *)) {
    if (job) {
        job->work = work;
        job->context = context;
        job->free_context = free_context;
    } else if (free_context) {
        free_context(context);
    }
    return job;
}

struct job *jobs_add(struct jobs *jobs, const char *kind, const char *subject, const char *result, job_work work, void *context,
                     void (*free_context)(void *), struct reel_error *err) {
    struct job *job = with_work(make_job(kind, subject, err), work, context, free_context);
    if (job) {
        snprintf(job->view.result, sizeof job->view.result, "%s", result ? result : "");
    }
    return job ? enqueue(jobs, job, err) : NULL;
}

struct job *jobs_add_in(struct jobs *jobs, const struct job_options *options, job_work work, void *context, void (*free_context)(void *),
                        struct reel_error *err) {
    struct job *job = with_work(make_job(options->kind, options->subject, err), work, context, free_context);
    if (job) {
        snprintf(job->view.collection, sizeof job->view.collection, "%s", options->collection ? options->collection : "");
        job->view.quiet = options->quiet;
    }
    return job ? enqueue(jobs, job, err) : NULL;
}

void job_report_end(struct job *job) {
    pthread_mutex_lock(&job->mutex);
    job->view.quiet = false;
    pthread_mutex_unlock(&job->mutex);
}

static _Thread_local int64_t waited_ns;

int64_t job_waited_ns(void) {
    return waited_ns;
}

bool job_wait(struct job *job, int64_t timeout_ns) {
    struct timespec deadline = clock_deadline(timeout_ns > 0 ? timeout_ns : 0);
    int64_t began_ns = clock_ns();
    pthread_mutex_lock(&job->mutex);
    while (!has_ended(job->view.state) && pthread_cond_timedwait(&job->ended, &job->mutex, &deadline) == 0) {
    }
    bool ended = has_ended(job->view.state);
    pthread_mutex_unlock(&job->mutex);
    waited_ns += clock_ns() - began_ns;
    return ended;
}

void job_view(const struct job *job, struct job_view *out) {
    struct job *j = (struct job *)job; /* only its mutex changes */
    pthread_mutex_lock(&j->mutex);
    *out = j->view;
    pthread_mutex_unlock(&j->mutex);
    out->done = atomic_load(&j->done);
    out->total = atomic_load(&j->total);
}

/* jobs->mutex is held. */
static struct job *find(struct jobs *jobs, const char *id) {
    struct job *job = jobs->newest;
    while (job && strcmp(job->view.id, id) != 0) {
        job = job->older;
    }
    return job;
}

bool jobs_find(struct jobs *jobs, const char *id, struct job_view *out) {
    pthread_mutex_lock(&jobs->mutex);
    struct job *job = find(jobs, id);
    if (job) {
        job_view(job, out);
    }
    pthread_mutex_unlock(&jobs->mutex);
    return job;
}

struct job *jobs_get(struct jobs *jobs, const char *id) {
    pthread_mutex_lock(&jobs->mutex);
    struct job *job = find(jobs, id);
    job = job ? job_ref(job) : NULL;
    pthread_mutex_unlock(&jobs->mutex);
    return job;
}

bool jobs_cancel(struct jobs *jobs, const char *id) {
    pthread_mutex_lock(&jobs->mutex);
    struct job *job = find(jobs, id);
    bool running = job && !has_ended(state_of(job));
    if (running) {
        atomic_store(&job->cancelled, true);
    }
    pthread_mutex_unlock(&jobs->mutex);
    return running;
}

void jobs_count(struct jobs *jobs, unsigned *queued, unsigned *running) {
    *queued = *running = 0;
    pthread_mutex_lock(&jobs->mutex);
    for (struct job *job = jobs->newest; job; job = job->older) {
        enum job_state state = state_of(job);
        *queued += state == JOB_QUEUED;
        *running += state == JOB_RUNNING;
    }
    pthread_mutex_unlock(&jobs->mutex);
}

size_t jobs_list(struct jobs *jobs, struct job_view *out, size_t max) {
    size_t count = 0;
    pthread_mutex_lock(&jobs->mutex);
    forget_old(jobs);
    for (struct job *job = jobs->newest; job && count < max; job = job->older) {
        job_view(job, &out[count++]);
    }
    pthread_mutex_unlock(&jobs->mutex);
    return count;
}
