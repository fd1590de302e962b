/* Threads that several conversions share; they are started when the first of them needs one. */
#ifndef REEL_THREADS_H
#define REEL_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "reel/cleanup.h"
#include "reel/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct reel_threads_options {
    size_t size;         /* sizeof(struct reel_threads_options) */
    unsigned threads;    /* 0: one for each core */
    uint64_t from_bytes; /* smaller conversions do not use them, rows of values from an eighth on; 0: 64 MiB */
};

/* `options` NULL: all 0. Free with reel_threads_free(). */
struct reel_threads;
struct reel_threads *reel_threads_new(const struct reel_threads_options *options, struct reel_error *err);
void reel_threads_free(struct reel_threads *threads); /* after everything that uses them; NULL is fine */
REEL_DEFINE_AUTO(struct reel_threads, reel_threads_free);

#ifdef __cplusplus
}
#endif

#endif
