/* What the writers of ROS bags 1.2 and 2.0 share: header fields, what becomes of a channel there, and times. */
#ifndef REEL_FORMATS_ROS_WRITE_H
#define REEL_FORMATS_ROS_WRITE_H

#include "reel/write.h"

/* Appends "name=value" with its length; returns where the value begins. */
uint64_t ros_put_field(struct reel_sink *out, const char *name, struct reel_bytes value);
void ros_put_op(struct reel_sink *out, uint8_t op);
void ros_put_u32(struct reel_sink *out, const char *name, uint32_t value);
void ros_put_u64(struct reel_sink *out, const char *name, uint64_t value);

/* The channel as a ROS connection: what it is, or the wrapper of ros_wrap.h. */
const char *ros_type_of(const struct reel_channel *c);
struct reel_bytes ros_md5_of(const struct reel_channel *c); /* zeros where none is known: librosbag opens no bag without 32 characters */
struct reel_bytes ros_definition_of(const struct reel_channel *c);
const char *ros_metadata_of(const struct reel_channel *c, const char *key); /* NULL: there is none */

/* What is lost or changed in a ROS bag of either version: of a channel, but for its metadata; of whole recordings. */
void ros_tell_channel(const struct reel_channel *c, struct reel_loss *loss);
void ros_tell_recordings(const struct reel_stream *stream, struct reel_loss *loss);

/* The message's time as seconds and nanoseconds, 0 as 1 ns; REEL_UNSUPPORTED when it is before 1970 or after 2106. */
bool ros_stamp(const struct reel_write *w, const struct reel_message *m, uint32_t *sec, uint32_t *nsec, struct reel_error *err);

#endif
