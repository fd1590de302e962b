/* Messages of the older NanoVer form (protobuf), and how they become those of today.
 *
 * .traj   GetFrameResponse { 1 frame_index: uint32 (absent = 0), 2 frame: FrameData }
 *         FrameData        { 1 values: map<string, Value>, 2 arrays: map<string, ValueArray> }
 *         ValueArray       { one of: 1 FloatArray { 1: repeated float }, 2 IndexArray { 1: repeated uint32 },
 *                            3 StringArray { 1: repeated string } }
 * .state  StateUpdate      { 1 changed_keys: Struct }
 *         Struct           { 1 fields: map<string, Value> }       a null in changed_keys: the key is removed
 *         ListValue        { 1 values: repeated Value }
 *         Value            { one of: 1 null (varint), 2 double, 3 string, 4 bool (varint), 5 Struct, 6 ListValue }
 * A map is a repeated message { 1: key, 2: value }; of equal keys the last counts. Repeated numbers come packed (one
 * run of bytes) or one by one. */
#ifndef REEL_FORMATS_NANOVER_LEGACY_H
#define REEL_FORMATS_NANOVER_LEGACY_H

#include "base/cleanup.h"
#include "base/grow.h"
#include "formats/nanover/message.h"

enum {
    FRAME_INDEX = 1, /* GetFrameResponse */
    FRAME_DATA = 2,
    DATA_VALUES = 1, /* FrameData */
    DATA_ARRAYS = 2,
    STATE_CHANGED = 1, /* StateUpdate */
    MAP_ENTRY = 1,     /* Struct */
    MAP_KEY = 1,
    MAP_VALUE = 2,
    LIST_ITEM = 1,   /* ListValue, FloatArray, IndexArray, StringArray */
    ARRAY_FLOAT = 1, /* ValueArray */
    ARRAY_INDEX = 2,
    ARRAY_STRING = 3,
    VALUE_NULL = 1, /* Value */
    VALUE_NUMBER = 2,
    VALUE_STRING = 3,
    VALUE_BOOL = 4,
    VALUE_STRUCT = 5,
    VALUE_LIST = 6,
};

#define NANOVER_LEGACY_ENCODING "nanover-protobuf"

enum legacy_kind {
    LEGACY_NONE,
    LEGACY_FRAME,
    LEGACY_STATE,
    LEGACY_BARE /* a FrameData alone, as a .traj of version 1 has it: it has no frame.index */
};

/* --- one message, converted by the rules of the official converter --- */

struct legacy_converter { /* zero-initialised; its memory is reused for the next message */
    struct grow out;
    struct legacy_pair *pairs; /* of the maps being written, innermost last */
    size_t n_pairs, cap_pairs;
    const char *why; /* why the message is damaged */
    bool unknown;    /* the message had unknown fields */
    bool no_memory;
};

/* {"frame": …} or {"state": …}, valid until the next call. REEL_DAMAGED with "is …", REEL_NO_MEMORY. */
bool legacy_convert(struct legacy_converter *c, enum legacy_kind kind, struct reel_bytes message,
                    struct reel_bytes *out, struct reel_error *err);
void legacy_converter_done(struct legacy_converter *c);

/* --- channels and entries --- */

enum legacy_kind legacy_channel_kind(const struct reel_channel *channel); /* LEGACY_NONE: another format */
static inline uint32_t legacy_converted_size(const struct reel_entry *e) {
    return (uint32_t)(e->extra[0] >> 18);
}
static inline uint64_t legacy_keep_size(uint64_t size) { /* for extra[0] */
    return size << 18;
}

#endif
