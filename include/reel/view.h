/* A view converts the messages of a stream for another program, or adds messages for it. It is a stream that wraps
 * another one, and is chosen in the selection. */
#ifndef REEL_VIEW_H
#define REEL_VIEW_H

#include "reel/iterate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a 3D panel shows a recording best. */
struct reel_view_camera {
    const char *frame;          /* coordinate frame that the camera follows */
    double distance, near_clip; /* in units of the frame */
};

struct reel_view {
    const char *name; /* of ?view= */
    const char *help;
    unsigned version; /* part of every ETag, as view_version of the stream: raise it when any output byte changes */
    /* Takes ownership of `below`, also when it fails. Returns `below` itself if the view has nothing to add.
     * `recordings` and `selection` are those that `below` was opened with; they are referenced or copied as needed. */
    struct reel_stream *(*open)(struct reel_stream *below, struct reel_recording *const *recordings,
                                uint32_t n_recordings, const struct reel_selection *selection, struct reel_error *err);
    /* The camera for recordings whose view has this channel; NULL: the channel does not determine it. */
    const struct reel_view_camera *(*camera)(const struct reel_channel *channel);
    const struct reel_view
        *raw; /* the same with all channels as they were recorded, also those that viewers cannot read */
};

/* The table of views, NULL-terminated (formats/views.c). */
extern const struct reel_view *const reel_views[];
const struct reel_view *reel_view_named(const char *name, struct reel_error *err); /* REEL_ARGUMENT with the list */

/* A CARLA recording seen from one actor: the positions of all actors (the channels of type carla/Position) are in the
 * actor's frame, which moves with it; positions from before its creation or after its end are left out. Other messages
 * are as recorded. Axes and units are CARLA's. Takes ownership of `below`, also when it fails. */
struct reel_stream *reel_carla_follow(struct reel_stream *below, uint32_t actor, struct reel_error *err);
/* REEL_NOT_FOUND: the recording never creates this actor. REEL_UNSUPPORTED: it is no CARLA recording. */
bool reel_carla_has_actor(struct reel_recording *recording, uint32_t actor, struct reel_error *err);

#ifdef __cplusplus
}
#endif

#endif
