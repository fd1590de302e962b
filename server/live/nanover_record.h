/* Messages of a NanoVer server, recorded as they were received. */
#ifndef SERVER_LIVE_NANOVER_RECORD_H
#define SERVER_LIVE_NANOVER_RECORD_H

#include "formats/rows/append.h"

/* Records one on its channel, which the list of its types makes. *is_nanover false: it is no such message, and is
 * dropped. `rows` is of `recorder`. */
bool nanover_record(struct reel_recorder *recorder, struct reel_rows *rows, struct reel_bytes message, int64_t log_ns,
                    bool *is_nanover, struct reel_error *err);

#endif
