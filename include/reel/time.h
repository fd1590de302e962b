/* Reads and prints times and durations. */
#ifndef REEL_TIME_H
#define REEL_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "reel/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A point in time not yet tied to a recording. */
enum reel_time_kind { REEL_TIME_ABSOLUTE, REEL_TIME_FROM_START, REEL_TIME_FROM_END, REEL_TIME_FROM_NOW };
struct reel_time { /* its layout never changes */
    enum reel_time_kind kind;
    int64_t ns; /* absolute: since 1970 or the recording's zero; otherwise the offset: -2500000000 for "-2.5s" */
    /* the text had no unit: nanoseconds, except in a recording that counts from 1970, where its size decides */
    bool bare;
};

/* RFC 3339 with up to 9 digits, also a date alone and a time without a zone, which is UTC; integer or decimal with
 * ns/us/ms/s; "+2.5s" from the start, "-2.5s" from the end (with m, h, d too); "now", "now-1h". A bare number has the
 * unit bare_unit_ns (1000000: milliseconds); with 1, its magnitude tells seconds, ms, us and ns since 1970 apart.
 * REEL_ARGUMENT: the text lists the accepted forms. */
bool reel_time_parse(const char *text, int64_t bare_unit_ns, struct reel_time *out, struct reel_error *err);

/* Ties it to a recording with messages from first_ns to last_ns; 0 and 0: no recording. Saturates instead of
 * overflowing. */
int64_t reel_time_resolve(const struct reel_time *t, int64_t first_ns, int64_t last_ns, int64_t now_ns);
/* Like reel_time_resolve() with the current time, but fails with REEL_ARGUMENT if an absolute time is more than a year
 * outside of the recording. */
bool reel_time_within(const struct reel_time *t, int64_t first_ns, int64_t last_ns, int64_t *ns,
                      struct reel_error *err);

/* "100ms", "2.5s", "1h"; a unit is needed. REEL_ARGUMENT unless it is positive. */
bool reel_duration_parse(const char *text, int64_t *ns, struct reel_error *err);

int64_t reel_now_ns(void); /* since 1970 */

enum { REEL_TIME_TEXT = 40 };                                   /* room for any of these, with NUL */
size_t reel_time_rfc3339(int64_t ns, char out[REEL_TIME_TEXT]); /* 2010-05-10T14:29:17.457991000Z; returns its length */
size_t reel_time_seconds(int64_t ns, char out[REEL_TIME_TEXT]); /* -1.500000000; returns its length */

#ifdef __cplusplus
}
#endif

#endif
