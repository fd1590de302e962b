/* Recording: messages are appended to a file as they come: MCAP, ROS bags 1.2 and 2.0, TIDE logs, MIRA tapes, NanoVer
 * recordings (which are MCAP until they are closed). Unlike a conversion nothing is known ahead, and what was synced
 * survives the end of the program at any moment: readers of the format take the file as it is, and a recorder can go on
 * with it. */
#ifndef REEL_RECORD_H
#define REEL_RECORD_H

#include "reel/model.h"
#include "reel/write.h"

#ifdef __cplusplus
extern "C" {
#endif

struct reel_recorder_options {
    size_t size;             /* sizeof(struct reel_recorder_options) */
    const char *compression; /* one of the writer's; NULL, "": none */
    uint64_t chunk_bytes;    /* messages are gathered in memory up to this size; 0 = 1 MiB */
    bool resume; /* go on with a file of an earlier recorder that was not closed; bytes behind its last complete record
                    go */
};

struct reel_record {
    uint32_t channel; /* as reel_recorder_channel() has numbered it */
    uint32_t sequence;
    int64_t log_time_ns;
    int64_t publish_time_ns; /* 0: the same */
    struct reel_bytes payload;
};

/* One thread at a time. When writing fails (a full disk), the messages gathered since the last flush are lost, the file
 * is as it was before, and the recorder can go on. */
struct reel_recorder;

/* Creates the file, which must not exist (REEL_CONFLICT), or resumes it: REEL_NOT_MINE: not such a file; REEL_CONFLICT:
 * it is complete. REEL_UNSUPPORTED: this writer cannot record. */
struct reel_recorder *reel_recorder_open(const char *path, const struct reel_writer *writer,
                                         const struct reel_recorder_options *options, struct reel_error *err);
/* Adds a channel; id, topics and metadata are as in the model. *id counts from 0, in the order of the calls; a resumed
 * file's channels keep theirs. */
bool reel_recorder_channel(struct reel_recorder *recorder, const struct reel_channel *channel, uint32_t *id,
                           struct reel_error *err);
bool reel_recorder_message(struct reel_recorder *recorder, const struct reel_record *record, struct reel_error *err);
/* Passes what is gathered to the system: it survives the end of the program. */
bool reel_recorder_flush(struct reel_recorder *recorder, struct reel_error *err);
/* The same and to the disk: it survives a power failure. */
bool reel_recorder_sync(struct reel_recorder *recorder, struct reel_error *err);
/* What was flushed, to the disk. May be called while another thread records. */
bool reel_recorder_commit(const struct reel_recorder *recorder, struct reel_error *err);
uint64_t reel_recorder_bytes(const struct reel_recorder *recorder); /* size of the file, without what is gathered */
uint32_t reel_recorder_channels(const struct reel_recorder *recorder);
/* Completes the file, syncs it and frees the recorder, also on failure. */
bool reel_recorder_close(struct reel_recorder *recorder, struct reel_error *err);
/* Leaves the file as it is, without what is gathered; NULL is fine. */
void reel_recorder_free(struct reel_recorder *recorder);
REEL_DEFINE_AUTO(struct reel_recorder, reel_recorder_free);

#ifdef __cplusplus
}
#endif

#endif
