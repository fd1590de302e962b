/* What a format implements to record (reel/record.h). It puts struct reel_recorder first in a struct of its own. */
#ifndef REEL_RECORD_RECORD_H
#define REEL_RECORD_RECORD_H

#include <stdio.h>

#include "convert/options.h"
#include "reel/record.h"

struct reel_recorder {
    const struct reel_recorder_ops *ops;
    const struct reel_writer *writer;
    char *path;
    int fd;
    uint64_t pos; /* bytes of the file so far */
    uint32_t n_channels;
    struct reel_recorder_options options; /* without settings */
    struct reel_write_values settings;    /* for open(): their texts are the caller's */
};

/* One table for each format that records: struct reel_writer.recorder. The caller has checked channel ids, times and
 * sizes. */
struct reel_recorder_ops {
    size_t state_size; /* of the format's struct, which is zeroed before open() */
    /* The file is empty, unless options.resume is set: then open() sets pos and n_channels, and cuts the file after its
     * last complete record. */
    bool (*open)(struct reel_recorder *r, struct reel_error *err);
    bool resumes;  /* open() supports options.resume */
    bool settings; /* open() reads settings */
    bool (*channel)(struct reel_recorder *r, const struct reel_channel *channel, struct reel_error *err); /* its id is
                                                                                                             n_channels
                                                                                                           */
    bool (*message)(struct reel_recorder *r, const struct reel_record *record, struct reel_error *err);
    bool (*flush)(struct reel_recorder *r, struct reel_error *err);
    bool (*finish)(struct reel_recorder *r, struct reel_error *err); /* after the last flush(): writes the end of the
                                                                        file */
    void (*close)(struct reel_recorder *r);                          /* frees what the format allocated */
};

/* In open(), of an option of the writer's table: its number, and the i-th text of globs, NULL: there are no more. */
uint64_t recorder_setting_u64(const struct reel_recorder *r, const char *name);
const char *recorder_setting_text(const struct reel_recorder *r, const char *name, uint32_t i);

/* Appends bytes to the file. */
bool recorder_put(struct reel_recorder *r, const void *data, size_t size, struct reel_error *err);
/* Overwrites bytes of the file. */
bool recorder_patch(struct reel_recorder *r, uint64_t offset, const void *data, size_t size, struct reel_error *err);
/* A temporary file for what the end of the file will contain. */
FILE *recorder_spool(struct reel_error *err);
/* Appends all of such a file. */
bool recorder_put_spool(struct reel_recorder *r, FILE *spool, struct reel_error *err);

/* Rows in a temporary file, to be appended as one table for each key. A row is a u32 key and `row_size` bytes. Within a
 * table the rows keep their order; a key without rows gets no table. */
struct recorder_tables {
    FILE *spool;
    size_t row_size, n_keys;
    const uint64_t *counts;                                                    /* rows of each key */
    bool (*head)(struct reel_recorder *r, size_t key, struct reel_error *err); /* writes what precedes the table */
};
bool recorder_put_tables(struct reel_recorder *r, const struct recorder_tables *tables, struct reel_error *err);

#endif
