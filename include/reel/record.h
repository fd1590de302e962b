/* Recording: messages are appended to a file as they come. MCAP, ROS bags 1.2 and 2.0, TIDE logs, MIRA tapes and
 * NanoVer recordings (which are MCAP until they are closed). What was synced survives the end of the program and a
 * power failure at any moment: readers of the format take the file as it is, and a recorder can continue it.
 *
 * A recorder belongs to one thread at a time. */
#ifndef REEL_RECORD_H
#define REEL_RECORD_H

#include "reel/convert.h"

#ifdef __cplusplus
extern "C" {
#endif

struct reel_recorder_options {
    size_t size;             /* sizeof(struct reel_recorder_options) */
    const char *compression; /* one of reel_writer_compressions(); NULL, "": none */
    uint64_t chunk_bytes;    /* messages are gathered in memory up to this size; 0: 1 MiB */
    bool resume; /* continue a file of an earlier recorder that was not closed; bytes after its last complete
                    record go */
    const struct reel_pair *settings; /* as reel_convert_options.settings; REEL_UNSUPPORTED where the format has none of
                                         them while it records. MIRA tapes: block_size (if chunk_bytes is 0),
                                         compress_from, compress_topic */
    size_t n_settings;
};

/* Creates the file, which must not exist (REEL_CONFLICT), or resumes it: REEL_NOT_MINE: not such a file; REEL_CONFLICT:
 * it is complete. REEL_UNSUPPORTED: this writer (reel_writer_for_file()) cannot record. `options` NULL: the defaults.
 * End with reel_recorder_close() or reel_recorder_free(). */
struct reel_recorder;
struct reel_recorder *reel_recorder_open(const char *path, const struct reel_writer *writer,
                                         const struct reel_recorder_options *options, struct reel_error *err);

struct reel_channel_options {
    size_t size;                 /* sizeof(struct reel_channel_options) */
    const char *topic;           /* "/imu" */
    const char *type;            /* of its messages; NULL: "" */
    const char *encoding;        /* of the payloads: "json", "ros1", "cdr", "protobuf" …; NULL: "" */
    const char *schema_encoding; /* the language of `schema`: "jsonschema", "ros1msg", …; NULL: there is no schema */
    struct reel_bytes schema;    /* the definition of `type` */
    const struct reel_pair *metadata;
    size_t n_metadata;
    bool latched; /* the last message stays valid until the next one */
};
/* Adds a channel; everything is copied. *id counts from 0, in the order of the calls; a resumed file's channels keep
 * theirs. REEL_UNSUPPORTED: the format cannot hold it. */
bool reel_recorder_channel(struct reel_recorder *recorder, const struct reel_channel_options *channel, uint32_t *id,
                           struct reel_error *err);
/* The same for a channel of a recording or stream. */
bool reel_recorder_copy_channel(struct reel_recorder *recorder, const struct reel_channel *channel, uint32_t *id,
                                struct reel_error *err);
uint32_t reel_recorder_channels(const struct reel_recorder *recorder); /* how many there are */

struct reel_record {
    size_t size;      /* sizeof(struct reel_record) */
    uint32_t channel; /* its id */
    uint32_t sequence;
    int64_t log_time_ns;     /* from 0 on */
    int64_t publish_time_ns; /* 0: the same */
    struct reel_bytes payload;
};
/* When writing fails (a full disk), the messages gathered since the last flush are lost, the file is as it was before,
 * and the recorder can continue. */
bool reel_recorder_message(struct reel_recorder *recorder, const struct reel_record *record, struct reel_error *err);

/* Passes what is gathered to the system: it survives the end of the program. */
bool reel_recorder_flush(struct reel_recorder *recorder, struct reel_error *err);
/* The same and to the disk: it survives a power failure. */
bool reel_recorder_sync(struct reel_recorder *recorder, struct reel_error *err);
/* What was flushed, to the disk. The only one that may be called while another thread records. */
bool reel_recorder_commit(const struct reel_recorder *recorder, struct reel_error *err);
uint64_t reel_recorder_bytes(const struct reel_recorder *recorder); /* size of the file, without what is gathered */

/* Completes the file, syncs it and frees the recorder, also on failure. */
bool reel_recorder_close(struct reel_recorder *recorder, struct reel_error *err);
/* Frees the recorder and leaves the file as it is, without what is gathered; NULL is fine. */
void reel_recorder_free(struct reel_recorder *recorder);
REEL_DEFINE_AUTO(struct reel_recorder, reel_recorder_free);

#ifdef __cplusplus
}
#endif

#endif
