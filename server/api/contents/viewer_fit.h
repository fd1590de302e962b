#ifndef SERVER_API_CONTENTS_VIEWER_FIT_H
#define SERVER_API_CONTENTS_VIEWER_FIT_H

#include "convert/writer.h"
#include "stream/view.h"

struct viewer_fit { /* of what is drawn first, in the units of its frame */
    bool found;
    double centre[3], radius;
};
bool viewer_fit(struct reel_recording *recording, const struct reel_view *view, struct viewer_fit *out,
                struct reel_error *err);

#endif
