/* Destructors that run at the end of a scope, for GCC and Clang. */
#ifndef REEL_CLEANUP_H
#define REEL_CLEANUP_H

/* Defines reel_auto_<free_fn>() for a destructor that takes a pointer and accepts NULL:
 * __attribute__((cleanup(reel_auto_reel_stream_free))) struct reel_stream *stream = reel_stream_open(…); */
#define REEL_DEFINE_AUTO(type, free_fn)                                                                                \
    static inline void reel_auto_##free_fn(type **p) {                                                                 \
        free_fn(*p);                                                                                                   \
    }                                                                                                                  \
    struct reel_auto_defined_##free_fn

#endif
