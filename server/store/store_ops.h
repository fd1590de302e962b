/* What a store does in one way with its files in its folder (folder/) and in another with them in a bucket (bucket/).
 * Each operation is described in store.h, manifest.h or reference.h, at the function that calls it. */
#ifndef SERVER_STORE_STORE_OPS_H
#define SERVER_STORE_STORE_OPS_H

#include <jansson.h>

#include "reel/error.h"
#include "reel/source.h"

struct store;
struct store_reference;
struct store_upload;

struct store_upload_ops {
    bool (*begin)(struct store_upload *u, struct reel_error *err); /* its file is open; NULL: nothing to do */
    bool (*open)(struct store_upload *u, bool create, const char *note, struct reel_error *err);
    struct store_upload *(*known)(struct store *store, const char *sha256, const char *note, uint64_t size,
                                  struct reel_error *err);     /* NULL: there are none */
    bool (*share)(struct store_upload *u, int fd, bool whole); /* NULL: never */
    bool (*put)(struct store_upload *u, const uint8_t *data, size_t size, struct reel_error *err);
    bool (*cut)(struct store_upload *u, struct reel_error *err); /* its file has been: `hashed` and `hash` follow */
    void (*hold)(struct store_upload *u);                        /* at a mark; NULL: nothing to do */
    bool (*sync)(struct store_upload *u, bool full, uint64_t *sure, char **note, struct reel_error *err);
    void (*noted)(struct store_upload *u);                                               /* NULL: there are no notes */
    bool (*finish)(struct store_upload *u, struct reel_error *err);                      /* sets `sha256` */
    bool (*finish_partial)(struct store_upload *u, char **note, struct reel_error *err); /* NULL: nothing to do */
    bool (*keep)(struct store_upload *u, bool replace, struct reel_error *err);
    void (*withdraw)(struct store_upload *u); /* NULL: what was kept stays, and is found again by its content */
    void (*free)(struct store_upload *u);     /* before its file is closed; NULL: nothing to do */

    struct reel_source *(*open_partial)(struct store *store, const char *id, const char *note, uint64_t size,
                                        struct reel_error *err);
    void (*forget)(struct store *store, const char *note); /* what a session's note names; NULL: there are no notes */
};

struct store_ops {
    const struct store_upload_ops *upload;

    /* Contents. */
    struct reel_source *(*open)(struct store *store, const char *sha256, const char *file_name, struct reel_error *err);
    struct reel_source *(*open_resting)(struct store *store, const char *sha256, const char *file_name,
                                        struct reel_error *err);
    struct reel_source *(*open_stored)(struct store *store, const char *sha256, struct reel_error *err);
    bool (*examine)(struct store *store, const char *sha256, uint64_t *size, struct reel_error *err);
    bool (*has)(struct store *store, const char *sha256);
    bool (*is_reference)(struct store *store, const char *sha256);
    bool (*keep_reference)(struct store *store, const char *sha256, const struct store_reference *ref,
                           struct reel_error *err);
    bool (*remove)(struct store *store, const char *sha256, struct reel_error *err);
    uint64_t (*room)(struct store *store); /* NULL: any number of bytes, until it refuses some */

    /* Files of a content, by their suffix (store_kinds); with "" and ".ref" also what examine() and is_reference() are
     * about. Without a suffix, small files of the archive. */
    bool (*each)(struct store *store,
                 bool (*visit)(void *context, const char *hex, const char *suffix, int64_t written_ns), void *context,
                 struct reel_error *err);
    bool (*size)(const struct store *store, const char *hex, const char *suffix, uint64_t *size,
                 struct reel_error *err); /* REEL_NOT_FOUND */
    bool (*set_aside)(const struct store *store, const char *hex, const char *suffix, struct reel_error *err);
    bool (*remove_file)(struct store *store, const char *hex, const char *suffix, struct reel_error *err);
    bool (*write_text)(const struct store *store, const char *name, const char *suffix, const char *text,
                       struct reel_error *err);
    bool (*confirm)(const struct store *store, const char *hex,
                    struct reel_error *err); /* the text that is there lasts; NULL: it does */
    /* NULL: no JSON. REEL_NOT_FOUND. */
    bool (*load)(const struct store *store, const char *name, const char *suffix, json_t **out, struct reel_error *err);

    /* Packs and statistics, which are files in any case, in place(). */
    bool (*place)(struct store *store, const char *content, const char *suffix, char *out, size_t size,
                  struct reel_error *err);
    bool (*keep)(struct store *store, const char *content, const char *suffix,
                 struct reel_error *err); /* NULL: they stay where they are */
    int (*open_file)(struct store *store, const char *content, const char *suffix, bool again, char *out, size_t size,
                     struct reel_error *err);
};

extern const struct store_ops store_in_folder, store_in_bucket;
extern const struct store_upload_ops store_upload_in_folder, store_upload_in_bucket;

#endif
