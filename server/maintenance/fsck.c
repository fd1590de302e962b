/* See fsck.h. */
#include "maintenance/fsck_internal.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "catalog/access.h"
#include "catalog/attach.h"
#include "catalog/location.h"
#include "catalog/maintenance.h"
#include "maintenance/rebuild.h"
#include "maintenance/settings.h"
#include "manifests/manifests.h"
#include "reel/time.h"
#include "store/inspect.h"
#include "store/reference.h"
#include "store/roots.h"
#include "store/tokens_record.h"

const char *fsck_kind_name(enum fsck_kind kind) {
    static const char *const names[] = {"catalog",  "totals",  "search", "file",    "index",
                                        "manifest", "unknown", "orphan", "leftover"};
    return names[kind];
}

void fsck_found(struct fsck *f, enum fsck_kind kind, const char *subject, const char *repaired, const char *format,
                ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    f->report->found++;
    f->report->repaired += repaired != NULL;
    if (f->options->found) {
        f->options->found(f->options->context, kind, subject, text, repaired);
    }
}

bool fsck_step(struct fsck *f, uint64_t done) {
    const struct reel_progress *p = f->options->progress;
    return !p || !p->report || p->report(p->context, done, 0) || reel_fail(&f->error, REEL_CANCELLED, "cancelled");
}

/* ---- the catalog by itself */

static void report_catalog(void *context, const char *kind, const char *text) {
    struct fsck *f = context;
    enum fsck_kind k = strcmp(kind, "totals") == 0   ? FSCK_TOTALS
                       : strcmp(kind, "search") == 0 ? FSCK_SEARCH
                                                     : FSCK_CATALOG;
    bool repaired = f->repair && k != FSCK_CATALOG;
    f->wrote = f->wrote || repaired;
    fsck_found(f, k, "catalog", repaired ? "recounted" : NULL, "%s", text);
}

static bool check_catalog(struct fsck *f, struct reel_error *err) {
    struct reel_error why = {0};
    const struct catalog_check check = {.report = report_catalog, .context = f, .writes = f->repair};
    if (catalog_check(f->app.catalog, &check, &why)) {
        return true;
    }
    if (why.code != REEL_CATALOG) {
        return reel_error_pass(err, &why);
    }
    fsck_found(f, FSCK_CATALOG, "catalog", NULL, "%s; --rebuild restores it", why.text);
    return true;
}

/* After repairs: updates totals and search index, and writes the manifests that are due. */
static bool fsck_finish(struct fsck *f, struct reel_error *err) {
    return !f->wrote || (catalog_repair(f->app.catalog, err) && manifests_write_due(&f->app, 0, NULL, err));
}

static bool check_all(struct fsck *f, struct reel_error *err) {
    return check_catalog(f, err) && fsck_rows(f, err) && fsck_files(f, err) &&
           (!store_is_bucket(f->app.store) || fsck_bucket(f, err)) && fsck_finish(f, err);
}

/* ---- opening */

/* The store is opened read-only, so nothing is swept before it is reported. */
static bool open_for_reading(struct fsck *f, struct reel_error *err) {
    char path[PATH_MAX];
    struct reel_error why = {0};
    if (!catalog_location(f->options->data, path, err) ||
        !(f->app.store = store_open_readonly(f->options->data, &f->report->alone, err))) {
        return false;
    }
    f->app.catalog = catalog_open_readonly(path, &why);
    if (f->app.catalog) {
        return catalog_attach(f->app.catalog, f->app.store, err);
    }
    if (why.code == REEL_CATALOG || why.code == REEL_NOT_FOUND) {
        fsck_found(f, FSCK_CATALOG, "catalog", NULL, "%s%s", why.text,
                   strstr(why.text, "--rebuild") ? "" : "; --rebuild restores it from the stored files");
        return true;
    }
    return reel_error_pass(err, &why);
}

static void drop_incoming(void *context, const char *name, const char *id) {
    struct fsck *f = context;
    if (!id) {
        fsck_found(f, FSCK_LEFTOVER, name, "removed", "of an upload that ended in the middle");
    }
}

/* A catalog that is put aside takes its tokens with it: that the archive has had some is recorded beside the data, also
 * when the catalog cannot be read. One of a newer version stays. */
static bool put_catalog_aside(struct fsck *f, const char *path, struct reel_error *err) {
    const char *data = f->options->data;
    struct reel_error why = {0};
    bool exist = false, known = catalog_has_tokens(path, &exist, &why) || why.code == REEL_NOT_FOUND, recorded;
    if (why.code == REEL_UNSUPPORTED || why.code == REEL_BUSY || why.code == REEL_NO_MEMORY) {
        return reel_error_pass(err, &why);
    }
    if (!tokens_record_exists(data, NULL, &recorded, err)) {
        return false;
    }
    f->report->tokens_unknown = !known && !recorded;
    return ((known && !exist) || tokens_record_write(data, NULL, err)) &&
           rebuild_set_catalog_aside(path, f->report->old_catalog, err);
}

/* The record in the data folder may be new: also into the bucket, if there is one. */
static bool check_record(struct fsck *f, struct reel_error *err) {
    const char *data = f->options->data;
    bool exist;
    return tokens_record_exists(data, f->app.store, &f->report->tokens_lost, err) &&
           (!f->report->tokens_lost ||
            (tokens_record_restore(data, f->app.store, err) && catalog_tokens_exist(f->app.catalog, &exist, err) &&
             ((f->report->tokens_lost = !exist), true)));
}

/* Opening it sweeps incoming/, which is reported first. */
static bool open_for_repair(struct fsck *f, struct reel_error *err) {
    char path[PATH_MAX];
    struct store *readonly = catalog_location(f->options->data, path, err)
                                 ? store_open_readonly(f->options->data, &f->report->alone, err)
                                 : NULL;
    bool good = readonly &&
                (f->report->alone ||
                 reel_fail(err, REEL_CONFLICT,
                           "a server uses this data folder: stop it to repair; checking alone is possible now")) &&
                store_each_incoming(readonly, drop_incoming, f, err);
    store_close(readonly);
    if (!good || !(f->app.store = store_open(f->options->data, err))) {
        return false;
    }
    if (f->options->rebuild && !put_catalog_aside(f, path, err)) {
        return false;
    }
    return (f->app.catalog = catalog_open_upgrading(path, err)) && catalog_attach(f->app.catalog, f->app.store, err) &&
           check_record(f, err) && catalog_is_new(f->app.catalog, &f->fresh, err) &&
           (!f->fresh || catalog_claim_again(f->app.catalog, f->app.store, err));
}

/* Every recording is unknown then. */
static bool rebuild(struct fsck *f, struct reel_error *err) {
    bool good = fsck_files(f, err) && rebuild_collections(&f->app, err) && settings_restore(&f->app, err);
    f->report->files = 0; /* they are checked once more */
    return good;
}

bool fsck_run(const struct fsck_options *options, struct fsck_report *out, struct reel_error *err) {
    struct fsck f = {
        .options = options, .report = out, .repair = options->repair || options->rebuild, .began_ns = reel_now_ns()};
    *out = (struct fsck_report){0};
    f.app.roots = roots_open(options->roots, err);
    bool good = f.app.roots && (f.repair ? open_for_repair(&f, err) : open_for_reading(&f, err));
    if (good && f.app.catalog) {
        store_set_roots(f.app.store, f.app.roots);
        f.made_new = options->rebuild || f.fresh;
        good = (!f.made_new || rebuild(&f, err)) && check_all(&f, err);
    }
    catalog_close(f.app.catalog);
    store_close(f.app.store);
    roots_close(f.app.roots);
    return good;
}
