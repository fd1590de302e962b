/* /uploads: resumable uploads, by tus 1.0 (Tus-Resumable) and by the IETF's draft (Upload-Complete), at the same URLs.
 * Sessions are described in uploads/sessions.h, the headers in tus.h. An answer names an offset only once the bytes
 * before it are durable. The draft's 104 responses are not sent, as the HTTP library does not support them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/digests.h"
#include "api/job_reply.h"
#include "api/uploads/sessions.h"
#include "api/uploads/uploads.h"
#include "base/ascii.h"
#include "base/cleanup.h"

static void free_call(void *state) {
    struct call *c = state;
    struct reel_error ignored;
    if (c->writer && c->checksum.size > 0) { /* the client disconnected: these bytes cannot be checked */
        session_drop(c->writer);
    }
    if (c->writer) {
        session_end(c->writer, NULL, &ignored);
    }
    catalog_upload_done(&c->now);
    free(c);
}

/* ---- replies */

static void add_number(struct http_request *r, const char *name, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    http_add_header(r, name, text);
}

void uploads_add_limits(struct http_request *r, int64_t expires_ns) {
    char text[96];
    uint64_t max = http_app(r)->config.upload_max_bytes;
    int64_t age_s = (expires_ns - reel_now_ns()) / 1000000000;
    int n = max > 0 ? snprintf(text, sizeof text, "max-size=%" PRIu64 ", ", max) : 0;
    snprintf(text + n, sizeof text - (size_t)n, "max-age=%" PRId64, age_s > 0 ? age_s : 0);
    http_add_header(r, "Upload-Limit", text);
}

void uploads_add_state(struct http_request *r, const struct call *c, const struct catalog_upload *u) {
    char text[96];
    add_number(r, "Upload-Offset", session_acknowledged_offset(u));
    if (!c->draft && !u->done) {
        http_add_date(r, "Upload-Expires", u->expires_ns);
    }
    if (c->draft) {
        http_add_header(r, "Upload-Complete", u->done ? "?1" : "?0");
        uploads_add_limits(r, u->expires_ns);
    }
    if (u->recording[0]) {
        snprintf(text, sizeof text, "/api/v1/recordings/%s", u->recording);
        http_add_address(r, "Content-Location", text);
    }
}

static void reply_offset(struct http_request *r, const struct call *c, uint64_t given) {
    json_t *extra = json_pack("{s:I, s:I}", "expected-offset", (json_int_t)session_acknowledged_offset(&c->now),
                              "provided-offset", (json_int_t)given);
    uploads_add_state(r, c, &c->now);
    http_reply_problem_with(r, 409, "mismatching-upload-offset",
                            "this is not the offset of the upload; send HEAD to get it and continue from there", extra);
}

/* ---- which protocol */

/* False: replied. */
bool uploads_read_protocol(struct http_request *r, struct call *c) {
    const char *tus = http_header(r, "Tus-Resumable"), *complete = http_header(r, "Upload-Complete");
    const char *interop = http_header(r, "Upload-Draft-Interop-Version");
    if (tus) {
        http_add_header(r, "Tus-Resumable", TUS_VERSION);
    }
    if (tus && strcmp(tus, TUS_VERSION) != 0) {
        http_add_header(r, "Tus-Version", TUS_VERSION);
        http_reply_problem(r, 412, "tus-version", "this server speaks tus " TUS_VERSION);
        return false;
    }
    c->draft = !tus && (complete || interop);
    if (c->draft && interop && strspn(interop, "0123456789") == strlen(interop) && strlen(interop) < 4) {
        http_add_header(r, "Upload-Draft-Interop-Version", interop);
    }
    if (complete && !tus && !tus_boolean(complete, &c->completes)) {
        http_reply_problem(r, 400, "bad-request", "Upload-Complete must be ?0 or ?1");
        return false;
    }
    return true;
}

/* The same for requests that may have a body: a protocol is required. */
bool uploads_read_sender(struct http_request *r, struct call *c) {
    if (!uploads_read_protocol(r, c)) {
        return false;
    }
    if (!http_header(r, "Tus-Resumable") && !http_header(r, "Upload-Complete")) {
        http_add_header(r, "Tus-Version", TUS_VERSION);
        http_reply_problem(r, 412, "tus-version",
                           "the upload protocol is missing: send Tus-Resumable: " TUS_VERSION
                           ", or Upload-Complete: ?0 or ?1");
        return false;
    }
    return true;
}

struct call *uploads_new_call(struct http_request *r) {
    struct call *c = calloc(1, sizeof *c);
    if (!c) {
        http_reply_no_memory(r);
        return NULL;
    }
    http_set_state(r, c, free_call);
    return c;
}

bool uploads_has_body(struct http_request *r) {
    uint64_t length;
    return !http_has_body_length(r, &length) || length > 0;
}

/* ---- checksums */

bool uploads_read_checksum(struct http_request *r, struct call *c) {
    const char *text = c->draft ? NULL : http_header(r, "Upload-Checksum"), *digest = http_header(r, "Content-Digest");
    const char *at = digest ? strstr(digest, "sha-256=:") : NULL;
    struct reel_error err = {0};
    if (text && !tus_checksum(text, &c->checksum, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    if (!text && at) {
        const char *end = strchr(at + 9, ':');
        if (!end || !api_digest_from_base64(at + 9, (size_t)(end - at - 9), c->checksum.digest)) {
            http_reply_problem(r, 400, "digest-malformed", "Content-Digest must be sha-256=:<base64 of 32 bytes>:");
            return false;
        }
        c->checksum.size = 32;
        c->by_digest = true;
    }
    digest_start(&c->hash, c->checksum.size == DIGEST_SHA1 ? DIGEST_SHA1 : DIGEST_SHA256);
    return true;
}

/* Checks the checksum. False: the bytes of this request are discarded; replied. */
static bool checksum_holds(struct http_request *r, struct call *c) {
    uint8_t raw[DIGEST_MAX];
    struct reel_error ignored;
    if (c->checksum.size == 0) {
        return true;
    }
    digest_end(&c->hash, raw);
    if (memcmp(raw, c->checksum.digest, c->checksum.size) == 0) {
        return true;
    }
    session_drop(c->writer);
    if (session_end(TAKE(c->writer), &c->now, &ignored)) {
        uploads_add_state(r, c, &c->now);
    }
    http_reply_problem(r, c->by_digest ? 400 : 460, "digest-mismatch",
                       "the bytes received are not those announced; they were dropped, send them again");
    return false;
}

/* ---- appending */

static void reply_begin(struct http_request *r, const struct call *c, enum session_answer answer, uint64_t offset,
                        const struct reel_error *err) {
    switch (answer) {
    case SESSION_BUSY:
        http_add_header(r, "Retry-After", "1");
        http_reply_problem(r, c->draft ? 409 : 423, "locked", "another request adds to this upload just now");
        break;
    case SESSION_OFFSET:
        reply_offset(r, c, offset);
        break;
    case SESSION_ENDED:
        if (strncmp(c->now.concat, "final", 5) == 0) {
            http_reply_problem(r, 403, "upload-complete",
                               "this upload is a concatenation of others; nothing can be appended to it");
        } else if (!uploads_has_body(r) && offset == c->now.offset) { /* the answer was lost */
            uploads_add_state(r, c, &c->now);
            http_reply_empty(r, 204);
        } else {
            uploads_add_state(r, c, &c->now);
            http_reply_problem(r, c->draft ? 400 : 409, "upload-complete",
                               "this upload is complete, nothing can be added to it");
        }
        break;
    default:
        http_reply_error(r, err);
    }
}

/* The length that this request announces; -1: none. False: replied. */
bool uploads_read_length(struct http_request *r, const struct call *c, uint64_t offset, int64_t *length) {
    const char *text = http_header(r, "Upload-Length");
    uint64_t body;
    *length = -1;
    if (text && !tus_number(text, length)) {
        http_reply_problem(r, 400, "bad-request", "Upload-Length must be a number of bytes");
        return false;
    }
    if (c->completes && http_has_body_length(r, &body)) {
        if (offset > INT64_MAX || body > INT64_MAX - offset) {
            http_reply_problem(r, 413, "too-large", "no upload has more than %" PRId64 " bytes", INT64_MAX);
            return false;
        }
        if (*length >= 0 && (uint64_t)*length != offset + body) {
            http_reply_problem(r, 400, "inconsistent-upload-length", "Upload-Length and Content-Length differ");
            return false;
        }
        *length = (int64_t)(offset + body);
    }
    uint64_t max = http_app(r)->config.upload_max_bytes;
    if (*length >= 0 && max > 0 && (uint64_t)*length > max) {
        http_reply_problem(r, 413, "too-large", "an upload may have at most %" PRIu64 " bytes", max);
        return false;
    }
    return true;
}

bool uploads_begin_bytes(struct http_request *r, struct call *c, const char *id, uint64_t offset) {
    char owner[HTTP_PRINCIPAL];
    struct session_piece piece = {.offset = offset, .checked = c->checksum.size > 0};
    struct reel_error err = {0};
    if (!uploads_read_length(r, c, offset, &piece.length)) {
        return false;
    }
    catalog_upload_done(&c->now);
    enum session_answer answer =
        session_begin(http_app(r), http_principal(r, owner), id, &piece, &c->writer, &c->now, &err);
    if (answer != SESSION_OK) {
        reply_begin(r, c, answer, offset, &err);
    }
    return answer == SESSION_OK;
}

void api_uploads_append_begin(struct http_request *r) {
    struct call *c = uploads_new_call(r);
    const char *override = http_header(r, "X-HTTP-Method-Override"), *type = http_header(r, "Content-Type"),
               *text = http_header(r, "Upload-Offset");
    int64_t offset;
    if (!c || !uploads_read_sender(r, c)) {
        return;
    }
    if (strcmp(http_method(r), "POST") == 0 && !(override && ascii_casecmp(override, "PATCH") == 0)) {
        http_reply_problem(r, 405, "method-not-allowed",
                           "use PATCH to continue an upload, or POST with X-HTTP-Method-Override: PATCH");
        return;
    }
    const char *expected_type = c->draft ? "application/partial-upload" : "application/offset+octet-stream";
    if (!type || ascii_casecmp(type, expected_type) != 0) {
        http_reply_problem(r, 415, "content-type", "Content-Type must be %s", expected_type);
        return;
    }
    if (!text || !tus_number(text, &offset)) {
        http_reply_problem(r, 400, "bad-request", "Upload-Offset must be a number of bytes");
        return;
    }
    if (uploads_read_checksum(r, c)) {
        uploads_begin_bytes(r, c, http_segment(r, "id"), (uint64_t)offset);
    }
}

bool api_uploads_piece(struct http_request *r, const void *data, size_t size) {
    struct call *c = http_state(r);
    if (c->checksum.size > 0) {
        digest_add(&c->hash, data, size);
    }
    return c->writer && session_write(c->writer, data, size, &c->failed);
}

void api_uploads_aborted(struct http_request *r) {
    (void)r; /* the state's destructor keeps the bytes received so far */
}

/* ---- the end of a request */

static void reply_finished(struct http_request *r, struct call *c, const struct session_result *result,
                           const struct reel_error *err) {
    struct upload_answer a;
    char etag[64], digest[72];
    const struct ingest_result *ingest = &result->ingest;
    if (!result->partial && !upload_is_stored(ingest)) {
        upload_refuse(r, ingest, err);
        return;
    }
    c->now.done = true;
    memcpy(c->now.recording, result->partial ? "" : ingest->recording.id,
           result->partial ? 1 : sizeof c->now.recording);
    if (!result->partial) {
        api_digest_texts(result->sha256, etag, digest);
        http_add_header(r, "Repr-Digest", digest);
    }
    if (!c->draft) {
        uploads_add_state(r, c, &c->now);
        http_reply_empty(r, c->creates ? 201 : 204);
        return;
    }
    json_t *body = upload_view(r, ingest, &a);
    add_number(r, "Upload-Offset", c->now.offset);
    http_add_header(r, "Upload-Complete", "?1");
    http_add_address(r, c->creates ? "Content-Location" : a.header, a.address); /* Location is the upload's URL in this
                                                                                   answer */
    http_reply_json(r, a.status, body);
}

static void sessions_finish(struct http_request *r, struct call *c) {
    struct session_result result;
    struct reel_error err = {0};
    session_finish(http_app(r), &c->now, api_wait_ns(r, UPLOAD_SCAN_WAIT_NS), &result, &err);
    reply_finished(r, c, &result, &err);
    session_result_done(&result);
}

/* All bytes of this request were received and are valid. */
void uploads_finish(struct http_request *r, struct call *c) {
    bool full = session_is_full(&c->now);
    if (c->draft && c->completes && c->now.length >= 0 && !full) {
        uploads_add_state(r, c, &c->now);
        http_reply_problem(r, 400, "inconsistent-upload-length", "Upload-Complete is ?1, but bytes are missing");
    } else if (c->draft ? c->completes : full) {
        sessions_finish(r, c);
    } else {
        uploads_add_state(r, c, &c->now);
        http_reply_empty(r, c->creates ? 201 : 204);
    }
}

void api_uploads_end(struct http_request *r) {
    struct call *c = http_state(r);
    struct reel_error err = {0};
    if (c->writer && c->failed.code == REEL_OK && !checksum_holds(r, c)) {
        return;
    }
    if (c->failed.code != REEL_OK) {
        http_reply_error(r, &c->failed);
        return;
    }
    if (c->writer) {
        catalog_upload_done(&c->now);
        if (!session_end(TAKE(c->writer), &c->now, &err)) {
            http_reply_error(r, &err);
            return;
        }
    }
    uploads_finish(r, c);
}
