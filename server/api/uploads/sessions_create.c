/* POST /uploads: a new session, with or without its first bytes, or a concatenation of others; and OPTIONS, HEAD, GET,
 * DELETE of sessions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/uploads/sessions.h"
#include "api/uploads/uploads.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "views/views.h"

/* ---- creation */

struct creation {
    struct upload_options options;
    struct session_request request;
};
static void creation_done(struct creation *n) {
    upload_options_done(&n->options);
    free((char *)n->request.options);
}

static bool bad_request(struct http_request *r, const char *detail) {
    http_reply_problem(r, 400, "bad-request", "%s", detail);
    return false;
}

/* The announced length. False: replied. */
static bool sessions_create_read_total(struct http_request *r, const struct call *c, struct session_request *request) {
    const char *deferred = http_header(r, "Upload-Defer-Length");
    if (!uploads_read_length(r, c, 0, &request->length)) {
        return false;
    }
    if (c->draft) {
        return true;
    }
    if (c->concat.final && (request->length >= 0 || deferred)) {
        return bad_request(r, "a concatenation has the length of its parts; omit Upload-Length");
    }
    if (deferred && strcmp(deferred, "1") != 0) {
        return bad_request(r, "Upload-Defer-Length can only be 1");
    }
    return c->concat.final || (request->length >= 0) != (deferred != NULL) ||
           bad_request(r, "either Upload-Length or Upload-Defer-Length: 1 is required");
}

/* Metadata and upload options. False: replied. */
static bool sessions_create_read_options(struct http_request *r, struct call *c, struct creation *n) {
    const char *metadata = c->draft ? NULL : http_header(r, "Upload-Metadata"),
               *concat = c->draft ? NULL : http_header(r, "Upload-Concat");
    struct reel_error err = {0};
    n->request.metadata = metadata ? metadata : "";
    n->request.concat = concat ? concat : "";
    if (!upload_read_query(r, &n->options)) {
        return false;
    }
    if ((metadata && !tus_metadata(metadata, &n->options, &err)) || (concat && !tus_concat(concat, &c->concat, &err))) {
        http_reply_error(r, &err);
        return false;
    }
    bool partial = concat && !c->concat.final;
    if (!partial && !n->options.name[0]) {
        http_reply_problem(r, 400, "name-missing", "a name is required: ?name=, or filename in Upload-Metadata");
        return false;
    }
    if (!(n->request.options = upload_options_print(&n->options, &err))) {
        http_reply_error(r, &err);
        return false;
    }
    return true;
}

/* False: replied. */
static bool may_upload(struct http_request *r, const struct call *c, const struct creation *n) {
    uint64_t length = n->request.length > 0 ? (uint64_t)n->request.length : 0;
    if (strcmp(n->request.concat, "partial") != 0) {
        return upload_may(r, &n->options, length);
    }
    (void)c;
    if (!store_has_room(http_app(r)->store, length)) {
        http_reply_problem(r, 507, "no-space", "there is no room for %" PRIu64 " bytes", length);
        return false;
    }
    return true;
}

static void add_location(struct http_request *r, const char *id) {
    char address[96];
    snprintf(address, sizeof address, "/api/v1/uploads/%s", id);
    http_add_address(r, "Location", address);
}

/* Creates the session; if this key has created it before, replies with its state. False: replied. */
static bool sessions_create_create(struct http_request *r, struct call *c, const struct session_request *request) {
    struct reel_error err = {0};
    bool again;
    if (!session_create(http_app(r), request, &c->now, &again, &err)) {
        if (err.code == REEL_CONFLICT) {
            http_reply_key_reused(r);
        } else {
            http_reply_error(r, &err);
        }
        return false;
    }
    add_location(r, c->now.id);
    if (again) {
        http_add_header(r, "Idempotent-Replayed", "true");
        uploads_add_state(r, c, &c->now);
        http_reply_empty(r, 201);
    }
    return !again;
}

static bool check_first_bytes(struct http_request *r, const struct call *c) {
    const char *type = http_header(r, "Content-Type");
    if (!uploads_has_body(r) || c->draft) {
        return true;
    }
    if (c->concat.final) {
        return bad_request(r, "a concatenation cannot have a body");
    }
    if (!type || ascii_casecmp(type, "application/offset+octet-stream") != 0) {
        http_reply_problem(r, 415, "content-type", "first bytes come as Content-Type: application/offset+octet-stream");
        return false;
    }
    return true;
}

void api_uploads_create_begin(struct http_request *r) {
    char owner[HTTP_PRINCIPAL];
    struct call *c = uploads_new_call(r);
    AUTO_STRUCT(creation_done) struct creation n = {.request = {.owner = http_principal(r, owner), .length = -1}};
    if (!c || !uploads_read_sender(r, c) || !sessions_create_read_options(r, c, &n) ||
        !sessions_create_read_total(r, c, &n.request) || !check_first_bytes(r, c) || !may_upload(r, c, &n) ||
        !uploads_read_checksum(r, c)) {
        return;
    }
    c->creates = true;
    n.request.draft = c->draft;
    n.request.key = http_key(r);
    http_key_request(r, n.request.request);
    if (!sessions_create_create(r, c, &n.request)) {
        return;
    }
    if (uploads_has_body(r) || c->completes) {
        char id[RECORDING_ID_TEXT];
        memcpy(id, c->now.id, sizeof id);
        uploads_begin_bytes(r, c, id, 0);
    }
}

/* A final upload: the bytes of others, in order. */
static void sessions_create_gather(struct http_request *r, struct call *c) {
    struct reel_error err = {0}, ignored;
    struct catalog_upload now = {0};
    if (!session_concatenate(http_app(r), &c->now, c->concat.parts, c->concat.n, &now, &err)) {
        session_remove(http_app(r), NULL, c->now.id, &ignored);
        catalog_upload_done(&now);
        http_reply_error(r, &err);
        return;
    }
    catalog_upload_done(&c->now);
    c->now = now;
    c->now.length = (int64_t)now.offset;
    uploads_finish(r, c);
}

void api_uploads_create_end(struct http_request *r) {
    struct call *c = http_state(r);
    if (c->concat.final) {
        sessions_create_gather(r, c);
    } else {
        api_uploads_end(r);
    }
}

/* ---- state of sessions */

void api_uploads_options(struct http_request *r) {
    char max[24];
    http_add_header(r, "Tus-Resumable", TUS_VERSION);
    http_add_header(r, "Tus-Version", TUS_VERSION);
    http_add_header(r, "Tus-Extension", TUS_EXTENSIONS);
    http_add_header(r, "Tus-Checksum-Algorithm", TUS_ALGORITHMS);
    http_add_header(r, "Accept-Patch", "application/partial-upload, application/offset+octet-stream");
    if (http_app(r)->config.upload_max_bytes > 0) {
        snprintf(max, sizeof max, "%" PRIu64, http_app(r)->config.upload_max_bytes);
        http_add_header(r, "Tus-Max-Size", max);
    }
    uploads_add_limits(r, reel_now_ns() + (int64_t)http_app(r)->config.upload_expiry_s * 1000000000);
    http_add_header(r, "Allow", http_segment(r, "id") ? "GET, HEAD, PATCH, POST, DELETE, OPTIONS" : "POST, OPTIONS");
    http_reply_empty(r, 204);
}

static json_t *view_upload(const struct catalog_upload *u) {
    json_t *options = json_loads(u->options, 0, NULL);
    json_t *body = json_pack(
        "{s:s, s:o, s:o, s:b, s:o*}", "id", u->id, "offset", view_u64(session_acknowledged_offset(u)), "length",
        u->length >= 0 ? view_u64((uint64_t)u->length) : json_null(), "complete", u->done, "options", options);
    json_object_set_new(body, "recording", u->recording[0] ? json_string(u->recording) : json_null());
    json_object_set_new(body, "created", view_time(u->created_ns, REEL_CLOCK_WALL));
    json_object_set_new(body, "expires", view_time(u->expires_ns, REEL_CLOCK_WALL));
    return body;
}

/* Its own sessions; an admin's are those of its collections. */
static bool may_see(const struct http_request *r, const struct catalog_upload *u) {
    char owner[HTTP_PRINCIPAL];
    const struct http_caller *caller = http_caller(r);
    if (strcmp(http_principal(r, owner), u->owner) == 0 || (caller->role == ROLE_ADMIN && !caller->collections)) {
        return true;
    }
    json_auto_t *options = json_loads(u->options, 0, NULL);
    const char *collection = json_string_value(json_object_get(options, "collection"));
    return caller->role == ROLE_ADMIN && collection && http_caller_sees(caller, collection);
}

static bool find_session(struct http_request *r, struct catalog_upload *out) {
    struct reel_error err = {0};
    bool found = session_get(http_app(r), NULL, http_segment(r, "id"), out, &err);
    if (found && !may_see(r, out)) {
        catalog_upload_done(out);
        found = reel_fail(&err, REEL_NOT_FOUND, "there is no such upload; it may have ended, or expired");
    }
    if (!found) {
        http_reply_error(r, &err);
    }
    return found;
}

void api_uploads_get(struct http_request *r) {
    struct call *c = uploads_new_call(r);
    if (!c || !uploads_read_protocol(r, c) || !find_session(r, &c->now)) {
        return;
    }
    char length[24];
    snprintf(length, sizeof length, "%" PRId64, c->now.length);
    http_add_header(r, "Cache-Control", "no-store");
    uploads_add_state(r, c, &c->now);
    if (c->now.length >= 0) {
        http_add_header(r, "Upload-Length", length);
    } else if (!c->draft) {
        http_add_header(r, "Upload-Defer-Length", "1");
    }
    if (c->now.metadata[0] && !c->draft) {
        http_add_header(r, "Upload-Metadata", c->now.metadata);
    }
    if (c->now.concat[0] && !c->draft) {
        http_add_header(r, "Upload-Concat", c->now.concat);
    }
    if (http_is_head(r)) {
        http_reply_empty(r, c->draft ? 204 : 200);
    } else {
        http_reply_json(r, 200, view_upload(&c->now));
    }
}

void api_uploads_delete(struct http_request *r) {
    struct call *c = uploads_new_call(r);
    struct reel_error err = {0};
    if (!c || !uploads_read_protocol(r, c) || !find_session(r, &c->now)) {
        return;
    }
    if (session_remove(http_app(r), NULL, http_segment(r, "id"), &err)) {
        http_reply_empty(r, 204);
    } else {
        http_reply_error(r, &err);
    }
}
