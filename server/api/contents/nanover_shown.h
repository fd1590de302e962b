/* What one client of NanoVer's protocol is shown: which recording, and what was sent of it. */
#ifndef SERVER_API_CONTENTS_NANOVER_SHOWN_H
#define SERVER_API_CONTENTS_NANOVER_SHOWN_H

#include <msgpack.h>

#include "api/contents/plays.h"
#include "app.h"
#include "http/http.h"
#include "reel/time.h"

/* The recording that is played. */
struct shown {
    struct catalog_recording row;
    struct reel_recording *recording;
    struct reel_play *play;
    struct play_entry *entry;
    struct reel_stream *stream;
    uint64_t held; /* bytes reserved for it */
    struct play_memory memory;
};

enum { NANOVER_LOOK_NS = 500000000 }; /* how often nanover_look() asks the catalog */

struct listed {
    char id[RECORDING_ID_TEXT];
    char *name;
};

struct nanover_socket {
    struct http_request *r;
    struct app *app;
    struct websocket *ws;
    struct reel_play_options options;
    int wake;            /* an eventfd: the controls have changed */
    bool single;         /* only one recording */
    struct listed *list; /* as it was sent last */
    size_t n_list, index;
    struct shown shown;
    int64_t looked_ns; /* when nanover_look() did */
    bool ended;        /* the stream, until it gets another position */
    bool any;          /* a message was sent since the client forgot everything … */
    bool last_state;   /* … the last one was the state at a position … */
    int64_t last_ns;   /* … and this was its time */
    int64_t frame_ns;  /* time of the last frame, INT64_MIN: none */
};

struct nanover_socket *nanover_socket_new(struct http_request *r, bool single); /* NULL: replied */
void nanover_socket_free(void *socket);                                         /* NULL is fine */
REEL_DEFINE_AUTO(struct nanover_socket, nanover_socket_free);

/* Plays `out->recording` from `start`, NULL: from its start. */
bool nanover_begin(struct nanover_socket *s, const struct reel_time *start, struct shown *out, struct reel_error *err);
/* Plays another recording of the list, from its start. */
bool nanover_load(struct nanover_socket *s, size_t index, struct reel_error *err);
/* Shows nothing any more when the recording of /nanover has left the collections of the caller, or the catalog. */
void nanover_look(struct nanover_socket *s);
/* While nothing is due for some time. */
void nanover_rest(struct nanover_socket *s);
bool nanover_read_list(struct nanover_socket *s, struct reel_error *err);

bool nanover_send_packed(struct nanover_socket *s, const msgpack_sbuffer *packed, struct reel_error *err);
/* The time of the frame before the one that the client has; INT64_MIN: there is none. */
bool nanover_frame_before(struct nanover_socket *s, int64_t *time_ns, struct reel_error *err);
/* Makes the client forget what it was sent. */
bool nanover_send_clear(struct nanover_socket *s, struct reel_error *err);
/* Sends the message that is due, if it is one of NanoVer. */
bool nanover_send_next(struct nanover_socket *s, struct reel_error *err);

#endif
