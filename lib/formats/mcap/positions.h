/* Where the messages of the chunk being written lie, for its MessageIndex records. */
#ifndef REEL_FORMATS_MCAP_POSITIONS_H
#define REEL_FORMATS_MCAP_POSITIONS_H

#include "base/sink.h"
#include "formats/mcap/layout.h"
#include "reel/error.h"

enum { MCAP_CHUNK_MESSAGES = 16384 };

/* Ids of channels and schemas are positions + 1: a schema's id must not be 0. */
static inline uint16_t mcap_id(uint32_t position) {
    return (uint16_t)(position + 1);
}

struct mcap_position {
    uint64_t time_ns, offset; /* in the chunk's records */
    uint32_t channel;
};

struct mcap_positions {
    uint32_t *counts;  /* by channel: messages in the chunk; all 0 between chunks */
    uint32_t *touched; /* the channels of the chunk, in order of their first message */
    uint32_t n_touched, n_channels;
    struct mcap_position *items; /* MCAP_CHUNK_MESSAGES at most */
    uint32_t count;
    uint8_t *index; /* entries of all MessageIndex records, sorted by channel */
    uint64_t start_ns, end_ns, last_ns;
    bool disordered;
};

bool mcap_positions_open(struct mcap_positions *p, uint32_t n_channels, struct reel_error *err);
/* Makes room for more channels. */
bool mcap_positions_widen(struct mcap_positions *p, uint32_t n_channels, struct reel_error *err);
void mcap_positions_close(struct mcap_positions *p);
static inline void mcap_positions_add(struct mcap_positions *p, uint32_t channel, uint64_t time_ns, uint64_t offset) {
    if (p->counts[channel]++ == 0) {
        p->touched[p->n_touched++] = channel;
    }
    p->start_ns = p->count == 0 || time_ns < p->start_ns ? time_ns : p->start_ns;
    p->end_ns = time_ns > p->end_ns ? time_ns : p->end_ns;
    p->disordered |= time_ns < p->last_ns;
    p->last_ns = time_ns;
    p->items[p->count++] = (struct mcap_position){.time_ns = time_ns, .offset = offset, .channel = channel};
}
/* Size of the MessageIndex records. */
static inline uint64_t mcap_positions_size(const struct mcap_positions *p) {
    return (uint64_t)p->n_touched * MCAP_MESSAGE_INDEX_HEAD + (uint64_t)p->count * MCAP_MESSAGE_INDEX_ENTRY;
}
/* Emits the MessageIndex records, once: the counts are used up. */
void mcap_positions_put(struct mcap_positions *p, struct reel_sink *out);
void mcap_positions_forget(struct mcap_positions *p); /* begins the next chunk */

#endif
