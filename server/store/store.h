/* Files on the local disk, named by their content. In the data folder, blobs/ab/<sha256> is the file as uploaded,
 * <sha256>.reel its index pack, <sha256>.json its manifest (enough to rebuild a lost catalog); incoming/ holds uploads
 * in progress, derived/ files that can be computed again, up to a limit. At every rename, the file and its folder are
 * fsynced. */
#ifndef SERVER_STORE_STORE_H
#define SERVER_STORE_STORE_H

#include <stdint.h>

#include "read/reader.h"
#include "reel/error.h"

struct store;
struct store_upload;

/* Creates the folders, takes the lock (REEL_CONFLICT: "another server uses this data folder") and removes unfinished
 * files from incoming/ (except those of upload sessions) and derived/. */
struct store *store_open(const char *folder, struct reel_error *err);
/* From now on blobs, packs and manifests are in a bucket, s3://BUCKET/PREFIX, and the folder has copies of what is
 * read, of at most `cache_bytes`. The folder remembers the address; NULL: the one that it remembers, if any.
 * REEL_CONFLICT: it belongs to another one, or has recordings of its own. Nothing may be stored before
 * store_set_directory(). */
bool store_use_bucket(struct store *store, const char *address, uint64_t cache_bytes, struct reel_error *err);
bool store_is_bucket(const struct store *store);
struct store_directory; /* of what is in the bucket, if there is one */
void store_set_directory(struct store *store, const struct store_directory *directory);
/* The id of the archive in the bucket: the first one that was given; to be freed. `id` NULL: REEL_NOT_FOUND when it has
 * none. */
char *store_archive_id(struct store *store, const char *id, struct reel_error *err);
void store_close(struct store *store);
/* With a bucket, whether S3 answers (REEL_BUSY) and has the archive; bucket/bucket.h. */
bool store_answers(struct store *store, struct reel_error *err);

/* An incoming file: buffered, written, hashed (SHA-256). */
struct store_upload *store_upload_begin(struct store *store, struct reel_error *err);
bool store_upload_write(struct store_upload *u, const void *data, size_t size, struct reel_error *err);
/* Hashes and fsyncs all bytes; `sha256` as hex. The upload is not visible yet. */
bool store_upload_finish(struct store_upload *u, char sha256[65], uint64_t *size, struct reel_error *err);
/* Instead of writing the bytes of an open file: shares blocks with it if the file system can. With `whole`, makes a
 * hard link if the file belongs to this user, has no other name and is not open for writing; whoever opens it for
 * writing then waits until this upload is freed (at most the system's lease-break-time). False: the bytes have to be
 * written. */
bool store_upload_share(struct store_upload *u, int fd, bool whole);
bool store_upload_is_whole(const struct store_upload *u); /* it is a hard link to the file */
/* Hashes what is not hashed yet, with progress; store_upload_finish() does the same without. */
struct reel_progress;
bool store_upload_hash(struct store_upload *u, const struct reel_progress *progress, struct reel_error *err);
/* Renames the file to its blob; if that blob exists, only discards the new copy. The caller still frees the upload. */
bool store_upload_keep(struct store_upload *u, struct reel_error *err);
/* The same, but replaces an existing blob, which is known to be corrupted. */
bool store_upload_replace(struct store_upload *u, struct reel_error *err);
void store_upload_free(struct store_upload *u); /* removes the file unless it was kept; NULL is fine */

/* The same over several requests: the file is named by its session's id (32 hex digits), and stays when this is freed,
 * until it is kept or dropped. What an earlier process hashed is hashed again at the end. REEL_NOT_FOUND: no such file,
 * and `create` is false. */
struct store_upload *store_upload_open(struct store *store, const char *id, bool create, const char *note,
                                       struct reel_error *err);
/* The upload of a content that has become an object of the bucket already, by a session that did not end.
 * REEL_NOT_FOUND. */
struct store_upload *store_upload_known(struct store *store, const char *sha256, const char *note, uint64_t size,
                                        struct reel_error *err);
uint64_t store_upload_size(const struct store_upload *u);                /* all bytes written, also the buffered ones */
bool store_upload_flush(struct store_upload *u, struct reel_error *err); /* passes all bytes to the system: they survive
                                                                            a crash of the process */
/* … and a power failure; *sure: so many. With a bucket, other servers can go on from the note, which belongs into the
 * session's row and is to be freed (else NULL); `full`: the session is about to end, and the last part need not be sent
 * now. */
bool store_upload_sync(struct store_upload *u, bool full, uint64_t *sure, char **note, struct reel_error *err);
void store_upload_noted(struct store_upload *u); /* the note is in the row */
/* Whether sessions go on from the notes in their rows, at any server, rather than from files here. */
bool store_notes_uploads(const struct store *store);
/* All bytes last, for store_open_partial(); the note as above. */
bool store_upload_finish_partial(struct store_upload *u, char **note, struct reel_error *err);
bool store_upload_cut(struct store_upload *u, uint64_t size, struct reel_error *err); /* back to the first `size` bytes
                                                                                         of those flushed; what is held
                                                                                         goes */
/* Remembers the hash at this size, so that store_upload_back() to this size need not hash again. */
bool store_upload_mark(struct store_upload *u, struct reel_error *err);
bool store_upload_back(struct store_upload *u, uint64_t size, struct reel_error *err);
bool store_upload_is_here(const struct store_upload *u); /* not yet, or no longer, a blob */
bool store_upload_withdraw(struct store_upload *u); /* of a session: the kept blob, if unused, becomes the session's
                                                       file again; false: it could not */
void store_upload_drop(struct store_upload *u);     /* its file is removed when this is freed */
/* Every file in incoming/ but hidden ones; `id` is that of the upload session it belongs to by its name, NULL: of none.
 */
bool store_each_incoming(const struct store *store, void (*visit)(void *context, const char *name, const char *id),
                         void *context, struct reel_error *err);
bool store_remove_incoming(const struct store *store, const char *name, struct reel_error *err);
struct reel_source *store_open_partial(struct store *store, const char *id, const char *note, uint64_t size,
                                       struct reel_error *err);
void store_remove_partial(struct store *store, const char *id, const char *note);
/* An unused blob becomes the file of a session. */
bool store_blob_to_partial(struct store *store, const char *sha256, const char *id, struct reel_error *err);
/* Names the run of the system and the disk it is on: while it stays, the page cache has lost nothing. False when
 * neither is known. */
bool store_same_run(struct store *store, bool *same, struct reel_error *err);

struct s3_figures;
struct blocks_figures;
/* Requests to S3 and the cache of blocks; false: there is no bucket. */
bool store_count(struct store *store, struct s3_figures *requests, struct blocks_figures *cache);
int64_t store_elapsed_ns(void);           /* how long this thread has waited for the disk for uploads in total */
uint64_t store_room(struct store *store); /* bytes that may be written: leaves a reserve of 64 MiB */
bool store_has_room(struct store *store, uint64_t bytes);
bool store_free_bytes(struct store *store, uint64_t *bytes);

/* The bytes of a content: the blob, or the file that a reference (reference.h) names. REEL_NOT_FOUND, REEL_CHANGED. */
struct reel_source *store_open_blob(struct store *store, const char *sha256, const char *file_name,
                                    struct reel_error *err);
/* The same, but the file is open only while it is read, so that one may have a thousand of them. */
struct reel_source *store_resting_blob(struct store *store, const char *sha256, const char *file_name,
                                       struct reel_error *err);
/* The stored file itself, past every copy. REEL_NOT_FOUND. */
struct reel_source *store_open_stored(struct store *store, const char *sha256, struct reel_error *err);
enum { STORE_ADDRESS_MAX = 32 << 10 };
/* An address in the bucket that answers a GET of the content for some minutes, as a download. REEL_NOT_FOUND: there is
 * no bucket, or the content is not in an object of this archive. */
bool store_sign_address(struct store *store, const char *sha256, const char *file_name, char *out, size_t size,
                        struct reel_error *err);
/* Asks the disk, or S3, whether they are there and unchanged; their size. The same errors. */
bool store_examine(struct store *store, const char *sha256, uint64_t *size, struct reel_error *err);
/* Whether there is a stored file, by its name or the directory's word; a reference is none. */
bool store_has_blob(struct store *store, const char *sha256);
/* Makes the folder blobs/ab/ of a content durable, for a pack whose content has no blob: one of several parts. */
bool store_make_place(const struct store *store, const char *content, struct reel_error *err);
/* What there is of a content besides its bytes. */
#define STORE_MANIFEST ".json"
#define STORE_PACK ".reel"
#define STORE_STATISTICS ".stats" /* of its fields: reel/values.h */
#define STORE_EVENTS ".events"    /* that follow from it: scans/derived_events.h */
/* Where a pack or statistics are written; store_keep_file() then makes them last. */
bool store_place_file(struct store *store, const char *content, const char *suffix, char *out, size_t size,
                      struct reel_error *err);
bool store_keep_file(struct store *store, const char *content, const char *suffix, struct reel_error *err);
/* The same for a pack that was here before: another server may have removed it from the bucket with the last recording
 * of the content. */
bool store_renew_pack(struct store *store, const char *content, struct reel_error *err);
/* Its path; and it stays there while the descriptor that is returned is open. -1 with REEL_NOT_FOUND: there is none.
 * With a bucket it is fetched if it is not here, or `again`, after another server has replaced it. */
int store_open_file(struct store *store, const char *content, const char *suffix, bool again, char *out, size_t size,
                    struct reel_error *err);
bool store_remove_file(struct store *store, const char *content, const char *suffix, struct reel_error *err); /* also if
                                                                                                                 there
                                                                                                                 is none
                                                                                                               */
/* Statistics or events. */
bool store_keep_small(struct store *store, const char *content, const char *suffix, const void *data, size_t size,
                      struct reel_error *err);
/* Whether a file of this suffix belongs to a content, as store_each() visits it: its pack, manifest, statistics or
 * events. */
bool store_is_of_content(const char *suffix);
/* The folder of recordings that are being written, made if there is none. */
bool store_live_folder(const struct store *store, char *out, size_t size, struct reel_error *err);
const char *store_derived_folder(struct store *store);
bool store_trim_derived(struct store *store, uint64_t max_bytes, struct reel_error *err); /* oldest access first; one
                                                                                             that is open can be read on
                                                                                           */
/* A JPEG made of a content, kept among the derived files. open: -1: there is none. */
int store_open_picture(struct store *store, const char *content, const char *name, uint64_t *size);
bool store_keep_picture(struct store *store, const char *content, const char *name, const void *data, size_t size,
                        struct reel_error *err);
bool store_remove_blob(struct store *store, const char *sha256, struct reel_error *err);
bool store_remove_content(struct store *store, const char *content, struct reel_error *err); /* pack, manifest,
                                                                                                statistics, … */

/* Every file under blobs/ in the order of their names, in a bucket those of each kind, for sweeping: its 64 hex digits,
 * what follows them ("" a blob, ".ref", ".reel", ".json",
 * ".stats", ".events", else a leftover), when it was written. Stops when visit() is false. */
bool store_each(struct store *store,
                bool (*visit)(void *context, const char *hex, const char *suffix, int64_t written_ns), void *context,
                struct reel_error *err);
bool store_remove_leftover(struct store *store, const char *hex, const char *suffix, struct reel_error *err);

#endif
