/* Shared by the writers of ROS bags 1.2 and 2.0: conversion of channels and times. */
#ifndef REEL_FORMATS_ROS_WRITE_H
#define REEL_FORMATS_ROS_WRITE_H

#include "base/arena.h"
#include "convert/writer.h"
#include "formats/ros/bag_record.h"

/* A channel as a ROS connection: its own type, or the wrapper of wrap.h. */
struct ros_connection {
    const struct reel_channel *channel;
    const char *type;
    const char *md5;              /* zeros when unknown: librosbag opens no bag without 32 characters */
    struct reel_bytes definition; /* including all nested types; empty when unknown */
    bool renamed;                 /* types of the old package roslib have got their later names */
};
/* Bags 2.0 have the later names of types (formats/ros/rename.h), which is what their readers know; 1.2 is as old as the
 * old names. */
enum ros_names { ROS_NAMES_RECORDED, ROS_NAMES_LATER };
/* Memory comes from the arena. The MD5 sum is the recorded one, or computed from the definition when none was recorded:
 * the hashes of a channel with several schemas are of another kind (TIDE). */
bool ros_connection_of(struct arena *arena, const struct reel_channel *channel, enum ros_names names,
                       struct ros_connection *out, struct reel_error *err);
const char *ros_metadata_of(const struct reel_channel *c, const char *key); /* NULL: not set */

/* Reports what a ROS bag of either version loses or changes of a channel, except its metadata. */
void ros_report_channel(const struct ros_connection *connection, struct reel_loss *loss);
/* accepts() of a writer whose `fits` says whether a connection's records fit, and what is lost of it. */
bool ros_accepts(const struct reel_channel *channel, enum ros_names names,
                 bool (*fits)(const struct ros_connection *connection, struct reel_loss *loss), struct reel_loss *loss);
/* accepts_all(): what either version loses of recordings. */
bool ros_accepts_all(const struct reel_stream *stream, struct reel_loss *loss);
/* Reports topics without messages: a bag describes a topic before its first one. */
void ros_report_silent(const struct reel_stream *stream, struct reel_loss *loss);
bool ros_accepts_all_but_metadata(const struct reel_stream *stream, struct reel_loss *loss); /* which a bag 1.2 has room
                                                                                                for */

/* The message's time as seconds and nanoseconds, 0 as 1 ns; REEL_UNSUPPORTED when it is before 1970 or after 2106. */
bool ros_stamp(const struct reel_write *w, const struct reel_message *m, uint32_t *sec, uint32_t *nsec,
               struct reel_error *err);

#endif
