/* Live recordings that the server makes itself: it connects to a running NanoVer server, as a headset does, and appends
 * each binary message as it was received. The job's options are the address. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "http/json_text.h"
#include "live/live_internal.h"
#include "live/websocket_client.h"
#include "reel/time.h"

enum { RETRIES = 5, LOOK_NS = 250000000 };
static const int64_t AGAIN_NS = 1000000000; /* after a connection that broke; doubles with each that brings nothing */

/* ---- addresses */

static bool is_allowed(const struct app *app, const char *origin) {
    for (const char **allowed = app->config.record_from.items; allowed && *allowed; allowed++) {
        if (websocket_allows(*allowed, origin)) {
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

static bool has_thread(struct app *app, struct reel_error *err) {
    uint64_t n;
    return jobs_count_kind(app->jobs, "record", &n, err) &&
           (n < JOBS_SOURCES_MAX ||
            reel_fail(err, REEL_BUSY, "this server records %u connections already, of at most %d", (unsigned)n,
                      JOBS_SOURCES_MAX));
}

bool live_source_try(struct app *app, const char *url, struct reel_error *err) {
    const struct websocket_client_options options = {
        .url = url, .message_max = LIVE_BODY_MAX, .goes_on = request_goes_on};
    AUTO(websocket_client_free)
    struct websocket_client *client = has_thread(app, err) ? websocket_client_open(&options, err) : NULL;
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
    uint64_t messages, others; /* of all connections; others: not NanoVer's */
    uint64_t breaks;           /* connections that broke: what was sent until the next one is not recorded */
    struct reel_error broke;   /* why the last of them did */
    bool connected;            /* also in the outcome of a job that the end of the server stopped */
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

static bool source_pause(struct source *s, int64_t ns) {
    const int64_t until_ns = clock_ns() + ns;
    bool goes_on;
    while ((goes_on = source_goes_on(s)) && clock_ns() < until_ns) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    return goes_on;
}

/* After a restart the file is opened first, which may take long; messages that came meanwhile would be lost. */
static bool wait_for_file(struct source *s, struct reel_error *err) {
    while (!live_ready(s->app->live, s->row, err)) {
        if (err->code != REEL_BUSY || !live_is_here(s->app, s->row->id) || !source_pause(s, LOOK_NS)) {
            return false;
        }
        *err = (struct reel_error){0};
    }
    return true;
}

/* Of the job before the server's restart, which is a break, too. */
static void read_outcome(struct source *s) {
    json_t *before = json_loads(s->call->outcome, 0, NULL);
    const char *broke = json_string_value(json_object_get(before, "last_break"));
    s->messages = (uint64_t)json_integer_value(json_object_get(before, "messages"));
    s->others = (uint64_t)json_integer_value(json_object_get(before, "ignored"));
    s->breaks = (uint64_t)json_integer_value(json_object_get(before, "breaks"));
    if (json_is_true(json_object_get(before, "connected"))) {
        s->breaks++;
        reel_fail(&s->broke, REEL_IO, "the archive was restarted");
    } else if (broke) {
        reel_fail(&s->broke, REEL_IO, "%s", broke);
    }
    json_decref(before);
}

static void report_outcome(const struct source *s) {
    json_t *out = json_pack("{s:s, s:I, s:I, s:I}", "recording", s->row->id, "messages", (json_int_t)s->messages,
                            "ignored", (json_int_t)s->others, "breaks", (json_int_t)s->breaks);
    if (s->breaks > 0) {
        json_object_set_new(out, "last_break", json_string(s->broke.text));
    }
    if (s->connected) {
        json_object_set_new(out, "connected", json_true());
    }
    AUTO_MEM char *text = json_text(out);
    if (text && strlen(text) >= JOB_OUTCOME_MAX) { /* not half an object */
        json_object_del(out, "last_break");
        free(text);
        text = json_text(out);
    }
    if (text) {
        job_report(s->call->progress, text);
    }
    json_decref(out);
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
    s->connected = true;
    report_outcome(s);
    struct websocket *ws = websocket_client_socket(client);
    while (good && (got = websocket_wait(ws, -1, INT64_MAX, &m)) != WEBSOCKET_OVER) {
        good = got != WEBSOCKET_MESSAGE || m.text || append_received(s, m.bytes, err);
    }
    good = good && websocket_client_ended(client, err);
    websocket_close(ws, good ? WEBSOCKET_NORMAL : WEBSOCKET_GOING_AWAY, "");
    if (!good && source_goes_on(s)) {
        s->breaks++;
        s->broke = *err;
    }
    s->connected = jobs_stopping(s->app->jobs);
    return good;
}

static bool source_finish(const struct source *s, struct reel_error *err) {
    char job[JOB_ID_TEXT];
    return live_finish(s->app->live, s->row, job, err);
}

/* A connection that broke is opened again, by this job: another would take its thread. What cannot pass, and the last
 * of RETRIES that bring no message, finish the recording. */
static bool source_run(struct source *s, struct reel_error *err) {
    struct reel_error why, ignored;
    unsigned failed = 0;
    bool ended;
    do {
        const uint64_t before = s->messages;
        why = (struct reel_error){0};
        ended =
            live_source_check(s->app, s->call->options, &why) && wait_for_file(s, &why) && record_connection(s, &why);
        report_outcome(s);
        failed = s->messages > before ? 0 : failed + 1;
    } while (!ended && reel_is_transient(why.code) && failed <= RETRIES && source_pause(s, AGAIN_NS << failed));
    if (!cancel_check(err)) {
        return false;
    }
    if (!still_grows(s)) {
        return true;
    }
    if (ended) {
        return source_finish(s, err);
    }
    source_finish(s, &ignored);
    return reel_error_pass(err, &why);
}

bool live_source_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    struct catalog_recording r;
    struct reel_error why = {0};
    if (!catalog_get(app->catalog, call->key, &r, &why)) {
        return why.code == REEL_NOT_FOUND || reel_error_pass(err, &why); /* it was purged */
    }
    struct source s = {.app = app, .row = &r, .call = call};
    read_outcome(&s);
    bool good = r.state != STATE_RECORDING || source_run(&s, err);
    catalog_recording_done(&r);
    return good;
}
