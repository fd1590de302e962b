/* The format's side of a recorder (reel/record.h): formats put struct reel_recorder first in their own. */
#ifndef REEL_RECORD_RECORD_H
#define REEL_RECORD_RECORD_H

#include <stdio.h>

#include "reel/record.h"

struct reel_recorder {
    const struct reel_recorder_ops *ops;
    const struct reel_writer *writer;
    char *path;
    int fd;
    uint64_t pos; /* bytes of the file so far */
    uint32_t n_channels;
    struct reel_recorder_options options;
};

/* One table for each format that records: struct reel_writer.recorder. Channel ids and times are checked before. */
struct reel_recorder_ops {
    size_t state_size; /* of the format's struct, which is zeroed before open() */
    /* The file is empty, or the one to resume: sets pos and n_channels, and cuts the file behind its last complete
     * record. */
    bool (*open)(struct reel_recorder *r, struct reel_error *err);
    bool resumes; /* whether open() can */
    bool (*channel)(struct reel_recorder *r, const struct reel_channel *channel,
                    struct reel_error *err); /* becomes n_channels */
    bool (*message)(struct reel_recorder *r, const struct reel_record *record, struct reel_error *err);
    bool (*flush)(struct reel_recorder *r, struct reel_error *err);
    bool (*finish)(struct reel_recorder *r, struct reel_error *err); /* what comes after the last flush() */
    void (*close)(struct reel_recorder *r);                          /* frees what open() and later calls made */
};

/* Appends bytes to the file. */
bool recorder_put(struct reel_recorder *r, const void *data, size_t size, struct reel_error *err);
/* Writes over bytes of the file. */
bool recorder_patch(struct reel_recorder *r, uint64_t offset, const void *data, size_t size, struct reel_error *err);
/* A temporary file for what comes at the end, and what was written into it, appended. */
FILE *recorder_spool(struct reel_error *err);
bool recorder_put_spool(struct reel_recorder *r, FILE *spool, struct reel_error *err);
/* Appends the rows of `spool` as one table for each key. A row in the spool is u32 key and `row_size` bytes; `counts`
 * has the number of rows of each key. The rows of a key stay in their order; those of a key without rows are left out.
 * head() writes what precedes a table.
 */
struct recorder_tables {
    FILE *spool;
    size_t row_size, n_keys;
    const uint64_t *counts;
    bool (*head)(struct reel_recorder *r, size_t key, struct reel_error *err);
};
bool recorder_put_tables(struct reel_recorder *r, const struct recorder_tables *tables, struct reel_error *err);

#endif
