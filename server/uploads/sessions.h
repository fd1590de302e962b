/* Upload sessions: files received over several requests, with any interruption. The row (catalog/uploads.h) has the
 * upload options and the offset, the bytes are in incoming/. Bytes that were acknowledged have at least reached the
 * system, so a killed server loses none of them; after a power failure the offset is what an fsync confirmed. One
 * request at a time writes to a session. */
#ifndef SERVER_UPLOADS_SESSIONS_H
#define SERVER_UPLOADS_SESSIONS_H

#include "catalog/uploads.h"
#include "recordings/ingest.h"

struct sessions;
struct session_writer;

enum {
    SESSIONS_MAX = 10000,        /* including complete ones that have not expired yet */
    SESSIONS_OF_ONE_MAX = 1000,  /* unfinished ones of a principal */
    SESSION_PARTS_MAX = 64,      /* of one final upload */
    SESSION_METADATA_MAX = 8192, /* Upload-Metadata, Upload-Concat */
};

/* Reconciles rows and files after the last stop or crash. */
struct sessions *sessions_open(struct app *app, struct reel_error *err);
void sessions_close(struct sessions *sessions);

/* The job "expiry": removes sessions, first responses and derived files that are kept no longer. */
struct job_call;
bool sessions_run(struct app *app, const struct job_call *call, struct reel_error *err);
int64_t sessions_every_ns(struct app *app); /* how often */

bool sessions_reconcile(struct app *app, struct reel_error *err); /* only reconciles (reconcile.c) */

struct session_request {
    const char *owner, *key;  /* key: Idempotency-Key, "" = none */
    char request[SHA256_HEX]; /* SHA-256 of the request, to recognize another request with the same key */
    const char *options, *metadata, *concat; /* as stored in the row */
    bool draft;
    int64_t length; /* -1 = not known yet */
};
/* Creates a session, or returns the one created with this key before (*again). REEL_CONFLICT: the key was used for
 * another request. */
bool session_create(struct app *app, const struct session_request *q, struct catalog_upload *out, bool *again,
                    struct reel_error *err);

/* The current state; offset: bytes received. REEL_NOT_FOUND, also for another owner's (NULL: any). */
bool session_get(struct app *app, const char *owner, const char *id, struct catalog_upload *out,
                 struct reel_error *err);
bool session_remove(struct app *app, const char *owner, const char *id, struct reel_error *err); /* requests writing to
                                                                                                    it fail */

enum session_answer {
    SESSION_OK,
    SESSION_BUSY,   /* another request is writing to it */
    SESSION_OFFSET, /* wrong offset; now->offset is the right one */
    SESSION_ENDED,  /* it is complete */
    SESSION_FAILED, /* see err */
};
struct session_piece {
    uint64_t offset; /* of the first byte */
    int64_t length;  /* of the whole, announced by this request; -1 = not announced. REEL_CONFLICT when it was announced
                        differently before */
    bool checked;    /* they are verified by a checksum at the end: session_drop() may follow */
};
enum session_answer session_begin(struct app *app, const char *owner, const char *id, const struct session_piece *piece,
                                  struct session_writer **out, struct catalog_upload *now, struct reel_error *err);
bool session_write(struct session_writer *w, const void *data, size_t size, struct reel_error *err);
void session_drop(struct session_writer *w); /* discards what this request has written */
/* Ends the request: confirms the bytes received. *now: the state of the session. Frees the writer, also on failure;
 * NULL is fine. */
bool session_end(struct session_writer *w, struct catalog_upload *now, struct reel_error *err);

/* Call when all bytes were received: makes a recording of them; with concat "partial" they wait for their final upload.
 * If the content is rejected, the session and its bytes are removed. After a temporary error, or if another request
 * continues the upload (REEL_CONFLICT), the session stays (out->again), and the client retries
 * (session_acknowledged_offset()). */
struct session_result {
    struct ingest_result ingest;
    bool partial, again;
    char sha256[SHA256_HEX];
};
void session_finish(struct app *app, const struct catalog_upload *u, int64_t wait_ns, struct session_result *out,
                    struct reel_error *err);
static inline void session_result_done(struct session_result *r) {
    ingest_result_done(&r->ingest);
}

/* Copies the bytes of partial sessions that are complete into the new session `u`, in this order; they are removed by
 * session_finish() of `u`. */
bool session_concatenate(struct app *app, const struct catalog_upload *u, const char (*parts)[RECORDING_ID_TEXT],
                         uint32_t n, struct catalog_upload *now, struct reel_error *err);

/* Is it complete by its length? */
static inline bool session_is_full(const struct catalog_upload *u) {
    return u->length >= 0 && u->offset == (uint64_t)u->length;
}
/* The offset reported to clients. tus clients regard an upload as done once the offset equals the length, so until the
 * recording exists the reported offset is one byte less; sending that byte again makes the recording. */
uint64_t session_acknowledged_offset(const struct catalog_upload *u);

#endif
