/* /imports: imports files of the server's machine, or objects of a bucket, that are below its import roots. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "api/body.h"
#include "api/change.h"
#include "api/job_reply.h"
#include "api/paging.h"
#include "api/recording.h"
#include "api/uploads/uploads.h"
#include "base/cleanup.h"
#include "imports/import.h"
#include "imports/watch.h"
#include "recordings/names.h"
#include "store/reference.h"
#include "store/roots.h"
#include "views/views.h"

static bool refuse_member(struct http_request *r, const char *member, const char *detail) {
    http_reply_problem_with(r, 400, "bad-body", "the body does not name any file to import",
                            json_pack("{s:[{s:s, s:s}]}", "errors", "member", member, "detail", detail));
    return false;
}

/* Resolves a path and checks that it exists below an import root. */
static bool read_path(struct http_request *r, const json_t *value, struct import_request *q) {
    const struct roots *roots = http_app(r)->roots;
    const char *text = json_string_value(value);
    char path[PATH_MAX];
    struct reel_error err = {0};
    if (!text || strlen(text) != json_string_length(value) || !text[0]) {
        return refuse_member(r, "path", "must be a text");
    }
    AUTO_FD int fd = roots_resolve(roots, text, path, &err) ? roots_open_file(roots, path, O_RDONLY, &err) : -1;
    if (fd < 0) {
        reel_error_at(&err, "%.200s", text);
        http_reply_error(r, &err);
        return false;
    }
    if (!(q->paths[q->n] = strdup(path))) {
        http_reply_no_memory(r);
        return false;
    }
    q->n++;
    return true;
}

static bool is_glob(const json_t *glob) {
    return !glob || (json_is_string(glob) && json_string_length(glob) <= NAME_BYTES_MAX);
}

/* The objects of a bucket. */
static bool read_url(struct http_request *r, const json_t *body, struct import_request *q) {
    const json_t *url = json_object_get(body, "url"), *glob = json_object_get(body, "glob");
    const char *text = json_string_value(url);
    struct reel_error err = {0};
    if (!text || strlen(text) != json_string_length(url) || !import_is_url(text)) {
        return refuse_member(r, "url", "must be of the form s3://BUCKET/PREFIX");
    }
    if (q->mode != IMPORT_REFERENCE) {
        return refuse_member(r, "mode", "must be reference: the objects stay where they are");
    }
    if (json_object_get(body, "path") || json_object_get(body, "paths") ||
        json_is_true(json_object_get(body, "dry_run"))) {
        return refuse_member(r, "url", "excludes path, paths and dry_run");
    }
    if (!is_glob(glob)) {
        return refuse_member(r, "glob", "must be a text of at most 255 bytes");
    }
    if (!import_may_read(http_app(r), text, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    q->paths = calloc(1, sizeof *q->paths);
    q->glob = strdup(glob ? json_string_value(glob) : "");
    if (!q->paths || !q->glob || !(q->paths[0] = strdup(text))) {
        http_reply_no_memory(r);
        return false;
    }
    q->n = 1;
    return true;
}

static bool read_paths(struct http_request *r, const json_t *body, struct import_request *q) {
    const json_t *one = json_object_get(body, "path"), *many = json_object_get(body, "paths"),
                 *glob = json_object_get(body, "glob");
    const struct roots *roots = http_app(r)->roots;
    size_t n = json_array_size(many), i;
    json_t *value;
    bool good = true;
    if (one && many) {
        return refuse_member(r, "paths", "path and paths exclude each other");
    }
    if ((many && (!json_is_array(many) || n == 0 || n > IMPORT_PATHS_MAX)) || !is_glob(glob)) {
        return refuse_member(r, many ? "paths" : "glob",
                             many ? "must be a list of 1 to 1000 texts" : "must be a text of at most 255 bytes");
    }
    if (!one && !many && !glob) {
        return refuse_member(r, "path", "one of path, paths, url and glob is needed");
    }
    if (!(q->paths = calloc(n + roots_count(roots) + 1, sizeof *q->paths)) ||
        !(q->glob = strdup(glob ? json_string_value(glob) : ""))) {
        http_reply_no_memory(r);
        return false;
    }
    if (one) {
        return read_path(r, one, q);
    }
    json_array_foreach(many, i, value) {
        good = good && read_path(r, value, q);
    }
    for (unsigned k = 0; !many && good && k < roots_count(roots); k++) { /* a glob without paths applies to all roots */
        json_t *folder = json_string(roots_folder(roots, k));
        good = read_path(r, folder, q);
        json_decref(folder);
    }
    if (good && q->n == 0) {
        http_reply_problem(r, 404, "not-found", "this server has no import roots: --import-root DIR names one");
    }
    return good && q->n > 0;
}

static bool imports_read_tags(struct http_request *r, const json_t *tags, struct import_request *q) {
    struct catalog_tag items[TAGS_MAX];
    struct reel_error err = {0};
    uint32_t n = 0;
    if (tags && !json_is_object(tags)) {
        return refuse_member(r, "tags", "must be an object of texts");
    }
    if (tags && !change_read_tags(r, tags, items, TAGS_MAX, &n)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (items[i].value && !catalog_annotations_set_tag(&q->annotations, items[i].key, items[i].value, &err)) {
            http_reply_error(r, &err);
            return false;
        }
    }
    return true;
}

static bool read_request(struct http_request *r, const json_t *body, struct import_request *q) {
    const json_t *collection = json_object_get(body, "collection"), *mode = json_object_get(body, "mode"),
                 *replace = json_object_get(body, "replace");
    struct reel_error err = {0};
    bool known = true;
    if ((collection && !json_is_string(collection)) || (replace && !json_is_boolean(replace))) {
        return refuse_member(r, collection && !json_is_string(collection) ? "collection" : "replace",
                             "is not of its type");
    }
    q->mode = mode ? import_mode_named(json_is_string(mode) ? json_string_value(mode) : "", &known) : IMPORT_COPY;
    if (!known) {
        return refuse_member(r, "mode", "must be copy, move or reference");
    }
    q->replace = json_is_true(replace);
    if (!(q->collection = strdup(collection ? json_string_value(collection) : "default"))) {
        http_reply_no_memory(r);
        return false;
    }
    if (!names_check(q->collection, "x", &err)) {
        http_reply_error(r, &err);
        return false;
    }
    return api_may_use(r, q->collection) && (json_object_get(body, "url") ? read_url : read_paths)(r, body, q) &&
           imports_read_tags(r, json_object_get(body, "tags"), q);
}

/* ---- dry runs */

struct listed {
    struct app *app;
    json_t *items;
    struct import_options options;
};

static void add_item(void *context, const struct import_report *report) {
    struct listed *l = context;
    const char *folder = roots_below(l->app->roots, report->folder);
    json_t *files = json_array();
    for (uint32_t i = 0; i < report->n; i++) {
        json_t *path =
            strcmp(folder, ".") == 0 ? json_string(report->names[i]) : json_sprintf("%s/%s", folder, report->names[i]);
        json_array_append_new(files, path ? path : json_string("(no UTF-8)"));
    }
    json_t *item = json_pack("{s:s, s:o, s:o}", "outcome", import_outcome_name(report->outcome), "files", files, "size",
                             view_u64(report->size));
    if (report->name) {
        struct catalog_recording there;
        bool taken = report->outcome == IMPORT_WOULD &&
                     catalog_get_named(l->app->catalog, l->options.collection, report->name, &there, NULL);
        json_object_set_new(item, "name", json_string(report->name));
        json_object_set_new(item, "name_taken", json_boolean(taken));
        if (taken) {
            catalog_recording_done(&there);
        }
    }
    if (report->format) {
        json_object_set_new(item, "format", json_string(report->format->name));
    }
    if (report->why) {
        json_object_set_new(item, "problem", json_string(report->why->text));
    }
    json_array_append_new(l->items, item);
}

static void reply_dry(struct http_request *r, const struct import_request *q) {
    struct listed l = {.app = http_app(r), .items = json_array(), .options = import_request_options(q)};
    struct import_statistics statistics = {0};
    struct reel_error err = {0};
    AUTO_MEM char *after = NULL;
    l.options.dry = true;
    l.options.on_report = add_item;
    l.options.context = &l;
    l.options.limit = paging_limit(r);
    if (!paging_after(r, &after)) {
        json_decref(l.items);
        return;
    }
    l.options.cursor = after;
    if (!import_paths(l.app, (const char *const *)q->paths, q->n, &l.options, NULL, &statistics, &err)) {
        json_decref(l.items);
        http_reply_error(r, &err);
        return;
    }
    static const char *const columns[] = {"outcome", "name", "name_taken", "format", "size", "files", "problem", NULL};
    paging_reply(r, l.items, statistics.next[0] ? statistics.next : NULL, columns);
}

void api_import(struct http_request *r) {
    static const char *const known[] = {"path",    "paths",      "url",  "glob",    "mode",
                                        "dry_run", "collection", "tags", "replace", NULL};
    AUTO_STRUCT(import_request_done) struct import_request q = {0};
    struct reel_error err = {0};
    const json_t *body = body_json(r);
    char job[33];
    if (!body || !body_knows(r, body, known)) {
        return;
    }
    const json_t *dry = json_object_get(body, "dry_run");
    if (dry && !json_is_boolean(dry)) {
        refuse_member(r, "dry_run", "must be true or false");
        return;
    }
    if (!read_request(r, body, &q)) {
        return;
    }
    if (json_is_true(dry)) {
        reply_dry(r, &q);
    } else if (!import_start(http_app(r), &q, job, &err)) {
        http_reply_error(r, &err);
    } else {
        api_reply_job(r, job);
    }
}

/* ---- watched folders */

static json_t *view_watch(const struct watch_view *w, unsigned number) {
    json_t *outcomes = json_object();
    for (unsigned i = IMPORT_CREATED; i < IMPORT_OUTCOMES; i++) {
        json_object_set_new(outcomes, import_outcome_name((enum import_outcome)i), view_u64(w->outcomes[i]));
    }
    json_t *scan = json_pack("{s:o?, s:o?, s:o, s:o}", "started",
                             w->scan_started_ns ? view_time(w->scan_started_ns, REEL_CLOCK_WALL) : NULL, "ended",
                             w->scan_ended_ns >= w->scan_started_ns && w->scan_ended_ns
                                 ? view_time(w->scan_ended_ns, REEL_CLOCK_WALL)
                                 : NULL,
                             "files", view_u64(w->scan_files), "folders", view_u64(w->scan_folders));
    json_t *o =
        json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "id", (int)number, "folder", w->name,
                  "collection", w->collection, "mode", import_mode_name(w->mode), "state", watch_state_name(w->state),
                  "note", w->note, "watched_folders", view_u64(w->folders), "waiting", view_u64(w->waiting), "queue",
                  view_u64(w->queue), "last_scan", scan, "counts", outcomes);
    return o;
}

void api_watches(struct http_request *r) {
    static const char *const columns[] = {"id",    "folder",    "collection",      "mode",
                                          "state", "note",      "watched_folders", "waiting",
                                          "queue", "last_scan", "counts",          NULL};
    json_t *items = json_array();
    struct watch_view w;
    for (unsigned i = 0; watches_view(http_app(r)->watches, i, &w); i++) {
        if (http_caller_sees(http_caller(r), w.collection)) {
            json_array_append_new(items, view_watch(&w, i));
        }
    }
    paging_reply(r, items, NULL, columns);
}
