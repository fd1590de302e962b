/* Looks after live recordings: syncs what was appended with durable=false, keeps the catalog's rows up to date,
 * finishes what is silent. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "live/live_internal.h"
#include "scans/scanning.h"
#include "work/jobs.h"
#include "work/locks.h"

static const int64_t TICK_NS = 250000000, SAVE_NS = 2000000000, CHECK_NS = 60000000000;

/* Writes what the recording has by now into the catalog, for lists and searches. */
static void save(struct live *live, struct live_item *item) {
    struct catalog_recording r;
    AUTO(reel_recording_free) struct reel_recording *shown = NULL;
    struct reel_error ignored;
    AUTO_LOCK struct key_lock lock = {0};
    lock_take(live->app->locks, &lock, ROW_LOCK, item->id);
    if (!live_home_check(live, item->id, &r)) {
        return;
    }
    pthread_mutex_lock(&item->mutex);
    uint64_t messages = atomic_load(&item->messages);
    bool changed = messages != item->saved_messages;
    item->saved_at_ns = clock_ns();
    shown = changed && r.state == STATE_RECORDING && !item->finishing ? live_item_show(live, item, &ignored) : NULL;
    pthread_mutex_unlock(&item->mutex);
    if (shown && scan_fill(&r, reel_recording_index(shown), &ignored)) {
        r.state = STATE_RECORDING;
        r.size = reel_index_part_size(reel_recording_index(shown), 0);
        if (catalog_set_parts(live->app->catalog, &r, reel_recording_index(shown), NULL, &ignored)) {
            pthread_mutex_lock(&item->mutex);
            item->saved_messages = messages; /* else it is tried again */
            pthread_mutex_unlock(&item->mutex);
        }
    }
    catalog_recording_done(&r);
}

static void look_after(struct live *live, struct live_item *item) {
    int64_t now = clock_ns(), expiry_ns = (int64_t)live->app->config.live_expiry_s * 1000000000;
    struct reel_error ignored;
    pthread_mutex_lock(&item->mutex);
    bool open = item->recorder && !item->finishing;
    bool due =
        open && now - item->saved_at_ns >= (atomic_load(&item->messages) != item->saved_messages ? SAVE_NS : CHECK_NS);
    bool silent = open && now - item->appended_at_ns >= expiry_ns;
    bool unsynced = open && atomic_load(&item->synced) < atomic_load(&item->bytes);
    pthread_mutex_unlock(&item->mutex);
    if (unsynced) {
        live_sync(item, &ignored);
    }
    if (due) {
        save(live, item);
    }
    if (silent) {
        jobs_add(live->app->jobs, &(struct job_spec){.kind = "finish", .key = item->id, .subject = item->id}, NULL,
                 &ignored);
    }
}

/* References to all that are open, from malloc; without memory to none. The list's mutex is held. */
static struct live_item **take_all(struct live *live, unsigned *n) {
    struct live_item **items = calloc(live->n_items + 1, sizeof *items);
    *n = 0;
    for (struct live_item *i = live->items; i && items; i = i->next) {
        i->users++;
        items[(*n)++] = i;
    }
    return items;
}

static void *thread_run(void *context) {
    struct live *live = context;
    pthread_mutex_lock(&live->mutex);
    while (!live->stopping) {
        unsigned n;
        AUTO_MEM struct live_item **items = take_all(live, &n);
        pthread_mutex_unlock(&live->mutex);
        for (unsigned i = 0; i < n; i++) {
            look_after(live, items[i]);
            live_item_release(live, items[i]);
        }
        int64_t until_ns = clock_ns() + TICK_NS;
        pthread_mutex_lock(&live->mutex);
        while (!live->stopping && clock_ns() < until_ns) {
            live_wait_for_change(live, until_ns);
        }
    }
    pthread_mutex_unlock(&live->mutex);
    return NULL;
}

bool live_start(struct live *live, struct reel_error *err) {
    if (!live_home_start(live, err)) {
        return false;
    }
    live->has_thread = pthread_create(&live->thread, NULL, thread_run, live) == 0;
    return live->has_thread || reel_fail(err, REEL_IO, "no thread for live recordings");
}

void live_wake(struct live *live) {
    if (live) {
        pthread_mutex_lock(&live->mutex);
        live->stopping = true;
        pthread_cond_broadcast(&live->changed);
        pthread_mutex_unlock(&live->mutex);
    }
}

void live_stop(struct live *live) {
    if (!live || !live->has_thread) {
        return;
    }
    live_wake(live);
    pthread_join(live->thread, NULL);
    live->has_thread = false;
    unsigned n;
    struct reel_error ignored;
    pthread_mutex_lock(&live->mutex);
    AUTO_MEM struct live_item **items = take_all(live, &n);
    pthread_mutex_unlock(&live->mutex);
    for (unsigned i = 0; i < n; i++) {
        live_sync(items[i], &ignored);
        live_item_release(live, items[i]);
    }
}
