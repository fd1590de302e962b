/* See job_statistics.h. */
#include "ingest/job_statistics.h"

#include <string.h>

const char *const job_statistics_kinds[JOB_STATISTICS_KINDS] = {"scan", "plan", "import", "manifests", "sweep", "scrub", "backup", "other"};

void job_statistics_count(struct job_statistics *f, const struct job_view *view) {
    unsigned kind = 0, end = view->state == JOB_DONE ? 0 : view->state == JOB_FAILED ? 1 : 2;
    while (kind + 1 < JOB_STATISTICS_KINDS && strcmp(job_statistics_kinds[kind], view->kind) != 0) {
        kind++;
    }
    int64_t ns = view->ended_ns - view->created_ns;
    atomic_fetch_add_explicit(&f->ended[kind][end], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&f->ms[kind], (uint64_t)(ns > 0 ? ns / 1000000 : 0), memory_order_relaxed);
}
