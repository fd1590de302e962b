/* /changes: the change feed, as pages or as a stream of events. After a while the stream ends and the client has to
 * reconnect. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/admin/admin.h"
#include "api/paging.h"
#include "api/rows.h"
#include "app.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "events/feed.h"
#include "http/json_text.h"

enum { KINDS_MAX = 32, EVENTS_AT_ONCE = 64 };
static const int64_t HEARTBEAT_NS = INT64_C(15000000000), WAIT_NS = 500000000, LIFE_NS = INT64_C(900000000000);

/* A sequence number. False: replied. */
static bool read_seq(struct http_request *r, const char *what, const char *text, int64_t *out) {
    int64_t value;
    if (!number_i64(text, &value) || value < 0 || value == INT64_MAX) {
        http_reply_bad_param(r, what, "is the seq of a change");
        return false;
    }
    *out = value;
    return true;
}

/* The requested kinds, owned by the request. */
static void read_kinds(struct http_request *r, const char *kinds[KINDS_MAX + 1], struct change_filter *out) {
    size_t n = http_params(r, "kind", kinds, KINDS_MAX);
    kinds[n] = NULL;
    *out = (struct change_filter){
        .kinds = n > 0 ? kinds : NULL, .collections = http_caller(r)->collections, .prefix = http_prefix(r)};
}

/* ---- as it happens */

struct stream {
    struct http_request *request;
    struct feed *feed;
    struct catalog *catalog;
    const char *kinds[KINDS_MAX + 1];
    struct change_filter filter;
    int64_t seq, until_ns;
    bool begun, over;
};

struct text {
    char *at;
    size_t size, used;
};

/* False: there is no room for it. */
__attribute__((format(printf, 2, 3))) static bool changes_put(struct text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at + t->used, t->size - t->used, format, args);
    va_end(args);
    bool fits = n >= 0 && (size_t)n < t->size - t->used;
    t->used += fits ? (size_t)n : 0;
    return fits;
}

static bool changes_finish(struct stream *s, struct text *t, const char *why) {
    s->over = true;
    return changes_put(t, "event: end\ndata: {\"why\":\"%s\"}\n\n", why);
}

/* Writes as many items as fit and sets s->seq to that of the last one. */
static bool put_events(struct stream *s, const json_t *items, struct text *t, struct reel_error *err) {
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)items, i, item) {
        AUTO_MEM char *data = json_text(item);
        int64_t seq = (int64_t)json_integer_value(json_object_get(item, "seq"));
        if (!data) {
            return reel_fail_memory(err);
        }
        if (!changes_put(t, "id: %lld\nevent: %s\ndata: %s\n\n", (long long)seq,
                         json_string_value(json_object_get(item, "kind")), data)) {
            return i > 0 || reel_fail(err, REEL_LIMIT, "a change is too long to be sent");
        }
        s->seq = seq;
    }
    return true;
}

/* The changes after s->seq that this caller may see. */
static bool put_news(struct stream *s, struct text *t, struct reel_error *err) {
    for (int64_t seq = s->seq, before = -1; t->used == 0 && before != seq;) {
        json_auto_t *items = json_array();
        before = seq;
        if (!catalog_changes(s->catalog, &s->filter, &seq, EVENTS_AT_ONCE, items, err)) {
            return false;
        }
        if (json_array_size(items) == 0) {
            s->seq = seq;
        } else if (!put_events(s, items, t, err)) {
            return false;
        }
    }
    return true;
}

/* The changes after the client's last one have been trimmed, or it was of another catalog: the client has to reload its
 * state. */
static bool put_begin(struct stream *s, struct text *t, struct reel_error *err) {
    int64_t first = 0, last = 0;
    s->begun = true;
    changes_put(t, "retry: 2000\n: reel\n\n");
    if (!catalog_changes_ends(s->catalog, &first, &last, err)) {
        return false;
    }
    if (s->seq < 0) {
        s->seq = last;
    } else if (s->seq > last || (s->seq > 0 && s->seq < first - 1)) {
        s->seq = s->seq > last ? last : first - 1;
        changes_put(t, "id: %lld\nevent: gap\ndata: {\"first_seq\":%lld,\"last_seq\":%lld}\n\n", (long long)s->seq,
                    (long long)first, (long long)last);
    }
    return true;
}

static bool next_events(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    struct stream *s = context;
    struct text t = {.at = buffer, .size = size};
    bool good = true;
    if (s->over) {
        *got = 0;
        return true;
    }
    if (!s->begun) {
        good = put_begin(s, &t, err);
    }
    for (int64_t beat_ns = reel_now_ns() + HEARTBEAT_NS; good && t.used == 0;) {
        int64_t left_ns = beat_ns - reel_now_ns();
        enum feed_news news = feed_wait(s->feed, s->seq, left_ns < WAIT_NS ? left_ns : WAIT_NS);
        enum http_ending ending = http_stream_ending(s->request, news == FEED_NEWS);
        if (news == FEED_OVER) {
            good = changes_finish(s, &t, "the server stops");
        } else if (ending == HTTP_REVOKED || ending == HTTP_GONE) {
            break;
        } else if (reel_now_ns() >= s->until_ns) {
            good = changes_finish(s, &t, "reconnect");
        } else if (news == FEED_NEWS) {
            good = put_news(s, &t, err);
        } else if (left_ns <= 0) {
            changes_put(&t, ": still there\n\n");
        }
    }
    *got = t.used;
    return good;
}

static size_t end_stream(void *context, void *buffer, size_t size) {
    struct text t = {.at = buffer, .size = size};
    changes_finish(context, &t, "reconnect");
    return t.used;
}

static void free_stream(void *context) {
    struct stream *s = context;
    feed_leave(s->feed);
    free(s);
}

static void stream(struct http_request *r) {
    struct app *app = http_app(r);
    const char *from = http_header(r, "Last-Event-ID");
    const char *what = from ? "Last-Event-ID" : "since";
    struct stream *s = calloc(1, sizeof *s);
    from = from ? from : http_param(r, "since");
    if (!s || !feed_join(app->feed, app->config.connections_max / 2)) {
        free(s);
        http_add_header(r, "Retry-After", "10");
        http_reply_problem(r, 503, "busy", "there are enough streams of changes already");
        return;
    }
    *s = (struct stream){
        .request = r, .feed = app->feed, .catalog = app->catalog, .seq = -1, .until_ns = reel_now_ns() + LIFE_NS};
    read_kinds(r, s->kinds, &s->filter);
    if (from && !read_seq(r, what, from, &s->seq)) {
        free_stream(s);
        return;
    }
    http_add_header(r, "Cache-Control", "no-store");
    http_add_header(r, "X-Accel-Buffering", "no"); /* so that proxies pass events on at once */
    http_reply_stream(r, &(struct http_stream){.media_type = "text/event-stream",
                                               .next = next_events,
                                               .free = free_stream,
                                               .context = s,
                                               .lasts = true,
                                               .revoked = end_stream});
}

/* ---- pages */

static bool changes_read_page(struct http_request *r, int64_t *seq, uint32_t limit, json_t *items, bool *gap,
                              int64_t *last) {
    const char *kinds[KINDS_MAX + 1];
    struct change_filter filter;
    struct reel_error err = {0};
    int64_t first = 0;
    read_kinds(r, kinds, &filter);
    bool good = catalog_changes_ends(http_app(r)->catalog, &first, last, &err);
    *gap = *seq > *last || (*seq > 0 && *seq < first - 1);
    for (int64_t before = -1; good && before != *seq && json_array_size(items) < limit;) {
        before = *seq;
        good =
            catalog_changes(http_app(r)->catalog, &filter, seq, limit - (uint32_t)json_array_size(items), items, &err);
    }
    if (!good) {
        http_reply_error(r, &err);
    }
    return good;
}

static void page(struct http_request *r) {
    static const char *const columns[] = {"seq",        "time", "kind",   "recording", "job",
                                          "collection", "name", "detail", NULL};
    const char *cursor = http_param(r, "cursor"), *since = cursor ? cursor : http_param(r, "since");
    int64_t seq = 0, last = 0;
    uint32_t limit = paging_limit(r);
    bool gap;
    struct rows_form form;
    if (!rows_form(r, &form)) {
        return;
    }
    json_t *items = json_array();
    if ((since && !read_seq(r, cursor ? "cursor" : "since", since, &seq)) ||
        !changes_read_page(r, &seq, limit, items, &gap, &last)) {
        json_decref(items);
        return;
    }
    char next[24];
    bool more = json_array_size(items) == limit && seq < last;
    snprintf(next, sizeof next, "%lld", (long long)seq);
    if (more) {
        api_add_next_link(r, next);
    }
    json_t *body = json_pack("{s:O, s:o, s:s, s:b}", "items", items, "next", more ? json_string(next) : json_null(),
                             "since", next, "gap", gap);
    rows_reply(r, &form, body, items, columns);
}

void api_changes(struct http_request *r) {
    static const char *const offers[] = {"application/json", "application/x-ndjson", "text/csv", "text/event-stream",
                                         NULL};
    const char *media = http_param(r, "output") ? NULL : http_negotiate(r, offers);
    http_add_header(r, "Vary", "Accept");
    if (media && strcmp(media, offers[3]) == 0) {
        stream(r);
    } else {
        page(r);
    }
}
