/* Scans of stored content. Shared by recordings/ingest.c (new recordings), scan_job.c, open_recordings.c (packs that
 * are rebuilt) and sweep.c. */
#ifndef SERVER_SCANS_SCANNING_H
#define SERVER_SCANS_SCANNING_H

#include "app.h"
#include "reel/cleanup.h"
#include "work/locks.h"

/* The lock of a content is required to add or remove its files or recordings. */
#define CONTENT_LOCK "content"
#define ROW_LOCK                                                                                                       \
    "row" /* by recording id: while a row's content or state is read and then changed, as jobs do not hold the         \
             content's lock */

/* Several contents at once, always in the same order, to avoid deadlocks. */
struct content_locks {
    struct key_lock *items;
    uint32_t n;
};
/* Of each of r's parts, of its content, and of `also` (NULL: none). Copies them: r may change. */
bool content_locks_acquire(struct app *app, struct content_locks *locks, const struct catalog_recording *r,
                           const char *also, struct reel_error *err);
void content_locks_release(struct content_locks *locks);

/* Sets r's content: the SHA-256 of its only part; for several parts the SHA-256 of their hashes in hex, one per line.
 */
bool content_of_parts(struct catalog_recording *r, struct reel_error *err);

/* Scans r's parts into the pack of its content. format NULL = probe. */
bool scan_content(struct app *app, const struct catalog_recording *r, const struct reel_format *format,
                  const struct reel_progress *progress, struct reel_error *err);
/* The summary of r's parts, as the pack of their content until a scan replaces it. Must end before a scan begins.
 * REEL_UNSUPPORTED: the format needs a scan. */
bool scan_summary(struct app *app, const struct catalog_recording *r, const struct reel_format *format,
                  struct reel_error *err);
/* About the bytes that opening the pack of a content takes; 0: there is none. */
uint64_t scan_pack_memory(struct app *app, const char *content);
/* The pack of a content: REEL_NOT_FOUND, or REEL_CHANGED when outdated; a summary does not count. */
struct reel_index *scan_open_pack(struct app *app, const char *content, struct reel_error *err);
/* The same, also if another version of the format's reader made it: to list what is in a recording whose file is gone.
 */
struct reel_index *scan_open_known(struct app *app, const char *content, struct reel_error *err);
/* The pack of an announced recording, which nothing here can make again: the same after an upgrade. */
struct reel_index *scan_open_announced(struct app *app, const char *content, struct reel_error *err);
/* The same, but accepts a summary. */
struct reel_index *scan_open_summary(struct app *app, const char *content, struct reel_error *err);
/* Fills r from the index; state ready, or scanning when it is a summary. */
bool scan_fill(struct catalog_recording *r, const struct reel_index *index, struct reel_error *err);
/* Writes the end of a scan of `content` into the catalog and the manifest: ready, failed or missing; nothing when a
 * later scan may succeed, or when the recording has another content by now. */
bool scan_finish(struct app *app, const char *id, const char *content, bool scanned, struct reel_error *err);
/* Removes the content's files when no recording needs them. The lock is held. */
bool scan_drop_unused(struct app *app, const char *content, struct reel_error *err);
/* The same for jobs: tries to lock, and does nothing if another thread has the lock. */
void scan_tidy(struct app *app, const char *content);

/* store_upload_keep(), but received bytes replace a blob that is known to be corrupted. */
bool content_keep_upload(struct app *app, struct store_upload *upload, const char *sha256, struct reel_error *err);

/* Job "sweep": a check of every stored file and recording. Files without a recording (after a crash) are removed,
 * recordings without their file become missing. */
struct job_call;
bool sweep_run(struct app *app, const struct job_call *call, struct reel_error *err);
/* The sweep skips locked contents. Until it has ended, a thread that locks a content to add or remove recordings calls
 * this for it. */
void sweep_ahead(struct app *app, const char *content);
/* Records a clean stop, after all data was written. */
void sweep_record_stop(struct app *app);
int64_t sweep_last_stop(struct app *app); /* time of the last clean stop; 0: unknown */

#endif
