/* See record_remote.h. Each batch has an Idempotency-Key, so that one whose answer was lost can be sent again. */
#include "cli/record_remote.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "cli/push_http.h"
#include "reel/time.h"

enum { PAUSE_MAX_S = 30, URL_ROOM = 2048, PARTS_MAX = 1000 };

struct record_remote {
    struct record_remote_options options;
    struct push_http *http;
    struct push_answer answer; /* 64 KiB */
    char *api, id[33];
    uint64_t batches;
    unsigned part; /* of the name: NAME-2, NAME-3 … */
};

/* Ctrl-C ends what is recorded; the recording is finished all the same. push_http asks without a context, and there is
 * one recording. */
static bool (*go_on_with)(void);
static bool record_remote_go_on(void) {
    return !go_on_with || go_on_with();
}
/* A batch that is on its way is not broken off: nobody would know whether it was appended. */
static bool always(void) {
    return true;
}

struct body {
    struct reel_bytes left;
};
static bool read_body(void *context, void *buffer, size_t size, size_t *got) {
    struct body *b = context;
    *got = b->left.size < size ? b->left.size : size;
    memcpy(buffer, b->left.data, *got);
    b->left.data += *got;
    b->left.size -= *got;
    return true;
}

/* Waits longer after each failure; false: interrupted. */
static bool pause_after(unsigned failures) {
    unsigned tenths = failures > 8 ? 10 * PAUSE_MAX_S : 1U << failures;
    for (; tenths > 0 && record_remote_go_on(); tenths--) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    return tenths == 0;
}

static bool is_passing(const struct push_answer *a) {
    return a->status == 0 || a->status == 507 || push_http_is_transient(a->status);
}

/* One request, again while the server is away. `patient`: false for the first, which tells whether there is a server at
 * all. */
static bool ask(struct record_remote *r, struct push_request *q, struct reel_bytes body, bool patient,
                struct reel_error *err) {
    for (unsigned failures = 0;; failures++) {
        struct body b = {body};
        struct reel_error why = {0};
        q->read = body.data ? read_body : NULL;
        q->context = &b;
        q->length = body.size;
        bool answered = push_http_do(r->http, q, &r->answer, &why);
        if (answered && !is_passing(&r->answer)) {
            return r->answer.status < 300 || push_http_refused(&r->answer, err);
        }
        if (!patient || why.code == REEL_CANCELLED || !pause_after(failures)) {
            return answered ? push_http_refused(&r->answer, err) : reel_error_pass(err, &why);
        }
    }
}

/* "run-2.mcap"; malloc'd. */
static char *part_name(const char *name, unsigned part) {
    const char *dot = strrchr(name, '.');
    size_t stem = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    char *out = NULL;
    return asprintf(&out, "%.*s-%u%s", (int)stem, name, part, name + stem) < 0 ? NULL : out;
}

static bool record_remote_create(struct record_remote *r, bool patient, struct reel_error *err) {
    const char *given = r->options.name;
    AUTO_MEM char *part = r->part > 1 ? part_name(given, r->part) : strdup(given);
    AUTO_MEM char *name = part ? push_http_escape(r->http, part) : NULL, *group = push_http_escape(r->http, given);
    AUTO_MEM char *collection = push_http_escape(r->http, r->options.collection ? r->options.collection : "default");
    AUTO_MEM char *url = NULL;
    if (!name || !group || !collection ||
        asprintf(&url, "%s/recordings?live=true&name=%s&collection=%s%s%s", r->api, name, collection,
                 r->part > 1 ? "&group=" : "", r->part > 1 ? group : "") < 0) {
        return reel_fail_memory(err);
    }
    struct push_request q = {.method = "POST", .url = url};
    if (!ask(r, &q, (struct reel_bytes){0}, patient, err)) {
        return false;
    }
    json_auto_t *answer = json_loads(r->answer.body, 0, NULL);
    const char *id = json_string_value(json_object_get(answer, "id"));
    snprintf(r->id, sizeof r->id, "%s", id ? id : "");
    return strlen(r->id) == 32 || reel_fail(err, REEL_IO, "this is no server of recordings: its answer has no id");
}

static struct record_remote *record_remote_new(const struct record_remote_options *options, struct reel_error *err) {
    AUTO(record_remote_free) struct record_remote *r = calloc(1, sizeof *r);
    char token[PUSH_TOKEN_MAX];
    if (!r || !(r->api = push_http_api(options->server))) {
        reel_fail_memory(err);
        return NULL;
    }
    r->options = *options;
    r->part = 1;
    go_on_with = options->go_on;
    return push_http_token(options->token_file, token, err) &&
                   (r->http = push_http_new(token[0] ? token : NULL, always, err))
               ? TAKE(r)
               : NULL;
}

struct record_remote *record_remote_open(const struct record_remote_options *options, struct reel_error *err) {
    AUTO(record_remote_free) struct record_remote *r = record_remote_new(options, err);
    return r && record_remote_create(r, false, err) ? TAKE(r) : NULL;
}

struct record_remote *record_remote_resume(const struct record_remote_options *options, const char *id,
                                           struct reel_error *err) {
    struct record_remote *r = record_remote_new(options, err);
    if (r) {
        snprintf(r->id, sizeof r->id, "%s", id);
    }
    return r;
}

bool record_remote_continue(struct record_remote *r, struct reel_error *err) {
    for (struct reel_error why = {0}; r->part++ < PARTS_MAX; why = (struct reel_error){0}) {
        if (record_remote_create(r, true, &why)) {
            return true;
        }
        if (why.code != REEL_CONFLICT) {
            return reel_error_pass(err, &why);
        }
    }
    return reel_fail(err, REEL_CONFLICT, "no name is left for the rest of the recording");
}

/* Of 409: the recording is over, or rows contradict what it has. */
static enum record_fate ask_state(struct record_remote *r) {
    char url[URL_ROOM];
    snprintf(url, sizeof url, "%s/recordings/%s", r->api, r->id);
    for (unsigned failures = 0;; failures++) {
        struct reel_error err = {0};
        json_auto_t *row = push_http_json(r->http, url, NULL, false, &r->answer, &err);
        const char *state = json_string_value(json_object_get(row, "state"));
        if (state) {
            return strcmp(state, "recording") == 0 ? RECORD_REFUSED : RECORD_OVER;
        }
        if (err.code == REEL_OK && !is_passing(&r->answer)) {
            return r->answer.status == 404 ? RECORD_OVER : RECORD_FAILED;
        }
        if (err.code == REEL_CANCELLED || !pause_after(failures)) {
            return RECORD_FAILED;
        }
    }
}

enum record_fate record_remote_fate(struct record_remote *r) {
    long status = r->answer.status;
    bool refused = status == 400 || status == 413 || status == 415 || status == 422;
    return status == 404 ? RECORD_OVER : status == 409 ? ask_state(r) : refused ? RECORD_REFUSED : RECORD_FAILED;
}

bool record_remote_is_too_large(const struct record_remote *r) {
    return r->answer.status == 413;
}

bool record_remote_send(struct record_remote *r, struct reel_bytes rows, uint64_t number, int64_t log_ns,
                        struct reel_error *err) {
    char url[URL_ROOM], key[80], type[80], time[REEL_TIME_TEXT] = "";
    if (log_ns != 0) {
        reel_time_rfc3339(log_ns, time);
    }
    snprintf(url, sizeof url, "%s/recordings/%s/messages%s%s", r->api, r->id, *time ? "?log_time=" : "", time);
    snprintf(key, sizeof key, "Idempotency-Key: %llu", (unsigned long long)number);
    snprintf(type, sizeof type, "Content-Type: %s", r->options.media_type);
    struct push_request q = {.method = "POST", .url = url, .headers = {key, type}};
    return ask(r, &q, rows, true, err);
}

bool record_remote_append(struct record_remote *r, struct reel_bytes rows, struct reel_error *err) {
    return record_remote_send(r, rows, ++r->batches, 0, err);
}

void record_remote_uninterrupted(struct record_remote *r) {
    (void)r;
    go_on_with = NULL;
}

bool record_remote_finish(struct record_remote *r, struct reel_error *err) {
    char url[URL_ROOM];
    record_remote_uninterrupted(r);
    snprintf(url, sizeof url, "%s/recordings/%s/finish", r->api, r->id);
    struct push_request q = {.method = "POST", .url = url};
    return ask(r, &q, (struct reel_bytes){0}, true, err);
}

const char *record_remote_id(const struct record_remote *r) {
    return r->id;
}

void record_remote_free(struct record_remote *r) {
    if (r) {
        push_http_free(r->http);
        free(r->api);
        free(r);
    }
}
