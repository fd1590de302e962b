/* Figures of background work, for /metrics: counted as jobs end. */
#ifndef SERVER_UPKEEP_FIGURES_H
#define SERVER_UPKEEP_FIGURES_H

#include <stdatomic.h>
#include <stdint.h>

#include "ingest/jobs.h"

enum { FIGURE_KINDS = 8, FIGURE_ENDS = 3 }; /* ends: done, failed, cancelled */
struct job_figures {
    _Atomic uint64_t ended[FIGURE_KINDS][FIGURE_ENDS], ms[FIGURE_KINDS];
};
extern const char *const job_figure_kinds[FIGURE_KINDS]; /* the last is "other" */
void job_figures_count(struct job_figures *f, const struct job_view *view);

#endif
