/* A backup while the server runs: a folder that is itself an archive. catalog.db is a copy at one instant; blobs.txt
 * lists every stored file it needs, in the format of `sha256sum -c`; with blobs those files are there too, with their
 * indexes and manifests; backup.json, written last, marks the backup as complete. To restore: `reel serve --data` on
 * the folder or a copy of it, with the blobs put back if they were kept elsewhere. */
#ifndef SERVER_MAINTENANCE_BACKUP_H
#define SERVER_MAINTENANCE_BACKUP_H

#include <jansson.h>

#include "app.h"
#include "maintenance/backup_files.h"
#include "work/jobs.h"

extern const char *const backup_blobs_names[]; /* "none", "link", "copy", NULL */

/* `folder` is created when missing; it must be empty, or hold an earlier backup, which is replaced. *manifest: the
 * content of backup.json, a new reference. `app` needs store and catalog only. */
bool backup_run(struct app *app, const char *folder, enum backup_blobs blobs, const struct reel_progress *progress,
                json_t **manifest, struct reel_error *err);

/* As a job, into a folder of its own below the one that is configured. REEL_UNSUPPORTED: none is configured;
 * REEL_CONFLICT: another backup is running. */
bool backup_start(struct app *app, enum backup_blobs blobs, char id[JOB_ID_TEXT], struct reel_error *err);
bool backup_job_run(struct app *app, const struct job_call *call, struct reel_error *err);

#endif
