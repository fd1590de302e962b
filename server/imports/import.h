/* Imports local files: requested over HTTP, found in watched folders, or named on the command line. All use the same
 * walk, the same decisions and the same workers. */
#ifndef SERVER_IMPORTS_IMPORT_H
#define SERVER_IMPORTS_IMPORT_H

#include "app.h"
#include "catalog/imports.h"
#include "imports/local.h"
#include "work/jobs.h"

enum {
    IMPORT_PATHS_MAX = 1000, /* of one request */
};

const char *import_outcome_name(enum import_outcome outcome);

struct import_report { /* about one recording */
    enum import_outcome outcome;
    const char *folder;       /* absolute, of its files */
    const char *const *names; /* of the files */
    uint32_t n;
    const char *name;                 /* it would have, or has; NULL: none */
    const struct reel_format *format; /* NULL: unknown */
    uint64_t size;
    const struct catalog_recording *recording; /* NULL unless there is one */
    const struct reel_error *why;              /* IMPORT_FAILED */
};

struct import_options {
    enum import_mode mode;
    const char *collection;
    const struct catalog_annotations *annotations; /* NULL: nothing */
    const char *glob;                              /* of paths below the imported folder; NULL: all */
    bool replace;                                  /* as of ingest_request */
    bool flat;                                     /* folders are not walked, they fail */
    bool watched; /* a known file is not imported again, even if its recording was deleted; a changed file becomes the
                     next revision */
    int64_t still_ns;    /* files modified within this time are left for later; 0: none */
    bool wait_for_scans; /* waits for scans without a limit */
    bool dry;            /* only reports */
    uint32_t limit;      /* of a dry run: so many; 0 = all */
    const char *cursor;  /* of a dry run: where the page before ended */
    void (*on_report)(void *context, const struct import_report *on_report); /* one at a time, from any thread; may be
                                                                                NULL */
    bool (*entered)(void *context, const char *folder); /* before a folder is listed; false: stop. May be NULL */
    void *context;
};
struct import_statistics {
    uint64_t outcomes[IMPORT_OUTCOMES];
    uint64_t files, folders; /* inspected */
    int64_t due_ns;          /* when the first of the files left for later is due; 0 = none */
    char next[48];           /* cursor of a dry run; "" at the end */
};

/* Imports `paths` (absolute, normalized; files, or folders with everything below them) and waits until all are
 * imported. False if it was cancelled or a path is invalid. A file that fails is reported and recorded; the import
 * continues. */
bool import_paths(struct app *app, const char *const *paths, uint32_t n, const struct import_options *options,
                  const struct reel_progress *progress, struct import_statistics *out, struct reel_error *err);
/* Paths of the form s3://BUCKET/KEY, which stay where they are: whether this is one, and whether it is below an import
 * root. */
bool import_is_url(const char *path);
bool import_may_read(const struct app *app, const char *url, struct reel_error *err);
/* Retries a failed file. */
bool import_again(struct app *app, int64_t failure, const struct reel_progress *progress, struct reel_error *err);

/* job.c: the same as the job "import". Its options are the request as JSON. */
struct import_request {
    char **paths; /* resolved */
    uint32_t n;
    char *glob, *collection; /* glob "" = none */
    enum import_mode mode;
    bool replace;
    struct catalog_annotations annotations;
    int64_t failure; /* instead of paths: try this again; 0 = no */
};
void import_request_done(struct import_request *q);
struct import_options import_request_options(const struct import_request *q);
bool import_start(struct app *app, const struct import_request *q, char job[JOB_ID_TEXT], struct reel_error *err);
bool import_run(struct app *app, const struct job_call *call, struct reel_error *err);

enum import_mode import_mode_named(const char *name, bool *known);
const char *import_mode_name(enum import_mode mode);
extern const char *const import_modes[]; /* NULL-terminated, in the order of the enum */

#endif
