/* Conditions that wait by the monotonic clock, so that setting the time of day neither ends a wait nor prolongs it. */
#ifndef REEL_BASE_THREAD_H
#define REEL_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#include "base/clock.h"

static inline void condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Waits until `until` (clock_deadline()); false: it has come. The mutex is held. */
static inline bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, struct timespec until) {
    return pthread_cond_timedwait(condition, mutex, &until) == 0;
}

#endif
