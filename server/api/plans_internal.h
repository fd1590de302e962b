/* A plan's request, copied, so that a job or a response can outlive the HTTP request. plans.c: one plan · parts.c: one for each part. */
#ifndef SERVER_API_PLANS_INTERNAL_H
#define SERVER_API_PLANS_INTERNAL_H

#include "api/plans.h"

struct making { /* a request with everything it points at */
    const struct reel_writer *writer;
    struct reel_write_options options;
    char *compression, *name;
    struct reel_recording **recordings;
    uint32_t n_recordings;
    struct reel_selection selection;
    struct reel_source_option *sources; /* NULL: none */
    char **topics, **exclude, **renames, **where, **compress_topics, **source_ids;
    uint32_t n_source_ids;
    uint32_t *channels;
};

struct making *plans_copy_request(const struct plan_request *q); /* NULL: no memory */
void plans_free_making(void *making);
REEL_DEFINE_AUTO(struct making, plans_free_making);

#endif
