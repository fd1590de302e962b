/* /failures: what could not be taken in, and why. Files are named by their path below a root, recordings by their id. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/answer.h"
#include "api/common.h"
#include "api/paging.h"
#include "api/routes.h"
#include "api/table.h"
#include "ingest/import.h"
#include "ingest/scanning.h"
#include "store/roots.h"
#include "wire/bytes.h"
#include "wire/cleanup.h"
#include "wire/number.h"

enum { TRIES_MAX = 16 }; /* pages looked through for one answer to a caller who may see few of them */

struct failures_pass {
    const struct roots *roots;
    const struct reel_table *to;
    struct catalog_failure *rows;
    uint32_t n;
};

static const char *const columns[] = {"id", "path", "recording", "name", "collection", "code", "reason", "tries", "first", "last"};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void free_pass(void *context) {
    struct failures_pass *p = context;
    for (uint32_t i = 0; i < p->n; i++) {
        catalog_failure_done(&p->rows[i]);
    }
    free(p->rows);
    free(p);
}

static const char *code_name(enum reel_code code) {
    static const char *const names[] = {"unreadable", "not_recognised", "damaged",  "unsupported", "too_large",
                                        "refused",    "gone",           "conflict", "io",          "no_space",
                                        "no_memory",  "cancelled",      "changed"};
    return (size_t)code < sizeof names / sizeof *names ? names[code] : "unknown";
}

static struct reel_cell text_or_null(const char *text) {
    return text && text[0] ? reel_cell_text(bytes_text(text)) : (struct reel_cell){.kind = REEL_CELL_NULL};
}

/* Of a root that is none any more only the file's name is told. */
static char *path_of(const struct failures_pass *p, const struct catalog_failure *f) {
    const char *below = f->folder[0] ? roots_below(p->roots, f->folder) : NULL;
    char *path = NULL;
    if (below && strcmp(f->name, ".") == 0) { /* the folder itself */
        return strdup(below);
    }
    bool plain = !below || strcmp(below, ".") == 0;
    return asprintf(&path, "%s%s%s", plain ? "" : below, plain ? "" : "/", f->name) < 0 ? NULL : path;
}

static bool put_failure(const struct failures_pass *p, const struct catalog_failure *f) {
    char first[REEL_TIME_TEXT], last[REEL_TIME_TEXT];
    AUTO_MEM char *path = path_of(p, f);
    const char *name = strrchr(path ? path : "", '/');
    name = f->recording[0] ? f->recording_name : name ? name + 1 : path;
    const struct reel_cell cells[COLUMNS] = {reel_cell_integer(f->row),
                                             text_or_null(path),
                                             text_or_null(f->recording),
                                             text_or_null(name),
                                             text_or_null(f->collection),
                                             text_or_null(code_name(f->code)),
                                             text_or_null(f->reason),
                                             reel_cell_integer((int64_t)f->tries),
                                             reel_cell_text(bytes_of(first, reel_time_rfc3339(f->first_ns, first))),
                                             reel_cell_text(bytes_of(last, reel_time_rfc3339(f->last_ns, last)))};
    return p->to->row(p->to->context, cells, COLUMNS);
}

static bool step(void *context, bool *done, struct reel_error *err) {
    const struct failures_pass *p = context;
    bool good = p->to->columns(p->to->context, columns, COLUMNS);
    for (uint32_t i = 0; i < p->n && good; i++) {
        good = put_failure(p, &p->rows[i]);
    }
    *done = true;
    return (good && p->to->end(p->to->context)) || reel_fail_memory(err);
}

/* A page of what the caller may see. *more: where the next one goes on, 0 at the end. */
static bool fill(struct http_request *r, struct failures_pass *p, int64_t after, uint32_t limit, int64_t *more, struct reel_error *err) {
    uint32_t n = limit;
    *more = 0;
    for (unsigned tries = 0; p->n < limit && n > 0 && tries < TRIES_MAX; tries++) {
        struct catalog_failure *page = &p->rows[p->n];
        uint32_t kept = 0, room = limit - p->n;
        if (!catalog_failures_after(http_app(r)->catalog, after, page, room, &n, err)) {
            return false;
        }
        for (uint32_t i = 0; i < n; i++) {
            struct catalog_failure f = page[i];
            after = f.row;
            if (http_caller_sees(http_caller(r), f.collection)) {
                page[kept++] = f;
            } else {
                catalog_failure_done(&f);
            }
        }
        p->n += kept;
        *more = n == room ? after : 0;
    }
    return true;
}

void api_failures(struct http_request *r) {
    struct reel_error err = {0};
    uint32_t limit;
    int form;
    int64_t after = 0, more = 0;
    const char *media = api_table_form(r, REEL_TABLE_JSON, REEL_TABLE_JSON, &form);
    if (!media || !paging_limit(r, &limit) || !paging_after_row(r, &after)) {
        return;
    }
    AUTO(api_answer_free) struct api_answer *answer = api_answer_new(form, &err);
    struct failures_pass *p = answer ? calloc(1, sizeof *p) : NULL;
    if (!p || !(p->rows = calloc(limit, sizeof *p->rows))) {
        free(p);
        http_reply_no_memory(r);
        return;
    }
    p->roots = http_app(r)->roots;
    p->to = api_answer_rows(answer);
    if (!fill(r, p, after, limit, &more, &err)) {
        free_pass(p);
        http_reply_error(r, &err);
        return;
    }
    char next[32];
    snprintf(next, sizeof next, "%lld", (long long)more);
    if (more) {
        paging_link(r, next);
    }
    api_answer_reply(r, TAKE(answer), &(struct api_pass){.pass = p, .step = step, .free = free_pass}, media);
}

/* ---- one of them */

static bool find(struct http_request *r, struct catalog_failure *f) {
    struct reel_error err = {0};
    int64_t row;
    if (!number_i64(http_segment(r, "id"), &row)) {
        http_reply_problem(r, 404, "not-found", "there is no such failure");
        return false;
    }
    if (!catalog_failure_get(http_app(r)->catalog, row, f, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    if (!http_caller_sees(http_caller(r), f->collection)) {
        catalog_failure_done(f);
        http_reply_problem(r, 404, "not-found", "there is no such failure");
        return false;
    }
    return true;
}

void api_failure_forget(struct http_request *r) {
    AUTO(catalog_failure_done) struct catalog_failure f = {0};
    struct reel_error err = {0};
    if (!find(r, &f)) {
        return;
    }
    if (catalog_failure_forget(http_app(r)->catalog, f.row, &err)) {
        http_reply_empty(r, 204);
    } else {
        http_reply_error(r, &err);
    }
}

/* A file is imported once more, a recording that is kept is scanned once more. */
static bool try_again(struct app *app, const struct catalog_failure *f, char job[33], struct reel_error *err) {
    if (!f->recording[0]) {
        AUTO(import_request_done) struct import_request q = {.failure = f->row};
        q.collection = strdup(f->collection);
        return q.collection ? import_start(app, &q, job, err) : reel_fail_memory(err);
    }
    struct catalog_recording row;
    struct job_view view;
    if (!catalog_get(app->catalog, f->recording, &row, err)) {
        return false;
    }
    struct job *scan = scan_again(app, &row, err);
    catalog_recording_done(&row);
    if (scan) {
        job_view(scan, &view);
        memcpy(job, view.id, sizeof view.id);
        job_unref(scan);
    }
    return scan;
}

void api_failure_retry(struct http_request *r) {
    AUTO(catalog_failure_done) struct catalog_failure f = {0};
    struct reel_error err = {0};
    char job[33], address[64];
    if (!find(r, &f)) {
        return;
    }
    if (!try_again(http_app(r), &f, job, &err)) {
        http_reply_error(r, &err);
        return;
    }
    snprintf(address, sizeof address, "/api/v1/jobs/%s", job);
    http_add_header(r, "Location", address);
    http_reply_json(r, 202, json_pack("{s:s, s:s}", "id", job, "job", address));
}
