/* Checks each stored file against the catalog. While a server runs (on a bucket, another one may), only old files are
 * reported; a new one may belong to an upload that is not in the catalog yet. */
#include <stdio.h>
#include <string.h>

#include "catalog/maintenance.h"
#include "catalog/uploads.h"
#include "maintenance/fsck_internal.h"
#include "maintenance/rebuild.h"
#include "reel/cleanup.h"
#include "reel/time.h"
#include "store/inspect.h"

#define NEW_NS (600 * INT64_C(1000000000))

static bool may_be_under_way(const struct fsck *f, int64_t written_ns) {
    return (!f->report->alone || store_is_bucket(f->app.store)) && written_ns > f->began_ns - NEW_NS;
}

/* ---- recordings missing in the catalog */

static void report_unknown(void *context, const struct rebuild_entry *e, const struct catalog_recording *r,
                           const char *why) {
    struct fsck *f = context;
    char subject[320], how[320];
    if (!r) {
        fsck_found(f, FSCK_MANIFEST, e->id, NULL, "its entry in the manifest of %s is invalid: %s", e->content, why);
        return;
    }
    f->wrote = true;
    snprintf(subject, sizeof subject, "%.32s (%.120s/%.150s)", r->id, r->collection, r->name);
    snprintf(how, sizeof how, "in the catalog again, %s%s%.200s", recording_state_name(r->state),
             r->problem[0] ? ": " : "", r->problem);
    fsck_found(f, FSCK_UNKNOWN, subject, how, "it is in a manifest, but not in the catalog");
}

static bool find_unknown(struct fsck *f, struct reel_error *err) {
    struct rebuild_list list;
    if (!rebuild_find(&f->app, NULL, &list, err)) {
        return false;
    }
    f->report->manifests = list.manifests;
    bool good = true;
    if (f->repair) {
        const struct rebuild_observer observer = {.on_recording = report_unknown, .context = f};
        good = rebuild_adopt(&f->app, &list, &observer, f->options->progress, err);
    }
    for (size_t i = 0; i < list.n && !f->repair; i++) {
        bool has = false;
        if (!may_be_under_way(f, list.items[i].created_ns) &&
            catalog_has(f->app.catalog, list.items[i].id, &has, err) && !has) {
            fsck_found(f, FSCK_UNKNOWN, list.items[i].id, NULL, "it is in the manifest of %s, but not in the catalog",
                       list.items[i].content);
        }
    }
    rebuild_list_done(&list);
    return good;
}

/* ---- unused files */

struct orphan {
    char hex[SHA256_HEX], suffix[32];
};
struct orphans {
    struct fsck *f;
    struct orphan *items;
    size_t n, room;
};

static bool add_orphan(struct orphans *o, const char *hex, const char *suffix) {
    if (o->n == o->room) {
        o->room = o->room ? 2 * o->room : 64;
        struct orphan *more = realloc(o->items, o->room * sizeof *more);
        if (!more) {
            return reel_fail_memory(&o->f->error);
        }
        o->items = more;
    }
    struct orphan *one = &o->items[o->n++];
    snprintf(one->hex, sizeof one->hex, "%s", hex);
    snprintf(one->suffix, sizeof one->suffix, "%s", suffix);
    return true;
}

static bool visit_file(void *context, const char *hex, const char *suffix, int64_t written_ns) {
    struct orphans *o = context;
    struct fsck *f = o->f;
    bool blob = !*suffix || strcmp(suffix, ".ref") == 0, content = store_is_of_content(suffix), used = false;
    if (!fsck_step(f, f->report->recordings + ++f->report->files)) {
        return false;
    }
    if (may_be_under_way(f, written_ns)) {
        return true;
    }
    if ((blob || content) &&
        !(blob ? catalog_blob_used : catalog_content_used)(f->app.catalog, hex, &used, &f->error)) {
        return false;
    }
    return used || strlen(suffix) >= sizeof o->items->suffix || add_orphan(o, hex, suffix);
}

/* Packs can be rebuilt; any other file may be the only copy. */
static void repair_orphan(struct fsck *f, const struct orphan *one) {
    struct reel_error err;
    char subject[128];
    bool file = !one->suffix[0] || strcmp(one->suffix, ".ref") == 0, ours = file || store_is_of_content(one->suffix);
    snprintf(subject, sizeof subject, "%s%s", one->hex, one->suffix);
    bool repaired = f->repair && (ours ? store_set_aside(f->app.store, one->hex, one->suffix, &err)
                                       : store_remove_leftover(f->app.store, one->hex, one->suffix, &err));
    const char *what = file   ? "no recording uses this file"
                       : ours ? "no recording has this content"
                              : "work on it ended in the middle";
    fsck_found(f, ours ? FSCK_ORPHAN : FSCK_LEFTOVER, subject,
               !repaired ? NULL
               : ours    ? "moved to lost+found"
                         : "removed",
               "%s", what);
}

static bool find_orphans(struct fsck *f, struct reel_error *err) {
    struct orphans o = {.f = f};
    bool good = store_each(f->app.store, visit_file, &o, err) &&
                (f->error.code == REEL_OK || reel_fail(err, f->error.code, "%s", f->error.text));
    for (size_t i = 0; i < o.n && good; i++) {
        repair_orphan(f, &o.items[i]);
    }
    free(o.items);
    return good;
}

/* ---- incoming */

static void visit_incoming(void *context, const char *name, const char *id) {
    struct fsck *f = context;
    struct catalog_upload upload = {0};
    struct reel_error none = {0};
    bool known = id && (catalog_upload_get(f->app.catalog, id, &upload, &none) || none.code != REEL_NOT_FOUND);
    catalog_upload_done(&upload);
    if (!known) {
        bool repaired = f->repair && store_remove_incoming(f->app.store, name, &none);
        fsck_found(f, FSCK_LEFTOVER, name, repaired ? "removed" : NULL,
                   "left over from an upload that cannot be resumed");
    }
}

bool fsck_files(struct fsck *f, struct reel_error *err) {
    return find_unknown(f, err) && find_orphans(f, err) &&
           (!f->report->alone || store_each_incoming(f->app.store, visit_incoming, f, err));
}
