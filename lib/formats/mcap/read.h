/* Internals of the MCAP reader: scan.c (the walk over a file's records), chunk.c (chunks and their messages), names.c
 * (schemas and channels), extras.c (attachments, metadata), summary_section.c (the summary section, compared with what
 * was found), resume.c (where the walk goes on after damage), summary.c (summary without a scan). One walk from front
 * to back decides what is in the file; indexes and statistics are only compared with it. */
#ifndef REEL_FORMATS_MCAP_READ_H
#define REEL_FORMATS_MCAP_READ_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "base/mix.h"
#include "base/window.h"
#include "chunks/codec.h"
#include "formats/mcap/layout.h"
#include "index/scan.h"
#include "index/scan_chunks.h"

enum {
    MCAP_IDS = 1 << 16,
    MCAP_PAGE_IDS = 128,
    MCAP_RECORD_MAX = REEL_SCHEMA_MAX + 2 * REEL_TEXT_MAX, /* limit for records read whole: not messages, chunks,
                                                              attachments, message indexes */
    MCAP_REDEFINED_MAX = 1000,                             /* most redefinitions of ids that are followed */
};
#define MCAP_NO_MODEL UINT32_MAX

/* A definition as in the file. Its bytes are kept to recognise a copy of it. */
struct mcap_schema_def {
    struct reel_bytes content, name, encoding, data;
    uint16_t id;
};
struct mcap_channel_def {
    struct mcap_channel_def *next;       /* list of all definitions in the model, over all parts */
    struct mcap_channel_def *next_noted; /* list of the definitions in this part's summary */
    struct mcap_channel_def *next_equal; /* list of the definitions with an equal key, over all parts */
    struct reel_bytes content, topic, encoding, metadata;
    struct reel_bytes key;                /* topic, encoding and sorted metadata */
    const struct mcap_schema_def *schema; /* NULL: none, or not read yet */
    uint64_t at;
    uint32_t model, part; /* the model's channel; the last part that has it */
    uint16_t id, schema_id;
    bool unknown; /* placeholder for messages that came before the definition */
};

/* What is defined under one id. Schemas and channels each have all ids. */
struct mcap_id {
    struct mcap_schema_def *schema, *summary_schema; /* definition in force; definition of the summary */
    struct mcap_channel_def *channel, *summary_channel;
    uint64_t messages; /* number kept, of the channel */
    uint32_t model;    /* model channel of `channel` + 1, for speed: 0 is none */
};

/* The ids of one part, and the channels of all parts. Most files use a few small ids: pages are made when needed. */
struct mcap_names {
    struct mcap_id *pages[MCAP_IDS / MCAP_PAGE_IDS], none;
    struct mcap_channel_def *first, **end, **part_begin; /* those of this part begin at *part_begin */
    struct mcap_channel_def *noted, **noted_end;
    struct hash_table by_key; /* → first channel with that key: finds channels that continue in the next part */
    struct grow scratch;
    uint32_t redefined, n_schemas, n_channels;
};
/* An id without any definition has zeros, which must not be changed. */
static inline struct mcap_id *mcap_defined(struct mcap_names *n, uint16_t id) {
    struct mcap_id *page = n->pages[id / MCAP_PAGE_IDS];
    return page ? &page[id % MCAP_PAGE_IDS] : &n->none;
}
static inline uint32_t mcap_model_of_id(struct mcap_names *n, uint16_t id) {
    return mcap_defined(n, id)->model - 1; /* MCAP_NO_MODEL: none */
}

/* Counts and hashes, either of what was found or of what the file states. The hashes are sums over index entries,
 * independent of order. */
struct mcap_tally {
    uint64_t messages, start_ns, end_ns, attachments, metadata, chunks;
    uint64_t chunk_sum, attachment_sum, metadata_sum;
    uint64_t chunk_indexes, attachment_indexes, metadata_indexes;
};

/* State while the message indexes after a chunk are read. */
struct mcap_index_check {
    uint64_t chunk_at, expected, sum, records;
    bool open;
};

struct mcap {
    struct reel_scan *scan;
    struct arena arena;
    struct mcap_names *names;
    struct window window; /* over the part */
    struct window inner;  /* over a decoded chunk */
    struct window ahead;  /* the headers of chunks that are decoded ahead */
    struct scan_chunks *compressed;
    struct reel_source *source;
    uint64_t at, report_at, done_before; /* position; position of the next progress report; bytes of earlier parts */
    uint64_t seed;
    uint32_t part;
    bool in_summary, ended, own; /* own: Reel has written the file */
    bool crc_needed;
    uint32_t crc; /* CRC of the bytes [0, crc_at) */
    uint64_t crc_at;
    struct mcap_tally found, stated;
    struct reel_bytes statistics; /* content of the Statistics record; size 0: none */
    uint64_t statistics_at;
    struct mcap_index_check index;
    uint64_t summary_start, footer_at; /* from the footer, read ahead; footer_at 0: there is no footer */
    bool has_data_end;                 /* right before summary_start */
    bool summary_changed;              /* the summary's CRC is wrong: … */
    uint32_t summary_crc, stated_crc;  /* … what it is and what is stated */
    uint64_t follows;                  /* behind this file's end another one begins here; 0: none does */
    uint64_t unknown_records, unknown_at, unclear_records, unclear_at;
    uint64_t pairs, attachments; /* number added to the model */
    uint8_t unknown_op;
    uint64_t unpacked;  /* bytes of messages that were compressed one by one */
    struct window peek; /* for reading ahead without moving the walk's window */
};

/* Fields of records of the summary. */
struct mcap_statistics {
    uint64_t messages, start_ns, end_ns;
    uint32_t schemas, channels, attachments, metadata, chunks;
    struct reel_bytes counts; /* entries: u16 channel, u64 count */
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

/* A run of consecutive records: those of the data section, or of one chunk. */
struct mcap_run {
    struct window *window;
    uint64_t at, end; /* positions in the window's source */
    uint64_t base;    /* MessageIndex offsets count from here */
    uint32_t chunk;   /* number of the chunk in the model */
    uint64_t messages, start_ns, end_ns, index_sum;
    bool suspect;                 /* the chunk's bytes are known to be damaged somewhere */
    const struct reel_chunk *row; /* of a compressed chunk: what `chunk` was made of; else NULL */
    uint32_t packed;              /* compressed messages in it so far */
};

static inline uint64_t mcap_position_hash(uint16_t channel, uint64_t time_ns, uint64_t offset) { /* hash of a message
                                                                                                    index entry */
    return mix_step(mix_step(channel, time_ns), offset);
}
static inline uint64_t mcap_chunk_hash(uint64_t at, uint64_t length, uint64_t start, uint64_t end, uint64_t stored,
                                       uint64_t raw) { /* hash of a chunk index */
    return mix_step(mix_step(mix_step(at, length), mix_step(start, end)), mix_step(stored, raw));
}
static inline uint64_t mcap_attachment_hash(uint64_t at, uint64_t length, uint64_t log_time, uint64_t create_time,
                                            uint64_t size, uint64_t name) {
    return mix_step(mix_step(mix_step(at, length), mix_step(log_time, create_time)), mix_step(size, name));
}

/* names.c. Sets the error after the arena returned NULL: no memory or its limit. Returns false. */
bool mcap_no_room(const struct mcap *m, struct reel_error *err);
/* scan.c. Feeds [m->crc_at, end) to the data section's CRC, when that is checked. */
bool mcap_cover(struct mcap *m, uint64_t end, struct reel_error *err);
/* CRC-32 of bytes of the window's source, read in pieces. */
bool mcap_crc(struct window *w, uint64_t at, uint64_t size, uint32_t *crc, struct reel_error *err);
bool mcap_progress(struct mcap *m, uint64_t at, struct reel_error *err);
/* Reads the record at m->at, of a kind that is read whole. REEL_DAMAGED: its fields do not fit. */
bool mcap_take_small(struct mcap *m, uint8_t op, struct reel_bytes content, struct reel_error *err);
/* Initialises *m and moves to the first record of a part; nothing is read ahead. Call mcap_walk_close() in any case.
 * The file is read in pieces of `window` bytes. */
bool mcap_walk_open(struct mcap *m, struct reel_scan *scan, size_t window, struct reel_error *err);
bool mcap_begin_part(struct mcap *m, uint32_t part, struct reel_error *err);
void mcap_walk_close(struct mcap *m);

/* chunk.c. Fast path: reads messages from run->at as long as their heads are in the window and in order. */
bool mcap_take_messages(struct mcap *m, struct mcap_run *run, struct reel_error *err);
/* Adds the run's totals to what was found. */
void mcap_run_end(struct mcap *m, const struct mcap_run *run);
/* Reads one complete message at run->at, or reports why it is dropped. `position` is for findings. */
bool mcap_take_message(struct mcap *m, struct mcap_run *run, uint64_t length, uint64_t position,
                       struct reel_error *err);
/* Compressed chunks of this part are decoded ahead from now on; until scan_chunks_free(m->compressed). */
bool mcap_chunks_begin(struct mcap *m, struct reel_error *err);
/* Reads the chunk at m->at with `length` bytes of content. */
bool mcap_take_chunk(struct mcap *m, uint64_t length, struct reel_error *err);
/* A chunk whose length exceeds the file: *inside is set when its records are plain and the walk can go on among them at
 * m->at. */
bool mcap_take_cut_chunk(struct mcap *m, uint64_t length, bool *inside, struct reel_error *err);
bool mcap_take_message_index(struct mcap *m, uint64_t length, struct reel_error *err);
void mcap_end_message_indexes(struct mcap *m);

/* names.c. `at` is the record's position, for findings. */
bool mcap_define_schema(struct mcap *m, struct reel_bytes content, uint64_t at, struct reel_error *err);
bool mcap_define_channel(struct mcap *m, struct reel_bytes content, uint64_t at, struct reel_error *err);
/* Keeps a definition of the summary for channels that the data section defines too late or not at all. */
bool mcap_note_summary(struct mcap *m, uint8_t op, struct reel_bytes content, uint64_t at, struct reel_error *err);
/* The model's channel for messages of an id that has no definition so far. */
bool mcap_channel_for(struct mcap *m, uint16_t id, uint64_t at, uint32_t *model, struct reel_error *err);
void mcap_names_begin(struct mcap *m); /* begins a part */
/* Applies the summary's definitions to ids that are not defined otherwise. REEL_DAMAGED: a channel has no schema. */
bool mcap_names_of_summary(struct mcap *m, struct reel_error *err);
bool mcap_names_end(struct mcap *m, struct reel_error *err);
void mcap_names_free(struct mcap_names *names);

/* pairs.c. Converts a Channel record to the model's channel. */
bool mcap_channel_model(struct mcap *m, const struct mcap_channel_def *def, struct reel_channel *out,
                        struct reel_error *err);
/* The entries of a map as UTF-8 texts; keys that our writer has numbered get their own names back. False with
 * REEL_DAMAGED: not a valid map. */
bool mcap_pairs(struct mcap *m, struct reel_bytes map, struct reel_pairs *out, struct reel_error *err);

/* extras.c */
bool mcap_take_header(struct mcap *m, struct reel_bytes content, struct reel_error *err);
bool mcap_take_attachment(struct mcap *m, uint64_t length, struct reel_error *err);
bool mcap_take_metadata(struct mcap *m, struct reel_bytes content, struct reel_error *err);
/* Adds what an index lists, as far as possible from the index alone. The caller checks that `is->at` and `is->length`
 * are inside the file. */
bool mcap_indexed_attachment(struct mcap *m, const struct mcap_attachment_index *is, struct reel_error *err);
bool mcap_indexed_metadata(struct mcap *m, const struct mcap_metadata_index *is, struct reel_error *err);

/* summary_section.c */
bool mcap_find_footer(struct mcap *m, struct reel_error *err); /* sets footer_at, summary_start, crc_needed */
bool mcap_read_ahead(struct mcap *m, struct reel_error *err);  /* reads footer, summary definitions, and if there is a
                                                                  CRC */
/* Reads the fields of these records; they point into `content`. False: they do not fit. */
bool mcap_read_statistics(struct reel_bytes content, struct mcap_statistics *out);
bool mcap_read_chunk_index(struct reel_bytes content, struct mcap_chunk_index *out);
bool mcap_read_attachment_index(struct reel_bytes content, struct mcap_attachment_index *out);
bool mcap_read_metadata_index(struct reel_bytes content, struct mcap_metadata_index *out);
bool mcap_take_statistics(struct mcap *m, struct reel_bytes content, struct reel_error *err);
bool mcap_take_index(struct mcap *m, uint8_t op, struct reel_bytes content, struct reel_error *err);
bool mcap_take_data_end(struct mcap *m, struct reel_bytes content, struct reel_error *err);
bool mcap_take_footer(struct mcap *m, struct reel_bytes content, struct reel_error *err);
void mcap_compare(struct mcap *m);

/* resume.c. True when a record may begin with these values of its first nine bytes. */
bool mcap_plausible(uint8_t op, uint64_t length, uint64_t left);
/* Finds where the walk goes on and reports what is lost; `why` is the problem at m->at. The search begins `skip` bytes
 * later. */
bool mcap_resume(struct mcap *m, const char *why, uint64_t skip, struct reel_error *err);

/* summary.c */
bool mcap_summary(struct reel_scan *scan, struct reel_error *err);

/* packed.c */
static inline bool mcap_begins_packed(const uint8_t *payload, uint64_t size) {
    return size >= 4 && load_u32le(payload) == ZSTD_MAGIC_LE;
}
/* Of the first four bytes of a payload, or of as many as there are. */
bool mcap_is_packed(const struct mcap *m, uint16_t channel, const uint8_t *payload, uint64_t size);
/* Makes the entry one of the message's content. *kept = false: it does not unpack, and a finding says so. `position` is
 * for that. */
bool mcap_unpack(struct mcap *m, struct mcap_run *run, const uint8_t *head, uint64_t position, struct reel_entry *entry,
                 bool *kept, struct reel_error *err);

#endif
