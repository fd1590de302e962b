/* See retention.h. The dry run and the run use the same walk. */
#include "maintenance/retention.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/access.h"
#include "catalog/maintenance.h"
#include "json_whole.h"
#include "manifests/manifests.h"
#include "recordings/ingest.h"
#include "reel/time.h"
#include "work/jobs.h"

static const int64_t DAY_NS = INT64_C(86400) * 1000000000;
static const char LAST[] = "retention-last";

void retention_walk_done(struct retention_walk *w) {
    free(w->collection);
    *w = (struct retention_walk){0};
}

char *retention_walk_text(const struct retention_walk *w) {
    char *text = NULL;
    int n = asprintf(&text, "%c:%lld:%" PRIu64 ":%s", w->in_trash ? 'p' : 't', (long long)w->row, w->bytes,
                     w->collection ? w->collection : "");
    return n >= 0 ? text : NULL;
}

bool retention_walk_parse(const char *text, struct retention_walk *out) {
    char phase;
    long long row;
    int at = 0;
    *out = (struct retention_walk){0};
    if (sscanf(text, "%c:%lld:%" SCNu64 ":%n", &phase, &row, &out->bytes, &at) != 3 || at == 0 ||
        (phase != 't' && phase != 'p')) {
        return false;
    }
    out->in_trash = phase == 'p';
    out->row = row;
    out->collection = strdup(text + at);
    return out->collection;
}

void retention_items_done(struct retention_item *items, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        retention_rows_done(&items[i].row, 1);
    }
}

/* ---- the walk */

/* Moves on to the next collection, and after the last one to the trash. */
static bool next_collection(struct app *app, struct retention_walk *w, struct reel_error *err) {
    w->row = 0;
    if (!w->collection && !(w->collection = strdup(""))) {
        return reel_fail_memory(err);
    }
    if (!catalog_retention_collection(app->catalog, &w->collection, &w->bytes, err)) {
        return false;
    }
    w->in_trash = !w->collection;
    return true;
}

/* Whether a rule applies to this recording. */
static bool goes(const json_t *rule, int64_t now_ns, uint64_t held, const struct retention_row *r,
                 enum retention_why *why) {
    int64_t age_ns = 0;
    const char *age = json_string_value(json_object_get(rule, "max_age"));
    const json_t *bytes = json_object_get(rule, "max_size");
    if (r->kept) {
        return false;
    }
    if (age && reel_duration_parse(age, &age_ns, NULL) && now_ns - r->created_ns > age_ns) {
        *why = RETENTION_AGE;
        return true;
    }
    *why = RETENTION_BYTES;
    return bytes && r->size > 0 && held > (uint64_t)json_integer_value(bytes);
}

/* Part of a collection that has a rule: w->row is -1 at its end. */
static bool step_rule(struct app *app, const json_t *rule, int64_t now_ns, struct retention_walk *w, uint32_t most,
                      struct retention_item *out, uint32_t *n, struct reel_error *err) {
    struct retention_row rows[RETENTION_STEP];
    uint32_t n_rows = 0;
    const json_t *keep = json_object_get(rule, "keep");
    AUTO_MEM char *tags = keep ? json_whole_text(keep, JSON_COMPACT) : strdup("{}");
    if (!tags) {
        return reel_fail_memory(err);
    }
    if (!catalog_retention_rows(app->catalog, w->collection, tags, w->row, rows, most, &n_rows, err)) {
        return false;
    }
    for (uint32_t i = 0; i < n_rows; i++) {
        enum retention_why why;
        w->row = rows[i].row;
        if (goes(rule, now_ns, w->bytes, &rows[i], &why)) {
            w->bytes -= rows[i].size < w->bytes ? rows[i].size : w->bytes;
            out[(*n)++] = (struct retention_item){.row = rows[i], .why = why};
        } else {
            retention_rows_done(&rows[i], 1);
        }
    }
    w->row = n_rows < most ? -1 : w->row;
    return true;
}

static bool step_trash(struct app *app, int64_t now_ns, struct retention_walk *w, uint32_t most,
                       struct retention_item *out, uint32_t *n, struct reel_error *err) {
    struct retention_row rows[RETENTION_STEP];
    uint32_t n_rows = 0;
    int64_t days = app->config.trash_days;
    if (days > 0 && !catalog_retention_trash(app->catalog, now_ns - days * DAY_NS, w->row, rows, most, &n_rows, err)) {
        return false;
    }
    for (uint32_t i = 0; i < n_rows; i++) {
        w->row = rows[i].row;
        out[(*n)++] = (struct retention_item){.row = rows[i], .why = RETENTION_TRASH};
    }
    w->over = n_rows < most;
    return true;
}

bool retention_step(struct app *app, const json_t *document, int64_t now_ns, struct retention_walk *w, uint32_t most,
                    struct retention_item *out, uint32_t *n, struct reel_error *err) {
    *n = 0;
    most = most < RETENTION_STEP ? most : RETENTION_STEP;
    while (!w->in_trash) {
        const json_t *rule = w->collection && w->row >= 0 ? retention_of(document, "rules", w->collection) : NULL;
        if (rule) {
            return step_rule(app, rule, now_ns, w, most, out, n, err);
        }
        if (!next_collection(app, w, err)) {
            return false;
        }
    }
    return step_trash(app, now_ns, w, most, out, n, err);
}

/* ---- the run */

struct run {
    struct app *app;
    json_t *document;
    uint64_t trashed, purged, failed, bytes;
};

static bool do_one(struct run *run, const struct retention_item *item, struct reel_error *err) {
    if (item->why == RETENTION_TRASH) {
        if (!ingest_purge(run->app, item->row.id, err)) {
            return false;
        }
        run->purged++;
        run->bytes += item->row.size;
        return true;
    }
    if (!catalog_trash(run->app->catalog, item->row.id, err)) {
        return false;
    }
    manifests_changed(run->app);
    run->trashed++;
    return true;
}

static bool report_goes_on(const struct run *run, const struct reel_progress *progress) {
    return !progress->report || progress->report(progress->context, run->trashed + run->purged, 0);
}

/* Counts what was done and adds it to the audit log; recordings that were deleted meanwhile do not count. */
static void do_all(struct run *run, const struct retention_item *items, uint32_t n,
                   const struct reel_progress *progress) {
    static struct audit_row rows[RETENTION_STEP]; /* one run at a time */
    static char paths[RETENTION_STEP][96];
    uint32_t n_rows = 0;
    struct reel_error err;
    for (uint32_t i = 0; i < n && report_goes_on(run, progress); i++) {
        bool good = do_one(run, &items[i], &err);
        if (!good && err.code == REEL_NOT_FOUND) {
            continue;
        }
        run->failed += !good;
        snprintf(paths[n_rows], sizeof paths[n_rows], "/api/v1/recordings/%s%s", items[i].row.id,
                 items[i].why == RETENTION_TRASH ? "?purge=true" : "");
        rows[n_rows] = (struct audit_row){.time_ns = reel_now_ns(),
                                          .caller = "retention",
                                          .how = "job",
                                          .peer = "",
                                          .method = "DELETE",
                                          .path = paths[n_rows],
                                          .request = "",
                                          .status = good ? 204 : 500};
        n_rows++;
    }
    catalog_audit_add(run->app->catalog, rows, n_rows, NULL);
}

static void report_progress(struct run *run, const struct reel_progress *progress) {
    char text[200], time[REEL_TIME_TEXT];
    reel_time_rfc3339(reel_now_ns(), time);
    snprintf(text, sizeof text,
             "{\"ended\":\"%s\",\"trashed\":%" PRIu64 ",\"purged\":%" PRIu64 ",\"failed\":%" PRIu64
             ",\"purged_size\":%" PRIu64 "}",
             time, run->trashed, run->purged, run->failed, run->bytes);
    job_report(progress, text);
    catalog_set_maintenance(run->app->catalog, LAST, text, NULL);
}

static bool maintenance_retention_walk(struct run *run, const struct reel_progress *progress, struct reel_error *err) {
    struct retention_walk w = {0};
    AUTO_MEM struct retention_item *items = calloc(RETENTION_STEP, sizeof *items);
    int64_t now_ns = reel_now_ns();
    bool good = items || reel_fail_memory(err);
    while (good && !w.over) {
        uint32_t n = 0;
        good = retention_step(run->app, run->document, now_ns, &w, RETENTION_STEP, items, &n, err);
        if (n > 0) {
            do_all(run, items, n, progress);
        }
        retention_items_done(items, n);
        if (good && !report_goes_on(run, progress)) {
            good = reel_fail(err, REEL_CANCELLED, "cancelled; the recordings moved so far are in the trash");
        }
    }
    retention_walk_done(&w);
    report_progress(run, progress);
    return good && (run->failed == 0 ||
                    reel_fail(err, REEL_IO, "%" PRIu64 " recordings could not be deleted; the next run tries again",
                              run->failed));
}

bool retention_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    struct run run = {.app = app, .document = retention_get(app->catalog, err)};
    bool good = run.document && maintenance_retention_walk(&run, call->progress, err);
    json_decref(run.document);
    return good;
}

bool retention_is_due(struct app *app) {
    json_auto_t *document = retention_get(app->catalog, NULL), *last = retention_last(app->catalog, NULL);
    struct reel_time ended;
    const char *text = json_string_value(json_object_get(last, "ended"));
    bool any = document && (json_array_size(json_object_get(document, "rules")) > 0 || app->config.trash_days > 0);
    return any && (!text || !reel_time_parse(text, 1, &ended, NULL) || reel_now_ns() - ended.ns >= DAY_NS);
}

json_t *retention_last(struct catalog *c, struct reel_error *err) {
    AUTO_MEM char *text = catalog_maintenance(c, LAST, err);
    return text && *text ? json_loads(text, 0, NULL) : NULL;
}
