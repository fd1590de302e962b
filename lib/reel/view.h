/* A view shows a stream's messages as others want to see them: it wraps the stream and is one. Who opens a stream for a target names it in
 * the selection. */
#ifndef REEL_VIEW_H
#define REEL_VIEW_H

#include "reel/iterate.h"

#ifdef __cplusplus
extern "C" {
#endif

struct reel_view {
    const char *name; /* of ?view= */
    const char *help;
    unsigned version; /* part of every ETag, by the stream's view_version: raise it when one byte changes */
    /* Takes `below` over, also when it fails, and gives it back as it is when there is nothing to show. `recordings` and `selection` are
     * those it was opened with; referenced and copied as far as they are needed. */
    struct reel_stream *(*open)(struct reel_stream *below, struct reel_recording *const *recordings, uint32_t n_recordings,
                                const struct reel_selection *selection, struct reel_error *err);
};

/* The table of views, NULL-terminated (views/views.c). */
extern const struct reel_view *const reel_views[];
const struct reel_view *reel_view_named(const char *name, struct reel_error *err); /* REEL_ARGUMENT with the list */

#ifdef __cplusplus
}
#endif

#endif
