/* What the parts of the ROS bag 2.0 writer share: chunks (v2_write.c), their index data, and the tail
 * (v2_write_tail.c); recording (v2_record.c). */
#ifndef REEL_FORMATS_ROSBAG_V2_WRITE_H
#define REEL_FORMATS_ROSBAG_V2_WRITE_H

#include "chunks/codec.h"
#include "convert/writer.h"
#include "formats/ros/write.h"
#include "formats/rosbag/v2_layout.h"

extern const struct reel_writer reel_writer_rosbag_v2;
extern const struct reel_writer reel_writer_rosbag_v2_named;
extern const struct reel_recorder_ops rosbag_v2_recorder; /* v2_record.c */

enum {
    ROSBAG_V2_CHUNK_BYTES = 768 << 10, /* as ROS' recorders close them */
    ROSBAG_V2_CHUNK_MESSAGES = 16384,
    /* A group's note: u64 start, u64 end (sec << 32 | nsec), u64 raw bytes, u64 stored bytes, u8 codec; then rows of
       u32 channel, u32 messages. */
    ROSBAG_V2_NOTE_HEAD = 33,
    ROSBAG_V2_NOTE_ROW = 8,
};

struct rosbag_v2_note {
    uint64_t start, end, raw, stored;
    enum reel_codec codec;
    const uint8_t *rows;
    uint32_t n_rows;
};
struct rosbag_v2_note rosbag_v2_note_of(const struct reel_group *group);

struct rosbag_v2_totals {
    uint64_t *first_group; /* by channel: 1 + the group of its first message; 0 = none */
    uint32_t connections;  /* channels with a message */
};

struct rosbag_v2_position { /* one message of the chunk at hand */
    uint64_t stamp;
    uint32_t offset, channel;
};

struct rosbag_v2_write_run {
    struct arena arena;
    struct ros_connection *connections; /* by channel */
    enum reel_codec codec;
    uint32_t *counts;  /* by channel: messages in the chunk; all 0 between chunks */
    uint32_t *touched; /* the channels of the chunk, in order of their first message */
    uint32_t n_touched;
    struct rosbag_v2_position *positions;
    uint8_t *entries, *note; /* index data of the chunk */
    uint8_t *raw;            /* a chunk that is to be compressed */
    size_t raw_room;
    struct grow packed;    /* and what it became */
    uint64_t packed_group; /* whose that is; UINT64_MAX = none */
};

/* The line and the file header record. */
void rosbag_v2_put_head(struct reel_sink *out, uint64_t index_pos, uint32_t connections, uint64_t chunks);
void rosbag_v2_put_chunk_head(struct reel_sink *out, const struct rosbag_v2_note *note);
void rosbag_v2_put_message_head(struct reel_sink *out, uint32_t conn, uint64_t stamp, uint32_t size);
void rosbag_v2_put_info(struct reel_sink *out, uint64_t chunk_pos, const struct rosbag_v2_note *note);
bool rosbag_v2_codec_named(const char *name, enum reel_codec *codec, struct reel_error *err);
/* The connection record of the channel `id`. */
void rosbag_v2_put_connection(struct reel_sink *out, const struct ros_connection *ros, uint32_t id);
/* Index data of the chunk whose messages stand in run->positions; resets run->counts. */
void rosbag_v2_put_index(struct rosbag_v2_write_run *run, uint32_t count, bool disordered, struct reel_sink *out);
uint64_t rosbag_v2_index_size(uint32_t connections, uint32_t count);

uint64_t rosbag_v2_tail_parts(struct reel_write *w);
bool rosbag_v2_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err);

#endif
