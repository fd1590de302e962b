/* What the two parts of the ROS bag 1.2 writer share: records and groups (v1_write.c), the index in the tail
 * (v1_write_index.c).
 */
#ifndef REEL_FORMATS_ROSBAG_V1_WRITE_H
#define REEL_FORMATS_ROSBAG_V1_WRITE_H

#include "base/arena.h"
#include "convert/writer.h"
#include "formats/ros/write.h"
#include "formats/rosbag/v1_layout.h"

extern const struct reel_writer reel_writer_rosbag_v1;
extern const struct reel_recorder_ops rosbag_v1_recorder; /* v1_record.c */

enum { ROSBAG12_NOTE_ROW = 8 }; /* of a group's note: u32 topic, u32 messages in the group */

/* A stream channel and the bytes before its payloads, whose stamp words are filled in for each message. */
struct out_channel {
    struct ros_connection ros;
    uint32_t topic, connection;
    uint8_t *head; /* u32 header_len, header */
    uint32_t head_size, sec_at, nsec_at;
    uint32_t wrap; /* bytes of the wrapper before the payload (ros/wrap.h), or 0 */
};

/* What has a definition record: topic + type + md5, or one wrapped channel. */
struct out_connection {
    const struct ros_connection *ros; /* of one of its channels */
    uint32_t number;                  /* of that channel in the stream */
};

struct rosbag_v1_run {
    struct arena arena;
    struct out_channel *channels;
    struct out_connection *connections;
    const char **topics; /* sorted by name */
    uint32_t n_connections, n_topics;
    uint64_t pass, *seen; /* by connection: the last pass over a group that met it */
    uint32_t *counts;     /* by topic: messages in the group being planned; all 0 between groups */
    uint32_t *touched, n_touched;
    uint8_t *note;
};

struct rosbag_v1_totals {
    uint64_t *first_group;      /* by connection: 1 + the group of its first message; 0 = none */
    uint32_t *topic_connection; /* by topic: of its first message */
    uint64_t *topic_messages;
};

/* The line and the file header record, with the metadata of the recordings of `stream` (NULL: none). Returns its size.
 */
uint64_t rosbag_v1_put_head(struct reel_sink *out, const struct reel_stream *stream, uint64_t index_pos);
/* Can a record's header have a field of this name besides its own? */
bool rosbag_v1_is_free(const char *name);
/* Bytes of unknown fields that the message's header had in a bag of version 1.2: they are written again. */
uint32_t rosbag_v1_extra(const struct reel_write *w, const struct reel_message *m);
/* Fills o->head and what follows it from o->ros. `number` distinguishes wrapped channels of one topic. */
bool rosbag_v1_channel_head(struct arena *arena, struct out_channel *o, uint32_t number, struct reel_error *err);
void rosbag_v1_put_definition(struct reel_sink *out, const struct out_connection *c);
/* An index record without its entries; REEL_UNSUPPORTED: more than one can have. */
bool rosbag_v1_put_index_head(struct reel_sink *out, const char *topic, const char *type, uint64_t messages,
                              struct reel_error *err);
uint64_t rosbag_v1_definition_size(const struct out_connection *c); /* of the whole record */
/* Does the definition stand before this message? `group` is the one passed over since run->pass was raised. */
bool rosbag_v1_is_first(struct reel_write *w, uint32_t connection, uint64_t group);

uint64_t rosbag_v1_tail_parts(struct reel_write *w);
bool rosbag_v1_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err);

#endif
