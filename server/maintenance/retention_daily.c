/* Applies the retention rules once a day, counted from the last run, whoever started it. */
#include <pthread.h>
#include <time.h>

#include "maintenance/retention.h"
#include "reel/time.h"
#include "wire/clock.h"

enum { FIRST_CHECK_S = 60, CHECK_S = 600 };
static const int64_t DAY_NS = INT64_C(86400) * 1000000000;

struct retention_daily {
    struct app *app;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool stop;
};

static bool is_due(struct app *app) {
    json_auto_t *document = retention_get(app->catalog, NULL), *last = retention_last(app->catalog, NULL);
    struct reel_time ended;
    const char *text = json_string_value(json_object_get(last, "ended"));
    bool wanted = document && (json_array_size(json_object_get(document, "rules")) > 0 || app->config.trash_days > 0);
    return wanted && (!text || !reel_time_parse(text, 1, &ended, NULL) || reel_now_ns() - ended.ns >= DAY_NS);
}

static void *run(void *context) {
    struct retention_daily *d = context;
    pthread_mutex_lock(&d->mutex);
    for (int seconds = FIRST_CHECK_S; !d->stop; seconds = CHECK_S) {
        struct timespec until = clock_deadline((int64_t)seconds * 1000000000);
        while (!d->stop && pthread_cond_timedwait(&d->wake, &d->mutex, &until) == 0) {
        }
        if (!d->stop && is_due(d->app)) {
            job_unref(retention_run(d->app, NULL));
        }
    }
    pthread_mutex_unlock(&d->mutex);
    return NULL;
}

struct retention_daily *retention_daily_start(struct app *app, struct reel_error *err) {
    struct retention_daily *d = calloc(1, sizeof *d);
    if (!d) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&d->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&d->mutex, NULL);
    d->app = app;
    if (pthread_create(&d->thread, NULL, run, d) != 0) {
        reel_fail(err, REEL_NO_MEMORY, "no thread can be started");
        pthread_cond_destroy(&d->wake);
        pthread_mutex_destroy(&d->mutex);
        free(d);
        return NULL;
    }
    return d;
}

void retention_daily_stop(struct retention_daily *d) {
    if (!d) {
        return;
    }
    pthread_mutex_lock(&d->mutex);
    d->stop = true;
    pthread_cond_signal(&d->wake);
    pthread_mutex_unlock(&d->mutex);
    pthread_join(d->thread, NULL);
    pthread_cond_destroy(&d->wake);
    pthread_mutex_destroy(&d->mutex);
    free(d);
}
