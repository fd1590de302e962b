/* Messages that are not in ROS 1 encoding travel through ROS bags as std_msgs/UInt8MultiArray, so that every ROS tool
 * can pass them on and print them. Their real type and encoding are stored with them, as further fields of the
 * connection record (2.0) or of the definition (1.2):
 *
 *   reel.encoding                        of the payload
 *   reel.type                            message type
 *   reel.topic.N                         N = 0 …: the names it is found under, where these are not just the topic
 *   reel.schema.N.name .encoding .hash .data
 *   reel.metadata.N.key .value
 *   reel.channel                         1.2 only, in messages too: a number that distinguishes channels of one topic
 *
 * The payload follows the wrapper's head: no dimensions (u32 0), data_offset (u32 0), u32 length. */
#ifndef REEL_FORMATS_ROS_WRAP_H
#define REEL_FORMATS_ROS_WRAP_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/sink.h"
#include "index/scan.h"

#define ROS_WRAP_TYPE "std_msgs/UInt8MultiArray"
#define ROS_WRAP_MD5 "82373f1612381bb6ee473b5cd6f5d89c"
#define ROS_WRAP_NUMBER "reel.channel"
enum { ROS_WRAP_HEAD = 12 };
extern const char ros_wrap_definition[];

/* Writing. Any channel that is not in ROS 1 encoding is wrapped. */
bool ros_wrap_needed(const struct reel_channel *c);
void ros_wrap_put_head(struct reel_sink *out, uint32_t payload_size);
void ros_wrap_put_fields(struct reel_sink *out, const struct reel_channel *c); /* all except reel.channel */

/* Reading. */
bool ros_wrap_is_field(struct reel_bytes name);
/* True when `header` (a list of fields) describes a wrapped channel. */
bool ros_wrap_is(struct reel_bytes header);
/* Fills type, encoding, schemas, metadata and topics of *c from such a header; the caller sets name and `latched`.
 * Tables come from the arena. */
bool ros_wrap_read(struct reel_scan *scan, struct arena *arena, struct reel_bytes header, struct reel_channel *c,
                   struct reel_error *err);
/* True when a payload of `size` bytes that begins with these is a wrapper whose single run of bytes fills the payload
 * exactly. */
static inline bool ros_wrap_fits(const uint8_t head[ROS_WRAP_HEAD], uint32_t size) {
    return size >= ROS_WRAP_HEAD && load_u64le(head) == 0 && load_u32le(head + 8) == size - ROS_WRAP_HEAD;
}

#endif
