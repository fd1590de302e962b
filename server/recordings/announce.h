/* Announced recordings: the index pack of a file that is still on a robot becomes a recording with the state announced.
 * The file arrives by an upload like any other (ingest.h), and takes its place. */
#ifndef SERVER_RECORDINGS_ANNOUNCE_H
#define SERVER_RECORDINGS_ANNOUNCE_H

#include <limits.h>

#include "app.h"
#include "catalog/announced.h"

struct announcement {
    const char *collection, *name, *group; /* group NULL: none */
    const struct catalog_annotations *annotations;
    bool replace; /* a name that is taken becomes a new revision */
    struct announced of;
    uint64_t size;                                /* of the file, or of all files of the recording */
    char id[RECORDING_ID_TEXT];                   /* of announce_begin(), as what follows */
    char content[SHA256_HEX], before[SHA256_HEX]; /* before: the content that it had, "" for a new recording */
    char path[PATH_MAX + 16];                     /* where the pack is written */
};
enum announce_step { ANNOUNCE_REFUSED, ANNOUNCE_WRITES, ANNOUNCE_STORED };
/* Whether the name is free for it. ANNOUNCE_WRITES: the caller writes the pack to *fd, which it closes, then calls
 * announce_end() or announce_drop(). ANNOUNCE_STORED: the file has arrived already; *r is its recording. */
enum announce_step announce_begin(struct app *app, struct announcement *a, int *fd, struct catalog_recording *r,
                                  struct reel_error *err);
/* Checks the pack, and adds the recording or replaces what was announced before. REEL_DAMAGED, REEL_CHANGED (of another
 * version): about the pack. */
bool announce_end(struct app *app, struct announcement *a, struct catalog_recording *r, struct reel_error *err);
void announce_drop(struct announcement *a);

/* Whether r, which was received, is the file of the announced recording `there`: it then gets the id and the
 * annotations of that, whose content is copied to `before`. */
bool announce_is_of(struct catalog_recording *r, const struct catalog_recording *there, char before[SHA256_HEX]);
/* Writes r into the row of the announced recording, which keeps its name, tags and events. The lock of r's content is
 * held; *r is read again. */
struct catalog_job;
bool announce_arrives(struct app *app, struct catalog_recording *r, const char *before, const struct reel_index *index,
                      struct catalog_job *job, struct reel_error *err);

#endif
