/* NanoVer messages, for code that reads or writes them: contents of a message, its channel, and its data in the index
 * pack. */
#ifndef REEL_FORMATS_NANOVER_MESSAGE_H
#define REEL_FORMATS_NANOVER_MESSAGE_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/grow.h"
#include "base/limits.h"
#include "index/index.h"
#include "reel/model.h"
#include "syntax/msgpack.h"

/* What the entries of NanoVer's own files keep in their extra columns (reel_format.contract):
 *   extra[0]  bit 0       the frame is a reset (frame.index 0)
 *             bits 1-16   id of the set of keys that the message touches (0 = unknown): of two messages with one id the
 * later wholly overrides the other bit 17      the index lies compressed, as chunk 1; else chunk 0 is the file bits
 * 18-63  where, in that chunk, the entry's metadata map begins, when it holds keys of its own extra[1]  bits 0-47
 * frame.index + 1; 0 = the message has none bits 48-63  size of that metadata map; 0 = nothing but types, frame.index
 * and timestamp Recordings of the older form (formats/nanover/legacy.h) keep the same, but in bits 18-63 of extra[0]
 * the size that the message has as MessagePack. */
#define NANOVER_CONTRACT "nanover"
enum { NANOVER_SETS_MAX = 65535, NANOVER_KEPT_MAX = 65535 };
#define NANOVER_FRAME_INDEX_MAX ((UINT64_C(1) << 48) - 2)

static inline bool nanover_is_reset(const struct reel_entry *e) {
    return (e->extra[0] & 1) != 0;
}
static inline uint32_t nanover_key_set(const struct reel_entry *e) {
    return (uint32_t)(e->extra[0] >> 1 & 0xFFFF);
}
static inline uint32_t nanover_kept_chunk(const struct reel_entry *e) {
    return (uint32_t)(e->extra[0] >> 17 & 1);
}
static inline uint64_t nanover_kept_offset(const struct reel_entry *e) {
    return e->extra[0] >> 18;
}
static inline uint32_t nanover_kept_size(const struct reel_entry *e) {
    return (uint32_t)(e->extra[1] >> 48);
}
static inline uint64_t nanover_frame_index_plus_1(const struct reel_entry *e) {
    return e->extra[1] & ((UINT64_C(1) << 48) - 1);
}

static inline bool nanover_is_own(const struct reel_index *index) { /* its entries follow the contract */
    return reel_format_keeps(reel_index_info(index)->format, NANOVER_CONTRACT);
}
#define NANOVER_TIME_MAX (INT64_MAX / 4) /* times beyond it, in either direction, are invalid */

/* --- one message, one channel (message.c) --- */

enum { NANOVER_TYPES_MAX = 32 };

/* Oddities of a message or its index entry; counted, and reported once per recording (scan.h). */
enum nanover_quirk {
    QUIRK_TEXT,
    QUIRK_KEY,
    QUIRK_FRAME_SHAPE,
    QUIRK_STATE_SHAPE,
    QUIRK_LIST,
    QUIRK_LENGTH,
    QUIRK_ROWS,
    QUIRK_RANGE,
    QUIRK_NO_FRAME_INDEX,
    QUIRK_FIRST_FRAME,
    QUIRK_NO_POSITIONS,
    QUIRK_TYPES_MISSING,
    QUIRK_TYPES,
    QUIRK_FRAME_INDEX,
    QUIRK_FLOAT_TIME,
    QUIRK_NO_TIME,
    QUIRK_TIME_BACK,
    QUIRK_TIME_32,
    QUIRK_OFFSET_32,
    QUIRK_PAUSE,
    QUIRK_GAP,
    QUIRK_ENTRY_KEY,
    QUIRK_NOT_KEPT,
    QUIRK_SETS,
    QUIRKS
};

struct nanover_message {
    struct reel_bytes types[NANOVER_TYPES_MAX]; /* the top-level keys, in the message's bytes */
    unsigned n_types;
    bool has_frame, has_state;
    bool has_frame_index, has_positions;
    uint64_t frame_index;
    uint32_t quirks; /* bits 1 << enum nanover_quirk */
    uint64_t rows;   /* number of particles, from the length of the per-particle values; 0 = no such values */
    uint64_t particles, residues;   /* particle.count, residue.count; 0 = missing */
    uint64_t bond_end, residue_end; /* largest particle in a bond, largest residue of a particle, each + 1 */
    bool has_server_time, has_simulation_time;
    double server_time, simulation_time; /* seconds, picoseconds */
    struct reel_bytes simulation_name;
};

struct nanover_keys; /* keys.h */
/* Walks exactly one message. On MSGPACK_BAD *why holds the reason. `keys` (may be NULL) receives the keys that the
 * message touches. */
enum msgpack_result nanover_message_read(struct cursor *c, struct nanover_message *m, struct nanover_keys *keys,
                                         const char **why);

/* The keys of a frame and of a state, for folding; each cursor is before the header of the map or array. */
struct nanover_body {
    struct cursor frame, updates, removals;
    bool has_frame, has_state, has_updates, has_removals;
};
enum msgpack_result nanover_message_body(struct reel_bytes message, struct nanover_body *body);

/* Type of the elements of a packed frame value; NANOVER_UNPACKED when values of that key are not packed. */
enum nanover_packed { NANOVER_UNPACKED, NANOVER_F32, NANOVER_U8, NANOVER_U32 };
enum nanover_packed nanover_packed_key(struct reel_bytes key);
/* Elements per row: 3 for a position. 1 when there are no rows, or values of that key are not packed. */
unsigned nanover_packed_columns(struct reel_bytes key);
/* A packed value, or a list of numbers in packed form. Anything else empties it. False: no memory. */
bool nanover_packed_value(struct cursor at, enum nanover_packed type, struct grow *out);

#define NANOVER_ENCODING "nanover"
#define NANOVER_FRAME_INDEX "frame.index"

static inline bool nanover_is_count(struct reel_bytes key) {
    return bytes_is(key, "particle.count") || bytes_is(key, "residue.count") || bytes_is(key, "chain.count");
}

/* The channel of a list of message types. Texts are in the arena; false: no memory, or more than REEL_TEXT_MAX. */
bool nanover_channel(struct arena *arena, const struct reel_bytes *types, unsigned n_types, struct reel_channel *out);
/* Number of message types in a channel: n_topics, or 0 for the channel of empty messages. */
uint32_t nanover_channel_types(const struct reel_channel *channel);

/* Fills the extra columns from the message as the scan of a NanoVer file does: reset and frame.index, but no keys. */
void nanover_fill_entry(struct reel_bytes message, struct reel_entry *entry);

#endif
