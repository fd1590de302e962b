/* The integrity check: reads every stored file again and compares its SHA-256 with its name, and verifies the index
 * packs, of which corrupted ones are rebuilt. It goes through them in the order of their hashes, at a bounded rate, and
 * resumes where it was stopped. A corrupted file is shown as the problem of the recordings that use it, until the file
 * is uploaded again. */
#ifndef SERVER_MAINTENANCE_SCRUB_H
#define SERVER_MAINTENANCE_SCRUB_H

#include <jansson.h>

#include "app.h"
#include "work/jobs.h"

struct scrub_options {
    uint64_t bytes_per_s; /* 0: no limit */
    bool from_start;      /* instead of resuming the last one */
};
struct scrub_result {
    uint64_t files, bytes, corrupted, missing, elsewhere, corrupted_packs; /* of the whole check, also before it was
                                                                              stopped */
    bool resumed;
};
/* `app` needs store and catalog only. A cancelled check has saved its position. */
bool scrub_run(struct app *app, const struct scrub_options *options, const struct reel_progress *progress,
               struct scrub_result *out, struct reel_error *err);
/* As a job; REEL_CONFLICT: one has not ended. */
bool scrub_start(struct app *app, const struct scrub_options *options, char id[JOB_ID_TEXT], struct reel_error *err);
bool scrub_job_run(struct app *app, const struct job_call *call, struct reel_error *err);

/* {state: "none"|"running"|"stopped"|"done", started, ended, files, size, files_total, size_total, corrupted, missing,
 * corrupted_packs, corrupted_files: […]} */
json_t *scrub_last(struct app *app, bool (*sees)(const void *context, const char *collection), const void *context,
                   struct reel_error *err);

#endif
