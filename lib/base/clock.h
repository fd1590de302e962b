/* The monotonic clock, for durations and deadlines; reel_now_ns() returns the time of day. */
#ifndef REEL_BASE_CLOCK_H
#define REEL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* `ns` from now (at least 0, at most a year), for pthread_cond_timedwait() on a condition of CLOCK_MONOTONIC. */
static inline struct timespec clock_deadline(int64_t ns) {
    const int64_t year_ns = INT64_C(31536000) * 1000000000;
    int64_t at = clock_ns() + (ns < 0 ? 0 : ns < year_ns ? ns : year_ns);
    return (struct timespec){.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
}

#endif
