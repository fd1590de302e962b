/* Local files become recordings: requested over HTTP, found in watched folders, or named on the command line. One walk, one way to
 * decide, a bounded number of threads. */
#ifndef SERVER_IMPORT_H
#define SERVER_IMPORT_H

#include "app.h"
#include "catalog/imports.h"
#include "ingest/jobs.h"
#include "ingest/local.h"

enum {
    IMPORT_PATHS_MAX = 1000, /* of one request */
};

enum import_outcome {
    IMPORT_WOULD, /* of a dry run: it would be taken */
    IMPORT_CREATED,
    IMPORT_EXISTS,    /* its content is there under its name */
    IMPORT_SCANNING,  /* it is listed, and its scan goes on */
    IMPORT_UNCHANGED, /* it is known, and was not read */
    IMPORT_PASSED,    /* no recording, and not named like one */
    IMPORT_WAITS,     /* still being written */
    IMPORT_FAILED,
    IMPORT_OUTCOMES
};
const char *import_outcome_name(enum import_outcome outcome);

struct import_report { /* about one recording */
    enum import_outcome outcome;
    const char *folder;       /* where its files lie, absolute */
    const char *const *names; /* of the files */
    uint32_t n;
    const char *name;                 /* it would have, or has; NULL: none */
    const struct reel_format *format; /* NULL: unknown */
    uint64_t size;
    const struct catalog_recording *recording; /* NULL unless there is one */
    const struct reel_error *why;              /* IMPORT_FAILED */
};

struct import_terms {
    enum import_mode mode;
    const char *collection;
    const struct catalog_annotations *annotations; /* NULL: nothing */
    const char *glob;                              /* of paths below the imported folder; NULL: all */
    bool replace;                                  /* as of ingest_request */
    bool flat;                                     /* folders are not gone into: they fail */
    bool watched;       /* a file that is known stays known, whatever became of its recording; one that changes makes the next revision */
    int64_t still_ns;   /* files written to within this time wait; 0: none does */
    bool patient;       /* scans are waited for, however long */
    bool dry;           /* only reports */
    uint32_t limit;     /* of a dry run: so many; 0 = all */
    const char *cursor; /* of a dry run: where the page before ended */
    void (*on_report)(void *context, const struct import_report *on_report); /* one at a time, from any thread; may be NULL */
    bool (*entered)(void *context, const char *folder);                      /* before a folder is listed; false: enough. May be NULL */
    void *context;
};
struct import_statistics {
    uint64_t outcomes[IMPORT_OUTCOMES];
    uint64_t files, folders; /* inspected */
    int64_t due_ns;          /* when the first of those that wait may be still; 0 = none */
    char next[48];           /* cursor of a dry run; "" at the end */
};

/* Works through `paths` (absolute and tidy; files, or folders with all below them), and waits until all is taken in. False when it was
 * cancelled, or paths make no sense; what could not be taken is told and noted, and stops nothing. */
bool import_paths(struct app *app, const char *const *paths, uint32_t n, const struct import_terms *terms,
                  const struct reel_progress *progress, struct import_statistics *out, struct reel_error *err);
/* Once more what failed. */
bool import_again(struct app *app, int64_t failure, const struct reel_progress *progress, struct reel_error *err);

/* The importing threads and their totals. */
struct imports;
struct imports *imports_open(struct app *app, unsigned threads, struct reel_error *err);
void imports_stop(struct imports *imports); /* what is being read is given up; then no thread runs any more. NULL is fine */
void imports_free(struct imports *imports);
struct imports_statistics {
    uint64_t outcomes[IMPORT_OUTCOMES], bytes_read, queued;
};
void imports_statistics(struct imports *imports, struct imports_statistics *out);

/* import_job.c: the same as a job that is begun again after a crash. `request` is kept as JSON. */
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
static inline void reel_auto_import_request_done(struct import_request *q) {
    import_request_done(q);
}
struct import_terms import_request_terms(const struct import_request *q);
/* Takes over the content of q; job: the id of the job. */
bool import_start(struct app *app, struct import_request *q, char job[33], struct reel_error *err);
bool import_resume(struct app *app, struct reel_error *err);

enum import_mode import_mode_named(const char *name, bool *known);
const char *import_mode_name(enum import_mode mode);
extern const char *const import_modes[]; /* NULL-terminated, in the order of the enum */

#endif
