/* Shared by sessions.c (bytes), session_end.c and reconcile.c only. */
#ifndef SERVER_INGEST_SESSIONS_INTERNAL_H
#define SERVER_INGEST_SESSIONS_INTERNAL_H

#include <pthread.h>

#include "ingest/sessions.h"

struct live { /* a session that is in use or was used recently */
    struct live *next;
    char id[RECORDING_ID_TEXT];
    unsigned users;        /* guarded by sessions->mutex, as is `next` */
    uint64_t used;         /* when, counted in calls */
    pthread_mutex_t mutex; /* guards what follows */
    struct store_upload *file;
    struct session_writer *writer;
    int64_t active_ns;
    bool removed;
};

struct live *live_acquire(struct sessions *all, const char *id, struct reel_error *err); /* for live_release() */
void live_release(struct sessions *all, struct live *l);
/* Its mutex is held in these. */
bool live_open(struct app *app, struct live *l, struct reel_error *err);
void live_remove(struct app *app, struct live *l); /* its row is gone already */

/* Removes a session. `expired_ns` != 0: only if it expired before that and no request writes to it. */
bool session_sweep_one(struct app *app, const char *id, int64_t expired_ns, struct reel_error *err);
int64_t session_expires(const struct app *app); /* expiry of a session that was written to just now */

#endif
