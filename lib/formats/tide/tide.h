/* What the files of the TIDE reader share, and the channel model that the writer shares with them. tide_scan: recognise, the two passes ·
 * tide_blocks: where blocks begin and end · tide_describe: CHAN, TYPE and META · tide_chunk: chunks and their entries · tide_index: INDX
 * held against the entries · tide_summary: what heads and index say, alone · tide_model: from a channel's fields to the model's channel ·
 * tide_fields: and back · tide_reel: Reel's own notes in a source config. Rule: no order of blocks is assumed. The first pass learns
 * channels, types and metadata from the blocks that hold them, the second takes the messages; both find the same blocks. */
#ifndef REEL_FORMATS_TIDE_TIDE_H
#define REEL_FORMATS_TIDE_TIDE_H

#include "formats/tide/wire.h"
#include "reel/format.h"
#include "reel/scan.h"
#include "wire/arena.h"
#include "wire/cursor.h"
#include "wire/hash_table.h"
#include "wire/limits.h"
#include "wire/mix.h"
#include "wire/window.h"

extern const struct reel_format reel_format_tide;

enum {
    TIDE_RECONSTRUCTED_MAX = 1000,   /* channels made up for messages without a CHAN block */
    TIDE_DESCRIPTION_MAX = 64 << 20, /* a CHAN, TYPE or META block */
    TIDE_LOOKUPS_MAX = 4 << 20,      /* steps from type to type, all channels together */
};

/* ---- channels and types, as a file has them ---- */

struct tide_fields {
    uint32_t id;
    uint32_t n_hashes;
    struct reel_bytes name, type, source, config, format;
    const struct reel_bytes *hashes;
};
struct tide_type {
    struct reel_bytes hash, syntax, name, version, definition;
    const struct reel_bytes *sources, *needs;
    uint32_t n_sources, n_needs;
    uint64_t at; /* of the first of one hash, the others are not seen */
};
struct tide_types { /* sorted by hash */
    const struct tide_type *items;
    size_t count;
    uint32_t lookups_left;
    uint32_t missing, cut; /* hashes without a type; channels whose list of types is not complete */
};

/* tide_model.c. The model's channel that these fields stand for; all texts and tables come from the arena, definitions are not copied.
 * False: no memory, or the arena's ceiling. */
bool tide_channel_model(struct arena *arena, bool is_new, const struct tide_fields *f, struct tide_types *types, struct reel_channel *out,
                        bool *relative);
const struct tide_type *tide_type_find(const struct tide_types *types, struct reel_bytes hash); /* NULL: there is none */
int tide_type_compare(const void *a, const void *b);                                            /* by hash, for qsort */

/* tide_fields.c. The fields that a channel of the model came from, when it came from a TIDE log of this layout; whether they give it back
 * is for the caller to try. Types are those of the channel itself. */
bool tide_channel_fields(struct arena *arena, bool is_new, const struct reel_channel *c, struct tide_fields *f, struct tide_types *types);
bool tide_channel_same(const struct reel_channel *a, const struct reel_channel *b); /* but for the id, and the scope that the name tells */
const char *tide_metadata_of(const struct reel_channel *c, const char *key);        /* NULL: there is none */

/* tide_text.c. `data` of what goes back is NULL when the text is none of this kind, as are all when there is no room. */
bool tide_is_text(struct reel_bytes b); /* UTF-8 without NUL */
struct reel_bytes tide_base64(struct arena *arena, struct reel_bytes b);
struct reel_bytes tide_base64_back(struct arena *arena, const char *text);
const char *tide_hex(struct arena *arena, struct reel_bytes b);
struct reel_bytes tide_hex_back(struct arena *arena, const char *text, size_t digits);

/* tide_reel.c. What a channel is that TIDE's own fields cannot say, as JSON in its source config: {"reel":{…}}. The definitions follow
 * each other in the format field (old), or are the types of the channel (new). */
bool tide_reel_write(struct arena *arena, const struct reel_channel *c, bool relative, struct reel_bytes *config);
enum tide_reel { TIDE_REEL_NO_ROOM = -1, TIDE_REEL_OTHER /* the config says something else */, TIDE_REEL_READ };
enum tide_reel tide_reel_read(struct arena *arena, bool is_new, const struct tide_fields *f, const struct tide_types *types,
                              struct reel_channel *out, bool *relative);

/* ---- the scan ---- */

enum tide_tag { TIDE_NO_BLOCK, TIDE_TIDE, TIDE_CHAN, TIDE_CHNK, TIDE_INDX, TIDE_TYPE, TIDE_META, TIDE_OTHER };

struct tide_block {
    uint64_t at, size; /* of its tag; as its head says */
    uint64_t end;      /* where the next one begins */
    enum tide_tag tag;
    uint8_t name[4];
    bool mended; /* Size leads nowhere, but what is inside ends where a block begins */
    bool cut;    /* Size exceeds the file, and nothing tells where it ends: the next block found is behind all that could be read */
};

struct tide_channel {
    struct tide_fields fields;
    uint32_t model;
    bool described; /* has a CHAN block */
    bool again;     /* told that another CHAN block has its id */
    uint64_t messages, indexed, index_sum;
    uint64_t
        sums[3]; /* of tide_place_hash(), which does not depend on the order: by chunk id, by place of the chunk, by place of its body */
};

struct tide_places { /* something that is told once, with the first place of it */
    uint64_t count, at;
};

struct tide {
    struct reel_scan *scan;
    struct reel_source *source;
    struct tide_summary *summary; /* NULL in a scan. In a summary what is damaged is not sought around but refused */
    struct arena arena;
    struct window peek, data; /* for heads of blocks; for entries and rows */
    unsigned major, minor;
    bool is_new;        /* the layout */
    bool relative;      /* times count from the start of the recording */
    uint64_t body_end;  /* of the TIDE block */
    uint64_t hops_left; /* bytes that looking for the end of a block may still step over, so that it stays linear */
    uint64_t report_at;

    struct tide_channel *channels;
    size_t n_channels, cap_channels, n_reconstructed;
    struct hash_table by_id; /* → channel + 1 */
    struct tide_type *types;
    size_t n_types, cap_types;
    uint64_t pairs; /* of META */

    uint64_t chunks, messages, index_rows, lost;
    struct tide_places unknown, byte_counts, counts, ranges, padded, beyond, odd_times, late, mended, strays;
    uint8_t unknown_name[4];
};

struct tide_index { /* an INDX block */
    uint64_t rows_at;
    uint32_t channel, rows;
};
struct tide_summary {
    uint32_t blocks_left; /* whose heads may still be read */
    struct tide_index *indexes;
    size_t n_indexes, cap_indexes;
    uint64_t rows;                     /* of all of them */
    uint64_t messages;                 /* by the heads of the chunks */
    uint64_t start_ns, end_ns;         /* by those of chunks with messages */
    uint64_t first_ns, last_ns, taken; /* by the rows taken so far */
};

static inline uint64_t tide_place_hash(uint64_t chunk, uint64_t time_ns, uint64_t offset) {
    return mix_step(mix_step(chunk, time_ns), offset);
}
static inline void tide_met(struct tide_places *p, uint64_t at) {
    if (p->count++ == 0) {
        p->at = at;
    }
}

/* tide_scan.c */
/* Reads the TIDE block of what is zero but for t->summary; the windows read that many bytes at once. To be closed also after a failure. */
bool tide_log_open(struct tide *t, struct reel_scan *scan, size_t peek, size_t data, struct reel_error *err);
void tide_log_close(struct tide *t);
__attribute__((format(printf, 4, 5))) void tide_lost(struct tide *t, uint64_t at, uint64_t length, const char *text, ...);
bool tide_progress(struct tide *t, uint64_t at, struct reel_error *err);
bool tide_no_room(const struct tide *t, struct reel_error *err); /* the arena gave nothing */

/* tide_blocks.c */
/* The end of the TIDE block, and which layout the file has. */
bool tide_begin(struct tide *t, uint64_t size, struct reel_error *err);
/* Gives each block to visit(); with `tell`, what lies between blocks is told as lost. */
bool tide_walk(struct tide *t, bool tell, bool (*visit)(struct tide *t, const struct tide_block *b, struct reel_error *err),
               struct reel_error *err);

/* tide_describe.c */
bool tide_take_description(struct tide *t, const struct tide_block *b, struct reel_error *err); /* CHAN, TYPE, META */
bool tide_report_channels(struct tide *t, struct reel_error *err);                              /* to the builder, once all are known */
/* The channel of an id; made up when there is none. *out NULL: too many of those. */
bool tide_channel_of(struct tide *t, uint32_t id, uint64_t at, struct tide_channel **out, struct reel_error *err);
struct tide_channel *tide_find(const struct tide *t, uint32_t id);

/* tide_chunk.c */
bool tide_take_chunk(struct tide *t, const struct tide_block *b, struct reel_error *err);

/* tide_index.c */
bool tide_take_index(struct tide *t, const struct tide_block *b, struct reel_error *err);
void tide_compare_index(struct tide *t);

/* tide_summary.c */
bool tide_summary(struct reel_scan *scan, struct reel_error *err);

#endif
