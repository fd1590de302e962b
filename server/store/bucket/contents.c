/* The files of a store in a bucket: a content is the object that the directory names, what there is of it an object of
 * its name. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "store/bucket/bucket.h"
#include "store/store_internal.h"

enum { SIGNED_S = 300, ASIDE_BYTES_MAX = 64 << 20 };

/* ---- contents */

static struct reel_source *open_blob(struct store *store, const char *sha256, const char *name,
                                     struct reel_error *err) {
    struct bucket *b = store->bucket;
    struct store_object o;
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    if (!bucket_find(b, sha256, &o, err) || (bucket_is_borrowed(&o) && !bucket_is_unchanged(b, &o, err))) {
        return NULL;
    }
    struct s3_name at = bucket_located(b, o.location, bucket, key);
    const struct blocks_object object = {
        .content = sha256, .bucket = at.bucket, .key = at.key, .etag = o.etag[0] ? o.etag : NULL, .size = o.size};
    struct reel_error why = {0};
    struct reel_source *source = blocks_source(b->blocks, &object, name, &why);
    /* the cache's disk is full or broken: past it */
    if (!source && (why.code == REEL_NO_SPACE || why.code == REEL_IO)) {
        return bucket_direct(b, &o, name, err);
    }
    return source ? source : (reel_error_pass(err, &why), NULL);
}

static struct reel_source *open_stored(struct store *store, const char *sha256, struct reel_error *err) {
    struct store_object o;
    return bucket_check(store->bucket, sha256, &o, err) ? bucket_direct(store->bucket, &o, sha256, err) : NULL;
}

static bool examine(struct store *store, const char *sha256, uint64_t *size, struct reel_error *err) {
    struct store_object there;
    bool good = bucket_check(store->bucket, sha256, &there, err);
    *size = there.size;
    return good;
}

static bool bucket_contents_has(struct store *store, const char *sha256) {
    struct store_object ignored;
    struct reel_error why = {0};
    return bucket_find(store->bucket, sha256, &ignored, &why) || why.code != REEL_NOT_FOUND;
}

static bool is_reference(struct store *store, const char *sha256) {
    struct store_object o;
    struct reel_error ignored;
    return bucket_find(store->bucket, sha256, &o, &ignored) && bucket_is_borrowed(&o);
}

static bool keep_reference(struct store *store, const char *sha256, const struct store_reference *ref,
                           struct reel_error *err) {
    (void)store, (void)sha256, (void)ref;
    return reel_fail(err, REEL_UNSUPPORTED,
                     "a file of this machine cannot stay where it is while the store is a bucket: import a copy");
}

static bool remove_blob(struct store *store, const char *sha256, struct reel_error *err) {
    struct bucket *b = store->bucket;
    struct store_object o;
    struct reel_error none = {0};
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    if (!bucket_find(b, sha256, &o, &none)) {
        return none.code == REEL_NOT_FOUND || reel_error_pass(err, &none);
    }
    blocks_forget(b->blocks, sha256);
    /* The entry first: what is left behind when this ends between the two is swept, an entry without its object would
     * be a loss. */
    return store->directory->remove(store->directory->context, sha256, err) &&
           (bucket_is_borrowed(&o) || s3_delete(b->s3, bucket_located(b, o.location, bucket, key), err));
}

bool store_sign_address(struct store *store, const char *sha256, const char *file_name, char *out, size_t size,
                        struct reel_error *err) {
    struct bucket *b = store->bucket;
    struct store_object o;
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    if (!b) {
        return reel_fail(err, REEL_NOT_FOUND, "the files are not in a bucket");
    }
    if (!bucket_find(b, sha256, &o, err)) {
        return false;
    }
    if (bucket_is_borrowed(&o)) { /* it may have changed */
        return reel_fail(err, REEL_NOT_FOUND, "the object is one of others");
    }
    return s3_presign(b->s3, bucket_located(b, o.location, bucket, key), file_name, "application/octet-stream",
                      SIGNED_S, out, size, err);
}

/* ---- files by name */

/* Of the objects with this suffix; NULL: they are named in another way. */
static const char *folder_of(const char *suffix) {
    for (unsigned i = 0; suffix && i < STORE_KINDS; i++) {
        if (strcmp(suffix, store_kinds[i].suffix) == 0) {
            return store_kinds[i].folder;
        }
    }
    return suffix ? NULL : "notes";
}

struct visiting {
    bool (*visit)(void *context, const char *hex, const char *suffix, int64_t written_ns);
    void *context;
    const char *suffix;
    bool stopped;
};

static bool contents_visit_object(void *context, const char *name, const struct s3_object *object) {
    struct visiting *v = context;
    v->stopped = hex_is(name, STORE_HEX) && !v->visit(v->context, name, v->suffix, object->modified_s * 1000000000);
    return !v->stopped;
}

/* Not the contents themselves, whose objects are not named by them: store_each_sent() has those. */
static bool bucket_contents_each(struct store *store, bool (*visit)(void *, const char *, const char *, int64_t),
                                 void *context, struct reel_error *err) {
    struct visiting v = {.visit = visit, .context = context};
    for (size_t i = 0; i < STORE_KINDS && !v.stopped; i++) {
        v.suffix = store_kinds[i].suffix;
        if (!bucket_each(store->bucket, store_kinds[i].folder, contents_visit_object, &v, err)) {
            return false;
        }
    }
    return true;
}

static bool bucket_contents_size_of(const struct store *store, const char *hex, const char *suffix, uint64_t *size,
                                    struct reel_error *err) {
    struct store_object o;
    struct s3_object there = {0};
    char key[S3_KEY_MAX + 1];
    const char *folder = folder_of(suffix);
    if (folder) {
        bool found = s3_head(store->bucket->s3, bucket_name(store->bucket, folder, hex, key), &there, err);
        *size = there.size;
        return found;
    }
    bool found = bucket_find(store->bucket, hex, &o, err) &&
                 (bucket_is_borrowed(&o) == (strcmp(suffix, ".ref") == 0) ||
                  reel_fail(err, REEL_NOT_FOUND, "there is no such file")) &&
                 bucket_is_unchanged(store->bucket, &o, err);
    *size = found ? o.size : 0;
    return found;
}

/* A manifest goes to lost+found/; what can be made again is removed; an object stays until
 * nothing names it. */
static bool bucket_contents_set_aside(const struct store *store, const char *hex, const char *suffix,
                                      struct reel_error *err) {
    const char *folder = folder_of(suffix);
    if (!folder || strcmp(suffix, STORE_MANIFEST) != 0) {
        return !folder || bucket_delete(store->bucket, folder, hex, err);
    }
    AUTO_MEM char *text = bucket_get_text(store->bucket, folder, hex, ASIDE_BYTES_MAX, err);
    return text && bucket_put_text(store->bucket, "lost+found", hex, text, err) &&
           bucket_delete(store->bucket, folder, hex, err);
}

static bool contents_write_text(const struct store *store, const char *name, const char *suffix, const char *text,
                                struct reel_error *err) {
    return bucket_put_text(store->bucket, folder_of(suffix), name, text, err);
}

static bool bucket_contents_load(const struct store *store, const char *name, const char *suffix, json_t **out,
                                 struct reel_error *err) {
    AUTO_MEM char *text = bucket_get_text(store->bucket, folder_of(suffix), name, STORE_TEXT_MAX, err);
    return text && store_parse_json(text, strlen(text), out, err);
}

/* ---- copies of packs lie in blobs/ and are counted by the cache, those of statistics and events in derived/ */

static bool is_pack(const char *suffix) {
    return strcmp(suffix, STORE_PACK) == 0;
}

static bool contents_path_of(const struct store *store, const char *content, const char *suffix, char *out, size_t size,
                             struct reel_error *err) {
    if (strcmp(suffix, STORE_STATISTICS) != 0 && strcmp(suffix, STORE_EVENTS) != 0) {
        return store_content_path(store, content, suffix, out, size, err);
    }
    int used = snprintf(out, size, "%s/%s%s", store->derived, content, suffix);
    return (used > 0 && (size_t)used < size) || reel_fail(err, REEL_ARGUMENT, "not a content address");
}

static bool place(struct store *store, const char *content, const char *suffix, char *out, size_t size,
                  struct reel_error *err) {
    if (!contents_path_of(store, content, suffix, out, size, err)) {
        return false;
    }
    if (!is_pack(suffix)) {
        return true;
    }
    blocks_hold_file(store->bucket->blocks, content, out, true);
    return store_make_place(store, content, err);
}

static bool contents_keep(struct store *store, const char *content, const char *suffix, struct reel_error *err) {
    char path[STORE_PATH];
    if (!contents_path_of(store, content, suffix, path, sizeof path, err) ||
        !bucket_put_file(store->bucket, folder_of(suffix), content, path, err)) {
        return false;
    }
    if (is_pack(suffix)) {
        blocks_hold_file(store->bucket->blocks, content, path, false);
    }
    return true;
}

static bool contents_fetch(struct store *store, const char *content, const char *suffix, const char *to,
                           struct reel_error *err) {
    char from[STORE_PATH];
    AUTO_FD int fd = store_new_file(store, from, err);
    if (fd < 0) {
        return false;
    }
    bool good = bucket_get_file(store->bucket, folder_of(suffix), content, fd, err) &&
                (!is_pack(suffix) || store_make_place(store, content, err)) &&
                (rename(from, to) == 0 || reel_fail_errno(err, "a copy of an object cannot be kept"));
    if (!good) {
        unlink(from);
    }
    return good;
}

/* The cache may have removed it since it was opened. */
static bool note_use(struct store *store, const char *content, const char *path, int fd) {
    struct stat st;
    futimens(fd, NULL); /* the order of use, after a restart */
    blocks_use_file(store->bucket->blocks, content, path);
    return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* One that is open stays. What was removed before it was counted is fetched once more. */
static int bucket_contents_open_file(struct store *store, const char *content, const char *suffix, bool again,
                                     char *out, size_t size, struct reel_error *err) {
    if (!contents_path_of(store, content, suffix, out, size, err)) {
        return -1;
    }
    for (unsigned tries = 0; tries < 3; tries++) {
        int fd = again && tries == 0 ? -1 : open(out, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && (!is_pack(suffix) || note_use(store, content, out, fd))) {
            return fd;
        }
        if (fd >= 0) {
            close(fd);
        }
        if (!contents_fetch(store, content, suffix, out, err)) {
            return -1;
        }
    }
    reel_fail(err, REEL_BUSY, "the cache of indexes has no room");
    return -1;
}

static bool remove_file(struct store *store, const char *hex, const char *suffix, struct reel_error *err) {
    char path[STORE_PATH];
    if (!contents_path_of(store, hex, suffix, path, sizeof path, err)) {
        return false;
    }
    if (is_pack(suffix)) {
        blocks_drop_file(store->bucket->blocks, hex);
    }
    return store_unlink(path, err) && bucket_delete(store->bucket, folder_of(suffix), hex, err);
}

const struct store_ops store_in_bucket = {.upload = &store_upload_in_bucket,
                                          .open = open_blob,
                                          .open_resting = open_blob, /* it holds no file */
                                          .open_stored = open_stored,
                                          .examine = examine,
                                          .has = bucket_contents_has,
                                          .is_reference = is_reference,
                                          .keep_reference = keep_reference,
                                          .remove = remove_blob,
                                          .each = bucket_contents_each,
                                          .size = bucket_contents_size_of,
                                          .set_aside = bucket_contents_set_aside,
                                          .write_text = contents_write_text,
                                          .load = bucket_contents_load,
                                          .remove_file = remove_file,
                                          .place = place,
                                          .keep = contents_keep,
                                          .open_file = bucket_contents_open_file};
