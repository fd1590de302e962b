/* See batch.h. What became of a recording is written before the next one is changed, so a job that is run again goes on
 * with the first that has no result; it is changed twice at most, and the second time finds it as it should be: new
 * names were made with the batch. */
#include "recordings/batch.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "catalog/batches.h"
#include "catalog/notes.h"
#include "recordings/changing.h"
#include "recordings/names.h"
#include "scans/scan_job.h"
#include "stream/stream.h"

enum { PAGE = 100 };

struct batch {
    struct app *app;
    const struct job_call *call;
    json_t *options;
    const char *action;
    struct catalog_change change; /* texts are those of the options */
    struct catalog_tag tags[2 * TAGS_MAX];
};

static void batch_close(struct batch *b) {
    json_decref(b->options);
}

static bool batch_read_options(struct batch *b, struct reel_error *err) {
    b->options = json_loads(b->call->options, 0, NULL);
    b->action = json_string_value(json_object_get(b->options, "action"));
    json_t *change = json_object_get(b->options, "change"), *epoch = json_object_get(change, "epoch_ns"), *value;
    const char *key;
    if (!b->action) {
        return reel_fail(err, REEL_ARGUMENT, "the job has no action");
    }
    b->change.collection = json_string_value(json_object_get(change, "collection"));
    b->change.sets_epoch = epoch;
    b->change.has_epoch = json_is_integer(epoch);
    b->change.epoch_ns = json_integer_value(epoch);
    b->change.tags = b->tags;
    json_object_foreach(json_object_get(change, "tags"), key, value) {
        if (b->change.n_tags < 2 * TAGS_MAX) {
            b->tags[b->change.n_tags++] =
                (struct catalog_tag){.key = (char *)key, .value = (char *)json_string_value(value)};
        }
    }
    return true;
}

/* It may have moved since the batch was made. */
static bool may_change(const struct batch *b, const struct catalog_recording *row) {
    const json_t *allowed = json_object_get(b->options, "allowed");
    size_t i;
    json_t *glob;
    json_array_foreach((json_t *)allowed, i, glob) {
        if (reel_glob_match(json_string_value(glob), row->collection)) {
            return true;
        }
    }
    return !json_is_array(allowed);
}

static bool batch_change(const struct batch *b, const struct catalog_recording *row, const char *name, bool *changed,
                         struct reel_error *err) {
    struct catalog_change c = b->change;
    c.name = name[0] ? name : NULL;
    return names_check(c.collection ? c.collection : row->collection, c.name ? c.name : row->name, err) &&
           changing_apply(b->app, row, &c, changed, err);
}

static bool apply(const struct batch *b, const struct catalog_batch_item *item, bool *changed, struct reel_error *err) {
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording row = {0};
    char job[JOB_ID_TEXT];
    if (!catalog_get(b->app->catalog, item->recording, &row, err)) {
        return false;
    }
    if (!may_change(b, &row)) {
        return reel_fail(err, REEL_NOT_FOUND, "no recording has that id");
    }
    if (row.state == STATE_RECORDING) {
        return reel_fail(err, REEL_CONFLICT, "this recording is still growing");
    }
    *changed = strcmp(b->action, "restore") == 0 ? row.state == STATE_TRASHED : row.state != STATE_TRASHED;
    if (strcmp(b->action, "change") == 0) {
        return batch_change(b, &row, item->new_name, changed, err);
    }
    if (strcmp(b->action, "rescan") == 0 && row.state == STATE_ANNOUNCED) {
        return reel_fail(err, REEL_CONFLICT, "the file of this recording is still on the robot");
    }
    if (strcmp(b->action, "rescan") == 0) {
        return *changed ? scan_again(b->app, &row, job, err)
                        : reel_fail(err, REEL_CONFLICT, "this recording is in the trash");
    }
    return !*changed || (strcmp(b->action, "trash") == 0 ? changing_trash(b->app, &row, CATALOG_ANY_VERSION, err)
                                                         : changing_restore(b->app, &row, err));
}

/* False: the job cannot go on; what fails for one recording, such as a full quota, is its result. */
static bool run_item(const struct batch *b, struct catalog_batch_item *item, struct reel_error *err) {
    struct reel_error why = {0};
    bool changed = false, good = apply(b, item, &changed, &why);
    if (!good && why.code != REEL_NO_SPACE && reel_is_transient(why.code)) {
        return reel_error_pass(err, &why);
    }
    struct catalog_batch_item result = {.position = item->position,
                                        .state = !good     ? BATCH_FAILED
                                                 : changed ? BATCH_CHANGED
                                                           : BATCH_UNCHANGED,
                                        .problem = why.text};
    return catalog_batch_done(b->app->catalog, b->call->key, &result, err);
}

static bool batch_report(const struct batch *b, uint64_t *total, uint64_t *done, struct reel_error *err) {
    uint64_t counts[BATCH_STATES];
    char outcome[160];
    if (!catalog_batch_counts(b->app->catalog, b->call->key, counts, err)) {
        return false;
    }
    *done = counts[BATCH_CHANGED] + counts[BATCH_UNCHANGED] + counts[BATCH_FAILED];
    *total = *done + counts[BATCH_PENDING];
    snprintf(outcome, sizeof outcome, "{\"changed\": %llu, \"unchanged\": %llu, \"failed\": %llu, \"pending\": %llu}",
             (unsigned long long)counts[BATCH_CHANGED], (unsigned long long)counts[BATCH_UNCHANGED],
             (unsigned long long)counts[BATCH_FAILED], (unsigned long long)counts[BATCH_PENDING]);
    job_report(b->call->progress, outcome);
    return true;
}

static bool run_page(const struct batch *b, const struct catalog_batch_items *page, uint64_t done, uint64_t total,
                     struct reel_error *err) {
    const struct reel_progress *p = b->call->progress;
    for (uint32_t i = 0; i < page->n; i++) {
        if (page->items[i].state != BATCH_PENDING) {
            continue;
        }
        if (!p->report(p->context, done++, total)) {
            return reel_fail(err, REEL_CANCELLED, "it was cancelled");
        }
        if (!run_item(b, &page->items[i], err)) {
            return false;
        }
    }
    return true;
}

bool batch_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    AUTO_STRUCT(batch_close) struct batch b = {.app = app, .call = call};
    if (!batch_read_options(&b, err)) {
        return false;
    }
    int64_t after = 0;
    bool good = true, more = true;
    struct reel_error ignored = {0};
    uint64_t total, done;
    while (good && more) {
        struct catalog_batch_items page;
        good = batch_report(&b, &total, &done, err) &&
               catalog_batch_after(app->catalog, call->key, after, PAGE, &page, err);
        if (good) {
            more = page.more;
            after = page.n > 0 ? page.items[page.n - 1].position : after;
            good = run_page(&b, &page, done, total, err);
            catalog_batch_items_done(&page);
        }
    }
    return batch_report(&b, &total, &done, good ? err : &ignored) && good;
}
