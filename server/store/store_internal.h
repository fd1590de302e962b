/* Shared by the store's files only. */
#ifndef SERVER_STORE_STORE_INTERNAL_H
#define SERVER_STORE_STORE_INTERNAL_H

#include <dirent.h>
#include <limits.h>
#include <pthread.h>

#include "store/store.h"

enum { STORE_PATH = PATH_MAX, STORE_HEX = 64, MANIFEST_LOCKS = 16, STORE_TEXT_MAX = 512 << 20 };

struct store_directory;
struct store_reference;
struct store {
    char *folder, *derived;
    int lock; /* held while open */
    /* By the first letter of its name, a manifest is read, changed and written by one thread at a time. */
    pthread_mutex_t manifests[MANIFEST_LOCKS];
    const struct roots *roots; /* borrowed; reference.h */
    const struct store_ops *ops;
    /* With the files in a bucket, else NULL: */
    struct bucket *bucket;
    struct store_directory *directory;
};

/* What there is of a content, besides its bytes: the suffix, in a bucket the folder of such objects. */
enum { STORE_KINDS = 3 };
extern const struct store_kind { const char *suffix, *folder; } store_kinds[STORE_KINDS];
#define STORE_MANIFEST ".json"
#define STORE_PACK ".reel"
#define STORE_STATISTICS ".stats"

static inline void store_close_folder(DIR **d) {
    if (*d) {
        closedir(*d);
    }
}
#define AUTO_FOLDER __attribute__((cleanup(store_close_folder)))

static inline int64_t store_stamp(struct timespec t) {
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* folder/NAME… into out. */
__attribute__((format(printf, 3, 4))) bool store_path(const struct store *store, char out[STORE_PATH],
                                                      const char *format, ...);
bool store_is_hex(const char *name); /* as SHA-256 is written */
/* blobs/ab/<hex><suffix>. REEL_ARGUMENT: `hex` is no SHA-256. */
bool store_content_path(const struct store *store, const char *hex, const char *suffix, char *out, size_t size,
                        struct reel_error *err);
/* A folder that need not be there yet; `parent` (may be NULL) knows it for good. */
bool store_make_folder(const char *path, const char *parent, struct reel_error *err);
bool store_unlink(const char *path, struct reel_error *err); /* also when it is not there */
/* Renames a finished file to its final path, durably. */
bool store_publish(const struct store *store, const char *from, const char *hex, const char *suffix,
                   struct reel_error *err);
/* Removes what an earlier run left unfinished (the lock is held); the files of sessions only with `sessions`. */
bool store_sweep_incoming(const struct store *store, bool sessions, struct reel_error *err);
/* incoming/<id>.part. REEL_ARGUMENT: `id` is none. */
bool store_partial_path(const struct store *store, const char *id, char out[STORE_PATH], struct reel_error *err);
/* The name that a file has there already lasts. */
bool store_sync_place(const struct store *store, const char *hex, struct reel_error *err);
/* So do the names that files have in incoming/. */
bool store_sync_incoming(const struct store *store, struct reel_error *err);
/* A new file in incoming/ with its path; -1 with err. */
int store_new_file(const struct store *store, char path[STORE_PATH], struct reel_error *err);
/* Writes a new file that replaces blobs/ab/<name><suffix> or, without a suffix, `name` in the data folder. */
bool store_write_text(const struct store *store, const char *name, const char *suffix, const char *text,
                      struct reel_error *err);

#define STORE_MARK "store-bucket" /* in the data folder: the address of its bucket */
#define STORE_MOVING "moving"     /* switch.h */
bool store_mark_bucket(struct store *store, const char *address, struct reel_error *err);

void store_sweep_derived(
    const struct store *store); /* derived.c: what is not complete; at start none is being written */
void store_remove_derived(const struct store *store, const char *content);

void store_init_locks(struct store *store); /* manifest.c */

/* Operations of a store in its folder that have files of their own: store_resting_blob(), store_keep_reference(). */
struct reel_source *store_open_resting(struct store *store, const char *sha256, const char *file_name,
                                       struct reel_error *err);
bool store_write_reference(struct store *store, const char *sha256, const struct store_reference *ref,
                           struct reel_error *err);

#endif
