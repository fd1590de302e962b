/* Shared by the store's files only. */
#ifndef SERVER_STORE_STORE_INTERNAL_H
#define SERVER_STORE_STORE_INTERNAL_H

#include <dirent.h>
#include <jansson.h>
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
    struct bucket *bucket;             /* where the files are; NULL: in the folder */
    struct store_directory *directory; /* of the bucket */
};

/* The operations that differ between a store with its files in the folder (folder/) and one with them in a bucket
 * (bucket/). Most have the name and the type of the function that calls them, whose header describes them. NULL: there
 * is nothing to do. */
struct store_upload_ops {
    __typeof__(store_upload_flush) *begin; /* its file is open */
    bool (*open)(struct store_upload *u, bool create, const char *note, struct reel_error *err);
    __typeof__(store_upload_known) *known; /* NULL: there are none */
    __typeof__(store_upload_share) *share; /* NULL: never */
    __typeof__(store_upload_write) *put;   /* all that was held, or much */
    __typeof__(store_upload_flush) *cut;   /* its file has been cut to `written`: `hashed` and `hash` follow */
    __typeof__(store_upload_noted) *hold;  /* at a mark */
    __typeof__(store_upload_sync) *sync;
    __typeof__(store_upload_noted) *noted;
    __typeof__(store_upload_flush) *finish; /* sets `sha256` */
    __typeof__(store_upload_finish_partial) *finish_partial;
    bool (*keep)(struct store_upload *u, bool replace, struct reel_error *err);
    __typeof__(store_upload_withdraw) *withdraw; /* NULL: what was kept stays, and is found again by its content */
    __typeof__(store_upload_free) *free;         /* before its file is closed */
    __typeof__(store_open_partial) *open_partial;
    void (*forget)(struct store *store, const char *note); /* what the note of a session names */
};

struct store_ops {
    const struct store_upload_ops *upload;

    __typeof__(store_open_blob) *open;
    __typeof__(store_resting_blob) *open_resting;
    __typeof__(store_open_stored) *open_stored;
    __typeof__(store_examine) *examine;
    __typeof__(store_has_blob) *has, *is_reference;
    bool (*keep_reference)(struct store *store, const char *sha256, const struct store_reference *ref,
                           struct reel_error *err);
    __typeof__(store_remove_blob) *remove;
    __typeof__(store_room) *room; /* NULL: it says itself when there is none */

    /* Files of a content, by their suffix: store_kinds, "" and ".ref". */
    __typeof__(store_each) *each;
    bool (*size)(const struct store *store, const char *hex, const char *suffix, uint64_t *size,
                 struct reel_error *err); /* REEL_NOT_FOUND */
    bool (*set_aside)(const struct store *store, const char *hex, const char *suffix, struct reel_error *err);
    __typeof__(store_place_file) *place;
    __typeof__(store_keep_file) *keep;
    __typeof__(store_open_file) *open_file;
    __typeof__(store_remove_file) *remove_file;

    /* Manifests; without a suffix, small files of the archive. */
    bool (*load)(const struct store *store, const char *name, const char *suffix, json_t **out,
                 struct reel_error *err); /* *out NULL: it is not JSON. REEL_NOT_FOUND */
    bool (*write_text)(const struct store *store, const char *name, const char *suffix, const char *text,
                       struct reel_error *err);
    bool (*confirm)(const struct store *store, const char *hex, struct reel_error *err); /* what is there lasts */
};
extern const struct store_ops store_in_folder, store_in_bucket;
extern const struct store_upload_ops store_upload_in_folder, store_upload_in_bucket;

/* What there is of a content, besides its bytes: the suffix, in a bucket the folder of such objects. */
enum { STORE_KINDS = 4 };
extern const struct store_kind { const char *suffix, *folder; } store_kinds[STORE_KINDS];

static inline void store_close_folder(DIR **d) {
    if (*d) {
        closedir(*d);
    }
}
#define AUTO_FOLDER __attribute__((cleanup(store_close_folder)))

static inline int64_t store_stamp(struct timespec t) {
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A folder that is there, as a store: its lock is not held. */
struct store *store_new(const char *folder, struct reel_error *err);

/* folder/NAME… into `out`, which is returned. NAME has at most a folder and a name of NAME_MAX. */
__attribute__((format(printf, 3, 4))) const char *store_path(const struct store *store, char out[STORE_PATH],
                                                             const char *format, ...);
/* blobs/ab/<hex><suffix>. REEL_ARGUMENT: `hex` is no SHA-256. */
bool store_content_path(const struct store *store, const char *hex, const char *suffix, char *out, size_t size,
                        struct reel_error *err);
/* A folder that need not be there yet; `parent` (may be NULL) knows it for good. */
bool store_make_folder(const char *path, const char *parent, struct reel_error *err);
bool store_unlink(const char *path, struct reel_error *err); /* also when it is not there */
/* Renames a finished file to blobs/ab/<name><suffix> or, without a suffix, to `name` in the data folder, durably. */
bool store_publish(const struct store *store, const char *from, const char *name, const char *suffix,
                   struct reel_error *err);
/* Removes what an earlier run left unfinished (the lock is held); the files of sessions only with `sessions`. */
bool store_sweep_incoming(struct store *store, bool sessions, struct reel_error *err);
/* incoming/<id>.part. REEL_ARGUMENT: `id` is none. */
bool store_partial_path(const struct store *store, const char *id, char out[STORE_PATH], struct reel_error *err);
/* The name that a file has there already lasts. */
bool store_sync_place(const struct store *store, const char *hex, struct reel_error *err);
/* So do the names that files have in incoming/. */
bool store_sync_incoming(const struct store *store, struct reel_error *err);
/* A new file in incoming/ with its path; -1 with err. */
int store_new_file(const struct store *store, char path[STORE_PATH], struct reel_error *err);
/* Writes a new file, and publishes it. */
/* *out: NULL when it is not JSON. False: it is not there (REEL_NOT_FOUND), or it cannot be read. */
bool store_read_json(const char *path, json_t **out, struct reel_error *err);
bool store_parse_json(const char *text, size_t size, json_t **out, struct reel_error *err);
bool store_write_text(const struct store *store, const char *name, const char *suffix, const char *text,
                      struct reel_error *err);
/* A new file at `path`, which may be lost. */
bool store_write_unsynced(const struct store *store, const char *path, const void *data, size_t size,
                          struct reel_error *err);

#define STORE_MARK "store-bucket" /* in the data folder: the address of its bucket */
#define STORE_MOVING "moving"     /* switch.h */
bool store_mark_bucket(struct store *store, const char *address, struct reel_error *err);

/* derived.c: what is not complete; at start none is being written */
void store_sweep_derived(const struct store *store);
void store_remove_derived(const struct store *store, const char *content);

void store_init_locks(struct store *store); /* manifest.c */

/* store_keep_reference() in the folder. */
bool store_write_reference(struct store *store, const char *sha256, const struct store_reference *ref,
                           struct reel_error *err);

#endif
