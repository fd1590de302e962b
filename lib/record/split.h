/* A recording in several files, run_0000.mcap, run_0001.mcap …, each complete. */
#ifndef REEL_RECORD_SPLIT_H
#define REEL_RECORD_SPLIT_H

#include "reel/record.h"

struct record_split_options {
    /* A part ends before the message with which it would have more than this; 0: no limit. */
    uint64_t bytes; /* about: of the file that is being written, before it is converted */
    uint64_t messages;
    int64_t ns;         /* log time, from the part's first message on */
    uint32_t max_parts; /* there are at most so many, the oldest is deleted; 0: all stay */
    /* Formats that cannot be recorded: each part is converted to it, by these options, when it is complete. NULL: parts
     * stay as they are. */
    const struct reel_writer *target;
    const struct reel_convert_options *convert;
};

/* A recorder (reel/record.h) that continues in a new file when the part is full. A new part has all channels, and
 * begins with what still holds of the one before: the last messages of latched channels, the state where messages are
 * changes, and the frames of a video since its key frame. Parts are completed on a thread of their own meanwhile; what
 * fails there is returned by the call that begins the part after the next, or ends the recording.
 *
 * `path` names the parts: its ending is that of the target, or of the writer. REEL_CONFLICT: a part with such a name
 * exists. `writer`, `options` and what they point to must outlive the recorder. */
struct reel_recorder *record_split_open(const char *path, const struct reel_writer *writer,
                                        const struct reel_recorder_options *options,
                                        const struct record_split_options *split, struct reel_error *err);

#endif
