/* Messages of a NanoVer server, recorded as they were received. */
#ifndef SERVER_LIVE_NANOVER_RECORD_H
#define SERVER_LIVE_NANOVER_RECORD_H

#include "base/arena.h"
#include "formats/rows/append.h"

enum { NANOVER_RECORD_CHANNEL_MAX = 1 << 20 };
/* Its channel, in an arena of at most NANOVER_RECORD_CHANNEL_MAX. *is_nanover false: it is no message, or its types
 * are longer than a channel's name may be. */
bool nanover_record_channel(struct arena *arena, struct reel_bytes message, struct reel_channel *out, bool *is_nanover,
                            struct reel_error *err);

/* Records one on its channel, which the list of its types makes. *is_nanover false: none that has a channel: it is
 * dropped. `rows` is of `recorder`. */
bool nanover_record(struct reel_recorder *recorder, struct reel_rows *rows, struct reel_bytes message, int64_t log_ns,
                    bool *is_nanover, struct reel_error *err);

#endif
