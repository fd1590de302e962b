/* Rows of JSON or MessagePack as messages: what GET /messages and `reel cat` write, and what programs write most
 * easily.
 *
 *   {"topic": "/imu", "log_time": "2024-06-11T10:00:00.25Z", "publish_time": …, "sequence": 7, "data": {"x": 1.5}}
 *   {"$channel": {"topic": "/scan", "type": "sensor_msgs/LaserScan", "encoding": "ros1", "schema": "…",
 * "schema_encoding": "ros1msg", "schema_hash": "…"}}
 *
 * A channel of several definitions has all of them in "schemas", a list of maps with the members of one; one that is
 * found under other topics has these in "topics".
 *
 * data is a value, or bytes: {"$base64": "…"} in JSON, bin in MessagePack. A topic without a channel row gets one at
 * its first message, of values (encoding json or msgpack) or of bytes (encoding ""). Times are RFC 3339, integers
 * (nanoseconds since 1970) or other numbers (seconds); without log_time a message has the time of its arrival. Other
 * members are ignored, and so are rows whose first member begins with '$'. */
#ifndef REEL_FORMATS_ROWS_APPEND_H
#define REEL_FORMATS_ROWS_APPEND_H

#include "reel/record.h"

enum reel_row_media {
    REEL_ROWS_JSON,    /* one object a line, or one array of objects */
    REEL_ROWS_MSGPACK, /* maps, back to back */
};

/* The topics of one recorder. One thread at a time. */
struct reel_rows;
/* the recorder must outlive it */
struct reel_rows *reel_rows_new(struct reel_recorder *recorder, struct reel_error *err);
void reel_rows_free(struct reel_rows *rows);
REEL_DEFINE_AUTO(struct reel_rows, reel_rows_free);
/* A channel that a resumed recorder has. */
bool reel_rows_know(struct reel_rows *rows, const struct reel_channel *channel, uint32_t id, struct reel_error *err);

/* The recorder's channel that is like this one, added when there is none of its name. REEL_CONFLICT: that one has
 * another type or encoding. */
bool reel_rows_channel(struct reel_rows *rows, const struct reel_channel *channel, uint32_t *id,
                       struct reel_error *err);

struct reel_rows_added {
    uint64_t messages;
    int64_t last_ns; /* of the last row; 0: none */
};
/* Records all rows, or none of them: REEL_ARGUMENT names the row and what is wrong with it, REEL_CONFLICT a topic that
 * is of another type or encoding. Only when writing fails, some may have been written. */
bool reel_rows_append(struct reel_rows *rows, enum reel_row_media media, struct reel_bytes body, int64_t now_ns,
                      struct reel_rows_added *added, struct reel_error *err);
/* The same of all messages of a recording. */
bool reel_rows_append_recording(struct reel_rows *rows, struct reel_recording *recording, struct reel_rows_added *added,
                                struct reel_error *err);
/* How many bytes of `text` are complete rows; the rest waits for more. */
size_t reel_rows_whole(enum reel_row_media media, struct reel_bytes text);

#endif
