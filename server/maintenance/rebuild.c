/* See rebuild.h. It only adds to the catalog; existing rows are not changed. */
#include "maintenance/rebuild.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/hex.h"
#include "catalog/maintenance.h"
#include "catalog/notes.h"
#include "maintenance/settings.h"
#include "reel/cleanup.h"
#include "reel/time.h"
#include "scans/references.h"
#include "scans/scanning.h"
#include "store/inspect.h"
#include "store/manifest.h"

enum { OLD_MAX = 10000 };

void rebuild_list_done(struct rebuild_list *list) {
    free(list->items);
    *list = (struct rebuild_list){0};
}

/* ---- recordings missing in the catalog */

struct finding {
    struct app *app;
    const struct reel_progress *progress;
    struct rebuild_list *list;
    size_t room;
    struct reel_error error;
};

static bool rebuild_add_entry(struct finding *f, const char *content, const json_t *item) {
    const char *id = json_string_value(json_object_get(item, "id"));
    bool has = false;
    if (!id || !hex_is(id, RECORDING_ID_TEXT - 1)) {
        return true; /* reported when the manifest itself is checked */
    }
    if (!catalog_has(f->app->catalog, id, &has, &f->error)) {
        return false;
    }
    struct rebuild_list *list = f->list;
    if (!has && list->n == f->room) {
        f->room = f->room ? 2 * f->room : 64;
        struct rebuild_entry *more = realloc(list->items, f->room * sizeof *more);
        if (!more) {
            return reel_fail_memory(&f->error);
        }
        list->items = more;
    }
    if (!has) {
        struct rebuild_entry *e = &list->items[list->n++];
        *e = (struct rebuild_entry){.created_ns = json_integer_value(json_object_get(item, "created_ns"))};
        memcpy(e->content, content, sizeof e->content);
        memcpy(e->id, id, sizeof e->id);
    }
    return true;
}

static bool read_manifest(void *context, const char *hex, const char *suffix, int64_t written_ns) {
    struct finding *f = context;
    struct reel_error why;
    size_t i;
    json_t *item;
    (void)written_ns;
    if (strcmp(suffix, ".json") != 0) {
        return true;
    }
    f->list->manifests++;
    if (f->progress && f->progress->report && !f->progress->report(f->progress->context, f->list->manifests, 0)) {
        return reel_fail(&f->error, REEL_CANCELLED, "cancelled");
    }
    json_t *manifest = store_load_manifest(f->app->store, hex, &why);
    bool good = true;
    f->list->unreadable += !manifest;
    json_array_foreach(json_object_get(manifest, "recordings"), i, item) {
        good = good && rebuild_add_entry(f, hex, item);
    }
    json_decref(manifest);
    return good;
}

static int by_age(const void *a, const void *b) {
    const struct rebuild_entry *x = a, *y = b;
    return x->created_ns != y->created_ns ? (x->created_ns > y->created_ns) - (x->created_ns < y->created_ns)
                                          : strcmp(x->id, y->id);
}

bool rebuild_find(struct app *app, const struct reel_progress *progress, struct rebuild_list *out,
                  struct reel_error *err) {
    *out = (struct rebuild_list){0};
    struct finding f = {.app = app, .progress = progress, .list = out};
    bool good = store_each(app->store, read_manifest, &f, err);
    if (good && f.error.code != REEL_OK) {
        good = reel_fail(err, f.error.code, "%s", f.error.text);
    }
    if (!good) {
        rebuild_list_done(out);
    } else if (out->n > 0) {
        qsort(out->items, out->n, sizeof *out->items, by_age);
    }
    return good;
}

/* ---- adding rows */

static bool all_there(struct app *app, const struct catalog_recording *r) {
    for (uint32_t i = 0; i < r->n_parts; i++) {
        uint64_t size;
        bool there = store_file_size(app->store, r->parts[i].sha256, "", &size)
                         ? size == r->parts[i].size
                         : store_file_size(app->store, r->parts[i].sha256, ".ref", &size);
        if (!there) {
            return false;
        }
    }
    return true;
}

static bool set_problem(struct catalog_recording *r, enum recording_state state, const char *problem) {
    free(r->problem);
    r->state = state;
    return (r->problem = strdup(problem));
}

/* The file is gone or another: what an earlier version of its reader noted is all that is known of it. */
static struct reel_index *open_known(struct app *app, struct catalog_recording *r, enum recording_state state,
                                     const struct reel_error *why) {
    AUTO(reel_index_free) struct reel_index *index = scan_open_known(app, r->content, NULL);
    bool good = !index || scan_fill(r, index, NULL);
    return set_problem(r, state, why->text) && good ? TAKE(index) : NULL;
}

/* Its index: the existing one, or from a new scan. */
static struct reel_index *open_or_scan(struct app *app, struct catalog_recording *r,
                                       const struct reel_progress *progress, struct reel_error *err) {
    struct reel_error why = {0};
    if (r->state == STATE_RECORDING) { /* opened when the server starts */
        return NULL;
    }
    if (r->announced[0]) {
        return open_known(app, r, STATE_ANNOUNCED, &why);
    }
    if (!all_there(app, r)) {
        set_problem(r, STATE_MISSING, "the stored file is gone");
        return NULL;
    }
    struct reel_index *index = scan_open_pack(app, r->content, &why);
    if (!index && scan_content(app, r, *r->format ? reel_format_named(r->format) : NULL, progress, &why)) {
        index = scan_open_pack(app, r->content, &why);
    }
    enum recording_state lost = why.code == REEL_NOT_FOUND                           ? STATE_MISSING
                                : why.code == REEL_CHANGED && references_has(app, r) ? STATE_CHANGED
                                                                                     : STATE_FAILED;
    if (!index && lost != STATE_FAILED) {
        return open_known(app, r, lost, &why);
    }
    if (!index || !scan_fill(r, index, &why)) {
        reel_index_free(index);
        if (why.code == REEL_CANCELLED) {
            reel_fail(err, REEL_CANCELLED, "%s", why.text);
        }
        set_problem(r, STATE_FAILED, why.text);
        return NULL;
    }
    return index;
}

static bool adopt_one(struct app *app, struct catalog_adoption *a, const struct rebuild_entry *e,
                      const struct rebuild_observer *observer, const struct reel_progress *progress,
                      struct reel_error *err) {
    struct reel_error why = {0}, stop = {0};
    struct rebuilt b;
    json_t *manifest = store_load_manifest(app->store, e->content, &why);
    bool readable = manifest && rebuild_read(manifest, store_manifest_entry(manifest, e->id), &b, &why);
    if (readable && !store_enter_objects(app->store, manifest, err)) {
        json_decref(manifest);
        rebuilt_done(&b);
        return false;
    }
    json_decref(manifest);
    if (!readable) {
        observer->on_recording(observer->context, e, NULL, why.text);
        return true;
    }
    struct catalog_adopted one = {
        .r = &b.r, .notes = &b.notes, .events = &b.events, .trashed = b.r.state == STATE_TRASHED};
    AUTO(reel_index_free) struct reel_index *index = open_or_scan(app, &b.r, progress, &stop);
    one.index = index;
    bool good = stop.code == REEL_OK ? b.r.problem && catalog_adopt(a, &one, err) : reel_error_pass(err, &stop);
    if (good) {
        observer->on_recording(observer->context, e, &b.r, NULL);
    }
    rebuilt_done(&b);
    return good;
}

bool rebuild_adopt(struct app *app, const struct rebuild_list *list, const struct rebuild_observer *observer,
                   const struct reel_progress *progress, struct reel_error *err) {
    struct catalog_adoption *a = catalog_adopt_begin(app->catalog, err);
    bool good = a;
    for (size_t i = 0; good && i < list->n; i++) {
        good = adopt_one(app, a, &list->items[i], observer, progress, err);
        if (good && progress && progress->report && !progress->report(progress->context, i + 1, list->n)) {
            good = reel_fail(err, REEL_CANCELLED, "cancelled");
        }
    }
    return catalog_adopt_end(a, true, good ? err : NULL) && good;
}

bool rebuild_collections(struct app *app, struct reel_error *err) {
    json_t *all = store_load_collections(app->store, err), *value;
    const char *name;
    bool good = all;
    json_object_foreach(all, name, value) {
        struct reel_error none = {0};
        const char *text = json_string_value(value);
        if (good && text && !catalog_collection_describe(app->catalog, name, text, &none)) {
            good = none.code == REEL_NOT_FOUND || none.code == REEL_ARGUMENT || reel_error_pass(err, &none);
        }
    }
    json_decref(all);
    return good;
}

/* ---- the file itself */

/* A database, its log and the log's index. */
static const char *const catalog_files[] = {"", "-wal", "-shm"};
enum { CATALOG_FILES = sizeof catalog_files / sizeof *catalog_files };

static bool old_path(const char *catalog, unsigned n, const char *suffix, char out[PATH_MAX], struct reel_error *err) {
    int used = snprintf(out, PATH_MAX, "%s.old-%u%s", catalog, n, suffix);
    return (used > 0 && used < PATH_MAX) || reel_fail(err, REEL_ARGUMENT, "the path is too long");
}

/* The first number that none of the file names has. */
static bool free_number(const char *catalog, unsigned *n, struct reel_error *err) {
    char path[PATH_MAX];
    for (*n = 1; *n <= OLD_MAX; ++*n) {
        unsigned taken = 0;
        for (size_t i = 0; i < CATALOG_FILES; i++) {
            if (!old_path(catalog, *n, catalog_files[i], path, err)) {
                return false;
            }
            taken += access(path, F_OK) == 0;
        }
        if (taken == 0) {
            return true;
        }
    }
    return reel_fail(err, REEL_CONFLICT, "there are already %d old catalogs: remove those that are no longer needed",
                     OLD_MAX);
}

bool rebuild_set_catalog_aside(const char *catalog, char name[64], struct reel_error *err) {
    char from[PATH_MAX], to[PATH_MAX];
    unsigned n;
    if (!free_number(catalog, &n, err)) {
        return false;
    }
    snprintf(name, 64, "%.40s.old-%u", strrchr(catalog, '/') + 1, n);
    for (size_t i = 0; i < CATALOG_FILES; i++) {
        if (!old_path(catalog, n, catalog_files[i], to, err)) {
            return false;
        }
        snprintf(from, sizeof from, "%s%s", catalog, catalog_files[i]); /* shorter than `to` */
        if (access(from, F_OK) == 0 && rename(from, to) != 0) {
            return reel_fail_errno(err, "the old catalog cannot be moved aside");
        }
    }
    return disk_sync_folder_of(catalog, err);
}

static void count_added(void *context, const struct rebuild_entry *entry, const struct catalog_recording *r,
                        const char *why) {
    (void)entry, (void)why;
    *(uint64_t *)context += r != NULL;
}

bool rebuild_if_lost(struct app *app, uint64_t *n, struct reel_error *err) {
    AUTO_MEM char *copied = catalog_maintenance(app->catalog, "copied", err);
    struct rebuild_list list;
    bool fresh = false;
    *n = 0;
    if (!copied || !catalog_is_new(app->catalog, &fresh, err)) {
        return false;
    }
    if (!fresh && !copied[0]) {
        return true;
    }
    if (!rebuild_find(app, NULL, &list, err)) {
        return false;
    }
    bool good =
        rebuild_adopt(app, &list, &(struct rebuild_observer){.on_recording = count_added, .context = n}, NULL, err) &&
        (*n == 0 || rebuild_collections(app, err)) && settings_restore(app, err) &&
        (!copied[0] || catalog_set_maintenance(app->catalog, "copied", NULL, err));
    rebuild_list_done(&list);
    return good;
}
