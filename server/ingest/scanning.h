/* Scans of stored content, and the lock of a content. Shared by ingest.c (new recordings), recordings.c (packs that are rebuilt) and
 * sweep.c. */
#ifndef SERVER_SCANNING_H
#define SERVER_SCANNING_H

#include "app.h"
#include "ingest/jobs.h"
#include "reel/cleanup.h"

/* Whoever adds or removes files or recordings of a content holds its lock; it lies on his stack. Others of the same content wait. A job
 * never waits: who holds the lock may be waiting for that job, or for one behind it. */
struct content_lock {
    char content[SHA256_HEX];
    struct content_lock *next;
};
void content_lock_acquire(struct content_lock *lock, const char *content);
bool content_lock_try(struct content_lock *lock, const char *content); /* false: somebody has it, and will clean up himself */
void content_lock_release(struct content_lock *lock);                  /* also one that was never taken (zeroed) */
#define AUTO_CONTENT __attribute__((cleanup(content_lock_release)))

/* Several at once, always in the same order, so that no two threads wait for each other. */
struct content_locks {
    struct content_lock *items;
    uint32_t n;
};
/* Of each of r's parts, of its content, and of `also` (NULL: none). Copies them: r may change. */
bool content_locks_acquire(struct content_locks *locks, const struct catalog_recording *r, const char *also, struct reel_error *err);
void content_locks_release(struct content_locks *locks);
#define AUTO_CONTENTS __attribute__((cleanup(content_locks_release)))

/* Sets r's content by its parts: the SHA-256 of the only one, of several that of their hashes in hex, a line each. */
bool content_of_parts(struct catalog_recording *r, struct reel_error *err);

/* Scans r's parts into the pack of its content. format NULL = probe. */
bool scan_content(struct app *app, const struct catalog_recording *r, const struct reel_format *format,
                  const struct reel_progress *progress, struct reel_error *err);
/* The summary of r's parts, as the pack of their content until a scan replaces it. Must end before a scan begins. REEL_UNSUPPORTED: the
 * format needs a scan. */
bool scan_summary(struct app *app, const struct catalog_recording *r, const struct reel_format *format, struct reel_error *err);
/* The pack of a content: REEL_NOT_FOUND, or REEL_CHANGED when it must be made again; a summary counts as not there. */
struct reel_index *scan_open_pack(struct app *app, const char *content, struct reel_error *err);
/* The same, where a summary will do. */
struct reel_index *scan_open_summary(struct app *app, const char *content, struct reel_error *err);
/* Puts what the index knows into r; state ready, or scanning when it is a summary. */
bool scan_fill(struct catalog_recording *r, const struct reel_index *index, struct reel_error *err);
/* Writes the end of a scan of `content` into the catalog and the manifest: ready, failed or missing, or nothing when it may go better
 * another time, or when the recording is another content by now. */
bool scan_finish(struct app *app, const char *id, const char *content, bool scanned, struct reel_error *err);
/* Around what changes the content or the state of a row after looking at it: jobs hold no content's lock. */
void scan_hold_rows(void);
void scan_release_rows(void);
/* A missing file of a recording of several parts is back: queues a scan, `job` gets its id. */
bool scan_restored(struct app *app, const struct catalog_recording *r, char job[33], struct reel_error *err);
/* Queues a scan of a recording that the catalog has. */
struct job *scan_again(struct app *app, const struct catalog_recording *r, struct reel_error *err);
/* Removes the content's files when no recording needs them. The lock is held. */
bool scan_drop_unused(struct app *app, const char *content, struct reel_error *err);
/* The same for jobs: takes the lock itself, does nothing when somebody has it. */
void scan_tidy(struct app *app, const char *content);

/* store_upload_keep(), but received bytes replace a blob that is known to be corrupted. */
bool content_keep_upload(struct app *app, struct store_upload *upload, const char *sha256, struct reel_error *err);

/* Queues a check of every stored file and recording: files without a recording (after a crash) are removed, recordings without their file
 * become missing. */
bool sweep_start(struct app *app, struct reel_error *err);
/* That look passes over contents whose lock somebody has: before it is done, who takes a lock and adds or removes recordings does its part.
 */
void sweep_ahead(struct app *app, const char *content);
/* Records that the server has stopped cleanly, after all it had to write. */
void sweep_record_stop(struct app *app);
int64_t sweep_last_stop(struct app *app); /* when the server before this one did; 0: unknown */

#endif
