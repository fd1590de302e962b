/* Rows of JSON or MessagePack as files (formats/rows/append.h): .ndjson and .msgpack, as Reel and many programs write
 * them.
 *
 * A bin or a value of MessagePack is read where it stands in the file. Rows of JSON are in chunks of whole rows; where
 * there are bytes,
 * {"$base64": "…"}, REEL_CODEC_JSON_BYTES decodes in place. extra[0] of an entry is publish_time - log_time; extra[1]
 * is the sequence number in the lower 32 bits, and above it 1 + the position of the frame_id in the channel's metadata,
 * 0 for none. */
#ifndef REEL_FORMATS_ROWS_CONTAINER_H
#define REEL_FORMATS_ROWS_CONTAINER_H

#include "base/arena.h"
#include "base/hash_table.h"
#include "formats/rows/row.h"
#include "index/scan.h"

extern const struct reel_format reel_format_rows;

#define ROWS_FRAME_KEY "frame_id"
#define ROWS_CALLERID_KEY "callerid"

struct rows_channel {
    struct rows_channel *next; /* of the same topic, newest first */
    struct reel_channel model;
    const char *callerid; /* in the metadata; NULL: none */
    uint32_t id;
    size_t capacity; /* of model.metadata */
    bool changed;    /* model has more metadata than was reported */
};

struct rows_topic {
    struct rows_topic *next;
    struct rows_channel *channels;
    struct rows_channel *last; /* that of the last message */
    const char *name;
};

struct rows_scan {
    struct reel_scan *scan;
    struct arena model;       /* topics and channels */
    struct hash_table topics; /* → struct rows_topic */
    struct rows_topic *first;
    const char *medium; /* encoding of values */
};
void rows_channels_done(struct rows_scan *s);

/* A row that defines a channel. Messages of its topic and encoding belong to it from here on. */
bool rows_define(struct rows_scan *s, const struct row *row, struct reel_error *err);
/* The channel of a message; made if there is none of its topic and encoding. */
struct rows_channel *rows_channel_of(struct rows_scan *s, const struct row *row, struct reel_error *err);
/* 1 + the position in the metadata; 0: no frame, or the channel has too many. */
uint32_t rows_frame(struct rows_scan *s, struct rows_channel *channel, const char *frame_id);
/* Reports metadata that messages added. */
bool rows_finish_channels(struct rows_scan *s, struct reel_error *err);

#endif
