/* Bytes on the local disk, by content. data/blobs/ab/<sha256> the file as it came, <content>.reel its index pack, <content>.json its manifest (enough to
 * rebuild a lost catalog); data/incoming/ uploads under way; data/derived/ what can be made again, bounded. Every rename is fsynced, file and folder. */
#ifndef SERVER_STORE_H
#define SERVER_STORE_H

#include <stdint.h>

#include "reel/error.h"
#include "reel/reader.h"

struct store;
struct store_upload;
struct catalog_recording;

/* Makes the folders, takes the lock (REEL_CONFLICT: "another server uses this data folder"), sweeps incoming/. */
struct store *store_open(const char *folder, struct reel_error *err);
void store_close(struct store *store);

/* A file coming in: gathered in an own buffer, written, hashed (SHA-256). */
struct store_upload *store_upload_begin(struct store *store, struct reel_error *err);
bool store_upload_write(struct store_upload *u, const void *data, size_t size, struct reel_error *err);
/* Everything is hashed and fsynced; sha256 as hex. Nothing is visible yet. */
bool store_upload_finish(struct store_upload *u, char sha256[65], uint64_t *size, struct reel_error *err);
/* Renames to its content address; when that blob is there already this only drops the new copy. The upload is still to be freed. */
bool store_upload_keep(struct store_upload *u, struct reel_error *err);
void store_upload_free(struct store_upload *u); /* removes what was not kept; NULL is fine */

bool store_has_room(struct store *store, uint64_t bytes); /* leaves a reserve of 64 MiB */
bool store_free_bytes(struct store *store, uint64_t *bytes);

struct reel_source *store_open_blob(struct store *store, const char *sha256, const char *file_name, struct reel_error *err); /* REEL_NOT_FOUND */
bool store_blob_path(struct store *store, const char *sha256, char *out, size_t size);     /* for scan and open() */
/* Makes the folder blobs/ab/ of a content lasting, for a pack whose content is no blob: that of several parts. */
bool store_make_bucket(const struct store *store, const char *content, struct reel_error *err);
bool store_pack_path(struct store *store, const char *content, char *out, size_t size);
const char *store_derived_folder(struct store *store);
bool store_trim_derived(struct store *store, uint64_t max_bytes, struct reel_error *err);   /* oldest access first */
bool store_remove_blob(struct store *store, const char *sha256, struct reel_error *err);
bool store_remove_content(struct store *store, const char *content, struct reel_error *err); /* pack, manifest, derived */

/* The manifest of r->content: every recording of that content by id (names, collection, revision, created, state). Adds or replaces r in it. */
bool store_write_manifest(struct store *store, const struct catalog_recording *r, struct reel_error *err);
/* Takes one recording out of it; fine when there is no manifest. */
bool store_forget_manifest(struct store *store, const char *content, const char *id, struct reel_error *err);

/* Every file under blobs/, for sweeping: its 64 hex digits, what follows them ("" a blob, ".reel", ".json", else a leftover), when it was written. Stops
 * when visit() is false. */
bool store_each(struct store *store, bool (*visit)(void *context, const char *hex, const char *suffix, int64_t written_ns), void *context, struct reel_error *err);
bool store_remove_leftover(struct store *store, const char *hex, const char *suffix, struct reel_error *err);

#endif
