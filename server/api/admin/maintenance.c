/* Maintenance that is started here and done by jobs: backup, integrity check (scrub). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/admin/admin.h"
#include "api/job_reply.h"
#include "api/rows.h"
#include "app.h"
#include "catalog/maintenance.h"
#include "maintenance/backup.h"
#include "maintenance/scrub.h"

enum { MB = 1000000, SCRUB_DEFAULT_MB = 50 };

static void reply_job(struct http_request *r, bool started, const char *id, const struct reel_error *err) {
    if (started) {
        api_reply_job(r, id);
    } else {
        http_reply_error(r, err);
    }
}

void api_backup(struct http_request *r) {
    const char *options = http_param(r, "blobs");
    struct reel_error err = {0};
    char id[JOB_ID_TEXT];
    enum backup_blobs blobs = BACKUP_NO_BLOBS;
    for (unsigned i = 0; options && backup_blobs_names[i]; i++) {
        blobs = strcmp(backup_blobs_names[i], options) == 0 ? (enum backup_blobs)i : blobs;
    }
    reply_job(r, backup_start(http_app(r), blobs, id, &err), id, &err);
}

void api_backup_last(struct http_request *r) {
    struct reel_error err = {0};
    char *text = catalog_maintenance(http_app(r)->catalog, "backup", &err);
    json_t *last = text && text[0] ? json_loads(text, 0, NULL) : text ? json_object() : NULL;
    if (last) {
        json_object_set_new(last, "state", json_string(text[0] ? "done" : "none"));
        http_reply_json(r, 200, last);
    } else {
        http_reply_error(r, &err);
    }
    free(text);
}

void api_scrub(struct http_request *r) {
    struct scrub_options options = {0};
    struct reel_error err = {0};
    char id[JOB_ID_TEXT];
    uint64_t rate = SCRUB_DEFAULT_MB;
    if (!http_param_u64(r, "mb_per_second", &rate)) {
        http_param_u64(r, "rate", &rate);
    }
    options.bytes_per_s = rate * MB;
    http_param_bool(r, "restart", &options.from_start);
    reply_job(r, scrub_start(http_app(r), &options, id, &err), id, &err);
}

static bool sees(const void *context, const char *collection) {
    return http_caller_sees(context, collection);
}

void api_scrub_last(struct http_request *r) {
    static const char *const columns[] = {"sha256", "found", "problem", "recordings", NULL};
    struct rows_form form;
    struct reel_error err = {0};
    json_t *last = rows_form(r, &form) ? scrub_last(http_app(r), sees, http_caller(r), &err) : NULL;
    if (last) { /* the rows are the files */
        rows_reply(r, &form, last, json_incref(json_object_get(last, "corrupted_files")), columns);
    } else if (err.code != REEL_OK) {
        http_reply_error(r, &err);
    }
}
