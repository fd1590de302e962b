/* Unique names for the topics of several recordings in one stream, and for channels in a container that identifies
 * channels by name. */
#ifndef REEL_STREAM_MERGE_NAMES_H
#define REEL_STREAM_MERGE_NAMES_H

#include "base/arena.h"
#include "stream/stream.h"

struct naming {          /* zero-initialised = all names unchanged */
    struct named *names; /* of all recordings, sorted */
    size_t count, capacity;
    const struct reel_source_option *sources; /* owned by the caller, valid only while the stream is opened */
    enum reel_prefixing prefixing;
};

bool naming_open(struct naming *n, struct reel_recording *const *recordings, uint32_t n_recordings,
                 const struct reel_selection *q, struct reel_error *err);
void naming_close(struct naming *n);

/* The prefix of the channel's names; "" = none. */
const char *naming_prefix(const struct naming *n, const struct reel_channel *c, uint32_t source);
/* Writes the prefixed topic to `out` ("/run1" and "scan" or "/scan" make "/run1/scan"); false when it does not fit. */
bool naming_join(const char *prefix, const char *topic, char *out, size_t size);
/* The channel with its name in the stream: the channel itself, or a copy in `arena`; NULL: no memory. */
const struct reel_channel *naming_apply(const struct naming *n, struct arena *arena, const struct reel_channel *c,
                                        uint32_t source);

/* The channel under its new name, if one of the selection's renames is for it; NULL: no memory. */
const struct reel_channel *naming_rename(const struct reel_selection *q, struct arena *arena,
                                         const struct reel_channel *c);

/* Unique names of at most `max` bytes for the stream's channels: the first channel of a name keeps it, further ones
 * become "/scan#2",
 * "/scan#3" … Longer names are cut between two characters. names[i] belongs to channel i: its own text, or one in
 * `arena`. */
bool naming_unique(struct arena *arena, const struct reel_stream *stream, size_t max, const char **names,
                   struct reel_error *err);
/* The longest prefix of `name`, in bytes, up to `max` that does not cut a character in two. */
size_t naming_cut(const char *name, size_t max);

/* Bytes of a file's name before its ending: the longest of any format, else everything from the last dot. */
size_t reel_name_stem(const char *name);
#endif
