/* Live recordings: rows arrive over HTTP, and the recording can be read while it grows. Each is an MCAP file
 * live/<id>.mcap in the data folder with an index that grows with it; in the catalog it has the state `recording`. When
 * it is finished the file becomes a blob, its index the pack, and the recording is like any other.
 *
 * Threads: every function may be called from any thread. */
#ifndef SERVER_LIVE_LIVE_H
#define SERVER_LIVE_LIVE_H

#include "app.h"
#include "formats/rows/append.h"
#include "read/reader.h"
#include "work/jobs.h"

enum {
    LIVE_MAX = 256,    /* recordings that grow at a time on one server; after a restart there may be more */
    LIVE_OWN_MAX = 64, /* … that one owner has created */
    LIVE_OWNER_TEXT = 160,
    LIVE_BODY_MAX = 16 << 20
};

struct live *live_new(struct app *app, struct reel_error *err);
/* Those that the catalog has are opened again, by jobs; a thread syncs what was appended with durable=false, keeps the
 * catalog's row up to date and finishes what has been silent for --live-expiry. */
bool live_start(struct live *live, struct reel_error *err);
void live_wake(struct live *live); /* before the end: nobody waits any more; NULL is fine */
void live_stop(struct live *live);
void live_free(struct live *live); /* NULL is fine */

struct live_request {
    const char *collection, *name;
    const char *owner;                             /* who creates it: http_principal() */
    const char *group;                             /* NULL: none */
    const struct catalog_annotations *annotations; /* NULL: none */
    bool replace;                                  /* a name that is taken gets a new revision */
};
/* `out` is the new row. REEL_CONFLICT: the name is taken; REEL_LIMIT: LIVE_OWN_MAX of the owner grow already;
 * REEL_BUSY: LIVE_MAX do. */
bool live_create(struct live *live, const struct live_request *q, struct catalog_recording *out,
                 struct reel_error *err);

enum live_media {
    LIVE_JSON,
    LIVE_MSGPACK,
    LIVE_MCAP,
    LIVE_NANOVER, /* one message of a NanoVer server; another one is not appended */
};
struct live_batch {
    enum live_media media;
    struct reel_bytes body;
    const char *key;          /* hex digits of http_key(); "": none */
    char request[SHA256_HEX]; /* what the key stands for */
    bool durable;             /* wait until it is on the disk */
    int64_t log_ns;           /* of messages without a time; 0: that of their arrival */
};
struct live_appended {
    uint64_t messages;
    int64_t last_ns; /* time of the last message; 0: none */
    bool repeated;   /* it was appended before, with this key */
    bool other;      /* REEL_CONFLICT: another batch was appended with this key */
};
/* A batch is appended whole or not at all. REEL_CONFLICT: the recording is finished, or a topic has another type;
 * REEL_BUSY: it is being opened after a restart. */
bool live_append(struct live *live, const struct catalog_recording *r, const struct live_batch *batch,
                 struct live_appended *out, struct reel_error *err);

/* ---- source.c: what the server records of a running NanoVer server */

/* Whether the server may connect to it (--record-from). REEL_ARGUMENT with the reason. */
bool live_source_check(struct app *app, const char *url, struct reel_error *err);
/* Connects and hangs up. REEL_IO: nothing answers there, or no WebSocket; REEL_BUSY: JOBS_SOURCES_MAX are recorded. */
bool live_source_try(struct app *app, const char *url, struct reel_error *err);
/* Job "record" of the recording: appends what is received until the other server ends the connection, then finishes
 * it. */
bool live_source_add(struct live *live, const struct catalog_recording *r, const char *url, char job[JOB_ID_TEXT],
                     struct reel_error *err);
bool live_source_run(struct app *app, const struct job_call *call, struct reel_error *err);

/* Job "finish" of the recording (jobs_add() gives the one that runs). */
bool live_finish(struct live *live, const struct catalog_recording *r, char job[JOB_ID_TEXT], struct reel_error *err);
bool live_finish_run(struct app *app, const struct job_call *call, struct reel_error *err);
bool live_open_run(struct app *app, const struct job_call *call, struct reel_error *err); /* job "live" */
/* Job "unattended": recordings of servers that are gone are missing, until that server comes back with the file. */
bool live_unattended_run(struct app *app, const struct job_call *call, struct reel_error *err);

/* The recording as it is now; a reference for the caller. */
struct reel_recording *live_get(struct live *live, const struct catalog_recording *r, struct reel_error *err);
/* Sets what the row knows only from time to time: size, times, messages; and a content that is another one after each
 * change. */
void live_fill(struct live *live, struct catalog_recording *r);
/* Waits until the recording has more than `messages`, at most timeout_ns. *more; *growing: it is not finished. */
void live_wait(struct live *live, const char *id, uint64_t messages, int64_t timeout_ns, bool *more, bool *growing);
/* Its files go: it is purged. */
void live_drop(struct live *live, const char *id);

#endif
