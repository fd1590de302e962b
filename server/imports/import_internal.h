/* Shared by the files of the import only. */
#ifndef SERVER_IMPORTS_IMPORT_INTERNAL_H
#define SERVER_IMPORTS_IMPORT_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "imports/folder_walk.h"
#include "imports/import.h"
#include "work/locks.h"

/* One import under way. The mutex guards all that is not set at its start. */
struct import_run {
    struct app *app;
    const struct import_options *options;
    const struct reel_progress *progress;
    const char *base; /* names of recordings are paths below it */
    bool named;       /* the files were named one by one */
    struct import_statistics *out;
    pthread_mutex_t mutex;
    pthread_cond_t over; /* a unit has ended */
    unsigned under_way;  /* units queued or being imported */
    uint64_t bytes_done, bytes_total;
    atomic_bool cancelled;
    uint64_t folder, item, from_folder, from_item, report; /* positions, for the pages of a dry run */
    bool full;                                             /* the page is */
};

/* The files of one recording that are to be imported. */
struct import_unit {
    struct import_run *run;
    struct key_lock *locks; /* one for each file, while it is under way */
    char *folder, *name;    /* name of the recording */
    struct folder_file *files;
    uint32_t n;
    const struct reel_format *format; /* NULL: none that is known */
    uint64_t size;
    struct store_object *object; /* in S3, instead of a file; NULL: none */
    bool named;                  /* the object itself was asked for */
    bool by_folder;              /* it has the name of its folder */
};
struct import_unit *import_unit_new(const char *folder, const char *name, uint32_t n);
void import_unit_free(struct import_unit *unit);
bool import_unit_add(struct import_unit *unit, const struct folder_file *file);

/* import.c */
void run_begin(struct import_run *run);
void run_end(struct import_run *run);
bool run_goes_on(struct import_run *run); /* also polls its progress */
/* The same on the thread that walks, whose job may be cancelled alone. False: REEL_CANCELLED. */
bool run_check(struct import_run *run, struct reel_error *err);
void run_report(struct import_run *run, const struct import_report *report);
/* A worker imports it; waits while too many are under way. Takes the unit. False: REEL_CANCELLED, or no memory. */
bool run_push(struct import_run *run, struct import_unit *unit, struct reel_error *err);
void run_wait(struct import_run *run); /* until all its units are over */
#define IMPORT_LOCK "here-import"      /* by path: files under import */
bool import_is_under_way(struct app *app, const char *folder, const char *name);

/* unit.c */
void import_unit_import(struct import_unit *unit);
int64_t import_wait_ns(const struct import_unit *unit); /* how long its scan is waited for */
/* Records and reports what ingesting its files has come to. */
void import_unit_end(struct import_unit *unit, const struct ingest_file *files, const char (*fingerprints)[65],
                     struct ingest_result *result, const struct reel_error *why);
void import_pass_over(struct import_unit *unit, const char fingerprint[65]); /* it is no recording */
/* Not imported: reported and recorded with the reason. */
void import_fail(struct import_unit *unit, const struct reel_error *why);

/* folder.c: decides about these files of a folder. */
bool import_inspect(struct import_run *run, const char *folder, int fd, struct folder_file *files, uint32_t n,
                    bool whole, struct reel_error *err);

/* bucket.c */
void import_object(struct import_unit *unit);
bool run_objects(struct import_run *run, const char *url, struct reel_error *err);
bool run_object_again(struct import_run *run, const struct catalog_failure *f, const char *name,
                      struct reel_error *err);

/* walk.c: for callers that use a run for many walks; its units may still be under way when a walk returns. */
bool run_folder(struct import_run *run, const char *folder, struct reel_error *err); /* the files in it, none below */
bool run_tree(struct import_run *run, const char *folder, struct reel_error *err);

#endif
