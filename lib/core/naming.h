/* Topics of several recordings in one stream: which names clash, and what they are called instead. Channels of one name in a container that
 * knows channels by their names. */
#ifndef REEL_CORE_NAMING_H
#define REEL_CORE_NAMING_H

#include "reel/iterate.h"
#include "wire/arena.h"

struct naming {          /* zero-initialised = every name as it is */
    struct named *names; /* of all recordings, sorted */
    size_t count, capacity;
    const struct reel_source_option *sources; /* the caller's, only while the stream is opened */
    enum reel_prefixing prefixing;
};

bool naming_open(struct naming *n, struct reel_recording *const *recordings, uint32_t n_recordings, const struct reel_selection *q,
                 struct reel_error *err);
void naming_close(struct naming *n);

/* What stands in front of the channel's names; "" = nothing. */
const char *naming_prefix(const struct naming *n, const struct reel_channel *c, uint32_t source);
/* The prefixed topic in `out` ("/run1" and "scan" or "/scan" give "/run1/scan"); false when it has no room. */
bool naming_join(const char *prefix, const char *topic, char *out, size_t size);
/* The channel under its name in the stream: itself, or a copy in `arena`; NULL: no memory. */
const struct reel_channel *naming_apply(const struct naming *n, struct arena *arena, const struct reel_channel *c, uint32_t source);

/* The stream's channels under names of at most `max` bytes, each another: a name itself for the first that has it, "/scan#2", "/scan#3" for
 * the others. A longer one is cut between two characters. names[i] is of channel i: its own text, or one in `arena`. */
bool naming_unique(struct arena *arena, const struct reel_stream *stream, size_t max, const char **names, struct reel_error *err);
/* Bytes of `name` that are kept: at most `max`, no character cut in two. */
size_t naming_cut(const char *name, size_t max);

#endif
