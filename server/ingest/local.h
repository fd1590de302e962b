/* Files of this machine, taken in by the one way in. */
#ifndef SERVER_LOCAL_H
#define SERVER_LOCAL_H

#include "ingest/ingest.h"
#include "store/reference.h"

struct local_options {
    bool reference;                       /* they stay where they are, and are only read */
    bool move;                            /* they go when their recording is there for good, those that are still what was read */
    bool seen;                            /* `are` says what size and time each has had: another now is REEL_CHANGED */
    int64_t wait_ns;                      /* as of ingest_uploads() */
    struct store_reference *are;          /* one for each file, filled; NULL: nobody wants to know */
    const struct reel_progress *progress; /* bytes of the file that is read; may be NULL */
};
/* Takes in the parts of one recording. `paths` are absolute and tidy, and lie below a root of the store (roots.h). NULL wishes: copied, the
 * scan waited for. `files` (may be NULL) is for who wants to know their hashes; zeroed. */
void ingest_files(struct app *app, const char *const *paths, uint32_t n, const struct ingest_request *q,
                  const struct local_options *options, struct ingest_file *files, struct ingest_result *out, struct reel_error *err);
/* SHA-256 of an open file; REEL_CHANGED when somebody wrote to it meanwhile. */
bool local_hash(int fd, struct store_reference *is, const struct reel_progress *progress, char sha256[SHA256_HEX], struct reel_error *err);

#endif
