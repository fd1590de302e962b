/* Every kind of background job, and when those come back that do so by themselves. */
#ifndef SERVER_JOB_KINDS_H
#define SERVER_JOB_KINDS_H

#include "work/jobs.h"

extern const struct job_kind job_kinds[];
extern const struct job_schedule job_schedule[];

#endif
