/* Live recordings: POST /recordings/{id}/messages and …/finish. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/job_reply.h"
#include "api/recording.h"
#include "api/uploads/upload.h"
#include "api/uploads/uploads.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "live/live.h"
#include "recordings/names.h"
#include "reel/time.h"
#include "views/views.h"
#include "work/jobs.h"

static const int64_t FINISH_WAIT_NS = INT64_C(10000000000);

struct batch {
    uint8_t *bytes;
    size_t size, room;
    enum live_media media;
    bool is_form; /* what curl -d says */
};

static void free_batch(void *state) {
    struct batch *b = state;
    free(b->bytes);
    free(b);
}

static bool live_read_type(struct http_request *r, struct batch *b) {
    static const struct {
        const char *type;
        enum live_media media;
    } known[] = {{"application/x-ndjson", LIVE_JSON},       {"application/ndjson", LIVE_JSON},
                 {"application/jsonl", LIVE_JSON},          {"application/json-seq", LIVE_JSON},
                 {"application/json", LIVE_JSON},           {"application/x-www-form-urlencoded", LIVE_JSON},
                 {"application/msgpack", LIVE_MSGPACK},     {"application/x-msgpack", LIVE_MSGPACK},
                 {"application/vnd.msgpack", LIVE_MSGPACK}, {"application/vnd.mcap", LIVE_MCAP}};
    const char *type = http_header(r, "Content-Type");
    size_t size = type ? strcspn(type, "; ") : 0;
    b->media = LIVE_JSON;
    for (size_t i = 0; type && i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].type) == size && ascii_ncasecmp(known[i].type, type, size) == 0) {
            b->media = known[i].media;
            b->is_form = ascii_ncasecmp(type, "application/x-www", 17) == 0;
            return true;
        }
    }
    if (type) {
        http_reply_problem(
            r, 415, "unsupported-media-type",
            "messages are rows of JSON (application/x-ndjson), of MessagePack (application/msgpack) or MCAP records "
            "(application/vnd.mcap)");
    }
    return !type;
}

void api_append_begin(struct http_request *r) {
    enum { COPIES = 3 }; /* the body, its rows, the chunk */
    struct batch *b = calloc(1, sizeof *b);
    uint64_t length = LIVE_BODY_MAX;
    if (!b) {
        http_reply_no_memory(r);
        return;
    }
    http_set_state(r, b, free_batch);
    if (!live_read_type(r, b)) {
        return;
    }
    if (http_has_body_length(r, &length) && length > LIVE_BODY_MAX) {
        http_reply_problem(r, 413, "too-large", "one request may append at most %d MiB; send several",
                           LIVE_BODY_MAX >> 20);
        return;
    }
    http_reserve(r, COPIES * length);
}

bool api_append_piece(struct http_request *r, const void *data, size_t size) {
    struct batch *b = http_state(r);
    if (size > LIVE_BODY_MAX - b->size) {
        http_reply_problem(r, 413, "too-large", "one request may append at most %d MiB; send several",
                           LIVE_BODY_MAX >> 20);
        return false;
    }
    if (size > b->room - b->size) {
        size_t room = 2 * (b->size + size);
        uint8_t *bytes = realloc(b->bytes, room);
        if (!bytes) {
            http_reply_no_memory(r);
            return false;
        }
        b->bytes = bytes;
        b->room = room;
    }
    memcpy(b->bytes + b->size, data, size);
    b->size += size;
    http_keep_body(r, b->bytes, b->size);
    return true;
}

static json_t *view_appended(const struct live_appended *a) {
    char last[REEL_TIME_TEXT];
    reel_time_rfc3339(a->last_ns, last);
    json_t *body = json_pack("{s:I, s:o}", "appended", (json_int_t)a->messages, "last",
                             a->messages > 0 ? json_string(last) : json_null());
    if (a->repeated) {
        json_object_set_new(body, "repeated", json_true());
    }
    return body;
}

static void refuse_batch(struct http_request *r, const struct batch *b, const struct reel_error *err) {
    if (err->code == REEL_ARGUMENT && b->is_form && !memchr(b->bytes, '\n', b->size)) {
        http_reply_problem(r, 400, "bad-body",
                           "%s (curl -d removes the line ends of a file: send it with --data-binary @FILE)", err->text);
    } else if (err->code == REEL_ARGUMENT) {
        http_reply_problem(r, 400, "bad-body", "%s", err->text);
    } else {
        http_reply_error(r, err);
    }
}

void api_append(struct http_request *r) {
    struct batch *b = http_state(r);
    struct api_recording a;
    struct live_appended done;
    struct reel_time log_time;
    struct reel_error err = {0};
    struct live_batch batch = {
        .media = b->media, .body = {.data = b->bytes, .size = b->size}, .key = http_key(r), .durable = true};
    http_key_request(r, batch.request);
    if (!api_find_growing(r, &a)) {
        return;
    }
    http_param_bool(r, "durable", &batch.durable);
    if (http_param_time(r, "log_time", &log_time)) {
        batch.log_ns = reel_time_resolve(&log_time, 0, 0, reel_now_ns());
    }
    if (!http_caller_sees(http_caller(r), a.row.collection)) {
        http_reply_problem(r, 404, "not-found", "there is no such recording");
    } else if (live_append(http_app(r)->live, &a.row, &batch, &done, &err)) {
        if (done.repeated) {
            http_add_header(r, "Idempotent-Replayed", "true");
        }
        http_reply_json(r, 200, view_appended(&done));
    } else if (done.other) {
        http_reply_key_reused(r);
    } else {
        refuse_batch(r, b, &err);
    }
    api_recording_done(&a);
}

static void reply_finished(struct http_request *r, const char *id) {
    struct catalog_recording row;
    struct reel_error err = {0};
    if (!catalog_get(http_app(r)->catalog, id, &row, &err)) {
        http_reply_error(r, &err);
        return;
    }
    http_reply_json(r, 200, view_recording(&row, NULL));
    catalog_recording_done(&row);
}

void api_finish(struct http_request *r) {
    struct api_recording a;
    struct reel_error err = {0};
    char job[JOB_ID_TEXT];
    if (!api_find_growing(r, &a)) {
        return;
    }
    struct app *app = http_app(r);
    if (a.row.state != STATE_RECORDING) { /* finished before: the same answer */
        http_reply_json(r, 200, view_recording(&a.row, NULL));
    } else if (!live_finish(app->live, &a.row, job, &err)) {
        http_reply_error(r, &err);
    } else if (jobs_wait(app->jobs, job, api_wait_ns(r, FINISH_WAIT_NS), &err)) {
        reply_finished(r, a.row.id);
    } else if (err.code == REEL_CONFLICT) {
        api_reply_job(r, job);
    } else {
        http_reply_error(r, &err);
    }
    api_recording_done(&a);
}

bool api_live_may_record(struct http_request *r, bool live, const char *from) {
    struct reel_error err = {0};
    if (!live || !live_source_check(http_app(r), from, &err)) {
        http_reply_bad_param(r, "from", "%s", live ? err.text : "it is for live recordings: live=true");
        return false;
    }
    if (!live_source_try(http_app(r), from, &err)) {
        err.code == REEL_IO ? http_reply_problem(r, 422, "unreachable", "%s", err.text) : http_reply_error(r, &err);
        return false;
    }
    return true;
}

/* A recording without its source is ended. */
static bool begin_source(struct http_request *r, const char *from, struct ingest_result *result,
                         struct reel_error *err) {
    struct live *live = http_app(r)->live;
    struct reel_error ignored;
    char job[JOB_ID_TEXT];
    bool good = live_source_add(live, &result->recording, from, result->job, err);
    if (!good) {
        live_finish(live, &result->recording, job, &ignored);
    }
    return good;
}

void api_live_create(struct http_request *r, const struct ingest_request *q, const char *from,
                     struct ingest_result *out, struct reel_error *err) {
    *out = (struct ingest_result){.outcome = INGEST_REFUSED};
    if (q->format || q->part_of || q->keep) {
        reel_fail(err, REEL_ARGUMENT, "format, part_of and keep mean nothing for a live recording");
        return;
    }
    /* Without tokens all are anonymous: their addresses tell them apart. */
    char address[LIVE_OWNER_TEXT];
    snprintf(address, sizeof address, "address:%s", http_peer(r));
    const struct live_request request = {.collection = q->collection,
                                         .name = q->name,
                                         .owner = strcmp(http_caller(r)->how, "open") == 0 ? address : q->owner,
                                         .group = q->group,
                                         .annotations = q->annotations,
                                         .replace = q->replace};
    if (names_check(q->collection, q->name, err) && live_create(http_app(r)->live, &request, &out->recording, err) &&
        (!from || begin_source(r, from, out, err))) {
        out->outcome = INGEST_CREATED;
    }
}
