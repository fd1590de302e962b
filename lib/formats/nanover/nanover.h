/* What the files of the NanoVer format share: MessagePack without trees, the ZIP directory, one message's facts, its channel.
 * Contract of the entries, for whoever reads them (nanover_state.c, nanover_write.c): */
#ifndef REEL_NANOVER_H
#define REEL_NANOVER_H

#include "reel/format.h"
#include "reel/index.h"
#include "reel/model.h"
#include "wire/arena.h"
#include "wire/cleanup.h"
#include "wire/cursor.h"
#include "wire/limits.h"

/* extra[0]: bit 0      the frame is a reset (frame.index 0)
 *           bits 1-16  id of the set of keys that the message touches (0 = unknown): of two messages with one id the later wholly overrides
 * the other bit 17     the index lies compressed, as chunk 1; else chunk 0 is the file bits 18-63 where, in that chunk, the entry's
 * metadata map begins, when it holds keys of its own extra[1]: bits 0-47  frame.index + 1; 0 = the message has none bits 48-63 size of that
 * metadata map; 0 = nothing but types, frame.index and timestamp. Recordings of the older form (nanover_legacy.h) keep the same, but in
 * bits 18-63 of extra[0] the size that the message has as MessagePack. */
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

/* --- nanover_pack.c: MessagePack read item by item from a cursor --- */

enum msgpack_result {
    MSGPACK_OK,
    MSGPACK_SHORT /* the bytes end first */,
    MSGPACK_BAD /* no MessagePack */,
    MSGPACK_DEEP /* more than REEL_DEPTH_MAX levels */
};
const char *msgpack_result_text(enum msgpack_result r);

enum msgpack_kind {
    MSGPACK_NIL,
    MSGPACK_BOOL,
    MSGPACK_INT,
    MSGPACK_FLOAT,
    MSGPACK_STR,
    MSGPACK_BIN,
    MSGPACK_EXT,
    MSGPACK_ARRAY,
    MSGPACK_MAP
};
struct msgpack_item {
    enum msgpack_kind kind;
    bool over;               /* MSGPACK_INT above INT64_MAX: number is right, integer is not, natural is exact */
    bool narrow;             /* MSGPACK_FLOAT of 32 bits */
    int64_t integer;         /* MSGPACK_INT, MSGPACK_BOOL */
    uint64_t natural;        /* MSGPACK_INT that is not negative */
    double number;           /* MSGPACK_INT, MSGPACK_FLOAT */
    uint64_t count;          /* MSGPACK_ARRAY: items, MSGPACK_MAP: pairs; they follow */
    struct reel_bytes bytes; /* MSGPACK_STR, MSGPACK_BIN, MSGPACK_EXT */
};
struct msgpack_faults { /* what strict readers refuse and we only note */
    bool text, key;     /* a str that is no UTF-8; a map key that is no str */
};

enum msgpack_result msgpack_read(struct cursor *c, struct msgpack_item *item);
/* Steps over one object, at most `depth` levels deep. */
enum msgpack_result msgpack_skip(struct cursor *c, unsigned depth, struct msgpack_faults *faults);
/* msgpack_read, and for an array or map also over what is in it. */
enum msgpack_result msgpack_take(struct cursor *c, struct msgpack_item *item, unsigned depth, struct msgpack_faults *faults);
/* A map key: its text, or an item of another kind stepped over (noted; text is then empty). */
enum msgpack_result msgpack_key(struct cursor *c, struct reel_bytes *text, unsigned depth, struct msgpack_faults *faults);
static inline bool msgpack_is_number(const struct msgpack_item *item) {
    return item->kind == MSGPACK_INT || item->kind == MSGPACK_FLOAT;
}

/* --- nanover_message.c: one message, one channel --- */

enum { NANOVER_TYPES_MAX = 32 };

/* What is unusual about a message or its index entry; counted, and told once a recording (nanover_scan.h). */
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
    uint32_t quirks;                /* bits 1 << enum nanover_quirk */
    uint64_t rows;                  /* particles by the length of the per-particle values; 0 = none is there */
    uint64_t particles, residues;   /* particle.count, residue.count; 0 = not there */
    uint64_t bond_end, residue_end; /* largest particle in a bond, largest residue of a particle, each + 1 */
    bool has_server_time, has_simulation_time;
    double server_time, simulation_time; /* seconds, picoseconds */
    struct reel_bytes simulation_name;
};

struct nanover_keys; /* key_sets.h */
/* Walks exactly one message. On MSGPACK_BAD *why says what is wrong. `keys` (may be NULL) becomes the keys that the message touches. */
enum msgpack_result nanover_message_read(struct cursor *c, struct nanover_message *m, struct nanover_keys *keys, const char **why);

/* The two places where a frame and a state keep their keys, for folding; cursors stand before the map's or array's header. */
struct nanover_body {
    struct cursor frame, updates, removals;
    bool has_frame, has_state, has_updates, has_removals;
};
enum msgpack_result nanover_message_body(struct reel_bytes message, struct nanover_body *body);

/* What the elements of a packed frame value are; NANOVER_UNPACKED when values of that key are not packed. */
enum nanover_packed { NANOVER_UNPACKED, NANOVER_F32, NANOVER_U8, NANOVER_U32 };
enum nanover_packed nanover_packed_key(struct reel_bytes key);
/* How many of them make a row: 3 of a position. 1 where there are no rows, or values of that key are not packed. */
unsigned nanover_packed_columns(struct reel_bytes key);

/* The channel of a list of message types. Texts live in the arena; false: no memory, or over REEL_TEXT_MAX. */
bool nanover_channel(struct arena *arena, const struct reel_bytes *types, unsigned n_types, struct reel_channel *out);
/* How many message types a channel stands for: n_topics, or 0 for the channel of empty messages. */
uint32_t nanover_channel_types(const struct reel_channel *channel);

/* --- nanover_zip.c: the archive's directory --- */

struct nanover_member {
    struct reel_bytes name;
    uint64_t offset, stored, raw; /* of its data in the file */
    enum reel_codec codec;
    bool crc_known;
    uint32_t crc;
    const char *problem; /* why its bytes cannot be had; NULL = they can */
    bool foreign;        /* … because of how it is packed, not of damage */
};
struct nanover_archive {
    struct arena arena;
    struct nanover_member *members;
    size_t count;
    const struct nanover_member *messages, *index; /* NULL = not there */
    const char *lost; /* why there is no directory and the members come from a walk over local headers; NULL = there is one */
};

/* Reads the directory, or, when there is none, the local headers from the file's start. REEL_NOT_MINE when that gives no messages member.
 */
bool nanover_archive_open(struct nanover_archive *archive, struct reel_source *source, struct reel_error *err);
/* Any ZIP archive by its directory, whatever it holds; close it also after a failure. */
bool nanover_archive_list(struct nanover_archive *archive, struct reel_source *source, struct reel_error *err);
void nanover_archive_close(struct nanover_archive *archive);
static inline void reel_auto_nanover_archive_close(struct nanover_archive *archive) { /* for AUTO() on the struct itself */
    nanover_archive_close(archive);
}

/* --- nanover_state.c --- */
bool nanover_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted, struct reel_front *front, struct reel_error *err);
/* The same where messages are not MessagePack as they lie in the file: load() makes them so, valid until its next call. */
typedef bool (*nanover_load)(void *context, struct reel_reader *reader, const struct reel_entry *entry, struct reel_bytes *out,
                             struct reel_error *err);
bool nanover_state_by(nanover_load load, void *context, struct reel_reader *reader, int64_t time_ns, const bool *wanted,
                      struct reel_front *front, struct reel_error *err);
/* The same where they lie in another format's file: state_at() of such formats. Channels of others are passed over. (nanover_view.c) */
bool nanover_foreign_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted, struct reel_front *front,
                              struct reel_error *err);

/* What all messages with time < time_ns of the wanted channels add up to. */
struct nanover_sum {
    bool frame, state; /* which is asked for */
    bool as_run; /* in: the message begins a run: frame.index is 0, and of frame and state it holds those that there are. Else frame.index
                  * is what the frames add up to, and what is asked for stands there, if empty */
    nanover_load load;
    /* Optional, where entries are not those of a NanoVer file: their extra columns by the contract above (nothing need be known of the
     * keys). Messages that are none of NanoVer's are passed over then. */
    bool (*learn)(void *context, struct reel_reader *reader, struct reel_entry *entry, struct reel_error *err);
    void *context;
    bool has_frame, has_state; /* out: any message had one */
    uint8_t *data;             /* out: MessagePack, the caller's to free; also after a failure */
    size_t size;
};
bool nanover_sum_at(struct nanover_sum *sum, struct reel_reader *reader, int64_t time_ns, const bool *wanted, struct reel_error *err);
/* The same, put in front of a cut at time_ns. */
bool nanover_sum_in_front(struct nanover_sum *sum, struct reel_reader *reader, int64_t time_ns, const bool *wanted,
                          struct reel_front *front, struct reel_error *err);

/* --- nanover_view.c --- */

/* Has the recording NanoVer messages, of today or of the older form, whatever file they came in? */
bool nanover_is_there(const struct reel_index *index);
/* The whole frame, or else the whole state, that those with time < time_ns add up to, as one message: MessagePack, from malloc. */
bool nanover_moment(struct reel_reader *reader, int64_t time_ns, bool frame, uint8_t **data, size_t *size, struct reel_error *err);

#endif
