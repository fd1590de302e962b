/* The service document, health, and the descriptions of problem types. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/token.h"
#include "api/common.h"
#include "api/routes.h"
#include "api/views.h"
#include "work/jobs.h"

static json_t *view_formats(void) {
    json_t *out = json_array();
    for (size_t i = 0; reel_formats[i]; i++) {
        json_t *suffixes = json_array();
        for (size_t k = 0; reel_formats[i]->suffixes[k]; k++) {
            json_array_append_new(suffixes, json_string(reel_formats[i]->suffixes[k]));
        }
        json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:o}", "name", reel_formats[i]->name, "title", reel_formats[i]->title,
                                             "media_type", reel_formats[i]->media_type, "suffixes", suffixes));
    }
    return out;
}

/* "zstd lz4" as an array. */
static json_t *view_words(const char *words) {
    json_t *out = json_array();
    for (const char *at = words; at && *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        json_array_append_new(out, json_stringn(at, size));
        at += size;
    }
    return out;
}

static json_t *view_targets(void) {
    json_t *out = json_array();
    for (size_t i = 0; reel_writers[i]; i++) {
        const struct reel_writer *w = reel_writers[i];
        json_t *o = json_pack("{s:s, s:s, s:s, s:b}", "name", w->name, "extension", w->extension, "media_type", w->media_type, "ranges",
                              !(w->needs & REEL_STREAMED));
        json_object_set_new(o, "compressions", view_words(w->compressions));
        if (w->variant) {
            json_object_set_new(o, "version", json_string(w->variant));
        }
        json_array_append_new(out, o);
    }
    return out;
}

/* Who is asking, so that clients need not offer what will be refused. */
static json_t *view_caller(const struct http_caller *caller) {
    json_t *collections = caller->collections ? json_array() : json_null();
    for (size_t i = 0; caller->collections && caller->collections[i]; i++) {
        json_array_append_new(collections, json_string(caller->collections[i]));
    }
    return json_pack("{s:s?, s:s, s:s, s:o}", "name", caller->name, "how", caller->how, "role", token_role_name(caller->role),
                     "collections", collections);
}

void api_service(struct http_request *r) {
    if (http_caller(r)->role < ROLE_READ) { /* without a token only the addresses needed to log in */
        http_reply_json(r, 200, json_pack("{s:s, s:s}", "service", "reel", "api", "/api/v1"));
        return;
    }
    uint64_t free_bytes = 0;
    store_free_bytes(http_app(r)->store, &free_bytes);
    json_t *links =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "openapi", "/openapi.json", "docs", "/docs", "recordings", "/api/v1/recordings",
                  "uploads", "/api/v1/uploads", "jobs", "/api/v1/jobs", "health", "/healthz", "metrics", "/metrics");
    http_reply_json(r, 200,
                    json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s}", "service", "reel", "version", REEL_VERSION, "caller",
                              view_caller(http_caller(r)), "formats", view_formats(), "targets", view_targets(), "links", links,
                              "free_bytes", view_u64(free_bytes), "interval", "[)"));
}

void api_health(struct http_request *r) {
    http_reply_json(r, 200, json_pack("{s:s}", "status", "ok"));
}

void api_ready(struct http_request *r) {
    struct app *app = http_app(r);
    if (!catalog_ready(app->catalog)) {
        http_reply_problem(r, 503, "not-ready", "the catalog does not answer");
    } else if (!store_has_room(app->store, 0)) {
        http_reply_problem(r, 503, "not-ready", "the disk of the store is full");
    } else {
        http_reply_json(r, 200, json_pack("{s:s}", "status", "ready"));
    }
}

/* ---- problem types */

static const struct {
    const char *slug, *meaning;
} problems[] = {
    {"bad-argument", "A value in the request is invalid; the detail names it."},
    {"bad-body", "The body is not the JSON that this path expects. errors names the member."},
    {"bad-filter", "A filter of the request is invalid; the detail names it."},
    {"bad-parameter", "A query parameter is unknown, repeated, or has an invalid value. errors names it."},
    {"bad-path", "The path contains an invalid percent escape, a NUL, invalid UTF-8, \".\" or \"..\", or too many segments."},
    {"bad-range", "A time range of the request is invalid; the detail names it."},
    {"bad-request", "The request violates HTTP or a rule of this API."},
    {"bad-target", "The request target or a target in the body is invalid; see the detail."},
    {"bad-variable", "The request for a dashboard variable is invalid; the detail lists the allowed targets."},
    {"busy", "The result is still being computed, another process is writing to the catalog, or responses to other requests take all of "
             "--memory-mb. Try again after Retry-After; job shows the progress, if there is one."},
    {"cancelled", "The operation was cancelled, for example because the server is shutting down. Try again later."},
    {"catalog", "The server's catalog is damaged or cannot be read. Run reel fsck for details."},
    {"changed", "A stored file or its index has changed since it was scanned. Scan the recording again or upload the file again."},
    {"conflict", "The name is in use for other content, or the resource is not in a state that allows this."},
    {"content-encoding", "Uploads must not have a Content-Encoding."},
    {"content-type", "The Content-Type is not the one this path requires; the detail names it."},
    {"damaged", "The file is damaged so badly that the request cannot be answered."},
    {"digest-malformed", "Content-Digest or Repr-Digest is not a sha-256 in the form of RFC 9530."},
    {"digest-mismatch", "The bytes received do not match the announced digest. Nothing was stored; send them again."},
    {"forbidden", "The token is valid, but its role is too low or it is limited to other collections."},
    {"foreign-origin", "A web page of another origin may not write. The server allows origins with --origin."},
    {"inconsistent-upload-length", "The upload was announced with another length, or is shorter than announced."},
    {"internal", "The server failed to answer. See the server's log for details."},
    {"io", "A disk operation of the server failed. See the server's log for details."},
    {"key-reused", "The Idempotency-Key was used for another request in the last 24 hours."},
    {"limit", "The request exceeds a limit; the detail names it."},
    {"locked", "Another request is writing to this upload. Send HEAD a little later to get its offset."},
    {"method-not-allowed", "The path does not support this method; Allow lists the supported ones."},
    {"mismatching-upload-offset", "The request's offset is not the upload's offset, which is in Upload-Offset."},
    {"missing", "The stored file is gone or changed. Upload it again."},
    {"unsupported-media-type", "The Content-Type of the body is not one that this endpoint takes."},
    {"multipart", "The multipart/form-data body is malformed or not in the form that this path expects."},
    {"name-missing", "The upload needs a name."},
    {"name-too-long", "The name or collection is too long; the detail has the limit."},
    {"no-memory", "The server is out of memory. Nothing was stored; try again later."},
    {"no-space", "The disk or a quota is full. Nothing was stored; try again when there is room."},
    {"not-acceptable", "None of the requested media types is available; the detail lists the available ones."},
    {"not-found", "The resource does not exist."},
    {"not-ready", "The server is not ready, for example because its catalog is not available. Try again later."},
    {"precondition-failed", "The resource has changed since the entity tag in If-Match. Read it again and repeat the change."},
    {"range-not-satisfiable", "The requested range is outside the file; Content-Range has its length."},
    {"read-only", "The server's disk cannot be written to at the moment. Nothing was stored; try again later."},
    {"target-cannot-hold", "The output format cannot hold these messages. report lists the reasons."},
    {"too-large", "The upload is larger than this server accepts."},
    {"too-many", "The request asks for too many items at once; the detail has the limit."},
    {"too-many-failures", "Too many failed log-ins from this address. Requests with a valid token are still accepted."},
    {"too-many-parameters", "The request has more query parameters than the server reads."},
    {"trashed", "The recording is in the trash. POST …/restore brings it back."},
    {"tus-version", "The upload protocol is missing: send Tus-Resumable: 1.0.0, or Upload-Complete."},
    {"unauthorized", "The request is not authenticated. Send a token as Authorization: Bearer TOKEN or as the password of any user name, "
                     "or use a signed link."},
    {"unexpected-body", "The path accepts no request body."},
    {"unknown-format", "The file is in no format that Reel can read."},
    {"unknown-host", "The server does not serve the host named in the request. Further names are set with --host."},
    {"unknown-target", "The extension of the name is not a format that Reel can write; the detail lists those."},
    {"unreadable", "The format was recognised, but nothing in the file can be read."},
    {"unsupported", "The recording does not support this operation; see the detail."},
    {"upload-complete", "The upload is complete; nothing can be appended to it."},
};

void api_problem(struct http_request *r) {
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        if (strcmp(problems[i].slug, http_segment(r, "slug")) == 0) {
            http_reply_text(r, 200, "text/plain; charset=utf-8", problems[i].meaning);
            return;
        }
    }
    http_reply_problem(r, 404, "not-found", "there is no problem type %s", http_segment(r, "slug"));
}
