/* Entries: where each message is. */
#ifndef REEL_INDEX_ENTRY_H
#define REEL_INDEX_ENTRY_H

#include "chunks/chunk.h"

enum { REEL_ENTRY_EXTRAS = 2 };

/* One message. */
struct reel_entry {
    int64_t time_ns; /* log_time: since 1970 (clock wall) or since the recording's own zero (clock relative) */
    uint64_t offset; /* of its record, in the chunk's raw bytes; the payload is at offset + head */
    uint32_t channel, chunk;
    uint32_t head; /* bytes of record header kept reachable before the payload, for the format's describe() */
    uint32_t size; /* bytes of payload */
    uint64_t extra[REEL_ENTRY_EXTRAS]; /* the format's own columns; 0 when unused (a constant column costs nothing) */
};

#endif
