/* Internals of the NanoVer format: the members of the archive, and the format's table. */
#ifndef REEL_FORMATS_NANOVER_CONTAINER_H
#define REEL_FORMATS_NANOVER_CONTAINER_H

#include "convert/writer.h"
#include "formats/nanover/layout.h"
#include "formats/nanover/message.h"
#include "index/format.h"

extern const struct reel_format reel_format_nanover;
extern const struct reel_writer reel_writer_nanover;
extern const struct reel_recorder_ops nanover_recorder;

struct nanover_archive {
    struct zip_contents zip;
    const struct zip_member *messages, *index; /* NULL: no such member */
    const char *lost; /* why the members were found through local headers instead of the directory; NULL: the directory
                         was read */
};
/* Reads the directory or, without one, the local headers from the start of the file. REEL_NOT_MINE when no messages
 * member is found */
bool nanover_archive_open(struct nanover_archive *archive, struct reel_source *source, struct reel_error *err);
void nanover_archive_close(struct nanover_archive *archive);

#endif
