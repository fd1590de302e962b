/* A view converts the messages of a stream for another program, or adds messages for it. It is a stream that wraps
 * another one, and is chosen in the selection. */
#ifndef REEL_STREAM_VIEW_H
#define REEL_STREAM_VIEW_H

#include "stream/stream.h"

/* How a 3D panel shows a recording best. */
struct reel_view_camera {
    const char *frame;          /* coordinate frame that the camera follows */
    double distance, near_clip; /* in units of the frame */
};

struct reel_view {
    const char *name; /* of ?view= */
    const char *help; /* begins with a small letter and ends without a full stop */
    /* Takes ownership of `below`, also when it fails. Returns `below` itself if the view has nothing to add. Sets
     * view_version of the stream, a part of every ETag, from that of `below` and a number of its own.
     * `recordings` and `selection` are those that `below` was opened with; they are referenced or copied as needed. */
    struct reel_stream *(*open)(struct reel_stream *below, struct reel_recording *const *recordings,
                                uint32_t n_recordings, const struct reel_selection *selection, struct reel_error *err);
    /* The camera for recordings whose view has this channel; NULL: the channel does not determine it. */
    const struct reel_view_camera *(*camera)(const struct reel_channel *channel);
    const struct reel_view *raw; /* the same with all channels as they were recorded, also those that viewers cannot
                                    read; NULL: it leaves none out */
};

enum { VIEWS_HELP_ROOM = 512 };
/* "foxglove: what …; NAME: …" */
const char *views_help(char out[VIEWS_HELP_ROOM]);
/* As reel_view_named(), of which it returns the form with all channels if `raw`. */
const struct reel_view *view_named(const char *name, bool raw, struct reel_error *err);

/* The table of views, NULL-terminated (formats/views.c). */
extern const struct reel_view *const reel_views[];

#endif
