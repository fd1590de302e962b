/* Decides about the files of one folder. A known file that is unchanged is not opened. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "imports/import_internal.h"
#include "read/folder.h"
#include "scans/references.h"
#include "store/roots.h"
#include "stream/stream.h"

enum { NEAR = 64 }; /* known files that are inspected again next to a new one, which may be a further part */
enum fate {
    FATE_NEW,
    FATE_KNOWN,
    FATE_WAITS,
    FATE_REPORTED /* known, and reported together with another */,
    FATE_BUSY,
    FATE_NEIGHBOR /* known, and maybe a part with a new one */
};

struct inspection {
    struct import_run *run;
    const char *folder;
    int fd;
    struct folder_file *files;
    uint32_t n;
    enum fate *fates;
    struct catalog_imports known;
    uint32_t *new_ones; /* numbers of the new files, and of their neighbours */
    uint32_t n_new;
};

struct naming {          /* of the recordings of a folder */
    uint32_t recordings; /* how many there are */
    bool taken;          /* one has the folder's name */
};

/* ---- known files */

static const struct catalog_import *find_known(const struct catalog_imports *known, const char *name) {
    size_t low = 0, high = known->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(known->items[middle].name, name);
        if (order == 0) {
            return &known->items[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* It failed for a reason outside of the file, so a retry may succeed. */
static bool may_go_better(enum reel_code code) {
    return code != REEL_OK && code != REEL_NOT_MINE && code != REEL_DAMAGED && code != REEL_UNSUPPORTED &&
           code != REEL_LIMIT;
}

/* A request imports each file that has no recording in this collection; a watched folder only files that are new. */
static bool is_enough(const struct inspection *l, const struct catalog_import *k) {
    struct catalog_recording r;
    const struct import_options *t = l->run->options;
    if (t->watched) {
        return !k->failure || !may_go_better(k->code);
    }
    if (l->run->named && !k->content[0]) {
        return false;
    }
    if (!k->content[0]) {
        return !k->failure || !may_go_better(k->code);
    }
    if (k->mode != t->mode || t->mode == IMPORT_MOVE || !catalog_get(l->run->app->catalog, k->recording, &r, NULL)) {
        return false;
    }
    bool enough = (r.state == STATE_READY || r.state == STATE_SCANNING) && strcmp(r.collection, t->collection) == 0;
    catalog_recording_done(&r);
    return enough;
}

/* Its time differs, but size and fingerprint do not: it was touched or restored. */
static bool folder_is_unchanged(const struct inspection *l, const struct folder_file *f,
                                const struct catalog_import *k) {
    char fingerprint[65];
    struct reel_error ignored;
    if (f->size != k->size || !k->content[0] || !k->fingerprint[0] || k->failure) {
        return false;
    }
    AUTO_FD int fd = openat(l->fd, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || !store_fingerprint(fd, f->size, fingerprint, &ignored) || strcmp(fingerprint, k->fingerprint) != 0) {
        return false;
    }
    if (k->mode == IMPORT_REFERENCE) { /* messages are read from the file itself, so all of it is compared */
        return references_confirm(l->run->app, k->content, l->run->progress);
    }
    struct catalog_import now = *k;
    now.device = f->device;
    now.inode = f->inode;
    now.mtime_ns = f->mtime_ns;
    catalog_imports_put(l->run->app->catalog, l->folder, &now, 1, &ignored);
    return true;
}

static bool folder_is_known(const struct inspection *l, const struct folder_file *f) {
    const struct catalog_import *k = find_known(&l->known, f->name);
    bool same = k && k->size == f->size && k->mtime_ns == f->mtime_ns;
    return k && is_enough(l, k) && (same || folder_is_unchanged(l, f, k));
}

/* ---- files that are no longer written to */

/* A time far in the future is ignored: with a wrong clock the file would never be imported. */
static bool is_recent(int64_t time_ns, int64_t now, int64_t still_ns) {
    return time_ns > now - still_ns && time_ns <= now + still_ns;
}

static bool is_still(const struct inspection *l, const struct folder_file *f) {
    int64_t still_ns = l->run->options->still_ns, now = reel_now_ns(), last = now - still_ns;
    last = is_recent(f->mtime_ns, now, still_ns) ? f->mtime_ns : last;
    last = is_recent(f->ctime_ns, now, still_ns) && f->ctime_ns > last ? f->ctime_ns : last;
    if (still_ns <= 0 || last == now - still_ns) {
        return true;
    }
    pthread_mutex_lock(&l->run->mutex);
    struct import_statistics *out = l->run->out;
    int64_t due = (last < now ? last : now) + still_ns;
    out->due_ns = out->due_ns == 0 || due < out->due_ns ? due : out->due_ns;
    pthread_mutex_unlock(&l->run->mutex);
    return false;
}

static void report_file(const struct inspection *l, const struct folder_file *f, enum import_outcome outcome) {
    const char *names[] = {f->name};
    run_report(l->run, &(struct import_report){
                           .outcome = outcome, .folder = l->folder, .names = names, .n = 1, .size = f->size});
}

/* Known files, those of one recording together. */
static void report_known(struct inspection *l, uint32_t first) {
    const char *names[COLLECT_PARTS_MAX];
    struct catalog_recording r = {0};
    const struct catalog_import *k = find_known(&l->known, l->files[first].name);
    struct import_report report = {
        .outcome = IMPORT_UNCHANGED, .folder = l->folder, .names = names, .n = 1, .size = l->files[first].size};
    names[0] = l->files[first].name;
    for (uint32_t i = first + 1;
         k->recording[0] && i < l->n && i < first + COLLECT_PARTS_MAX && report.n < COLLECT_PARTS_MAX; i++) {
        const struct catalog_import *other = l->fates[i] == FATE_KNOWN ? find_known(&l->known, l->files[i].name) : NULL;
        if (other && strcmp(other->recording, k->recording) == 0) {
            l->fates[i] = FATE_REPORTED;
            names[report.n++] = other->name;
            report.size += other->size;
        }
    }
    if (k->recording[0] && catalog_get(l->run->app->catalog, k->recording, &r, NULL)) {
        report.recording = &r;
        report.name = r.name;
    }
    run_report(l->run, &report);
    catalog_recording_done(&r);
}

static void judge(struct inspection *l, uint32_t i) {
    const struct folder_file *f = &l->files[i];
    struct app *app = l->run->app;
    l->run->out->files++;
    if (folder_is_known(l, f)) {
        l->fates[i] = FATE_KNOWN;
        if (l->run->options->watched) { /* only counted */
            report_file(l, f, IMPORT_UNCHANGED);
        }
        return;
    }
    if (import_is_under_way(app, l->folder, f->name)) {
        l->fates[i] = FATE_BUSY; /* another thread is importing it */
        return;
    }
    l->fates[i] = is_still(l, f) ? FATE_NEW : FATE_WAITS;
    l->new_ones[l->n_new++] = i;
}

/* ---- files of one recording */

static struct reel_source *open_new(void *context, uint32_t i) {
    const struct inspection *l = context;
    const char *name = l->files[l->new_ones[i]].name;
    int fd = openat(l->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 ? reel_source_from_fd(fd, name, NULL) : NULL;
}

/* run.traj, not run.state; not metadata.yaml. */
static const char *name_of_leader(const struct import_unit *u) {
    AUTO_MEM const char **names = calloc(u->n, sizeof *names);
    for (uint32_t i = 0; names && i < u->n; i++) {
        names[i] = u->files[i].name;
    }
    return u->files[names ? collect_main(names, u->n, u->format) : 0].name;
}

/* Whether a recording has the name of its folder: the files of `ros2 bag record`, and one that is alone there. In a
 * watched folder others may follow, so there only files that are named after the folder. */
static bool is_named_by_folder(const struct inspection *l, const struct import_unit *u, bool alone) {
    const char *last = strrchr(l->folder, '/');
    if (l->run->named || !u->format || !last || !last[1]) {
        return false;
    }
    return (u->n > 1 && u->format->is_folder) || folder_names_file(last + 1, name_of_leader(u)) ||
           (u->n > 1 && alone && !l->run->options->watched);
}

/* Names are paths below the imported folder, so that each day's run.bag has its own. */
static bool name_unit(const struct inspection *l, struct import_unit *u, struct naming *naming) {
    const char *below = l->folder + strlen(l->run->base);
    char name[PATH_MAX];
    below += *below == '/';
    u->by_folder = !naming->taken && is_named_by_folder(l, u, naming->recordings == 1);
    naming->taken = naming->taken || u->by_folder;
    int n = u->by_folder ? snprintf(name, sizeof name, "%s", *below ? below : strrchr(l->folder, '/') + 1)
                         : snprintf(name, sizeof name, "%s%s%s", below, *below ? "/" : "", name_of_leader(u));
    free(u->name);
    u->name = n > 0 && n < (int)sizeof name ? strdup(name) : NULL;
    return u->name;
}

static void report_unit(const struct inspection *l, const struct import_unit *u, enum import_outcome outcome) {
    AUTO_MEM const char **names = calloc(u->n, sizeof *names);
    for (uint32_t i = 0; names && i < u->n; i++) {
        names[i] = u->files[i].name;
    }
    run_report(l->run, &(struct import_report){.outcome = outcome,
                                               .folder = l->folder,
                                               .names = names,
                                               .n = names ? u->n : 0,
                                               .name = u->name,
                                               .format = u->format,
                                               .size = u->size});
}

/* No format recognizes it. If it was requested by path or has the suffix of a format, it has failed; else it is
 * ignored. */
static void pass_over(const struct inspection *l, struct import_unit *u) {
    struct reel_error why = {0};
    const struct folder_file *f = &u->files[0];
    if (l->run->named || reel_format_names(f->name)) {
        int fd = openat(l->fd, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        AUTO(reel_source_free) struct reel_source *source = fd >= 0 ? reel_source_from_fd(fd, f->name, &why) : NULL;
        if (fd < 0) {
            reel_fail_errno(&why, "the file cannot be opened");
        } else if (source && reel_format_probe(source, &why)) {
            reel_fail(&why, REEL_CHANGED, "the file is still being written");
        }
        import_fail(u, &why);
        return;
    }
    struct catalog_import row = {
        .name = f->name, .device = f->device, .inode = f->inode, .size = f->size, .mtime_ns = f->mtime_ns};
    if (!l->run->options->dry) {
        catalog_imports_put(l->run->app->catalog, l->folder, &row, 1, &why);
    }
    report_unit(l, u, IMPORT_PASSED);
}

/* A page of a dry run begins at a position and ends at its limit. */
static bool is_on_page(struct import_run *run) {
    if (!run->options->dry) {
        return true;
    }
    uint64_t item = run->item++;
    bool before = run->folder == run->from_folder && item < run->from_item;
    run->full = run->full || (!before && run->options->limit > 0 && run->report == run->options->limit);
    if (run->full && !run->out->next[0]) {
        snprintf(run->out->next, sizeof run->out->next, "%llu.%llu", (unsigned long long)run->folder,
                 (unsigned long long)item);
    }
    run->report += !before && !run->full;
    return !before && !run->full;
}

/* Owns the unit from then on. */
static bool folder_send(const struct inspection *l, struct import_unit *u, bool waits, struct reel_error *err) {
    bool go = is_on_page(l->run);
    u->run = l->run;
    if (go && !waits && !l->run->options->dry && u->format) {
        return run_push(l->run, u, err);
    }
    if (go && waits) {
        report_unit(l, u, IMPORT_WAITS);
    } else if (go && l->run->options->dry && (u->format || l->run->named || reel_format_names(u->files[0].name))) {
        report_unit(l, u, u->format ? IMPORT_WOULD : IMPORT_FAILED);
    } else if (go) {
        pass_over(l, u);
    }
    import_unit_free(u);
    return true;
}

static int in_order(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* A new file of a format with parts may belong to files imported earlier, so its neighbours by name are inspected too.
 */
static bool check_neighbours(struct inspection *l, const struct collect_file *all) {
    uint32_t fresh = l->n_new;
    for (uint32_t k = 0; k < fresh; k++) {
        uint32_t at = l->new_ones[k], end = l->n - at > NEAR ? at + NEAR : l->n;
        for (uint32_t i = at > NEAR ? at - NEAR : 0; all[k].format && all[k].format->joins && i < end; i++) {
            const struct catalog_import *known = l->fates[i] == FATE_KNOWN || l->fates[i] == FATE_REPORTED
                                                     ? find_known(&l->known, l->files[i].name)
                                                     : NULL;
            if (known && known->content[0]) {
                l->fates[i] = FATE_NEIGHBOR;
                l->new_ones[l->n_new++] = i;
            }
        }
    }
    qsort(l->new_ones, l->n_new, sizeof *l->new_ones, in_order);
    return l->n_new > fresh;
}

/* The recording whose leader is the `first` of these files, with all its parts; some of it must be new. */
static bool send_group(struct inspection *l, const struct collect_file *all, uint32_t first, struct naming *naming,
                       struct reel_error *err) {
    struct import_unit *u = import_unit_new(l->folder, "", l->n_new);
    enum fate fate = l->fates[l->new_ones[first]];
    bool waits = fate == FATE_WAITS, fresh = fate != FATE_NEIGHBOR,
         good = u && import_unit_add(u, &l->files[l->new_ones[first]]);
    for (uint32_t i = 0; good && i < l->n_new; i++) {
        if (i != first && all[i].leader == first) {
            fate = l->fates[l->new_ones[i]];
            waits = waits || fate == FATE_WAITS;
            fresh = fresh || fate != FATE_NEIGHBOR;
            good = import_unit_add(u, &l->files[l->new_ones[i]]);
        }
    }
    if (good && !fresh) {
        import_unit_free(u);
        return true;
    }
    if (good) {
        u->format = all[first].format;
    }
    if (!good || !name_unit(l, u, naming)) {
        import_unit_free(u);
        return reel_fail_memory(err);
    }
    return folder_send(l, u, waits, err);
}

/* Of the folder: those that are sent now, and those that are known. */
static uint32_t count_recordings(const struct inspection *l, const struct collect_file *all) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->n_new; i++) {
        count += all[i].leader == i && all[i].format;
    }
    for (uint32_t i = 0; i < l->n; i++) {
        bool known = l->fates[i] == FATE_KNOWN || l->fates[i] == FATE_REPORTED;
        const struct catalog_import *k = known ? find_known(&l->known, l->files[i].name) : NULL;
        count += k && k->content[0];
    }
    return count;
}

static bool send_all(struct inspection *l, struct reel_error *err) {
    AUTO_MEM struct collect_file *all = calloc((size_t)l->n + 1, sizeof *all);
    struct naming naming = {.taken = false};
    bool good = all || reel_fail_memory(err), any = l->run->options->dry;
    for (uint32_t i = 0; i < l->n_new; i++) {
        any = any || l->fates[l->new_ones[i]] == FATE_NEW;
    }
    if (!any) { /* inspected later */
        for (uint32_t i = 0; i < l->n_new; i++) {
            report_file(l, &l->files[l->new_ones[i]], IMPORT_WAITS);
        }
        return true;
    }
    if (good) {
        collect_parts(all, l->n_new, open_new, l);
        if (check_neighbours(l, all)) {
            collect_parts(all, l->n_new, open_new, l);
        }
    }
    naming.recordings = good ? count_recordings(l, all) : 0;
    for (uint32_t i = 0; good && i < l->n_new && !l->run->full; i++) {
        good = all[i].leader != i || send_group(l, all, i, &naming, err);
    }
    return good;
}

/* Known files of the folder that no longer exist. */
static void forget_gone(const struct inspection *l) {
    struct reel_error ignored;
    for (uint32_t i = 0, k = 0; k < l->known.n; k++) {
        const struct catalog_import *row = &l->known.items[k];
        while (i < l->n && strcmp(l->files[i].name, row->name) < 0) {
            i++;
        }
        bool there = i < l->n && strcmp(l->files[i].name, row->name) == 0;
        if (!there && row->mode == IMPORT_REFERENCE && row->content[0]) {
            references_recheck(l->run->app, row->content);
        } else if (!there && !folder_passes_name(row->name)) {
            catalog_imports_forget(l->run->app->catalog, l->folder, row, 1, &ignored);
        }
    }
}

bool import_inspect(struct import_run *run, const char *folder, int fd, struct folder_file *files, uint32_t n,
                    bool whole, struct reel_error *err) {
    AUTO_MEM enum fate *fates = calloc((size_t)n + 1, sizeof *fates);
    AUTO_MEM uint32_t *new_ones = calloc((size_t)n + 1, sizeof *new_ones);
    struct inspection l = {
        .run = run, .folder = folder, .fd = fd, .files = files, .n = n, .fates = fates, .new_ones = new_ones};
    if (!fates || !new_ones) {
        return reel_fail_memory(err);
    }
    if (!catalog_imports_of_folder(run->app->catalog, folder, &l.known, err)) {
        return false;
    }
    const struct catalog_import *self = find_known(&l.known, ".");
    if (self && !run->options->dry) { /* it could not be read before, now it can */
        catalog_imports_forget(run->app->catalog, folder, self, 1, err);
    }
    bool good = true;
    for (uint32_t i = 0; i < n && good; i++) {
        judge(&l, i);
        good = run_check(run, err);
    }
    for (uint32_t i = 0; i < n && good && !run->options->watched && !run->options->dry; i++) {
        if (fates[i] == FATE_KNOWN) {
            report_known(&l, i);
        }
    }
    if (good && whole && run->options->watched) {
        forget_gone(&l);
    }
    good = good && (l.n_new == 0 || send_all(&l, err));
    catalog_imports_done(&l.known);
    return good;
}
