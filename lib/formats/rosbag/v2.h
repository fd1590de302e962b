/* Internals of the ROS bag 2.0 reader; a `struct bag2` is one bag during a scan. Records: formats/rosbag/v2_layout.h.
 * scan.c: recognition, file header, the scan · walk.c: records and the fast path · chunk.c: chunks and their index data
 * · names.c: connections · tail.c: the records at index_pos · resume.c: where to go on after damage · sealed.c:
 * encrypted bags · summary.c: summary without a scan. */
#ifndef REEL_FORMATS_ROSBAG_V2_H
#define REEL_FORMATS_ROSBAG_V2_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "formats/ros/wrap.h"
#include "formats/rosbag/v2_layout.h"
#include "reel/format.h"
#include "reel/scan.h"

extern const struct reel_format reel_format_rosbag2_0;

struct rosbag2_0_connection {
    uint32_t id;
    bool described;           /* its record has been read */
    bool wrapped;             /* ros_wrap.h */
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
    uint64_t sum, index_sum; /* of rosbag2_0_entry_hash(), independent of order */
    struct rosbag2_0_connection *next_touched;
    struct rosbag2_0_connection *next;
};

/* Where records are read: the file, or the raw bytes of a compressed chunk. */
struct rosbag2_0_run {
    struct window *window;
    uint64_t at, end; /* end: of the file, of the current plain chunk, or of the raw bytes */
    uint64_t base;    /* offsets in index data count from here */
    uint32_t chunk;   /* of the entries */
    uint64_t last;    /* where the payload of the last message begins; 0: none yet */
    uint64_t report_at;
};

struct rosbag2_0_chunk {
    bool open;       /* there is one */
    bool broken;     /* some of its messages are lost: nothing to compare */
    bool indexed;    /* index data of version 1 has followed */
    bool distrusted; /* index data of another version has followed */
    bool unfinished; /* its header was never rewritten: length 0 */
    bool plain;
    uint64_t number, at, data, size; /* position of its record and its data in the file; stored bytes */
    uint64_t walked;                 /* plain: where its records end; 0 = not yet known */
    uint64_t messages, first, last;  /* stamps as sec << 32 | nsec */
    struct rosbag2_0_connection *touched;
};

/* The records at index_pos, read in parallel with the walk. */
struct rosbag2_0_tail {
    struct window window;
    bool there, ordered; /* ordered: chunk infos stand in the order of their chunks */
    uint64_t at;         /* the next record */
    bool has;            /* info is the next one that the walk has not reached */
    struct rosbag2_0_info info;
    uint64_t connections, infos, messages;
    uint64_t missing, missing_at, strays, strays_at; /* chunks without info; infos without chunk */
};

/* The header of a plain message without connection and time: recorders write the same for every message. */
struct rosbag2_0_shape {
    uint64_t bytes[6], mask[6];
    uint32_t conn_at, time_at;
    bool learnt;
};

enum { ROSBAG2_0_RECENT = 256 };

struct bag2 {
    struct reel_scan *scan;
    struct reel_source *source;
    struct window window, raw; /* over the file; over the raw bytes of the current chunk */
    struct window peek;        /* a small one, for reading ahead */
    struct rosbag2_0_run file;
    struct rosbag2_0_tail tail;
    struct rosbag2_0_chunk chunk;
    uint64_t chunks;
    struct rosbag2_0_shape shape;

    struct arena arena;
    struct hash_table by_id; /* → struct rosbag2_0_connection */
    size_t n_connections;
    struct rosbag2_0_connection *connections, **connections_end;
    struct rosbag2_0_connection *recent[ROSBAG2_0_RECENT];

    uint64_t messages, carried, unwrapped, unwrapped_at;
    uint64_t odd_lengths, odd_lengths_at; /* index data with a wrong data length */
    uint64_t unknown_ops, unknown_ops_at, unknown_fields, unknown_fields_at;
    uint8_t unknown_op;
    char unknown_name[64];

    bool has_header, tail_met;
    uint64_t index_pos, conn_count, chunk_count; /* from the file header */
    const char *encryptor;                       /* NULL: not encrypted */
    uint64_t search_left;                        /* bytes that searching may still read, so that it stays linear */
};

/* Position in the file of `at` in the run. */
static inline uint64_t rosbag2_0_position(const struct bag2 *bag, const struct rosbag2_0_run *run, uint64_t at) {
    return run == &bag->file ? at : bag->chunk.at;
}

/* scan: the version line and the file header; fills *bag, which rosbag2_0_close() ends in any case. The bag is read in
 * runs of `window` bytes. */
bool rosbag2_0_open(struct bag2 *bag, struct reel_scan *scan, size_t window, struct reel_error *err);
void rosbag2_0_close(struct bag2 *bag);

/* names */
struct rosbag2_0_connection *rosbag2_0_find(const struct bag2 *bag, uint32_t id); /* NULL: not met */
struct rosbag2_0_connection *rosbag2_0_connection_of(struct bag2 *bag, uint32_t id, struct reel_error *err);
bool rosbag2_0_connection_record(struct bag2 *bag, struct window *window, const struct rosbag2_0_record *r,
                                 uint64_t position, struct reel_error *err);
bool rosbag2_0_channel_ready(struct bag2 *bag, struct rosbag2_0_connection *c,
                             struct reel_error *err); /* makes its channel */
void rosbag2_0_finish_connections(struct bag2 *bag);

/* walk, chunk: one unit, for the raw bytes of a chunk are walked as the file is */
bool rosbag2_0_walk(struct bag2 *bag, struct rosbag2_0_run *run, struct reel_error *err);
void rosbag2_0_first_stamp(struct bag2 *bag, uint32_t sec); /* of the recording: sets the clock */

bool rosbag2_0_chunk_open(struct bag2 *bag, const struct rosbag2_0_record *r,
                          struct reel_error *err);                            /* moves bag->file.at into or over it */
void rosbag2_0_chunk_cut(struct bag2 *bag, const struct rosbag2_0_record *r); /* a plain one that the file's end cuts */
bool rosbag2_0_chunk_close(struct bag2 *bag, struct reel_error *err);         /* nothing more of it comes: compares */
bool rosbag2_0_index_record(struct bag2 *bag, struct rosbag2_0_record *r,
                            struct reel_error *err); /* corrects r->size */

/* tail */
bool rosbag2_0_tail_begin(struct bag2 *bag,
                          struct reel_error *err); /* tail.there: something stands at index_pos; tail.at is its begin */
bool rosbag2_0_tail_record(
    struct bag2 *bag, struct rosbag2_0_record *r, bool *yes,
    struct reel_error *err); /* moves tail.at; *yes false: there is no further one that is whole */
bool rosbag2_0_tail_open(struct bag2 *bag, struct reel_error *err);
bool rosbag2_0_tail_next(struct bag2 *bag, struct reel_error *err);
bool rosbag2_0_tail_compare(struct bag2 *bag, struct reel_error *err); /* with the chunk at hand */
bool rosbag2_0_tail_prove(struct bag2 *bag, struct reel_error *err);
/* resume: moves run->at past damage and reports it */
bool rosbag2_0_progress(struct bag2 *bag, struct rosbag2_0_run *run, uint64_t at, struct reel_error *err);
bool rosbag2_0_resume(struct bag2 *bag, struct rosbag2_0_run *run, const char *why, struct reel_error *err);

/* sealed: lists the unencrypted contents of an encrypted bag */
bool rosbag2_0_sealed(struct bag2 *bag, struct reel_error *err);

bool rosbag2_0_summary(struct reel_scan *scan, struct reel_error *err);

#endif
