/* See import.h: the state of an import. Its files are imported by workers; adding another waits while many are under
 * way, so memory and work stay bounded however many files there are. */
#include "base/thread.h"
#include "imports/import_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/disk.h"
#include "work/jobs.h"

enum { UNDER_WAY_MAX = 256 }; /* of one import */
static const int64_t POLL_NS = 200000000;

const char *import_outcome_name(enum import_outcome outcome) {
    static const char *const names[] = {"would_take", "created",      "exists", "scanning",
                                        "unchanged",  "no_recording", "waits",  "failed"};
    return names[outcome];
}

const char *const import_modes[] = {"copy", "move", "reference", NULL};

const char *import_mode_name(enum import_mode mode) {
    return import_modes[mode];
}
enum import_mode import_mode_named(const char *name, bool *known) {
    unsigned i = 0;
    while (import_modes[i] && strcmp(import_modes[i], name) != 0) {
        i++;
    }
    *known = import_modes[i];
    return *known ? (enum import_mode)i : IMPORT_COPY;
}

/* ---- units */

struct import_unit *import_unit_new(const char *folder, const char *name, uint32_t n) {
    struct import_unit *u = calloc(1, sizeof *u);
    if (u) {
        u->folder = strdup(folder);
        u->name = strdup(name);
        u->files = calloc(n, sizeof *u->files);
    }
    if (!u || !u->folder || !u->name || !u->files) {
        import_unit_free(u);
        return NULL;
    }
    return u;
}

void import_unit_free(struct import_unit *u) {
    if (!u) {
        return;
    }
    for (uint32_t i = 0; i < u->n; i++) {
        if (u->locks) {
            lock_release(&u->locks[i]);
        }
        free(u->files[i].name);
    }
    free(u->locks);
    free(u->object);
    free(u->files);
    free(u->folder);
    free(u->name);
    free(u);
}

bool import_unit_add(struct import_unit *u, const struct folder_file *file) {
    struct folder_file *f = &u->files[u->n];
    *f = *file;
    f->name = strdup(file->name);
    u->n += f->name != NULL;
    u->size += file->size;
    return f->name;
}

/* ---- an import */

void run_begin(struct import_run *run) {
    pthread_mutex_init(&run->mutex, NULL);
    condition_init(&run->over);
}
void run_end(struct import_run *run) {
    pthread_cond_destroy(&run->over);
    pthread_mutex_destroy(&run->mutex);
}

/* The mutex is held. */
static void imports_import_report(struct import_run *run) {
    const struct reel_progress *p = run->progress;
    if (p && p->report && !p->report(p->context, run->bytes_done, run->bytes_total)) {
        atomic_store(&run->cancelled, true);
    }
}

bool run_goes_on(struct import_run *run) {
    pthread_mutex_lock(&run->mutex);
    imports_import_report(run);
    pthread_mutex_unlock(&run->mutex);
    return !atomic_load(&run->cancelled) && !jobs_stopping(run->app->jobs);
}

bool run_check(struct import_run *run, struct reel_error *err) {
    return (run_goes_on(run) && cancel_check(NULL)) || reel_fail(err, REEL_CANCELLED, "cancelled");
}

void run_report(struct import_run *run, const struct import_report *report) {
    const struct import_options *t = run->options;
    pthread_mutex_lock(&run->mutex);
    run->out->outcomes[report->outcome]++;
    atomic_fetch_add(&run->app->imports.outcomes[report->outcome], 1);
    if (t->on_report) {
        t->on_report(t->context, report);
    }
    pthread_mutex_unlock(&run->mutex);
}

static void unit_over(struct import_unit *unit) {
    struct import_run *run = unit->run;
    uint64_t size = unit->size;
    import_unit_free(unit);
    atomic_fetch_sub(&run->app->imports.under_way, 1);
    pthread_mutex_lock(&run->mutex);
    run->under_way--;
    run->bytes_done += size;
    imports_import_report(run);
    pthread_cond_broadcast(&run->over);
    pthread_mutex_unlock(&run->mutex); /* a waiting thread may free the run now */
}

static void wait_a_moment(struct import_run *run) {
    struct timespec until = clock_deadline(POLL_NS);
    condition_wait(&run->over, &run->mutex, until);
    imports_import_report(run); /* notices a cancel while no unit ends */
}

/* ---- units under way */

static bool lock_files(struct import_unit *u, struct reel_error *err) {
    char path[PATH_MAX];
    if (!(u->locks = calloc(u->n, sizeof *u->locks))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < u->n; i++) {
        if (disk_join(path, u->folder, u->files[i].name, NULL)) {
            (void)lock_try(u->run->app->locks, &u->locks[i], IMPORT_LOCK, path);
        }
    }
    return true;
}

bool import_is_under_way(struct app *app, const char *folder, const char *name) {
    char path[PATH_MAX];
    return disk_join(path, folder, name, NULL) && lock_is_held(app->locks, IMPORT_LOCK, path);
}

static bool unit_goes_on(void *run) {
    return run_goes_on(run);
}

static bool import_work(void *context, const struct reel_progress *progress, struct reel_error *err) {
    struct import_unit *unit = context;
    (void)progress; /* a unit is cancelled with its run */
    (void)err;      /* what fails is reported */
    if (run_goes_on(unit->run)) {
        const struct cancel cancel = {.goes_on = unit_goes_on, .context = unit->run}, *before = cancel_set(&cancel);
        import_unit_import(unit);
        cancel_set(before);
    }
    return true;
}

static void work_free(void *unit) {
    unit_over(unit);
}

bool run_push(struct import_run *run, struct import_unit *unit, struct reel_error *err) {
    char owner[64];
    unit->run = run;
    snprintf(owner, sizeof owner, "import:%p", (void *)run);
    pthread_mutex_lock(&run->mutex);
    while (run->under_way >= UNDER_WAY_MAX && !atomic_load(&run->cancelled) && !jobs_stopping(run->app->jobs) &&
           cancel_check(NULL)) {
        wait_a_moment(run);
    }
    run->under_way++;
    run->bytes_total += unit->size;
    pthread_mutex_unlock(&run->mutex);
    atomic_fetch_add(&run->app->imports.under_way, 1);
    const struct job_work job = {
        .kind = "import", .lane = LANE_FILES, .owner = owner, .run = import_work, .free = work_free, .context = unit};
    if (!run_check(run, err) || !lock_files(unit, err)) {
        unit_over(unit);
        return false;
    }
    struct job *started = job_start(run->app->jobs, &job, err);
    job_unref(started);
    return started;
}

void run_wait(struct import_run *run) {
    pthread_mutex_lock(&run->mutex);
    while (run->under_way > 0) {
        wait_a_moment(run);
    }
    pthread_mutex_unlock(&run->mutex);
}
