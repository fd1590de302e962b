/* Internals of the MIRA tape reader. scan.c: recognition and the scan · fields.c: reads one field · walk.c: walks the
 * fields · names.c: channels and frame ids · codec.c: compressed messages · resume.c: continues after damage · check.c:
 * compares what the tape states with what was found · summary.c: the summary, without a scan. Only the walk, by the
 * lengths inside the fields, determines the contents. */
#ifndef REEL_FORMATS_MIRA_CONTAINER_H
#define REEL_FORMATS_MIRA_CONTAINER_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "base/mix.h"
#include "base/window.h"
#include "formats/mira/layout.h"
#include "index/format.h"
#include "index/scan.h"

extern const struct reel_format reel_format_mira;

struct libdeflate_decompressor;

enum {
    MIRA_META_MAX = REEL_SCHEMA_MAX + 2 * REEL_TEXT_MAX,
    MIRA_FRAMES_MAX = 4096,                  /* distinct frame ids that a channel keeps */
    MIRA_FRAME_BYTES_MAX = 16 << 20,         /* all frame ids of a tape */
    MIRA_TABLES_MAX = 2 * REEL_CHANNELS_MAX, /* index fields, and channel infos, that are checked */
};

struct mira_header {
    uint32_t version, blocks;
    uint64_t start_ns;
    int64_t utc_ns;
    uint64_t first_info;
    bool big; /* big-endian */
};

/* One field. The texts point into the window and are valid until its next use. */
struct mira_field {
    uint64_t at, end; /* end: according to the lengths inside it */
    uint32_t size;    /* from its header */
    uint8_t type;
    bool cut; /* not read because the file ends inside it */
    union {
        struct {
            uint32_t messages, bytes;
            int64_t first, last;
        } block;
        struct {
            uint64_t next, meta_at, meta_size, data_size, index;
            int64_t first, last;
            struct reel_bytes name, type;
        } info;
        struct {
            int64_t time;
            struct reel_bytes channel, frame;
            uint64_t data_at;
            uint32_t sequence, stored, raw;
            bool compressed;
        } message;
        struct {
            uint32_t count;
            uint64_t entries_at;
        } index;
    };
};

/* A channel info as stored. */
struct mira_info {
    uint64_t at; /* must be the first member: find_link() reads it */
    uint64_t next, data_size, index;
    int64_t first, last;
    uint32_t channel;
};

struct mira_table { /* an index field */
    uint64_t at;    /* must be the first member */
    uint64_t sum;
    uint32_t count;
    bool resolved; /* its first entry refers to a message */
};

struct mira_frame {
    const char *text;
    struct mira_frame *next;
};

struct mira_channel {
    struct reel_bytes name, type, meta; /* as stored */
    uint32_t id, n_frames;
    bool described;               /* an info has been read */
    struct mira_channel *guess;   /* channel of the message that followed last time */
    struct reel_bytes last_frame; /* of the previous message, and its number */
    uint32_t last_frame_number;
    struct mira_frame *frames, **frames_end;
    uint64_t messages, stored_bytes, unknown; /* unknown: number of messages with an unknown compression */
    uint64_t sum;                             /* of mira_position_hash() */
    int64_t first, last;
};

struct mira_open_block {
    uint64_t at, end; /* end: of its last field */
    uint32_t messages, bytes, seen;
    int64_t first, last, seen_first, seen_last;
    bool open;
};

/* Oddities of one kind: counted, and reported once with the first position. */
struct mira_count {
    uint64_t n, at;
};

struct mira {
    struct reel_scan *scan;
    struct reel_source *source;
    struct window window, peek; /* for the walk; for reading elsewhere */
    struct mira_header header;
    uint64_t at, report_at;
    uint64_t search_left; /* bytes that may still be searched; keeps the scan linear */
    struct arena arena;
    uint64_t seed;

    struct hash_table names; /* of channels → 1 + channel, and of their frame ids → 1 + number */
    struct mira_channel **channels;
    size_t n_channels, cap_channels;
    struct mira_channel *last;
    uint32_t n_frames;
    size_t frame_bytes;

    uint32_t plain_chunk; /* chunk of uncompressed messages; it begins at plain_at */
    uint64_t plain_at;
    bool plain_old; /* a compressed message came after it */
    struct libdeflate_decompressor *inflater;
    uint8_t *inflated;
    size_t inflated_room;
    uint64_t verify_left; /* bytes that may still be decoded to verify messages */

    struct mira_open_block block;
    struct mira_info *infos;
    size_t n_infos, cap_infos;
    struct mira_table *tables;
    size_t n_tables, cap_tables;
    uint64_t blocks, messages;
    struct mira_count wrong_sizes, wrong_blocks, empty_blocks, no_block, no_frame, clamped, unproved, late_infos,
        again_infos, big_metas;
};

/* Hash of a message at `at` in the block at `block`; sums of it do not depend on the order. */
static inline uint64_t mira_position_hash(uint64_t block, uint64_t at, int64_t time) {
    return mix_pair(mix_pair(block, at), (uint64_t)time);
}
static inline void mira_count(struct mira_count *c, uint64_t at) {
    c->at = c->n++ == 0 ? at : c->at;
}

static inline uint32_t mira_u32(struct cursor *c, bool big) {
    return big ? (uint32_t)cursor_be(c, 4) : cursor_u32le(c);
}
static inline uint64_t mira_u64(struct cursor *c, bool big) {
    return big ? cursor_be(c, 8) : cursor_u64le(c);
}

/* scan */
/* Opens the tape and reports its header. Call mira_close() after a failure too. */
bool mira_begin(struct mira *t, struct reel_scan *scan, size_t window_bytes, struct reel_error *err);
void mira_close(struct mira *t);

/* summary */
bool mira_summary(struct reel_scan *scan, struct reel_error *err);

/* fields */
int mira_header_read(struct reel_bytes head, const struct reel_source *source,
                     struct mira_header *h); /* confidence in
                                                bits, see
                                                reel_format.probe;
                                                0 = not a tape
                                              */
/* REEL_DAMAGED with the reason if there is no complete field. */
bool mira_field_read(const struct mira *t, struct window *w, uint64_t at, struct mira_field *f, struct reel_error *err);
static inline bool mira_size_agrees(const struct mira_field *f) { /* the size of a block may include its fields */
    uint64_t natural = f->end - f->at - MIRA_FIELD_HEAD;
    return f->size == natural || f->size == natural + MIRA_FIELD_HEAD || f->type == MIRA_BLOCK;
}

/* names */
uint64_t mira_hash(const struct mira *t, uint32_t owner, struct reel_bytes key);
uint32_t mira_table_get(const struct mira *t, uint32_t owner, struct reel_bytes key);                 /* 0: not found */
struct mira_channel *mira_channel_of(struct mira *t, struct reel_bytes name, struct reel_error *err); /* added if it is
                                                                                                         new */
/* *number: 1 + the index of the frame id in the channel's list; 0: empty, or not kept. */
bool mira_frame_number(struct mira *t, struct mira_channel *c, struct reel_bytes frame, uint64_t at, uint32_t *number,
                       struct reel_error *err);
bool mira_read_info(struct mira *t, const struct mira_field *f, struct reel_error *err);
bool mira_finish_channels(struct mira *t, struct reel_error *err); /* passes their descriptions to the builder */

/* codec: of messages that are marked as compressed. *codec NONE: unknown, or they do not decode; then they are
 * delivered as stored. */
/* Inspects the first bytes; *known is true for messages that are not compressed. */
bool mira_codec_known(struct window *w, const struct mira_field *f, bool *known, struct reel_error *err);
bool mira_choose_codec(struct mira *t, struct mira_channel *c, const struct mira_field *f, enum reel_codec *codec,
                       uint64_t *raw, struct reel_error *err);

/* walk */
bool mira_walk(struct mira *t, struct reel_error *err);
bool mira_progress(struct mira *t, uint64_t at, struct reel_error *err);
int64_t mira_absolute(struct mira *t, int64_t time, uint64_t at); /* converts a time in the field at `at` */

/* resume: moves t->at past damage and reports it */
/* Is there a field whose size in the header matches the lengths inside it? Reads it with t->peek. */
bool mira_inspect(struct mira *t, uint64_t at, struct mira_field *f, bool *yes, struct reel_error *err);
bool mira_is_field(struct mira *t, uint64_t at, bool *yes, struct reel_error *err);
bool mira_resume(struct mira *t, const char *why, struct reel_error *err);

/* check */
struct mira_convention { /* what the offsets of a table are relative to */
    uint64_t link;       /* a block link points this far after its header: 0 or 5 */
    uint64_t message;    /* a message is this far after header + relative offset: 0, 5 or 29 */
};
struct mira_entry {
    uint64_t block, relative;
    int64_t time;
};
struct mira_entry mira_entry_of(const uint8_t *p, bool big);
/* Finds the convention with which the entry refers to its message. */
bool mira_resolve(struct mira *t, const struct mira_entry *e, struct mira_convention *out, bool *found,
                  struct reel_error *err);
bool mira_read_index(struct mira *t, const struct mira_field *f, struct reel_error *err);
void mira_check(struct mira *t);

#endif
