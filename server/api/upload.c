/* Uploads in one request: PUT by name, POST. The body goes straight to the store while it is hashed; everything that can be refused is refused before it. */
#include <stdlib.h>
#include <string.h>

#include "api/common.h"
#include "api/routes.h"
#include "api/views.h"
#include "ingest/ingest.h"

enum { NAME_MAX_BYTES = 256 };
static const int64_t SCAN_WAIT_NS = 20000000000; /* then the scan goes on as a job: 202 */

struct upload {
    struct store_upload *file;
    char collection[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
    struct ingest_request request;
    bool has_digest;
    uint8_t digest[32];
    uint64_t size, size_max;
    struct reel_error failed; /* writing failed: told at the end, when a reply can be sent */
};

static void free_upload(void *state) {
    struct upload *u = state;
    store_upload_free(u->file);
    free(u);
}

/* Content-Digest or Repr-Digest: "sha-256=:<base64>:", among others that are passed over. False: replied. */
static bool read_digest(struct http_request *r, const char *header, struct upload *u) {
    const char *text = http_header(r, header), *at = text ? strstr(text, "sha-256=") : NULL;
    if (!text) {
        return true;
    }
    uint8_t digest[32];
    const char *end = at && at[8] == ':' ? strchr(at + 9, ':') : NULL;
    if (!end || !api_digest_from_base64(at + 9, (size_t)(end - at - 9), digest)) {
        http_reply_problem(r, 400, "digest-malformed", "%s must be sha-256=:<base64 of 32 bytes>:", header);
        return false;
    }
    if (u->has_digest && memcmp(u->digest, digest, 32) != 0) {
        http_reply_problem(r, 400, "digest-mismatch", "Content-Digest and Repr-Digest differ");
        return false;
    }
    memcpy(u->digest, digest, 32);
    u->has_digest = true;
    return true;
}

/* Name and collection from the path (PUT) or the query (POST). False: replied. */
static bool read_names(struct http_request *r, struct upload *u) {
    bool by_path = strcmp(http_method(r), "PUT") == 0;
    const char *name = by_path ? http_segment(r, "name") : http_param(r, "name");
    const char *collection = by_path ? http_segment(r, "collection") : http_param(r, "collection");
    if (by_path && (http_param(r, "name") || http_param(r, "collection"))) {
        http_reply_bad_param(r, http_param(r, "name") ? "name" : "collection", "the path says it already");
        return false;
    }
    if (!name || !*name) {
        http_reply_problem(r, 400, "name-missing", by_path ? "the path must end in the recording's name; curl -T FILE URL/ adds it" : "give ?name=");
        return false;
    }
    collection = collection && *collection ? collection : "default";
    if (strlen(name) >= sizeof u->name || strlen(collection) >= sizeof u->collection) {
        http_reply_problem(r, 400, "name-too-long", "name and collection may have at most %d bytes", NAME_MAX_BYTES - 1);
        return false;
    }
    strcpy(u->name, name);
    strcpy(u->collection, collection);
    return true;
}

static bool check_type(struct http_request *r) {
    const char *type = http_header(r, "Content-Type"), *coding = http_header(r, "Content-Encoding");
    if (type && strncasecmp(type, "multipart/", 10) == 0) {
        http_reply_problem(r, 415, "multipart", "send the file itself as the body: curl -T FILE, or curl --data-binary @FILE");
        return false;
    }
    if (coding && strcasecmp(coding, "identity") != 0) {
        http_reply_problem(r, 415, "content-encoding", "send the file as it is, without Content-Encoding");
        return false;
    }
    return true;
}

void api_upload_begin(struct http_request *r) {
    struct app *app = http_app(r);
    struct upload *u = calloc(1, sizeof *u);
    if (!u) {
        http_reply_problem(r, 500, "memory", "no memory");
        return;
    }
    http_set_state(r, u, free_upload);
    if (!check_type(r) || !read_names(r, u) || !read_digest(r, "Content-Digest", u) || !read_digest(r, "Repr-Digest", u)) {
        return;
    }
    u->request = (struct ingest_request){.collection = u->collection, .name = u->name, .format = http_param(r, "format"), .part_of = http_param(r, "part_of")};
    http_param_bool(r, "replace", &u->request.replace);
    http_param_bool(r, "keep", &u->request.keep);
    u->size_max = app->config.upload_max_bytes;
    uint64_t length = 0;
    struct reel_error err = {0};
    if (http_has_body_length(r, &length) && u->size_max > 0 && length > u->size_max) {
        http_reply_problem(r, 413, "too-large", "at most %llu bytes are taken in one upload", (unsigned long long)u->size_max);
        return;
    }
    if (!ingest_check(app, &u->request, length, &err) || !(u->file = store_upload_begin(app->store, &err))) {
        http_reply_error(r, &err);
    }
}

bool api_upload_piece(struct http_request *r, const void *data, size_t size) {
    struct upload *u = http_state(r);
    u->size += size;
    if (u->size_max > 0 && u->size > u->size_max) {
        reel_fail(&u->failed, REEL_LIMIT, "at most %llu bytes are taken in one upload", (unsigned long long)u->size_max);
        return false;
    }
    return store_upload_write(u->file, data, size, &u->failed);
}

void api_upload_aborted(struct http_request *r) {
    (void)r; /* the state's destructor removes the partial file */
}

static void reply_kept_or_refused(struct http_request *r, struct ingest_result *result, const struct reel_error *err) {
    if (result->outcome == INGEST_REFUSED) {
        http_reply_error(r, err);
        return;
    }
    json_t *extra = json_pack("{s:o}", "recording", view_recording(&result->recording, NULL));
    http_reply_problem_with(r, err->code == REEL_NOT_MINE ? 415 : 422, "unreadable", err->text, extra);
}

static void reply_result(struct http_request *r, struct ingest_result *result, const struct reel_error *err) {
    if (result->outcome == INGEST_REFUSED || result->outcome == INGEST_KEPT) {
        reply_kept_or_refused(r, result, err);
        return;
    }
    char address[96];
    snprintf(address, sizeof address, "/api/v1/recordings/%s", result->recording.id);
    http_add_header(r, result->outcome == INGEST_EXISTS || result->outcome == INGEST_JOINED ? "Content-Location" : "Location", address);
    json_t *body = view_recording(&result->recording, NULL);
    if (result->outcome == INGEST_SCANNING) {
        char job[64];
        snprintf(job, sizeof job, "/api/v1/jobs/%s", result->job);
        json_object_set_new(body, "job", json_string(job));
    }
    http_reply_json(r, result->outcome == INGEST_CREATED ? 201 : result->outcome == INGEST_SCANNING ? 202 : 200, body);
}

static bool digest_holds(struct http_request *r, const struct upload *u, const char *sha256) {
    char etag[64], got[72], want[45];
    if (!u->has_digest) {
        return true;
    }
    api_digest_texts(sha256, etag, got);
    api_base64_digest(u->digest, want);
    if (strstr(got, want)) {
        return true;
    }
    http_reply_problem(r, 400, "digest-mismatch", "the bytes received have %s, announced was sha-256=:%s:; nothing was kept, send it again", got, want);
    return false;
}

void api_upload_end(struct http_request *r) {
    struct upload *u = http_state(r);
    struct reel_error err = {0};
    char sha256[SHA256_HEX];
    uint64_t size;
    if (u->failed.code != REEL_OK) {
        http_reply_error(r, &u->failed);
        return;
    }
    if (!store_upload_finish(u->file, sha256, &size, &err)) {
        http_reply_error(r, &err);
        return;
    }
    if (!digest_holds(r, u, sha256)) {
        return;
    }
    struct ingest_result result = {0};
    ingest_upload(http_app(r), u->file, sha256, size, &u->request, api_wait_ns(r, SCAN_WAIT_NS), &result, &err);
    reply_result(r, &result, &err);
    ingest_result_done(&result);
}
