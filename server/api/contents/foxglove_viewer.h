/* What one viewer of the Foxglove protocol is sent: channels, and the messages of those that it has subscribed to. */
#ifndef SERVER_API_CONTENTS_FOXGLOVE_VIEWER_H
#define SERVER_API_CONTENTS_FOXGLOVE_VIEWER_H

#include <jansson.h>
#include <sys/eventfd.h>

#include "api/contents/plays.h"
#include "api/recording.h"
#include "api/selection.h"
#include "base/arena.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "http/websocket.h"
#include "stream/stream.h"

struct offered { /* by the id of the channel for the viewer */
    uint32_t subscription;
    bool subscribed;
};

struct foxglove_socket {
    struct http_request *r;
    struct app *app;
    struct websocket *ws;
    struct api_recording a;
    struct api_selection q;
    bool follows, controls; /* controls: the protocol has them */
    int wake;               /* an eventfd: the controls have changed */
    struct reel_play *play;
    struct play_entry *entry;
    struct play_memory memory;
    struct reel_stream *stream; /* that is played; of a live recording, what was new when it was opened, or NULL */
    /* Channels keep their ids from stream to stream. */
    struct hash_table ids;    /* of keys in `keys` → id + 1 */
    struct arena keys;        /* topic, type and encoding */
    struct offered *channels; /* by id */
    size_t n_channels, room;
    uint32_t *id_of;                 /* + 1, by position in the stream; 0: not known yet */
    struct hash_table subscription;  /* number → id of its channel + 1 */
    bool latest;                     /* what was subscribed to has not had its last messages yet */
    bool ended;                      /* the stream, until it gets another position */
    bool any, last_state, announced; /* announced: the client knows of the new position */
    eventfd_t own_changes;           /* of the controls, by this viewer, since `wake` was read */
    int64_t last_ns, clock_ns;       /* time of the last message; when the time was sent */
    struct reel_since since;         /* of a live recording: what was sent of it */
    uint64_t messages;
    struct grow out;
};

void foxglove_socket_free(void *socket); /* NULL is fine */
REEL_DEFINE_AUTO(struct foxglove_socket, foxglove_socket_free);

bool foxglove_send_json(struct foxglove_socket *s, json_t *value, struct reel_error *err); /* takes the reference */
/* The state of the playback, where the protocol has it. `request`: the id of the one that this answers; empty: none. */
bool foxglove_send_state(struct foxglove_socket *s, bool seeked, struct reel_bytes request, struct reel_error *err);
/* Offers the channels of s->stream. */
bool foxglove_offer_all(struct foxglove_socket *s, struct reel_error *err);
/* Sends the next message of the stream. */
bool foxglove_send_next(struct foxglove_socket *s, struct reel_error *err);

#endif
