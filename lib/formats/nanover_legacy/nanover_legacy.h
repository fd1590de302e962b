/* What the files of the older NanoVer form (.traj, .state) share: its messages as MessagePack, and what its channels are. */
#ifndef REEL_NANOVER_LEGACY_H
#define REEL_NANOVER_LEGACY_H

#include "formats/nanover/nanover.h"
#include "reel/iterate.h"
#include "wire/cleanup.h"
#include "wire/grow.h"

#define NANOVER_LEGACY_ENCODING "nanover-protobuf"

enum legacy_kind { LEGACY_NONE, LEGACY_FRAME, LEGACY_STATE };

/* --- nanover_convert.c: one message, by the rules of the official converter --- */

struct legacy_converter { /* zero-initialised; its memory is used again for the next message */
    struct grow out;
    struct legacy_pair *pairs; /* of the maps being written, innermost last */
    size_t n_pairs, cap_pairs;
    const char *why; /* the message is damaged: what is wrong */
    bool unknown;    /* it had fields that are none of ours */
    bool no_memory;
};

/* {"frame": …} or {"state": …}, valid until the next call. REEL_DAMAGED with "is …", REEL_NO_MEMORY. */
bool legacy_convert(struct legacy_converter *c, enum legacy_kind kind, struct reel_bytes message, struct reel_bytes *out,
                    struct reel_error *err);
void legacy_converter_done(struct legacy_converter *c);
static inline void reel_auto_legacy_converter_done(struct legacy_converter *c) { /* for AUTO() on the struct itself */
    legacy_converter_done(c);
}

/* --- channels and entries --- */

enum legacy_kind legacy_channel_kind(const struct reel_channel *channel); /* LEGACY_NONE: of another format */
static inline uint32_t legacy_converted_size(const struct reel_entry *e) {
    return (uint32_t)(e->extra[0] >> 18);
}
static inline uint64_t legacy_keep_size(uint64_t size) { /* for extra[0] */
    return size << 18;
}

/* --- nanover_view.c --- */

/* The view of the NanoVer writer: messages of the older form as those of today, and entries of other formats by NanoVer's contract
 * (nanover.h). */
struct reel_stream *nanover_view(struct reel_stream *source, struct reel_error *err);

bool legacy_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted, struct reel_front *front, struct reel_error *err);

#endif
