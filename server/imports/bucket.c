/* Imports objects of a bucket, which stay where they are: s3://BUCKET/KEY is one, s3://BUCKET/PREFIX/ all below it. An
 * object that is known by its ETag is not read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/glob.h"
#include "base/hex.h"
#include "imports/import_internal.h"
#include "index/format.h"
#include "read/folder.h"
#include "recordings/names.h"
#include "scans/references.h"
#include "store/bucket/reference.h"
#include "stream/stream.h"

static const char scheme[] = "s3://";

bool import_is_url(const char *path) {
    return strncmp(path, scheme, strlen(scheme)) == 0;
}

/* Whether `url` is `root` or below it. */
static bool is_below(const char *url, const char *root) {
    size_t n = strlen(root);
    n -= n > 0 && root[n - 1] == '/';
    return strncmp(url, root, n) == 0 && (url[n] == '\0' || url[n] == '/');
}

bool import_may_read(const struct app *app, const char *url, struct reel_error *err) {
    const char **root = app->config.import_roots.items;
    bool allowed = false;
    for (; root && *root && !allowed; root++) {
        allowed = import_is_url(*root) && is_below(url, *root);
    }
    return allowed || reel_fail(err, REEL_NOT_FOUND,
                                "%.300s is not below an import root; --import-root s3://BUCKET/PREFIX names one", url);
}

/* ---- what is known of an object */

/* What the table of imports has instead of a hash of the first and last bytes. */
static void fingerprint_of(const char *etag, char out[SHA256_HEX]) {
    digest_hex(DIGEST_SHA256, bytes_text(etag), out);
}

/* Whether it was imported, or passed over, as it is now. If it has changed since, its recordings are marked so. */
static bool imports_bucket_is_unchanged(struct import_run *run, const char *folder, const char *name,
                                        const char *etag) {
    struct catalog_import was;
    struct reel_error ignored;
    char fingerprint[65];
    bool recorded = false;
    fingerprint_of(etag, fingerprint);
    if (!catalog_import_find(run->app->catalog, folder, name, &was, &recorded, &ignored)) {
        return false;
    }
    bool same = strcmp(was.fingerprint, fingerprint) == 0;
    if (!same && was.content[0] && !run->options->dry) {
        references_recheck(run->app, was.content);
    }
    return same && !was.failure && (recorded || !was.content[0]);
}

/* ---- one object */

static void import_content(struct import_unit *u, const struct reel_progress *progress) {
    const struct import_options *t = u->run->options;
    struct app *app = u->run->app;
    const struct ingest_request q = {.collection = t->collection,
                                     .name = u->name,
                                     .annotations = t->annotations,
                                     .replace = t->replace || t->watched};
    struct ingest_file file = {.size = u->object->size, .name = names_file(u->name), .object = u->object};
    struct ingest_result result = {.outcome = INGEST_REFUSED};
    struct reel_error why = {0};
    char fingerprint[65];
    fingerprint_of(u->object->etag, fingerprint);
    if (ingest_check(app, &q, 0, &why) && store_hash_object(app->store, u->object, progress, file.sha256, &why)) {
        ingest_uploads(app, &file, 1, &q, import_wait_ns(u), &result, &why);
    }
    import_unit_end(u, &file, (const char(*)[65])fingerprint, &result, &why);
}

static bool bucket_goes_on(void *run, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    return run_goes_on(run);
}

void import_object(struct import_unit *u) {
    struct reel_error why = {0};
    const struct reel_progress progress = {.report = bucket_goes_on, .context = u->run};
    AUTO(reel_source_free)
    struct reel_source *source = store_open_object(u->run->app->store, u->object, names_file(u->name), &why);
    u->format = source ? reel_format_probe(source, &why) : NULL;
    if (u->format) {
        import_content(u, &progress);
    } else if (why.code == REEL_NOT_MINE && !u->named && !reel_format_names(u->files[0].name)) {
        char fingerprint[65];
        fingerprint_of(u->object->etag, fingerprint);
        import_pass_over(u, fingerprint);
    } else {
        import_fail(u, &why);
    }
}

/* ---- lists */

struct objects {
    struct import_run *run;
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1]; /* of the request */
    uint64_t found;
    size_t base;           /* of the object at hand: its name begins here in the key */
    bool named;            /* the same: it was itself asked for */
    struct reel_error why; /* it could not be imported */
};

static struct import_unit *object_unit(const struct objects *o, const char *folder, const char *name, const char *key,
                                       const struct s3_object *is) {
    const struct folder_file file = {
        .name = (char *)names_file(key), .size = is->size, .mtime_ns = is->modified_s * 1000000000};
    struct import_unit *u = import_unit_new(folder, name, 1);
    if (!u || !import_unit_add(u, &file) || !(u->object = calloc(1, sizeof *u->object))) {
        import_unit_free(u);
        return NULL;
    }
    u->named = o->named;
    u->object->size = is->size;
    snprintf(u->object->location, sizeof u->object->location, "%s%s/%s", scheme, o->bucket, key);
    snprintf(u->object->etag, sizeof u->object->etag, "%s", is->etag);
    return u;
}

/* The key "2019" asks for the object 2019 and for what is below 2019/, not for 2019-old. */
static bool is_asked_for(struct objects *o, const char *key) {
    size_t n = strlen(o->key);
    bool folder = n == 0 || o->key[n - 1] == '/';
    o->named = strcmp(key, o->key) == 0;
    o->base = o->named ? (size_t)(names_file(key) - key) : folder ? n : n + 1;
    return (folder || o->named || key[n] == '/') && key[strlen(key) - 1] != '/' &&
           (!o->run->options->glob || reel_glob_match(o->run->options->glob, key + o->base));
}

static bool bucket_visit(void *context, const char *key, const struct s3_object *is) {
    struct objects *o = context;
    char folder[S3_BUCKET_MAX + S3_KEY_MAX + 8];
    if (!is_asked_for(o, key)) {
        return true;
    }
    o->found++;
    const char *name = names_file(key), *names[] = {name};
    snprintf(folder, sizeof folder, "%s%s%s%.*s", scheme, o->bucket, name > key ? "/" : "",
             name > key ? (int)(name - key - 1) : 0, key);
    if (imports_bucket_is_unchanged(o->run, folder, name, is->etag)) {
        run_report(o->run,
                   &(struct import_report){
                       .outcome = IMPORT_UNCHANGED, .folder = folder, .names = names, .n = 1, .size = is->size});
        return run_goes_on(o->run);
    }
    struct import_unit *u = object_unit(o, folder, key + o->base, key, is);
    return u ? run_push(o->run, u, &o->why) : reel_fail_memory(&o->why);
}

bool run_objects(struct import_run *run, const char *url, struct reel_error *err) {
    struct objects o = {.run = run};
    if (!import_may_read(run->app, url, err) || !s3_address(url, o.bucket, o.key, err) ||
        !store_each_object(run->app->store, url, bucket_visit, &o, err)) {
        return false;
    }
    return o.why.code != REEL_OK ? reel_error_pass(err, &o.why)
           : !run_goes_on(run)   ? reel_fail(err, REEL_CANCELLED, "cancelled")
                                 : o.found > 0 || reel_fail(err, REEL_NOT_FOUND, "there is no object at %.300s", url);
}

bool run_object_again(struct import_run *run, const struct catalog_failure *f, const char *name,
                      struct reel_error *err) {
    struct objects o = {.run = run, .named = true};
    struct s3_object is;
    char url[S3_BUCKET_MAX + S3_KEY_MAX + 8];
    if ((size_t)snprintf(url, sizeof url, "%s/%s", f->folder, f->name) >= sizeof url) {
        return reel_fail(err, REEL_ARGUMENT, "the key is too long");
    }
    if (!import_may_read(run->app, url, err) || !s3_address(url, o.bucket, o.key, err) ||
        !store_find_object(run->app->store, url, &is, err)) {
        return false;
    }
    struct import_unit *u = object_unit(&o, f->folder, name, o.key, &is);
    return u ? run_push(run, u, err) : reel_fail_memory(err);
}
