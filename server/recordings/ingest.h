/* Turns a finished upload or a local file into a recording in the catalog: deduplication, name, scan, index pack,
 * manifest, rows. All recordings are added here. */
#ifndef SERVER_RECORDINGS_INGEST_H
#define SERVER_RECORDINGS_INGEST_H

#include "app.h"
#include "work/jobs.h"

struct ingest_request {
    const char *collection, *name; /* its name in the catalog; some formats are recognized by it */
    const char *file_name;         /* of the file in the recording; NULL: the last part of `name` */
    const char *format;            /* NULL = probe */
    const char *part_of; /* the recording in this collection that the file is a part of; NULL: it is a recording of its
                            own */
    const struct catalog_annotations *annotations; /* annotations it starts with, in addition to those of the previous
                                                      revision; validated. NULL: none */
    const char *group;                             /* of the recording; NULL: none */
    const char *owner; /* of the upload: the scans of several owners are done in turn; NULL: none */
    /* other content under a taken name becomes a new revision; keep what cannot be read as failed */
    bool replace, keep;
    bool absent; /* no recording may have the name, not even one of the same content: else REEL_CHANGED */
};

enum ingest_outcome {
    INGEST_CREATED,  /* 201 */
    INGEST_EXISTS,   /* 200: the same content under the same name */
    INGEST_JOINED,   /* 200: the file is a part of that recording now */
    INGEST_SCANNING, /* 202: continues as result.job */
    INGEST_REFUSED, /* see err: REEL_CONFLICT 409, REEL_NOT_MINE 415, REEL_DAMAGED 422, REEL_NO_SPACE 507 … nothing was
                       kept */
    INGEST_KEPT,    /* 422, but the recording was added as failed (keep) */
};
struct ingest_result {
    enum ingest_outcome outcome;
    struct catalog_recording recording; /* set unless refused */
    char job[33];                       /* when scanning, or while a server is recorded; else "" */
};

/* Of the only file of a recording, or of a part. */
const char *ingest_file_name(const struct ingest_request *q);

/* Cheap checks before a body is received: name valid (and free, if it must be), room for `length` bytes (0 = unknown).
 */
bool ingest_check(struct app *app, const struct ingest_request *q, uint64_t length, struct reel_error *err);

/* `upload` is finished (store_upload_finish); this keeps or drops it. Waits for the scan at most wait_ns, then
 * INGEST_SCANNING. */
void ingest_upload(struct app *app, struct store_upload *upload, const char sha256[65], uint64_t size,
                   const struct ingest_request *q, int64_t wait_ns, struct ingest_result *out, struct reel_error *err);

/* The same of finished uploads that are the parts of one recording, in this order: one scan, and all of them are added
 * or none. Not with part_of. */
struct store_reference;
struct store_object;
struct ingest_file {
    struct store_upload *upload;
    const struct store_reference *reference; /* instead of an upload: it stays where it is */
    const struct store_object *object;       /* the same of an object in S3 */
    char sha256[65];
    uint64_t size;
    const char *name; /* of the file */
};
void ingest_uploads(struct app *app, const struct ingest_file *files, uint32_t n, const struct ingest_request *q,
                    int64_t wait_ns, struct ingest_result *out, struct reel_error *err);

/* ingest_upload() with part_of; only called by it (parts.c). */
void ingest_part(struct app *app, struct store_upload *upload, const char *sha256, uint64_t size,
                 const struct ingest_request *q, int64_t wait_ns, struct ingest_result *out, struct reel_error *err);
/* Returns bytes that became no recording to their session. False: they could not be moved; a blob alone has them, and
 * the session takes them back when it is asked for next. The content's lock is held. */
bool ingest_undo(struct app *app, struct store_upload *upload, const char *sha256);

void ingest_result_done(struct ingest_result *r);

/* At start: jobs for recordings in state scanning, and for the sweep. Packs that are missing or of an older version are
 * made again when first used (scans/open_recordings.h). */
bool ingest_resume(struct app *app, struct reel_error *err);

/* Trash is a state; purge deletes rows, then unused blobs, packs and manifests. */
bool ingest_purge(struct app *app, const char *id, struct reel_error *err);
bool ingest_purge_at(struct app *app, const char *id, int64_t version, struct reel_error *err); /* if it is still that
                                                                                                   one:
                                                                                                   catalog_purge_at() */

#endif
