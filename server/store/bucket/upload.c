/* Uploads into a bucket. Their file in incoming/ is a copy: what is in the bucket, and in the session's note, is all
 * that counts. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/bucket/send.h"
#include "store/upload_internal.h"

static bool upload_begin(struct store_upload *u, struct reel_error *err) {
    return (u->sending = sending_new(u->store->bucket, u->fd, err));
}

static bool open_session(struct store_upload *u, bool create, const char *note, struct reel_error *err) {
    (void)create;
    u->fd = open(u->path, O_RDWR | O_CLOEXEC | O_CREAT | O_TRUNC, 0600);
    if (u->fd < 0) {
        return reel_fail_errno(err, "the upload's file cannot be opened");
    }
    u->sending = note[0] ? sending_resume(u->store->bucket, u->fd, note, &u->written, &u->hash, err)
                         : sending_new(u->store->bucket, u->fd, err);
    u->started = u->sure = u->hashed = u->written;
    return u->sending;
}

/* ---- bytes */

static bool bucket_upload_put(struct store_upload *u, const void *data, size_t size, struct reel_error *err) {
    const uint8_t *at = data;
    while (size > 0) {
        uint64_t left = sending_next(u->sending) - u->written;
        size_t n = size < left ? size : (size_t)left;
        if (!upload_write(u, at, n, err) || (n == left && !sending_grow(u->sending, &u->hash, err))) {
            return false;
        }
        at += n;
        size -= n;
    }
    return true;
}

/* Hashes again from the last whole part on: the file has no bytes before it. */
static bool bucket_upload_cut(struct store_upload *u, struct reel_error *err) {
    if (!sending_cut(u->sending, u->written, err)) {
        return false;
    }
    u->hashed = sending_hash(u->sending, &u->hash);
    return store_upload_hash(u, NULL, err);
}

static void hold(struct store_upload *u) {
    sending_hold(u->sending, u->written);
}

static bool confirm(struct store_upload *u, bool full, uint64_t *sure, char **note, struct reel_error *err) {
    return (*note = sending_confirm(u->sending, u->written, full, sure, err));
}

static void noted(struct store_upload *u) {
    sending_confirmed(u->sending);
}

/* ---- the end */

/* Gives the content this object; the one that it had before goes. */
static bool upload_enter(struct store_upload *u, const char *location, const struct store_object *before,
                         struct reel_error *err) {
    struct bucket *b = u->store->bucket;
    const struct store_directory *d = u->store->directory;
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
        blocks_forget(b->blocks, u->sha256);
        if (!bucket_is_borrowed(before)) {
            s3_delete(b->s3, bucket_located(b, before->location, bucket, key), &ignored);
        }
    }
    return true;
}

static bool bucket_upload_keep(struct store_upload *u, bool replace, struct reel_error *err) {
    struct bucket *b = u->store->bucket;
    struct store_object before, there;
    struct reel_error none = {0};
    if (u->placed && !replace) {
        return true;
    }
    if (!upload_may_be_kept(u, err)) {
        return false;
    }
    bool has = bucket_find(b, u->sha256, &before, &none);
    if (!has && none.code != REEL_NOT_FOUND) {
        return reel_error_pass(err, &none);
    }
    if (has && !replace && bucket_check(b, u->sha256, &there, &none)) {
        u->placed = true;
        sending_abandon(u->sending);
        unlink(u->path);
        return true;
    }
    const char *location = sending_end(u->sending, u->written, err);
    if (!location || !upload_enter(u, location, has ? &before : NULL, err)) {
        return false;
    }
    if (!blocks_adopt(b->blocks, u->sha256, u->written, sending_kept(u->sending), u->path)) {
        unlink(u->path);
    }
    return true;
}

static void upload_end(struct store_upload *u) {
    if (u->lasting && !u->placed) {
        unlink(u->path);
    } else if (u->sending && !u->placed) {
        sending_abandon(u->sending);
    }
    sending_free(u->sending); /* its threads read the file until then */
}

/* ---- parts of an upload that are concatenated later */

static bool finish_partial(struct store_upload *u, char **note, struct reel_error *err) {
    return sending_end(u->sending, u->written, err) && (*note = sending_note(u->sending, err));
}

static struct reel_source *open_partial(struct store *store, const char *id, const char *note, uint64_t size,
                                        struct reel_error *err) {
    struct store_object object = {.size = size};
    (void)id;
    if (!sending_location(note, true, object.location)) {
        reel_fail(err, REEL_NOT_FOUND, "what was uploaded so far is gone");
        return NULL;
    }
    return bucket_direct(store->bucket, &object, "part", err);
}

static void upload_forget(struct store *store, const char *note) {
    sending_forget(store->bucket, note);
}

/* ---- an upload whose bytes the bucket has: they are only counted */

static bool upload_count(struct store_upload *u, const void *data, size_t size, struct reel_error *err) {
    (void)data, (void)err;
    u->written += size;
    return true;
}

static bool confirm_known(struct store_upload *u, bool full, uint64_t *sure, char **note, struct reel_error *err) {
    (void)full, (void)note, (void)err;
    *sure = u->written;
    return true;
}

static const struct store_upload_ops known_ops = {
    .put = upload_count, .sync = confirm_known, .keep = bucket_upload_keep};

/* The process that hashed the content ended after the object was complete, and before it was entered. */
static bool enter_noted(struct store *store, const char *sha256, const char *note, uint64_t size,
                        struct reel_error *err) {
    const struct store_directory *d = store->directory;
    struct store_object o = {.size = size};
    struct s3_object there;
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    bool added;
    if (!sending_location(note, false, o.location)) {
        return reel_fail(err, REEL_NOT_FOUND, "what was uploaded so far is gone");
    }
    return s3_head(store->bucket->s3, bucket_located(store->bucket, o.location, bucket, key), &there, err) &&
           (there.size == size || reel_fail(err, REEL_NOT_FOUND, "what was uploaded so far is gone")) &&
           d->add(d->context, sha256, &o, false, &added, err);
}

static struct store_upload *known(struct store *store, const char *sha256, const char *note, uint64_t size,
                                  struct reel_error *err) {
    struct store_object there;
    struct reel_error why = {0};
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
        u->ops = &known_ops;
        u->placed = u->lasting = true;
        u->written = u->hashed = size;
        snprintf(u->sha256, sizeof u->sha256, "%s", sha256);
    }
    return u;
}

const struct store_upload_ops store_upload_in_bucket = {.begin = upload_begin,
                                                        .open = open_session,
                                                        .known = known,
                                                        .put = bucket_upload_put,
                                                        .cut = bucket_upload_cut,
                                                        .hold = hold,
                                                        .sync = confirm,
                                                        .noted = noted,
                                                        .finish = upload_hash_all,
                                                        .finish_partial = finish_partial,
                                                        .keep = bucket_upload_keep,
                                                        .free = upload_end,
                                                        .open_partial = open_partial,
                                                        .forget = upload_forget};
