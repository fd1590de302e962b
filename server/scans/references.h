/* Recordings whose files are referenced, not copied: whether the files are still there and unchanged. The states of
 * recordings are updated when files disappear, change, or return. */
#ifndef SERVER_SCANS_REFERENCES_H
#define SERVER_SCANS_REFERENCES_H

#include "app.h"
#include "index/scan.h"

bool references_has(struct app *app, const struct catalog_recording *r); /* some part of it is not copied */
/* Inspects its files and updates its state (in *r too): missing, changed, or ready again. False: unchanged. */
bool references_update_state(struct app *app, struct catalog_recording *r);
/* For requests, which only read: sets r->state and r->problem to what its referenced files show now, and if that is
 * news adds the job "files", which writes it to the catalog. */
void references_observe(struct app *app, struct catalog_recording *r);
void references_check_files(struct app *app, const struct catalog_recording *r); /* adds that job */
struct job_call;
bool references_files_run(struct app *app, const struct job_call *call, struct reel_error *err);
/* Checks that all its files exist and that the referenced ones are unchanged: REEL_NOT_FOUND, REEL_CHANGED. */
bool references_verify(struct app *app, const struct catalog_recording *r, struct reel_error *err);
/* The same for every recording that has this file. */
void references_recheck(struct app *app, const char *sha256);
/* For a file with a new modification time: hashes it. True: the content is unchanged, and the new time was stored. */
bool references_confirm(struct app *app, const char *sha256, const struct reel_progress *progress);
/* Whether the catalog has the file of this reference in the store; a rebuilt catalog may not. */
void references_note(struct app *app, const char *sha256);
/* The job "references": a check of every referenced file. references_check() adds it soon. */
bool references_run(struct app *app, const struct job_call *call, struct reel_error *err);
void references_check(struct app *app);

#endif
