/* Live recordings that the server makes itself: it connects to a running NanoVer server, as a headset does, and appends
 * each binary message as it was received. The job's options are the address. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/glob.h"
#include "live/live_internal.h"
#include "live/websocket_client.h"
#include "reel/time.h"

static const int64_t AGAIN_NS = 1000000000; /* after a connection that broke */

/* ---- addresses */

static bool is_allowed(const struct app *app, const char *origin) {
    char given[WEBSOCKET_URL_MAX + 8];
    struct reel_error ignored;
    for (const char **allowed = app->config.record_from.items; allowed && *allowed; allowed++) {
        bool equal = websocket_origin(*allowed, given, &ignored) && strcmp(given, origin) == 0;
        if (equal || reel_glob_match(*allowed, origin)) {
            return true;
        }
    }
    return false;
}

bool live_source_check(struct app *app, const char *url, struct reel_error *err) {
    char origin[WEBSOCKET_URL_MAX + 8];
    return websocket_origin(url, origin, err) &&
           (is_allowed(app, origin) ||
            reel_fail(err, REEL_ARGUMENT, "%.200s is not allowed; the server's option --record-from allows addresses",
                      origin));
}

static bool request_goes_on(void *context) {
    (void)context;
    return cancel_check(NULL);
}

bool live_source_try(const char *url, struct reel_error *err) {
    const struct websocket_client_options options = {
        .url = url, .message_max = LIVE_BODY_MAX, .goes_on = request_goes_on};
    AUTO(websocket_client_free) struct websocket_client *client = websocket_client_open(&options, err);
    if (client) {
        websocket_close(websocket_client_socket(client), WEBSOCKET_NORMAL, "");
    }
    return client;
}

bool live_source_add(struct live *live, const struct catalog_recording *r, const char *url, char job[JOB_ID_TEXT],
                     struct reel_error *err) {
    const struct job_spec spec = {
        .kind = "record", .key = r->id, .collection = r->collection, .subject = r->name, .options = url};
    return jobs_add(live->app->jobs, &spec, job, err);
}

/* ---- the job */

struct source {
    struct app *app;
    const struct catalog_recording *row;
    const struct job_call *call;
    uint64_t messages, others; /* of this connection; others: not NanoVer's */
};

/* It was not finished or deleted meanwhile. */
static bool still_grows(const struct source *s) {
    struct catalog_recording now;
    struct reel_error why = {0};
    struct live_item *item = live_item_find(s->app->live, s->row->id);
    bool finishing = false;
    if (item) {
        pthread_mutex_lock(&item->mutex);
        finishing = item->finishing;
        pthread_mutex_unlock(&item->mutex);
        live_item_release(s->app->live, item);
    }
    if (finishing || !catalog_get(s->app->catalog, s->row->id, &now, &why)) {
        return !finishing && why.code != REEL_NOT_FOUND;
    }
    bool grows = now.state == STATE_RECORDING;
    catalog_recording_done(&now);
    return grows;
}

static bool source_goes_on(void *context) {
    return cancel_check(NULL) && still_grows(context);
}

static bool append_received(struct source *s, struct reel_bytes message, struct reel_error *err) {
    const struct live_batch batch = {.media = LIVE_NANOVER, .body = message, .key = "", .log_ns = reel_now_ns()};
    struct live_appended appended;
    if (!live_append(s->app->live, s->row, &batch, &appended, err)) {
        return false;
    }
    s->messages += appended.messages;
    s->others += appended.messages == 0;
    return true;
}

/* Until the other side ends it: true. */
static bool record_connection(struct source *s, struct reel_error *err) {
    const struct websocket_client_options options = {
        .url = s->call->options, .message_max = LIVE_BODY_MAX, .goes_on = source_goes_on, .context = s};
    AUTO(websocket_client_free) struct websocket_client *client = websocket_client_open(&options, err);
    struct websocket_message m;
    enum websocket_got got;
    bool good = client;
    if (!client) {
        return false;
    }
    struct websocket *ws = websocket_client_socket(client);
    while (good && (got = websocket_wait(ws, -1, INT64_MAX, &m)) != WEBSOCKET_OVER) {
        good = got != WEBSOCKET_MESSAGE || m.text || append_received(s, m.bytes, err);
    }
    good = good && websocket_client_ended(client, err);
    websocket_close(ws, good ? WEBSOCKET_NORMAL : WEBSOCKET_GOING_AWAY, "");
    return good;
}

static void report_outcome(const struct source *s) {
    char text[JOB_OUTCOME_MAX];
    snprintf(text, sizeof text, "{\"recording\":\"%s\",\"messages\":%llu,\"ignored\":%llu}", s->row->id,
             (unsigned long long)s->messages, (unsigned long long)s->others);
    job_report(s->call->progress, text);
}

static bool source_finish(const struct source *s, struct reel_error *err) {
    char job[JOB_ID_TEXT];
    return live_finish(s->app->live, s->row, job, err);
}

/* A connection that broke is opened again: at once if it brought messages, else as often as the kind is retried. What
 * cannot pass, and the last of these, finish the recording. */
static bool source_run(struct source *s, struct reel_error *err) {
    struct reel_error why = {0}, ignored;
    bool ended = live_source_check(s->app, s->call->options, &why) && record_connection(s, &why);
    report_outcome(s);
    if (!cancel_check(err)) {
        return false;
    }
    if (!still_grows(s)) {
        return true;
    }
    if (ended) {
        return source_finish(s, err);
    }
    bool passes = reel_is_transient(why.code);
    if (passes && s->messages > 0) {
        *s->call->come_back_ns = reel_now_ns() + AGAIN_NS;
        return true;
    }
    if (!passes || s->call->attempts > LIVE_SOURCE_RETRIES) {
        source_finish(s, &ignored);
    }
    return reel_error_pass(err, &why);
}

bool live_source_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    struct catalog_recording r;
    struct reel_error why = {0};
    if (!catalog_get(app->catalog, call->key, &r, &why)) {
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why); /* it was purged */
    }
    struct source s = {.app = app, .row = &r, .call = call};
    bool good = r.state != STATE_RECORDING || source_run(&s, err);
    catalog_recording_done(&r);
    return good;
}
