/* An import as a job. Its request is stored before the job is added and removed when the job has ended, so a crash restarts it; files
 * that were imported are known by then. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "ingest/import.h"
#include "wire/cleanup.h"

struct import_job {
    struct app *app;
    struct import_request q;
    struct import_options options; /* borrows from q */
    const struct reel_progress *progress;
    struct import_statistics statistics;
    int64_t row; /* of import_runs */
};

void import_request_done(struct import_request *q) {
    for (uint32_t i = 0; i < q->n; i++) {
        free(q->paths[i]);
    }
    free(q->paths);
    free(q->glob);
    free(q->collection);
    catalog_annotations_done(&q->annotations);
    *q = (struct import_request){0};
}

struct import_options import_request_options(const struct import_request *q) {
    return (struct import_options){.mode = q->mode,
                                   .collection = q->collection,
                                   .annotations = &q->annotations,
                                   .glob = q->glob && q->glob[0] ? q->glob : NULL,
                                   .replace = q->replace};
}

/* ---- as text */

static char *write_request(const struct import_request *q) {
    json_t *paths = json_array(), *tags = json_object();
    for (uint32_t i = 0; i < q->n; i++) {
        json_array_append_new(paths, json_string(q->paths[i]));
    }
    for (uint32_t i = 0; i < q->annotations.n_tags; i++) {
        json_object_set_new(tags, q->annotations.tags[i].key, json_string(q->annotations.tags[i].value));
    }
    json_t *o = json_pack("{s:o, s:s, s:s, s:s, s:b, s:o, s:I}", "paths", paths, "glob", q->glob ? q->glob : "", "collection",
                          q->collection ? q->collection : "", "mode", import_mode_name(q->mode), "replace", q->replace, "tags", tags,
                          "failure", (json_int_t)q->failure);
    char *text = o && json_array_size(paths) == q->n ? json_dumps(o, JSON_COMPACT) : NULL;
    json_decref(o);
    return text;
}

static bool read_paths(struct import_request *q, const json_t *paths) {
    size_t i;
    json_t *path;
    q->paths = calloc(json_array_size(paths) + 1, sizeof *q->paths);
    json_array_foreach(paths, i, path) {
        const char *text = json_string_value(path);
        if (!q->paths || !text || !(q->paths[q->n] = strdup(text))) {
            return false;
        }
        q->n++;
    }
    return q->paths;
}

static bool read_request(const char *text, struct import_request *q) {
    const char *glob, *collection, *mode, *key;
    json_t *paths, *tags, *value, *o = json_loads(text, 0, NULL);
    int replace;
    json_int_t failure;
    bool known = false;
    bool good = o && json_unpack(o, "{s:o, s:s, s:s, s:s, s:b, s:o, s:I}", "paths", &paths, "glob", &glob, "collection", &collection,
                                 "mode", &mode, "replace", &replace, "tags", &tags, "failure", &failure) == 0;
    if (good) {
        q->glob = strdup(glob);
        q->collection = strdup(collection);
        q->mode = import_mode_named(mode, &known);
        q->replace = replace;
        q->failure = failure;
        good = known && q->glob && q->collection && read_paths(q, paths);
        json_object_foreach(tags, key, value) {
            good = good && catalog_annotations_set_tag(&q->annotations, key, json_string_value(value), NULL);
        }
    }
    json_decref(o);
    return good;
}

/* ---- the job */

static void report_outcome(struct import_job *j) {
    char text[256] = "{";
    for (unsigned i = 0; i < IMPORT_OUTCOMES; i++) {
        size_t used = strlen(text);
        if (i != IMPORT_WOULD) {
            snprintf(text + used, sizeof text - used, "%s\"%s\":%llu", used > 1 ? "," : "", import_outcome_name((enum import_outcome)i),
                     (unsigned long long)j->statistics.outcomes[i]);
        }
    }
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "}");
    job_report(j->progress, text);
}

static void on_report(void *context, const struct import_report *report) {
    (void)report;
    report_outcome(context);
}

static bool work(void *context, const struct reel_progress *progress, struct reel_error *err) {
    struct import_job *j = context;
    struct reel_error ignored;
    j->progress = progress;
    j->options = import_request_options(&j->q);
    j->options.on_report = on_report;
    j->options.context = j;
    bool good = j->q.failure ? import_again(j->app, j->q.failure, progress, err)
                             : import_paths(j->app, (const char *const *)j->q.paths, j->q.n, &j->options, progress, &j->statistics, err);
    if (!j->q.failure) {
        report_outcome(j);
    }
    if (!jobs_closing(j->app->jobs) || (good && j->row)) { /* else it is restarted at the next start */
        catalog_import_run_over(j->app->catalog, j->row, &ignored);
    }
    return good;
}

static void job_free(void *context) {
    struct import_job *j = context;
    import_request_done(&j->q);
    free(j);
}

static bool queue(struct import_job *j, char id[33], struct reel_error *err) {
    char subject[256];
    struct job_view view;
    struct app *app = j->app;
    if (j->q.failure) {
        snprintf(subject, sizeof subject, "failure %lld", (long long)j->q.failure);
    } else {
        snprintf(subject, sizeof subject, "%u path%s to %.150s, %s", j->q.n, j->q.n == 1 ? "" : "s", j->q.collection,
                 import_mode_name(j->q.mode));
    }
    struct job *job = jobs_add_in(app->jobs, &(struct job_options){.kind = "import", .subject = subject, .collection = j->q.collection},
                                  work, j, job_free, err);
    if (!job) {
        return false;
    }
    job_view(job, &view);
    job_unref(job);
    if (id) {
        memcpy(id, view.id, sizeof view.id);
    }
    return true;
}

bool import_start(struct app *app, struct import_request *q, char id[33], struct reel_error *err) {
    AUTO_MEM char *text = write_request(q);
    int64_t row = 0;
    struct reel_error ignored;
    if (!text) {
        return reel_fail(err, REEL_ARGUMENT, "a path is not UTF-8");
    }
    struct import_job *j = catalog_import_run_add(app->catalog, text, &row, err) ? calloc(1, sizeof *j) : NULL;
    if (!j) {
        return row ? reel_fail_memory(err) : false;
    }
    *j = (struct import_job){.app = app, .q = *q, .row = row};
    *q = (struct import_request){0};
    if (!queue(j, id, err)) {
        catalog_import_run_over(app->catalog, row, &ignored);
        return false;
    }
    return true;
}

bool import_resume(struct app *app, struct reel_error *err) {
    int64_t row = 0;
    char *text;
    struct reel_error none = {0};
    while (catalog_import_run_after(app->catalog, &row, &text, &none)) {
        struct import_job *j = calloc(1, sizeof *j);
        bool good = j && read_request(text, &j->q);
        free(text);
        if (good) {
            j->app = app;
            j->row = row;
            if (!queue(j, NULL, err)) {
                return false;
            }
            continue;
        }
        if (j) {
            job_free(j);
        }
        catalog_import_run_over(app->catalog, row, &none);
    }
    return none.code == REEL_NOT_FOUND || reel_error_pass(err, &none);
}
