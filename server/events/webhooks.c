/* See webhooks.h. The thread has no state of its own: each round begins by reading the catalog. */
#include "events/webhooks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "reel/time.h"

enum { TURN_MAX = 64, MOVE_MIN = 100, BACK_OFF_STEPS = 12, GLOBS_MAX = 64 };
#define SECOND_NS INT64_C(1000000000)
static const int64_t BACK_OFF_MAX_NS = 3600 * SECOND_NS, KEPT_NS = 86400 * SECOND_NS, TROUBLE_NS = 5 * SECOND_NS;

struct webhooks {
    struct catalog *catalog;
    struct feed *feed;
    struct webhook_sender *sender;
    pthread_t thread;
    _Atomic uint64_t delivered, failed, dropped;
    int64_t due_ns; /* when a hook has to be processed without a change; INT64_MAX: never */
};

static bool go_on(void *context) {
    struct webhooks *w = context;
    return feed_wait(w->feed, INT64_MAX, 0) != FEED_OVER;
}

static void wake_at(struct webhooks *w, int64_t at_ns) {
    w->due_ns = at_ns < w->due_ns ? at_ns : w->due_ns;
}

static const char *const *globs_of(const json_t *array, const char *out[GLOBS_MAX + 1]) {
    size_t n = json_array_size(array);
    for (size_t i = 0; i < n && i < GLOBS_MAX; i++) {
        out[i] = json_string_value(json_array_get(array, i));
    }
    out[n < GLOBS_MAX ? n : GLOBS_MAX] = NULL;
    return n > 0 ? out : NULL;
}

/* The next change to deliver to it, as the array's only item. hook->seq is then the last one read. */
static bool next_change(struct webhooks *w, struct webhook *hook, json_t *items, struct reel_error *err) {
    const char *kinds[GLOBS_MAX + 1], *collections[GLOBS_MAX + 1];
    const struct change_filter filter = {.kinds = globs_of(hook->events, kinds), .collections = globs_of(hook->collections, collections)};
    for (int64_t before = -1; json_array_size(items) == 0 && before != hook->seq;) {
        before = hook->seq;
        if (!catalog_changes(w->catalog, &filter, &hook->seq, 1, items, err)) {
            return false;
        }
    }
    return true;
}

/* False: it has to wait. Changes that failed for a day are dropped. */
static bool record_result(struct webhooks *w, struct webhook *hook, const json_t *change, struct webhook_result *result) {
    struct reel_time since;
    int64_t now = reel_now_ns();
    const char *time = json_string_value(json_object_get(change, "time"));
    if (!result->delivered) {
        uint64_t tries = hook->tries < BACK_OFF_STEPS ? hook->tries : BACK_OFF_STEPS;
        int64_t pause = SECOND_NS << tries;
        hook->next_ns = result->next_ns = now + (pause < BACK_OFF_MAX_NS ? pause : BACK_OFF_MAX_NS);
        wake_at(w, hook->next_ns);
    }
    atomic_fetch_add(result->delivered ? &w->delivered : &w->failed, 1);
    bool old = !result->delivered && time && reel_time_parse(time, 1, &since, NULL) && now - since.ns > KEPT_NS;
    if (!catalog_webhook_result(w->catalog, hook->row, result, NULL) ||
        (old && !catalog_webhook_moved(w->catalog, hook->row, result->seq, 1, NULL))) {
        wake_at(w, now + TROUBLE_NS);
        return false;
    }
    atomic_fetch_add(&w->dropped, old);
    return result->delivered;
}

/* Changes that were trimmed before their delivery are counted as dropped. */
static bool catch_up(struct webhooks *w, struct webhook *hook, int64_t first) {
    if (first <= hook->seq + 1) {
        return true;
    }
    int64_t lost = first - 1 - hook->seq;
    hook->seq = first - 1;
    atomic_fetch_add(&w->dropped, (uint64_t)lost);
    return catalog_webhook_moved(w->catalog, hook->row, hook->seq, (uint64_t)lost, NULL);
}

static void serve(struct webhooks *w, struct webhook *hook, int64_t first) {
    if (hook->next_ns > reel_now_ns()) {
        wake_at(w, hook->next_ns);
        return;
    }
    bool good = catch_up(w, hook, first);
    for (int n = 0; good && go_on(w); n++) {
        json_auto_t *items = json_array();
        int64_t from = hook->seq;
        if (n == TURN_MAX) { /* so that other hooks are not delayed */
            wake_at(w, 0);
            return;
        }
        good = next_change(w, hook, items, NULL);
        if (good && json_array_size(items) == 0) {
            if (hook->seq - from >= MOVE_MIN) { /* so that they are not all read again */
                catalog_webhook_moved(w->catalog, hook->row, hook->seq, 0, NULL);
            }
            return;
        }
        struct webhook_result result = {0};
        if (good) {
            webhook_send(w->sender, hook, json_array_get(items, 0), &result);
        }
        if (good && (result.delivered || go_on(w)) &&
            !record_result(w, hook, json_array_get(items, 0), &result)) { /* an aborted POST is not counted as an attempt */
            return;
        }
        hook->tries = 0;
    }
    wake_at(w, reel_now_ns() + TROUBLE_NS);
}

/* Returns the newest change that was there when the round began: all hooks have read up to it, or wait. INT64_MAX: there are none. */
static int64_t round_of_all(struct webhooks *w) {
    struct webhook hooks[WEBHOOKS_MAX];
    uint32_t n = 0;
    int64_t first = 0, last = 0;
    w->due_ns = INT64_MAX;
    if (!catalog_webhooks(w->catalog, hooks, &n, NULL) || !catalog_changes_ends(w->catalog, &first, &last, NULL)) {
        wake_at(w, reel_now_ns() + TROUBLE_NS);
        n = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        serve(w, &hooks[i], first);
        webhook_done(&hooks[i]);
    }
    return n > 0 ? last : INT64_MAX;
}

static void *run(void *context) {
    struct webhooks *w = context;
    enum feed_news news;
    do {
        uint64_t pokes = feed_pokes(w->feed);
        int64_t seen = round_of_all(w), now = reel_now_ns();
        news = feed_wait_poked(w->feed, seen, pokes, w->due_ns == INT64_MAX ? INT64_MAX : w->due_ns - now);
    } while (news != FEED_OVER);
    return NULL;
}

struct webhooks *webhooks_start(struct catalog *c, struct feed *feed, bool private, struct reel_error *err) {
    struct webhooks *w = calloc(1, sizeof *w);
    if (!w) {
        reel_fail_memory(err);
        return NULL;
    }
    w->catalog = c;
    w->feed = feed;
    w->sender = webhook_sender_new(private, go_on, w, err);
    if (!w->sender || pthread_create(&w->thread, NULL, run, w) != 0) {
        if (w->sender) {
            reel_fail(err, REEL_NO_MEMORY, "no thread can be started");
        }
        webhook_sender_free(w->sender);
        free(w);
        return NULL;
    }
    return w;
}

void webhooks_statistics(struct webhooks *w, struct webhooks_statistics *out) {
    *out = (struct webhooks_statistics){0};
    if (w) {
        *out = (struct webhooks_statistics){.delivered = w->delivered, .failed = w->failed, .dropped = w->dropped};
    }
}

void webhooks_stop(struct webhooks *w) {
    if (w) {
        pthread_join(w->thread, NULL);
        webhook_sender_free(w->sender);
        free(w);
    }
}
