/* See watch.h. An event of the system only marks a folder as due; the same check as in a rescan decides what is new. A
 * lost event costs time, never a file. */
#include "imports/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/number.h"
#include "imports/import_internal.h"
#include "scans/references.h"
#include "store/roots.h"

enum { DIRTY_MAX = 4096, EVENT_BYTES = 64 << 10 };
static const int64_t SECOND_NS = 1000000000, SOON_NS = 100000000, QUEUED_NS = 10 * SECOND_NS; /* then a job is added
                                                                                                 again: it may have been
                                                                                                 cancelled */
static const uint32_t EVENTS = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB |
                               IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;

struct dirty { /* a folder to inspect again */
    unsigned watch;
    char *folder;
    int64_t due_ns;
    bool tree; /* with all below it */
};
struct watched { /* a folder with an inotify watch; sorted by wd */
    int wd;
    unsigned watch;
    char *folder;
};

struct watch {
    struct watches *all;
    unsigned number;
    char *folder, *collection;
    struct import_options options;
    struct import_run run;
    struct import_statistics statistics;
    const struct reel_progress *job; /* of the job that runs; on its thread only */
    int64_t queued_ns;               /* when a job was added that has not begun; 0: none */
    enum watch_state state;
    char note[384];
    bool polling; /* some folders have no inotify watch */
    int64_t scan_due_ns, scan_started_ns, scan_ended_ns;
    uint64_t scan_files, scan_folders;
};

struct watches {
    struct app *app;
    struct watch *items;
    unsigned n;
    int inotify, wake; /* -1 */
    bool has_thread;
    pthread_t thread;
    atomic_bool stopping;
    struct reel_progress progress; /* false once the server stops */
    pthread_mutex_t mutex;         /* guards what follows, and what watches_view() shows */
    struct dirty dirty[DIRTY_MAX];
    unsigned n_dirty;
    struct watched *folders;
    uint32_t n_folders, room;
};

const char *watch_state_name(enum watch_state state) {
    static const char *const names[] = {"starting", "scanning", "watching", "polling", "unreadable"};
    return names[state];
}

/* ---- folders to inspect again */

static void add_dirty(struct watches *all, unsigned watch, const char *folder, int64_t due_ns, bool tree) {
    pthread_mutex_lock(&all->mutex);
    unsigned i = 0;
    while (i < all->n_dirty && (all->dirty[i].watch != watch || strcmp(all->dirty[i].folder, folder) != 0)) {
        i++;
    }
    char *copy = i == all->n_dirty && i < DIRTY_MAX ? strdup(folder) : NULL;
    if (i < all->n_dirty) {
        struct dirty *d = &all->dirty[i];
        d->due_ns = due_ns < d->due_ns ? due_ns : d->due_ns;
        d->tree = d->tree || tree;
    } else if (copy) {
        all->dirty[all->n_dirty++] = (struct dirty){.watch = watch, .folder = copy, .due_ns = due_ns, .tree = tree};
    } else { /* too many changes: a rescan of everything is cheaper */
        struct watch *w = &all->items[watch];
        w->scan_due_ns = due_ns < w->scan_due_ns ? due_ns : w->scan_due_ns;
    }
    pthread_mutex_unlock(&all->mutex);
}

/* The next of this watch that is due; the caller frees its folder. */
static bool next_dirty(struct watch *w, int64_t now, struct dirty *out) {
    struct watches *all = w->all;
    bool found = false;
    pthread_mutex_lock(&all->mutex);
    for (unsigned i = 0; i < all->n_dirty && !found; i++) {
        if (all->dirty[i].watch == w->number && all->dirty[i].due_ns <= now) {
            *out = all->dirty[i];
            all->dirty[i] = all->dirty[--all->n_dirty];
            found = true;
        }
    }
    pthread_mutex_unlock(&all->mutex);
    return found;
}

static void watch_on_report(void *context, const struct import_report *report) {
    struct watch *w = context;
    if (report->outcome == IMPORT_WAITS) {
        add_dirty(w->all, w->number, report->folder, reel_now_ns() + w->options.still_ns, false);
    }
}

/* ---- events of inotify */

static uint32_t watch_position_of(const struct watches *all, int wd) {
    uint32_t low = 0, high = all->n_folders;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (all->folders[middle].wd < wd) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool add_watched(struct watches *all, int wd, unsigned watch, const char *folder) {
    uint32_t at = watch_position_of(all, wd);
    char *copy = strdup(folder);
    if (copy && at < all->n_folders && all->folders[at].wd == wd) { /* it may have been moved */
        free(all->folders[at].folder);
        all->folders[at] = (struct watched){wd, watch, copy};
        return true;
    }
    if (all->n_folders == all->room) {
        uint32_t room = all->room ? 2 * all->room : 64;
        struct watched *more = realloc(all->folders, room * sizeof *more);
        all->folders = more ? more : all->folders;
        all->room = more ? room : all->room;
    }
    if (!copy || all->n_folders == all->room) {
        free(copy);
        return false;
    }
    memmove(&all->folders[at + 1], &all->folders[at], (all->n_folders - at) * sizeof *all->folders);
    all->folders[at] = (struct watched){wd, watch, copy};
    all->n_folders++;
    return true;
}

static void poll_instead(struct watch *w, const char *why) {
    w->polling = true;
    snprintf(w->note, sizeof w->note, "%s: it is rescanned every %u s instead", why, w->all->app->config.rescan_s);
}

/* Called before a folder is listed, so that no file is missed. */
static bool on_entered(void *context, const char *folder) {
    struct watch *w = context;
    struct watches *all = w->all;
    pthread_mutex_lock(&all->mutex);
    if (all->inotify >= 0 && all->n_folders < all->app->config.watch_folders) {
        int wd = inotify_add_watch(all->inotify, folder, EVENTS);
        if (wd >= 0 && !add_watched(all, wd, w->number, folder)) {
            inotify_rm_watch(all->inotify, wd);
        } else if (wd < 0 && errno == ENOSPC) {
            poll_instead(w, "the limit of inotify watches is reached (fs.inotify.max_user_watches)");
        }
    } else {
        poll_instead(w, all->inotify < 0 ? "inotify is not available" : "more folders than --watch-folders");
    }
    pthread_mutex_unlock(&all->mutex);
    return !atomic_load(&all->stopping) && w->job->report(w->job->context, w->statistics.files, 0);
}

static void on_event(struct watches *all, const struct inotify_event *e) {
    char path[PATH_MAX] = "", folder[PATH_MAX] = "";
    pthread_mutex_lock(&all->mutex);
    uint32_t at = watch_position_of(all, e->wd);
    struct watched *known = at < all->n_folders && all->folders[at].wd == e->wd ? &all->folders[at] : NULL;
    unsigned watch = known ? known->watch : 0;
    if (known) {
        snprintf(folder, sizeof folder, "%s", known->folder);
        if (!disk_join(path, known->folder, e->len > 0 ? e->name : "", NULL)) {
            snprintf(path, sizeof path, "%s", known->folder); /* the walk of that folder reports it */
        }
    }
    if (known && (e->mask & IN_IGNORED)) {
        free(known->folder);
        memmove(known, known + 1, (--all->n_folders - at) * sizeof *known);
    }
    for (unsigned i = 0; i < all->n && (e->mask & IN_Q_OVERFLOW); i++) {
        all->items[i].scan_due_ns = reel_now_ns() + SECOND_NS;
    }
    pthread_mutex_unlock(&all->mutex);
    if (!known || (e->mask & (IN_IGNORED | IN_Q_OVERFLOW)) || e->len == 0 || folder_passes_name(e->name)) {
        return;
    }
    bool gone = e->mask & (IN_DELETE | IN_MOVED_FROM);
    if (!(e->mask & IN_ISDIR)) {
        add_dirty(all, watch, folder, reel_now_ns() + (gone ? SOON_NS : all->items[watch].options.still_ns), false);
    } else if (e->mask & (IN_CREATE | IN_MOVED_TO)) {
        add_dirty(all, watch, path, reel_now_ns() + SOON_NS, true);
    } else if (gone) {
        references_check(all->app); /* referenced files in it */
    }
}

static void watch_read_events(struct watches *all) {
    AUTO_MEM char *buffer = malloc(EVENT_BYTES);
    ssize_t n;
    while (buffer && (n = read(all->inotify, buffer, EVENT_BYTES)) > 0) {
        for (char *at = buffer; at < buffer + n;) {
            /* the kernel pads its names so that the next is aligned */
            const struct inotify_event *e = (const void *)at;
            on_event(all, e);
            at += sizeof *e + e->len;
        }
    }
}

/* ---- scanning folders */

static void set_state(struct watch *w, enum watch_state state) {
    pthread_mutex_lock(&w->all->mutex);
    w->state = state;
    pthread_mutex_unlock(&w->all->mutex);
}

static void scan(struct watch *w) {
    struct reel_error err = {0};
    struct watches *all = w->all;
    pthread_mutex_lock(&all->mutex);
    w->state = WATCH_SCANNING;
    w->scan_started_ns = reel_now_ns();
    w->scan_due_ns = w->scan_started_ns + (int64_t)all->app->config.rescan_s * SECOND_NS;
    w->polling = false;
    w->note[0] = '\0';
    pthread_mutex_unlock(&all->mutex);
    uint64_t files = w->statistics.files, folders = w->statistics.folders;
    bool good = run_tree(&w->run, w->folder, &err);
    pthread_mutex_lock(&all->mutex);
    w->scan_ended_ns = reel_now_ns();
    w->scan_files = w->statistics.files - files;
    w->scan_folders = w->statistics.folders - folders;
    good = good || err.code == REEL_CANCELLED; /* the next scan goes on */
    w->state = !good ? WATCH_UNREADABLE : w->polling ? WATCH_POLLING : WATCH_WATCHING;
    if (!good) {
        snprintf(w->note, sizeof w->note, "%s", err.text);
    }
    pthread_mutex_unlock(&all->mutex);
}

static void mark_due(struct watches *all, const struct dirty *d) {
    struct watch *w = &all->items[d->watch];
    struct reel_error ignored;
    enum watch_state before = w->state;
    set_state(w, WATCH_SCANNING);
    if (d->tree) {
        run_tree(&w->run, d->folder, &ignored);
    } else {
        run_folder(&w->run, d->folder, &ignored);
    }
    set_state(w, w->polling ? WATCH_POLLING : before);
}

bool watch_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    struct watches *all = app->watches;
    struct dirty d;
    uint64_t number;
    if (!all || !number_u64(call->key, &number) || number >= all->n) { /* of an earlier configuration */
        return true;
    }
    struct watch *w = &all->items[number];
    w->job = call->progress;
    pthread_mutex_lock(&all->mutex);
    w->queued_ns = 0;
    bool due = w->scan_due_ns <= reel_now_ns();
    pthread_mutex_unlock(&all->mutex);
    if (due) {
        scan(w);
    }
    while (!atomic_load(&all->stopping) && call->progress->report(call->progress->context, w->statistics.files, 0) &&
           next_dirty(w, reel_now_ns(), &d)) {
        mark_due(all, &d);
        free(d.folder);
    }
    return call->progress->report(call->progress->context, w->statistics.files, 0) ||
           reel_fail(err, REEL_CANCELLED, "cancelled");
}

/* When the first folder of this watch is due, unless a job is about to look. The mutex is held. */
static int64_t due_of(const struct watch *w) {
    int64_t due = w->scan_due_ns, queued_until_ns = w->queued_ns ? w->queued_ns + QUEUED_NS : 0;
    for (unsigned i = 0; i < w->all->n_dirty; i++) {
        const struct dirty *d = &w->all->dirty[i];
        due = d->watch == w->number && d->due_ns < due ? d->due_ns : due;
    }
    return due > queued_until_ns ? due : queued_until_ns;
}

/* Adds the jobs that are due; returns when the next is. */
static int64_t add_jobs(struct watches *all) {
    int64_t first = INT64_MAX;
    struct reel_error ignored;
    for (unsigned i = 0; i < all->n && !atomic_load(&all->stopping); i++) {
        struct watch *w = &all->items[i];
        pthread_mutex_lock(&all->mutex);
        int64_t due = due_of(w);
        bool now = due <= reel_now_ns();
        w->queued_ns = now ? reel_now_ns() : w->queued_ns;
        pthread_mutex_unlock(&all->mutex);
        char key[16];
        snprintf(key, sizeof key, "%u", i);
        const struct job_spec spec = {
            .kind = "watched-folder", .key = key, .collection = w->collection, .subject = w->collection};
        if (now && !jobs_add(all->app->jobs, &spec, NULL, &ignored)) { /* the catalog cannot be written now */
            pthread_mutex_lock(&all->mutex);
            w->queued_ns = 0;
            pthread_mutex_unlock(&all->mutex);
            now = false;
            due = reel_now_ns() + SECOND_NS;
        }
        first = !now && due < first ? due : first;
    }
    return first;
}

static void *watch_all(void *context) {
    struct watches *all = context;
    while (!atomic_load(&all->stopping)) {
        int64_t due = add_jobs(all), now = reel_now_ns(), wait_ms = due > now ? (due - now) / 1000000 + 1 : 0;
        struct pollfd fds[] = {{.fd = all->wake, .events = POLLIN}, {.fd = all->inotify, .events = POLLIN}};
        if (poll(fds, all->inotify >= 0 ? 2 : 1, wait_ms < 1000 ? (int)wait_ms : 1000) > 0 &&
            (fds[1].revents & POLLIN)) { /* workers add folders, too */
            watch_read_events(all);
        }
    }
    return NULL;
}

/* ---- opening and closing */

char *watch_folder(const char *text, const char **collection) {
    const char *equals = strrchr(text, '=');
    char *folder = strndup(text, equals ? (size_t)(equals - text) : strlen(text));
    *collection = equals && equals[1] ? equals + 1 : "default";
    return folder;
}

static bool watch_goes_on(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    return !atomic_load(&((struct watches *)context)->stopping);
}

static bool open_watch(struct watches *all, const char *text, struct reel_error *err) {
    const char *collection;
    AUTO_MEM char *folder = watch_folder(text, &collection);
    struct watch *w = &all->items[all->n];
    *w = (struct watch){.all = all, .number = all->n, .collection = strdup(collection)};
    w->folder = folder ? realpath(folder, NULL) : NULL;
    if (!w->folder || !w->collection) {
        free(w->folder);
        free(w->collection);
        return reel_fail_errno(err, "the watched folder %.200s cannot be opened", text);
    }
    w->options = (struct import_options){.mode = (enum import_mode)all->app->config.watch_mode,
                                         .collection = w->collection,
                                         .watched = true,
                                         .still_ns = (int64_t)all->app->config.still_s * SECOND_NS,
                                         .on_report = watch_on_report,
                                         .entered = on_entered,
                                         .context = w};
    w->run = (struct import_run){
        .app = all->app, .options = &w->options, .progress = &all->progress, .base = w->folder, .out = &w->statistics};
    run_begin(&w->run);
    all->n++;
    return true;
}

bool watches_start(struct app *app, struct watches **out, struct reel_error *err) {
    unsigned n = app->config.watches.count;
    *out = NULL;
    if (n == 0) {
        return true;
    }
    struct watches *all = calloc(1, sizeof *all);
    if (!all || !(all->items = calloc((size_t)n + 1, sizeof *all->items))) {
        free(all);
        return reel_fail_memory(err);
    }
    *out = all;
    all->app = app;
    all->progress = (struct reel_progress){.report = watch_goes_on, .context = all};
    pthread_mutex_init(&all->mutex, NULL);
    all->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    all->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    for (unsigned i = 0; i < n; i++) {
        if (!open_watch(all, app->config.watches.items[i], err)) {
            return false;
        }
    }
    all->has_thread = all->wake >= 0 && pthread_create(&all->thread, NULL, watch_all, all) == 0;
    return all->has_thread || reel_fail(err, REEL_NO_MEMORY, "no thread for watched folders");
}

void watches_stop(struct watches *all) {
    uint64_t one = 1;
    if (all && all->has_thread) {
        atomic_store(&all->stopping, true);
        (void)!write(all->wake, &one, sizeof one);
        pthread_join(all->thread, NULL);
        all->has_thread = false;
    }
}

void watches_free(struct watches *all) {
    if (!all) {
        return;
    }
    for (unsigned i = 0; i < all->n; i++) {
        run_wait(&all->items[i].run);
        run_end(&all->items[i].run);
        free(all->items[i].folder);
        free(all->items[i].collection);
    }
    while (all->n_dirty > 0) {
        free(all->dirty[--all->n_dirty].folder);
    }
    while (all->n_folders > 0) {
        free(all->folders[--all->n_folders].folder);
    }
    if (all->inotify >= 0) {
        close(all->inotify);
    }
    if (all->wake >= 0) {
        close(all->wake);
    }
    pthread_mutex_destroy(&all->mutex);
    free(all->folders);
    free(all->items);
    free(all);
}

bool watches_view(struct watches *all, unsigned i, struct watch_view *out) {
    if (!all || i >= all->n) {
        return false;
    }
    struct watch *w = &all->items[i];
    const char *slash = strrchr(w->folder, '/');
    *out = (struct watch_view){.mode = w->options.mode};
    snprintf(out->name, sizeof out->name, "%s", slash && slash[1] ? slash + 1 : w->folder);
    snprintf(out->collection, sizeof out->collection, "%s", w->collection);
    pthread_mutex_lock(&w->run.mutex);
    memcpy(out->outcomes, w->statistics.outcomes, sizeof out->outcomes);
    out->queue = w->run.under_way;
    pthread_mutex_unlock(&w->run.mutex);
    pthread_mutex_lock(&all->mutex);
    out->state = w->state;
    memcpy(out->note, w->note, sizeof out->note);
    out->scan_started_ns = w->scan_started_ns;
    out->scan_ended_ns = w->scan_ended_ns;
    out->scan_files = w->scan_files;
    out->scan_folders = w->scan_folders;
    for (unsigned k = 0; k < all->n_dirty; k++) {
        out->waiting += all->dirty[k].watch == i;
    }
    for (uint32_t k = 0; k < all->n_folders; k++) {
        out->folders += all->folders[k].watch == i;
    }
    pthread_mutex_unlock(&all->mutex);
    return true;
}
