/* See pending.h. */
#include "api/pending.h"

#include "api/job_reply.h"
#include "reel/time.h"
#include "scans/statistics.h"
#include "views/views.h"

enum { JOBS_MAX = 16 }; /* that one request starts */

bool pending_has_time(void *context, uint64_t done, uint64_t total) {
    const struct pending *p = context;
    (void)done, (void)total;
    return reel_now_ns() < p->hard_ns && !http_is_gone(p->r);
}

void pending_add(struct pending *p, const struct catalog_recording *row, const struct reel_error *why) {
    char id[JOB_ID_TEXT];
    struct reel_error err = {0};
    bool later = why->code == REEL_NOT_FOUND || why->code == REEL_CHANGED || why->code == REEL_CANCELLED ||
                 why->code == REEL_CONFLICT;
    bool job = later && p->jobs < JOBS_MAX && statistics_make_later(http_app(p->r), row, id, &err);
    p->jobs += job;
    json_array_append_new(p->items,
                          json_pack("{s:s, s:s, s:s, s:o, s:o}", "recording", row->id, "collection", row->collection,
                                    "name", row->name, "job", job ? api_view_job(p->r, id) : json_null(), "problem",
                                    later ? json_null() : view_text(why->text)));
}
