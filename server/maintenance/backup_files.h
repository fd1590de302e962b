/* The stored files of a backup; for backup.c. */
#ifndef SERVER_MAINTENANCE_BACKUP_FILES_H
#define SERVER_MAINTENANCE_BACKUP_FILES_H

#include <jansson.h>

#include "app.h"

enum backup_blobs {
    BACKUP_NO_BLOBS,
    BACKUP_LINK_BLOBS,
    BACKUP_COPY_BLOBS
}; /* LINK: hard links, on the same disk only */

struct backup_files {
    struct store *from, *to;
    struct catalog *now; /* of the archive, which goes on */
    enum backup_blobs blobs;
    const struct reel_progress *progress;
    uint64_t count, bytes, elsewhere, gone, live; /* filled in; gone: purged while the backup was made */
    char list_sha256[65];
};
/* Writes blobs.txt, and adds the files that `copied` needs; removes files that it does not need. Everything is synced
 * to disk.
 */
bool backup_files(struct backup_files *f, struct catalog *copied, const char *folder, struct reel_error *err);

/* backup_live.c: copies the files of recordings that grow. */
bool backup_live(struct backup_files *f, struct catalog *copied, const char *folder, struct reel_error *err);

bool backup_write_json(const char *folder, const json_t *manifest, struct reel_error *err); /* backup.json, lasting */

#endif
