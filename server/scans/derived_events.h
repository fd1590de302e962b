/* Events that follow from a recording: in CARLA logs collisions, actors added and removed, blocked vehicles, traffic
 * lights that changed (formats/carla/report_moments.c). They are found by one pass over the recording and kept in a
 * file beside its statistics, so that a question about many recordings reads none of them. */
#ifndef SERVER_SCANS_DERIVED_EVENTS_H
#define SERVER_SCANS_DERIVED_EVENTS_H

#include "app.h"
#include "base/arena.h"
#include "catalog/catalog.h"
#include "read/reader.h"

enum { DERIVED_EVENTS_VERSION = 1 }; /* of the file and of what is found */

struct derived_event {
    int64_t start_ns, end_ns;
    const char *title, *kind;
    const char *tags; /* a JSON object of texts, `kind` among them */
};
struct derived_events {          /* zeroed = empty */
    struct derived_event *items; /* by start */
    size_t n, room;
    struct arena arena; /* of the texts */
};
void derived_events_done(struct derived_events *events);

/* Whether a recording may have any, by its format. */
bool derived_events_possible(const struct catalog_recording *r);
/* REEL_NOT_FOUND, REEL_CHANGED: they have to be made. REEL_LIMIT: there are too many of them. */
bool derived_events_open(struct app *app, const char *content, struct derived_events *out, struct reel_error *err);
/* Reads the recording, and keeps what it finds if there is room; `content` "": it is not kept. */
bool derived_events_make(struct app *app, const char *content, struct reel_recording *recording,
                         const struct reel_progress *progress, struct derived_events *out, struct reel_error *err);

#endif
