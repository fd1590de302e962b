/* Uploads whose store is a bucket. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/upload_internal.h"

/* The file is a copy: what is in the bucket, and in the note, is all that counts. */
bool upload_open_sent(struct store_upload *u, const char *note, struct reel_error *err) {
    u->fd = open(u->path, O_RDWR | O_CLOEXEC | O_CREAT | O_TRUNC, 0600);
    if (u->fd < 0) {
        return reel_fail_errno(err, "the upload's file cannot be opened");
    }
    u->sending = note[0] ? sending_resume(u->store->bucket, u->fd, note, &u->written, &u->hash, err)
                         : sending_new(u->store->bucket, u->fd, err);
    u->started = u->sure = u->hashed = u->written;
    return u->sending;
}

/* The process that hashed the content ended after the object was complete, and before it was entered. */
static bool enter_noted(struct store *store, const char *sha256, const char *note, uint64_t size,
                        struct reel_error *err) {
    const struct store_directory *d = bucket_directory(store->bucket);
    struct store_object o = {.size = size};
    struct s3_object there;
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    bool added;
    if (!sending_location(note, false, o.location)) {
        return reel_fail(err, REEL_NOT_FOUND, "what was uploaded so far is gone");
    }
    return s3_head(bucket_s3(store->bucket), bucket_located(store->bucket, o.location, bucket, key), &there, err) &&
           (there.size == size || reel_fail(err, REEL_NOT_FOUND, "what was uploaded so far is gone")) &&
           d->add(d->context, sha256, &o, false, &added, err);
}

struct store_upload *store_upload_known(struct store *store, const char *sha256, const char *note, uint64_t size,
                                        struct reel_error *err) {
    struct store_object there;
    struct reel_error why = {0};
    if (!store->bucket) {
        reel_fail(err, REEL_NOT_FOUND, "what was uploaded so far is gone");
        return NULL;
    }
    if (!bucket_check(store->bucket, sha256, &there, &why)) {
        if (why.code != REEL_NOT_FOUND) {
            reel_error_pass(err, &why);
            return NULL;
        }
        if (!enter_noted(store, sha256, note, size, err)) {
            return NULL;
        }
    }
    struct store_upload *u = upload_new(store, err);
    if (u) {
        u->known = u->placed = u->lasting = true;
        u->written = u->hashed = size;
        snprintf(u->sha256, sizeof u->sha256, "%s", sha256);
    }
    return u;
}

/* Gives the content this object; the one that it had before goes. */
static bool enter(struct store_upload *u, const char *location, const struct store_object *before,
                  struct reel_error *err) {
    struct bucket *b = u->store->bucket;
    const struct store_directory *d = bucket_directory(b);
    struct store_object now = {.size = u->written};
    struct reel_error ignored;
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    bool added = false;
    snprintf(now.location, sizeof now.location, "%s", location);
    if (!d->add(d->context, u->sha256, &now, before, &added, err)) {
        return false;
    }
    u->placed = true;
    if (!added) { /* another upload of these bytes was faster */
        sending_abandon(u->sending);
    } else if (before) {
        blocks_forget(bucket_blocks(b), u->sha256);
        if (strncmp(before->location, "s3://", 5) != 0) {
            s3_delete(bucket_s3(b), bucket_located(b, before->location, bucket, key), &ignored);
        }
    }
    return true;
}

bool upload_keep_object(struct store_upload *u, bool replace, struct reel_error *err) {
    struct bucket *b = u->store->bucket;
    const struct store_directory *d = bucket_directory(b);
    struct store_object before, there;
    struct reel_error none = {0};
    if (u->known || u->placed) {
        return true;
    }
    bool known = d->find(d->context, u->sha256, &before, &none);
    if (!known && none.code != REEL_NOT_FOUND) {
        return reel_error_pass(err, &none);
    }
    if (known && !replace && bucket_check(b, u->sha256, &there, &none)) {
        u->placed = true;
        sending_abandon(u->sending);
        unlink(u->path);
        return true;
    }
    const char *location = sending_end(u->sending, u->written, err);
    if (!location || !enter(u, location, known ? &before : NULL, err)) {
        return false;
    }
    if (!blocks_adopt(bucket_blocks(b), u->sha256, u->written, sending_kept(u->sending), u->path)) {
        unlink(u->path);
    }
    return true;
}

/* ---- parts of an upload that are concatenated later */

bool store_upload_finish_partial(struct store_upload *u, char **note, struct reel_error *err) {
    *note = NULL;
    if (!u->sending) {
        return store_upload_flush(u, err);
    }
    return store_upload_flush(u, err) && sending_end(u->sending, u->written, err) &&
           (*note = sending_note(u->sending, err));
}

struct reel_source *store_open_partial(struct store *store, const char *id, const char *note, uint64_t size,
                                       struct reel_error *err) {
    char path[STORE_PATH];
    struct store_object object = {.size = size};
    if (!store->bucket) {
        if (store_partial_path(store, id, path)) {
            return reel_source_open(path, "part", err);
        }
        reel_fail(err, REEL_ARGUMENT, "not an upload's id");
        return NULL;
    }
    if (!sending_location(note, true, object.location)) {
        reel_fail(err, REEL_NOT_FOUND, "what was uploaded so far is gone");
        return NULL;
    }
    return bucket_direct(store->bucket, &object, "part", err);
}
