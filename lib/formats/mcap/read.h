/* What the files of the MCAP reader share: mcap_scan.c (the walk over a file's records), mcap_chunk.c (chunks and their messages),
 * mcap_names.c (schemas and channels), mcap_extras.c (attachments, metadata), mcap_summary_section.c (what the file says of itself,
 * compared with what was found), mcap_resume.c (where a walk goes on after damage), mcap_summary.c (the shallow depth). Rule: one walk from
 * front to back decides what is in the file; indexes and statistics are held against it, never believed. */
#ifndef REEL_FORMATS_MCAP_READ_H
#define REEL_FORMATS_MCAP_READ_H

#include "formats/mcap/wire.h"
#include "reel/scan.h"
#include "wire/arena.h"
#include "wire/cursor.h"
#include "wire/limits.h"
#include "wire/mix.h"
#include "wire/window.h"

enum {
    MCAP_IDS = 1 << 16,
    MCAP_RECORD_MAX =
        REEL_SCHEMA_MAX + 2 * REEL_TEXT_MAX, /* of a record that is held whole: all but messages, chunks, attachments and message indexes */
    MCAP_REDEFINED_MAX = 1000,               /* ids that come to mean something else are followed that often */
};
#define MCAP_NO_MODEL UINT32_MAX

/* A definition as the file has it; its bytes are kept, so that a copy of it is known again. */
struct mcap_schema_def {
    struct reel_bytes content, name, encoding, data;
    uint16_t id;
};
struct mcap_channel_def {
    struct mcap_channel_def *next;       /* all that the model has, over all parts */
    struct mcap_channel_def *next_noted; /* all that the summary of this part says */
    struct reel_bytes content, topic, encoding, metadata;
    const struct mcap_schema_def *schema; /* NULL: none, or not met yet */
    uint64_t at, hash;
    uint32_t model, part; /* the model's channel; the part it was last met in */
    uint16_t id, schema_id;
    bool unknown; /* made up for messages that came before it */
};

/* The ids of one part, and the channels of all. */
struct mcap_names {
    struct mcap_schema_def *schemas[MCAP_IDS], *summary_schemas[MCAP_IDS];
    struct mcap_channel_def *channels[MCAP_IDS], *summary_channels[MCAP_IDS]; /* in force; and what the summary says */
    uint32_t model_of[MCAP_IDS];                                              /* of channels[], for the hot path */
    uint64_t counts[MCAP_IDS];                                                /* messages kept by channel id */
    struct mcap_channel_def *first, **end, **part_begin;                      /* those of this part begin at *part_begin */
    struct mcap_channel_def *noted, **noted_end;
    struct mcap_channel_def **table; /* by content, open addressing: channels that go on in the next part */
    size_t table_size, table_used;
    uint32_t redefined, n_schemas, n_channels;
    bool begun;
};

/* What is in the file, or what the file says is. The sums are order-independent hashes over index entries. */
struct mcap_tally {
    uint64_t messages, start_ns, end_ns, attachments, metadata, chunks;
    uint64_t chunk_sum, attachment_sum, metadata_sum;
    uint64_t chunk_indexes, attachment_indexes, metadata_indexes;
};

/* The message indexes behind a chunk, as they come in. */
struct mcap_index_check {
    uint64_t chunk_at, want, sum, records;
    bool open;
};

struct mcap {
    struct reel_scan *scan;
    struct arena arena;
    struct mcap_names *names;
    struct window window; /* on the part */
    struct window inner;  /* on a decoded chunk */
    struct reel_source *source;
    uint64_t at, report_at, done_before; /* walked; next report; bytes of earlier parts */
    uint64_t seed;
    uint32_t part;
    bool in_summary, ended, own; /* own: the file says that Reel wrote it */
    bool crc_wanted;
    uint32_t crc; /* of [0, crc_at) */
    uint64_t crc_at;
    struct mcap_tally found, stated;
    struct reel_bytes statistics; /* content of the record; size 0: none */
    uint64_t statistics_at;
    struct mcap_index_check index;
    uint64_t summary_start, footer_at; /* of the footer looked at ahead; footer_at 0: there is none */
    bool summary_changed;              /* its CRC does not hold */
    uint64_t unknown_records, unknown_at, unclear_records, unclear_at;
    uint64_t pairs, attachments; /* given to the model */
    uint8_t unknown_op;
    struct window peek; /* for looking ahead without moving the walk's window */
};

/* What records of the summary say. */
struct mcap_statistics {
    uint64_t messages, start_ns, end_ns;
    uint32_t schemas, channels, attachments, metadata, chunks;
    struct reel_bytes counts; /* entries: u16 channel, u64 messages */
};
struct mcap_chunk_index {
    uint64_t start_ns, end_ns, at, length, stored, raw;
    struct reel_bytes indexes; /* entries: u16 channel, u64 offset of its MessageIndex */
};
struct mcap_attachment_index {
    uint64_t at, length, log_time, create_time, size;
    struct reel_bytes name, media_type;
};
struct mcap_metadata_index {
    uint64_t at, length;
    struct reel_bytes name;
};

/* Records one after another: those of the data section, or of one chunk. */
struct mcap_run {
    struct window *window;
    uint64_t at, end; /* in the window's source */
    uint64_t base;    /* what MessageIndex offsets count from */
    uint32_t chunk;   /* of the model */
    uint64_t messages, start_ns, end_ns, index_sum;
    bool suspect; /* of a chunk whose bytes are known to be wrong somewhere */
};

static inline uint64_t mcap_place_hash(uint16_t channel, uint64_t time_ns, uint64_t offset) { /* of a message index entry */
    return mix_step(mix_step(channel, time_ns), offset);
}
static inline uint64_t mcap_chunk_hash(uint64_t at, uint64_t length, uint64_t start, uint64_t end, uint64_t stored,
                                       uint64_t raw) { /* of a chunk index */
    return mix_step(mix_step(mix_step(at, length), mix_step(start, end)), mix_step(stored, raw));
}
static inline uint64_t mcap_attachment_hash(uint64_t at, uint64_t length, uint64_t log_time, uint64_t create_time, uint64_t size,
                                            uint64_t name) {
    return mix_step(mix_step(mix_step(at, length), mix_step(log_time, create_time)), mix_step(size, name));
}
uint64_t mcap_hash(uint64_t seed, struct reel_bytes b);

/* mcap_names.c: why the arena gave nothing. */
bool mcap_no_room(const struct mcap *m, struct reel_error *err);
/* mcap_scan.c. Feeds [m->crc_at, end) to the data section's CRC, when it is wanted. */
bool mcap_cover(struct mcap *m, uint64_t end, struct reel_error *err);
/* CRC-32 of bytes of the window's source, in pieces. */
bool mcap_crc(struct window *w, uint64_t at, uint64_t size, uint32_t *crc, struct reel_error *err);
bool mcap_progress(struct mcap *m, uint64_t at, struct reel_error *err);
/* The record at m->at, of a kind that is held whole. REEL_DAMAGED: its fields do not fit. */
bool mcap_take_small(struct mcap *m, uint8_t op, struct reel_bytes content, struct reel_error *err);
/* Makes *m, which mcap_walk_close() ends in any case, and goes to a part: at its first record, nothing looked at ahead. The file is read in
 * runs of `window` bytes. */
bool mcap_walk_open(struct mcap *m, struct reel_scan *scan, size_t window, struct reel_error *err);
bool mcap_begin_part(struct mcap *m, uint32_t part, struct reel_error *err);
void mcap_walk_close(struct mcap *m);

/* mcap_chunk.c. Takes the messages at run->at as far as the window holds their heads and nothing is odd about them. */
bool mcap_take_messages(struct mcap *m, struct mcap_run *run, struct reel_error *err);
/* Adds what the run has taken to what was found. */
void mcap_run_end(struct mcap *m, const struct mcap_run *run);
/* The one message at run->at, whose record is there: takes it or says why not. `place` is for findings. */
bool mcap_take_message(struct mcap *m, struct mcap_run *run, uint64_t length, uint64_t place, struct reel_error *err);
/* The chunk at m->at with `length` bytes of content. */
bool mcap_take_chunk(struct mcap *m, uint64_t length, struct reel_error *err);
/* A chunk whose length exceeds the file: *inside is set when its records are plain and the walk can go on among them, at m->at. */
bool mcap_take_cut_chunk(struct mcap *m, uint64_t length, bool *inside, struct reel_error *err);
bool mcap_take_message_index(struct mcap *m, uint64_t length, struct reel_error *err);
void mcap_end_message_indexes(struct mcap *m);

/* mcap_names.c. `at` is where the record stands, for findings. */
bool mcap_define_schema(struct mcap *m, struct reel_bytes content, uint64_t at, struct reel_error *err);
bool mcap_define_channel(struct mcap *m, struct reel_bytes content, uint64_t at, struct reel_error *err);
/* Keeps a definition of the summary for channels that the data section does not define in time. */
bool mcap_note_summary(struct mcap *m, uint8_t op, struct reel_bytes content, uint64_t at, struct reel_error *err);
/* The model's channel for messages of an id that nothing has defined so far. */
bool mcap_channel_for(struct mcap *m, uint16_t id, uint64_t at, uint32_t *model, struct reel_error *err);
void mcap_names_begin(struct mcap *m); /* a part */
/* Puts the summary's definitions in force where nothing else has been defined: all channels the part has. REEL_DAMAGED: one has no schema.
 */
bool mcap_names_of_summary(struct mcap *m, struct reel_error *err);
bool mcap_names_end(struct mcap *m, struct reel_error *err);
void mcap_names_free(struct mcap_names *names);

/* mcap_pairs.c: from a Channel record to the model's channel. */
bool mcap_channel_model(struct mcap *m, const struct mcap_channel_def *def, struct reel_channel *out, struct reel_error *err);
/* The entries of a map as model text; keys that our writer numbered get their own name back. False with REEL_DAMAGED: no proper map. */
bool mcap_pairs(struct mcap *m, struct reel_bytes map, struct reel_pairs *out, struct reel_error *err);

/* mcap_extras.c */
bool mcap_take_header(struct mcap *m, struct reel_bytes content, struct reel_error *err);
bool mcap_take_attachment(struct mcap *m, uint64_t length, struct reel_error *err);
bool mcap_take_metadata(struct mcap *m, struct reel_bytes content, struct reel_error *err);
/* What an index names, taken from the index as far as it says it. `is->at` and `is->length` lie in the file. */
bool mcap_indexed_attachment(struct mcap *m, const struct mcap_attachment_index *is, struct reel_error *err);
bool mcap_indexed_metadata(struct mcap *m, const struct mcap_metadata_index *is, struct reel_error *err);

/* mcap_summary_section.c */
bool mcap_find_footer(struct mcap *m, struct reel_error *err); /* sets footer_at, summary_start, crc_wanted */
bool mcap_look_ahead(struct mcap *m, struct reel_error *err);  /* footer, definitions of the summary, is there a CRC */
/* Fields of these records; they point into `content`. False: they do not fit. */
bool mcap_read_statistics(struct reel_bytes content, struct mcap_statistics *out);
bool mcap_read_chunk_index(struct reel_bytes content, struct mcap_chunk_index *out);
bool mcap_read_attachment_index(struct reel_bytes content, struct mcap_attachment_index *out);
bool mcap_read_metadata_index(struct reel_bytes content, struct mcap_metadata_index *out);
bool mcap_take_statistics(struct mcap *m, struct reel_bytes content, struct reel_error *err);
bool mcap_take_index(struct mcap *m, uint8_t op, struct reel_bytes content, struct reel_error *err);
bool mcap_take_data_end(struct mcap *m, struct reel_bytes content, struct reel_error *err);
bool mcap_take_footer(struct mcap *m, struct reel_bytes content, struct reel_error *err);
void mcap_compare(struct mcap *m);

/* mcap_resume.c. Can a record stand at `at`, by its first nine bytes? */
bool mcap_plausible(uint8_t op, uint64_t length, uint64_t left);
/* Finds where the walk goes on and tells what is lost; `why` says what was wrong at m->at. The search begins `skip` bytes later. */
bool mcap_resume(struct mcap *m, const char *why, uint64_t skip, struct reel_error *err);

/* mcap_summary.c */
bool mcap_summary(struct reel_scan *scan, struct reel_error *err);

#endif
