/* A limit of bytes a second, shared by several connections. */
#ifndef SERVER_CLI_PUSH_RATE_H
#define SERVER_CLI_PUSH_RATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reel/error.h"

struct push_rate {
    uint64_t usual;        /* bytes a second; 0: no limit */
    const char *file;      /* while it exists, `meanwhile` is the limit; NULL: none */
    uint64_t meanwhile;    /* 0: nothing is sent */
    pthread_mutex_t mutex; /* guards what follows */
    double tokens;
    int64_t filled_ns, looked_ns;
    uint64_t limit; /* as of looked_ns; UINT64_MAX: none */
};

/* "10M" and "512k" are bytes a second, "80Mbit" bits. */
bool push_rate_parse(const char *text, uint64_t *out, struct reel_error *err);
/* "FILE=RATE"; `text` is split in place. */
bool push_rate_parse_while(char *text, struct push_rate *rate, struct reel_error *err);
/* How many of `wanted` bytes may be sent now; waits for at least one. 0: go_on() returned false meanwhile. `rate` may
 * be NULL. */
size_t push_rate_take(struct push_rate *rate, size_t wanted, bool (*go_on)(void));
/* Whether nothing may be sent at present. */
bool push_rate_is_paused(struct push_rate *rate);

#endif
