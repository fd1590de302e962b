/* Imports local files as a recording, through ingest_uploads(). */
#ifndef SERVER_IMPORTS_LOCAL_H
#define SERVER_IMPORTS_LOCAL_H

#include "recordings/ingest.h"
#include "store/reference.h"

struct local_options {
    bool reference;              /* the files are read where they are, not copied */
    bool move;                   /* files that are unchanged are deleted when their recording is stored durably */
    bool seen;                   /* `are` holds the expected size and time of each: REEL_CHANGED when they differ */
    int64_t wait_ns;             /* see ingest_uploads() */
    struct store_reference *are; /* one for each file, filled; may be NULL */
    const struct reel_progress *progress; /* bytes of the file that is read; may be NULL */
};
/* Imports the parts of one recording. `paths` are absolute, normalized, and below a root of the store (roots.h).
 * `options` NULL: the files are copied and the scan is waited for. `files` (zeroed; may be NULL) receives their hashes.
 */
void ingest_files(struct app *app, const char *const *paths, uint32_t n, const struct ingest_request *q,
                  const struct local_options *options, struct ingest_file *files, struct ingest_result *out,
                  struct reel_error *err);
#endif
