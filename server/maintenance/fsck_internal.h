/* Shared by the files of fsck only. */
#ifndef SERVER_MAINTENANCE_FSCK_INTERNAL_H
#define SERVER_MAINTENANCE_FSCK_INTERNAL_H

#include "maintenance/fsck.h"

struct fsck {
    const struct fsck_options *options;
    struct fsck_report *report;
    struct app app; /* store and catalog of it */
    bool repair;
    bool fresh;    /* the catalog was not there, and is new */
    bool made_new; /* it is, or was rebuilt, by this run */
    bool wrote;    /* the catalog has to be repaired at the end */
    int64_t began_ns;
    struct reel_error error; /* why it cannot go on */
};

/* Reports a finding; `repaired` as in fsck.h. */
__attribute__((format(printf, 5, 6))) void fsck_found(struct fsck *f, enum fsck_kind kind, const char *subject,
                                                      const char *repaired, const char *format, ...);
bool fsck_step(struct fsck *f, uint64_t done); /* false: cancelled */

bool fsck_rows(struct fsck *f, struct reel_error *err);  /* fsck_rows.c: each recording against its files */
bool fsck_files(struct fsck *f, struct reel_error *err); /* fsck_files.c: each file against the catalog */
/* fsck_bucket.c: with a bucket, what uploads have put there */
bool fsck_bucket(struct fsck *f, struct reel_error *err);

#endif
