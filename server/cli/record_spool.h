/* What `reel record --to` has read and the server does not have yet, in a file: a lost link neither stops the program
 * that writes the rows nor loses them, and they survive a power failure. A thread sends them in order. */
#ifndef SERVER_CLI_RECORD_SPOOL_H
#define SERVER_CLI_RECORD_SPOOL_H

#include "cli/record_remote.h"
#include "formats/rows/append.h"

struct record_spool;
/* Opens or continues the live recording. Its file is in push_state_folder(), named after the server and the recording:
 * rows that an earlier run of the same recording left are sent first. Rows that the server refuses are put aside in
 * FILE.refused. */
struct record_spool *record_spool_open(const struct record_remote_options *options, enum reel_row_media medium,
                                       struct reel_error *err);
/* Complete rows, at most 16 MiB. False: the server does not take them, or the disk cannot be written. */
bool record_spool_append(struct record_spool *spool, struct reel_bytes rows, struct reel_error *err);
/* Waits until all is sent, then finishes the recording. */
bool record_spool_finish(struct record_spool *spool, struct reel_error *err);
void record_spool_free(struct record_spool *spool); /* the file stays, unless finish() returned true */
REEL_DEFINE_AUTO(struct record_spool, record_spool_free);

#endif
