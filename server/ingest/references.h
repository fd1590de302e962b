/* Recordings whose files are referenced, not copied: whether the files are still there and unchanged. The states of recordings follow
 * their files both ways. */
#ifndef SERVER_REFERENCES_H
#define SERVER_REFERENCES_H

#include "app.h"
#include "reel/scan.h"

bool references_has(struct app *app, const struct catalog_recording *r); /* some part of it is not copied */
/* Inspects its files and updates its state (in *r too): missing, changed, or ready again. False: unchanged. */
bool references_update_state(struct app *app, struct catalog_recording *r);
/* All its files are there, and those that are not copied unchanged: REEL_NOT_FOUND, REEL_CHANGED. */
bool references_verify(struct app *app, const struct catalog_recording *r, struct reel_error *err);
/* The same for every recording that has this file. */
void references_recheck(struct app *app, const char *sha256);
/* The file has another time than it had: reads the whole of it. True: its content is what it was, and this is its time now. */
bool references_confirm(struct app *app, const char *sha256, const struct reel_progress *progress);
/* The catalog knows of the file that this one of the store's notes is about: a lost one that was made again does not. */
void references_note(struct app *app, const char *sha256);
/* Queues a check of every referenced file, unless one runs. */
void references_check(struct app *app);

#endif
