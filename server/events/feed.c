/* See feed.h. feed->mutex is never held during a database query, because commits wait for it. */
#include "events/feed.h"
#include "base/clock.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct feed {
    struct catalog *catalog;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t poll;   /* for the thread */
    pthread_cond_t news;   /* for the watchers */
    int64_t last;          /* seq of the newest known change */
    unsigned watchers, waiting;
    bool committed, stop, running;
    void (*on_commit)(void *context); /* set before other threads write */
    void *context;
};

enum { NS = 1000000000 };
static const int64_t POLL_NS = NS;

static void on_commit(void *context) {
    struct feed *f = context;
    pthread_mutex_lock(&f->mutex);
    f->committed = true;
    if (f->waiting > 0) {
        pthread_cond_signal(&f->poll);
    }
    pthread_mutex_unlock(&f->mutex);
    if (f->on_commit) {
        f->on_commit(f->context);
    }
}

static void poll(struct feed *f) {
    int64_t first = 0, last = 0;
    f->committed = false;
    pthread_mutex_unlock(&f->mutex);
    bool good = catalog_changes_ends(f->catalog, &first, &last, NULL);
    pthread_mutex_lock(&f->mutex);
    if (good && last > f->last) {
        f->last = last;
        pthread_cond_broadcast(&f->news);
    }
}

static void *feed_run(void *context) {
    struct feed *f = context;
    pthread_mutex_lock(&f->mutex);
    while (!f->stop) {
        if (f->waiting == 0) {
            pthread_cond_wait(&f->poll, &f->mutex);
            continue;
        }
        if (!f->committed) {
            struct timespec until = clock_deadline(POLL_NS);
            condition_wait(&f->poll, &f->mutex, until);
        }
        if (!f->stop && f->waiting > 0) {
            poll(f);
        }
    }
    pthread_mutex_unlock(&f->mutex);
    return NULL;
}

struct feed *feed_open(struct catalog *c, struct reel_error *err) {
    struct feed *f = calloc(1, sizeof *f);
    if (!f) {
        reel_fail_memory(err);
        return NULL;
    }
    condition_init(&f->poll);
    condition_init(&f->news);
    pthread_mutex_init(&f->mutex, NULL);
    f->catalog = c;
    catalog_on_commit(c, on_commit, f);
    f->running = pthread_create(&f->thread, NULL, feed_run, f) == 0;
    if (!f->running) {
        reel_fail(err, REEL_NO_MEMORY, "no thread can be started");
        feed_free(f);
        return NULL;
    }
    return f;
}

void feed_stop(struct feed *f) {
    if (f) {
        pthread_mutex_lock(&f->mutex);
        f->stop = true;
        pthread_cond_broadcast(&f->poll);
        pthread_cond_broadcast(&f->news);
        pthread_mutex_unlock(&f->mutex);
    }
}

void feed_free(struct feed *f) {
    if (!f) {
        return;
    }
    feed_stop(f);
    if (f->running) {
        pthread_join(f->thread, NULL);
    }
    catalog_on_commit(f->catalog, NULL, NULL);
    pthread_cond_destroy(&f->news);
    pthread_cond_destroy(&f->poll);
    pthread_mutex_destroy(&f->mutex);
    free(f);
}

bool feed_join(struct feed *f, unsigned max) {
    pthread_mutex_lock(&f->mutex);
    bool joined = f->watchers < max && f->watchers < FEED_WATCHERS_MAX && !f->stop;
    f->watchers += joined;
    pthread_mutex_unlock(&f->mutex);
    return joined;
}

void feed_leave(struct feed *f) {
    pthread_mutex_lock(&f->mutex);
    f->watchers--;
    pthread_mutex_unlock(&f->mutex);
}

enum feed_news feed_wait(struct feed *f, int64_t seq, int64_t timeout_ns) {
    struct timespec until = clock_deadline(timeout_ns);
    bool waits = seq != INT64_MAX;
    pthread_mutex_lock(&f->mutex);
    if (waits && f->waiting++ == 0) { /* commits while no watcher waited */
        f->committed = true;
        pthread_cond_signal(&f->poll);
    }
    while (!f->stop && f->last <= seq && condition_wait(&f->news, &f->mutex, until)) {
    }
    f->waiting -= waits;
    enum feed_news news = f->stop ? FEED_OVER : f->last > seq ? FEED_NEWS : FEED_QUIET;
    pthread_mutex_unlock(&f->mutex);
    return news;
}

void feed_on_commit(struct feed *f, void (*call)(void *context), void *context) {
    f->on_commit = call;
    f->context = context;
}
