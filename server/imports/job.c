/* An import as a job. After a crash it starts again; files that were imported are known by then. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/heap.h"
#include "imports/import.h"
#include "json_whole.h"

struct import_job {
    const struct reel_progress *progress;
    struct import_statistics statistics;
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
    json_t *o = json_pack("{s:o, s:s, s:s, s:s, s:b, s:o, s:I}", "paths", paths, "glob", q->glob ? q->glob : "",
                          "collection", q->collection ? q->collection : "", "mode", import_mode_name(q->mode),
                          "replace", q->replace, "tags", tags, "failure", (json_int_t)q->failure);
    char *text = o && json_array_size(paths) == q->n ? json_whole_text(o, JSON_COMPACT) : NULL;
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
    bool good =
        o && json_unpack(o, "{s:o, s:s, s:s, s:s, s:b, s:o, s:I}", "paths", &paths, "glob", &glob, "collection",
                         &collection, "mode", &mode, "replace", &replace, "tags", &tags, "failure", &failure) == 0;
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
            snprintf(text + used, sizeof text - used, "%s\"%s\":%llu", used > 1 ? "," : "",
                     import_outcome_name((enum import_outcome)i), (unsigned long long)j->statistics.outcomes[i]);
        }
    }
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "}");
    job_report(j->progress, text);
}

static void job_on_report(void *context, const struct import_report *report) {
    (void)report;
    report_outcome(context);
}

bool import_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    AUTO_STRUCT(import_request_done) struct import_request q = {0};
    struct import_job j = {.progress = call->progress};
    uint64_t failures = heap_failures();
    if (!read_request(call->options, &q)) {
        return heap_failures() != failures ? reel_fail_memory(err)
                                           : reel_fail(err, REEL_ARGUMENT, "the request of this import is malformed");
    }
    if (q.failure) {
        return import_again(app, q.failure, call->progress, err);
    }
    struct import_options options = import_request_options(&q);
    options.on_report = job_on_report;
    options.context = &j;
    bool good = import_paths(app, (const char *const *)q.paths, q.n, &options, call->progress, &j.statistics, err);
    report_outcome(&j);
    return good;
}

bool import_start(struct app *app, const struct import_request *q, char id[JOB_ID_TEXT], struct reel_error *err) {
    char subject[256], key[JOB_ID_TEXT];
    AUTO_MEM char *text = write_request(q);
    if (!text) {
        return reel_fail(err, REEL_ARGUMENT, "a path is not UTF-8");
    }
    if (q->failure) {
        snprintf(subject, sizeof subject, "failure %lld", (long long)q->failure);
    } else {
        snprintf(subject, sizeof subject, "%u path%s to %.150s, %s", q->n, q->n == 1 ? "" : "s", q->collection,
                 import_mode_name(q->mode));
    }
    const struct job_spec spec = {
        .kind = "import", .key = key, .collection = q->collection, .subject = subject, .options = text};
    return catalog_make_id(key, err) && jobs_add(app->jobs, &spec, id, err); /* its own key: each request is a job */
}
