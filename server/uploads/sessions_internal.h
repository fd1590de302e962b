/* Shared by sessions.c, session_write.c (bytes), session_end.c and reconcile.c only. */
#ifndef SERVER_UPLOADS_SESSIONS_INTERNAL_H
#define SERVER_UPLOADS_SESSIONS_INTERNAL_H

#include <pthread.h>

#include "uploads/sessions.h"

struct session { /* a session that is in use or was used recently */
    struct session *next;
    char id[RECORDING_ID_TEXT];
    unsigned users;        /* guarded by sessions->mutex, as is `next` */
    uint64_t used;         /* when, counted in calls */
    pthread_mutex_t mutex; /* guards what follows */
    struct store_upload *file;
    struct session_writer *writer;
    int64_t active_ns;
    int64_t turn;  /* of the row that `file` goes with */
    uint64_t sure; /* the offset in that row */
    bool removed;
};

/* Its mutex is held until session_release(). */
struct session *session_acquire(struct sessions *all, const char *id, struct reel_error *err);
void session_release(struct sessions *all, struct session *s);
/* As in the catalog: the offset is the confirmed one. REEL_NOT_FOUND, also for another owner's (NULL: any). */
bool session_find_row(struct app *app, const char *owner, const char *id, struct catalog_upload *out,
                      struct reel_error *err);
/* Its mutex is held in these. */
bool session_open_file(struct app *app, struct session *s, const struct catalog_upload *row, struct reel_error *err);
void session_discard(struct app *app, struct session *s, const char *note); /* its row, which had this note, is gone
                                                                               already */
void session_close_file(struct session *s);                                 /* what the row says is left */

/* A server stopped after hashing: whether the recording was added. */
bool session_find_recording(struct app *app, struct catalog_upload *u, bool *found, struct reel_error *err);
/* Removes a session. `expired_ns` != 0: only if it expired before that and no request writes to it. */
bool session_sweep_one(struct app *app, const char *id, int64_t expired_ns, struct reel_error *err);
int64_t session_expires(const struct app *app); /* expiry of a session that was written to just now */

#endif
