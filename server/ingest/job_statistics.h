/* Statistics of background jobs for /metrics, counted when a job ends. The kinds are a fixed list; others count as "other". */
#ifndef SERVER_INGEST_JOB_STATISTICS_H
#define SERVER_INGEST_JOB_STATISTICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "ingest/jobs.h"

enum { JOB_STATISTICS_KINDS = 8, JOB_STATISTICS_ENDS = 3 }; /* ends: done, failed, cancelled */
struct job_statistics {
    _Atomic uint64_t ended[JOB_STATISTICS_KINDS][JOB_STATISTICS_ENDS], ms[JOB_STATISTICS_KINDS];
};
extern const char *const job_statistics_kinds[JOB_STATISTICS_KINDS]; /* the last is "other" */
void job_statistics_count(struct job_statistics *f, const struct job_view *view);

#endif
