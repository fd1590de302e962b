/* Internals of the TIDE reader, and the channel model that the writer uses too. scan.c: recognition and the two passes
 * · blocks.c: where blocks begin and end · describe.c: CHAN, TYPE and META blocks · chunk.c: chunks and their entries ·
 * index.c: compares INDX blocks with the entries · write_remainder.c: unused types and binary metadata · summary.c: the
 * summary, without messages · model.c: TIDE fields to a channel of the model · fields.c: the reverse ·
 * reel_properties.c: Reel's own members in a source config · text.c: bytes as text. Blocks may come in any order: the
 * first pass reads channels, types and metadata, the second one the messages. */
#ifndef REEL_FORMATS_TIDE_CONTAINER_H
#define REEL_FORMATS_TIDE_CONTAINER_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "base/mix.h"
#include "base/window.h"
#include "formats/tide/layout.h"
#include "index/format.h"
#include "index/scan.h"

extern const struct reel_format reel_format_tide;

enum {
    TIDE_RECONSTRUCTED_MAX = 1000,   /* placeholder channels, for messages without a CHAN block */
    TIDE_DESCRIPTION_MAX = 64 << 20, /* bytes of a CHAN, TYPE or META block */
    TIDE_LOOKUPS_MAX = 4 << 20,      /* of types by hash, for all channels together */
};

/* ---- channels and types as stored in the file ---- */

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
    uint64_t at;            /* position in the file. Of types with equal hashes only the first is used */
    struct reel_bytes body; /* of its block; data NULL where it was not read from a file */
};
struct tide_types { /* sorted by hash */
    const struct tide_type *items;
    size_t count;
    uint32_t lookups_left, cut; /* channels whose list of types was cut off */
    bool *used;                 /* by index: some channel has it; NULL: not recorded */
};

/* model.c. Converts fields to a channel of the model. All texts and tables are allocated in the arena; definitions are
 * not copied. False: no memory, or the arena's limit is reached. */
bool tide_channel_model(struct arena *arena, bool is_new, const struct tide_fields *f, struct tide_types *types,
                        struct reel_channel *out, bool *relative);
const struct tide_type *tide_type_find(const struct tide_types *types, struct reel_bytes hash); /* NULL: not found */
void tide_type_used(const struct tide_types *types, const struct tide_type *type); /* records it; `type` may be NULL */
int tide_type_compare(const void *a, const void *b);                               /* by hash and position, for qsort */

/* fields.c. The fields of the TIDE channel that a channel of the model was read from, if that was a TIDE log of this
 * layout. The caller must check that tide_channel_model() turns them into the same channel. `types` gets only the
 * channel's own types. */
bool tide_channel_fields(struct arena *arena, bool is_new, const struct reel_channel *c, struct tide_fields *f,
                         struct tide_types *types);
bool tide_channel_same(const struct reel_channel *a, const struct reel_channel *b); /* except for the id, and the scope,
                                                                                       which is derived from the name */
const char *tide_metadata_of(const struct reel_channel *c, const char *key);        /* NULL: not found */

/* write_remainder.c. What a log has and the model has no place for. A TYPE block that no channel uses is an attachment
 * with its body. A META value that is not text is base64, and ".base64" is appended to its key; so is one that would be
 * mistaken for such a value. */
bool tide_is_kept_type(const struct reel_attachment *a);
/* False: no memory. `key` has no NUL. */
bool tide_keep_value(struct arena *arena, const char **key, struct reel_bytes *value);
bool tide_kept_value(struct arena *arena, struct reel_bytes *key, struct reel_bytes *value);

/* text.c. The results of *_back() have data NULL if the text is not base64 or hex. All results are NULL if there is no
 * memory. */
bool tide_is_text(struct reel_bytes b); /* UTF-8 without NUL */
struct reel_bytes tide_base64(struct arena *arena, struct reel_bytes b);
struct reel_bytes tide_base64_back(struct arena *arena, const char *text);
const char *tide_hex(struct arena *arena, struct reel_bytes b);
struct reel_bytes tide_hex_back(struct arena *arena, const char *text, size_t digits);

/* reel_properties.c. Properties of a channel for which TIDE has no field, as JSON in its source config: {"reel":{…}}.
 * The definitions are concatenated in the format field (old layout), or are types (new): a definition of `parts` is
 * their types' definitions, each with what follows it; one without is that of the channel's type with its index. */
struct tide_part {
    struct reel_bytes hash, after; /* `after` is UTF-8 without NUL */
};
struct tide_parts {
    const struct tide_part *items;
    uint32_t count;
};
/* `parts` of each schema, or NULL. */
bool tide_reel_write(struct arena *arena, const struct reel_channel *c, const struct tide_parts *parts, bool relative,
                     struct reel_bytes *config);
enum tide_reel { TIDE_REEL_NO_ROOM = -1, TIDE_REEL_OTHER /* not Reel's JSON */, TIDE_REEL_READ };
enum tide_reel tide_reel_read(struct arena *arena, bool is_new, const struct tide_fields *f,
                              const struct tide_types *types, struct reel_channel *out, bool *relative);

/* ---- the scan ---- */

enum tide_tag { TIDE_NO_BLOCK, TIDE_TIDE, TIDE_CHAN, TIDE_CHNK, TIDE_INDX, TIDE_TYPE, TIDE_META, TIDE_OTHER };

struct tide_block {
    uint64_t at, size; /* position of its tag; Size from its head */
    uint64_t end;      /* where the next one begins */
    enum tide_tag tag;
    uint8_t name[4];
    bool resized; /* Size is wrong, but the content ends where a block begins */
    /* Size exceeds the file and its end is unknown: `end` is the next block found after the readable content */
    bool cut;
};

struct tide_channel {
    struct tide_fields fields;
    uint64_t at; /* position of its CHAN block */
    uint32_t model;
    bool described; /* has a CHAN block */
    bool again;     /* another CHAN block with its id has been reported */
    uint64_t messages, indexed, index_sum;
    uint64_t sums[3]; /* of tide_position_hash(), with the id of the chunk, the position of the chunk, the position of
                         its body */
};

struct tide_oddities { /* of one kind: counted, and reported once with the first position */
    uint64_t count, at;
};

struct tide {
    struct reel_scan *scan;
    struct reel_source *source;
    struct tide_summary *summary; /* NULL in a scan. A summary refuses damaged files instead of searching for the next
                                     block */
    struct arena arena;
    struct window peek, data; /* for heads of blocks; for entries and rows */
    unsigned major, minor;
    bool is_new;         /* the layout */
    bool relative;       /* times are relative to the start of the recording */
    uint64_t body_end;   /* of the TIDE block */
    uint64_t skips_left; /* bytes that may still be skipped in search of the ends of blocks; keeps the scan linear */
    uint64_t report_at;

    struct tide_channel *channels;
    size_t n_channels, cap_channels, n_reconstructed;
    struct hash_table by_id; /* → channel + 1 */
    struct tide_type *types;
    size_t n_types, cap_types;
    uint64_t pairs; /* of META */

    uint64_t chunks, messages, index_rows, lost;
    struct tide_oddities unknown, byte_counts, counts, ranges, padded, beyond, odd_times, late, resized, unfinished,
        extra_heads;
    uint8_t unknown_name[4];
};

struct tide_index { /* an INDX block */
    uint64_t rows_at;
    uint32_t channel, rows;
};
struct tide_summary {
    uint32_t blocks_left; /* number of heads that may still be read */
    struct tide_index *indexes;
    size_t n_indexes, cap_indexes;
    uint64_t rows;                     /* of all of them */
    uint64_t messages;                 /* from the heads of the chunks */
    uint64_t start_ns, end_ns;         /* from the heads of chunks with messages */
    uint64_t first_ns, last_ns, taken; /* from the rows read so far */
};

/* Hash of the position of one entry. Sums of it do not depend on the order of entries. */
static inline uint64_t tide_position_hash(uint64_t chunk, uint64_t time_ns, uint64_t offset) {
    return mix_step(mix_step(chunk, time_ns), offset);
}
static inline void tide_oddity(struct tide_oddities *p, uint64_t at) {
    if (p->count++ == 0) {
        p->at = at;
    }
}

/* scan.c */
/* Reads the TIDE block. *t must be zero except for t->summary; `peek` and `data` are the sizes of the windows. Call
 * tide_log_close() after a failure too. */
bool tide_log_open(struct tide *t, struct reel_scan *scan, size_t peek, size_t data, struct reel_error *err);
void tide_log_close(struct tide *t);
__attribute__((format(printf, 4, 5))) void tide_lost(struct tide *t, uint64_t at, uint64_t length, const char *text,
                                                     ...);
bool tide_progress(struct tide *t, uint64_t at, struct reel_error *err);
bool tide_no_room(const struct tide *t, struct reel_error *err); /* fails with the reason why the arena returned NULL */

/* blocks.c */
/* Finds the end of the TIDE block and the layout of the file. */
bool tide_begin(struct tide *t, uint64_t size, struct reel_error *err);
/* Calls visit() for each block. With `report`, bytes between blocks are reported as lost. */
bool tide_walk(struct tide *t, bool report,
               bool (*visit)(struct tide *t, const struct tide_block *b, struct reel_error *err),
               struct reel_error *err);

/* describe.c */
bool tide_read_description(struct tide *t, const struct tide_block *b, struct reel_error *err); /* CHAN, TYPE or META */
bool tide_report_channels(struct tide *t, struct reel_error *err); /* to the builder, after the first pass */
/* The channel with this id; a placeholder is added if there is none. *out NULL: too many placeholders. */
bool tide_channel_of(struct tide *t, uint32_t id, uint64_t at, struct tide_channel **out, struct reel_error *err);
struct tide_channel *tide_find(const struct tide *t, uint32_t id);

/* write_remainder.c */
bool tide_report_types(struct tide *t, const struct tide_types *types, struct reel_error *err); /* those nobody uses or
                                                                                                   defines */

/* chunk.c */
bool tide_read_chunk(struct tide *t, const struct tide_block *b, struct reel_error *err);

/* index.c */
bool tide_read_index(struct tide *t, const struct tide_block *b, struct reel_error *err);
void tide_compare_index(struct tide *t);

/* summary.c */
bool tide_summary(struct reel_scan *scan, struct reel_error *err);

#endif
