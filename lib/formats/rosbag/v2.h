/* Internals of the ROS bag 2.0 reader; a `struct bag2` is one bag during a scan. Records: formats/rosbag/v2_layout.h.
 * v2_scan.c: recognition, file header, the scan · v2_walk.c: records and the fast path · v2_chunk.c: chunks and their
 * index data · v2_names.c: connections · v2_tail.c: the records at index_pos · v2_resume.c: where to go on after damage
 * · v2_sealed.c: encrypted bags · v2_summary.c: summary without a scan. */
#ifndef REEL_FORMATS_ROSBAG_V2_H
#define REEL_FORMATS_ROSBAG_V2_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "formats/ros/wrap.h"
#include "formats/rosbag/v2_layout.h"
#include "index/format.h"
#include "index/scan.h"
#include "index/scan_chunks.h"

extern const struct reel_format reel_format_rosbag_v2;

struct rosbag_v2_connection {
    uint32_t id;
    bool described;           /* its record has been read */
    bool wrapped;             /* ros/wrap.h */
    bool reported;            /* a contradicting record was reported */
    bool has_channel;         /* a message was found: model.id is valid */
    struct reel_bytes header; /* the inner header of its first record */
    struct reel_bytes topic;
    struct reel_channel model;
    struct reel_schema schema;
    uint64_t messages;
    /* counts in the current chunk, if chunk_number is its number: */
    uint64_t chunk_number;
    uint64_t in_chunk, in_index;
    uint64_t sum, index_sum; /* of rosbag_v2_entry_hash(), independent of order */
    struct rosbag_v2_connection *next_touched;
    struct rosbag_v2_connection *next;
};

/* Where records are read: the file, or the raw bytes of a compressed chunk. */
struct rosbag_v2_run {
    struct window *window;
    uint64_t at, end; /* end: of the file, of the current plain chunk, or of the raw bytes */
    uint64_t base;    /* offsets in index data count from here */
    uint32_t chunk;   /* of the entries */
    uint64_t last;    /* where the payload of the last message begins; 0: none yet */
    uint64_t report_at;
};

struct rosbag_v2_chunk {
    bool open;       /* there is one */
    bool broken;     /* some of its messages are lost: nothing to compare */
    bool indexed;    /* index data of version 1 has followed */
    bool distrusted; /* index data of another version has followed */
    bool unfinished; /* its header was never rewritten: length 0 */
    bool plain;
    uint64_t number, at, data, size; /* position of its record and its data in the file; stored bytes */
    uint64_t walked;                 /* plain: where its records end; 0 = not yet known */
    uint64_t messages, first, last;  /* stamps as sec << 32 | nsec */
    struct rosbag_v2_connection *touched;
};

/* The records at index_pos, read in parallel with the walk. */
struct rosbag_v2_tail {
    struct window window;
    bool there, ordered; /* ordered: chunk infos stand in the order of their chunks */
    uint64_t at;         /* the next record */
    bool has;            /* info is the next one that the walk has not reached */
    struct rosbag_v2_info info;
    uint64_t connections, infos, messages;
    uint64_t missing, missing_at, strays, strays_at; /* chunks without info; infos without chunk */
};

/* The header of a plain message without connection and time: recorders write the same for every message. */
struct rosbag_v2_shape {
    uint64_t bytes[6], mask[6];
    uint32_t conn_at, time_at;
    bool learnt;
};

enum { ROSBAG_V2_RECENT = 256 };

/* What the files of a recording share: x_0.bag, x_1.bag … of `rosbag record --split`. */
struct rosbag_v2_splits {
    struct hash_table channels; /* by topic and header of their connections: id + 1 */
    struct arena arena;
};

struct bag2 {
    struct reel_scan *scan;
    struct reel_source *source;
    struct window window, raw; /* over the file; over the raw bytes of the current chunk */
    struct window peek;        /* a small one, for reading ahead */
    struct window ahead;       /* the headers of the chunks that are decoded ahead */
    struct scan_chunks *packed;
    struct rosbag_v2_run file;
    struct rosbag_v2_tail tail;
    struct rosbag_v2_chunk chunk;
    uint64_t chunks;
    struct rosbag_v2_shape shape;

    struct arena arena;
    struct hash_table by_id; /* → struct rosbag_v2_connection */
    size_t n_connections;
    struct rosbag_v2_connection *connections, **connections_end;
    struct rosbag_v2_connection *recent[ROSBAG_V2_RECENT];

    uint64_t messages, carried, unwrapped, unwrapped_at;
    uint64_t odd_lengths, odd_lengths_at; /* index data with a wrong data length */
    uint64_t unknown_ops, unknown_ops_at, unknown_fields, unknown_fields_at;
    uint8_t unknown_op;
    char unknown_name[64];
    struct rosbag_v2_splits *splits; /* NULL: the bag is one file */

    bool has_header, tail_met;
    uint64_t index_pos, conn_count, chunk_count; /* from the file header */
    const char *encryptor;                       /* NULL: not encrypted */
    uint64_t search_left;                        /* bytes that searching may still read, so that it stays linear */
};

/* Position in the file of `at` in the run. */
static inline uint64_t rosbag_v2_position(const struct bag2 *bag, const struct rosbag_v2_run *run, uint64_t at) {
    return run == &bag->file ? at : bag->chunk.at;
}

/* scan: calls run() for each file of the recording, with a scan of that file alone. `splits` is NULL if there is one.
 */
typedef bool (*rosbag_v2_run_file)(struct reel_scan *scan, struct rosbag_v2_splits *splits, struct reel_error *err);
bool rosbag_v2_each_file(struct reel_scan *scan, rosbag_v2_run_file run, struct reel_error *err);
/* The version line and the file header; fills *bag, which rosbag_v2_close() ends in any case. The bag is read in
 * runs of `window` bytes. */
bool rosbag_v2_open(struct bag2 *bag, struct reel_scan *scan, struct rosbag_v2_splits *splits, size_t window,
                    struct reel_error *err);
void rosbag_v2_close(struct bag2 *bag);

/* names */
struct rosbag_v2_connection *rosbag_v2_find(const struct bag2 *bag, uint32_t id); /* NULL: not met */
struct rosbag_v2_connection *rosbag_v2_connection_of(struct bag2 *bag, uint32_t id, struct reel_error *err);
bool rosbag_v2_connection_record(struct bag2 *bag, struct window *window, const struct rosbag_v2_record *r,
                                 uint64_t position, struct reel_error *err);
bool rosbag_v2_channel_ready(struct bag2 *bag, struct rosbag_v2_connection *c, struct reel_error *err); /* makes its
                                                                                                           channel */
/* Makes channels of those that have no messages. */
bool rosbag_v2_finish_connections(struct bag2 *bag, struct reel_error *err);

/* walk, chunk: one unit, for the raw bytes of a chunk are walked as the file is */
bool rosbag_v2_walk(struct bag2 *bag, struct rosbag_v2_run *run, struct reel_error *err);

/* Compressed chunks are decoded ahead from now on. */
bool rosbag_v2_chunks_begin(struct bag2 *bag, struct reel_error *err);
bool rosbag_v2_chunk_open(struct bag2 *bag, const struct rosbag_v2_record *r, struct reel_error *err); /* moves
                                                                                                          bag->file.at
                                                                                                          into or over
                                                                                                          it */
void rosbag_v2_chunk_cut(struct bag2 *bag, const struct rosbag_v2_record *r); /* a plain one that the file's end cuts */
bool rosbag_v2_chunk_close(struct bag2 *bag, struct reel_error *err);         /* nothing more of it comes: compares */
/* corrects r->size */
bool rosbag_v2_index_record(struct bag2 *bag, struct rosbag_v2_record *r, struct reel_error *err);

/* tail */
bool rosbag_v2_tail_begin(struct bag2 *bag, struct reel_error *err); /* tail.there: something stands at index_pos;
                                                                        tail.at is its begin */
/* moves tail.at; *yes false: there is no further one that is whole */
bool rosbag_v2_tail_record(struct bag2 *bag, struct rosbag_v2_record *r, bool *yes, struct reel_error *err);
bool rosbag_v2_tail_open(struct bag2 *bag, struct reel_error *err);
bool rosbag_v2_tail_next(struct bag2 *bag, struct reel_error *err);
bool rosbag_v2_tail_compare(struct bag2 *bag, struct reel_error *err); /* with the chunk at hand */
bool rosbag_v2_tail_prove(struct bag2 *bag, struct reel_error *err);
/* resume: moves run->at past damage and reports it */
bool rosbag_v2_progress(struct bag2 *bag, struct rosbag_v2_run *run, uint64_t at, struct reel_error *err);
bool rosbag_v2_resume(struct bag2 *bag, struct rosbag_v2_run *run, const char *why, struct reel_error *err);

/* sealed: lists the unencrypted contents of an encrypted bag */
bool rosbag_v2_sealed(struct bag2 *bag, struct reel_error *err);

bool rosbag_v2_summary(struct reel_scan *scan, struct reel_error *err);

#endif
