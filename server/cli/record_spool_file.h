/* The file of record_spool.c: a head with the recording's id and how far it is sent, then batches. The first batch has
 * the channels that were defined before, for a recording that has to continue in another one. */
#ifndef SERVER_CLI_RECORD_SPOOL_FILE_H
#define SERVER_CLI_RECORD_SPOOL_FILE_H

#include "base/grow.h"
#include "formats/rows/append.h"

enum { SPOOL_ROWS_MAX = 16 << 20, SPOOL_KEPT_MAX = 8 << 20, SPOOL_ID_SIZE = 32 };

struct spool_head {
    char magic[8], id[SPOOL_ID_SIZE];
    uint64_t sent;   /* offset of the first batch that is not sent */
    uint64_t number; /* of the last batch before those of the file: the server knows its number */
};
struct spool_batch {
    uint64_t number; /* from 1; 0: channels */
    int64_t read_ns; /* when its rows were read */
    uint64_t size;
};

struct spool_file {
    char *path;
    int fd;
    enum reel_row_media medium;
    struct grow channels; /* rows that define channels */
    struct spool_head head;
    uint64_t end;            /* of the file */
    uint64_t last_at;        /* offset of the last batch; 0: there is none that may grow */
    struct spool_batch last; /* may grow while it is not being sent */
    bool last_is_list;       /* of JSON: nothing can be added */
    uint64_t sending;        /* offset behind the batch that is being sent */
    uint64_t synced;         /* offset behind what survives a power failure */
};

/* What an earlier run left: head.id is empty if nothing. */
bool spool_file_read(struct spool_file *f, struct reel_error *err);
/* An empty file, but for the channels. */
bool spool_file_begin(struct spool_file *f, struct reel_error *err);
bool spool_file_keep_channels(struct spool_file *f, struct reel_bytes rows, struct reel_error *err);
/* A whole batch, or the file as before. */
bool spool_file_add(struct spool_file *f, uint64_t number, int64_t read_ns, struct reel_bytes rows,
                    struct reel_error *err);
/* Rows of one moment become one batch: over a slow link a request each would not keep up. */
bool spool_file_extend(struct spool_file *f, int64_t now, struct reel_bytes rows);
bool spool_file_write_head(struct spool_file *f, struct reel_error *err);
bool spool_file_sync(struct spool_file *f, struct reel_error *err);
/* While there is always something on its way the file is never empty: what is sent is removed. If that fails it grows.
 * Not while a batch is being sent. */
void spool_file_shorten(struct spool_file *f);

#endif
