/* What the files of the NanoVer format share: the members of the archive, and the format's tables. */
#ifndef REEL_FORMATS_NANOVER_H
#define REEL_FORMATS_NANOVER_H

#include "formats/nanover/wire.h"
#include "reel/format.h"
#include "reel/write.h"
#include "wire/nanover.h"

extern const struct reel_format reel_format_nanover;
extern const struct reel_writer reel_writer_nanover;

struct nanover_archive {
    struct zip_contents zip;
    const struct zip_member *messages, *index; /* NULL = not there */
    const char *lost; /* why there is no directory and the members come from a walk over local headers; NULL = there is one */
};
/* Reads the directory, or, when there is none, the local headers from the file's start. REEL_NOT_MINE when that gives no messages member.
 */
bool nanover_archive_open(struct nanover_archive *archive, struct reel_source *source, struct reel_error *err);
void nanover_archive_close(struct nanover_archive *archive);
static inline void reel_auto_nanover_archive_close(struct nanover_archive *archive) { /* for AUTO() on the struct itself */
    nanover_archive_close(archive);
}

#endif
