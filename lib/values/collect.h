/* What a recording's messages are summed up to, before it is written: channels, their fields, blocks of messages.
 * Bounded for any recording: fields above the ceilings are left out, and the more messages there are, the larger the
 * blocks become. */
#ifndef REEL_VALUES_COLLECT_H
#define REEL_VALUES_COLLECT_H

#include "base/arena.h"
#include "base/hash_table.h"
#include "stream/stream.h"
#include "values/statistics.h"

struct collected_field {
    struct reel_bytes path;
    uint64_t seen; /* the last message that had it, counted from 1: of a key that a message has twice the first value
                      counts */
    struct cell now;
    uint8_t flags;
};
struct collected_block {
    struct pack_key first;
    int64_t last_ns;
    uint32_t messages, n_cells;
    size_t cells; /* where they begin in the channel's */
};
struct collected_channel {
    const struct reel_channel *channel;
    struct reel_decoder *decoder; /* NULL: it is not decoded */
    struct hash_table paths;      /* → position in `fields`, from 1 */
    struct collected_field *fields;
    struct collected_block *blocks;
    struct cell *cells;
    size_t n_fields, cap_fields, n_blocks, cap_blocks, n_cells, cap_cells;
    struct collected_block now; /* messages 0: none is open */
    uint64_t messages, bytes;   /* bytes: of payload in the open block */
    bool opened, truncated;
};
struct collection {
    struct reel_stream *stream;
    struct collected_channel *channels; /* those of the stream */
    struct arena paths;
    size_t opened, fields, held; /* of all channels: decoders, fields, bytes of closed blocks */
    uint32_t block_messages;     /* a block ends with so many … */
    uint64_t block_bytes;        /* … or with so much payload */
};
void collection_done(struct collection *c);
bool collect(struct collection *c, struct reel_recording *recording, const struct reel_progress *progress,
             struct reel_error *err);

#endif
