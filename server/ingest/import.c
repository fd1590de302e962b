/* See import.h: the threads that import, and the state of an import. Adding to a full queue waits, so memory and work stay bounded
 * however many files there are. */
#include "ingest/import_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUE_MAX = 256, THREADS_MAX = 64 };

struct imports {
    struct app *app;
    pthread_mutex_t mutex; /* guards what follows except the atomic counters */
    pthread_cond_t queued, has_room;
    struct import_unit *queue, **queue_end;
    unsigned n_queued;
    struct import_unit *running[THREADS_MAX];
    bool stopping, joined;
    pthread_t threads[THREADS_MAX];
    unsigned n_threads;
    _Atomic uint64_t outcomes[IMPORT_OUTCOMES], bytes_read;
};

const char *import_outcome_name(enum import_outcome outcome) {
    static const char *const names[] = {"would_take", "created", "exists", "scanning", "unchanged", "no_recording", "waits", "failed"};
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
        free(u->files[i].name);
    }
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
    pthread_cond_init(&run->over, NULL);
}
void run_end(struct import_run *run) {
    pthread_cond_destroy(&run->over);
    pthread_mutex_destroy(&run->mutex);
}

/* The mutex is held. */
static void report(struct import_run *run) {
    const struct reel_progress *p = run->progress;
    if (p && p->report && !p->report(p->context, run->bytes_done, run->bytes_total)) {
        atomic_store(&run->cancelled, true);
    }
}

bool run_goes_on(struct import_run *run) {
    pthread_mutex_lock(&run->mutex);
    report(run);
    pthread_mutex_unlock(&run->mutex);
    return !atomic_load(&run->cancelled) && !imports_stopping(run->app->imports);
}

void run_report(struct import_run *run, const struct import_report *report) {
    const struct import_options *t = run->options;
    pthread_mutex_lock(&run->mutex);
    run->out->outcomes[report->outcome]++;
    if (run->app->imports) {
        atomic_fetch_add(&run->app->imports->outcomes[report->outcome], 1);
    }
    if (t->on_report) {
        t->on_report(t->context, report);
    }
    pthread_mutex_unlock(&run->mutex);
}

static void unit_over(struct import_unit *unit) {
    struct import_run *run = unit->run;
    pthread_mutex_lock(&run->mutex);
    run->under_way--;
    run->bytes_done += unit->size;
    report(run);
    pthread_cond_broadcast(&run->over);
    pthread_mutex_unlock(&run->mutex); /* a waiting thread may free the run now */
    import_unit_free(unit);
}

static struct timespec soon(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 200000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

bool run_push(struct import_run *run, struct import_unit *unit) {
    struct imports *all = run->app->imports;
    unit->run = run;
    pthread_mutex_lock(&run->mutex);
    run->under_way++;
    run->bytes_total += unit->size;
    pthread_mutex_unlock(&run->mutex);
    bool on = run_goes_on(run);
    pthread_mutex_lock(&all->mutex);
    while (on && all->n_queued >= QUEUE_MAX) {
        struct timespec until = soon();
        pthread_cond_timedwait(&all->has_room, &all->mutex, &until);
        pthread_mutex_unlock(&all->mutex);
        on = run_goes_on(run);
        pthread_mutex_lock(&all->mutex);
    }
    on = on && !all->stopping;
    if (on) {
        unit->next = NULL;
        *all->queue_end = unit;
        all->queue_end = &unit->next;
        all->n_queued++;
        pthread_cond_signal(&all->queued);
    }
    pthread_mutex_unlock(&all->mutex);
    if (!on) {
        unit_over(unit);
    }
    return on;
}

void run_wait(struct import_run *run) {
    pthread_mutex_lock(&run->mutex);
    while (run->under_way > 0) {
        struct timespec until = soon();
        pthread_cond_timedwait(&run->over, &run->mutex, &until);
        report(run); /* notices a cancel while no unit ends */
    }
    pthread_mutex_unlock(&run->mutex);
}

/* ---- the threads */

static struct import_unit *next_unit(struct imports *all, unsigned number) {
    pthread_mutex_lock(&all->mutex);
    all->running[number] = NULL;
    while (!all->queue && !all->stopping) {
        pthread_cond_wait(&all->queued, &all->mutex);
    }
    struct import_unit *u = all->queue;
    if (u) {
        all->queue = u->next;
        all->queue_end = all->queue ? all->queue_end : &all->queue;
        all->n_queued--;
        all->running[number] = u;
        pthread_cond_signal(&all->has_room);
    }
    pthread_mutex_unlock(&all->mutex);
    return u;
}

struct seat {
    struct imports *all;
    unsigned number;
};

static void *work(void *context) {
    struct seat seat = *(struct seat *)context;
    free(context);
    for (struct import_unit *u; (u = next_unit(seat.all, seat.number));) {
        if (!atomic_load(&u->run->cancelled) && !imports_stopping(seat.all)) {
            import_unit_import(u);
        }
        pthread_mutex_lock(&seat.all->mutex);
        seat.all->running[seat.number] = NULL; /* before it is freed */
        pthread_mutex_unlock(&seat.all->mutex);
        unit_over(u);
    }
    return NULL;
}

static bool is_of(const struct import_unit *u, const char *folder, const char *name) {
    bool found = false;
    for (uint32_t i = 0; u && i < u->n && !found; i++) {
        found = strcmp(u->files[i].name, name) == 0 && strcmp(u->folder, folder) == 0;
    }
    return found;
}

bool import_is_under_way(struct imports *all, const char *folder, const char *name) {
    bool found = false;
    pthread_mutex_lock(&all->mutex);
    for (const struct import_unit *u = all->queue; u && !found; u = u->next) {
        found = is_of(u, folder, name);
    }
    for (unsigned i = 0; i < all->n_threads && !found; i++) {
        found = is_of(all->running[i], folder, name);
    }
    pthread_mutex_unlock(&all->mutex);
    return found;
}

struct imports *imports_open(struct app *app, unsigned threads, struct reel_error *err) {
    struct imports *all = calloc(1, sizeof *all);
    if (!all) {
        reel_fail_memory(err);
        return NULL;
    }
    all->app = app;
    all->queue_end = &all->queue;
    pthread_mutex_init(&all->mutex, NULL);
    pthread_cond_init(&all->queued, NULL);
    pthread_cond_init(&all->has_room, NULL);
    threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    for (; all->n_threads < threads; all->n_threads++) {
        struct seat *seat = malloc(sizeof *seat);
        if (seat) {
            *seat = (struct seat){all, all->n_threads};
        }
        if (!seat || pthread_create(&all->threads[all->n_threads], NULL, work, seat) != 0) {
            free(seat);
            reel_fail(err, REEL_NO_MEMORY, "no thread for imports");
            imports_stop(all);
            imports_free(all);
            return NULL;
        }
    }
    return all;
}

bool imports_stopping(struct imports *all) {
    pthread_mutex_lock(&all->mutex);
    bool stopping = all->stopping;
    pthread_mutex_unlock(&all->mutex);
    return stopping;
}

void imports_stop(struct imports *all) {
    if (!all || all->joined) {
        return;
    }
    pthread_mutex_lock(&all->mutex);
    all->stopping = true;
    pthread_cond_broadcast(&all->queued);
    pthread_cond_broadcast(&all->has_room);
    pthread_mutex_unlock(&all->mutex);
    for (unsigned i = 0; i < all->n_threads; i++) { /* they drop the queued units */
        pthread_join(all->threads[i], NULL);
    }
    all->joined = true;
}

void imports_free(struct imports *all) {
    if (!all) {
        return;
    }
    pthread_cond_destroy(&all->has_room);
    pthread_cond_destroy(&all->queued);
    pthread_mutex_destroy(&all->mutex);
    free(all);
}

void import_count_bytes(struct imports *all, uint64_t bytes) {
    atomic_fetch_add(&all->bytes_read, bytes);
}

void imports_statistics(struct imports *all, struct imports_statistics *out) {
    for (unsigned i = 0; i < IMPORT_OUTCOMES; i++) {
        out->outcomes[i] = atomic_load(&all->outcomes[i]);
    }
    out->bytes_read = atomic_load(&all->bytes_read);
    pthread_mutex_lock(&all->mutex);
    out->queued = all->n_queued;
    for (unsigned i = 0; i < all->n_threads; i++) {
        out->queued += all->running[i] != NULL;
    }
    pthread_mutex_unlock(&all->mutex);
}
