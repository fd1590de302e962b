/* Messages of the protocol of Foxglove and compatible viewers, by WebSocket. All numbers are little-endian. */
#ifndef SERVER_API_CONTENTS_FOXGLOVE_MESSAGE_H
#define SERVER_API_CONTENTS_FOXGLOVE_MESSAGE_H

#include <jansson.h>

#include "base/grow.h"
#include "reel/model.h"
#include "reel/play.h"

/* ---- to the client; JSON is a new reference, NULL: no memory */
struct foxglove_server {
    const char *name, *session;
    bool plays; /* with playbackControl, from start to end */
    int64_t start_ns, end_ns;
};
json_t *foxglove_server_info(const struct foxglove_server *server);
json_t *foxglove_advertise(uint32_t id, const struct reel_channel *channel);
json_t *foxglove_status(int level, const char *message); /* 0: information, 1: warning, 2: error */

void foxglove_put_message(struct grow *out, uint32_t subscription, int64_t time_ns, struct reel_bytes payload);
void foxglove_put_time(struct grow *out, int64_t time_ns);
/* `request`: the id of the one that this answers; empty: none. */
void foxglove_put_state(struct grow *out, const struct reel_play_state *state, bool ended, bool seeked,
                        struct reel_bytes request);

/* ---- from the client */
struct foxglove_control {
    bool paused, seeks;
    float speed;
    int64_t position_ns;
    struct reel_bytes request;
};
/* False: another message. */
bool foxglove_read_control(struct reel_bytes message, struct foxglove_control *out);

#endif
